"""A step that calls its tools itself asks as a conversation does: in the log, answered by the one command, once."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import pytest

from weft.app import App, RegisteredFunction, SessionRequest
from weft.protocol.commands import Accepted, Interrupt, Refused, StartRun
from weft.protocol.conversation_commands import DecideApproval
from weft.protocol.conversation_events import ApprovalDecided, ApprovalRequested, Decision
from weft.protocol.envelope import Actor
from weft.protocol.events import Event, Record, RunEnded
from weft.tools.tool import Context, Handle, Outcome, Tool, begin
from weft.tools.toolbox import Toolbox

T = TypeVar("T")
EACH = """\
name: marking
description: A tool for each word
inputs: {}
steps:
  words: {artifact: words.json, code: "words.py:words"}
  marks:
    artifact: marks.json
    requires: [words]
    tool: Mark
    each: {artifact: words.json, at: "words[*]", as: word}
    attempts: 1
    final: true
"""
MAPPED = EACH.replace("each: {", "map: {at_once: 1, ")
SCHEMA = {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]}


class Desk(App):
    """Whose one tool no rule allows."""

    called: list[str]
    breaks_off: bool = False
    """The process ends in the middle of the first call."""

    def toolbox(
        self,
        knowledge: Any = None,
        *,
        user: str = "",
        project: Path | None = None,
        switched: Mapping[str, bool] | None = None,
    ) -> Toolbox:
        async def start(given: Mapping[str, Any], context: Context) -> Handle:
            async def work() -> Outcome:
                self.called.append(str(given["word"]))
                if self.breaks_off:
                    await asyncio.get_running_loop().create_future()
                return Outcome(text=f"marked {given['word']}")

            return await begin(work())

        return Toolbox([Tool(name="Mark", description="Marks", input_schema=SCHEMA, kind="write", start=start)])


class LateReader(Desk):
    """Once a run has begun, nothing is read off the loop before the step has asked, and the step asks only then."""

    runs = False

    def step_tools(self, session: str) -> Any:
        self.runs, self.reads, self.asked = True, threading.Event(), asyncio.Event()
        return super().step_tools(session)

    def toolbox(self, *given: Any, **more: Any) -> Toolbox:
        assert not self.runs or self.reads.wait(60)
        return super().toolbox(*given, **more)

    async def off_loop(self, work: Callable[[], T]) -> T:
        if self.runs:
            self.reads.set()
            await self.asked.wait()
        return await super().off_loop(work)


async def words(_: object) -> dict[str, Any]:
    return {"words": ["one", "two", "three"]}


class Person:
    """Hears what is asked and says what the test wants said."""

    def __init__(self, decisions: Mapping[int, Decision | None]) -> None:
        self.decisions = decisions
        self.asked: list[ApprovalRequested] = []
        self.decided = 0
        self.unanswered = asyncio.Event()

    async def life(self, desk: Desk, *, first: DecideApproval | None = None, attended: bool = True) -> str:
        """One process: the run until it is at rest, or until a question that is left open interrupts it."""
        request = SessionRequest(pipeline="marking", session="marks", attended=attended)
        async with desk.session(request, reachable=False) as session:

            def hear(item: Record | Event) -> None:
                event = item.event if isinstance(item, Record) else item
                self.decided += isinstance(event, ApprovalDecided)
                if not isinstance(event, ApprovalRequested):
                    return
                self.asked.append(event)
                decision = self.decisions.get(len(self.asked))
                if decision is not None:
                    session.submit(DecideApproval(conversation=event.conversation, call=event.call, decision=decision))
                elif first is None:
                    session.submit(Interrupt(why="the person left"))

            async with session.shown(hear, session.state.seq) as showing:
                if first is not None:
                    await session.submit(first)
                    await session.rest()
                else:
                    await session.run(StartRun())
                await showing.caught_up()
                run = session.state.run
                assert run is not None
                return run.outcome or ""


def desk(place: Path, pipeline: str, kind: type[Desk] = Desk) -> Desk:
    (place / "pipelines").mkdir(parents=True, exist_ok=True)
    (place / "pipelines" / "marking.yaml").write_text(pipeline)
    (place / "code").mkdir(exist_ok=True)
    (place / "code" / "words.py").write_text("def words(step): ...\n")
    opened = kind.open(place, functions={"words.py:words": RegisteredFunction(words)})
    opened.called = []
    return opened


@pytest.mark.parametrize("pipeline", [EACH, MAPPED], ids=["each", "map"])
def test_nobody_is_asked_twice_and_an_answer_given_at_rest_counts(tmp_path: Path, pipeline: str) -> None:
    async def story() -> None:
        with desk(tmp_path, pipeline) as opened:
            left = Person({})
            assert await left.life(opened) == "interrupted"
            assert (len(left.asked), opened.called) == (1, [])
            back = Person({2: "session"})
            answer = DecideApproval(conversation=left.asked[0].conversation, call=left.asked[0].call, decision="once")
            assert await back.life(opened, first=answer) == "done"
            assert opened.called == ["one", "two", "three"]
            assert [one.call for one in back.asked] == [left.asked[0].call, back.asked[1].call], "asked again, then two"
            assert back.decided == 2, "three is what was allowed for the session"
            kinds = Counter(record.event.type for record in opened.sessions.records("marks"))
            assert (kinds["approval_requested"], kinds["approval_decided"]) == (2, 2)

    asyncio.run(story())


@pytest.mark.parametrize("pipeline", [EACH, MAPPED], ids=["each", "map"])
def test_a_question_that_stands_open_is_not_denied_because_nobody_attends(tmp_path: Path, pipeline: str) -> None:
    async def story() -> None:
        with desk(tmp_path, pipeline) as opened:
            left = Person({})
            assert await left.life(opened) == "interrupted"
            assert await Person({}).life(opened, attended=False) == "interrupted"
            ended = [one.event for one in opened.sessions.records("marks") if isinstance(one.event, RunEnded)]
            assert ended[-1].message == "Mark waits for somebody's word: weft approve marks"
            assert opened.called == []
            answer = DecideApproval(conversation=left.asked[0].conversation, call=left.asked[0].call, decision="once")
            rest = Person({2: "once", 3: "once"})
            assert await rest.life(opened, first=answer, attended=False) == "done", "whoever answers is there"
            assert opened.called == ["one", "two", "three"]
            kinds = Counter(record.event.type for record in opened.sessions.records("marks"))
            assert (kinds["approval_requested"], kinds["approval_decided"]) == (3, 3)

    asyncio.run(story())


def test_an_answer_that_comes_just_before_the_step_asks_again_is_not_lost(tmp_path: Path) -> None:
    async def story() -> None:
        with desk(tmp_path, EACH) as opened:
            left = Person({})
            assert await left.life(opened) == "interrupted"
        with desk(tmp_path, EACH, LateReader) as late:
            assert isinstance(late, LateReader)
            async with late.session(SessionRequest(pipeline="marking", session="marks"), reachable=False) as session:

                def hear(item: Record | Event) -> None:
                    if isinstance(item, ApprovalRequested):
                        late.asked.set()

                async with session.shown(hear):
                    begun = session.submit(StartRun())
                    one = left.asked[0]
                    said = session.submit(
                        DecideApproval(conversation=one.conversation, call=one.call, decision="session")
                    )
                    assert isinstance(await begun, Accepted)
                    assert isinstance(await said, Accepted)
                    assert await session.rest() == "done"
            assert late.called == ["one", "two", "three"]

    asyncio.run(asyncio.wait_for(story(), 60))


def test_an_answer_outlives_the_process_that_was_given_it_also_when_nobody_attends(tmp_path: Path) -> None:
    async def story() -> None:
        with desk(tmp_path, EACH) as opened:
            opened.breaks_off = True
            request = SessionRequest(pipeline="marking", session="marks")
            async with opened.session(request, reachable=False) as session:

                def hear(item: Record | Event) -> None:
                    event = item.event if isinstance(item, Record) else item
                    if isinstance(event, ApprovalRequested):
                        allowed = DecideApproval(conversation=event.conversation, call=event.call, decision="session")
                        session.submit(allowed)

                async with session.shown(hear, 0):
                    begun = session.submit(StartRun())
                    while not opened.called:
                        await asyncio.sleep(0.01)
                    session.submit(Interrupt(why="the process ends"))
                    await begun
                    await session.rest()
            opened.breaks_off = False
            assert await Person({}).life(opened, attended=False) == "done"
            assert opened.called == ["one", "one", "two", "three"]

    asyncio.run(story())


@pytest.mark.parametrize(
    ("opened_for_a_person", "by", "called"),
    [
        (False, Actor("person", face="web"), ["one", "two", "three"]),
        (True, Actor("rule", "schedule night", "schedule"), []),
    ],
)
def test_whoever_begins_a_run_is_asked_and_not_who_had_its_session_opened(
    tmp_path: Path, opened_for_a_person: bool, by: Actor, called: list[str]
) -> None:
    """A server holds a session for a while: one that a schedule had opened for a person on the page, or the reverse."""

    async def story() -> None:
        with desk(tmp_path, EACH) as opened:
            request = SessionRequest(pipeline="marking", session="marks", attended=opened_for_a_person)
            async with opened.session(request, reachable=False) as session:

                def hear(item: Record | Event) -> None:
                    event = item.event if isinstance(item, Record) else item
                    if isinstance(event, ApprovalRequested):
                        session.submit(
                            DecideApproval(conversation=event.conversation, call=event.call, decision="session")
                        )

                async with session.shown(hear, 0):
                    await session.submit(StartRun(), by=by)
                    await session.rest()
            assert opened.called == called

    asyncio.run(story())


def test_a_call_that_is_denied_is_not_made(tmp_path: Path) -> None:
    async def story() -> None:
        with desk(tmp_path, EACH) as opened:
            assert await Person({1: "denied", 2: "denied", 3: "denied"}).life(opened) == "failed"
            assert opened.called == []

    asyncio.run(story())


def test_a_ruling_given_at_rest_is_in_the_log_when_it_is_accepted_and_counts_once(tmp_path: Path) -> None:
    async def story() -> None:
        with desk(tmp_path, EACH) as opened:
            left = Person({})
            assert await left.life(opened) == "interrupted"
            answer = DecideApproval(conversation=left.asked[0].conversation, call=left.asked[0].call, decision="once")
            request = SessionRequest(pipeline="marking", session="marks")
            async with opened.session(request, reachable=False) as session:
                both = [session.submit(answer, key="k1"), session.submit(answer, key="k1")]
                accepted = [await one for one in both]
                assert isinstance(accepted[0], Accepted)
                (decided,) = [one for one in await session.records() if isinstance(one.event, ApprovalDecided)]
                assert [one.seq for one in accepted if isinstance(one, Accepted)] == [decided.seq] * 2
                session.submit(Interrupt(why="enough"))
                await session.rest()
                assert await session.submit(answer, key="k1") == accepted[0]

    asyncio.run(story())


def test_a_ruling_for_a_step_that_asks_no_more_is_refused(tmp_path: Path) -> None:
    async def story() -> None:
        with desk(tmp_path, EACH) as opened:
            left = Person({})
            await left.life(opened)
            asked = left.asked[0]
            request = SessionRequest(pipeline="marking", session="marks")
            (tmp_path / "pipelines/marking.yaml").write_text(EACH.replace("tool: Mark", "tool: Gone"))
            async with opened.session(request, reachable=False) as session:
                answer = DecideApproval(conversation=asked.conversation, call=asked.call, decision="once")
                reply = await session.submit(answer, key="k1")
                assert isinstance(reply, Refused)
                await session.rest()
            assert opened.called == []

    asyncio.run(story())


def test_a_ruling_whose_giver_has_gone_still_counts_and_breaks_nothing(tmp_path: Path) -> None:
    async def story() -> None:
        with desk(tmp_path, EACH) as opened:
            left = Person({})
            await left.life(opened)
            answer = DecideApproval(
                conversation=left.asked[0].conversation, call=left.asked[0].call, decision="session"
            )
            request = SessionRequest(pipeline="marking", session="marks")
            async with opened.session(request, reachable=False) as session:
                gone, stays = session.submit(answer, key="k1"), session.submit(answer, key="k1")
                await asyncio.sleep(0)
                gone.cancel()
                assert isinstance(await stays, Accepted)
                assert await session.rest() == "done"
            assert opened.called == ["one", "two", "three"]

    asyncio.run(story())
