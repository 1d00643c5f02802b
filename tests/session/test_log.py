"""The log's file: whole decisions in, whole decisions out, whatever happens to the bytes."""

from __future__ import annotations

import os
import random
import zlib
from collections.abc import Iterator
from dataclasses import fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.lanes import lives
from weft.files import Disk, Folder
from weft.protocol import events as e
from weft.protocol.errors import ExternalError, Finding
from weft.protocol.events import DurableEvent, Record
from weft.protocol.gates import Choice
from weft.protocol.hashes import hash_bytes
from weft.session.codec import DamagedLineError, LogLine, decode, decode_many, encode
from weft.session.log import LOG, LogHead, LogReader, LogWriter
from weft.session.upcast import UPCASTERS


def now() -> datetime:
    return datetime(2026, 1, 2, 3, 4, 5, 678_000, UTC)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Folder]:
    with Folder.open(tmp_path) as folder:
        yield folder


def skipped(*steps: str) -> list[DurableEvent]:
    return [e.StepSkipped(run=1, step=step, reason="up to date") for step in steps]


def write(folder: Folder, *decisions: list[DurableEvent]) -> bytes:
    log = LogWriter(folder, now, LogHead())
    for decision in decisions:
        log.append(decision)
    log.close()
    return folder.read(LOG)


def read(folder: Folder) -> tuple[list[str], LogReader]:
    reader = LogReader(folder)
    return [getattr(record.event, "step", "?") for record in reader.read()], reader


def test_a_line_reads_like_a_sentence(folder: Folder) -> None:
    first, second = write(folder, skipped("one"), skipped("two")).splitlines(keepends=True)
    assert first == (
        b'{"seq":1,"at":"2026-01-02T03:04:05.678Z","version":3,"envelope":{"epoch":1},"type":"step_skipped","run":1,'
        b'"step":"one","reason":"up to date","crc":"' + first[-11:-3] + b'"}\n'
    )
    assert second == (
        b'{"seq":2,"at":"2026-01-02T03:04:05.678Z","envelope":{"prev":"' + hash_bytes(first).encode() + b'","epoch":1},'
        b'"type":"step_skipped","run":1,"step":"two","reason":"up to date","crc":"' + second[-11:-3] + b'"}\n'
    )


def test_a_decision_of_nothing_leaves_the_chain_whole(folder: Folder) -> None:
    write(folder, skipped("one"), [], skipped("two"))
    steps, reader = read(folder)
    assert (steps, reader.damage) == (["one", "two"], [])


def test_sequence_numbers_have_no_gap_over_several_writers(folder: Folder) -> None:
    write(folder, skipped("a"), skipped("b", "c"))
    _, reader = read(folder)
    log = LogWriter(folder, now, reader.head)
    assert [record.seq for record in log.append(skipped("d", "e"))] == [4, 5]
    log.close()
    assert read(folder)[0] == ["a", "b", "c", "d", "e"]


@pytest.mark.parametrize("cut", range(1, 400, 7))
def test_every_cut_of_the_tail_drops_whole_decisions(folder: Folder, cut: int) -> None:
    first = write(folder, skipped("a"))
    (folder.path / LOG).unlink()
    whole = write(folder, skipped("a"), skipped("b", "c", "d"))
    if len(first) + cut >= len(whole):
        pytest.skip("nothing cut off")
    (folder.path / LOG).write_bytes(whole[: len(first) + cut])
    steps, reader = read(folder)
    assert steps == ["a"]
    assert reader.damage == []
    assert reader.end == len(first)
    assert reader.torn == whole[len(first) : len(first) + cut]


def test_pages_lost_inside_the_last_decision_make_a_torn_tail_not_damage(folder: Folder) -> None:
    first = write(folder, skipped("a"))
    (folder.path / LOG).unlink()
    whole = bytearray(write(folder, skipped("a"), skipped("b", "c", "d")))
    second_line_end = whole.index(b"\n", len(first)) + 1
    whole[len(first) + 5 : second_line_end - 10] = b"\0" * (second_line_end - 15 - len(first))
    (folder.path / LOG).write_bytes(bytes(whole))
    steps, reader = read(folder)
    assert (steps, reader.damage, reader.end) == (["a"], [], len(first))


