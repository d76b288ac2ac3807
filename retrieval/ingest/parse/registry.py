"""Which parsers read which kind; the first is the usual one. Each is imported when first used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from retrieval.ingest.limits import ParseLimits
from retrieval.ingest.parse.detect import Kind, kind_of_name
from retrieval.ingest.protocol import Parser

if TYPE_CHECKING:
    from retrieval.ingest.parse.mail import ParseInner

_BY_KIND: dict[Kind, tuple[str, ...]] = {
    "pdf": ("pdf", "pdf-text", "xberg"),
    "docx": ("office", "office-text"),
    "pptx": ("slides", "office", "office-text"),
    "xlsx": ("office", "office-text"),
    "odt": ("office", "office-text"),
    "ods": ("office", "office-text"),
    "odp": ("office-text", "office"),
    "xlsb": ("office",),
    "rtf": ("office",),
    "doc": ("office",),
    "xls": ("office",),
    "ppt": ("office",),
    "msg": ("office",),
    "epub": ("epub", "xberg"),
    "html": ("html", "html-full", "text"),
    "eml": ("mail", "text"),
    "markdown": ("markdown", "text"),
    "csv": ("csv", "text"),
    "json": ("json", "code", "text"),
    "yaml": ("yaml", "text"),
    "notebook": ("notebook", "json", "text"),
    "xml": ("xml", "code", "text"),
    "code": ("code", "text"),
    "text": ("text", "markdown"),
}


def parsers_of(kind: Kind) -> tuple[str, ...]:
    """Names of the parsers that read this kind, the usual one first."""
    return _BY_KIND[kind]


def parsers_for_name(name: str) -> tuple[str, ...]:
    """Names of the parsers for what a file's name says that it is; none for a kind that no parser reads."""
    kind = kind_of_name(name)
    return _BY_KIND[kind] if kind else ()


def make_parser(name: str, limits: ParseLimits, parse_inner: ParseInner, depth: int) -> Parser:
    """The parser of this name. Raises `KeyError` for a name that `parsers_of` never tells."""
    match name:
        case "pdf" | "pdf-text":
            from retrieval.ingest.parse.pdf.parser import PdfParser, PdfTextParser

            return PdfParser(limits) if name == "pdf" else PdfTextParser(limits)
        case "office" | "xberg":
            from retrieval.ingest.parse.office.parser import OfficeParser

            return OfficeParser(limits, name=name)
        case "office-text":
            from retrieval.ingest.parse.office.plain import OfficeTextParser

            return OfficeTextParser(limits)
        case "slides":
            from retrieval.ingest.parse.office.slides import SlidesParser

            return SlidesParser(limits)
        case "epub":
            from retrieval.ingest.parse.epub import EpubParser

            return EpubParser(limits)
        case "html" | "html-full":
            from retrieval.ingest.parse.html.parser import HtmlParser, WholeHtmlParser

            return HtmlParser(limits) if name == "html" else WholeHtmlParser(limits)
        case "mail":
            from retrieval.ingest.parse.mail import MailParser

            return MailParser(limits, parse_inner, depth)
        case "csv":
            from retrieval.ingest.parse.text.delimited import DelimitedParser

            return DelimitedParser(limits)
        case "json":
            from retrieval.ingest.parse.text.objects import JsonParser

            return JsonParser(limits)
        case "notebook":
            from retrieval.ingest.parse.text.notebook import NotebookParser

            return NotebookParser(limits)
        case "xml":
            from retrieval.ingest.parse.text.xml_file import XmlParser

            return XmlParser(limits)
        case "markdown":
            from retrieval.ingest.parse.text.markup import MarkdownParser

            return MarkdownParser(limits)
        case "code" | "yaml" | "text":
            from retrieval.ingest.parse.text.plain import CodeParser, TextParser, YamlParser

            return {"code": CodeParser, "yaml": YamlParser, "text": TextParser}[name](limits)
        case _:
            raise KeyError(name)


def import_usual() -> None:
    """Imports what the most common files need, ahead of them."""
    for module in ("html.parser", "office.parser", "pdf.parser", "text.markup", "text.plain"):
        import_module(f"{__package__}.{module}")
