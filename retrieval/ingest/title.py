"""What a document is called."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from retrieval.ingest.clean import clean_line

#: Characters.
MAX_TITLE = 160

# What programs write into the title field by themselves, and headings that open any document.
_MEANINGLESS = re.compile(
    r"(?:microsoft (?:word|powerpoint|excel)\b.*"
    r"|(?:untitled|unbenannt|sans titre|sin título|senza titolo|無題|无标题).*"
    r"|(?:document|dokument|presentation|präsentation|book|mappe|sheet|tabelle|slide|folie|page|seite) ?\d*"
    r"|powerpoint[ -]pr[eä]sentation"
    r"|(?:table of )?contents|inhalt(?:sverzeichnis)?|abstract|introduction|einleitung"
    r"|.*\.(?:docx?|pptx?|xls[xm]?|csv|pdf|rtf|od[tsp]|indd|qxd|tmp|tex|dvi|ps|html?|md|txt|eml|msg|epub)"
    r"|[\W\d_]*)",
    re.IGNORECASE,
)


#: Headings in these are sheets and keys; their file name says more.
_DATA = frozenset({".xlsx", ".xlsm", ".xls", ".ods", ".csv", ".tsv", ".json", ".yaml", ".yml"})


def title_of(*, name: str, given: str, parsed: str | None, heading: str | None) -> str:
    """A title that a person gave, else the document's own, else its first heading, else the file name.

    `given` counts as given by a person unless it is empty or just the file name.
    """
    path = PurePosixPath(name.replace("\\", "/"))
    stem = path.stem
    chosen = clean_line(given, MAX_TITLE)
    if chosen and chosen not in (clean_line(name, MAX_TITLE), clean_line(stem, MAX_TITLE)):
        return chosen
    for candidate in (parsed, None if path.suffix.lower() in _DATA else heading):
        title = clean_line(candidate or "", MAX_TITLE)
        if title and not _MEANINGLESS.fullmatch(title):
            return title
    return clean_line(stem, MAX_TITLE) or "Untitled document"
