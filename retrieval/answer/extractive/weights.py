"""Fitted constants of the extractive answerer.

Logistic regression over `features.NAMES`: whether a line holds the answer. Fitted and measured by
`bench/abstention.py` on XQuAD (Artetxe, Ruder and Yogatama, "On the Cross-lingual Transferability of
Monolingual Representations", ACL 2020) and MTRAG (see `bench/mtrag.py`), with the local embedder.
"""

from __future__ import annotations

from typing import Final

#: Question and passage in one language: slopes, and for each language what is added, so that the best
#: line scores above 0 for one in ten questions without their paragraph, or for 82 % of those with it.
#: MTRAG weighs 0.2 in the fit of the slopes.
SAME: Final = (0.251, 0.124, 0.132, 2.065, 0.964, 1.144, 0.200, 1.059)
SAME_LEVELS: Final = {"en": -5.46, "de": -5.37, "es": -5.84, "zh": -5.36, "ar": -4.95, "th": -5.11}
#: Question in another language than the passage, levels by the language of the question: for 84 % of the
#: questions with their paragraph, or fewer where 15 % of those about something else would be answered.
OTHER: Final = (0.400, 0.642, 0.280, 1.537, 0.638, -0.289, 0.200, 1.259)
OTHER_LEVELS: Final = {"de": -5.78, "es": -6.10, "zh": -5.09, "ar": -5.66, "th": -5.85}
#: From this score on a line is shown as the closest there is, though it is not taken to answer.
CLOSEST: Final = -1.25

#: A further line is quoted with the best one if it scores at most this less, in the same passage ...
MARGIN: Final = 2.0
#: ... or in another one.
MARGIN_ELSEWHERE: Final = 0.5
#: Set by hand, since XQuAD asks for none: the line names the error code, part number or version that
#: the question names, or nothing in its passage does.
NAMED: Final = 2.0
NOT_NAMED: Final = -4.0
#: Set by hand: the row of a table is about one error code or part by its first cell, and the question names
#: none.
ROW_OF_ANOTHER: Final = -2.5
#: Nothing in the passage bears a name that the question has, such as that of another place.
NO_SUCH_NAME: Final = -0.6
#: The line stands under a heading that says nothing but what the question says ("Connect"); less where it
#: says more ("When it does not connect"), nothing from half of its words on.
HEADED: Final = 1.0
