"""Places in a text that outlive an edit of it: cues and the beginnings of pages, as one line of front matter.

A mark is written as how far it stands from the one before, how long it is, and a short checksum of its text. Reading
it back, a mark whose checksum does not fit has moved: it is looked for nearby, and the marks after it follow. What
stands between two cues that are found has the times of those that are not. So a person may mend a name in a
transcript, and every quote keeps its time.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from typing import Final, NamedTuple

from weft.documents.document import Cue
from weft.protocol.patterns import pattern

PAGE_MARK: Final = 40
"""How much of a page's beginning is taken as its mark."""
_WINDOW: Final = 4_000
_DIGITS: Final = "0123456789abcdefghijklmnopqrstuvwxyz"
_CHECK_RANGE: Final = 36**4
_BEGINNING: Final = pattern(r"(?<!\S)\S|[\u3040-\u30ff\u3400-\u9fff]")
_LABELS: Final = pattern(r"\A\s*\*\*[^*\n]{1,80}:\*\* |\s*\*\*[^*\n]{1,80}:\*\*\s*\Z")
_EDIT: Final = 500
"""How many characters an edited cue may have."""
_PATIENCE: Final = 200
"""After so many marks in a row that are nowhere, the text is another one."""


class CueMark(NamedTuple):
    offset: int
    length: int
    check: str


class BadMarksError(ValueError):
    """A line of marks that nobody wrote like this."""


def cues_as_line(cues: Sequence[Cue], text: str) -> str:
    """`pause,lasting,skip,length,check[,speaker]` for each cue; the speaker is a number, given where it changes."""
    speakers = speakers_of(cues)
    parts: list[str] = []
    time = place = 0
    speaker = ""
    for cue in cues:
        start, end = _milliseconds(cue.start), _milliseconds(cue.end)
        said = text[cue.offset : cue.offset + cue.length]
        part = f"{start - time},{end - start},{cue.offset - place},{cue.length},{_check(said)}"
        if cue.speaker != speaker:
            part += f",{speakers.index(cue.speaker) + 1 if cue.speaker else 0}"
            speaker = cue.speaker
        parts.append(part)
        time, place = end, cue.offset + cue.length
    return ";".join(parts)


def speakers_of(cues: Sequence[Cue]) -> list[str]:
    return list(dict.fromkeys(cue.speaker for cue in cues if cue.speaker))


def cues_from_line(line: str, speakers: Sequence[str], text: str) -> tuple[tuple[Cue, ...], int]:
    """The cues that are still there, and how many are not."""
    times: list[tuple[float, float, str]] = []
    marks: list[CueMark] = []
    time = place = 0
    speaker = ""
    for part in filter(None, line.split(";")):
        fields = part.split(",")
        if len(fields) not in (5, 6):
            raise BadMarksError(part)
        pause, lasting, skip, length = (_integer(value) for value in fields[:4])
        if len(fields) == 6:
            speaker = _speaker(speakers, _integer(fields[5]))
        time += pause
        times.append((time / 1000, (time + lasting) / 1000, speaker))
        time += lasting
        marks.append(CueMark(place + skip, length, fields[4]))
        place += skip + length
    found: list[Cue] = []
    edited: list[tuple[float, float, str]] = []
    lost = 0
    for (start, end, said_by), mark, at in zip(times, marks, find_marks(marks, text), strict=True):
        if at is None:
            edited.append((start, end, said_by))
            continue
        lost += _fill(found, edited, text, at)
        found.append(Cue(start, end, said_by, at, mark.length))
    lost += _fill(found, edited, text, len(text))
    return tuple(found), lost


def _fill(found: list[Cue], edited: list[tuple[float, float, str]], text: str, until: int) -> int:
    """One cue for what now stands where cues were edited; answers how many have no text left."""
    if not edited:
        return 0
    begin = found[-1].offset + found[-1].length if found else 0
    words = _LABELS.sub("", text[begin:until]).strip()
    count, (start, _, speaker), (_, end, _) = len(edited), edited[0], edited[-1]
    edited.clear()
    if not words or len(words) > count * _EDIT:
        return count
    found.append(Cue(start, end, speaker, text.index(words, begin), len(words)))
    return 0


def pages_as_line(pages: Sequence[int], text: str) -> str:
    return ";".join(f"{page},{_check(text[page : page + PAGE_MARK])}" for page in pages)


def pages_from_line(line: str, text: str) -> tuple[tuple[int, ...], int]:
    """Where each page begins now, and how many had to take the place of the page before."""
    marks: list[CueMark] = []
    for part in filter(None, line.split(";")):
        offset, comma, check = part.partition(",")
        if not comma:
            raise BadMarksError(part)
        marks.append(CueMark(_integer(offset), PAGE_MARK, check))
    pages: list[int] = []
    places = find_marks(marks, text)
    for place in places:
        pages.append(max(place if place is not None else 0, pages[-1] if pages else 0))
    return tuple(pages), places.count(None)


def find_marks(marks: Sequence[CueMark], text: str) -> list[int | None]:
    """Where each mark stands in the text now: where it stood, moved like the mark before it, or nearby."""
    places: list[int | None] = []
    shift = earliest = lost = 0
    for mark in marks:
        place: int | None = mark.offset + shift
        if not _fits(mark, text, mark.offset + shift):
            place = _nearby(mark, text, mark.offset + shift, earliest) if lost < _PATIENCE else None
        places.append(place)
        lost += 1
        if place is not None:
            shift, earliest, lost = place - mark.offset, place, 0
    return places


def _fits(mark: CueMark, text: str, place: int) -> bool:
    return 0 <= place <= len(text) and _check(text[place : place + mark.length]) == mark.check


def _nearby(mark: CueMark, text: str, expected: int, earliest: int) -> int | None:
    begin, end = max(earliest, expected - _WINDOW), min(len(text), expected + _WINDOW)
    starts = sorted(
        (found.start() for found in _BEGINNING.finditer(text, begin, end)), key=lambda at: abs(at - expected)
    )
    return next((place for place in starts if _fits(mark, text, place)), None)


def _check(text: str) -> str:
    number = zlib.crc32(text.encode("utf-8", "surrogatepass")) % _CHECK_RANGE
    digits = ""
    for _ in range(4):
        number, digit = divmod(number, 36)
        digits = _DIGITS[digit] + digits
    return digits


def _milliseconds(seconds: float) -> int:
    return round(seconds * 1000)


def _integer(text: str) -> int:
    if not re.fullmatch(r"-?[0-9]{1,15}", text):
        raise BadMarksError(text)
    return int(text)


def _speaker(speakers: Sequence[str], number: int) -> str:
    if not 0 <= number <= len(speakers):
        raise BadMarksError(str(number))
    return speakers[number - 1] if number else ""
