"""Mail (EML, MHTML): who, when and what, its text, and what is attached."""

from __future__ import annotations

import email
import email.policy
from collections.abc import Callable, Iterator
from email.message import EmailMessage

from retrieval.documents import ParsedDocument
from retrieval.ingest.limits import ParseLimits
from retrieval.ingest.parse import markdown
from retrieval.ingest.parse.charset import decode
from retrieval.ingest.parse.html.parser import write_html
from retrieval.ingest.parse.meta import clean_title, parse_date
from retrieval.ingest.parse.sections import SectionBuilder
from retrieval.ingest.protocol import Unreadable

ParseInner = Callable[[str, bytes, int], ParsedDocument]
_HEADERS = ("From", "To", "Cc", "Date", "Subject")
#: Mails in mails that are opened.
_MAX_NESTING = 4
#: Attachments that are part of a message's looks or of its delivery.
_UNREAD_TYPES = (
    "application/pgp-signature",
    "application/pkcs7-signature",
    "application/ms-tnef",
    "text/calendar",
)
_ENCRYPTED = ("multipart/encrypted", "application/pkcs7-mime", "application/x-pkcs7-mime")


class MailParser:
    """`parse_inner(name, data, depth)` reads an attachment."""

    name = "mail"

    def __init__(self, limits: ParseLimits, parse_inner: ParseInner, depth: int = 0) -> None:
        self._limits = limits
        self._parse_inner = parse_inner
        self._depth = depth

    def parse(self, name: str, data: bytes) -> ParsedDocument:  # noqa: ARG002
        try:
            message = email.message_from_bytes(data, policy=email.policy.default)
        except RecursionError as error:
            raise Unreadable("too_large", "parts nested too deep") from error
        builder = SectionBuilder(self._limits)
        warnings: list[str] = []
        builder.text("\n".join(_headers(message)))
        bodies, attached = _sorted(message, self._limits)
        for part in bodies:
            _write_body(part, builder)
        for number, part in enumerate(attached, 1):
            label = _file_name(part) or f"attachment {number}"
            if number > self._limits.max_attachments:
                warnings.append(f"Only the first {self._limits.max_attachments} attachments were read.")
                break
            if self._depth >= _MAX_NESTING:
                warnings.append(f"Attachment {label} lies too deep to be read.")
                continue
            warnings.extend(self._attach(label, part, builder))
        subject = _header(message, "Subject")
        return ParsedDocument(
            sections=builder.build(),
            title=clean_title(subject),
            document_date=parse_date(_header(message, "Date")),
            parser=f"{self.name}/1",
            warnings=tuple(warnings),
        )

    def _attach(self, label: str, part: EmailMessage, builder: SectionBuilder) -> Iterator[str]:
        """Sections under the attachment's name; yields what went wrong."""
        builder.heading(1, label)
        try:
            inner = self._parse_inner(label, _content(part), self._depth + 1)
        except Unreadable as refusal:
            if refusal.reason == "too_large":
                raise
            yield f"Attachment {label} could not be read: {refusal.advice}"
            return
        for section in inner.sections:
            builder.add(section)
        for warning in inner.warnings:
            yield f"{label}: {warning}"


def _headers(message: EmailMessage) -> Iterator[str]:
    for name in _HEADERS:
        if value := _header(message, name):
            yield f"{name}: {value}"


def _header(message: EmailMessage, name: str) -> str:
    try:
        return " ".join(str(message.get(name) or "").split())
    except (ValueError, IndexError, AttributeError, TypeError):
        # The standard library fails on some malformed headers.
        return ""


def _sorted(message: EmailMessage, limits: ParseLimits) -> tuple[list[EmailMessage], list[EmailMessage]]:
    """The parts to read as the message's text, and the attachments. Iterative, with bounded depth."""
    bodies: list[EmailMessage] = []
    attached: list[EmailMessage] = []
    pending: list[tuple[EmailMessage, int]] = [(message, 0)]
    while pending:
        part, depth = pending.pop()
        kind = part.get_content_type()
        if depth > limits.max_depth:
            raise Unreadable("too_large", f"parts nested deeper than {limits.max_depth}")
        if kind == "multipart/alternative":
            pending.append((_best(part), depth + 1))
        elif kind == "multipart/related":
            first, *others = _parts(part) or [EmailMessage()]
            kept = [sub for sub in others if not _is_resource(sub)]
            pending.extend((sub, depth + 1) for sub in (*reversed(kept), first))
        elif kind in _ENCRYPTED and not bodies and not attached:
            raise Unreadable("encrypted", kind)
        elif part.is_multipart() and kind != "message/rfc822":
            pending.extend((sub, depth + 1) for sub in reversed(_parts(part)))
        elif part.get_content_disposition() == "attachment" or not kind.startswith("text/"):
            if kind not in _UNREAD_TYPES and not (kind.startswith("image/") and part.get("Content-ID")):
                attached.append(part)
        elif kind in ("text/plain", "text/html") and not (bodies and _file_name(part)):
            bodies.append(part)
        elif kind not in _UNREAD_TYPES:
            attached.append(part)
    return bodies, attached


def _is_resource(part: EmailMessage) -> bool:
    """A picture, style sheet or the like that a page shows."""
    return part.get_content_maintype() in (
        "image",
        "font",
        "audio",
        "video",
    ) or part.get_content_type() in (
        "text/css",
        "text/javascript",
        "application/javascript",
    )


def _parts(part: EmailMessage) -> list[EmailMessage]:
    payload = part.get_payload()
    return [sub for sub in payload if isinstance(sub, EmailMessage)] if isinstance(payload, list) else []


def _best(part: EmailMessage) -> EmailMessage:
    """Of several forms of one text: HTML, for its tables and links; else the last that is text."""
    parts = _parts(part)
    for sub in parts:
        if sub.get_content_type() in ("text/html", "multipart/related"):
            return sub
    texts = [sub for sub in parts if sub.get_content_maintype() in ("text", "multipart")]
    return texts[-1] if texts else EmailMessage()


def _write_body(part: EmailMessage, builder: SectionBuilder) -> None:
    text = decode(_content(part), part.get_content_charset())
    if part.get_content_type() == "text/html":
        write_html(text, builder)
    else:
        builder.text(markdown.plain(text.replace("\r\n", "\n")))


def _content(part: EmailMessage) -> bytes:
    if part.get_content_type() == "message/rfc822":
        inner = _parts(part)
        return inner[0].as_bytes() if inner else b""
    payload = part.get_payload(decode=True)
    return payload if isinstance(payload, bytes) else b""


def _file_name(part: EmailMessage) -> str:
    try:
        name = part.get_filename()
    except (ValueError, TypeError, AttributeError):
        name = None
    if not name and part.get_content_type() == "message/rfc822":
        inner = _parts(part)
        subject = _header(inner[0], "Subject") if inner else ""
        return f"{subject or 'message'}.eml"
    return " ".join((name or "").replace("/", "_").split())
