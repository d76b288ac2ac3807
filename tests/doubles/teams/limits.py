"""What Microsoft Teams takes, as its documentation gives it.

Kept apart from the product's own list, so that a wrong figure there is found.
"""

from __future__ import annotations

from typing import Final

#: A whole activity as JSON in UTF-16, in bytes. Documented: "about 100 KB".
MESSAGE_BYTES: Final = 100 * 1024
#: The card of a dialog as JSON in UTF-8, in bytes. Not documented: a cautious figure.
DIALOG_CARD_BYTES: Final = 64 * 1024
CARD_ACTIONS: Final = 6
ATTACHMENTS: Final = 10
ADAPTIVE_CARD_VERSIONS: Final = frozenset({"1.0", "1.1", "1.2", "1.3", "1.4", "1.5"})

#: Citations. Documented are 20; Microsoft's own local client takes ten.
CITATIONS: Final = 10
CITATION_NAME: Final = 80
CITATION_ABSTRACT: Final = 160
CITATION_KEYWORDS: Final = 3
CITATION_KEYWORD: Final = 28
SENSITIVITY_NAME: Final = 80
SUGGESTED_ACTIONS: Final = 6

STREAM_SECONDS: Final = 120.0
#: Seconds between two requests of a stream.
STREAM_EVERY: Final = 1.0

#: (seconds, operations) per bot and thread, and for all bots of a thread.
SEND_RATES: Final = ((1.0, 7), (2.0, 8), (30.0, 60), (3600.0, 1800))
CREATE_RATES: Final = SEND_RATES
READ_RATES: Final = ((1.0, 14), (2.0, 16), (30.0, 120), (3600.0, 3600))
THREAD_RATES: Final = ((1.0, 14), (2.0, 16), (30.0, 120), (3600.0, 3600))
#: Per app and tenant.
TENANT_RATES: Final = ((1.0, 50),)

#: Seconds in which an activity must be acknowledged, and an invoke answered.
ACK_SECONDS: Final = 15.0
INVOKE_SECONDS: Final = 10.0

TOKEN_SECONDS: Final = 3599

GRAPH_PAGE: Final = 20
GRAPH_PAGE_MOST: Final = 50
MEMBERS_PAGE: Final = (50, 500)
