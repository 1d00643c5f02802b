"""What every program with a loop of its own must do behind our port, as plain checks: run each of `RUNTIME_CONFORMANCE`
with a stage for the program.

A stage connects the real program to a server on loopback that lets it act: say something, run a command, write a file.
`tests/e2e/test_runtime_conformance.py` runs all of them; what only one program can do has tests of its own.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.doors import OpenConversation, talk_in
from tests.e2e.agents import at_work_in
from tests.made import lay_out
from weft.app import App
from weft.models.file_making import FileMakingModel, FilesRequest
from weft.models.model import Request
from weft.protocol import conversation_events as t
from weft.protocol.errors import Finding
from weft.protocol.events import Record
from weft.protocol.messages import Message, Text
from weft.testing.wire import Called, Reply, Wire, WireServer

SECONDS = 200


@dataclass(frozen=True, slots=True)
class RuntimeStage:
    """A program: how it is connected, what it is told by, and how its model has it act."""

    name: str
    wire: Wire
    table: Callable[[str, Path], Mapping[str, Any]]
    """Its `[models.other]` for a server's address; the folder it works in may get settings of its own."""
    runs: Callable[[str], Called]
    writes: Callable[[str, str], Called]
    model: str = "other"
    asides: tuple[Reply, ...] = ()
    """What it asks its model first, on its own account."""


@dataclass(frozen=True, slots=True)
class OpenStage:
    stage: RuntimeStage
    workspace: Path
    desk: Path
    server: WireServer

    @asynccontextmanager
    async def talk(self) -> AsyncIterator[OpenConversation]:
        with App.open(self.workspace) as app:
            app.consents.ask = lambda request: True
            async with talk_in(app, session="the-talk", model=self.stage.model, working=self.desk) as talk:
                yield talk
                await talk.shutdown()

    async def log(self, kind: type[Any]) -> list[Any]:
        with App.open(self.workspace) as app:
            return [one.event for one in app.sessions.records("the-talk") if isinstance(one.event, kind)]


RuntimeCheck = Callable[["RuntimeStage", Path], Coroutine[Any, Any, None]]


@asynccontextmanager
async def opened(stage: RuntimeStage, place: Path, replies: Sequence[Reply]) -> AsyncIterator[OpenStage]:
    workspace, desk = place / "workspace", place / "desk"
    workspace.mkdir()
    desk.mkdir()
    lay_out(workspace)
    async with asyncio.timeout(SECONDS), WireServer(stage.wire, [*stage.asides, *replies]) as server:
        table = [f"{key} = {json.dumps(value)}" for key, value in stage.table(server.url, desk).items()]
        (workspace / "config.toml").write_text("\n".join(["[models.other]", *table, ""]))
        yield OpenStage(stage, workspace, desk, server)


async def asked(talk: OpenConversation) -> t.ApprovalRequested:
    async for item in talk.events():
        if isinstance(item, Record) and isinstance(item.event, t.ApprovalRequested):
            while talk.engine.status != "awaiting_approval":
                await asyncio.sleep(0.01)
            return item.event
    raise AssertionError("nothing was asked")


async def its_answer_is_a_turn(stage: RuntimeStage, place: Path) -> None:
    async with opened(stage, place, [Reply(text="Low tide is at six.")]) as open_stage:
        async with open_stage.talk() as talk:
            await talk.say("when?")
            await talk.idle()
        (settled,) = await open_stage.log(t.ModelSettled)
        assert (settled.outcome, settled.text) == ("completed", "Low tide is at six.")


async def what_is_approved_is_run(stage: RuntimeStage, place: Path) -> None:
    replies = [Reply(calls=(stage.runs("touch ran.txt"),)), Reply(text="It ran.")]
    async with opened(stage, place, replies) as open_stage:
        async with open_stage.talk() as talk:
            await talk.say("touch it")
            question = await asked(talk)
            assert question.tool == "Shell"
            assert not (open_stage.desk / "ran.txt").exists()
            await talk.approve(question.call, "once")
            await talk.idle()
        assert (open_stage.desk / "ran.txt").exists()
        assert [one.outcome for one in await open_stage.log(t.ToolSettled)] == ["succeeded"]


