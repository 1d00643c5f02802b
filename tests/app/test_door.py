"""The one door of a session: what is submitted counts once and is refused with a reason, events come once and in order,
and another process reaches it in both directions."""

from __future__ import annotations

import asyncio
import stat
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.gated import started
from tests.made import Weft
from weft.app import App, AttachedSession, LiveSession, SessionRequest
from weft.app.live.door import door_path
from weft.app.live.door_messages import command_from_wire, item_from_wire, item_to_wire, to_wire
from weft.protocol import events as e
from weft.protocol.commands import (
    Accepted,
    AcceptEdit,
    DescribeSession,
    GivenFile,
    Interrupt,
    Mode,
    Refused,
    ReplyToGate,
    ResolveConfirmation,
    Say,
    SessionCommand,
    SetMode,
    StartRun,
)
from weft.protocol.envelope import Actor
from weft.protocol.events import Record
from weft.testing.scripted import Hold, ScriptedModel, Turn, says

ADA = Actor("person", "ada", "terminal")


@pytest.fixture(autouse=True)
def own_runtime(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("r")))


@pytest.fixture
def weft(tmp_path: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch) -> Weft:
    found = started(tmp_path, workspace)
    monkeypatch.setenv("LEDGER", str(found.ledger))
    return found


def opened(weft: Weft, play: Callable[[App, LiveSession], Awaitable[None]], **more: Any) -> None:
    async def go() -> None:
        with App.open(weft.workspace, **more) as app:
            async with app.session(SessionRequest(session="essay")) as session:
                assert isinstance(session, LiveSession)
                await play(app, session)

    asyncio.run(asyncio.wait_for(go(), 120))


def of(weft: Weft, kind: str) -> list[dict[str, Any]]:
    return [line for line in weft.log("essay") if line["type"] == kind]


def test_a_command_with_a_key_counts_once_also_after_a_restart(weft: Weft) -> None:
    replies: list[Any] = []

    async def play(app: App, session: LiveSession) -> None:
        reply = ReplyToGate(gate="plan", choice="proceed")
        replies.extend([await session.submit(reply, key="k1", by=ADA) for _ in range(2)])
        await session.rest()

    opened(weft, play)
    opened(weft, play)
    assert isinstance(replies[0], Accepted)
    assert [reply.seq for reply in replies] == [replies[0].seq] * 4
    assert len(of(weft, "gate_resolved")) == 1


def test_an_interrupt_meets_a_start_that_still_waits_in_the_inbox(weft: Weft) -> None:
    outcomes: list[Any] = []

    async def play(app: App, session: LiveSession) -> None:
        starting = session.submit(StartRun(force=frozenset({"plan"})), by=ADA)
        stopped = await session.submit(Interrupt(), by=ADA)
        assert isinstance(stopped, Accepted)
        assert stopped.note == "accepted"
        assert isinstance(await starting, Accepted)
        outcomes.append(await session.run_at_rest())

    before = len(of(weft, "step_completed"))
    opened(weft, play)
    assert outcomes == ["interrupted"]
    assert len(of(weft, "step_completed")) == before
    assert of(weft, "run_ended")[-1]["outcome"] == "interrupted"


