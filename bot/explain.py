"""A trace as a timeline for people: "Why this answer?"."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from adapters.ports import Explanation, ExplanationStep
from bot.turns import TurnRecord
from retrieval.trace import Step

_TITLES = {
    "intent": "Understood the message",
    "scope": "Chose where to search",
    "rephrase": "Rephrased the question",
    "embed": "Turned the question into vectors",
    "search": "Searched",
    "judge": "Judged the first search",
    "passages of summaries": "Found passages of the documents whose summary fits",
    "rerank": "Compared the passages",
    "select": "Chose the sources",
    "sources of the previous answer": "Took the sources of the previous answer",
    "generate": "Wrote the answer",
    "generate without a model": "Wrote the answer without a model",
    "cite": "Checked the citations",
}
#: Hits that a step names; the rest is counted.
_SHOWN = 5


#: A kind of list that counts less than this, of 1, is said to be trusted less.
_LITTLE = 1 / 3

#: Titles of the documents that a reader may see now, by document id.
Titles = Mapping[str, str]
_GONE = "a document that is not there any more"


def explain(record: TurnRecord, titles: Titles) -> Explanation:
    """The steps of a turn that has a trace, in the order in which they began.

    Documents are named by `titles` alone: what was deleted or narrowed since is told by its place.
    """
    steps = sorted(record.trace.steps, key=lambda step: step.start_ms) if record.trace else []
    return Explanation(
        turn_id=record.turn_id,
        question=record.question,
        steps=tuple(_step(step, record, titles) for step in steps),
        total_ms=max((step.start_ms + step.ms for step in steps), default=0.0),
        raw=record.trace.model_dump(mode="json") if record.trace else {},
    )


def _step(step: Step, record: TurnRecord, titles: Titles) -> ExplanationStep:
    lines = [text for text in _lines(step, record, titles) if text]
    for use in step.models:
        cost = f", {use.cost:.5f} US$" if use.cost else ""
        lines.append(f"{use.model}{cost}")
    return ExplanationStep(
        name=step.name,
        title=_TITLES.get(step.name, step.name.capitalize()),
        start_ms=step.start_ms,
        ms=step.ms,
        lines=tuple(lines),
        input_tokens=sum(use.input_tokens for use in step.models),
        output_tokens=sum(use.output_tokens for use in step.models),
        note=step.note or (f"Failed: {step.error.split(':')[0]}." if step.error else ""),
    )


def _lines(step: Step, record: TurnRecord, titles: Titles) -> list[str]:
    inputs, outputs = step.inputs, step.outputs
    match step.name:
        case "intent":
            return [f"It is a {str(outputs.get('intent', 'question')).replace('_', ' ')}."]
        case "scope":
            return [_scope(scope) for scope in cast("list[dict[str, Any]]", outputs.get("scopes", []))]
        case "rephrase":
            others = cast("list[str]", outputs.get("alternatives", []))
            return [str(outputs.get("standalone", "")), *(f"Also: {text}" for text in others)]
        case "search":
            queries = cast("list[str]", inputs.get("queries", []))
            return [*(f"“{query}”" for query in queries), *_weights(outputs), *_hits(outputs, titles)]
        case "judge":
            return [_judged(outputs)]
        case "passages of summaries":
            return _hits(outputs, titles)
        case "rerank":
            return [f"{inputs.get('passages', 0)} passages, threshold {inputs.get('threshold', 0)}"]
        case "select" | "sources of the previous answer":
            return [f"[{label}] {_title(chunk, record, titles)}" for label, chunk in _sources(outputs)]
        case "generate" | "generate without a model":
            return [f"from {len(_sources(inputs))} sources"]
        case "cite":
            cited = cast("list[dict[str, Any]]", outputs.get("citations", []))
            return [f"[{one['label']}] {claim}" for one in cited for claim in one.get("claims", [])[:2]]
        case _:
            return []


def _sources(values: dict[str, Any]) -> list[tuple[str, str]]:
    return list(cast("dict[str, str]", values.get("sources", {})).items())


def _title(chunk_id: str, record: TurnRecord, titles: Titles) -> str:
    """Of a source: with its place where the answer names it."""
    cited = next((c for c in record.reply.citations if c.chunk_id == chunk_id), None)
    if cited is not None and cited.document_id in titles:
        return f"{titles[cited.document_id]}, {cited.place()}".rstrip(", ")
    return titles.get(_documents(record).get(chunk_id, ""), _GONE)


def _documents(record: TurnRecord) -> dict[str, str]:
    """Of every passage that was found: its document."""
    steps = record.trace.steps if record.trace else []
    hits = (cast("list[dict[str, Any]]", step.outputs.get("hits", [])) for step in steps)
    return {str(hit.get("chunk")): str(hit.get("document")) for found in hits for hit in found}


def _scope(scope: dict[str, Any]) -> str:
    parts = [
        f"{name}: {', '.join(sorted(scope[key]))}"
        for name, key in (("knowledge bases", "knowledge_bases"), ("labels", "labels"))
        if scope.get(key)
    ]
    return "; ".join(parts) or "Everything that all readers of the reply may read"


def _hits(outputs: dict[str, Any], titles: Titles) -> list[str]:
    hits = cast("list[dict[str, Any]]", outputs.get("hits", []))
    lines: list[str] = []
    for place, hit in enumerate(hits[:_SHOWN], 1):
        lists = cast("dict[str, Any]", hit.get("lists", {}))
        ranks = ", ".join(f"{name.removesuffix(':0')} {_rank(value)}" for name, value in lists.items())
        told = f", {ranks}" if ranks else ""
        title = titles.get(str(hit.get("document")), _GONE)
        lines.append(f"{place}. {title}: score {float(hit.get('score', 0)):.4f}{told}")
    if len(hits) > _SHOWN:
        lines.append(f"and {len(hits) - _SHOWN} more")
    return lines


def _judged(outputs: dict[str, Any]) -> str:
    """Whether rewrites were waited for, and why."""
    sure, reranked = outputs.get("confidence"), outputs.get("best reranked")
    told = [] if sure is None else [f"confidence {float(sure):.2f}, enough is {outputs.get('enough')}"]
    if reranked is not None:
        enough = outputs.get("enough reranked")
        told.append(f"best score of the reranker {float(reranked):.2f}, enough is {enough}")
    why = f" ({'; '.join(told)})" if told else ""
    if outputs.get("waited"):
        return f"What the question itself found looked weak{why}, so other phrasings were asked for."
    return f"What the question itself found looked good{why}, so no other phrasing was waited for."


def _weights(outputs: dict[str, Any]) -> list[str]:
    """Which kind of list was trusted less, and why, for each search of the step."""
    searches = cast("list[dict[str, dict[str, Any]]]", outputs.get("lists", []))
    return [text for lists in searches for text in _trust(lists)]


def _trust(lists: dict[str, dict[str, Any]]) -> list[str]:
    by_kind = {"dense": 0.0, "bm25": 0.0}
    for name, told in lists.items():
        kind = name.partition(":")[0]
        by_kind[kind] = by_kind.get(kind, 0.0) + float(told.get("weight", 0))
    keywords = [told for name, told in lists.items() if name.startswith("bm25")]
    if not keywords or len(keywords) == len(lists):
        return []
    share = f"Keywords counted {by_kind['bm25']:.0%}, meaning {by_kind['dense']:.0%}"
    others = sum(int(told.get("in another language", 0)) for told in keywords)
    if not any(told.get("found") for told in keywords):
        lines = ["No passage holds a word of the question, so only meaning counted."]
    elif by_kind["bm25"] < _LITTLE:
        lines = [f"{share}: no passage holds much of the question's words."]
    elif by_kind["dense"] < _LITTLE:
        lines = [f"{share}: a passage holds most of the question's words."]
    else:
        lines = [f"{share}."]
    if others:
        lines.append(f"Compared by meaning, as they are in another language than the words: {others}.")
    return lines


def _rank(value: Any) -> str:
    if isinstance(value, dict):
        return str(cast("dict[str, Any]", value).get("rank", "?"))
    return str(value[0]) if isinstance(value, list | tuple) and value else str(value)