async def what_is_denied_is_not_run(stage: RuntimeStage, place: Path) -> None:
    replies = [Reply(calls=(stage.runs("touch ran.txt"),)), Reply(text="Then not.")]
    async with opened(stage, place, replies) as open_stage:
        async with open_stage.talk() as talk:
            await talk.say("touch it")
            await talk.approve((await asked(talk)).call, "denied")
            await talk.idle()
        assert not (open_stage.desk / "ran.txt").exists()
        assert [one.outcome for one in await open_stage.log(t.ToolSettled)] == ["denied"]


async def a_stop_ends_all_that_it_started(stage: RuntimeStage, place: Path) -> None:
    command = "echo begun > begun.txt; sleep 300"
    replies = [Reply(calls=(stage.runs(command),)), *stage.asides, Reply(text="I am back.")]
    async with opened(stage, place, replies) as open_stage:
        async with open_stage.talk() as talk:
            await talk.say("wait for it")
            await talk.approve((await asked(talk)).call, "once")
            while not (open_stage.desk / "begun.txt").exists():
                await asyncio.sleep(0.05)
            assert talk.interrupt() == "accepted"
            await talk.idle()
            for _ in range(400):  # they are told to end, and need a moment
                if not at_work_in(open_stage.desk):
                    break
                await asyncio.sleep(0.05)
            assert not at_work_in(open_stage.desk)
            await talk.say("are you there?")
            await talk.idle()
        assert (await open_stage.log(t.ModelSettled))[-1].text == "I am back."


async def it_goes_on_after_its_process_ended(stage: RuntimeStage, place: Path) -> None:
    replies = [Reply(text="I will keep it in mind."), *stage.asides, Reply(text="Heron.")]
    async with opened(stage, place, replies) as open_stage:
        for words in ("the word is heron", "which word?"):
            async with open_stage.talk() as talk:
                await talk.say(words)
                await talk.idle()
        assert "the word is heron" in json.dumps(open_stage.server.seen[-1].body)


async def its_environment_is_clean(stage: RuntimeStage, place: Path) -> None:
    os.environ["A_SECRET_OF_THE_TEST"] = "sk-ambient-0123456789abcdef"
    try:
        replies = [Reply(calls=(stage.runs("env > seen.txt"),)), Reply(text="Seen.")]
        async with opened(stage, place, replies) as open_stage:
            async with open_stage.talk() as talk:
                await talk.say("look around")
                await talk.approve((await asked(talk)).call, "once")
                await talk.idle()
            seen = (open_stage.desk / "seen.txt").read_text()
            assert "PATH=" in seen
            assert "A_SECRET_OF_THE_TEST" not in seen
    finally:
        del os.environ["A_SECRET_OF_THE_TEST"]


async def files_of_a_step_are_judged_as_written(stage: RuntimeStage, place: Path) -> None:
    """Told what is wrong, it writes another; what does not pass is no result."""

    def judge(_: str, data: bytes) -> list[Finding]:
        return [] if data == b"LOW TIDE\n" else [Finding("made.txt", "", "is not loud", "write it in capitals")]

    words = Message(role="user", content=(Text(text="Write made.txt."),))
    wrong, right = (Reply(calls=(stage.writes("made.txt", text),)) for text in ("low tide\n", "LOW TIDE\n"))
    replies = [wrong, Reply(text="Written."), right, Reply(text="In capitals now.")]
    async with opened(stage, place, replies) as open_stage:
        with App.open(open_stage.workspace) as app:
            app.consents.ask = lambda request: True
            maker = app.models().open(stage.model, dict)
            assert isinstance(maker, FileMakingModel)
            told: list[str] = []
            request = Request(system="", messages=(words,))
            made = await maker.make(FilesRequest(request=request, files=("made.txt",), judge=judge, say=told.append))
            assert made.files == {"made.txt": b"LOW TIDE\n"}
            assert any("is not loud" in json.dumps(one.body) for one in open_stage.server.seen)
            await app.models().aclose()


RUNTIME_CONFORMANCE: tuple[RuntimeCheck, ...] = (
    its_answer_is_a_turn,
    what_is_approved_is_run,
    what_is_denied_is_not_run,
    a_stop_ends_all_that_it_started,
    it_goes_on_after_its_process_ended,
    its_environment_is_clean,
    files_of_a_step_are_judged_as_written,
)