@given(position=st.integers(0, 10_000), bit=st.integers(0, 7))
@pytest.mark.lives
@settings(max_examples=lives(200, 2000), deadline=None)
def test_any_flipped_bit_is_seen(tmp_path_factory: pytest.TempPathFactory, position: int, bit: int) -> None:
    path = tmp_path_factory.mktemp("log")
    with Folder.open(path) as folder:
        whole = bytearray(write(folder, skipped("a"), skipped("b"), skipped("c", "d"), skipped("e")))
        position %= len(whole)
        whole[position] ^= 1 << bit
        (path / LOG).write_bytes(bytes(whole))
        steps, reader = read(folder)
        assert reader.damage or reader.torn, f"byte {position}, bit {bit} went unseen: {steps}"
        assert set(steps) <= {"a", "b", "c", "d", "e"}


def test_damage_in_the_middle_is_named_by_line_and_reading_goes_on(folder: Folder) -> None:
    lines = write(folder, skipped("a"), skipped("b"), skipped("c")).splitlines(keepends=True)
    (folder.path / LOG).write_bytes(lines[0] + b"rubbish\n" + lines[2])
    steps, reader = read(folder)
    assert steps == ["a", "c"]
    assert [damage.line for damage in reader.damage] == [2, 3]
    assert "not JSON" in reader.damage[0].reason
    assert "expected seq 2, found 3" in reader.damage[1].reason
    assert reader.torn == b""


def test_a_decision_that_lost_its_end_in_the_middle_still_tells_what_it_has(folder: Folder) -> None:
    lines = write(folder, skipped("a", "b"), skipped("c", "d"), skipped("e")).splitlines(keepends=True)
    (folder.path / LOG).write_bytes(lines[0] + lines[2] + lines[3] + lines[4])
    steps, reader = read(folder)
    assert steps == ["a", "c", "d", "e"]
    assert any("the end of this decision is missing" in damage.reason for damage in reader.damage)
    assert reader.end == len((folder.path / LOG).read_bytes())


def test_a_repeated_line_counts_once(folder: Folder) -> None:
    lines = write(folder, skipped("a"), skipped("b")).splitlines(keepends=True)
    (folder.path / LOG).write_bytes(lines[0] + lines[0] + lines[1])
    steps, reader = read(folder)
    assert steps == ["a", "b"]
    assert "expected seq 2, found 1" in reader.damage[0].reason


def test_a_reader_follows_a_writer_and_never_sees_half_a_decision(folder: Folder) -> None:
    log = LogWriter(folder, now, LogHead())
    reader = LogReader(folder)
    log.append(skipped("a"))
    assert [record.seq for record in reader.read()] == [1]
    before = folder.read(LOG)
    log.append(skipped("b", "c"))
    whole = folder.read(LOG)
    (folder.path / LOG).write_bytes(whole[: whole.index(b"\n", len(before)) + 1])
    assert list(reader.read()) == []
    (folder.path / LOG).write_bytes(whole)
    assert [record.seq for record in reader.read()] == [2, 3]
    assert list(reader.read()) == []
    assert reader.damage == []
    log.close()


class Unwilling(Disk):
    """Refuses the sync or cuts the write, once."""

    def __init__(self, fault: str) -> None:
        super().__init__()
        self.fault = fault

    def write(self, fd: int, data: bytes) -> None:
        if self.fault == "write" and data.startswith(b'{"seq":2'):
            os.write(fd, data[:11])
            raise OSError(28, "No space left on device")
        super().write(fd, data)

    def fdatasync(self, fd: int) -> None:
        if self.fault == "sync" and os.fstat(fd).st_size > 250:
            raise OSError(5, "Input/output error")
        super().fdatasync(fd)


