"""Small office files, built from their XML parts."""

from __future__ import annotations

import io
import zipfile
from dataclasses import dataclass
from xml.sax.saxutils import escape

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/main"
PRESENTATION = "http://schemas.openxmlformats.org/presentationml/2006/main"
CHART = "http://schemas.openxmlformats.org/drawingml/2006/chart"
XML = '<?xml version="1.0" encoding="UTF-8"?>'
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"


def zipped(parts: dict[str, str | bytes], *, stored: tuple[str, ...] = ()) -> bytes:
    """A ZIP archive of `parts` in their order; those in `stored` are not compressed."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            kind = zipfile.ZIP_STORED if name in stored else zipfile.ZIP_DEFLATED
            archive.writestr(zipfile.ZipInfo(name, (2024, 1, 2, 3, 4, 6)), content, compress_type=kind)
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


def _package(
    main: str, kinds: dict[str, str], parts: dict[str, str], title: str, modified: str = ""
) -> bytes:
    return zipped(
        {
            "[Content_Types].xml": _content_types(kinds),
            "_rels/.rels": relations({"r1": ("officeDocument", main)}),
            "docProps/core.xml": core_properties(title, modified),
            **parts,
        }
    )


def docx(
    *body: str, title: str = "", modified: str = "", links: dict[str, str] | None = None, doctype: str = ""
) -> bytes:
    """A Word document. `body` holds XML of paragraphs and tables; `links` are relation id -> address."""
    links = links or {}
    targets = {"rS": ("styles", "styles.xml")} | {key: ("hyperlink", to) for key, to in links.items()}
    word = "application/vnd.openxmlformats-officedocument.wordprocessingml"
    opening = f'<w:document xmlns:w="{WORD}" xmlns:r="{RELATIONS}"><w:body>'
    return _package(
        "word/document.xml",
        {"word/document.xml": f"{word}.document.main+xml", "word/styles.xml": f"{word}.styles+xml"},
        {
            "word/_rels/document.xml.rels": relations(targets, external=tuple(links)),
            "word/document.xml": f"{XML}{doctype}{opening}{''.join(body)}</w:body></w:document>",
            "word/styles.xml": _STYLES,
        },
        title,
        modified,
    )


@dataclass(frozen=True)
class Slide:
    """`body`: paragraphs of runs; `chart`: title, series, categories, values."""

    title: str
    body: list[list[str]]
    notes: str = ""
    table: list[list[str]] | None = None
    chart: tuple[str, str, list[str], list[str]] | None = None


_DRAW = f'xmlns:a="{DRAWING}" xmlns:p="{PRESENTATION}" xmlns:r="{RELATIONS}"'


def pptx(*slides: Slide, title: str = "", broken: int | None = None) -> bytes:
    """A presentation; the slide at index `broken` is no XML. Notes are filed in the reverse order."""
    base = "application/vnd.openxmlformats-officedocument.presentationml"
    kinds = {"ppt/presentation.xml": f"{base}.presentation.main+xml"}
    parts: dict[str, str] = {}
    for at, slide in enumerate(slides, 1):
        name, related = f"ppt/slides/slide{at}.xml", dict[str, tuple[str, str]]()
        kinds[name] = f"{base}.slide+xml"
        shapes = _shape("title", [[slide.title]]) if slide.title else ""
        shapes += _shape("body", slide.body) if slide.body else ""
        if slide.table:
            rows = "".join(
                "<a:tr>"
                + "".join(f"<a:tc><a:txBody>{_runs([c])}</a:txBody></a:tc>" for c in row)
                + "</a:tr>"
                for row in slide.table
            )
            shapes += _frame(f"<a:tbl>{rows}</a:tbl>", "table")
        if slide.chart:
            related["rC"] = ("chart", f"../charts/chart{at}.xml")
            shapes += _frame(f'<c:chart xmlns:c="{CHART}" r:id="rC"/>', "chart")
            parts[f"ppt/charts/chart{at}.xml"] = _chart(*slide.chart)
        if slide.notes:
            note = f"ppt/notesSlides/notesSlide{len(slides) - at + 1}.xml"
            related["rN"] = ("notesSlide", f"../{note.removeprefix('ppt/')}")
            parts[note] = (
                f"{XML}<p:notes {_DRAW}><p:cSld>{_tree(_shape('body', [[slide.notes]]))}</p:cSld></p:notes>"
            )
        whole = f"{XML}<p:sld {_DRAW}><p:cSld>{_tree(shapes)}</p:cSld></p:sld>"
        parts[name] = whole if broken != at - 1 else whole[: len(whole) // 2]
        parts[f"ppt/slides/_rels/slide{at}.xml.rels"] = relations(related)
    listed = "".join(f'<p:sldId id="{255 + at}" r:id="r{at}"/>' for at in range(1, len(slides) + 1))
    parts["ppt/presentation.xml"] = (
        f"{XML}<p:presentation {_DRAW}><p:sldIdLst>{listed}</p:sldIdLst></p:presentation>"
    )
    parts["ppt/_rels/presentation.xml.rels"] = relations(
        {f"r{at}": ("slide", f"slides/slide{at}.xml") for at in range(1, len(slides) + 1)}
    )
    return _package("ppt/presentation.xml", kinds, parts, title)


def _tree(shapes: str) -> str:
    return f"<p:spTree><p:nvGrpSpPr/><p:grpSpPr/>{shapes}</p:spTree>"


def _runs(runs: list[str]) -> str:
    return "<a:p>" + "".join(f"<a:r><a:rPr/><a:t>{escape(run)}</a:t></a:r>" for run in runs) + "</a:p>"


def _shape(kind: str, body: list[list[str]]) -> str:
    place = (
        f'<p:nvSpPr><p:cNvPr id="2" name="s"/><p:cNvSpPr/><p:nvPr><p:ph type="{kind}"/></p:nvPr></p:nvSpPr>'
    )
    return f"<p:sp>{place}<p:spPr/><p:txBody><a:bodyPr/>{''.join(map(_runs, body))}</p:txBody></p:sp>"


def _frame(content: str, kind: str) -> str:
    return (
        '<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="4" name="f"/></p:nvGraphicFramePr><a:graphic>'
        f'<a:graphicData uri="{DRAWING.replace("main", kind)}">{content}</a:graphicData></a:graphic>'
        "</p:graphicFrame>"
    )


def _chart(title: str, series: str, categories: list[str], values: list[str]) -> str:
    def points(texts: list[str]) -> str:
        return "".join(f'<c:pt idx="{at}"><c:v>{text}</c:v></c:pt>' for at, text in enumerate(texts))

    return (
        f'{XML}<c:chartSpace xmlns:c="{CHART}" xmlns:a="{DRAWING}"><c:chart><c:title><c:tx><c:rich>'
        f"{_runs([title])}"
        f"</c:rich></c:tx></c:title><c:plotArea><c:barChart><c:ser><c:tx><c:strRef><c:strCache>{points([series])}"
        f"</c:strCache></c:strRef></c:tx><c:cat><c:strRef><c:strCache>{points(categories)}</c:strCache></c:strRef>"
        f"</c:cat><c:val><c:numRef><c:numCache>{points(values)}</c:numCache></c:numRef></c:val></c:ser></c:barChart>"
        "</c:plotArea></c:chart></c:chartSpace>"
    )


@dataclass(frozen=True)
class Sheet:
    name: str
    rows: list[list[str]]


def xlsx(*sheets: Sheet) -> bytes:
    """A workbook. Texts that are numbers become numbers."""
    base = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    space = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    kinds = {"xl/workbook.xml": f"{base}.sheet.main+xml"}
    parts: dict[str, str] = {}
    for at, sheet in enumerate(sheets, 1):
        kinds[f"xl/worksheets/sheet{at}.xml"] = f"{base}.worksheet+xml"
        rows = "".join(
            f'<row r="{number}">'
            + "".join(_cell(number, column, text) for column, text in enumerate(row))
            + "</row>"
            for number, row in enumerate(sheet.rows, 1)
        )
        parts[f"xl/worksheets/sheet{at}.xml"] = (
            f'{XML}<worksheet xmlns="{space}"><sheetData>{rows}</sheetData></worksheet>'
        )
    listed = "".join(
        f'<sheet name="{sheet.name}" sheetId="{at}" r:id="r{at}"/>' for at, sheet in enumerate(sheets, 1)
    )
    parts["xl/workbook.xml"] = (
        f'{XML}<workbook xmlns="{space}" xmlns:r="{RELATIONS}"><sheets>{listed}</sheets></workbook>'
    )
    parts["xl/_rels/workbook.xml.rels"] = relations(
        {f"r{at}": ("worksheet", f"worksheets/sheet{at}.xml") for at in range(1, len(sheets) + 1)}
    )
    return _package("xl/workbook.xml", kinds, parts, "")


def _cell(row: int, column: int, text: str) -> str:
    place = f"{chr(65 + column)}{row}"
    if text.replace(".", "", 1).isdigit():
        return f'<c r="{place}"><v>{text}</v></c>'
    return f'<c r="{place}" t="inlineStr"><is><t>{escape(text)}</t></is></c>'


_ODF = "urn:oasis:names:tc:opendocument:xmlns:"
_ODF_SPACES = " ".join(
    f'xmlns:{name}="{address}"'
    for name, address in {
        "office": _ODF + "office:1.0",
        "text": _ODF + "text:1.0",
        "table": _ODF + "table:1.0",
        "draw": _ODF + "drawing:1.0",
        "presentation": _ODF + "presentation:1.0",
        "meta": _ODF + "meta:1.0",
        "xlink": "http://www.w3.org/1999/xlink",
        "dc": "http://purl.org/dc/elements/1.1/",
    }.items()
)


def odf(kind: str, body: str, *, title: str = "") -> bytes:
    """An OpenDocument file of kind "text", "spreadsheet" or "presentation", dated 2024-05-06 07:08:09."""
    media_type = f"application/vnd.oasis.opendocument.{kind}"
    entry = f'<m:file-entry m:full-path="/" m:media-type="{media_type}"/>'
    return zipped(
        {
            "mimetype": media_type,
            "META-INF/manifest.xml": f'<m:manifest xmlns:m="{_ODF}manifest:1.0">{entry}</m:manifest>',
            "content.xml": f'{XML}<office:document-content {_ODF_SPACES} office:version="1.2">'
            f"<office:body>{body}"
            "</office:body></office:document-content>",
            "meta.xml": f"{XML}<office:document-meta {_ODF_SPACES}><office:meta>"
            f"<dc:title>{title}</dc:title>"
            "<dc:date>2024-05-06T07:08:09</dc:date></office:meta></office:document-meta>",
        },
        stored=("mimetype",),
    )


def odf_table(name: str, rows: list[list[str]]) -> str:
    body = "".join(
        "<table:table-row>"
        + "".join(
            '<table:table-cell office:value-type="string">'
            f"<text:p>{escape(text)}</text:p></table:table-cell>"
            for text in row
        )
        + "</table:table-row>"
        for row in rows
    )
    return f'<table:table table:name="{name}">{body}</table:table>'
