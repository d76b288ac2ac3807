"""Fitted constants of the extractive answerer.

Logistic regression over `features.NAMES`: whether a line holds the answer. Fitted and measured by
`bench/abstention.py` on XQuAD (Artetxe, Ruder and Yogatama, "On the Cross-lingual Transferability of
Monolingual Representations", ACL 2020), with the local embedder.
"""

from __future__ import annotations

from typing import Final

#: Question and passage in one language: slopes, and a level for each language such that the best line
#: of 86 % of the questions that are answered scores above 0.
SAME: Final = (0.160, 0.275, 0.126, 2.993, 1.336, 0.494, 0.120, 1.613)
SAME_LEVELS: Final = {"en": -6.33, "de": -5.94, "es": -6.6, "zh": -5.53, "ar": -5.18, "th": -5.44}
#: Question in another language than the passage; levels by the language of the question, for 78 %.
OTHER: Final = (0.416, 0.696, 0.267, 1.875, 0.285, -0.006, 0.200, 1.543)
OTHER_LEVELS: Final = {"de": -6.7, "es": -6.7, "zh": -5.4, "ar": -5.4, "th": -5.4}

#: A further line is quoted with the best one if it scores at most this less, in the same passage ...
MARGIN: Final = 1.5
#: ... or in another one.
MARGIN_ELSEWHERE: Final = 0.5
#: Set by hand, since XQuAD asks for none: the line names the error code, part number or version that
#: the question names, or nothing in its passage does.
NAMED: Final = 2.0
NOT_NAMED: Final = -4.0
