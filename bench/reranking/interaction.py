"""Late interaction: each token of the question takes the nearest token of the passage.

Khattab and Zaharia, "ColBERT: Efficient and Effective Passage Search via Contextualized Late Interaction
over BERT", SIGIR 2020 (MaxSim). The embedder was trained to pool its tokens, and not for this. So besides
its last layer an earlier one and the table of the tokens are tried, all less their mean (the vectors of
this model crowd in a narrow cone), each token alike or weighed by its rarity; and windows of a passage,
pooled as the model pools (Günther et al., "Late Chunking", 2024), of which the nearest to the question
counts.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import onnx

from bench.reranking.first_stage import LIMIT, Floats, Task
from retrieval.models.local.encoder import MAX_CHARACTERS
from retrieval.models.local.session import Session
from retrieval.models.local.store import graph_file
from retrieval.models.local.tokenizer import Tokenizer
from retrieval.models.local.weights import Weights, locate

#: Layers whose token vectors are compared; -1 is the table, before the first layer.
LAYERS = (-1, 7, 11)
#: Tokens of a window, and of the step from one to the next.
WINDOW, STEP = 32, 16
NAMES = (
    *(f"maxsim {layer}" for layer in LAYERS),
    *(f"maxsim {layer} rare" for layer in LAYERS),
    "window",
    "window rest",
    "maxsim bits",  # the last layer, of each number in the passage's vectors only the sign
)
#: Passages from which the mean of each layer is taken.
_SAMPLE = 40


class TokenEncoder:
    """The local embedder, with the vectors of single tokens."""

    def __init__(self, model: Path, threads: int = 2) -> None:
        """model: folder of the prepared graph."""
        path, version = locate()
        self._weights = Weights(path)
        pieces = self._weights.pieces()
        self._begin, self._end = pieces.begin, pieces.end
        self._tokenizer = Tokenizer(pieces)
        graph = onnx.load(str(graph_file(model, path, version)))
        for layer in LAYERS[1:]:
            graph.graph.output.append(
                onnx.helper.make_tensor_value_info(f"l{layer}.oln.out", onnx.TensorProto.FLOAT, None)
            )
        self._session = Session(graph.SerializeToString(), threads)
        self._means = np.zeros((len(LAYERS), 1, self._weights.hidden), np.float32)

    def ids(self, text: str) -> list[int]:
        return self._tokenizer.encode(text, MAX_CHARACTERS)

    def layers(self, ids: Sequence[int], role: str) -> Floats:
        """Shape (layers, tokens, hidden), unit vectors less the means; a long text is read in windows."""
        prefix = [self._begin, *self.ids(f"{role}:")]
        room = self._weights.positions - len(prefix) - 1
        parts: list[Floats] = []
        for start in range(0, max(len(ids), 1), room):
            own = ids[start : start + room]
            tokens = self._weights.token_vectors(np.array([*prefix, *own, self._end]))
            outputs = [tokens, *(output[0] for output in self._session.outputs(tokens)[1:])]
            parts.append(np.stack([output[len(prefix) : len(prefix) + len(own)] for output in outputs]))
        vectors = np.concatenate(parts, axis=1)
        return _unit(_unit(vectors) - self._means)

    def centre(self, texts: Sequence[str]) -> None:
        """Set the means to those of these texts' tokens."""
        parts = [self.layers(self.ids(text), "passage") for text in texts]
        self._means = np.concatenate(parts, axis=1).mean(axis=1, keepdims=True)


