"""Numbers that say something: shares, sums, counts, with the words they measure and how much they carry.

Years, dates, versions, numbers of sections and pages, and marks of lists say nothing by themselves and are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from weft.models.embedded.languages import Language
from weft.models.embedded.languages.language import words as word_set
from weft.models.embedded.sentence import Sentence

NumberKind = Literal["share", "money", "count"]
_NUMBER: Final = re.compile(
    r"(?<![\w.,/:#§`$-])(?P<money>[$€£¥₹]\s?)?"
    r"(?P<digits>[0-9٠-٩०-९]{1,3}(?:[,.'’\u00a0\u202f ][0-9]{3})+(?:[.,][0-9]+)?"
    r"|[0-9٠-٩०-९]+(?:[.,][0-9٠-٩०-९]+)?)(?P<share>\s?[%٪‰])?(?P<after>\s?[€£¥₹])?(?![\w./:]\d|[/:]\d)"
)
_ATTACHED: Final = re.compile(r"[^\W\d_]{1,3}(?![^\W_])")
_BEFORE: Final = re.compile(r"([\w§]+)[\s(.]*$")
_BEHIND: Final = re.compile(r"[\s\-–]*([^\W\d_]+)(?:[\s-]+([^\W\d_]+))?(?:\s+([^\W\d_]+))?")
_VERSION: Final = re.compile(r"^\d+\.\d+\.\d+|^v\d")
_YEAR: Final = re.compile(r"^(?:1[0-9]|20)\d\d$")
_SHARE_WORDS: Final = ("percent", "prozent", "percento", "procent", "percentage", "processi", "процент", "процентов")
_SHARE_PAIRS: Final = (("per", "cent"), ("pour", "cent"), ("por", "ciento"), ("por", "cento"), ("per", "cento"))
_HAN: Final = re.compile(
    "([二两三四五六七八九十百千][〇零一二两三四五六七八九十百千万亿]*)([倍亿万人户斤岁年天个小米元里种吨])"
)
_UNITS: Final = {"倍": 0.9, "亿": 0.9, "万": 0.9, "岁": 0.1, "年": 0.2, "天": 0.2, "小": 0.2, "个": 0.3}
"""What a count of these is worth telling; an age or a span of time says little."""
_PARTS: Final = word_set("""
half third quarter fifth tenth drittel viertel tiers quart tercio cuarto terzo terço derde
""")
_OF_PARTS: Final = word_set("of have has are were was is more less der des von du de des los las di del do da van")
_TIME: Final = word_set("""
second seconds minute minutes hour hours day days week weeks month months year years jahre jahren tage tagen
wochen monate stunden minuten ans jours mois semaines heures minutes años días meses semanas horas minutos anni
giorni mesi ore anos dias jaar dagen weken uur лет дней часов
""")
"""A span of time says less than a share or a sum."""
_SMALL: Final = word_set("""
two three four five six half zwei drei vier fünf sechs deux trois quatre cinq six dos tres cuatro cinco seis due
tre quattro dois duas três twee drie vier vijf zes два две три четыре пять
""")
"""Numbers so small that they count nothing worth telling."""
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
    told += _in_words(sentence, language)
    crowded = len(matches) > 5
    for number in told:
        span = number.measures.split()[0] in _TIME if number.measures else False
        scrap = sentence.kind == "item" and not sentence.ended
        bonus = (
            -0.5 * scrap
            - 0.25 * span
            + 0.25 * bool(sentence.roles & {"measure", "change"})
            + 0.15 * (len(told) in (2, 3))
            - 0.5 * crowded
        )
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
    # `40k rows`, `20GB`: the letters belong to the number.
    unit = _ATTACHED.match(text, match.end())
    behind = _BEHIND.match(text, unit.end() if unit else match.end())
    words = tuple((group or "").lower() for group in behind.groups()) if behind else ("", "", "")
    money = bool(match.group("money") or match.group("after") or words[0] in _MONEY_WORDS or words[1] in _MONEY_WORDS)
    share = bool(match.group("share")) or words[0] in _SHARE_WORDS or words[:2] in _SHARE_PAIRS
    scaled = words[0] in language.scales and not share
    if _YEAR.match(digits) and not (money or share or scaled):
        return None
    if words[0] in language.months or word in language.months:
        return None
    if before and len(digits) <= 2 and not (money or share or scaled) and language.cased:
        name = before.group(1)
        if name[:1].isupper() and word not in language.function and word not in language.weak:
            # `Tern 2 weighs what is in it`: the number belongs to the name.
            return None
    said = [group or "" for group in behind.groups()] if behind else ["", "", ""]
    belongs = 2 if words[:2] in _SHARE_PAIRS else int(words[0] in (*_SHARE_WORDS, *_MONEY_WORDS, *language.scales))
    belongs += scaled and words[1] in _MONEY_WORDS
    shown = " ".join([match.group().strip() + (unit.group() if unit else ""), *said[:belongs]])
    measured = _measured(words, language, skip=int(share or scaled) + (words[:2] in _SHARE_PAIRS))
    if not (money or share or scaled or measured):
        return None
    aside = "(" in text[max(0, match.start() - 40) : match.start()].rpartition(")")[2]
    strength = -0.5 * aside + (1.0 if money or share else 0.9 if scaled else 0.5) + _size(digits) + 0.1 * bool(measured)
    kind: NumberKind = "share" if share else "money" if money else "count"
    return Number(shown, kind, measured, sentence.index, strength)


def _in_words(sentence: Sentence, language: Language) -> list[Number]:
    """Numbers that are written out: `thirty-one colonies`, `four in five`, `six times`."""
    if language.code == "zh":
        return [
            Number(match.group(), "count", match.group(2), sentence.index, _UNITS.get(match.group(2), 0.6))
            for match in _HAN.finditer(sentence.text)
        ]
    found: list[Number] = []
    at = 0
    while at < len(sentence.words):
        end = at
        while end < len(sentence.words) and _is_numeral(sentence.words[end], language):
            if end > at and sentence.words[end] in _PARTS:
                # `By seven half of the stalls were empty`
                break
            end += 1
        behind = (*sentence.words[end : end + 3], "", "", "")[:3]
        if end > at:
            part = behind[0] in ("in", "of", "von", "sur", "de") and _is_numeral(behind[1], language)
            end += 2 * part
            measured = _measured((*sentence.words[end : end + 3], "", "", "")[:3], language, skip=0)
            if sentence.words[end - 1] in _PARTS and behind[0] not in _OF_PARTS:
                # `a third approach` is no third of anything.
                at = end
                continue
            large = any(word.split("-")[0] not in _SMALL for word in sentence.words[at:end])
            if measured and (large or part):
                text = " ".join(sentence.surface[at:end])
                found.append(
                    Number(text, "share" if part else "count", measured, sentence.index, 0.75 if part else 0.45)
                )
        at = max(end, at + 1)
    return found


def _is_numeral(word: str, language: Language) -> bool:
    return word in language.numerals or ("-" in word and word.split("-")[0] in language.numerals)


def _measured(words: tuple[str, ...], language: Language, *, skip: int) -> str:
    rest = [word for word in words[skip:] if word]
    while rest and rest[0] in language.before_nouns:
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
