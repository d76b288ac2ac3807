"""Small PDF files, written object by object."""

from __future__ import annotations

from dataclasses import dataclass, field

_FONTS = {"F1": "Helvetica", "F2": "Helvetica-Bold", "F3": "Courier"}
WIDTH, HEIGHT = 612, 792


@dataclass
class PdfPage:
    """Text is placed in points from the upper left corner of the page before it is turned."""

    content: list[str] = field(default_factory=list[str])
    links: list[tuple[str, tuple[float, float, float, float]]] = field(
        default_factory=list[tuple[str, tuple[float, float, float, float]]]
    )
    #: Degrees clockwise that it is shown turned, and how far its origin is moved to the right and up.
    turned: int = 0
    moved: tuple[int, int] = (0, 0)
    fields: list[tuple[str, float, float]] = field(default_factory=list[tuple[str, float, float]])

    def text(
        self,
        text: str,
        *,
        x: float = 72,
        y: float = 100,
        size: float = 10,
        bold: bool = False,
        mono: bool = False,
    ) -> PdfPage:
        font = "F3" if mono else "F2" if bold else "F1"
        shown = text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
        self.content.append(f"BT /{font} {size} Tf 1 0 0 1 {x} {HEIGHT - y} Tm ({shown}) Tj ET")
        return self

    def lines(
        self, *texts: str, x: float = 72, y: float = 100, size: float = 10, leading: float = 12
    ) -> PdfPage:
        for at, text in enumerate(texts):
            self.text(text, x=x, y=y + at * leading, size=size)
        return self

    def text_seen(self, text: str, *, x: float, y: float, size: float = 10) -> PdfPage:
        """Text at a place of the page as it is shown, upright there."""
        px, py = self._place(x, y)
        a, b = {0: (1, 0), 90: (0, 1), 180: (-1, 0), 270: (0, -1)}[self.turned]
        self.content.append(f"BT /F1 {size} Tf {a} {b} {-b} {a} {px} {py} Tm ({text}) Tj ET")
        return self

    def link_seen(self, address: str, *, x: float, y: float, width: float) -> PdfPage:
        (x0, y0), (x1, y1) = self._place(x, y + 3), self._place(x + width, y - 12)
        self.links.append((address, (min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1))))
        return self

    def _place(self, x: float, y: float) -> tuple[float, float]:
        """Coordinates of the file for a place of the page as it is shown."""
        places = {0: (x, HEIGHT - y), 90: (y, x), 180: (WIDTH - x, y), 270: (WIDTH - y, HEIGHT - x)}
        px, py = places[self.turned]
        return px - self.moved[0], py - self.moved[1]

    def link(self, address: str, *, x: float, y: float, width: float, height: float = 12) -> PdfPage:
        self.links.append((address, (x, HEIGHT - y - 3, x + width, HEIGHT - y + height)))
        return self

    def form_field(self, value: str, *, x: float, y: float) -> PdfPage:
        self.fields.append((value, x, HEIGHT - y))
        return self

    def picture(self) -> PdfPage:
        """A grey square, as a scan is one picture."""
        self.content.append("q 200 0 0 200 100 300 cm BI /W 1 /H 1 /CS /G /BPC 8 ID \x80 EI Q")
        return self


def pdf(
    *pages: PdfPage,
    outline: list[tuple[str, int]] | None = None,
    info: dict[str, str] | None = None,
    broken: tuple[int, ...] = (),
) -> bytes:
    """A PDF. `outline`: title and page index (from 0); `broken`: indices of pages that are missing."""
    objects: list[str] = ["", ""]

    def add(body: str) -> int:
        objects.append(body)
        return len(objects)

    fonts = {
        key: add(f"<< /Type /Font /Subtype /Type1 /BaseFont /{name} /Encoding /WinAnsiEncoding >>")
        for key, name in _FONTS.items()
    }
    resources = " ".join(f"/{key} {number} 0 R" for key, number in fonts.items())
    kids: list[int] = []
    for page in pages:
        stream = "\n".join(page.content)
        content = add(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
        links = [
            add(
                f"<< /Type /Annot /Subtype /Link /Rect [{' '.join(map(str, box))}] "
                f"/A << /S /URI /URI ({address}) >> >>"
            )
            for address, box in page.links
        ]
        for value, x, y in page.fields:
            drawn = f"BT /F1 10 Tf 2 3 Td ({value}) Tj ET"
            look = add(
                "<< /Type /XObject /Subtype /Form /BBox [0 0 200 14] "
                f"/Resources << /Font << {resources} >> >> "
                f"/Length {len(drawn)} >>\nstream\n{drawn}\nendstream"
            )
            links.append(
                add(
                    f"<< /Type /Annot /Subtype /Widget /FT /Tx /T (f) /V ({value}) /F 4 "
                    f"/Rect [{x} {y} {x + 200} {y + 14}] /AP << /N {look} 0 R >> >>"
                )
            )
        kids.append(
            add(
                f"<< /Type /Page /Parent 2 0 R /Rotate {page.turned} /MediaBox [{_box(page)}] "
                f"/Contents {content} 0 R "
                f"/Resources << /Font << {resources} >> >> "
                f"/Annots [{' '.join(f'{number} 0 R' for number in links)}] >>"
            )
        )
    root = "<< /Type /Catalog /Pages 2 0 R"
    if outline:
        top = len(objects) + 1
        first, last = top + 1, top + len(outline)
        add(f"<< /Type /Outlines /First {first} 0 R /Last {last} 0 R /Count {len(outline)} >>")
        for at, (title, page_index) in enumerate(outline):
            before = f"/Prev {first + at - 1} 0 R " if at else ""
            after = f"/Next {first + at + 1} 0 R " if at + 1 < len(outline) else ""
            add(
                f"<< /Title ({title}) /Parent {top} 0 R {before}{after}"
                f"/Dest [{kids[page_index]} 0 R /XYZ 0 {HEIGHT} 0] >>"
            )
        root += f" /Outlines {top} 0 R"
    objects[0] = root + " >>"
    shown = [f"{number + (at in broken) * 10_000} 0 R" for at, number in enumerate(kids)]
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(shown)}] /Count {len(kids)} >>"
    stated = add("<< " + " ".join(f"/{key} ({value})" for key, value in (info or {}).items()) + " >>")
    return _file(objects, stated)


def _box(page: PdfPage) -> str:
    right, up = page.moved
    return f"{-right} {-up} {WIDTH - right} {HEIGHT - up}"


def _file(objects: list[str], info: int) -> bytes:
    out = b"%PDF-1.7\n"
    offsets: list[int] = []
    for number, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n".encode("latin-1")
    table = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n" + "".join(
        f"{at:010} 00000 n \n" for at in offsets
    )
    size = len(objects) + 1
    trailer = f"trailer\n<< /Size {size} /Root 1 0 R /Info {info} 0 R >>\nstartxref\n{len(out)}\n%%EOF\n"
    return out + (table + trailer).encode("latin-1")
