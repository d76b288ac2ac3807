"""Which stemmer and stop words a text gets, by its ISO 639-1 language code.

The stemmers are Snowball's and the stop words Qdrant's own, both inside `qdrant-edge-py`; there is
no second dependency for either.
"""

from __future__ import annotations

from dataclasses import dataclass

from qdrant_edge import Language as Stops
from qdrant_edge import SnowballLanguage as Snowball


@dataclass(frozen=True, slots=True)
class Analysis:
    """How the words of one language are reduced to index terms."""

    stemmer: Snowball | None = None
    stopwords: Stops | None = None
    #: Its words are written in Latin letters. If not, Latin words inside it are read as English.
    latin: bool = True


ENGLISH = Analysis(Snowball.English, Stops.English)

#: Text whose language can't be told: other scripts as they stand, Latin words as English.
UNKNOWN = Analysis(latin=False)

_NORWEGIAN = Analysis(Snowball.Norwegian, Stops.Norwegian)

# Written in Latin letters, with neither stemmer nor stop words: their words stand as they are.
_PLAIN = (
    "af an br bs cs cy eo et fo ga gl hr ht is jv ku la lb lt lv mg ms mt oc pl qu rw se sk sq sw tl "
    "vi vo wa xh zu"
)

_BY_CODE: dict[str, Analysis] = dict.fromkeys(_PLAIN.split(), Analysis()) | {
    "ar": Analysis(Snowball.Arabic, Stops.Arabic, latin=False),
    "az": Analysis(None, Stops.Azerbaijani),
    "bn": Analysis(None, Stops.Bengali, latin=False),
    "ca": Analysis(None, Stops.Catalan),
    "da": Analysis(Snowball.Danish, Stops.Danish),
    "de": Analysis(Snowball.German, Stops.German),
    "el": Analysis(Snowball.Greek, Stops.Greek, latin=False),
    "en": ENGLISH,
    "es": Analysis(Snowball.Spanish, Stops.Spanish),
    "eu": Analysis(None, Stops.Basque),
    "fi": Analysis(Snowball.Finnish, Stops.Finnish),
    "fr": Analysis(Snowball.French, Stops.French),
    "he": Analysis(None, Stops.Hebrew, latin=False),
    "hu": Analysis(Snowball.Hungarian, Stops.Hungarian),
    "hy": Analysis(Snowball.Armenian, None, latin=False),
    "id": Analysis(None, Stops.Indonesian),
    "it": Analysis(Snowball.Italian, Stops.Italian),
    "ja": Analysis(None, Stops.Japanese, latin=False),
    "kk": Analysis(None, Stops.Kazakh, latin=False),
    "nb": _NORWEGIAN,
    "ne": Analysis(None, Stops.Nepali, latin=False),
    "nl": Analysis(Snowball.Dutch, Stops.Dutch),
    "nn": _NORWEGIAN,
    "no": _NORWEGIAN,
    "pt": Analysis(Snowball.Portuguese, Stops.Portuguese),
    "ro": Analysis(Snowball.Romanian, Stops.Romanian),
    "ru": Analysis(Snowball.Russian, Stops.Russian, latin=False),
    "sl": Analysis(None, Stops.Slovene),
    "sv": Analysis(Snowball.Swedish, Stops.Swedish),
    "ta": Analysis(Snowball.Tamil, None, latin=False),
    "tg": Analysis(None, Stops.Tajik, latin=False),
    "tr": Analysis(Snowball.Turkish, Stops.Turkish),
    "zh": Analysis(None, Stops.Chinese, latin=False),
}


def analysis_of(code: str) -> Analysis:
    """The analysis of a language code such as "de", "zh" or "pt-BR"; `UNKNOWN` for all others."""
    primary = code.lower().replace("_", "-").partition("-")[0]
    return _BY_CODE.get(primary, UNKNOWN)
