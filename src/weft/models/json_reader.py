"""JSON out of what a model wrote: prose around it, fences, slips of the pen, a text that was cut off.

`look` gives every value that can be read, the best first, each with what was put right. `read` takes the first one
that `accept` agrees to. Strict JSON is tried before anything is put right; nothing is made up, and what was guessed,
skipped or left out is always said. Time grows with the length of the text, whatever the text.
"""

from __future__ import annotations

import html
import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

from weft.models.json_scan import DEPTH_LIMIT, Correction, NotJsonError, scan, whole_text
from weft.protocol.values import dataclass

READINGS_LIMIT: Final = 100
BROKEN_LIMIT: Final = 10_000
"""Brackets that begin no value: with so many of them it is no answer, and looking on would hold up everybody else."""
STRICT_TRIES: Final = 20
"""A strict try that fails walks the whole text (its error counts lines), so there are only so many."""
_SPACES: Final = " \t\r\n\f\v\ufeff\u200b"
_OPENING: Final = re.compile(r"[{\[]")
_BRACKET: Final = re.compile(r"[{}\[\]]|\"[^\"\\]*(?:\\.[^\"\\]*)*(?:\"|\Z)", re.DOTALL)
_FENCE: Final = re.compile(r"(?:```|~~~)\s*[A-Za-z0-9_+.-]*\s*\Z")
_QUOTED: Final = re.compile(r'(?<!\\)"(?:[^"\\]|\\.)*(?:"|\Z)', re.DOTALL)
"""A string, also one that was cut off: brackets in it hold nothing."""
_THOUGHT: Final = re.compile(r"</(?:think|thinking|thought|reasoning)>|<\|channel\|>\s*final", re.IGNORECASE)
_BEGUN_THOUGHT: Final = re.compile(r"\s*<(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_ASIDE: Final = re.compile(r"<!--.*?-->|/\*.*?\*/", re.DOTALL)
"""Comments of other languages: what stands in them is not the answer."""
_CURLY: Final = str.maketrans(dict.fromkeys("“”„‟", '"'))
_LONE_MEMBERS: Final = re.compile(r"""["'][^"'\n]{1,200}["']\s*:""")
_ESCAPED: Final = re.compile(r"[^{\[]{0,2000}[{\[](?:\s|\\[nt])*\\\"")
_HALF: Final = re.compile(r"\\u[dD][89a-fA-F]")


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonReading:
    """A value and all that was put right to read it. Not `complete`: the text ended early or left something out."""

    value: Any
    corrections: tuple[Correction, ...] = ()
    complete: bool = True
    at: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonReadings:
    """What was found, the best first; when that is nothing, `fault` says why in a sentence for the writer."""

    readings: tuple[JsonReading, ...]
    fault: str = ""


def read(text: str, accept: Callable[[Any], bool] | None = None) -> JsonReading | None:
    """The best reading that `accept` agrees to; a value alone in a list, an object or a string is tried without it."""
    found = look(text).readings
    if accept is None:
        return found[0] if found else None
    for reading in found:
        if accept(reading.value):
            return reading
    for reading in found:
        for inside in _unwrapped(reading):
            if accept(inside.value):
                return inside
    return _as_list(found, accept)


def _as_list(found: Sequence[JsonReading], accept: Callable[[Any], bool]) -> JsonReading | None:
    """Values one after the other, where a list of them is what was asked for."""
    ordered = sorted(found, key=lambda reading: reading.at)
    values = [reading.value for reading in ordered]
    if len(values) < 2 or len(values) >= READINGS_LIMIT or not accept(values):
        return None
    note = f"{len(values)} values stood one after the other; they are taken as a list"
    told = Correction(kind="several values", at=ordered[0].at, note=note)
    others = [one for reading in ordered for one in reading.corrections if one.kind != "several values"]
    complete = all(reading.complete for reading in ordered)
    return JsonReading(value=values, corrections=(told, *others), complete=complete, at=ordered[0].at)


def look(text: str) -> JsonReadings:
    trimmed = text.strip(_SPACES)
    if not trimmed:
        return JsonReadings(readings=(), fault="the answer is empty")
    strict = _strict(trimmed)
    if strict is not None:
        return JsonReadings(readings=(strict,))
    found = _written_otherwise(trimmed) or _search(trimmed)
    if found is None or not any(reading.complete for reading in found.readings):
        found = _last_resort(trimmed) or found
    return found or JsonReadings(readings=(), fault=_fault(trimmed))


def _strict(text: str) -> JsonReading | None:
    try:
        value, end, corrections = _decode(text, 0)
    except (ValueError, RecursionError):
        return None
    return JsonReading(value=value, corrections=corrections) if end == len(text) else None


def _decode(text: str, at: int) -> tuple[Any, int, tuple[Correction, ...]]:
    """Strict JSON from `at`. The last of two equal keys counts, and that is said."""
    corrections: list[Correction] = []

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) < len(pairs) and not corrections:
            note = "a key stands there twice; the last one counts"
            corrections.append(Correction(kind="repeated key", at=at, note=note))
        return made

    decoder = json.JSONDecoder(object_pairs_hook=members, parse_constant=_no_constant, parse_float=_finite)
    value, end = decoder.raw_decode(text, at)
    if _deep(value):
        raise ValueError("nested too deeply")
    if _HALF.search(text, at, end):
        value = _whole(value)
        corrections.append(Correction(kind="character", at=at, note="half of a surrogate pair may have been replaced"))
    return value, end, tuple(corrections)


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError("a number that is too large")
    return value


