"""onnxruntime, set up for one small encoder beside everything else a bot does."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from retrieval.models.protocol import Vectors

# From 1.29 on onnxruntime reports its use to its maker unless this is set before it is first imported.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"

import onnxruntime


class Session:
    """An encoder graph (see graph.py). Safe to use from several threads; runs without the GIL."""

    def __init__(self, graph: Path | bytes, threads: int) -> None:
        """`threads` share one run; runs at the same time share them too."""
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        # Texts differ in length, so an arena and memory patterns would keep the largest of everything.
        options.enable_cpu_mem_arena = False
        options.enable_mem_pattern = False
        options.log_severity_level = 3
        # Waiting threads sleep: spinning saves microseconds here and takes a core from everyone else.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self._session = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])

    def run(self, tokens: NDArray[np.float32]) -> Vectors:
        """Token vectors of a text, shape (tokens, hidden), to its mean-pooled vector, shape (hidden,)."""
        return self.outputs(tokens)[0][0]

    def outputs(self, tokens: NDArray[np.float32]) -> list[NDArray[np.float32]]:
        """Everything that the graph gives, with an axis of length 1 in front; the vector comes first."""
        return [
            np.asarray(output, np.float32) for output in self._session.run(None, {"tokens": tokens[None]})
        ]
