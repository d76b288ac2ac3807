"""Small office files, built from their XML parts."""

from __future__ import annotations

import io
import zipfile
from xml.sax.saxutils import escape

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
XML = '<?xml version="1.0" encoding="UTF-8"?>'
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"


def zipped(parts: dict[str, str | bytes], *, stored: tuple[str, ...] = ()) -> bytes:
    """A ZIP archive of `parts` in their order; those in `stored` are not compressed."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            kind = zipfile.ZIP_STORED if name in stored else zipfile.ZIP_DEFLATED
            archive.writestr(name, content, compress_type=kind)
    return out.getvalue()


def _content_types(overrides: dict[str, str]) -> str:
    listed = "".join(
        f'<Override PartName="/{name}" ContentType="{kind}"/>' for name, kind in overrides.items()
    )
    return (
        f'<Types xmlns="{_PACKAGE}/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Default Extension="xml" ContentType="application/xml"/>{listed}</Types>'
    )


def relations(targets: dict[str, tuple[str, str]], *, external: tuple[str, ...] = ()) -> str:
    """`targets`: id -> (last part of the type's address, target)."""
    listed = "".join(
        f'<Relationship Id="{key}" Type="{RELATIONS}/{kind}" Target="{escape(target)}"'
        f"{' TargetMode=' + chr(34) + 'External' + chr(34) if key in external else ''}/>"
        for key, (kind, target) in targets.items()
    )
    return f'<Relationships xmlns="{_PACKAGE}/relationships">{listed}</Relationships>'


def core_properties(title: str = "", modified: str = "", created: str = "") -> str:
    return (
        f'<cp:coreProperties xmlns:cp="{_PACKAGE}/metadata/core-properties" '
        'xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/" '
        'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">'
        f"<dc:title>{escape(title)}</dc:title>"
        + (f'<dcterms:created xsi:type="dcterms:W3CDTF">{created}</dcterms:created>' if created else "")
        + (f'<dcterms:modified xsi:type="dcterms:W3CDTF">{modified}</dcterms:modified>' if modified else "")
        + "</cp:coreProperties>"
    )


def paragraph(text: str, style: str = "") -> str:
    """A Word paragraph, e.g. in style "Heading1"."""
    properties = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f'<w:p>{properties}<w:r><w:t xml:space="preserve">{escape(text)}</w:t></w:r></w:p>'


def word_table(rows: list[list[str]]) -> str:
    body = "".join(
        "<w:tr>" + "".join(f"<w:tc><w:tcPr/>{paragraph(cell)}</w:tc>" for cell in row) + "</w:tr>"
        for row in rows
    )
    return f"<w:tbl><w:tblPr/>{body}</w:tbl>"


_STYLES = (
    f'<w:styles xmlns:w="{WORD}">'
    + "".join(
        f'<w:style w:type="paragraph" w:styleId="Heading{level}"><w:name w:val="heading {level}"/>'
        f'<w:pPr><w:outlineLvl w:val="{level - 1}"/></w:pPr></w:style>'
        for level in range(1, 7)
    )
    + "</w:styles>"
)


def docx(
    *body: str,
    title: str = "",
    modified: str = "",
    extra: dict[str, str] | None = None,
    links: dict[str, str] | None = None,
) -> bytes:
    """A Word document. `body` holds XML of paragraphs and tables; `links` are relation id -> address."""
    targets = {"rS": ("styles", "styles.xml")} | {
        key: ("hyperlink", to) for key, to in (links or {}).items()
    }
    word = "application/vnd.openxmlformats-officedocument.wordprocessingml"
    parts: dict[str, str | bytes] = {
        "[Content_Types].xml": _content_types(
            {"word/document.xml": f"{word}.document.main+xml", "word/styles.xml": f"{word}.styles+xml"}
        ),
        "_rels/.rels": relations({"r1": ("officeDocument", "word/document.xml")}),
        "word/_rels/document.xml.rels": relations(targets, external=tuple(links or ())),
        "word/document.xml": f'{XML}<w:document xmlns:w="{WORD}" xmlns:r="{RELATIONS}"><w:body>'
        + "".join(body)
        + "</w:body></w:document>",
        "word/styles.xml": _STYLES,
        "docProps/core.xml": core_properties(title, modified),
        **(extra or {}),
    }
    return zipped(parts)
