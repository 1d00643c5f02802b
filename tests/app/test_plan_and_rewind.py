"""Plans that wait for a person's word, and going back to before something was said."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.app.conversing import give, say, talk
from tests.made import lay_out
from weft.app import OpenedSession
from weft.models.model import Request
from weft.protocol.commands import Accepted, Refused, Rewind, SetMode
from weft.protocol.conversation_commands import DecidePlan
from weft.protocol.conversation_events import ConversationRewound, PlanDecided, PlanSubmitted, ToolSettled
from weft.testing.scripted import Turn, calls, says

pytestmark = pytest.mark.process
DONE = Turn(says("Done."))


@pytest.fixture
def desk(tmp_path: Path, workspace: Path) -> Path:
    lay_out(workspace)
    (workspace / "config.toml").write_text('model = "scripted"\n')
    desk = tmp_path / "desk"
    desk.mkdir()
    (desk / "notes.md").write_text("one\n")
    return desk


def edit(old: str, new: str) -> Turn:
    return Turn(calls("Edit", {"path": "notes.md", "old": old, "new": new}))


def told(request: Request) -> str:
    return "\n".join(str(part) for message in request.messages for part in message.content)


PLAN = "Two things:\n\n1. change notes.md\n2. look at it\n   - closely\n"


def test_nothing_is_changed_before_the_plan_is_accepted(workspace: Path, desk: Path) -> None:
    def plans(request: Request) -> bool:
        return "The mode is plan" in request.system and any(tool.name == "SubmitPlan" for tool in request.tools)

    def works(request: Request) -> bool:
        return "The mode is plan" not in request.system and "I accept the plan" in told(request)

    turns = [Turn(calls("Read", {"path": "notes.md"}), expect=plans), edit("one", "two")]
    turns += [Turn(calls("SubmitPlan", {"plan": PLAN})), Turn(calls("SubmitPlan", {"plan": PLAN + "\nand test"}))]
    turns += [Turn(calls("Edit", {"path": "notes.md", "old": "one", "new": "two"}), expect=works)]
    todos = [{"text": "change notes.md", "status": "done"}, {"text": "look at it", "status": "in_progress"}]
    turns += [Turn(calls("TodoWrite", {"todos": todos})), DONE]

    async def play(session: OpenedSession) -> None:
        assert isinstance(await give(session, SetMode(mode="plan")), Accepted)
        await say(session, "make it two")
        assert (desk / "notes.md").read_text() == "one\n"
        await say(session, "and a test")  # words to a plan want it otherwise
        assert "It waits for your word" in await session.look("plan")
        assert isinstance(await give(session, DecidePlan(decision="accepted")), Accepted)
        assert (desk / "notes.md").read_text() == "two\n"
        assert "- [x] change notes.md\n- [ ] look at it" in await session.look("plan")
        refused = await give(session, DecidePlan(decision="accepted"))
        assert isinstance(refused, Refused)
        assert "no plan waits" in refused.reason

    records = talk(workspace, desk, turns, play)
    events = [record.event for record in records]
    denied = [one for one in events if isinstance(one, ToolSettled) and one.outcome == "denied"]
    assert len(denied) == 1
    plans_made = [one for one in events if isinstance(one, PlanSubmitted)]
    assert plans_made[0].steps == ("change notes.md", "look at it")
    assert [one.decision for one in events if isinstance(one, PlanDecided)] == ["amended", "accepted"]


def test_an_accepted_plan_may_stand_for_all_that_was_said_before_it(workspace: Path, desk: Path) -> None:
    def short(request: Request) -> bool:
        words = told(request)
        return "two things" not in words and "change notes.md" in words and "make it two" in words

    looked = Turn(says("two things are to be said"), calls("Read", {"path": "notes.md"}))
    turns = [looked, Turn(calls("SubmitPlan", {"plan": PLAN})), Turn(says("On it."), expect=short)]

    async def play(session: OpenedSession) -> None:
        await say(session, "make it two")
        assert isinstance(await give(session, DecidePlan(decision="compacted")), Accepted)

    talk(workspace, desk, turns, play, mode="plan")


def test_three_messages_back_with_their_files(workspace: Path, desk: Path) -> None:
    def first_only(request: Request) -> bool:
        words = told(request)
        return "first" in words and "second" not in words and "fourth" not in words and "again" in words

    turns = [Turn(says("Hello.")), Turn(calls("Read", {"path": "notes.md"})), edit("one", "two"), DONE]
    turns += [edit("two", "three"), DONE, Turn(calls("Write", {"path": "new.txt", "content": "new\n"})), DONE]
    turns += [Turn(says("Again."), expect=first_only)]

    async def play(session: OpenedSession) -> None:
        for words in ("first", "second", "third", "fourth"):
            await say(session, words)
        assert (desk / "notes.md").read_text() == "three\n"
        back = await give(session, Rewind(messages=3))
        assert isinstance(back, Accepted)
        assert (desk / "notes.md").read_text() == "one\n"
        assert not (desk / "new.txt").exists()
        await say(session, "again")
        refused = await give(session, Rewind(messages=3))
        assert isinstance(refused, Refused)
        assert "2 messages" in refused.reason

    records = talk(workspace, desk, turns, play)
    (event,) = [record.event for record in records if isinstance(record.event, ConversationRewound)]
    assert sorted(event.files) == ["new.txt", "notes.md"]


def test_what_somebody_changed_since_keeps_one_where_one_is(workspace: Path, desk: Path) -> None:
    turns = [Turn(calls("Read", {"path": "notes.md"})), edit("one", "two"), DONE]

    async def play(session: OpenedSession) -> None:
        await say(session, "first")
        (desk / "notes.md").write_text("mine\n")
        refused = await give(session, Rewind(messages=1))
        assert isinstance(refused, Refused)
        assert (desk / "notes.md").read_text() == "mine\n"

    assert not [r for r in talk(workspace, desk, turns, play) if isinstance(r.event, ConversationRewound)]
