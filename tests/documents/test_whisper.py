"""Transcripts in JSON: every shape gives the text that captions of the same talk give; what is none is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.documents.test_transcripts import TOKENS, refused, said, srt, stamp
from weft.documents import Document, DocumentError, read_document


def whisper(value: Any, name: str = "talk.json") -> Document:
    return read_document(json.dumps(value).encode(), name)


SEGMENTS = [
    (0.0, 2.5, f"{TOKENS} Good evening and welcome<|2.50|>"),
    (2.5, 4.0, " to the hall.<|endoftext|>"),
    (4.0, 5.0, " [BLANK_AUDIO]"),
    (7.0, 9.0, " Tonight we talk about R&amp;D."),
    (9.0, 9.98, " And so on."),
    (11.94, 12.34, " After a pause of 1.96 s."),
]


def each(shape: Callable[[float, float, str], dict[str, Any]]) -> list[dict[str, Any]]:
    return [shape(start, end, text) for start, end, text in SEGMENTS]


def milliseconds(seconds: float) -> int:
    return round(seconds * 1000)


def shapes() -> dict[str, Any]:
    pieces = each(lambda start, end, text: {"start": start, "end": end, "text": text})
    stamped = each(lambda start, end, text: {"timestamp": [start, end], "text": text})
    return {
        "whisper": {"text": "other text", "segments": [{**piece, "tokens": [1, 2]} for piece in pieces], "timings": {}},
        "a list": pieces,
        "a list of results": [{"segments": pieces[:2]}, {"segments": pieces[2:]}],
        "timestamp": {"segments": stamped},
        "chunks": {"text": "x", "chunks": stamped},
        "whisper.cpp": {
            "result": {"language": "en"},
            "transcription": each(
                lambda start, end, text: {
                    "offsets": {"from": milliseconds(start), "to": milliseconds(end)},
                    "text": text,
                }
            ),
        },
        "clock": {
            "segments": each(
                lambda start, end, text: {"start": stamp(start, "."), "end": stamp(end, ","), "text": text}
            )
        },
        "durations": each(lambda start, end, text: {"start": start, "duration": end - start, "text": text}),
        "events": {
            "events": each(
                lambda start, end, text: {
                    "tStartMs": milliseconds(start),
                    "dDurationMs": milliseconds(end - start),
                    "segs": [{"utf8": text}],
                }
            )
        },
        "words": {
            "segments": each(
                lambda start, end, text: {
                    "start": start,
                    "end": end,
                    "words": [{"word": f" {word}"} for word in text.split()],
                }
            )
        },
    }


@pytest.mark.parametrize("shape", shapes())
def test_the_same_talk_is_the_same_text_in_every_format(shape: str) -> None:
    expected = srt(*SEGMENTS)
    found = whisper(shapes()[shape])
    assert found.kind == "whisper"
    assert found.text == expected.text
    assert found.cues == expected.cues
    assert expected.text.count("\n\n") == 2


def test_the_kind_is_found_without_a_name() -> None:
    assert whisper({"segments": [{"start": 0, "end": 1, "text": "Hello."}]}, "-").kind == "whisper"


def test_results_that_each_begin_at_zero_keep_their_order() -> None:
    one = {"segments": [{"start": 0, "end": 1, "text": "One."}, {"start": 5, "end": 6, "text": "Two."}]}
    two = {"segments": [{"start": 0, "end": 1, "text": "Three."}]}
    assert whisper([one, two]).text.split() == ["One.", "Two.", "Three."]


def test_speakers_and_language_in_json() -> None:
    found = whisper(
        {
            "language": "de",
            "segments": [
                {"start": 0, "end": 1, "text": "Ja.", "speaker": "Ana"},
                {"start": 1, "end": 2, "text": "Nein.", "speaker": 1},
            ],
        }
    )
    assert found.language == "de"
    assert said(found) == [("Ana", "Ja."), ("Speaker 1", "Nein.")]


def test_other_ways_to_name_a_speaker_and_to_give_words() -> None:
    found = whisper(
        [
            {"start": "1.5", "speaker": {"name": "Ana"}, "transcript": "Yes."},
            {"start": True, "speaker_label": "Ben", "words": [{"word": "No"}, {"word": "way."}]},
        ]
    )
    assert found.text == "**Ana:** Yes.\n\n**Ben:** No way."
    assert [cue.start for cue in found.cues] == [1.5]
    assert "some of it has no times" in found.notes


def test_text_without_times() -> None:
    found = whisper({"text": "All of it.\nIn two lines."})
    assert found.text == "All of it. In two lines."
    assert found.cues == ()
    assert whisper({"text": "All of it.", "segments": [], "language": "en", "duration": 1.5}).text == "All of it."


def test_broken_times_lose_no_words() -> None:
    pieces = [
        {"start": "x", "end": None, "text": "One."},
        {"start": float("nan"), "text": "Two."},
        {"start": -5, "end": 1e308, "text": "Three."},
        {"start": 3, "end": 2, "text": "Four."},
        {"timestamp": [4.0, None], "text": "Five."},
        {"text": None},
        "six",
    ]
    found = whisper({"segments": pieces})
    assert found.text.split() == ["One.", "Two.", "Three.", "Four.", "Five."]
    assert [cue for cue in found.cues if cue.end < cue.start] == []


@pytest.mark.parametrize(
    "value",
    [
        {"name": "weft", "version": 1},
        [],
        {},
        [1, 2],
        {"segments": []},
        {"segments": [{"start": 1}]},
        {"text": ""},
        {"text": "#101010", "name": "Visual Studio", "paper": "#ffffff"},
        [[["x"]]],
    ],
)
def test_json_that_is_no_transcript_is_refused(value: Any) -> None:
    assert "is JSON, but no transcript" in refused(json.dumps(value).encode(), "package.json")


def test_broken_and_deep_json() -> None:
    assert "is broken JSON (line 2, column 1)" in refused(b'{"segments": [\n', "x.json")
    assert "nested too deeply" in refused(b'{"a":' * 100_000, "x.json")
    assert "is broken JSON" in refused(b'{"segments": [{"start": ' + b"9" * 5000 + b', "text": "x"}]}', "x.json")


def test_text_that_begins_with_a_bracket_is_text() -> None:
    assert read_document(b"[Sic] he wrote, and left. {Or so they say.}", "note.txt").kind == "text"


captions = st.lists(
    st.tuples(st.floats(0, 4000), st.floats(0, 20), st.text(st.characters(exclude_categories=["Cs"]), max_size=40)),
    min_size=1,
    max_size=12,
)


@given(captions)
def test_cues_always_point_at_their_words(parts: list[tuple[float, float, str]]) -> None:
    pieces = [{"start": start, "end": start + lasting, "text": text} for start, lasting, text in parts]
    try:
        found = whisper({"segments": pieces})
    except DocumentError:
        return
    end = 0
    for cue in found.cues:
        assert cue.offset >= end
        end = cue.offset + cue.length
        words = found.text[cue.offset : end]
        assert words.strip() == words != ""
        assert "\n\n" not in words
    assert end == len(found.text)
