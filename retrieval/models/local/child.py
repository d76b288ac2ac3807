"""How a module of this package is run in a process of its own."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import retrieval


def python_module(module: str, *arguments: object) -> tuple[list[str], dict[str, str]]:
    """Command and environment: this interpreter, which finds what this process finds."""
    package = str(Path(retrieval.__path__[0]).parent)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([package, *filter(None, sys.path)])}
    return [sys.executable, "-m", module, *map(str, arguments)], environment
