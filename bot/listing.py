"""Which documents a workspace has: changed only inside transactions that change records too."""

from __future__ import annotations

from typing import Final

from redis.asyncio.client import Pipeline

from bot import keys
from retrieval.documents import DocumentMeta

#: KEYS documents, knowledge bases. ARGV document, knowledge base, and its time when it is to be added.
#: Counts only what really changes, so that it may be repeated.
_ENLIST: Final = """
if redis.call('ZADD', KEYS[1], 'NX', ARGV[3], ARGV[1]) == 1 then
  redis.call('HINCRBY', KEYS[2], ARGV[2], 1)
end
"""
_STRIKE: Final = """
if redis.call('ZREM', KEYS[1], ARGV[1]) == 1 and redis.call('HINCRBY', KEYS[2], ARGV[2], -1) < 1 then
  redis.call('HDEL', KEYS[2], ARGV[2])
end
"""


def enlist_document(pipe: Pipeline, meta: DocumentMeta) -> None:
    """Put the document that a version with `meta` belongs to on the lists, if it is not there."""
    lists = (keys.documents(meta.workspace), keys.knowledge_bases(meta.workspace))
    at = meta.uploaded_at.timestamp()
    pipe.eval(_ENLIST, 2, *lists, meta.document_id, meta.knowledge_base, str(at))
    name = keys.document_name(meta.workspace, meta.knowledge_base, meta.name)
    pipe.zadd(name, {meta.document_id: at}, nx=True)


def strike_document(pipe: Pipeline, meta: DocumentMeta) -> None:
    """Take the document that a version with `meta` belongs to off the lists."""
    lists = (keys.documents(meta.workspace), keys.knowledge_bases(meta.workspace))
    pipe.eval(_STRIKE, 2, *lists, meta.document_id, meta.knowledge_base)
    name = keys.document_name(meta.workspace, meta.knowledge_base, meta.name)
    pipe.zrem(name, meta.document_id)
