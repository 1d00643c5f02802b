"""What is known of languages: data for those whose kits were read and checked, and one generic way for all others.

    lexicon("de")   words by what they do, and the few words the engine says itself
    detect(text)    which language a text is in; `und` where nothing speaks for one
    signs("sponsor")   what marks something, in all languages that are known: layout is seen before language

Without data nothing is guessed: no speaker, no mood, no open question is found, and what the engine says is English.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import field
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final

from weft.language.sentences import UNSPACED_LETTERS
from weft.protocol.values import dataclass

KNOWN: Final = ("en", "de", "fr", "es")
_SETS: Final = (
    "function", "abbreviations", "saying", "reporting", "offices", "titles", "months", "leaning", "positive",
    "negative", "negations", "weak", "courtesy",
)  # fmt: skip
_MARKS: Final = ("contrast", "unknown", "decided", "postponed", "result", "relative", "elsewhere")
_SAMPLE: Final = 20_000
_ENOUGH: Final = 0.08
"""The least share of a text's words that must speak for a language."""
_SCRIPTS: Final = {
    "latin": "A-Za-z\u00c0-\u024f\u1e00-\u1eff", "ru": "\u0400-\u052f", "ar": "\u0620-\u06d3\u0750-\u077f\ufb50-\ufefc",
    "hi": "\u0900-\u097f", "zh": "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff", "ja": "\u3041-\u30ff\uff66-\uff9f",
    "ko": "\uac00-\ud7a3\u1100-\u11ff", "he": "\u05d0-\u05ea", "el": "\u0370-\u03ff", "th": "\u0e01-\u0e4e",
}  # fmt: skip
_LETTERS: Final = {code: re.compile(f"[{letters}]") for code, letters in _SCRIPTS.items()}
_WORD: Final = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
UNSPACED: Final = re.compile(f"[{UNSPACED_LETTERS}]")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Lexicon:
    code: str
    known: bool = False
    spaced: bool = True
    cased: bool = True
    """Whether a capital inside a sentence marks a name."""
    function: frozenset[str] = frozenset()
    """Words that carry no content."""
    weak: frozenset[str] = frozenset()
    """Words of content that say too little to name a subject."""
    abbreviations: frozenset[str] = frozenset()
    saying: frozenset[str] = frozenset()
    """Verbs that tie a quotation to who spoke it."""
    reporting: frozenset[str] = frozenset()
    """Those of them with which news tells what somebody said."""
    offices: frozenset[str] = frozenset()
    """Who is cited without a name: the police, a spokesman."""
    titles: frozenset[str] = frozenset()
    months: frozenset[str] = frozenset()
    leaning: frozenset[str] = frozenset()
    """First words of a sentence that can't be understood without the one before."""
    positive: frozenset[str] = frozenset()
    negative: frozenset[str] = frozenset()
    negations: frozenset[str] = frozenset()
    courtesy: frozenset[str] = frozenset()
    contrast: tuple[str, ...] = ()
    """With these a sentence sets itself against the one before."""
    unknown: tuple[str, ...] = ()
    """With these it says that something is not known."""
    decided: tuple[str, ...] = ()
    postponed: tuple[str, ...] = ()
    result: tuple[str, ...] = ()
    relative: tuple[str, ...] = ()
    """Times that mean nothing without the day they are counted from."""
    elsewhere: tuple[str, ...] = ()
    """What only sends the reader somewhere else."""
    says: dict[str, str] = field(default_factory=dict)


@lru_cache(maxsize=64)
def lexicon(code: str) -> Lexicon:
    known = code in KNOWN
    data = _data(code) if known else {"function": _data("others").get(code, "")}
    lists: dict[str, Any] = {name: frozenset(data.get(name, "").split()) for name in _SETS}
    lists |= {name: tuple(data.get(name, ())) for name in _MARKS}
    return Lexicon(
        code=code,
        known=known,
        spaced=code not in ("zh", "ja", "th"),
        cased=code not in ("de", "zh", "ja", "th", "ar", "hi", "he", "ko"),
        says=data["says"] if known else _data("en")["says"],
        **lists,
    )


def _data(code: str) -> dict[str, Any]:
    return tomllib.loads(files(__package__).joinpath(f"{code}.toml").read_text("utf-8"))


def signs(name: str) -> str:
    """What something is called in the languages that are known, as alternatives of a regular expression."""
    return "|".join(text.replace("\n", "") for text in _signs()[name].values())


def sign_words(name: str) -> frozenset[str]:
    """The same for single words."""
    return frozenset(word for text in _signs()[name].values() for word in text.split())


@lru_cache(maxsize=1)
def _signs() -> dict[str, dict[str, str]]:
    return _data("signs")


@lru_cache(maxsize=1)
def _small_words() -> dict[str, tuple[str, ...]]:
    """For each small word, the languages that have it."""
    found: dict[str, tuple[str, ...]] = {}
    for code in (*KNOWN, *_data("others")):
        for word in lexicon(code).function:
            found[word] = (*found.get(word, ()), code)
    return found


def detect(text: str) -> str:
    sample = _sample(text)
    # A character of Chinese or Korean says as much as two or three letters.
    weights = {
        code: len(pattern.findall(sample)) * (2.5 if code in ("zh", "ja", "ko") else 1)
        for code, pattern in _LETTERS.items()
    }
    main = max(weights, key=lambda code: weights[code])
    if not weights[main]:
        return "und"
    if main in ("zh", "ja"):
        return "ja" if weights["ja"] > 0.08 * weights["zh"] else "zh"
    return main if main != "latin" else _by_words(sample)


def _by_words(sample: str) -> str:
    small = _small_words()
    words = [word.lower().replace("’", "'") for word in _WORD.findall(sample)]
    scores: dict[str, float] = {}
    for word in words:
        of_word = small.get(word, ()) if len(word) > 1 else ()
        for code in of_word:
            scores[code] = scores.get(code, 0.0) + 1 / len(of_word)
    best = max(sorted(scores), key=lambda code: scores[code] * (1.05 if code in KNOWN else 1.0), default="en")
    return best if words and scores.get(best, 0.0) >= max(0.5, _ENOUGH * len(words)) else "und"


def _sample(text: str) -> str:
    if len(text) <= _SAMPLE:
        return text
    third, middle = _SAMPLE // 3, len(text) // 2
    return f"{text[:third]}\n{text[middle : middle + third]}\n{text[-third:]}"
