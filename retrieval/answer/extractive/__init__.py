"""Answering without a language model: sentences of the sources, quoted as they stand."""
