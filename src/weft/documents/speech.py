"""What was said, from captions of any kind: one text in paragraphs, and a cue for each piece of it.

    captions -> lines without markup (cue_text.py) -> no line twice where captions roll -> names of speakers -> text

Captions are cut to fit a screen. Here they are put together again: cues of one speaker run on as sentences, and a new
paragraph begins where another speaks, after a long pause, or at the end of a sentence when a paragraph has become
long. A speaker's name stands in bold before what they say, once; the place of a cue is that of its words alone.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import field, replace
from itertools import pairwise
from typing import Final

from weft.documents.characters import is_unspaced
from weft.documents.cue_text import Caption, CueLine, Spoken, language_in, spoken_lines
from weft.documents.document import Cue, RefusedError, counted
from weft.documents.speakers import name_speakers
from weft.protocol.values import dataclass

PAUSE: Final = 1.95
"""Seconds of silence that end a paragraph. Not a multiple of 0.02, the grid of Whisper's times: formats round."""
_LONG_PARAGRAPH: Final = 900
_TOUCHING: Final = 0.15
_BLINK: Final = 0.05
_SENTENCE_END: Final = re.compile(r"[.!?…。！？][\"'”’»)\]]*\Z")


@dataclass
class HeardSpeech:
    text: str
    cues: tuple[Cue, ...]
    language: str
    notes: list[str] = field(default_factory=list)


def speech_of(captions: Sequence[Caption]) -> HeardSpeech:
    language = next((found for caption in captions if (found := language_in(caption.text))), "")
    spoken = [spoken_lines(caption) for caption in captions]
    silent = sum(1 for each in spoken if not each.lines and each.sounds)
    told = [each for each in spoken if each.lines]
    if not told:
        raise RefusedError(
            "is a transcript in which nothing is said", "Look into it: it may hold only music or silence"
        )
    told, repeats = _unrolled(told)
    told, strangers = name_speakers(told)
    text, cues = _composed(told)
    notes = []
    if silent:
        notes.append(f"{counted(silent, 'caption')} with only music or sounds left out")
    if repeats:
        notes.append(f"{counted(repeats, 'repeated line')} of rolling captions left out")
    if strangers:
        notes.append(f"{counted(strangers, 'change')} of speaker without a name")
    if len(cues) < sum(1 for each in told for _ in each.lines[:1]):
        notes.append("some of it has no times")
    return HeardSpeech(text, tuple(cues), language, notes)


# -- rolling captions: each repeats the line before and adds one


def _unrolled(captions: list[Spoken]) -> tuple[list[Spoken], int]:
    """Captions without what the one before already showed, and how many lines that were."""
    overlaps = [0, *(_overlap(before, after) for before, after in pairwise(captions))]
    wholes = [
        overlap == sum(len(line.text.split()) for line in caption.lines)
        for caption, overlap in zip(captions, overlaps, strict=True)
    ]
    # to say a whole caption twice is human; to say a part of it again and go on, each time, is not
    signs = [
        overlap > 0 and (not whole or caption.lasting < _BLINK)
        for caption, overlap, whole in zip(captions, overlaps, wholes, strict=True)
    ]
    pairs = max(1, len(captions) - 1)
    rolling = sum(signs) >= 0.3 * pairs and (sum(signs) >= 3 or (sum(signs) == 2 and pairs <= 3))
    result: list[Spoken] = []
    repeats = 0
    for caption, overlap, whole in zip(captions, overlaps, wholes, strict=True):
        if overlap and (rolling or (whole and caption.lasting < _BLINK)):
            repeats += 1
            caption = replace(caption, lines=_after(caption.lines, overlap))
        if caption.lines:
            result.append(caption)
    return result, repeats


def _overlap(before: Spoken, after: Spoken) -> int:
    """How many words at the beginning of a caption the one before it ends with, when it follows at once.

    Only whole lines count, or all that was shown before: speech repeats a word now and then.
    """
    if before.end is None or after.start is None or after.start - before.end > _TOUCHING:
        return 0
    shown = [word for line in before.lines for word in line.text.split()]
    words: list[str] = []
    ends: list[int] = []
    for line in after.lines:
        words += line.text.split()
        ends.append(len(words))
    for count in sorted({*ends, len(shown)}, reverse=True):
        if 0 < count <= min(len(shown), len(words)) and shown[-count:] == words[:count]:
            return count
    return 0


def _after(lines: tuple[CueLine, ...], count: int) -> tuple[CueLine, ...]:
    rest: list[CueLine] = []
    for line in lines:
        words = line.text.split()
        if count >= len(words):
            count -= len(words)
            continue
        rest.append(replace(line, text=" ".join(words[count:]), turn=line.turn and not count))
        count = 0
    return tuple(rest)


# -- one text


@dataclass
class _Text:
    parts: list[str] = field(default_factory=list)
    length: int = 0
    paragraph: int = 0
    """Where the current paragraph begins."""

    def add(self, part: str) -> None:
        self.parts.append(part)
        self.length += len(part)


def _composed(captions: Sequence[Spoken]) -> tuple[str, list[Cue]]:
    text = _Text()
    cues: list[Cue] = []
    speaker = named = ""
    until = 0.0
    last = ""
    for caption in captions:
        start = caption.start if caption.start is not None else until
        for said in _pieces(caption.lines):
            if not last or said.turn or said.speaker != speaker or _ends_paragraph(text, last, start - until):
                text.add("\n\n" if last else "")
                text.paragraph = text.length
                if said.speaker and (said.speaker != named or said.turn):
                    text.add(f"**{said.speaker}:** ")
                named = said.speaker
            else:
                text.add(_joint(last, said.text))
            if caption.start is not None and caption.end is not None:
                cues.append(Cue(caption.start, caption.end, said.speaker, text.length, len(said.text)))
            text.add(said.text)
            speaker, last = said.speaker, said.text
            until = max(until, start)
        until = max(until, caption.end if caption.end is not None else start)
    return "".join(text.parts), cues


def _pieces(lines: Sequence[CueLine]) -> list[CueLine]:
    """Lines of one speaker put together."""
    pieces: list[CueLine] = []
    for line in lines:
        if pieces and not line.turn and line.speaker == pieces[-1].speaker:
            before = pieces[-1].text
            pieces[-1] = replace(pieces[-1], text=before + _joint(before, line.text) + line.text)
        else:
            pieces.append(line)
    return pieces


def _ends_paragraph(text: _Text, last: str, pause: float) -> bool:
    if pause >= PAUSE:
        return True
    return text.length - text.paragraph > _LONG_PARAGRAPH and bool(_SENTENCE_END.search(last))


def _joint(before: str, after: str) -> str:
    """A space, but none where the script has none. Two halves that would melt into one character stay apart."""
    if not (is_unspaced(before[-1]) and is_unspaced(after[0])):
        return " "
    return "" if unicodedata.is_normalized("NFC", before[-1] + after[0]) else " "
