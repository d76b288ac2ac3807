"""Entities of a bot's message: mentions, the label "AI generated", citations, stream information."""

from __future__ import annotations

import json
from typing import Any, cast

from tests.doubles.teams import limits
from tests.doubles.teams.errors import Json, bad_request

MESSAGE = "https://schema.org/Message"
_KNOWN = frozenset({MESSAGE, "mention", "streaminfo", "clientInfo"})
_MESSAGE_FIELDS = frozenset({"type", "@type", "@context", "@id", "additionalType", "citation", "usageInfo"})
_APPEARANCE_FIELDS = frozenset({
    "@type", "name", "abstract", "url", "text", "encodingFormat", "keywords", "image", "usageInfo",
})  # fmt: skip
_ICONS = frozenset({
    "Microsoft Word", "Microsoft Excel", "Microsoft PowerPoint", "Microsoft OneNote",
    "Microsoft SharePoint", "Microsoft Visio", "Microsoft Loop", "Microsoft Whiteboard",
    "Adobe Illustrator", "Adobe Photoshop",
    "Adobe InDesign", "Adobe Flash", "Sketch", "Source Code", "Image", "GIF", "Video", "Sound", "ZIP",
    "Text", "PDF",
})  # fmt: skip


def root_entities(entities: list[Json]) -> list[Json]:
    return [one for one in entities if one.get("type") == MESSAGE]


def check_entities(entities: list[Json], text: str, cards: list[Json], members: set[str]) -> None:
    for one in entities:
        if one.get("type") not in _KNOWN:
            raise bad_request(f"Unknown entity: {one.get('type')!r}")
        if one["type"] == "mention":
            _check_mention(one, text, members)
    roots = root_entities(entities)
    if len(roots) > 1:
        raise bad_request("More than one root entity of type Message")
    for root in roots:
        _check_root(root, text)
    for card in cards:
        # A card has its mentions with it.
        teams = card.get("msteams", {})
        for one in teams.get("entities", []) if isinstance(teams, dict) else []:
            _check_mention(one, json.dumps(card.get("body"), ensure_ascii=False), members)


def _check_mention(one: Json, text: str, members: set[str]) -> None:
    said, mentioned = one.get("text"), one.get("mentioned")
    if not isinstance(said, str) or not isinstance(mentioned, dict):
        raise bad_request("a mention has text and mentioned")
    if not said.startswith("<at>") or not said.endswith("</at>"):
        raise bad_request("a mention's text is in <at>")
    if said not in text:
        raise bad_request("The mention is not in the message's text")
    if mentioned.get("id") not in members or not mentioned.get("name"):
        raise bad_request("The mentioned is not in the conversation")


def _check_root(root: Json, text: str) -> None:
    if unknown := set(root) - _MESSAGE_FIELDS:
        raise bad_request(f"unknown fields of Message: {sorted(unknown)}")
    if root.get("@type") != "Message" or root.get("@context") != "https://schema.org":
        raise bad_request("Message has @type Message and @context https://schema.org")
    if root.get("@id", "") != "":
        raise bad_request("Message has an empty @id")
    if root.get("additionalType", []) not in ([], ["AIGeneratedContent"]):
        raise bad_request("additionalType is AIGeneratedContent")
    if "usageInfo" in root:
        _check_usage(root["usageInfo"])
    claims = root.get("citation", [])
    if not isinstance(claims, list) or len(claims) > limits.CITATIONS:
        raise bad_request(f"at most {limits.CITATIONS} citations")
    positions = [_check_claim(one) for one in claims]
    if len(set(positions)) != len(positions):
        raise bad_request("two citations have the same position")
    for position in positions:
        if f"[{position}]" not in text:
            raise bad_request(f"citation {position} is not in the text")


def _check_claim(claim: Any) -> int:
    if not isinstance(claim, dict) or set(claim) - {
        "@type",
        "@id",
        "position",
        "appearance",
        "claimInterpreter",
    }:
        raise bad_request("a citation is a Claim with position and appearance")
    position, shown = claim.get("position"), claim.get("appearance")
    if claim.get("@type") != "Claim" or not isinstance(shown, dict):
        raise bad_request("a citation is a Claim with an appearance")
    if not isinstance(position, int) or isinstance(position, bool) or position < 1:
        raise bad_request("a citation's position is a number from 1")
    if shown.get("@type") != "DigitalDocument" or set(shown) - _APPEARANCE_FIELDS:
        raise bad_request("an appearance is a DigitalDocument with known fields")
    for field, most in (("name", limits.CITATION_NAME), ("abstract", limits.CITATION_ABSTRACT)):
        value = shown.get(field)
        if not isinstance(value, str) or not value.strip() or length(value) > most:
            raise bad_request(f"appearance.{field} has 1 to {most} characters")
    url = shown.get("url")
    if url is not None and (not isinstance(url, str) or not url.startswith("https://") or " " in url):
        raise bad_request("appearance.url is an https address")
    words = shown.get("keywords", [])
    if not isinstance(words, list) or len(words) > limits.CITATION_KEYWORDS:
        raise bad_request(f"at most {limits.CITATION_KEYWORDS} keywords")
    if not all(isinstance(word, str) and 0 < length(word) <= limits.CITATION_KEYWORD for word in words):
        raise bad_request(f"a keyword has 1 to {limits.CITATION_KEYWORD} characters")
    picture = shown.get("image")
    if picture is not None:
        good = isinstance(picture, dict) and picture.get("@type") == "ImageObject"
        if not good or picture.get("name") not in _ICONS:
            raise bad_request("appearance.image is an ImageObject with a known name")
    if "usageInfo" in shown:
        _check_usage(shown["usageInfo"])
    return position


def _check_usage(value: Any) -> None:
    """A sensitivity label."""
    usage = cast("Json", value) if isinstance(value, dict) else {}
    name = usage.get("name")
    if usage.get("@type") != "CreativeWork" or not isinstance(name, str) or not name.strip():
        raise bad_request("usageInfo is a CreativeWork with a name")
    if length(name) > limits.SENSITIVITY_NAME or not isinstance(usage.get("description", ""), str):
        raise bad_request("usageInfo's name is too long, or its description no string")


def length(text: str) -> int:
    """In UTF-16, as Teams counts."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
