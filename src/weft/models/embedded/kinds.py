"""What kind of document it is: by its shape and a few signs of each kind. `article` when nothing speaks for another."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from string import digits
from typing import Final, Literal

from weft.language.sentences import GAP
from weft.models.embedded.kind_parts import INGREDIENTS, OWN, asked_in_turn, asks_itself
from weft.models.embedded.layout import DATELINE
from weft.models.embedded.lexicon import sign_words, signs
from weft.models.embedded.quotes import reports, spoken_quotes
from weft.models.embedded.reading import Reading
from weft.models.embedded.words import surface_words

Category = Literal[
    "news", "essay", "article", "paper", "interview", "transcript", "captions", "meeting", "newsletter", "manual",
    "list", "poem", "story", "letter", "recipe", "code", "data", "note",
]  # fmt: skip
DetectedSource = Literal["podcast", "transcript", "article", "youtube", "twitter", "text", "other"]
_SOURCES: Final[dict[str, DetectedSource]] = {
    "webvtt": "transcript", "srt": "transcript", "whisper": "transcript", "podcast": "podcast", "youtube": "youtube",
    "html": "article", "twitter": "twitter",
}  # fmt: skip
_MEETING: Final = re.compile(rf"^\W*\d*\W*(?-i:(?=[A-ZÀ-Þ]))(?:{signs('meeting')})", re.I | re.M)
"""With a capital: what a page has wrapped begins lines with any word of a sentence."""
_NEWSLETTER: Final = re.compile(rf"\b(?:{signs('newsletter')})\b", re.I)
STANDARD_HEADING: Final = re.compile(rf"^(?:\d+\W+|[IVX]+\W+)?(?:{signs('standard_heading')})$", re.I)
_ABSTRACT: Final = re.compile(rf"(?:\W*\d*\W*)(?:{signs('abstract')})\W*$", re.I)
_MANUAL: Final = re.compile(rf"^(?:\d[\d.]*\W+)?(?:{signs('manual_heading')})$", re.I)
_CALLED: Final = re.compile(rf"\b(?:{signs('manual')})\b", re.I)
"""What a manual is called."""
_RELEASE: Final = re.compile(
    r"(?:[\w.+-]+ |(?:Noteworthy |Major )?changes (?:in|since|between) )?(?:version |release )?"
    r"[\[(]?v?\d+\.\d[\w.+~:-]*[\])]?(?:\s*[-–—(,;].*|\s+[a-z]+;.*|\s*)$",
    re.I,
)
"""The heading of a release: a list of changes."""
_CHANGES: Final = re.compile(rf"(?:{signs('changes')})$", re.I)
_RECIPE: Final = re.compile(rf"\b(?:{signs('cooking')})\b", re.I)
_QUANTITY: Final = re.compile(r"\b\d+[\d.,/]*\s?(?:g|kg|ml|l|cups?|tbsp|tsp|oz|el|tl|minutes|minuten)\b", re.I)
_GREETING: Final = re.compile(
    rf"^(?:{signs('greeting')})\b[^.!?\n]{{0,40}},\s*$|^(?:{signs('dear')})\b[^.!?\n]{{1,60}}[,:!]\s*$", re.I | re.M
)
_COMMAND: Final = re.compile(rf"(?:{signs('command')})\b", re.I)
_PEOPLE: Final = sign_words("people")
_HASHTAGS: Final = re.compile(r"(?<!\w)[#@]\w{2,}")
_YEAR: Final = re.compile(r"\b(?:1[5-9]|20)\d\d\b")


_CAPTIONS: Final = 120
"""Words from which a text without stops is taken for captions though nobody says that it was spoken."""
_TOLD_BESIDE: Final = 8
"""Sentences beside tables or code: with more, these belong to a text."""
_ROWS: Final = 2
"""Rows up to which a table beside sentences holds no data: a motto is set in one."""
_TOLD, _SAID = 150, 80
"""Of how many words at most one must tell who said something, or on which day it was, where a text is news; and where
it names no day."""

_REPORTED, _OWN_VOICE = 450, 55
"""Of how many words at most one must say who said something, or on which day, in any report; and of how many at least
one is about whoever writes."""
_NAMED, _BRIEF, _PARTED = 0.07, 900, 3
"""The share of names from which a text is about people and places of the day, not about somebody made up or a thing;
the most words of such a text that is a report, and the headings from which it is made of parts."""


def category(reading: Reading, source_kind: str = "") -> Category:
    if _tells_changes(reading):
        return "list"
    return _by_shape(reading, source_kind) or _by_signs(reading) or _prose(reading)


def _tells_changes(reading: Reading) -> bool:
    """Whether it goes release by release, or has one with what was added, fixed and removed."""
    titles = [section.title.strip() for section in reading.sections]
    released = sum(1 for title in titles if _RELEASE.match(title))
    return released > 2 or (released > 0 and sum(1 for title in titles if _CHANGES.match(title)) > 1)


def _by_shape(reading: Reading, source_kind: str) -> Category | None:
    """What is seen without reading: code, tables, turns of a talk, verse, a list."""
    blocks = reading.layout.blocks
    size = {
        kind: sum(block.end - block.start for block in blocks if block.kind == kind)
        for kind in ("code", "table", "prose", "item")
    }
    prose = size["prose"] + size["item"]
    spoken = source_kind in ("webvtt", "srt", "whisper") or len(reading.layout.times) > max(5, 0.3 * len(blocks))
    sound = sum(1 for one in reading.sentences if one.sound and one.kind != "table")
    told = sound > _TOLD_BESIDE
    rows = sum(1 for one in reading.sentences if one.kind == "table")
    if size["code"] > prose and (reading.layout.program or not told):
        return "code"
    if size["table"] > prose and not told and (rows > _ROWS or not sound):
        return "data"
    if not spoken and is_verse(reading):
        return "poem"
    if reading.unpunctuated and (spoken or (not reading.sections and reading.word_count > _CAPTIONS)):
        return "captions"
    if len(reading.speakers) > 1 and not reading.layout.dateline:
        asks = {one.speaker for one in reading.sentences if one.asks and one.speaker}
        return "interview" if asks and len(reading.speakers) <= 3 else "transcript"
    if asked_in_turn(reading):
        return "interview"
    if spoken:
        return "transcript"
    items = [block for block in blocks if block.kind == "item"]
    entries = [one for one in reading.sentences if one.kind == "item"]
    scraps = sum(one.size for one in entries if not one.ended)
    listed = 2 * scraps > sum(one.size for one in entries)
    return "list" if len(items) > 4 and size["item"] > 3 * size["prose"] and listed else None


def _by_signs(reading: Reading) -> Category | None:
    """What its headings and first lines say it is."""
    told = reading.text[reading.layout.body :][:60_000]
    titles = [section.title.strip() for section in reading.sections]
    if len({match.group().lower() for match in _MEETING.finditer(told)}) > 1:
        return "meeting"
    parted = len(reading.sections) > _PARTED
    if parted and len({match.group().lower().rstrip(digits) for match in _NEWSLETTER.finditer(told)}) > 1:
        return "newsletter"
    if _GREETING.search(told[:600]):
        return "letter"
    if reading.word_count < 60:
        return "note"
    cooks = len(_RECIPE.findall(told))
    if (cooks > 2 or (cooks and INGREDIENTS.search(told))) and len(_QUANTITY.findall(told)) > 2:
        return "recipe"
    if asks_itself(reading):
        return "manual"
    labelled = {one.label for one in reading.sentences if one.label not in ("", DATELINE)}
    if sum(1 for title in titles if STANDARD_HEADING.match(title)) > 2 or len(labelled) > 2 or _has_abstract(reading):
        return "paper"
    return "manual" if _is_manual(reading, titles) else None


def _is_manual(reading: Reading, titles: Sequence[str]) -> bool:
    named = sum(1 for title in titles if _MANUAL.match(title)) + 2 * sum(1 for one in titles[:1] if _CALLED.search(one))
    orders = sum(1 for one in reading.sentences if _COMMAND.match(one.text))
    items = sum(1 for block in reading.layout.blocks if block.kind == "item")
    code = sum(1 for block in reading.layout.blocks if block.kind == "code")
    shown = code > 2 and (named > 0 or 4 * orders > items)
    return named > 1 or shown


def _prose(reading: Reading) -> Category:
    sentences = reading.sentences
    said_words = [word for one in sentences for word in one.words]
    total = max(1, len(said_words))
    people = sum(1 for one in sentences if not _PEOPLE.isdisjoint(one.words))
    figures = sum(1 for word in said_words if word[0].isdigit())
    own = _own_words(reading)
    days = _days(reading)
    reported = reports(reading)
    spoken = sum(1 for quote in spoken_quotes(reading) if quote.speaker)
    told = reported + days
    placed = reading.layout.dateline or (reading.layout.byline and reported)
    # A town in front of a tale, or one day in a manual, makes no report.
    reports_all_along = (told + spoken + reading.layout.dateline) * _REPORTED > total and own * _OWN_VOICE < total
    if placed and reports_all_along:
        return "news"
    names = _names(reading)
    few_parts = len(reading.sections) < _PARTED
    told_of = 3 * people > len(sentences) > 5 and figures * 150 < total and not days and few_parts
    if told_of and names < _NAMED:
        return "story"
    lately = days and (told + spoken) * _TOLD > total
    said = reported and reported + spoken > 1 and (lately or (reported + spoken) * _SAID > total)
    brief = reading.word_count <= _BRIEF and few_parts and names >= _NAMED
    if (said or brief) and reports_all_along:
        return "news"
    if own * 60 > total or (len(reading.sections) < 2 and figures * 80 < total):
        return "essay"
    return "article"


def _names(reading: Reading) -> float:
    """The share of words with a capital that does not begin a sentence; 0 where every noun has one."""
    if reading.known.code == "de" or not reading.known.spaced:
        return 0.0
    inner = [word for one in reading.sentences for word in surface_words(one.text)[1:]]
    return sum(1 for word in inner if word[0].isupper() and word[:2] not in ("I", "I'", "I’")) / max(1, len(inner))


def _own_words(reading: Reading) -> int:
    """How often somebody speaks of themselves, apart from those who are quoted."""
    spoken = [quote.span for quote in spoken_quotes(reading)]
    found = 0
    for one in reading.sentences:
        mine = OWN.intersection(one.words)
        if mine and not any(low < one.end and one.start < high for low, high in spoken):
            found += sum(1 for word in one.words if word in mine)
    return found


def _days(reading: Reading) -> int:
    """Days and months by name, without the year: the reader of a paper knows which. What may be a name and may be a
    verb has a capital where it is one."""
    known, found = reading.known, 0
    for one in reading.sentences:
        words = surface_words(one.text)
        found += sum(
            1
            for at, word in enumerate(words)
            if word.lower() in known.months
            and (word[0].isupper() or known.code != "en")
            and not any(_YEAR.fullmatch(near) for near in words[at + 1 : at + 3])
        )
    return found


def _has_abstract(reading: Reading) -> bool:
    return bool(abstract(reading)) and len(reading.sections) > 2


def abstract(reading: Reading) -> Sequence[int]:
    """The sentences of the author's own abstract, where the document has one near its beginning."""
    for number, section in enumerate(reading.sections[:6]):
        if _ABSTRACT.match(section.title):
            found = [one.index for one in reading.sentences if one.section == number]
            if found and sum(reading.sentences[at].size for at in found) < 0.4 * reading.word_count + 40:
                return found
    labelled = [
        one
        for one in reading.sentences[:40]
        if one.label in ("abstract", "summary", "zusammenfassung", "résumé", "resumen")
    ]
    if labelled:
        return [one.index for one in reading.sentences if one.block == labelled[0].block]
    return _before_the_turns(reading) or _first_turn(reading)


