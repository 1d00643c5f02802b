"""WebVTT and SRT: times and what is shown between them. What is said is put together in `speech`.

Both are read by one patient loop, since files in the wild mix them: a caption begins at its line of times and lasts to
the next one; numbers and identifiers before a line of times, notes and styles belong to nobody.
"""

from __future__ import annotations

import re
from typing import Final

from weft.documents.cue_text import Caption
from weft.documents.document import Draft, Kind, RefusedError, counted
from weft.documents.speech import speech_of

_TIME: Final = r"(?:(\d{1,4}):)?(\d{1,2}):(\d{1,2})(?:[.,](\d{1,6}))?"
_TIMES: Final = re.compile(rf"[ \t]*{_TIME}[ \t]*-->[ \t]*{_TIME}")
_ASIDE: Final = re.compile(r"(?:NOTE|STYLE|REGION)(?:[ \t]|\Z)")
_HEADER_FIELD: Final = re.compile(r"([A-Za-z][\w -]{0,30}):[ \t]*(.{1,300})")


def read_webvtt(text: str) -> Draft:
    header, _, _ = text.strip().partition("\n\n")
    first, _, rest = header.partition("\n")
    fields = {
        found[1].strip().lower(): found[2] for line in rest.split("\n") if (found := _HEADER_FIELD.fullmatch(line))
    }
    title = first.removeprefix("WEBVTT").strip(" -–—\t")
    draft = _read(text, "webvtt")
    draft.title = fields.pop("title", "") or title
    draft.language = draft.language or fields.pop("language", "")
    draft.author = fields.pop("author", "")
    draft.url = fields.pop("url", "")
    draft.extra = {key: value for key, value in fields.items() if key not in ("kind", "language")}
    return draft


def read_srt(text: str) -> Draft:
    return _read(text, "srt")


def _read(text: str, kind: Kind) -> Draft:
    captions, broken = _captions(text.split("\n"), strict=kind == "webvtt")
    if not captions:
        raise RefusedError("is a caption file without captions", "Look into it: it may be cut off after its header")
    speech = speech_of(sorted(captions, key=lambda caption: caption.start or 0.0))
    notes = list(speech.notes)
    if broken:
        notes.append(f"{counted(broken, 'line')} of times could not be read")
    return Draft(kind=kind, text=speech.text, cues=speech.cues, language=speech.language, notes=notes, normal=True)


def _captions(lines: list[str], *, strict: bool) -> tuple[list[Caption], int]:
    """`strict` as WebVTT wants it: a blank line ends a caption, and what follows it without times is nobody's."""
    captions: list[Caption] = []
    broken = 0
    times: tuple[float, float] | None = None
    block: list[str] = []
    for line in lines:
        found = _TIMES.match(line) if "-->" in line else None
        if found:
            if times:
                captions.append(Caption(*times, _payload(block, strict=strict, before_times=True)))
            times, block = (_seconds(found, 1), _seconds(found, 5)), []
        elif "-->" in line:
            broken += 1
        else:
            block.append(line)
    if times:
        captions.append(Caption(*times, _payload(block, strict=strict, before_times=False)))
    return captions, broken


def _payload(block: list[str], *, strict: bool, before_times: bool) -> str:
    """What is shown, of the lines up to the next line of times: the last of them may be that caption's name."""
    lines = block
    if before_times and lines and lines[-1].strip():
        named = len(lines) == 1 or not lines[-2].strip()
        if (named and len(lines) > 1) or lines[-1].strip().isdecimal():
            lines = lines[:-1]
    shown: list[str] = []
    aside = False
    for line in lines:
        if not line.strip():
            aside = aside and strict
            if strict and line == "" and any(each.strip() for each in shown):
                break
            continue
        if strict and not shown and _ASIDE.match(line):
            aside = True
        if not aside:
            shown.append(line)
    return "\n".join(shown)


def _seconds(found: re.Match[str], first: int) -> float:
    hours, minutes, seconds, fraction = (found[first + index] for index in range(4))
    whole = int(hours or 0) * 3600 + int(minutes) * 60 + int(seconds)
    return round(whole + float(f"0.{fraction or 0}"), 3)
