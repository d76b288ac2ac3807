"""`bot` imports `adapters` and `retrieval`; those two import neither each other nor `bot`."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FORBIDDEN = {"adapters": {"bot", "retrieval"}, "retrieval": {"bot", "adapters"}, "bot": {"tests"}}


def imported(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module)
    return found


@pytest.mark.parametrize("package", FORBIDDEN)
def test_imports_go_one_way(package: str) -> None:
    files = list((ROOT / package).rglob("*.py"))
    assert files
    wrong = {
        f"{path.relative_to(ROOT)} imports {name}"
        for path in files
        for name in imported(path)
        if name.split(".")[0] in FORBIDDEN[package]
    }
    assert not wrong


def test_botbuilder_stays_inside_the_teams_adapter() -> None:
    wrong = [
        path
        for package in ("adapters", "retrieval", "bot")
        for path in (ROOT / package).rglob("*.py")
        if "teams" not in path.parts and any(n.startswith("botbuilder") for n in imported(path))
    ]
    assert not wrong
