"""What is being done, as the task cards of a stream and as a line for a status."""

from __future__ import annotations

from typing import Any, Final

from adapters.conversation import Working
from adapters.markdown import cut
from adapters.slack import limits

_CARDS: Final = {
    "rephrasing": "search",
    "searching": "search",
    "reranking": "search",
    "reading": "read",
    "writing": "write",
    "checking": "write",
}


class Plan:
    """Cards in the order in which they began; when one begins, those before it are complete."""

    def __init__(self) -> None:
        self._cards: dict[str, str] = {}
        self._sent: dict[str, tuple[str, str]] = {}

    @property
    def line(self) -> str:
        """What is done now; empty before anything is."""
        return next(reversed(self._cards.values()), "")

    def add(self, event: Working) -> None:
        card = _CARDS[event.kind]
        if card in self._cards and card != next(reversed(self._cards)):
            return  # it went on to something else already
        self._cards[card] = cut(event.text, limits.TASK_TITLE)

    def changes(self, *, over: bool = False) -> list[dict[str, Any]]:
        """Chunks of what changed since they were asked for last."""
        last = next(reversed(self._cards), None)
        chunks: list[dict[str, Any]] = []
        for card, title in self._cards.items():
            state = (title, "in_progress" if card == last and not over else "complete")
            if self._sent.get(card) != state:
                self._sent[card] = state
                chunks.append({"type": "task_update", "id": card, "title": title, "status": state[1]})
        return chunks
