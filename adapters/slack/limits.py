"""What Slack takes at most, in characters where nothing else is said."""

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
#: Text of a button, its value, and what screen readers get instead of the text.
BUTTON_TEXT, BUTTON_VALUE, BUTTON_LABEL = 75, 2_000, 75
#: Value of an option of a menu.
OPTION_VALUE = 150
#: Rows and columns of a table block; a message takes one such block.
TABLE_ROWS, TABLE_COLUMNS = 100, 20
#: An address that something links to.
URL = 3_000
#: Title of a task card.
TASK_TITLE = 256
#: Suggested prompts in the chat with the bot, and their titles.
PROMPTS, PROMPT_TITLE = 4, 75
#: Title of a thread in the chat with the bot.
THREAD_TITLE = 250
#: Text of a section, of a header; elements of a context block and of an actions block.
SECTION_TEXT, HEADER_TEXT = 3_000, 150
CONTEXT_ELEMENTS, ACTIONS = 10, 25
#: Fields of a section, and the text of each.
FIELDS, FIELD_TEXT = 10, 2_000
#: All text of the markdown blocks of a message.
MARKDOWN = 12_000
#: `action_id`, `block_id`, `callback_id`, `external_id`.
IDENTIFIER = 255
#: Blocks of a modal and of the Home tab; the whole view as JSON.
VIEW_BLOCKS, VIEW = 100, 250_000
#: Title and buttons of a modal; what it carries unseen.
VIEW_TITLE, PRIVATE_METADATA = 24, 3_000
#: Label and hint of an input; what a person may type; the placeholder.
LABEL, INPUT, PLACEHOLDER = 2_000, 3_000, 150
#: Options of a menu, groups of options; of checkboxes and radio buttons; of an overflow menu.
OPTIONS, OPTION_GROUPS, CHECKBOXES, OVERFLOW = 100, 100, 10, 5
#: Text of an option.
OPTION_TEXT = 75
#: Files of a `file_input`.
FILES = 10
#: Title, text and buttons of a question before something is done.
CONFIRM_TITLE, CONFIRM_TEXT, CONFIRM_BUTTON = 100, 300, 30
#: Elements of a `context_actions` block.
CONTEXT_ACTIONS = 5
