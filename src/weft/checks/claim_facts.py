"""What can be checked exactly: numbers with their units, dates, and names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from weft.checks.number_words import spelled_out
from weft.checks.numerals import numbers_in, offered
from weft.protocol.values import dataclass

_UNIT_FORMS: Final = """
second: second seconds sec s        minute: minute minutes min       hour: hour hours hr h          day: day days
week: week weeks                    month: month months              year: year years yr            time: times
percent: percent %                  dollar: dollar dollars usd $     euro: euro euros eur €         pound: pounds gbp £
metre: metre metres meter meters m  kilometre: kilometre kilometres kilometers km                   mile: mile miles
centimetre: centimetres cm          millimetre: millimetres mm       foot: foot feet ft             inch: inch inches
gram: gram grams g                  kilogram: kilogram kilograms kg  tonne: tonne tonnes            bit: bit bits
byte: byte bytes                    kilobyte: kb kib kilobytes       megabyte: mb mib megabytes     gigabyte: gb gib
degree: degree degrees °            person: person persons people    member: member members         copy: copy copies
character: character characters     line: line lines                 page: page pages
"""
_UNITS: Final[dict[str, str]] = {
    form: str(unit) for unit, forms in re.findall(r"(\w+): ((?:\S+(?: |$)?)+)", _UNIT_FORMS) for form in forms.split()
}
_AFTER: Final = re.compile(r"\s?(?:([%€£$°])|-?([A-Za-z]+))")
_BEFORE: Final = re.compile(r"([€£$])\s?\Z")
_REFERENCE_BEFORE: Final = re.compile(
    r"(?:\b(?:sections?|paragraphs?|para|articles?|art|chapter|appendix|isa|rfc|version|part|clause|figure|table)|§)\.?\s*\Z",
    re.IGNORECASE,
)
_MONTHS: Final = {
    name[:3]: number
    for number, name in enumerate(
        "january february march april may june july august september october november december".split(), start=1  # noqa: SIM905
    )
}  # fmt: skip
_MONTH: Final = (
    r"(?P<name>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_DAY: Final = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_DATES: Final = (
    re.compile(r"\b(?P<year>\d{4})-(?P<month>\d{2})-(?P<day>\d{2})\b"),
    re.compile(rf"\b{_DAY}(?: of)? {_MONTH},?(?: (?P<year>\d{{4}}))?", re.IGNORECASE),
    re.compile(rf"\b{_MONTH} {_DAY}\b(?:,? (?P<year>\d{{4}}))?", re.IGNORECASE),
    re.compile(rf"\b{_MONTH},? (?P<year>\d{{4}})\b", re.IGNORECASE),
)
_NAME: Final = re.compile(
    r"\b(?:[A-Z][\w&’'-]*[a-z][\w’'-]*|[A-Z]{2,}[\w&-]*)(?:\s+(?:(?:of|the|and|for|de|van|von)\s+)*(?:[A-Z][\w&’'-]+))*"
)
_NOT_NAMES: Final = frozenset(
    word
    for line in (
        "The A An This That These Those It He She We They You I In On At By For From With To Of And Or But If When",
        "Where While As After Before Any All Each Every No Not Such Some There Here What Which Who How Why Its Their",
        "His Her Our Your My Both Either Neither However Therefore Thus Also Other Otherwise Unless",
        "Until Since Although Because Under Within Without Once Only One Two Three Note See Per Upon Do Does Is Are",
        "Was Were Be Has Have Must Shall Should May Can Will Would Could Might NOT MUST SHALL SHOULD MAY",
    )
    for word in line.split()
)


@dataclass(frozen=True, slots=True)
class Quantity:
    text: str
    values: frozenset[str]
    """Every way its digits can be read."""
    unit: str = ""


def quantities(text: str) -> list[Quantity]:
    """The numbers of a text. Numbers of sections and articles are references, not quantities."""
    found: list[Quantity] = []
    dates = [match.span() for pattern in _DATES for match in pattern.finditer(text)]
    for written in numbers_in(text, words=True):
        start, end = written.start, written.start + len(written.text)
        if any(low <= start < high for low, high in dates) or _REFERENCE_BEFORE.search(
            text[max(0, start - 14) : start]
        ):
            continue
        if start and (text[start - 1].isalpha() or text[start - 1] in "(§") and not text[start - 1].isspace():
            continue
        values = frozenset(number for reading in written.readings for number in reading)
        before = _BEFORE.search(text[max(0, start - 2) : start])
        found.append(Quantity(written.text, values, _UNITS.get(before[1], "") if before else _unit(text, end)))
    found += [Quantity(number, frozenset({number}), unit) for number, unit in _in_words(text)]
    return found


def _in_words(text: str) -> Iterator[tuple[str, str]]:
    for number in spelled_out(text):
        if number != "1":  # "one" is rather a pronoun
            yield number, ""


def _unit(text: str, end: int) -> str:
    match = _AFTER.match(text, end)
    word = (match[1] or match[2]).lower() if match else ""
    return _UNITS.get(word, "")


def numbers_of(text: str) -> set[str]:
    return offered(text, words=True)


def dates(text: str) -> list[tuple[str, tuple[int, int, int]]]:
    """Every date with its words, as year, month, day; 0 for what is not said."""
    found: dict[int, tuple[str, tuple[int, int, int]]] = {}
    for pattern in _DATES:
        for match in pattern.finditer(text):
            parts = match.groupdict()
            name = (parts.get("name") or "")[:3].lower()
            month = _MONTHS[name] if name else int(parts["month"])
            value = (int(parts.get("year") or 0), month, int(parts.get("day") or 0))
            if not any(start <= match.start() < start + len(words) for start, (words, _) in found.items()):
                found[match.start()] = (match[0], value)
    return list(found.values())


def same_date(one: tuple[int, int, int], other: tuple[int, int, int]) -> bool:
    return all(a == b or 0 in (a, b) for a, b in zip(one, other, strict=True))


def names(text: str) -> list[str]:
    """Names as far as capitals tell: no first word of a sentence that stands alone and is an ordinary word."""
    found: list[str] = []
    for match in _NAME.finditer(text):
        words = match[0].split()
        while words and words[0] in _NOT_NAMES:
            words = words[1:]
        begins = not text[: match.start()].rstrip() or text[: match.start()].rstrip()[-1] in '.!?:;"“(*•-'
        if not words or (begins and len(words) == 1 and not words[0].isupper() and len(match[0].split()) == 1):
            continue
        while words and words[-1].lower() in ("of", "the", "and", "for", "de", "van", "von"):
            words = words[:-1]
        found.append(" ".join(words))
    return list(dict.fromkeys(name for name in found if len(name) > 1))


def mentions(text: str, name: str) -> bool:
    """Whether a name occurs as whole words, in any case; a one-letter name never does by chance."""
    wanted = r"\s+".join(map(re.escape, name.split()))
    return bool(wanted) and re.search(rf"(?<!\w){wanted}(?:'s|’s|s)?(?!\w)", text, re.IGNORECASE) is not None
