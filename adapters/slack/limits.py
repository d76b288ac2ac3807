"""What Slack takes at most, in characters where nothing else is said."""

from __future__ import annotations

#: Blocks of a message; of a modal and of the Home tab.
BLOCKS, VIEW_BLOCKS = 50, 100
#: All blocks of a message as JSON, in UTF-16 code units. Slack tells no figure; about
#: 13,200 fail with `msg_blocks_too_long`.
MESSAGE = 11_000
#: What each block costs beside its JSON.
BLOCK_OVERHEAD = 120
#: `text` of a message: longer ones can't be edited.
TEXT = 4_000
#: Text of an element of a context block, and how many elements it has.
CONTEXT_TEXT, CONTEXT_ELEMENTS = 2_000, 10
#: Text of a section, of a header.
SECTION_TEXT, HEADER_TEXT = 3_000, 150
#: Text of a button, its value, and what screen readers get instead of the text.
BUTTON_TEXT, BUTTON_VALUE, BUTTON_LABEL = 75, 2_000, 75
#: Elements of an actions block.
ACTIONS = 25
#: Text and value of an option of a menu; options of a select, and of an overflow menu.
OPTION_TEXT, OPTION_VALUE, SELECT_OPTIONS, OVERFLOW_OPTIONS = 75, 150, 100, 5
#: Rows and columns of a table block; a message takes one such block.
TABLE_ROWS, TABLE_COLUMNS = 100, 20
#: Rich text in one block; Slack tells no figure.
RICH_TEXT = 8_000
#: An address that something links to.
URL = 3_000
#: Title of a task card.
TASK_TITLE = 256
#: Suggested prompts in the chat with the bot, and their titles.
PROMPTS, PROMPT_TITLE = 4, 75
#: Title of a thread in the chat with the bot.
THREAD_TITLE = 250
#: Title, submit and close of a modal; what it carries unseen.
MODAL_TITLE, PRIVATE_METADATA = 24, 3_000
#: Label and hint of an input; its text; placeholder of any.
INPUT_LABEL, INPUT_HINT, INPUT_TEXT, PLACEHOLDER = 2_000, 2_000, 3_000, 150
#: Files of a file input, and bytes of each.
INPUT_FILES, INPUT_FILE_BYTES = 10, 10 * 1024 * 1024
#: Confirmation dialog: title, text, its two buttons.
CONFIRM_TITLE, CONFIRM_TEXT, CONFIRM_BUTTON = 100, 300, 30