def _deep(value: Any) -> bool:
    """Level by level, so that a deep value costs no more than a flat one."""
    level: list[Any] = [value]
    for _ in range(DEPTH_LIMIT + 1):
        inner: list[Any] = []
        for one in level:
            if isinstance(one, dict):
                inner += [item for item in one.values() if isinstance(item, dict | list)]
            elif isinstance(one, list):
                inner += [item for item in one if isinstance(item, dict | list)]
        if not inner:
            return False
        level = inner
    return True


def _whole(value: Any) -> Any:
    if isinstance(value, str):
        return whole_text(value)
    if isinstance(value, list):
        return [_whole(item) for item in value]
    if isinstance(value, dict):
        return {whole_text(key): _whole(item) for key, item in value.items()}
    return value


@dataclass(frozen=True, slots=True)
class _Found:
    reading: JsonReading
    start: int
    end: int


def _search(text: str) -> JsonReadings | None:
    """Every value that begins with a bracket, then the order in which they are worth considering."""
    found, skipped = _all_values(text)
    if not found:
        return None
    thought = max((match.start() for match in _THOUGHT.finditer(text)), default=0)
    asides = _asides(text)
    # When the thinking never ends, what was thought last is nearest to an answer.
    onward = -1 if not thought and _BEGUN_THOUGHT.match(text) else 1
    order = sorted(range(len(found)), key=lambda index: (*_rank(found[index], text, thought, asides), onward * index))
    readings = []
    for index in order:
        one = found[index]
        around = list(skipped[:1])
        if len(found) > 1:
            note = f"{len(found)} values were found; this is number {index + 1}"
            around.append(Correction(kind="several values", at=one.start, note=note))
        elif not around and (one.start > 0 or one.end < len(text)):
            around.append(Correction(kind="around", at=one.start, note="there is other text around the value"))
        readings.append(replace(one.reading, corrections=(*one.reading.corrections, *around), at=one.start))
    return JsonReadings(readings=tuple(readings))


def _asides(text: str) -> list[tuple[int, int]]:
    return [match.span() for match in _ASIDE.finditer(text)] if "<!--" in text or "/*" in text else []


def _rank(one: _Found, text: str, thought: int, asides: list[tuple[int, int]]) -> tuple[bool, bool, int, bool]:
    """Said before thought, fenced before loose, objects before plain lists before empty ones, strict first."""
    value = one.reading.value
    if not value:
        kind = 2
    elif isinstance(value, dict) or any(isinstance(item, dict | list) for item in value):
        kind = 0
    else:
        kind = 1
    fenced = bool(_FENCE.search(text, max(0, one.start - 40), one.start))
    beside = one.end <= thought or any(start < one.start and one.end < end for start, end in asides[:READINGS_LIMIT])
    return beside, kind == 2 or not fenced, kind, bool(one.reading.corrections)


def _all_values(text: str) -> tuple[list[_Found], list[Correction]]:
    found: list[_Found] = []
    skipped: list[Correction] = []
    at, effort, tries, broken = 0, 4 * len(text) + 1000, STRICT_TRIES, 0
    while len(found) < READINGS_LIMIT and broken < BROKEN_LIMIT and (opening := _OPENING.search(text, at)):
        start = opening.start()
        try:
            one = _strict_at(text, start) if tries > 0 else None
            if one is None:
                tries -= 1
                one = _scanned_at(text, start)
        except NotJsonError as fault:
            end, walked = _broken_until(text, fault, effort)
            effort -= walked
            broken += 1
            at = max(end, start + 1)
            if not skipped:
                note = f"{text[start : min(at, start + 40)]!r} could not be read: {fault.why}"
                skipped.append(Correction(kind="skipped", at=start, note=note))
            continue
        at = one.end
        if one.reading.value or one.reading.complete:
            found.append(one)
    return found, skipped


