"""What is worth quoting: what people say in the text, and its own strongest sentences, with speaker and time."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from weft.models.embedded.clauses import balanced
from weft.models.embedded.languages import Language
from weft.models.embedded.languages.language import words as word_set
from weft.models.embedded.quotes import Quotation
from weft.models.embedded.ranking import is_untied, leans, pick
from weft.models.embedded.reading import Reading
from weft.models.embedded.sentence import Sentence, Span
from weft.models.embedded.turns import clock
from weft.models.embedded.words import tokens

MOST: Final = 20
_LENGTH: Final = 400
_SHORT: Final = 6
"""Words of half a speech: `We got students with bicycles.`"""
_POINTED: Final = word_set("but yet so this that that's here there some one")
"""`That is not a threat` can be quoted; `They leave because of it` can't."""
TimeAt = Callable[[int], str]


@dataclass(frozen=True, slots=True)
class Quote:
    text: str
    span: Span
    speaker: str = ""
    context: str = ""
    """Where it stands: the sentence around it, or the heading over it."""
    around: Span | None = None


def important_quotes(reading: Reading) -> list[Quote]:
    """In the order of the text."""
    spoken = list(_spoken(reading))[: MOST - 4]
    starts = [one.start for one in reading.sentences]
    inside = {at for quote in spoken for at in _touched(reading, starts, quote.span)}
    # Somebody else's words are the better quotes; the text's own fill up.
    count = max(3, min(8, len(reading.sentences) // 8)) - len(spoken)
    own = [
        one
        for one in reading.sentences
        if one.index not in inside
        and _is_quotable(one, reading.language)
        and (not one.speaker or one.speaker != reading.host)
    ]
    chosen = pick(own, max(0, count), score=_force, limit=0.5)
    found = [Quote(one.text, (one.start, one.end), one.speaker, *_heading(reading, one)) for one in chosen]
    return sorted([*spoken, *found], key=lambda quote: quote.span)[:MOST]


def _spoken(reading: Reading) -> Iterator[Quote]:
    """What people say; both halves of a speech where the second can't be understood without the first."""
    told = [one for one in reading.quotations if one.verbatim and reading.text[one.start : one.end].strip()]
    at = 0
    while at < len(told):
        one = told[at]
        joined = _joined(reading, one, told[at + 1]) if at + 1 < len(told) else None
        at += 2 if joined else 1
        if joined:
            yield joined
        elif len(one.text) <= _LENGTH and not _is_half(one.text, reading.language):
            yield Quote(one.text, (one.start, one.end), one.speaker, *_around(reading, one.sentence, one.text))


def _joined(reading: Reading, one: Quotation, other: Quotation) -> Quote | None:
    """`"People do not leave," she said. "They are left."`: as it stands, with who says it between."""
    between = reading.text[one.end : other.start]
    if not 0 < len(between) <= 90 or "\n\n" in between or one.speaker != other.speaker:
        return None
    leans_on = _is_half(other.text, reading.language) or _leans_back(other.text, reading.language)
    if not leans_on and min(len(one.text.split()), len(other.text.split())) > _SHORT:
        return None
    start, end = one.start - 1, other.end
    end += 1 + (reading.text[end : end + 1] in (".", ","))
    text = " ".join(reading.text[start:end].split())
    whole = balanced(text) and text[:1] in '"“„«' and text[-1:] in '"“”»'
    return Quote(text, (start, end), one.speaker) if whole and len(text) <= _LENGTH else None


def _is_half(text: str, language: Language) -> bool:
    """Whether it begins with something that only what was said before explains."""
    if language.cased and text[:1].islower():
        return True
    first = tokens(text, language.code)[:1]
    return language.spaced and bool(first) and first[0] in language.leaning and first[0] not in _POINTED


def _leans_back(text: str, language: Language) -> bool:
    first = tokens(text, language.code)[:1]
    return bool(first) and first[0] in language.leaning


def _touched(reading: Reading, starts: Sequence[int], span: Span) -> range:
    """The sentences a place is in, by number."""
    first = max(0, bisect_right(starts, span[0]) - 1)
    last = bisect_right(starts, span[1] - 1)
    return range(first + (reading.sentences[first].end <= span[0]), last)


def _is_quotable(sentence: Sentence, language: Language) -> bool:
    if not sentence.verbatim or not sentence.sound or sentence.asks or len(sentence.text) > _LENGTH:
        return False
    plain = not any(sign in sentence.text for sign in "`*_[]|<>{}#")
    tied = leans(sentence, language) and not is_untied(sentence, language)
    whole = sentence.kind == "prose" or (sentence.kind == "item" and sentence.size > 9)
    return plain and sentence.ended and whole and not tied


def _force(sentence: Sentence) -> float:
    """Short and pointed sentences are quoted, not the ones that carry most facts."""
    pointed = 0.2 * min(
        2, len(sentence.roles & {"claim", "contrast", "advice", "cause", "unknown", "surprise", "problem"})
    )
    return 0.6 * sentence.rank + pointed + (0.2 if sentence.size <= 18 else 0.0)


def _around(reading: Reading, at: int, said: str) -> tuple[str, Span | None]:
    sentence = reading.sentences[at]
    more = len(sentence.text) > len(said) + 12 and len(sentence.text) <= _LENGTH
    return (sentence.text, (sentence.start, sentence.end)) if more else _heading(reading, sentence)


def _heading(reading: Reading, sentence: Sentence) -> tuple[str, Span | None]:
    if sentence.section < 0 or len(reading.sections) < 2:
        return "", None
    section = reading.sections[sentence.section]
    return section.title, section.span


def times(reading: Reading, cues: Sequence[Mapping[str, Any]] | None) -> TimeAt:
    """When a place in the text is said: by the caller's cues, else by the times the text itself names.

    A cue is {"offset": where its words begin in the text, "start": seconds}.
    """
    if not cues:
        return reading.time_at
    ordered = sorted((int(cue["offset"]), float(cue["start"])) for cue in cues)
    offsets = [offset for offset, _ in ordered]

    def at(place: int) -> str:
        number = bisect_right(offsets, place) - 1
        return clock(ordered[number][1]) if number >= 0 else ""

    return at


def as_values(quotes: Sequence[Quote], time_at: TimeAt) -> list[dict[str, str]]:
    return [{key: part for key, part in _parts(quote, time_at) if part} for quote in quotes]


def _parts(quote: Quote, time_at: TimeAt) -> Iterator[tuple[str, str]]:
    yield "text", quote.text
    yield "timestamp", time_at(quote.span[0])
    yield "context", quote.context
    yield "speaker", quote.speaker