def token_scores(tasks: Sequence[Task], cache: Path, told: Callable[[str], None]) -> list[Floats]:
    """For each task, shape (cases, LIMIT, len(NAMES)); 0 where a case has fewer candidates.

    The passages of a corpus are encoded once for all tasks over it. cache: folder that keeps the scores.
    """
    files = [cache / f"tokens-{task.digest(*NAMES)}.npy" for task in tasks]
    missing: dict[int, list[int]] = {}
    for number, (task, file) in enumerate(zip(tasks, files, strict=True)):
        if not file.exists():
            missing.setdefault(id(task.corpus), []).append(number)
    if missing:
        encoder = TokenEncoder(cache / "model")
        texts = {text for task in tasks for text in task.corpus.texts}
        encoder.centre(sorted(texts, key=lambda text: hashlib.sha256(text.encode()).digest())[:_SAMPLE])
        for numbers in missing.values():
            for number, scores in zip(
                numbers, _scores([tasks[n] for n in numbers], encoder, told), strict=True
            ):
                np.save(files[number], scores)
    return [np.load(file) for file in files]


def _scores(tasks: Sequence[Task], encoder: TokenEncoder, told: Callable[[str], None]) -> list[Floats]:
    """Of tasks over one corpus."""
    corpus = tasks[0].corpus
    wanted: dict[int, list[tuple[int, int, int]]] = {}
    for number, task in enumerate(tasks):
        for row, case in enumerate(task.cases):
            for place, passage in enumerate(case.passages.tolist()):
                wanted.setdefault(passage, []).append((number, row, place))
    ids = {passage: encoder.ids(corpus.texts[passage]) for passage in wanted}
    counts = Counter(token for tokens in ids.values() for token in set(tokens))
    asked: list[list[tuple[Floats, Floats]]] = []
    for task in tasks:
        questions = [encoder.ids(case.question) for case in task.cases]
        asked.append([(encoder.layers(q, "query"), _rarity(q, counts, len(ids))) for q in questions])
    results = [np.zeros((len(task.cases), LIMIT, len(NAMES)), np.float32) for task in tasks]
    for done, (passage, uses) in enumerate(sorted(wanted.items())):
        tokens = encoder.layers(ids[passage], "passage")
        windows = pooled(tokens[-1])
        found = interaction([asked[number][row] for number, row, _ in uses], tokens, windows)
        for (number, row, place), values in zip(uses, found, strict=True):
            results[number][row, place] = values
        if done % 100 == 0:
            told(f"{tasks[0].name}: {done} of {len(wanted)} passages")
    return results


def _rarity(tokens: Sequence[int], counts: Counter[int], passages: int) -> Floats:
    found = np.array([counts[token] for token in tokens], np.float32)
    return np.log1p((passages - found + 0.5) / (found + 0.5))


def interaction(questions: Sequence[tuple[Floats, Floats]], passage: Floats, windows: Floats) -> Floats:
    """The scores in `NAMES` of one passage for several questions, shape (questions, len(NAMES)).

    questions: their tokens, shape (layers, tokens, hidden), and how rare each is; passage: its tokens,
    in the same form; windows: what `pooled` gives of it.
    """
    lengths = np.array([len(rarity) for _, rarity in questions])
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    tokens = np.concatenate([vectors for vectors, _ in questions], axis=1)
    weights = np.concatenate([rarity / max(float(rarity.sum()), 1e-9) for _, rarity in questions])
    nearest = np.stack([(mine @ its.T).max(axis=1) for mine, its in zip(tokens, passage, strict=True)])
    alike = np.add.reduceat(nearest, starts, axis=1) / lengths
    rare = np.add.reduceat(nearest * weights, starts, axis=1)
    whole = _unit(np.add.reduceat(tokens[-1], starts, axis=0))
    near = np.sort(windows @ whole.T, axis=0)
    signs = (tokens[-1] @ np.sign(passage[-1]).T).max(axis=1)
    bits = np.add.reduceat(signs, starts)[None] / lengths / np.sqrt(tokens.shape[-1])
    return np.concatenate([alike, rare, near[-1:], near[-3:].mean(axis=0, keepdims=True), bits]).T


def pooled(tokens: Floats) -> Floats:
    """Unit vectors of overlapping windows, shape (windows, hidden)."""
    starts = range(0, max(len(tokens) - WINDOW + STEP, 1), STEP)
    return _unit(np.stack([tokens[start : start + WINDOW].sum(axis=0) for start in starts]))


def _unit(vectors: Floats) -> Floats:
    return vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-12)
