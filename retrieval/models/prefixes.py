"""What embedding models want before a text, and how long a text they read.

A model that was trained with an instruction for queries finds clearly less without it, and servers
(vLLM, Ollama, Scaleway's) don't add it. The formats are those of the model cards.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

_SEARCH = "Given a web search query, retrieve relevant passages that answer the query"


@dataclass(frozen=True, slots=True)
class EmbeddingFacts:
    """`query` and `passage` stand before the text. `dimension` is None where it has to be learned."""

    query: str = ""
    passage: str = ""
    dimension: int | None = None
    #: Tokens of one text; what is longer is cut.
    max_tokens: int = 8192

    @property
    def revision(self) -> str:
        """Changes when vectors of passages change: names what is put before a passage."""
        if not self.passage:
            return "plain"
        return hashlib.blake2b(self.passage.encode(), digest_size=4).hexdigest()


#: The first pattern found in the model's name (lowercase, `_` as `-`) counts.
_FACTS: tuple[tuple[str, EmbeddingFacts], ...] = (
    (r"bge-multilingual-gemma2", EmbeddingFacts(f"<instruct>{_SEARCH}.\n<query>", "", 3584, 8192)),
    (r"bge-en-icl", EmbeddingFacts(f"<instruct>{_SEARCH}.\n<query>", "", 4096, 8192)),
    (r"bge-m3", EmbeddingFacts("", "", 1024, 8192)),
    (
        r"bge-(small|base|large)-en",
        EmbeddingFacts("Represent this sentence for searching relevant passages: ", max_tokens=512),
    ),
    (r"e5-mistral", EmbeddingFacts(f"Instruct: {_SEARCH}\nQuery: ", "", 4096, 4096)),
    (r"e5-.*instruct", EmbeddingFacts(f"Instruct: {_SEARCH}\nQuery: ", max_tokens=512)),
    (r"\be5-", EmbeddingFacts("query: ", "passage: ", max_tokens=512)),
    (r"gte-qwen", EmbeddingFacts(f"Instruct: {_SEARCH}\nQuery: ", max_tokens=8192)),
    (r"qwen3-embedding", EmbeddingFacts(f"Instruct: {_SEARCH}\nQuery:", max_tokens=32000)),
    (r"nomic-embed-text", EmbeddingFacts("search_query: ", "search_document: ", 768, 2048)),
    (
        r"mxbai-embed-large",
        EmbeddingFacts("Represent this sentence for searching relevant passages: ", "", 1024, 512),
    ),
    (r"snowflake-arctic-embed.*(v2|2\.0)|snowflake-arctic-embed2", EmbeddingFacts("query: ")),
    (
        r"snowflake-arctic-embed",
        EmbeddingFacts("Represent this sentence for searching relevant passages: ", max_tokens=512),
    ),
    (r"embeddinggemma", EmbeddingFacts("task: search result | query: ", "title: none | text: ", 768, 2048)),
    (r"text-embedding-3-small", EmbeddingFacts(dimension=1536, max_tokens=8191)),
    (r"text-embedding-3-large", EmbeddingFacts(dimension=3072, max_tokens=8191)),
    (r"text-embedding-ada-002", EmbeddingFacts(dimension=1536, max_tokens=8191)),
)


def facts(model: str) -> EmbeddingFacts:
    """What is known of an embedding model, by its name with or without an organisation before it."""
    name = model.lower().replace("_", "-")
    return next((known for pattern, known in _FACTS if re.search(pattern, name)), EmbeddingFacts())