@pytest.mark.parametrize("fault", ["write", "sync"])
def test_a_failed_append_is_taken_back_and_the_writer_stops(tmp_path: Path, fault: str) -> None:
    with Folder.open(tmp_path, Unwilling(fault)) as folder:
        log = LogWriter(folder, now, LogHead())
        log.append(skipped("a"))
        before = folder.read(LOG)
        with pytest.raises(ExternalError, match=r"can't write .*log\.jsonl"):
            log.append(skipped("b"))
        assert folder.read(LOG) == before
        with pytest.raises(ExternalError, match="writes no more"):
            log.append(skipped("c"))
        log.close()


SAMPLES: dict[str, Any] = {
    "FilesRestored.files": {"notes.md": "ab"},
    "before": {"notes.md": "ab"},
    "after": {"notes.md": "ab"},
    "ConversationRewound.files": {"notes.md": "ab"},
    "PlanDecided.decision": "amended",
    "GateOpened.before": True,
    "choices": (Choice("shorter", "Make it shorter", "amend", {"words": 100}), Choice("go", "Go", "proceed")),
    "float": 2.5,
    "StopReason | None": "end",
    "str": "text é \u2028 🌊",
    "int": 7,
    "bool": True,
    "findings": (Finding("a.json", "/x", "bad", "do"),),
    "steps": ("a", "b"),
    "notes": ("n",),
    "inputs": {"input:source": "ab12"},
    "parameters": {"n": [1, None, 2.5]},
    "chosen": {"n": 1},
    "profile": {"style.tone": "expert"},
    "originals": {"original.pdf": "cd34"},
    "cause": "retry",
    "kind": "timeout",
    "outcome": "failed",
    "content": "line\r\nline",
    "str | None": "text é",
    "int | None": 4,
    "tuple[str, ...]": ("a", "b"),
    "tuple[Mapping[str, Any], ...]": ({"text": "hm", "signature": "s"},),
    "input": {"path": "a.md", "lines": [1, 2]},
    "InputRecorded.input": "source",
    "usage": {"input": 12},
    "results": {"a": "succeeded"},
    "delivery": "queued",
    "origin": "person",
    "InputRecorded.origin": "/home/ada/poem.txt",
    "IntentRecorded.kind": "tool",
    "verdict": "ask",
    "decision": "session",
    "effect": "unknown",
    "disposition": "continue",
    "refusal": "stale_settlement",
    "budget": {"usd": 2.5},
    "known": 19,
    "requires": {"b": ["a"]},
    "executors": {"a": "code"},
    "labels": {"topic": "tides", "urgent": ""},
    "bool | None": True,
    "ToolSettled.seen": {"notes.md": "ab12"},
    "limits": {"turns": 3.0},
    "limit": "turns",
    "lost": ("log.jsonl line 3: gone",),
    "does": "amend",
    "by": "answer",
    "GateResolved.choice": "shorter",
    "meaning": "breakout",
    "ReplyClassified.choice": "proceed",
    "choice": "leave",
    "ConfirmationAsked.kind": "breakout",
    "to": "run",
    "setting": "mode",
    "RoundStarted.kind": "repair",
    "VerdictGiven.verdict": "not_checked",
    "answers": {"review": "proceed"},
    "VerdictGiven.claims": {"quoted": 2},
    "VerdictOverruled.was": "not_checked",
    "VerdictOverruled.verdict": "judged",
    "feedback": [{"sentence": 1}, None],
    "by_model": {"work/large": {"input": 12}},
    "CallSettled.kind": "model",
    "stop": "max_tokens",
}


