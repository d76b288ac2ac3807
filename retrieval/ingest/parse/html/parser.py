"""HTML to sections: the main content of a web page, the whole of a document without menus."""

from __future__ import annotations

from typing import Any

from lxml import etree

from retrieval.documents import ParsedDocument
from retrieval.ingest.limits import ParseLimits
from retrieval.ingest.parse.charset import decode
from retrieval.ingest.parse.html.census import CHROME, Census
from retrieval.ingest.parse.html.writer import HtmlWriter
from retrieval.ingest.parse.meta import clean_title, parse_date
from retrieval.ingest.parse.sections import SectionBuilder

#: Beyond these the search for the main content takes too long, or loses text.
_MAX_ARTICLE_CHARS = 4_000_000
_MAX_ARTICLE_DEPTH = 200
#: A page with a smaller share of its text in links, and no part marked as chrome, is a document.
_DOCUMENT_LINKS = 0.05
#: Share of the page's own main element, or of all its text, that an article must cover to be trusted.
_OF_MAIN = 0.6
_OF_ALL = 0.3
_CHUNK = 1 << 16


class HtmlParser:
    """What a page is about; its menus, heads, feet and side bars go."""

    name = "html"
    _whole = False

    def __init__(self, limits: ParseLimits) -> None:
        self._limits = limits

    def parse(self, name: str, data: bytes) -> ParsedDocument:  # noqa: ARG002
        page = decode(data)
        census: Census = feed(page, Census())
        builder = SectionBuilder(self._limits)
        if self._whole:
            feed(page, HtmlWriter(builder, base=census.base))
        else:
            _write_main(page, census, builder)
        return ParsedDocument(
            sections=builder.build(),
            title=clean_title(census.title) or clean_title(census.meta.get("og:title")),
            document_date=parse_date(census.date),
            parser=f"{self.name}/1",
        )


class WholeHtmlParser(HtmlParser):
    """Everything on the page, menus and all."""

    name = "html-full"
    _whole = True


def feed(page: str, target: Any) -> Any:
    """Sends the events of a page to a parser target and returns what it closes with."""
    parser = etree.HTMLParser(target=target, encoding="utf-8", huge_tree=True, recover=True)
    raw = page.replace("\0", "").encode("utf-8", "replace")
    for at in range(0, len(raw), _CHUNK):
        parser.feed(raw[at : at + _CHUNK])
    try:
        return parser.close()
    except etree.XMLSyntaxError:
        return target.close()  # There was nothing in it.


def write_html(page: str, builder: SectionBuilder) -> None:
    """The whole of a page that is a document: a mail's body, a chapter of a book."""
    feed(page, HtmlWriter(builder))


def _write_main(page: str, census: Census, builder: SectionBuilder) -> None:
    is_document = census.chrome == 0 and census.linked < _DOCUMENT_LINKS * census.text
    if not is_document and len(page) <= _MAX_ARTICLE_CHARS and census.depth <= _MAX_ARTICLE_DEPTH:
        from retrieval.ingest.parse.html.article import Article  # Heavy, and most files need it not.

        needed = max(_OF_MAIN * census.main, _OF_ALL * (census.text - census.chrome))
        for recall in (False, True):
            article = Article.of(page, recall=recall)
            if article is not None and article.chars >= needed:
                article.replay(HtmlWriter(builder, base=census.base))
                return
    within = (
        frozenset({"main", "article"})
        if census.main > 0.5 * (census.text - census.chrome)
        else frozenset[str]()
    )
    feed(page, HtmlWriter(builder, base=census.base, skip=CHROME, within=within))
