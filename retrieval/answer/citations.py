"""Finds the sources that an answer names while it streams, and gives their marks their final form.

In the text that leaves the parser, outside of code and of links, `[label]` is a citation mark and
nothing else is: unknown labels are gone, and a bracket that only looks like a mark (copied from a
paper, `x[1]`) is escaped, `\\[1\\]`. Text is held back only while it may still become a mark.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from retrieval.answer.copied import WINDOW, CopiedMarks
from retrieval.answer.labels import LabelGrammar
from retrieval.answer.links import target_end
from retrieval.answer.marked_text import MarkedText, Named
from retrieval.answer.protocol import LabelStyle

_PLAIN = re.compile(r"[^\s`~\\\[\]【［]+|[^\S \t\n]+")
_SPACES = re.compile(r"[ \t]+")
_TICKS = re.compile(r"`+")
#: What opens a block, so that a fence can stand after it: indents, quote marks, list marks.
_BLOCK = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*\Z")
_MAYBE_BLOCK = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(?:[-*+]|\d{1,9}[.)]?)?\Z")
_CODE_STOP = re.compile(r"[\n`\[【［\\]")
_GROUP_STOP = re.compile(r"[\[\]【】［］\n\\]")
_FORMS = (("[[", "]]"), ("[", "]"), ("【", "】"), ("［", "］"), ("\\[", "\\]"))
#: Longer info strings are not waited for, and longer lines close no fence.
_MAX_INFO = 100
#: A lone lower-case letter, as in x[1], that is no unit ("24 h[1]") and no elision ("it's[1]").
_VARIABLE = re.compile(r"(?<![\w'’])(?<!\d )[a-z]\Z")
_WORD_BEFORE = re.compile(r"[A-Za-z0-9]\Z")
_WORD_AFTER = re.compile(r"[A-Za-z0-9=]")


class CitationParser:
    """Feed it the raw deltas of an answer. The way in which they are cut changes nothing.

    `labels` are those handed to the model, without brackets; `passages` the texts behind them, by
    which a bracket copied from a passage is told from a citation.
    """

    def __init__(
        self,
        labels: Sequence[str],
        style: LabelStyle = "numbers",
        passages: Mapping[str, str] | None = None,
    ) -> None:
        self._grammar = LabelGrammar(labels, style)
        self._copied = CopiedMarks(passages or {}, self._grammar)
        self._text = MarkedText(self._grammar)
        self._buffer = ""
        self._at = 0
        #: Raw text: the last characters, and the line so far while it may open a block.
        self._before = ""
        self._line: str | None = ""
        #: Literal "[" on this line that are still open.
        self._link_texts = 0
        #: The text so far ends with an array index.
        self._array = False
        #: Backticks that opened what may be a code span; 0 outside.
        self._code = 0
        #: What closes the fenced block that the text is in, and the line so far inside it.
        self._fence: re.Pattern[str] | None = None
        self._fence_line = ""

    def feed(self, delta: str) -> str:
        """The text that is ready to be shown; may be empty."""
        self._buffer += delta
        self._run(final=False)
        return self._text.drain()

    def finish(self) -> str:
        """The rest of the text. Afterwards `named` is complete."""
        self._run(final=True)
        self._text.finish()
        return self._text.drain()

    @property
    def named(self) -> tuple[Named, ...]:
        """The sources named so far, in order of appearance."""
        return self._text.named

    def _run(self, *, final: bool) -> None:
        while self._at < len(self._buffer) and self._step(final):
            pass
        self._buffer, self._at = self._buffer[self._at :], 0

    # Each of the following handles what stands at `_at`; False if it has to wait for more text.

    def _step(self, final: bool) -> bool:
        if self._fence is not None:
            return self._in_fence(self._fence)
        if self._code:
            return self._in_code(final)
        char = self._buffer[self._at]
        if char in " \t":
            return self._space(final)
        if char in "`~":
            return self._ticks(char, final)
        if char in "[【［\\":
            return self._bracket(char, final)
        if char == "]":
            return self._closing_bracket(final)
        plain = _PLAIN.match(self._buffer, self._at)
        return self._pass(plain.end() if plain else self._at + 1)

    def _space(self, final: bool) -> bool:
        end = self._end_of(_SPACES)
        if end == len(self._buffer) and not final:
            return False
        self._text.space(self._take(end))
        return True

    def _ticks(self, char: str, final: bool) -> bool:
        end = self._at
        while self._buffer.startswith(char, end):
            end += 1
        if end == len(self._buffer) and not final:
            return False
        if end - self._at >= 3 and self._opens_block():
            opened = self._open_fence(char, end, final)
            if opened is not None:
                return opened
        if char == "`":
            self._code = end - self._at
        return self._pass(end)

    def _open_fence(self, char: str, end: int, final: bool) -> bool | None:
        """None if this is no fence."""
        newline = self._buffer.find("\n", end)
        info = self._buffer[end : newline if newline >= 0 else len(self._buffer)]
        if len(info) > _MAX_INFO or (char == "`" and "`" in info):
            return None
        if newline < 0 and not final:
            return False
        run = end - self._at
        self._fence = re.compile(rf"[ \t>]*{char}{{{run},}}[ \t]*\n\Z")
        self._fence_line = ""
        return self._pass(newline + 1 if newline >= 0 else len(self._buffer))

    def _in_fence(self, closing: re.Pattern[str]) -> bool:
        newline = self._buffer.find("\n", self._at)
        end = newline + 1 if newline >= 0 else len(self._buffer)
        self._fence_line = (self._fence_line + self._buffer[self._at : end])[:_MAX_INFO]
        self._pass(end)
        if newline >= 0:
            if closing.match(self._fence_line):
                self._fence = None
            self._fence_line = ""
        return True

    def _in_code(self, final: bool) -> bool:
        """After an opening run of backticks. It is code only if it closes on its line."""
        stop = _CODE_STOP.search(self._buffer, self._at)
        if stop is None or stop.start() > self._at:
            return self._pass(stop.start() if stop else len(self._buffer))
        newline = self._buffer.find("\n", self._at)
        line_end = newline if newline >= 0 else len(self._buffer)
        for run in _TICKS.finditer(self._buffer, self._at, line_end):
            if run.end() == len(self._buffer) and not final:
                return False
            if len(run[0]) == self._code:
                self._code = 0
                return self._pass(run.end())
        if newline < 0 and not final:
            return False
        self._code = 0
        return True

    def _bracket(self, char: str, final: bool) -> bool:
        for opener, closer in _FORMS:
            if not self._buffer.startswith(opener, self._at):
                if not final and opener.startswith(self._buffer[self._at :]):
                    return False
                continue
            start = self._at + len(opener)
            stop = _GROUP_STOP.search(self._buffer, start)
            end = stop.start() if stop else len(self._buffer)
            content, rest = self._buffer[start:end], self._buffer[end : end + len(closer)]
            if rest == closer:
                labels = self._grammar.read(content)
                if labels is not None:
                    return self._group(content, labels, opener, end + len(closer), final)
            elif not final and closer.startswith(rest) and self._grammar.may_become(content):
                return False
        if char == "\\":
            return self._backslash()
        self._link_texts += char == "["
        return self._pass(self._at + 1)

    def _closing_bracket(self, final: bool) -> bool:
        """One that closes no label. A link target after it is passed as it stands."""
        end = target_end(self._buffer, self._at + 1, final=final) if self._link_texts else -1
        if end is None:
            return False
        self._link_texts = max(0, self._link_texts - 1)
        if end > 0:
            return self._pass(end)
        self._take(self._at + 1)
        self._text.put_closing_bracket()
        return True

    def _backslash(self) -> bool:
        escaped = self._buffer[self._at + 1 : self._at + 2]
        if not escaped or escaped.isalnum() or escaped.isspace():
            return self._pass(self._at + 1)
        self._text.put_escaped(self._take(self._at + 2))
        return True

    def _group(self, content: str, labels: list[str], opener: str, end: int, final: bool) -> bool:
        if end == len(self._buffer) and not final:
            return False
        definition = self._buffer.startswith(":", end) and self._opens_block()
        array = False
        if opener == "[":
            linked = target_end(self._buffer, end, final=final)
            if linked is None:
                return False
            array = self._is_array(content, end)
            if linked > 0:
                # Some models make a link of each label: `[1](#)`, `[keys.md](keys.md)`.
                target = self._buffer[end + 1 : linked - 1].strip()
                if target not in {"", content, *labels} and not target.startswith("#"):
                    return self._pass(linked)
                end = linked
        if array or definition or self._copied.holds(content, labels, self._before):
            raw = self._take(end)
            if "\\" not in opener and self._grammar.is_label(content):
                raw = raw.replace("[", "\\[").replace("]", "\\]")
            self._text.put_escaped(raw)
            self._array = array
            return True
        self._take(end)
        if labels:
            self._text.marks(labels)
        else:
            self._text.remove()
        return True

    def _is_array(self, content: str, end: int) -> bool:
        if self._array:
            return True
        if not _WORD_BEFORE.search(self._before):
            return False
        return (
            content == "0"
            or _WORD_AFTER.match(self._buffer, end) is not None
            or _VARIABLE.search(self._before) is not None
        )

    def _opens_block(self) -> bool:
        return self._line is not None and _BLOCK.match(self._line) is not None

    def _end_of(self, pattern: re.Pattern[str]) -> int:
        found = pattern.match(self._buffer, self._at)
        return found.end() if found else self._at

    def _pass(self, end: int) -> bool:
        """Put out the raw text up to `end`. Always True, so that steps can end with it."""
        self._text.put(self._take(end))
        return True

    def _take(self, end: int) -> str:
        """Consume the raw text up to `end`."""
        raw = self._buffer[self._at : end]
        self._at = end
        self._array = False
        self._before = (self._before + raw[-WINDOW:])[-WINDOW:]
        newline = raw.rfind("\n")
        if newline >= 0:
            self._line, self._link_texts = raw[newline + 1 :], 0
        elif self._line is not None:
            self._line += raw
        if self._line is not None and (len(self._line) > WINDOW or not _MAYBE_BLOCK.match(self._line)):
            self._line = None
        return raw