def test_whoever_follows_slowly_costs_little_memory_and_misses_no_record(
    weft: Weft, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("weft.app.live.live_session.WAITING", 4)
    seen: list[int] = []
    waited: list[int] = []

    async def play(app: App, session: LiveSession) -> None:
        following = session.events(after=0)
        seen.append((await anext(following)).seq)  # type: ignore[union-attr]
        modes: tuple[Mode, ...] = ("safe", "auto", "edits", "ask") * 5
        for mode in modes:
            await session.submit(SetMode(mode=mode), by=ADA)
            session.notice("something that is only live")
        await asyncio.sleep(0)
        waited.extend(len(one._items) for one in session._feed._watchers)
        last = session.state.seq
        while seen[-1] < last:
            item = await anext(following)
            if isinstance(item, Record):
                seen.append(item.seq)

    opened(weft, play)
    assert max(waited) <= 4
    assert seen == list(range(1, len(seen) + 1))


def test_what_is_refused_says_why_and_leaves_no_trace(weft: Weft) -> None:
    before = weft.log("essay")

    async def play(app: App, session: LiveSession) -> None:
        for command, why in (
            (ReplyToGate(gate="plan", choice="perhaps"), "offers no choice perhaps"),
            (ReplyToGate(gate="nowhere", choice="proceed"), "no open gate nowhere"),
            (ResolveConfirmation(confirmation="c", choice="yes"), "nothing is to be confirmed"),
            (Say(text="  "), "nothing to send"),
            (StartRun(until="nowhere"), "nowhere"),
        ):
            reply = await session.submit(command, by=ADA)
            assert isinstance(reply, Refused)
            assert why in reply.reason

    opened(weft, play)
    assert weft.log("essay") == before


def test_the_log_says_who_decided_and_on_which_words(weft: Weft) -> None:
    async def play(app: App, session: LiveSession) -> None:
        await session.run(Say(text="looks good", to="run"), by=ADA)

    opened(weft, play)
    (said,), (resolved,) = of(weft, "words_said"), of(weft, "gate_resolved")
    assert (said["text"], resolved["words"]) == ("looks good", said["words"])
    with App.open(weft.workspace) as app:
        whose = {record.event.type: record.envelope for record in app.sessions.records("essay")}
    assert whose["words_said"] is not None
    assert whose["words_said"].by == ADA
    assert whose["gate_resolved"] is not None
    assert whose["gate_resolved"].by == ADA


def test_a_model_that_is_sure_can_still_only_ask_back(weft: Weft) -> None:
    (weft.workspace / "config.toml").write_text('model = "scripted"\n')
    sure = Turn(says('{"meaning": "reply", "choice": "proceed", "confidence": 0.95}'))

    async def play(app: App, session: LiveSession) -> None:
        await session.run(Say(text="the Danube and its shores", to="run"))
        assert of(weft, "gate_resolved") == []
        (asked,) = session.asks
        assert isinstance(asked, e.ConfirmationAsked)
        assert (asked.kind, asked.choice, asked.text) == ("reply", "proceed", "the Danube and its shores")
        await session.run(Say(text="no", to="run"))
        assert of(weft, "gate_resolved") == []

    opened(weft, play, models={"scripted": ScriptedModel([sure])})


def test_words_are_in_the_log_while_a_model_is_asked_what_they_mean(weft: Weft) -> None:
    (weft.workspace / "config.toml").write_text('model = "scripted"\n')
    hold = Hold()

    async def play(app: App, session: LiveSession) -> None:
        reply = await session.submit(Say(text="the Danube and its shores", to="run"))
        await hold.reached.wait()
        assert isinstance(reply, Accepted)
        assert [line["text"] for line in of(weft, "words_said")] == ["the Danube and its shores"]
        assert of(weft, "words_understood") == []
        await session.submit(Interrupt())
        await session.rest()

    opened(weft, play, models={"scripted": ScriptedModel([Turn(hold, says("never"))])})


@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cuts=st.lists(st.integers(0, 12), min_size=1, max_size=3), writers=st.integers(1, 4))
def test_events_come_once_and_in_order_from_any_number_under_several_writers(
    weft: Weft, cuts: list[int], writers: int
) -> None:
    """Each writer changes a setting; each follower begins somewhere and must see the log, no more and no less."""

    async def play(app: App, session: LiveSession) -> None:
        first = session.state.seq

        async def write(number: int) -> None:
            for mode in ("safe", "ask"):
                await session.submit(SetMode(mode="safe" if mode == "safe" else "ask"), by=Actor("person", str(number)))

        async def follow(after: int) -> list[int]:
            seen: list[int] = []
            async for item in session.events(after):
                if isinstance(item, Record):
                    seen.append(item.seq)
                    if len(seen) and item.seq >= last():
                        return seen
            return seen

        def last() -> int:
            return first + 1000 if not done.is_set() else session.state.seq

        done = asyncio.Event()
        following = [asyncio.create_task(follow(min(cut, first))) for cut in cuts]
        await asyncio.gather(*(write(number) for number in range(writers)))
        done.set()
        await session.submit(SetMode(mode="ask"))
        for cut, found in zip(cuts, await asyncio.gather(*following), strict=True):
            assert found == list(range(min(cut, first) + 1, found[-1] + 1))
            assert found[-1] >= first + 2 * writers

    opened(weft, play)


def test_another_process_speaks_follows_and_waits_at_the_same_door(weft: Weft) -> None:
    """Two apps as two processes would be: the second finds the session held, and is attached."""

    async def play(app: App, session: LiveSession) -> None:
        with App.open(weft.workspace) as other:
            async with other.session(SessionRequest(session="essay")) as attached:
                assert isinstance(attached, AttachedSession)
                seen: list[Any] = []
                async with attached.shown(seen.append, 0) as showing:
                    refused = await attached.submit(ReplyToGate(gate="plan", choice="perhaps"))
                    assert isinstance(refused, Refused)
                    assert "offers no choice" in refused.reason
                    assert await attached.run(Say(text="proceed", to="run"), by=ADA) == "waiting"
                    await showing.caught_up()
                    assert [item.seq for item in seen if isinstance(item, Record)] == list(
                        range(1, session.state.seq + 1)
                    )
                    assert [type(one).__name__ for one in attached.asks] == ["GateOpened"]
                assert await session.run(ReplyToGate(gate="review", choice="proceed")) == "done"
                assert await attached.run_at_rest() == "done"

    opened(weft, play)


