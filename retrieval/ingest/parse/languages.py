"""Source code by its file ending: the name of the language as code fences have it."""

from __future__ import annotations

LANGUAGES: dict[str, str] = {
    "py": "python", "pyi": "python", "js": "javascript", "mjs": "javascript", "cjs": "javascript",
    "jsx": "jsx", "ts": "typescript", "tsx": "tsx", "java": "java", "kt": "kotlin", "kts": "kotlin",
    "scala": "scala", "groovy": "groovy", "gradle": "groovy", "c": "c", "h": "c", "cc": "cpp",
    "cpp": "cpp", "cxx": "cpp", "hpp": "cpp", "hh": "cpp", "cs": "csharp", "fs": "fsharp", "vb": "vbnet",
    "go": "go", "rs": "rust", "rb": "ruby", "php": "php", "pl": "perl", "pm": "perl", "lua": "lua",
    "r": "r", "jl": "julia", "swift": "swift", "m": "objectivec", "dart": "dart", "ex": "elixir",
    "exs": "elixir", "erl": "erlang", "hs": "haskell", "ml": "ocaml", "clj": "clojure", "lisp": "lisp",
    "el": "lisp", "zig": "zig", "nim": "nim", "sh": "bash", "bash": "bash", "zsh": "bash", "fish": "fish",
    "ps1": "powershell", "bat": "bat", "cmd": "bat", "sql": "sql", "graphql": "graphql",
    "proto": "protobuf", "thrift": "thrift", "tf": "hcl", "hcl": "hcl", "toml": "toml", "ini": "ini",
    "cfg": "ini", "conf": "ini", "properties": "properties", "env": "bash", "xml": "xml", "xsd": "xml",
    "xsl": "xml", "xslt": "xml", "wsdl": "xml", "svg": "xml", "plist": "xml", "css": "css",
    "scss": "scss", "less": "less", "vue": "vue", "svelte": "svelte", "dockerfile": "dockerfile",
    "mk": "makefile", "cmake": "cmake", "nix": "nix", "vhdl": "vhdl", "v": "verilog",
    "sv": "systemverilog", "asm": "nasm", "s": "nasm", "f90": "fortran", "f": "fortran", "pas": "pascal",
    "cob": "cobol", "abap": "abap", "diff": "diff", "patch": "diff", "awk": "awk", "sol": "solidity",
}  # fmt: skip
