"""The local embedding model."""

from retrieval.models.local.e5 import E5Embedder as E5Embedder