def test_the_socket_is_the_persons_own_and_goes_with_its_holder(weft: Weft) -> None:
    async def play(app: App, session: LiveSession) -> None:
        path = door_path(session.folder)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        for line in (b"nonsense\n", b"[1]\n", b'{"do": "dance"}\n', b'{"do": "submit", "command": {"type": "x"}}\n'):
            reader, writer = await asyncio.open_unix_connection(str(path))
            writer.write(line)
            assert b"error" in await reader.readline()
            writer.close()
        _, silent = await asyncio.open_unix_connection(str(path))
        silent.close()
        await silent.wait_closed()
        assert isinstance(await session.submit(Interrupt()), Accepted)

    opened(weft, play)
    assert not door_path(weft.session("essay")).exists()


def test_every_record_of_a_real_log_survives_the_wire(weft: Weft) -> None:
    with App.open(weft.workspace) as app:
        for record in app.sessions.records("essay"):
            found = item_from_wire(item_to_wire(record))
            assert isinstance(found, Record)
            assert (found.seq, found.at, found.event) == (record.seq, record.at, record.event)


def test_commands_survive_the_wire() -> None:

    for command in (
        StartRun(force=frozenset({"a"}), inputs={"": (GivenFile(b"\x00\xff", "a.pdf"),)}, budget={"usd": 1.5}),
        Say(text="é", gate="g", to="run"),
        Interrupt(target="main/a1"),
        ReplyToGate(gate="g", choice="c", text="t"),
    ):
        assert command_from_wire(to_wire(command)) == command


@pytest.mark.parametrize(
    "command",
    [Interrupt(), DescribeSession(title="x"), StartRun(until="plan"), AcceptEdit(step="plan"), SetMode(mode="plan")],
    ids=lambda command: command.type,
)
def test_every_command_with_a_key_gets_the_same_answer_again(weft: Weft, command: SessionCommand) -> None:
    """Also one that leaves nothing in the log, and one that would be refused the second time."""
    replies: list[Any] = []
    (weft.session("essay") / "plan.json").write_text('{"title": "Rivers", "parts": ["a", "b"]}')

    async def play(app: App, session: LiveSession) -> None:
        for _ in range(2):
            replies.append(await session.submit(command, key="k1", by=ADA))
            await session.rest()

    opened(weft, play)
    assert isinstance(replies[0], Accepted), replies
    assert replies[1].seq == replies[0].seq


@pytest.mark.parametrize(
    ("command", "other"),
    [
        (DescribeSession(flag=True), DescribeSession(archived=True)),
        (ReplyToGate(gate="plan", choice="proceed"), ReplyToGate(gate="plan", choice="amend", text="shorter")),
        (Say(text="amend: shorter"), Say(text="cancel it")),
        (AcceptEdit(step="plan"), StartRun(until="plan")),
        (SetMode(mode="plan"), SetMode(mode="auto")),
        (Interrupt(), Interrupt(target="main")),
    ],
    ids=lambda command: command.type,
)
@pytest.mark.parametrize("restarted", [False, True])
def test_another_command_under_a_key_that_was_used_is_refused(
    weft: Weft, command: SessionCommand, other: SessionCommand, restarted: bool
) -> None:
    replies: list[Any] = []
    (weft.session("essay") / "plan.json").write_text('{"title": "Rivers", "parts": ["a", "b"]}')

    def play(*commands: SessionCommand) -> None:
        async def give(app: App, session: LiveSession) -> None:
            for one in commands:
                replies.append(await session.submit(one, key="k1", by=ADA))
                await session.rest()

        opened(weft, give)

    if restarted and isinstance(command, Interrupt):
        pytest.skip("an interrupt leaves nothing in the log")
    if restarted:
        play(command)
        play(other, command)
    else:
        play(command, other, command)
    first, another, again = replies
    assert isinstance(first, Accepted), first
    assert isinstance(another, Refused)
    assert another.reason.startswith("the key k1 was given with another command before")
    assert isinstance(again, Accepted)
    assert again.seq == first.seq


def test_a_run_with_other_parameters_under_a_key_that_was_used_is_refused(weft: Weft) -> None:
    replies: list[Any] = []

    async def play(app: App, session: LiveSession) -> None:
        for force in ("plan", "outline"):
            replies.append(await session.submit(StartRun(force=frozenset({force})), key="k1", by=ADA))
            await session.rest()

    opened(weft, play)
    assert [type(reply) for reply in replies] == [Accepted, Refused]


def test_another_process_begins_the_first_run_of_a_conversation_that_is_held_here(weft: Weft) -> None:
    (weft.workspace.parent / "river.md").write_text("# Rivers\n\nThe Danube is long.\n")

    async def go() -> None:
        with App.open(weft.workspace) as app, App.open(weft.workspace) as other:
            async with app.session(SessionRequest(session="talk", talk=True)) as held:
                asked = SessionRequest(session="talk", pipeline="essay", file=weft.workspace.parent / "river.md")
                async with other.session(asked) as attached:
                    assert isinstance(attached, AttachedSession)
                    assert await attached.run(StartRun(), by=ADA) == "waiting"
                assert held.state.pipeline == "essay"

    asyncio.run(asyncio.wait_for(go(), 120))
