"""Makes the int8 graph. Run as a module: `python -m retrieval.models.local.build WEIGHTS TARGET`.

Building takes some seconds and 300 MiB, so it happens once, in a process of its own (see store.py).
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from retrieval.models.local.graph import EncoderGraph, Ranges
from retrieval.models.local.session import Session
from retrieval.models.local.weights import Weights

#: Lengths of the made-up texts that the activations' ranges are taken from, in tokens.
_LENGTHS = (8, 32, 128, 400) * 2


def activation_ranges(weights: Weights) -> Ranges:
    """From texts of random tokens, frequent ones more often: ids are in order of frequency, so by Zipf's
    law their logarithms are evenly spread. Real text in several languages gave the same fidelity, because
    which channels are large is a trait of the model."""
    graph = EncoderGraph(weights)
    session = Session(graph.serialise(), threads=2)
    ranges = {name: np.zeros(0, np.float32) for name in graph.inputs}
    random = np.random.default_rng(0)
    pieces = weights.pieces()
    first, last = np.log(pieces.unknown + 1), np.log(len(pieces.ends) - 1)
    for length in _LENGTHS:
        ids = np.exp(random.uniform(first, last, length)).astype(np.int64)
        text = np.concatenate([[pieces.begin], ids, [pieces.end]])
        _, *activations = session.outputs(weights.token_vectors(text))
        for name, values in zip(ranges, activations, strict=True):
            seen = np.abs(values[0]).max(axis=0)
            ranges[name] = np.maximum(ranges[name], seen) if len(ranges[name]) else seen
    return ranges


def build(weights: Weights) -> bytes:
    """The same weights on the same processor give the same bytes."""
    return EncoderGraph(weights, activation_ranges(weights)).serialise()


if __name__ == "__main__":
    Path(sys.argv[2]).write_bytes(build(Weights(Path(sys.argv[1]))))
