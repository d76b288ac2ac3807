"""Whether a message in a thread that the bot has answered in is for the bot, though it names nobody."""

from __future__ import annotations

import re
from typing import Final

from adapters.conversation import Turn
from bot.settings import FollowUp
from retrieval.answer.intent import rework_kind

#: First words of questions that may go without a question mark, in languages that people write here.
_WORDS: Final = (
    "what|who|whom|whose|when|where|why|which|how|is|are|was|were|do|does|did|can|could|should|would|will|"
    "may|has|have|tell me|show me|explain|list|and for|what about|"
    "was|wer|wen|wem|wessen|wann|wo|woher|wohin|warum|wieso|weshalb|welche[rsmn]?|wie|wieviele?|ist|sind|"
    "gibt es|kann|können|darf|muss|soll|erkläre?|zeige?|"
    "qué|quién|quiénes|cuándo|dónde|por qué|cuál|cuáles|cómo|cuánto|cuántos|hay|es|son|puedo|explica|"
    "que|quoi|qui|quand|où|pourquoi|quelle?s?|comment|combien|est-ce|peut-on|y a-t-il|explique|"
    "che|cosa|chi|quando|dove|perché|quale|quali|come|quanto|"
    "o que|quem|onde|por que|qual|quais|quanto|"
    "wat|wie|wanneer|waar|waarom|welke?|hoe|hoeveel"
)
_ASKS: Final = re.compile(rf"(?:{_WORDS})\b", re.IGNORECASE)
_MARK: Final = re.compile("[?？؟⁇]")
#: Question words of languages that write no spaces or whose questions end in a particle.
_ANYWHERE: Final = re.compile(
    "吗|嗎|呢$|什么|什麼|怎么|怎麼|如何|哪里|哪裡|哪个|哪個|为什么|為什麼|多少|几时|何时|誰|谁|"
    "何ですか|ですか|ますか|どう|どこ|いつ|なぜ|いくつ|무엇|어떻게|언제|어디|왜|누구|나요|습니까|"
    "อะไร|ที่ไหน|เมื่อไหร่|เมื่อไร|ทำไม|อย่างไร|ยังไง|ไหม|หรือเปล่า|กี่|"
    "ما هو|ما هي|متى|أين|لماذا|كيف|كم|هل|من هو"
)
#: A message that begins with somebody's name is for them.
_TO_SOMEBODY: Final = re.compile(r"@\S")


def is_for_bot(turn: Turn, follow_up: FollowUp) -> bool:
    """By the workspace's setting; see `bot.settings`."""
    text = turn.text.strip()
    if follow_up == "mentions" or not text or _TO_SOMEBODY.match(text):
        return False
    return follow_up == "always" or asks(text)


def asks(text: str) -> bool:
    """Whether a text reads as a question, or as a wish about the last answer ("shorter, please")."""
    return bool(
        _MARK.search(text) or _ASKS.match(text) or _ANYWHERE.search(text) or rework_kind(text) is not None
    )