_INTRODUCED: Final = (12, 120)
"""Words of what stands before the first turn of a talk: fewer say nothing, more are a text of their own."""


def _before_the_turns(reading: Reading) -> Sequence[int]:
    """What somebody wrote over a talk, to say what it is about."""
    asked = min(asked_in_turn(reading), default=0)
    talk = asked or len(reading.speakers) > 1
    first = next((one.index for one in reading.sentences if one.speaker or (asked and one.block >= asked)), 0)
    found = [one for one in reading.sentences[:first] if one.kind == "prose" and one.sound]
    least, most = _INTRODUCED
    size = sum(one.size for one in found)
    return [one.index for one in found] if talk and least <= size <= min(most, 0.4 * reading.word_count) else ()


_GUEST: Final = re.compile(rf"\b(?:{signs('guest')})\b", re.I)


def _first_turn(reading: Reading) -> Sequence[int]:
    """What the first who speaks says of the guest, and of what they will talk about."""
    host = reading.sentences[0].speaker
    talk = host and len(reading.speakers) > 1
    return [one.index for one in reading.sentences[:8] if talk and one.speaker == host and _GUEST.search(one.text)]


def is_verse(reading: Reading) -> bool:
    """Short lines in stanzas, most of which end before the sentence does."""
    return bool(stanzas(reading))


