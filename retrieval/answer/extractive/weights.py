"""Fitted constants of the extractive answerer.

Logistic regression over `features.NAMES`: whether a line holds the answer. Fitted and measured by
`bench/abstention.py` on XQuAD (Artetxe, Ruder and Yogatama, "On the Cross-lingual Transferability of
Monolingual Representations", ACL 2020) and MTRAG (see `bench/mtrag.py`), with the local embedder.
"""

from __future__ import annotations

from typing import Final

#: Question and passage in one language: slopes, and for each language what is added so that the best line
#: of 86 % of the questions with an answer scores above 0. MTRAG weighs 0.2 in the fit of the slopes.
SAME: Final = (0.254, 0.110, 0.149, 2.074, 0.987, 1.157, 0.200, 0.968)
SAME_LEVELS: Final = {"en": -5.86, "de": -5.36, "es": -5.94, "zh": -5.16, "ar": -4.67, "th": -4.87}
#: Question in another language than the passage, levels by the language of the question: for 84 %, or
#: fewer where 15 % of the questions about something else entirely would be answered.
OTHER: Final = (0.393, 0.607, 0.294, 1.667, 0.648, -0.273, 0.200, 1.267)
OTHER_LEVELS: Final = {"de": -5.72, "es": -6.00, "zh": -5.01, "ar": -5.58, "th": -5.77}
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
