"""A conversation that is opened from a snapshot is the one that the whole log adds up to, and goes on as if it were."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.conversation.test_runtime import call, played, quick, session_in
from weft.conversation.conversation import Conversation, Folds
from weft.conversation.ports import SessionJournal
from weft.conversation.projections import StatusProjection, Transcripts, replay
from weft.conversation.state import State, evolve
from weft.protocol.events import Record
from weft.session import session as session_module
from weft.session.snapshot import SNAPSHOT
from weft.testing.stand_ins import ScriptedModel, ScriptedTools, calling, ports, saying


def whole(journal: SessionJournal) -> tuple[State, StatusProjection, Transcripts, list[Record]]:
    """What the log adds up to, read from its start."""
    state, status, transcripts = State("main"), StatusProjection("main"), Transcripts("main")
    records = list(journal.read())
    for record in records:
        evolve(state, record.event)
    replay((status, transcripts), records)
    return state, status, transcripts, records


@pytest.mark.parametrize("lives", [1, 4])
def test_it_is_the_fold_of_the_whole_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lives: int) -> None:
    monkeypatch.setattr(session_module, "SNAPSHOT_EVERY", 1)
    reads: list[int] = []
    read = SessionJournal.read

    def counting(self: SessionJournal, after: int = 0) -> Any:
        reads.append(after)
        return read(self, after)

    async def story(number: int) -> None:
        answers: list[Any] = [calling(call(f"c{number}", "count"), text="Let me see."), saying(f"It is {number}.")]
        model = ScriptedModel(answers)
        with session_in(tmp_path) as session:
            journal = SessionJournal(session)
            start = Folds.kept(journal, "main")
            assert (start is None) == (number == 0)
            if start is not None:
                state, status, transcripts, records = whole(journal)
                assert start.state == state
                assert start.transcripts._each == transcripts._each
                assert replace(start.status, checkpoint=0) == replace(status, checkpoint=0)
                assert start.seq == session.state.seq >= records[-1].seq
            reads.clear()
            talk = await Conversation.open(journal, ports(model, ScriptedTools({"count": quick()})))
            assert reads == [start.seq if start else 0]
            talk.say(f"question {number}")
            await talk.idle()
            assert len(model.requests[1].messages) == 4 * (number + 1) - 1, "the model is told all that was said"
            await talk.shutdown(5)
        assert (tmp_path / "sessions/talk" / SNAPSHOT).exists()

    monkeypatch.setattr(SessionJournal, "read", counting)
    for number in range(lives):
        played(partial(story, number))


def test_what_is_decided_and_not_yet_written_is_not_saved(tmp_path: Path) -> None:
    async def story() -> None:
        with session_in(tmp_path) as session:
            talk = await Conversation.open(SessionJournal(session), ports(ScriptedModel([saying("yes")])))
            fold = session._folds["main state"]
            assert fold() is talk.state
            talk.say("well?")
            assert fold() is None
            await talk.idle()
            assert fold() is talk.state
            await talk.shutdown(5)

    played(story)