def stanzas(reading: Reading) -> list[list[str]]:
    """The lines of a poem, by stanza; [] when it is none."""
    plain = reading.layout.plain
    found = [
        [line.replace(GAP, "").strip() for line in plain[block.start : block.end].strip().split("\n")]
        for block in reading.layout.blocks
        if block.kind == "prose" and not block.speaker
    ]
    if any(block.kind in ("item", "table", "code") for block in reading.layout.blocks):
        return []
    lines = [line for stanza in found for line in stanza if line]
    if len(lines) < 8 or len(lines) < 2.5 * len(found) or max(map(len, lines)) > _VERSE:
        return []
    if sum(len(_SIGNS.findall(line)) for line in lines) > _MARKED * sum(map(len, lines)):
        return []
    ended = sum(1 for line in lines if line.endswith((".", "!", "?", "。")))
    short = max(map(len, lines)) <= 64 and sum(map(len, lines)) < 46 * len(lines)
    return found if 2 * ended <= len(lines) and (short or _has_capitals(found)) else []


_VERSE: Final = 90
_SIGNS: Final = re.compile(r"[!-@\[-`{-~]")
_MARKED: Final = 0.12
"""The share of figures and signs up to which lines are made of words: a table of numbers and settings are no poem."""
_ANEW: Final = 0.85


