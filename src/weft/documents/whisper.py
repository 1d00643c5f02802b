"""Transcripts in JSON, as Whisper and its relatives write them: pieces of text with the times between which they fall.

| shape | who writes it |
|---|---|
| `{text, segments: [{start, end, text, speaker?}]}`, or with `timestamp: [a, b]` | Whisper, WhisperX, WhisperKit |
| `{text, chunks: [{timestamp: [a, b], text}]}` | transformers |
| `{transcription: [{offsets: {from, to}, text}]}` (milliseconds) | whisper.cpp |
| `[{start, duration, text}]`, `{events: [{tStartMs, dDurationMs, segs}]}` | caption services |

JSON that is none of these is no document, and is refused by name: as text it would be a page of braces.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from weft.documents.cue_text import Caption
from weft.documents.document import Draft, RefusedError
from weft.documents.speech import speech_of

_LISTS: Final = ("segments", "chunks", "transcription", "events", "utterances", "results", "monologues")
_ONLY_TEXT: Final = frozenset(
    (
        "text",
        "title",
        "language",
        "language_code",
        "language_probability",
        "duration",
        "task",
        "usage",
        "logprobs",
        "model",
        "words",
    )
)
"""What stands beside a text without pieces. Other JSON has a `text` as well: a message, the colours of an editor."""
_CLOCK: Final = re.compile(r"(?:(\d{1,4}):)?(\d{1,3}):(\d{1,2}(?:[.,]\d{1,6})?)")
_NO_TRANSCRIPT: Final = "is JSON, but no transcript: it has no segments with text and times"
_HINT: Final = 'A transcript looks like {"segments": [{"start": 0.0, "end": 2.5, "text": "…"}]}'
_PIECES: Final = 1_000_000


def read_whisper(text: str) -> Draft:
    try:
        value = json.loads(text)
    except RecursionError as error:
        raise RefusedError("is JSON that is nested too deeply", _HINT) from error
    except ValueError as error:
        place = f" (line {error.lineno}, column {error.colno})" if isinstance(error, json.JSONDecodeError) else ""
        raise RefusedError(f"is broken JSON{place}", "Look whether it was cut off, and make it again") from error
    captions = list(_captions(value))[:_PIECES]
    whole = value if isinstance(value, dict) else {}
    if not captions:
        spoken = whole.get("text") if set(whole) <= _ONLY_TEXT | {*_LISTS} else None
        if not isinstance(spoken, str) or not spoken.strip():
            raise RefusedError(_NO_TRANSCRIPT, _HINT)
        captions = [Caption(None, None, line) for line in spoken.split("\n") if line.strip()]
    speech = speech_of(captions)
    return Draft(
        kind="whisper",
        text=speech.text,
        title=_text(whole, "title"),
        language=_language(whole) or speech.language,
        cues=speech.cues,
        notes=speech.notes,
        normal=True,
    )


def _captions(value: Any) -> Iterator[Caption]:
    """The pieces of a list, of the lists an object has, or of a list of such objects."""
    for item in value if isinstance(value, list) else [value]:
        if not isinstance(item, dict):
            continue
        inner = next((item[name] for name in _LISTS if isinstance(item.get(name), list) and item[name]), None)
        if inner is None:
            caption = _caption(item) if isinstance(value, list) else None
            if caption:
                yield caption
            continue
        pieces = (_caption(piece) for piece in inner if isinstance(piece, dict))
        yield from (piece for piece in pieces if piece)


def _caption(piece: Mapping[str, Any]) -> Caption | None:
    text = _said(piece)
    if text is None:
        return None
    start, end = _times(piece)
    return Caption(start, end if start is not None else None, text, _speaker(piece))


def _said(piece: Mapping[str, Any]) -> str | None:
    for name in ("text", "transcript", "content", "utf8"):
        if isinstance(piece.get(name), str):
            return str(piece[name])
    for name in ("segs", "words", "tokens"):
        parts = piece.get(name)
        if isinstance(parts, list):
            words = [_word(part) for part in parts if isinstance(part, dict)]
            if any(words):
                return (
                    "".join(words) if any(word.startswith(" ") for word in words) or name == "segs" else " ".join(words)
                )
    return None


def _word(part: Mapping[str, Any]) -> str:
    return next((part[name] for name in ("utf8", "word", "text") if isinstance(part.get(name), str)), "")


def _times(piece: Mapping[str, Any]) -> tuple[float | None, float | None]:
    for name, scale in (("timestamp", 1.0), ("timestamps", 1.0), ("offsets", 1000.0)):
        pair = piece.get(name)
        if isinstance(pair, list) and pair:
            return _scaled(pair[0], scale), _scaled(pair[1], scale) if len(pair) > 1 else None
        if isinstance(pair, dict):
            begin, end = pair.get("from", pair.get("start")), pair.get("to", pair.get("end"))
            if _scaled(begin, scale) is not None:
                return _scaled(begin, scale), _scaled(end, scale)
        if isinstance(pair, str | int | float):
            return _scaled(pair, scale), None
    if "tStartMs" in piece:
        start, lasting = _scaled(piece["tStartMs"], 1000.0), _scaled(piece.get("dDurationMs"), 1000.0)
    else:
        start = next(
            (found for name in ("start", "start_time", "t0") if (found := _scaled(piece.get(name), 1.0)) is not None),
            None,
        )
        end = next(
            (found for name in ("end", "end_time", "t1") if (found := _scaled(piece.get(name), 1.0)) is not None), None
        )
        if end is not None:
            return start, end
        lasting = _scaled(piece.get("duration", piece.get("dur")), 1.0)
    return start, start + lasting if start is not None and lasting is not None else None


def _scaled(value: Any, scale: float) -> float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        try:
            number = float(value)
        except OverflowError:
            return None
        return number / scale if math.isfinite(number) and 0 <= number < 1e9 else None
    if isinstance(value, str):
        found = _CLOCK.fullmatch(value.strip())
        if found:
            return int(found[1] or 0) * 3600 + int(found[2]) * 60 + float(found[3].replace(",", "."))
        try:
            return _scaled(float(value), scale)
        except ValueError:
            return None
    return None


def _speaker(piece: Mapping[str, Any]) -> str:
    speaker = piece.get("speaker", piece.get("speaker_label", ""))
    if isinstance(speaker, dict):
        speaker = speaker.get("name", "")
    return f"Speaker {speaker}" if isinstance(speaker, int) and not isinstance(speaker, bool) else _as_text(speaker)


def _language(whole: Mapping[str, Any]) -> str:
    result = whole.get("result")
    return _text(whole, "language") or (_text(result, "language") if isinstance(result, dict) else "")


def _text(value: Mapping[str, Any], name: str) -> str:
    return _as_text(value.get(name))


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else ""
