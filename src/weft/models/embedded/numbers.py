"""Numbers that say something: shares, sums, counts, with the words they measure and how much they carry.

Years, dates, versions, numbers of sections and pages, and marks of lists say nothing by themselves and are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from weft.models.embedded.languages import Language
from weft.models.embedded.sentence import Sentence

NumberKind = Literal["share", "money", "count"]
_NUMBER: Final = re.compile(
    r"(?<![\w.,/:#§-])(?P<money>[$€£¥₹]\s?)?(?P<digits>[0-9٠-٩०-९]{1,3}(?:[,.'’\u00a0\u202f ][0-9]{3})+(?:[.,][0-9]+)?"
    r"|[0-9٠-٩०-९]+(?:[.,][0-9٠-٩०-९]+)?)(?P<share>\s?[%٪‰])?(?P<after>\s?[€£¥₹])?(?![\w./:]\d|[/:]\d)"
)
_BEFORE: Final = re.compile(r"([\w§]+)[\s(.]*$")
_BEHIND: Final = re.compile(r"[\s\-–]*([^\W\d_]+)(?:[\s-]+([^\W\d_]+))?(?:\s+([^\W\d_]+))?")
_VERSION: Final = re.compile(r"^\d+\.\d+\.\d+|^v\d")
_YEAR: Final = re.compile(r"^(?:1[0-9]|20)\d\d$")
_SHARE_WORDS: Final = ("percent", "prozent", "percento", "procent", "percentage", "processi", "процент", "процентов")
_SHARE_PAIRS: Final = (("per", "cent"), ("pour", "cent"), ("por", "ciento"), ("por", "cento"), ("per", "cento"))
_MONEY_WORDS: Final = ("dollars", "euro", "euros", "pounds", "yen", "francs", "pesos", "рублей", "元", "円", "원")


@dataclass(frozen=True, slots=True)
class Number:
    text: str
    """As written, with its sign or unit."""
    kind: NumberKind
    measures: str
    """The words behind it."""
    sentence: int
    strength: float


def find_numbers(sentences: Sequence[Sentence], language: Language) -> list[Number]:
    """The numbers that say something, the strongest first."""
    found = [number for sentence in sentences for number in _numbers(sentence, language)]
    return sorted(found, key=lambda number: (-number.strength, number.sentence, number.text))


def _numbers(sentence: Sentence, language: Language) -> Iterator[Number]:
    if sentence.kind in ("code", "heading"):
        return
    matches = list(_NUMBER.finditer(sentence.text))
    told = [number for match in matches if (number := _number(match, sentence, language)) is not None]
    crowded = len(matches) > 5
    for number in told:
        bonus = 0.25 * bool(sentence.roles & {"measure", "change"}) + 0.15 * (len(told) in (2, 3)) - 0.5 * crowded
        yield Number(
            number.text,
            number.kind,
            number.measures,
            number.sentence,
            round(number.strength + bonus + 0.6 * sentence.rank, 4),
        )


def _number(match: re.Match[str], sentence: Sentence, language: Language) -> Number | None:
    text, digits = sentence.text, match.group("digits")
    before = _BEFORE.search(text[max(0, match.start() - 24) : match.start()])
    word = before.group(1).lower() if before else ""
    numbering = match.start() == 0 and text[match.end() :][:1] in (".", ")")
    if word in language.references or numbering or _VERSION.match(text[match.start() :]):
        return None
    behind = _BEHIND.match(text, match.end())
    words = tuple((group or "").lower() for group in behind.groups()) if behind else ("", "", "")
    money = bool(match.group("money") or match.group("after") or words[0] in _MONEY_WORDS or words[1] in _MONEY_WORDS)
    share = bool(match.group("share")) or words[0] in _SHARE_WORDS or words[:2] in _SHARE_PAIRS
    scaled = words[0] in language.scales and not share
    if _YEAR.match(digits) and not (money or share or scaled):
        return None
    if words[0] in language.months or word in language.months:
        return None
    shown = match.group().strip() + (f" {behind.group(1)}" if behind and (share or scaled) and words[0] else "")
    measured = _measured(words, language, skip=int(share or scaled) + (words[:2] in _SHARE_PAIRS))
    if not (money or share or scaled or measured):
        return None
    strength = (1.0 if money or share else 0.9 if scaled else 0.5) + _size(digits) + 0.1 * bool(measured)
    kind: NumberKind = "share" if share else "money" if money else "count"
    return Number(shown, kind, measured, sentence.index, strength)


def _measured(words: tuple[str, ...], language: Language, *, skip: int) -> str:
    rest = [word for word in words[skip:] if word]
    while rest and rest[0] in language.function:
        rest.pop(0)
    kept = []
    for word in rest[:2]:
        if word in language.function:
            break
        kept.append(word)
    return " ".join(kept)


def _size(digits: str) -> float:
    plain = re.sub(r"\D", "", digits)
    return min(0.3, 0.06 * len(plain))