def _strict_at(text: str, start: int) -> _Found | None:
    try:
        value, end, corrections = _decode(text, start)
    except (ValueError, RecursionError):
        return None
    return _Found(JsonReading(value=value, corrections=corrections), start, end)


def _scanned_at(text: str, start: int) -> _Found:
    scanned = scan(text, start)
    reading = JsonReading(value=scanned.value, corrections=scanned.corrections, complete=scanned.complete)
    return _Found(reading, start, scanned.end)


def _broken_until(text: str, fault: NotJsonError, effort: int) -> tuple[int, int]:
    """Where the value that could not be read ends, so that no piece of it is taken for the answer, and the walk there.

    When its brackets never close, it was no value but prose: the search goes on right behind the fault.
    """
    depth = fault.depth
    end = min(len(text), fault.at + max(effort, 0))
    for match in _BRACKET.finditer(text, fault.at, end):
        depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(match[0], 0)
        if depth == 0:
            return match.end(), match.end() - fault.at
    return fault.at, end - fault.at


def _written_otherwise(text: str) -> JsonReadings | None:
    """More ways to write it: all of it escaped once more, or for a web page, or without the outer braces."""
    again, note = "", ""
    if _ESCAPED.match(text):
        again = text.replace("\\n", "\n").replace('\\"', '"').replace("\\\\", "\\")
        note = "the value was escaped once more than it should be"
    elif "&quot;" in text and '"' not in text:
        again, note = html.unescape(text), "the value was escaped for a web page"
    elif _LONE_MEMBERS.match(text):
        again, note = "{" + text + ("" if text.endswith("}") else "}"), "the outer braces were missing"
    found = _search(again) if note else None
    if found is None:
        return None
    kind = Correction(kind="bracket" if "braces" in note else "escape", at=0, note=note)
    return JsonReadings(readings=tuple(replace(one, corrections=(kind, *one.corrections)) for one in found.readings))


def _last_resort(text: str) -> JsonReadings | None:
    """When nothing whole was read: the text written a little differently, as models sometimes do to all of it."""
    again: list[tuple[str, Correction]] = []
    if "{{" in text:
        less = text.replace("{{", "{").replace("}}", "}")
        again.append((less, Correction(kind="bracket", at=0, note="every brace was doubled")))
    if "<![CDATA[" in text:
        inside = text.replace("<![CDATA[", "").replace("]]>", "")
        again.append((inside, Correction(kind="around", at=0, note="the value stood in a CDATA section")))
    if ('\\"' in text or "\\n" in text) and not _is_open(_QUOTED.sub("", text)):
        less = text.replace("\\n", "\n").replace('\\"', '"')
        note = "the value was escaped once more than it should be"
        again.append((less, Correction(kind="escape", at=0, note=note)))
    if any(quote in text for quote in "“”„‟"):
        note = 'quotes must be ", not curly ones'
        again.append((text.translate(_CURLY), Correction(kind="quotes", at=0, note=note)))
    if _is_open(text):
        return None  # it was cut off: what could be read of it by guessing would pass for all of it
    for written, told in again:
        found = _search(written)
        if found is not None and found.readings[0].complete:
            return JsonReadings(
                readings=tuple(replace(one, corrections=(told, *one.corrections)) for one in found.readings)
            )
    return None


def _is_open(text: str) -> bool:
    return any(text.count(opened) > text.count(closed) for opened, closed in ("{}", "[]"))


def _fault(text: str) -> str:
    opening = _OPENING.search(text)
    if not opening:
        return "there is no JSON value in the answer"
    try:
        scan(text, opening.start())
    except NotJsonError as fault:
        line = text.count("\n", 0, fault.at) + 1
        column = fault.at - text.rfind("\n", 0, fault.at)
        return f"line {line}, column {column}: {fault.why}"
    return "the answer ends before its JSON value says anything"


def _unwrapped(reading: JsonReading) -> list[JsonReading]:
    value = reading.value
    if isinstance(value, str):
        note = "the value was written as a string"
        return [_without(inner, reading, note) for inner in look(value).readings if value.strip(_SPACES)[:1] in "{["]
    if isinstance(value, list) and len(value) == 1:
        return [_without(JsonReading(value=value[0]), reading, "the value was the only one in a list")]
    if isinstance(value, dict) and len(value) == 1:
        name, inside = next(iter(value.items()))
        return [_without(JsonReading(value=inside), reading, f"the value stood under {name!r}")]
    return []


def _without(inner: JsonReading, outer: JsonReading, note: str) -> JsonReading:
    """What was found inside, with the whole story of how it was reached."""
    unwrapped = Correction(kind="unwrapped", at=0, note=note)
    return JsonReading(
        value=inner.value,
        corrections=(*outer.corrections, unwrapped, *inner.corrections),
        complete=outer.complete and inner.complete,
    )
