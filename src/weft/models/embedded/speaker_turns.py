"""Who speaks and when, as transcripts say it at the beginning of a line: `[0:12] Ana: …`, `**Ana** (00:01:02): …`.

One line proves nothing: `Note: …` looks the same. Speakers are believed when a few names come again and again,
sentences follow them, and there are hardly any headings between; times when several lines have one.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from weft.models.embedded.lexicon import sign_words
from weft.protocol.values import dataclass

TIME: Final = r"\d{1,2}:[0-5]\d(?::[0-5]\d)?"
_TIMING: Final = re.compile(rf"\s*(?:\d+:)?(?P<time>{TIME})[.,]\d{{1,3}}\s*-->.*$")


def _stamp(name: str) -> str:
    return rf"[\[(<]?(?P<{name}>{TIME})(?:[.,]\d{{1,3}})?[\])>]?"


_NAME: Final = r"(?:\*{1,2}|_{1,2})?(?P<speaker>[^\W\d_][\w .'’\-]{0,38}?)(?:\*{1,2}|_{1,2})?"
_BEFORE: Final = rf"\s*(?:[-–—]\s+)?(?:{_stamp('before')}\s*[-–—|:]?\s*)?"
_NAMED: Final = re.compile(
    rf"{_BEFORE}{_NAME}(?:\s*{_stamp('inside')})?\s?[:：](?:\*{{1,2}}|_{{1,2}})?(?:\s*{_stamp('after')})?(?:\s+|$"
    rf"|(?<=：))"
)
_ALONE: Final = re.compile(rf"\s*{_NAME}\s+{_stamp('inside')}\s*$")
_TIMED: Final = re.compile(rf"\s*{_stamp('before')}(?:\s*[-–—|:]\s|\s+|$)")
_NAME_LIMIT: Final = 4
_LABELS: Final = sign_words("labels")
_ASKED: Final = sign_words("asked")
"""What questions and answers are marked by: it names nobody."""
_QUESTIONS: Final = sign_words("questions")
_HEADING: Final = re.compile(r"#{1,6}\s")
_POINT: Final = re.compile(r"(?:[-*•+]|[-=]>|\d{1,2}[.)])\s")
_AGAIN, _HEADED = 2, 4
"""How often a name comes in a talk, on average; and the turns there are for each heading. What labels the points of a
manual comes once or twice, between many of them."""


@dataclass(frozen=True, slots=True)
class Turn:
    text_at: int
    """How many characters of the line say only who and when."""
    speaker: str = ""
    time: str = ""
    asks: bool = False
    """Whether it is marked as a question; who asks is nobody."""


def find_turns(lines: Sequence[str]) -> dict[int, Turn]:
    """For each line that names a speaker or a time: what it says."""
    found = _spelled_out({number: turn for number, line in enumerate(lines) if (turn := _turn(line))}, lines)
    speakers = _believed(found, lines)
    timed = sum(1 for turn in found.values() if turn.time)
    kept: dict[int, Turn] = {}
    for number, turn in found.items():
        if _TIMING.match(lines[number]) or turn.speaker in speakers:
            kept[number] = turn
        elif turn.time and timed >= 3:
            kept[number] = _only_time(turn, lines[number])
        elif turn.speaker.lower() in _ASKED:
            kept[number] = Turn(turn.text_at, asks=turn.speaker.lower() in _QUESTIONS)
    return kept


_INITIALS: Final = re.compile(r"[A-ZÀ-Þ]{2,4}")
_FULL_NAME: Final = re.compile(r"(?<![\w.])[A-ZÀ-Þ][a-zß-ÿ'’-]+(?: [A-ZÀ-Þ][\w'’-]+){1,3}")


def _spelled_out(found: dict[int, Turn], lines: Sequence[str]) -> dict[int, Turn]:
    """Initials are who they stand for, where exactly one name fits: of those who speak, or else in the text."""
    short = {turn.speaker for turn in found.values() if _INITIALS.fullmatch(turn.speaker)}
    if not short:
        return found
    speaking = {turn.speaker for turn in found.values()} - short
    named = {match.group() for line in lines for match in _FULL_NAME.finditer(line)}
    meant: dict[str, str] = {}
    for one in short:
        fitting = [[name for name in names if _initials(name) == one] for names in (speaking, named)]
        names = fitting[0] or fitting[1]
        meant[one] = names[0] if len(names) == 1 else one
    return {
        number: Turn(turn.text_at, meant.get(turn.speaker, turn.speaker), turn.time) for number, turn in found.items()
    }


def _initials(name: str) -> str:
    return "".join(part[0] for part in name.split() if part[0].isupper())


def _turn(line: str) -> Turn | None:
    timing = _TIMING.match(line)
    if timing:
        return Turn(len(line), time=timing.group("time"))
    for pattern in (_NAMED, _ALONE):
        match = pattern.match(line)
        if match is None:
            continue
        times = [time for name, time in match.groupdict().items() if name != "speaker" and time]
        if _can_speak(match.group("speaker").strip(), timed=bool(times)):
            return Turn(match.end(), match.group("speaker").strip(), times[0] if times else "")
    match = _TIMED.match(line)
    return Turn(match.end(), time=match.group("before")) if match else None


def _can_speak(speaker: str, *, timed: bool) -> bool:
    """In a chat with times people go by small names; elsewhere a small letter begins no name."""
    parts = speaker.split()
    if len(parts) > _NAME_LIMIT or speaker.lower() in _LABELS:
        return False
    return not parts[0][0].islower() or (timed and len(parts) == 1)


def _believed(found: dict[int, Turn], lines: Sequence[str]) -> frozenset[str]:
    times_said = Counter(turn.speaker for turn in found.values() if turn.speaker)
    often = {name for name, count in times_said.items() if count >= 2}
    total = sum(times_said[name] for name in often)
    headings = sum(1 for line in lines if _HEADING.match(line))
    if total < max(3, _AGAIN * len(often), _HEADED * headings):
        return frozenset()
    said: defaultdict[str, list[int]] = defaultdict(list)
    listed = 0
    for number, turn in found.items():
        if turn.speaker in often:
            rest = lines[number][turn.text_at :].strip()
            following = lines[number + 1].strip() if not rest and number + 1 < len(lines) else rest
            listed += _POINT.match(following) is not None
            said[turn.speaker].append(len(following.split()) + len(following) // 12)
    lengths = [length for counts in said.values() for length in counts]
    if 2 * listed > len(lengths):
        return frozenset()  # what stands over lists is no speaker
    filled = sum(1 for line in lines if line.strip())
    if sum(lengths) < 5 * len(lengths) or total < 0.1 * filled:
        return frozenset()
    named = [turn.speaker for _, turn in sorted(found.items()) if turn.speaker in often]
    if _ASKED.issuperset(name.lower() for name in often) and any(low == high for low, high in pairwise(named)):
        return frozenset()  # a list of questions, with its contents above it
    # Somebody who speaks once among others who are known speaks all the same, if it is said in the same way.
    timed = 2 * sum(1 for turn in found.values() if turn.speaker in often and turn.time) > total
    first = min(number for number, turn in found.items() if turn.speaker in often)
    once = {turn.speaker for number, turn in found.items() if number > first and bool(turn.time) == timed}
    return frozenset(often | (once & set(times_said)))


def _only_time(turn: Turn, line: str) -> Turn:
    if not turn.speaker:
        return turn
    return Turn(max(0, line.find(turn.speaker)), time=turn.time)


def clock(seconds: float) -> str:
    """M:SS, or H:MM:SS from an hour on; "" beyond ninety-nine hours, which no recording has."""
    whole = max(0, int(seconds))
    if whole >= 360_000:
        return ""
    hours, rest = divmod(whole, 3600)
    minutes, second = divmod(rest, 60)
    return f"{hours}:{minutes:02d}:{second:02d}" if hours else f"{minutes}:{second:02d}"
