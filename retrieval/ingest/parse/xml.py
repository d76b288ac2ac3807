"""XML from strangers: no entities, no network, no endless depth."""

from __future__ import annotations

from lxml import etree

from retrieval.ingest.protocol import Unreadable


def parse_xml(data: bytes) -> etree._Element:  # pyright: ignore[reportPrivateUsage]
    """The root element. Raises `Unreadable("corrupt")`; entities stay unexpanded."""
    parser = etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        remove_comments=True,
        recover=False,
    )
    try:
        return etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise Unreadable("corrupt", f"XML: {type(error).__name__}") from error


def local(tag: object) -> str:
    """A tag without its namespace; empty for what is no element."""
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""
