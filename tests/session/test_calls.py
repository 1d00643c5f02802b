"""What the calls of an attempt used, in the log, the fold and after a crash."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from weft.files import Folder
from weft.models.budget import Ledger
from weft.protocol.call_events import CallKind, CallSettled
from weft.protocol.events import DurableEvent, RunStarted, SessionCreated, StepCompleted, StepInterrupted, StepStarted
from weft.protocol.hashes import hash_bytes
from weft.session.log import LogReader
from weft.session.session import Session
from weft.session.state import fold
from weft.session.transitions import IllegalEventError
from weft.session.verify import verify


def now() -> datetime:
    return datetime(2026, 1, 2, tzinfo=UTC)


def opened(path: Path) -> Session:
    above = Folder.open(path)
    return Session.open(above.folder("sessions", create=True), "s-1", now, create=True)


BEGUN: tuple[DurableEvent, ...] = (
    SessionCreated(session="s-1", pipeline="p", weft="0"),
    RunStarted(run=1, pipeline="p", steps=("one", "two"), desired="two", parameters={}),
    StepStarted(run=1, step="one", attempt=1, cause="first", reason="", input_hash="", inputs={}),
)


def settled(
    call: str,
    *,
    model: str | None = "a",
    tokens: int = 5,
    parent: str = "",
    kind: CallKind = "model",
    data: bytes = b"",
) -> CallSettled:
    return CallSettled(
        run=1,
        step="one",
        attempt=1,
        call=call,
        kind=kind,
        name=model or "Read",
        ms=10,
        ok=True,
        parent=parent,
        model=model,
        usage={"input": tokens} if tokens else {},
        request=hash_bytes(data) if data else "",
    )


def test_a_killed_process_leaves_what_was_used_by_model_and_it_is_counted_once(tmp_path: Path) -> None:
    with opened(tmp_path) as session:
        session.record(BEGUN)
        session.record([settled("2", parent="1")])
        session.record([settled("3", parent="1", kind="tool", model=None, tokens=0)])
        session.record([settled("4", parent="1", model="b", tokens=7)])
    with opened(tmp_path) as again:
        (interrupted,) = [
            record.event for record in LogReader(again.folder).read() if isinstance(record.event, StepInterrupted)
        ]
        assert interrupted.usage == {"input": 12}
        assert interrupted.model == "a"
        assert interrupted.by_model == {"a": {"input": 5}, "b": {"input": 7}}
        assert interrupted.ms == 30
        assert again.state.run is not None
        assert again.state.run.spent["one"].usage == {"a": {"input": 5}, "b": {"input": 7}}
        assert again.state.steps["one"].calls == ()
        assert fold(LogReader(again.folder).read()) == again.state
        spent = Ledger.of(again.state.run.spent).spent(["one"], _price)
        assert (spent.usd, spent.tokens, spent.ms) == (Decimal(19), 12, 30)


def _price(model: str, usage: object) -> Decimal:
    return {"a": Decimal(5), "b": Decimal(14)}[model]


def test_the_ledger_of_a_run_and_the_fold_of_its_log_agree(tmp_path: Path) -> None:
    used = {"a": {"input": 5}, "b": {"input": 7}}
    done = StepCompleted(
        run=1, step="one", attempt=1, hash="", schema_version="", ms=9, model="a", usage={"input": 12}, by_model=used
    )
    with opened(tmp_path) as session:
        session.record(BEGUN)
        session.record([settled("1"), settled("2", model="b", tokens=7), done])
        assert session.state.run is not None
        live = Ledger().with_attempt("one", "a", {"input": 12}, 9, used)
        assert Ledger.of(session.state.run.spent) == live


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: settled("1"),
        lambda: CallSettled(run=1, step="two", attempt=1, call="1", kind="tool", name="Read", ms=1, ok=True),
        lambda: CallSettled(run=1, step="one", attempt=2, call="1", kind="tool", name="Read", ms=1, ok=True),
    ],
)
def test_a_call_of_an_attempt_that_is_not_open_is_refused(tmp_path: Path, wrong: Callable[[], CallSettled]) -> None:
    event = wrong()
    with opened(tmp_path) as session:
        session.record(BEGUN)
        if (event.step, event.attempt) == ("one", 1):
            session.record([StepInterrupted(run=1, step="one", attempt=1, why="x")])
        with pytest.raises(IllegalEventError, match="is not open"):
            session.record([event])


def test_what_was_asked_is_durable_with_the_call_and_missed_when_it_is_gone(tmp_path: Path) -> None:
    with opened(tmp_path) as session:
        session.record(BEGUN)
        session.record([settled("1", data=b"the prompt")], blobs=[b"the prompt"])
        assert session.folder.read(f"blobs/{hash_bytes(b'the prompt')}") == b"the prompt"
        assert verify(session.folder).faults == []
    blob = tmp_path / "sessions/s-1/blobs" / hash_bytes(b"the prompt")
    blob.unlink()
    with Folder.open(tmp_path / "sessions/s-1") as folder:
        (fault,) = verify(folder).faults
    assert "what a was asked (seq 4) is lost" in fault
