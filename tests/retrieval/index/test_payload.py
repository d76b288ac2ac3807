from datetime import UTC, datetime, timedelta, timezone

from hypothesis import given
from hypothesis import strategies as st

from retrieval.documents import Chunk, DocumentMeta
from retrieval.index.payload import LIVE, VersionKey, chunk_of, micros, payload_of

short = st.text(max_size=20)
shorts = st.lists(short, max_size=4).map(tuple)
naive = st.datetimes(min_value=datetime(1900, 1, 1), max_value=datetime(2200, 1, 1))
zones = st.sampled_from([None, UTC, timezone(timedelta(hours=5, minutes=30))])
moments = st.tuples(naive, zones).map(lambda pair: pair[0].replace(tzinfo=pair[1]))
metas = st.builds(
    DocumentMeta,
    workspace=short,
    knowledge_base=short,
    document_id=short,
    version_id=short,
    version=st.integers(1, 10**6),
    name=short,
    title=short,
    media_type=short,
    source_url=st.none() | short,
    labels=shorts,
    uploader=st.none() | short,
    audience=shorts,
    uploaded_at=moments,
    document_date=st.none() | moments,
    fields=st.dictionaries(short, short, max_size=3),
)
pages = st.none() | st.integers(1, 5000)
chunks = st.builds(
    Chunk,
    chunk_id=st.uuids().map(str),
    meta=metas,
    kind=st.sampled_from(["passage", "summary"]),
    ordinal=st.integers(-1, 10**6),
    text=st.text(max_size=300),
    heading_path=shorts,
    page=pages,
    page_end=pages,
    language=st.sampled_from(["en", "zh", "und"]),
)


@given(chunks, st.booleans())
def test_a_chunk_comes_back_as_it_was(chunk: Chunk, live: bool) -> None:
    payload = payload_of(chunk, live=live)
    assert chunk_of(payload) == chunk
    assert payload.get(LIVE) == (chunk.meta.workspace if live else None)


@given(metas)
def test_a_version_key_says_what_it_was_made_of(meta: DocumentMeta) -> None:
    key = VersionKey.parse(VersionKey.of(meta).dump())
    assert key == (meta.workspace, meta.document_id, meta.version, meta.version_id)


@given(moments, moments)
def test_micros_keep_the_order_of_moments(first: datetime, second: datetime) -> None:
    aware = [moment if moment.tzinfo else moment.replace(tzinfo=UTC) for moment in (first, second)]
    assert (micros(first) < micros(second)) == (aware[0] < aware[1])