def _has_capitals(stanzas: Sequence[Sequence[str]]) -> bool:
    """Whether lines begin with a capital in the middle of a sentence, and many pause at their end: what a page has cut
    to its width goes on in small letters, and a list of names has no stops."""
    inside = [
        low
        for stanza in stanzas
        for high, low in pairwise(stanza)
        if high and low and not high.endswith((".", "!", "?"))
    ]
    capital = sum(1 for line in inside if line.lstrip("\"'“‘«„(—–-")[:1].isupper())
    paused = sum(1 for line in inside if line.endswith((",", ";", ":", ".", "!", "?", "—", "–")))
    return len(inside) > 4 and capital >= _ANEW * len(inside) and 3 * paused > len(inside)


def detected_source(reading: Reading, kind: Category, given: str) -> DetectedSource:
    """As the caller says, where it knows; else as the text looks."""
    known = _SOURCES.get(given.lower().strip().lstrip("."))
    if known:
        return known
    if reading.speakers or len(reading.layout.times) > 2:
        return "transcript"
    if kind in ("code", "data"):
        return "other"
    if reading.word_count < 500 and len(_HASHTAGS.findall(reading.text)) > max(1, reading.word_count // 120):
        return "twitter"
    return "article" if reading.title is not None and reading.word_count >= 120 else "text"
