"""Words that a verdict rests on, held to the passage they are said to stand in.

They must stand there whole: neither half a word (`able` of `unable`, `can` of `can't`), nor half a number (`5` of `3.5`
or of `-5`), nor without the negation of their own clause (`able to run it` of `is not able to run it`). White space,
the style of quotation marks, emphasis and the signs at both ends do not count. Scripts without spaces have no ends of
words to look for: there only a negation that is cut off is looked for.

A prefix that negates (`possible`, `impossible`) is a negation like any other: a claim that has the one where the words
have the other says the opposite, unless one of the two is negated besides.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from weft.checks.folding import fold
from weft.language.sentences import UNSPACED_LETTERS, sentences
from weft.language.stems import stem

_MARKS: Final = re.compile(r"[*`\u00ad\u200b\u2060]+|(?<!\w)_+|_+(?!\w)")
_ENDS: Final = " \"'.,;:!?…"
_UNSPACED: Final = re.compile(f"[{UNSPACED_LETTERS}]")
_LETTERS_OF_A_WORD: Final = 2
"""In scripts without spaces, about."""
_IN_WORDS: Final = "-\u2010\u2011'"
_IN_NUMBERS: Final = ".,:/"
_BEFORE_NUMBERS: Final = "-\u2212"
_BEHIND_NUMBERS: Final = "%‰°"
_CUT_BEFORE: Final = re.compile(r"(?:[不没沒无無未非否勿莫]|ไม่|មិន|ບໍ່)\Z")
_CUT_BEHIND: Final = re.compile(r"(?:な[いくかけ]|ませ?ん|ず|ぬ|まい)")
_BREAK: Final = re.compile(
    r"[;:()!?–—]|[.,](?!\d)|\bbut\b"
    r"|\band (?=(?:is|are|was|were|has|have|had|does|did|will|would|can|could|may|might|must|should"
    r"|it|he|she|they|we|you|i|the|a|an|this|these|there)\b)"
)
"""Where a clause of its own begins: what negates the one before does not rule over it."""
_NEGATION: Final = re.compile(
    r"\b(?:not|no|never|none|neither|nor|nobody|nothing|nowhere|without|hardly|barely|scarcely|cannot)\b|n't\b"
    r"|\b(?:nicht|kein\w*|niemals|ohne|ne|pas|jamais|aucune?|sans|nunca|jamás|ning[uú]n\w*|tampoco)\b|\bn'(?=\w)"
)
_WORD: Final = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_PREFIXES: Final = ("un", "in", "im", "il", "ir", "dis", "non")
SHORTEST: Final = 4
"""Letters of a word that such a prefix stands before."""
_CAN: Final = frozenset({"can", "can't", "cannot", "could", "couldn't"})
_ALIKE: Final = re.compile(
    "less|form|tend|vent|come|side|port|press|pact|prove|cover|count|play|charge|close|pose|tribute|patch|course|ease"
    "|stance|plant|print|land|door|sure|still|fuse|flame|spire|stall|tense|till|vest|voice|cite|crease|deed|tent"
)
"""What looks like such a word without its prefix, and has another sense."""


def count_words(text: str) -> int:
    unspaced = len(_UNSPACED.findall(text))
    return len(_UNSPACED.sub(" ", text).split()) + unspaced // _LETTERS_OF_A_WORD


def fault_of(words: str, passage: str, name: str) -> str:
    """Why the words are not the passage's, as the end of a sentence about them; "" when they are."""
    plain, text = _plain(words).strip(_ENDS), _plain(passage)
    faults = []
    for start in _places(plain, text):
        end = start + len(plain)
        if not (_whole(text, start) and _whole(text, end)):
            faults.append(f"does not stand in {name} in whole words")
        elif cut := _cut_off(text, start, end):
            faults.append(f"leaves out the “{cut}” of {name}")
        else:
            return ""
    return faults[0] if faults else f"does not stand in {name}"


