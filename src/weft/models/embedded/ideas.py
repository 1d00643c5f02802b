"""The ideas and the outline without a model: what the text carries, and the order of its own matter in your length.

Angles, theses and drafts need somebody who thinks. None are made up here: a kit says that a model would bring them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from weft.models.embedded.carried_ideas import carried
from weft.models.embedded.kinds import STANDARD_HEADING
from weft.models.embedded.layout import Span
from weft.models.embedded.profile import parse_profile
from weft.models.embedded.reading import Reading, read
from weft.models.embedded.summary import room
from weft.models.embedded.words import count_words

_SECTIONS, _FEWEST, _LEAST = 6, 2, 150
"""Sections at most and at least, and the fewest words of a document that has an order worth keeping."""
_HEADING: Final = 70
_TOLD: Final = 6
"""Words of what says something below a heading; names and links have fewer."""
_NUMBER: Final = re.compile(r"^[\d.]+\s+")
_WORDED: Final = re.compile(r"[^\W\d_]{3}")
"""A heading has a word; what stands along an axis has none."""
_OF_EVERY_MANUAL: Final = re.compile(r"(?:NAME|SYNOPSIS|DESCRIPTION|SEE ALSO|AUTHORS?|COPYRIGHT|NOTES|GIT)$")


def ideas(
    text: str, summary: Mapping[str, Any], *, profile: Mapping[str, Any] | None = None, published: str = ""
) -> dict[str, Any]:
    """WritingIdeas for a text and its summary. ValueError for a text without words or a profile that can't be meant."""
    reading = read(text)
    parse_profile(profile)
    said = [summary["headline"], summary["tldr"], *(one for one in summary["bullets"] if one not in summary["tldr"])]
    said += [quote["text"] for quote in summary["importantQuotes"]]
    said += [item["text"] for part in summary.get("parts", ()) for item in part["items"]]
    left = room(reading.word_count, str(summary["category"])) - sum(map(count_words, said))
    found = carried(reading, str(summary["category"]), summary, published=published, room=left)
    return {"contentId": summary["contentId"], "hooks": [], "angles": [], **found}


def outline(
    text: str, summary: Mapping[str, Any], ideas: Mapping[str, Any], *, profile: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The parts of the document in its own order, in the length that is wanted, each with what it rests on; one
    section where the document has no parts."""
    reading, wanted = read(text), parse_profile(profile)
    told = _told_under(reading)
    heads = {
        section.title: section.span
        for number, section in reversed(list(enumerate(reading.sections)))
        if section is not reading.title
        and number in told
        and not STANDARD_HEADING.match(section.title)
        and not _OF_EVERY_MANUAL.match(section.title)
        and section.title != summary["headline"]
        and 2 < len(section.title) <= _HEADING
        and section.title[0] not in "(["
        and _WORDED.search(section.title)
        and not section.guessed
        and not section.title.endswith((".", ":"))  # a comment of a listing, a line above one
    }
    heads = dict({_NUMBER.sub("", title): (title, span) for title, span in reversed(heads.items())}.values())
    ordered = sorted(heads.items(), key=lambda head: head[1])
    count = min(_SECTIONS, max(1, wanted.words // 120))
    if len(ordered) < _FEWEST or reading.word_count < _LEAST:
        # A document without parts of its own has no order to take over: the piece is of one part, and yours to cut.
        ordered = [(str(summary["headline"]), reading.title.span if reading.title else reading.sentences[0].spans[0])]
    elif len(ordered) > count:
        ordered = _widest(ordered, count, len(reading.text))
    share, rest = divmod(wanted.words, len(ordered))
    ends = [*(span[0] for _, span in ordered[1:]), len(text)]
    sections = []
    for number, ((title, span), end) in enumerate(zip(ordered, ends, strict=True)):
        rests = _rests_on(summary, ideas, 0 if number == 0 else span[0], end)
        section: dict[str, Any] = {"heading": title, "notes": "", "estimatedWords": share + (number < rest)}
        sections.append(section | {"evidence": [list(span)]} | ({"restsOn": rests} if rests else {}))
    return {"contentId": summary["contentId"], "targetWordCount": wanted.words, "sections": sections}


def _told_under(reading: Reading) -> set[int]:
    """The numbers of the headings with something told below them; the others are of lists of links and the like."""
    told = {one.section for one in reading.sentences if one.size >= _TOLD or one.kind in ("code", "table")}
    for number in range(len(reading.sections) - 2, -1, -1):
        if number + 1 in told and reading.sections[number + 1].level > reading.sections[number].level:
            told.add(number)
    return told


def _widest(heads: Sequence[tuple[str, Span]], count: int, length: int) -> list[tuple[str, Span]]:
    """The headings with the most text below them, in order."""
    ends = [*(span[0] for _, span in heads[1:]), length]
    sized = sorted(zip(heads, ends, strict=True), key=lambda pair: (-(pair[1] - pair[0][1][0]), pair[0][1]))
    return sorted((head for head, _ in sized[:count]), key=lambda head: head[1])


def _rests_on(summary: Mapping[str, Any], ideas: Mapping[str, Any], low: int, high: int) -> list[str]:
    """The points, quotes and questions of the kit from a stretch of the source, by their names on the page."""
    found = []
    for value, field, name in (
        (summary, "bullets", "point"),
        (summary, "importantQuotes", "quote"),
        (ideas, "questions", "question"),
        (ideas, "tensions", "tension"),
        (ideas, "numbers", "number"),
    ):
        for number, spans in enumerate(value.get("evidence", {}).get(field, ()), 1):
            if spans and low <= spans[0][0] < high:
                found.append(f"{name}-{number}")
    return found
