"""Slack's limits, in characters or pieces, as its reference gives them.

Kept apart from the product's own list, so that a wrong figure there is found.
"""

from __future__ import annotations

from typing import Final

MESSAGE_BLOCKS: Final = 50
VIEW_BLOCKS: Final = 100
MESSAGE_ATTACHMENTS: Final = 100
#: Longer texts of messages are cut when posted, and refused when edited.
MESSAGE_TEXT: Final = 40_000
UPDATE_TEXT: Final = 4_000
#: All blocks of a message as JSON, in characters. Not documented: about this many were refused.
MESSAGE_BLOCKS_LENGTH: Final = 13_200
MARKDOWN: Final = 12_000
METADATA: Final = 8_000 * 4
IDENTIFIER: Final = 255
PRIVATE_METADATA: Final = 3_000
VIEW_TITLE: Final = 24
VIEW_SIZE: Final = 250_000
VIEW_STACK: Final = 3

TEXT: Final = 3_000
FIELDS: Final = 10
FIELD: Final = 2_000
HEADER: Final = 150
CONTEXT: Final = 10
CONTEXT_TEXT: Final = 2_000
ACTIONS: Final = 25
CONTEXT_ACTIONS: Final = 5
TABLE_ROWS: Final = 100
TABLE_COLUMNS: Final = 20
PLAN_TASKS: Final = 50
TASK_TITLE: Final = 256
ALERT: Final = 200

BUTTON_TEXT: Final = 75
BUTTON_VALUE: Final = 2_000
ACCESSIBILITY_LABEL: Final = 75
URL: Final = 3_000
OPTIONS: Final = 100
OPTION_GROUPS: Final = 100
OPTION_TEXT: Final = 75
OPTION_VALUE: Final = 150
OVERFLOW: Final = 5
CHOICES: Final = 10
PLACEHOLDER: Final = 150
LABEL: Final = 2_000
INPUT_VALUE: Final = 3_000
MAX_FILES: Final = 10
CONFIRM_TITLE: Final = 100
CONFIRM_TEXT: Final = 300
CONFIRM_BUTTON: Final = 30
IMAGE_ALT: Final = 2_000

#: `task_update` chunks of a stream.
CHUNK_TEXT: Final = 256
#: Seconds a stream lives, and a trigger.
STREAM_SECONDS: Final = 300.0
TRIGGER_SECONDS: Final = 3.0
RESPONSE_URL_USES: Final = 5
RESPONSE_URL_SECONDS: Final = 1_800.0
PROMPTS: Final = 4
LOADING_MESSAGES: Final = 10
ACK_SECONDS: Final = 3.0