def opposites(claim: str, words: str) -> tuple[str, str] | None:
    """A word of the claim and its opposite by a prefix among the words, where nothing else makes up for it."""
    ours, theirs = _plain(claim), _plain(words)
    if len(_NEGATION.findall(ours)) % 2 != len(_NEGATION.findall(theirs)) % 2:
        return None
    for mine, other in ((ours, theirs), (theirs, ours)):
        stems, others = _stems(mine), _stems(other)
        for base, word in _negated(other):
            if base in stems and base not in others and word not in mine:
                return (stems[base], word) if mine is ours else (word, stems[base])
    return None


def around(words: str, passage: str) -> list[tuple[str, str, str]]:
    """Wherever the words stand in a passage: what of their own sentences stands before them and behind, and those
    sentences whole."""
    plain, told = _plain(words).strip(_ENDS), _sentences(passage)
    text = " ".join(one for one, _ in told)
    starts = [0]
    for one, _ in told:
        starts.append(starts[-1] + len(one) + 1)
    found = []
    for at in _places(plain, text):
        first, last = bisect_right(starts, at) - 1, bisect_left(starts, at + len(plain))
        whole = " ".join(one for _, one in told[first:last])
        found.append((text[starts[first] : at], text[at + len(plain) : starts[last] - 1], whole))
    return found


@lru_cache(maxsize=16)
def _sentences(passage: str) -> tuple[tuple[str, str], ...]:
    return tuple((_plain(one), one) for one in sentences(passage))


def _plain(text: str) -> str:
    return fold(_MARKS.sub("", text)).lowered


def _places(words: str, text: str) -> Iterator[int]:
    at = text.find(words) if words else -1
    while at >= 0:
        yield at
        at = text.find(words, at + 1)


def _whole(text: str, at: int) -> bool:
    """Whether no word and no number goes on from before this place to behind it."""
    if not 0 < at < len(text):
        return True
    before, behind = text[at - 1], text[at]
    if _UNSPACED.match(before) or _UNSPACED.match(behind):
        return True
    if _in_word(before) and _in_word(behind):
        return False
    if before in _BEFORE_NUMBERS and behind.isdigit():
        return False
    if before.isdigit() and behind in _BEHIND_NUMBERS:
        return False
    return not (_joins(text, at - 1) or _joins(text, at))


def _joins(text: str, at: int) -> bool:
    """Whether the sign at this place stands inside a word or a number."""
    if not 0 < at < len(text) - 1:
        return False
    before, sign, behind = text[at - 1], text[at], text[at + 1]
    if sign in _IN_WORDS:
        return _in_word(before) and _in_word(behind)
    return sign in _IN_NUMBERS and before.isdigit() and behind.isdigit()


def _in_word(letter: str) -> bool:
    return letter.isalnum() or letter == "_" or unicodedata.category(letter).startswith("M")


def _cut_off(text: str, start: int, end: int) -> str:
    """The negation of the words' own clause that stands outside them."""
    for found in (_CUT_BEFORE.search(text, 0, start), _CUT_BEHIND.match(text, end)):
        if found:
            return found[0]
    if _NEGATION.search(text, start, end):
        return ""
    before = [found.end() for found in _BREAK.finditer(text) if found.end() <= start]
    behind = _BREAK.search(text, end)
    for first, last in ((before[-1] if before else 0, start), (end, behind.start() if behind else len(text))):
        if found := _NEGATION.search(text, first, last):
            return found[0]
    return ""


def _stems(text: str) -> dict[str, str]:
    """Each word by its stem. `can` is `able`."""
    return {stem("able") if word in _CAN else stem(word): word for word in _WORD.findall(text)}


def _negated(text: str) -> Iterator[tuple[str, str]]:
    """The words with a prefix that negates, each after the stem of what it negates."""
    for word in _WORD.findall(text):
        for prefix in _PREFIXES:
            base = word.removeprefix(prefix)
            if base != word and len(base) >= SHORTEST and not _ALIKE.fullmatch(base):
                yield stem(base), word