@pytest.mark.parametrize("cls", get_args(e.DurableEvent), ids=lambda cls: cls.__name__)
def test_every_event_survives_the_file(cls: Any) -> None:
    values = {}
    for field in fields(cls):
        if field.name != "type":
            own = SAMPLES.get(f"{cls.__name__}.{field.name}")
            values[field.name] = own or SAMPLES.get(field.name, SAMPLES.get(str(field.type)))
            assert values[field.name] is not None, f"no sample for {cls.__name__}.{field.name}: {field.type}"
    if "artifact" in values and "findings" in values:
        values["artifact"] = "a.json"
    event = cls(**values)
    record = Record(3, "2026-01-02T03:04:05.678Z", event)
    assert decode(encode(record)).record == record


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"[]", "not a JSON object"),
        (b'{"at":"x","type":"step_skipped"}', "no valid seq"),
        (b'{"seq":0,"at":"x","type":"step_skipped"}', "no valid seq"),
        (b'{"seq":true,"at":"x","type":"step_skipped"}', "no valid seq"),
        (b'{"seq":1,"at":"x"}', "unknown event type None"),
        (b'{"seq":1,"at":"x","type":"made_up"}', "unknown event type 'made_up'"),
        (b'{"seq":1,"at":"x","type":"step_progressed","step":"a","attempt":1,"text":""}', "unknown event type"),
        (b'{"seq":1,"at":"x","type":"step_skipped","run":1,"step":"a"}', "reason"),
        (b'{"seq":1,"at":"x","type":"step_skipped","run":1,"step":"a","reason":"r","more":1}', "no field 'more'"),
        (b'{"seq":1,"at":"x","type":"step_skipped","run":"1","step":"a","reason":"r"}', "wrong type in 'run'"),
        (b'{"seq":1,"at":"x","type":"run_ended","run":1,"outcome":"fine"}', "wrong type in 'outcome'"),
        (b'{"seq":1,"at":"x","part":[3,2],"type":"run_ended","run":1,"outcome":"done"}', "part is"),
        (b'{"seq":1,"at":"x","part":"1/2","type":"run_ended","run":1,"outcome":"done"}', "part is"),
    ],
)
def test_the_decoder_never_guesses(line: bytes, reason: str) -> None:
    with pytest.raises(DamagedLineError, match=reason.replace("[", r"\[")):
        decode(line)


def test_an_upcaster_lifts_an_older_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def lift(raw: dict[str, Any]) -> dict[str, Any]:
        return {"type": "step_skipped", "run": raw["run"], "step": raw["name"], "reason": "up to date"}

    monkeypatch.setitem(UPCASTERS, "step_left_out", lift)
    line = b'{"seq":1,"at":"x","type":"step_left_out","run":2,"name":"a"}'
    assert decode(line).record.event == e.StepSkipped(run=2, step="a", reason="up to date")


def test_a_verifier_of_an_older_log_that_could_not_check_has_not_checked() -> None:
    line = b'{"seq":1,"at":"x","type":"verdict_given","run":1,"step":"v","attempt":1,"verdict":"%s","round":0,"most":2'
    older, same = line % b"not_verified", line % b"failed"
    sealed = b'%s,"crc":"%08x"}\n' % (older, zlib.crc32(older))
    given = e.VerdictGiven(run=1, step="v", attempt=1, verdict="not_checked", round=0, most=2)
    assert decode(older + b"}").record.event == given
    assert [one.record.event for one in decode_many([sealed, sealed]) if isinstance(one, LogLine)] == [given, given]
    assert decode(same + b"}").record.event == replace(given, verdict="failed")


def test_random_cuts_and_appends_never_lose_an_acknowledged_decision(folder: Folder) -> None:
    """Crash after crash: what append returned for is always there afterwards, in order."""
    rng = random.Random(7)
    acknowledged: list[str] = []
    for round_number in range(60):
        steps, reader = read(folder)
        assert steps == acknowledged
        log = LogWriter(folder, now, reader.head)
        for count in range(rng.randint(0, 3)):
            names = [f"s{round_number}-{count}-{i}" for i in range(rng.randint(1, 3))]
            log.append(skipped(*names))
            acknowledged += names
        log.close()
        if rng.random() < 0.7:
            torn = encode(Record(reader.seq + 9, "x", skipped("torn")[0]), 1, 2)
            with open(folder.path / LOG, "ab") as file:
                file.write(torn[: rng.randint(1, len(torn))])
