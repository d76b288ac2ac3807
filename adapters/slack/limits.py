"""What Slack takes at most, in characters."""

from __future__ import annotations

#: Blocks of a message.
BLOCKS = 50
#: All blocks of a message as JSON, in UTF-16 code units. Slack tells no figure; about
#: 13,200 fail with `msg_blocks_too_long`.
MESSAGE = 11_000
#: What each block costs beside its JSON.
BLOCK_OVERHEAD = 120
#: `text` of a message: longer ones can't be edited.
TEXT = 4_000
#: Text of an element of a context block.
CONTEXT_TEXT = 2_000
#: Text of a button, and its value.
BUTTON_TEXT, BUTTON_VALUE = 75, 2_000
#: Value of an option of a menu.
OPTION_VALUE = 150
#: Rows and columns of a table block; a message takes one such block.
TABLE_ROWS, TABLE_COLUMNS = 100, 20
#: An address that something links to.
URL = 2_000
#: Title of a task card.
TASK_TITLE = 256
#: Suggested prompts in the chat with the bot, and their titles.
PROMPTS, PROMPT_TITLE = 4, 75
#: Title of a thread in the chat with the bot.
THREAD_TITLE = 250
