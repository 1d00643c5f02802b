"""`weft reply` and the door behind it: what words do to a waiting run, and that unclear ones do nothing."""

from __future__ import annotations

import asyncio
import json
import subprocess
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.gated import started, wait_for_file
from tests.made import Weft
from weft.app import App, OpenedSession, SessionRequest
from weft.cli import reply
from weft.cli.commands import run_command_line
from weft.cli.run import FollowedSession, follow
from weft.protocol.commands import Accepted, ReplyToGate, Say
from weft.protocol.events import GateOpened, ReplyClassified, WordsSaid, WordsUnderstood
from weft.testing.scripted import Hold, ScriptedModel, Turn, says


@pytest.fixture
def weft(tmp_path: Path, workspace: Path) -> Weft:
    return started(tmp_path, workspace)


def log_bytes(weft: Weft) -> bytes:
    return (weft.session("essay") / "log.jsonl").read_bytes()


def types(weft: Weft) -> list[str]:
    return [line["type"] for line in weft.log("essay")]


def opened(weft: Weft, play: Callable[[OpenedSession], Awaitable[None]], **more: Any) -> None:
    async def go() -> None:
        with App.open(weft.workspace, **more) as app:
            async with app.session(SessionRequest(session="essay")) as session:
                await play(session)

    asyncio.run(asyncio.wait_for(go(), 60))


async def hear(session: OpenedSession, text: str) -> WordsUnderstood:
    """What is made of words, once nothing comes of them any more."""
    before = session.state.seq
    await session.run(Say(text=text, to="run"))
    records = await session.records(before)
    return next(record.event for record in records if isinstance(record.event, WordsUnderstood))


UNCLEAR = ["hmm", "no", "what is this?", "9", "yes, or cancel", "I know", "don't cancel", "2", "proceed?"]


@pytest.mark.parametrize("words", UNCLEAR)
def test_unclear_words_change_nothing(weft: Weft, words: str) -> None:
    before = len(types(weft))

    async def play(session: OpenedSession) -> None:
        heard = await hear(session, words)
        assert heard.meaning in ("unclear", "change?")
        assert heard.reason

    opened(weft, play)
    new = types(weft)[before:]
    assert new in (["words_said", "words_understood"], ["words_said", "words_understood", "confirmation_asked"])
    assert weft.log("essay")[before]["text"] == words


def test_unclear_words_on_the_command_line_show_the_gate_again(weft: Weft) -> None:
    before = len(types(weft))
    ran = weft("reply", "essay", "hmm")
    assert ran.code == 3
    assert "understood: not clear" in ran.err
    assert "1 proceed" in ran.err
    assert "/essay/plan.json" in "".join(ran.err.split())  # a long path is broken over lines
    assert "reply essay proceed" in ran.err
    assert types(weft)[before:] == ["words_said", "words_understood"]


@pytest.mark.parametrize("words", ["proceed", "1", "looks good", "Yes, go ahead!"])
def test_a_clear_reply_goes_on(weft: Weft, words: str) -> None:
    async def play(session: OpenedSession) -> None:
        heard = await hear(session, words)
        assert (heard.meaning, heard.choice, heard.model) == ("reply", "proceed", "")

    opened(weft, play)
    assert types(weft).count("gate_resolved") == 1
    assert types(weft).count("run_started") == 2


def test_a_reply_on_the_command_line_goes_on_to_the_next_gate(weft: Weft) -> None:
    weft.ran()
    ran = weft("reply", "essay", "--gate", "plan", "1")
    assert ran.code == 3, ran.err
    assert "understood: proceed" in ran.err
    assert weft.ran() == ["draft", "verify"] * 3 + ["review"]


@pytest.mark.parametrize("words", [["2", "the middle"], ["please", "add", "the middle"]])
def test_an_amendment_makes_the_step_again_with_the_words(weft: Weft, words: list[str]) -> None:
    weft.ran()
    ran = weft("reply", "essay", *words)
    assert ran.code == 3, ran.err
    assert weft.ran() == ["plan"]
    parts = json.loads((weft.session("essay") / "plan.json").read_text())["parts"]
    assert "the middle" in parts[1]


def test_what_is_asked_for_a_change_is_the_change(weft: Weft) -> None:
    async def play(session: OpenedSession) -> None:
        assert (await hear(session, "2")).meaning == "change?"
        heard = await hear(session, "the middle")
        assert (heard.meaning, heard.choice, heard.text) == ("reply", "amend", "the middle")

    opened(weft, play)


def test_cancel_ends_the_run_and_keeps_what_it_made(weft: Weft) -> None:
    assert weft("reply", "essay", "cancel").code == 0
    assert (weft.session("essay") / "plan.json").exists()
    assert weft.log("essay")[-1]["outcome"] == "cancelled"
    ran = weft("reply", "essay", "proceed")
    assert ran.code == 1
    assert "no run is waiting" in ran.err


def test_a_breakout_asks_and_a_denied_one_returns_to_the_gate(weft: Weft) -> None:
    ran = weft("reply", "essay", "never mind, I have another question")
    assert ran.code == 3
    assert "1 leave" in ran.err
    assert "another question" in ran.err
    assert types(weft)[-1] == "confirmation_asked"
    before = len(types(weft))
    ran = weft("reply", "essay", "hmm")
    assert ran.code == 3
    assert types(weft)[before:] == ["words_said", "words_understood"]
    ran = weft("reply", "essay", "no")
    assert ran.code == 3
    assert "stay with the run" in ran.err
    assert "1 proceed" in ran.err
    assert weft("reply", "essay", "proceed").code == 3
    assert weft("reply", "essay", "proceed").code == 0
    assert (weft.session("essay") / "report.md").read_text() == "beginning, end\n"


def test_a_run_that_was_left_is_taken_up_where_it_was(weft: Weft) -> None:
    assert weft("reply", "essay", "something else please").code == 3
    ran = weft("reply", "essay", "yes")
    assert ran.code == 3
    assert "leave the run" in ran.err
    assert "reply essay resume" in ran.err
    assert weft.log("essay")[-1]["outcome"] == "left"
    before = len(types(weft))
    assert weft("reply", "essay", "hmm").code == 3
    assert types(weft)[before:] == ["words_said", "words_understood"]
    weft.ran()
    assert weft("reply", "essay", "resume").code == 3
    assert weft.ran() == []
    assert weft.log("essay")[-1]["outcome"] == "waiting"
    assert weft("reply", "essay", "proceed").code == 3
    assert weft("reply", "essay", "proceed").code == 0


def test_afresh_needs_the_very_word_and_deletes_nothing(weft: Weft) -> None:
    weft("reply", "essay", "leave")
    weft("reply", "essay", "leave")
    before = log_bytes(weft)
    for words in ("start over", "from scratch"):
        ran = weft("reply", "essay", words)
        assert ran.code == 3
        assert "ends the run that is there for good" in ran.err
        assert weft("reply", "essay", "no").code == 3
    assert "cancelled" not in [line.get("outcome") for line in weft.log("essay")]
    weft.ran()
    assert weft("reply", "essay", "fresh").code == 3
    assert weft.ran() == ["plan"]
    assert log_bytes(weft).startswith(before)
    runs = [line for line in weft.log("essay") if line["type"] == "run_started"]
    assert [(line["run"], line["resumed"]) for line in runs] == [(1, False), (2, False)]
    assert [line["outcome"] for line in weft.log("essay") if line["type"] == "run_ended"][-3:] == [
        "left",
        "cancelled",
        "waiting",
    ]


def test_proceeding_keeps_a_valid_edit_and_refuses_a_broken_one(weft: Weft) -> None:
    plan = weft.session("essay") / "plan.json"
    plan.write_text('{"title": "mine"}')
    before = len(types(weft))
    ran = weft("reply", "essay", "proceed")
    assert ran.code == 1
    assert "parts" in ran.err
    assert types(weft)[before:] == ["words_said", "words_understood"]
    plan.write_text('{"title": "mine", "parts": ["one"]}')
    assert weft("reply", "essay", "proceed").code == 3
    assert weft("reply", "essay", "proceed").code == 0
    assert (weft.session("essay") / "report.md").read_text() == "one\n"


def test_several_gates_ask_which(tmp_path: Path, workspace: Path) -> None:
    weft = started(tmp_path, workspace, "one")
    text = (workspace / "pipelines/essay.yaml").read_text()
    twin = text.partition("  draft:\n")[0].partition("  plan:\n")[2].replace("plan.json", "twin.json")
    (workspace / "pipelines/essay.yaml").write_text(text.replace("  draft:\n", f"  twin:\n{twin}  draft:\n", 1))
    ran = weft("run", tmp_path / "subject.txt", "--session-id", "essay")
    assert ran.code == 3
    gates = {line["step"]: line["gate"] for line in weft.log("essay") if line["type"] == "gate_opened"}
    assert ran.err.rstrip().endswith(f"reply essay {gates['plan']}: proceed"), "what is said to be typed works"
    assert f"(weft reply essay --gate {gates['twin']}: proceed" in weft("sessions", "show", "essay").out
    before = len(types(weft))
    ran = weft("reply", "essay", "proceed")
    assert ran.code == 3
    assert f"reply essay {next(iter(gates.values()))}: proceed (or one of" in ran.err
    assert f"several gates are open ({', '.join(gates.values())})" in ran.err
    assert types(weft)[before:] == ["words_said", "words_understood"]
    assert weft("reply", "essay", "twin: looks good").code == 3
    assert [line["gate"] for line in weft.log("essay") if line["type"] == "gate_resolved"] == [gates["twin"]]
    assert weft("reply", "essay", "--gate", gates["plan"], "proceed").code == 3


def judged(meaning: str, choice: str, confidence: float) -> Turn:
    return Turn(says(json.dumps({"meaning": meaning, "choice": choice, "confidence": confidence})))


def config(weft: Weft) -> None:
    (weft.workspace / "config.toml").write_text('model = "scripted"\n')


@pytest.mark.parametrize(
    ("turn", "meaning"),
    [
        (judged("reply", "amend", 0.9), "confirm"),
        (judged("breakout", "", 0.8), "breakout"),
        (judged("breakout", "", 0.69), "unclear"),
        (judged("reply", "cancel", 1.0), "unclear"),
        (judged("unclear", "", 1.0), "unclear"),
        (Turn(says("I have no idea")), "unclear"),
    ],
)
def test_a_connected_model_is_asked_about_unclear_words_and_paid_for(weft: Weft, turn: Turn, meaning: str) -> None:
    config(weft)
    model = ScriptedModel([turn])

    async def play(session: OpenedSession) -> None:
        heard = await hear(session, "the Danube and its shores")
        assert heard.meaning == meaning, heard
        assert session.state.run is not None
        assert session.state.run.spent["plan"].usage["scripted"]["input"] == 10

    opened(weft, play, models={"scripted": model})
    model.assert_done()
    assert model.requests[0].max_tokens is not None
    new = [line for line in weft.log("essay") if line["type"] == "reply_classified"]
    assert [line["meaning"] for line in new] == ["reply" if meaning == "confirm" else meaning]
    assert "gate_resolved" not in types(weft), "a model decides nothing"
    assert "message_accepted" not in types(weft)


@pytest.mark.parametrize("choice", ["proceed", "amend", "cancel"])
def test_an_answer_by_name_while_a_model_is_asked_goes_first_and_the_words_say_nothing_to_what_follows(
    weft: Weft, choice: str
) -> None:
    """Another door answers the gate meanwhile; what the model was asked is paid for all the same."""
    config(weft)
    hold = Hold()
    model = ScriptedModel([Turn(hold, says(json.dumps({"meaning": "reply", "choice": "proceed", "confidence": 1})))])

    async def play(session: OpenedSession) -> None:
        await session.submit(Say(text="the Danube and its shores", to="run"))
        await hold.reached.wait()
        (weft.ledger.parent / f"hold-{AT_WORK[choice]}-0").touch()
        answered = await session.submit(ReplyToGate(gate="plan", choice=choice, text="a part on floods"))
        assert isinstance(answered, Accepted), answered
        while choice != "cancel" and not (weft.ledger.parent / f"held-{AT_WORK[choice]}-0").exists():
            await asyncio.sleep(0.01)
        hold.release.set()
        while not [one for one in await session.records() if isinstance(one.event, ReplyClassified)]:
            await asyncio.sleep(0.01)
        (weft.ledger.parent / f"hold-{AT_WORK[choice]}-0").unlink()
        await session.rest()
        assert not session.state.unheard
        assert session.state.confirming is None

    opened(weft, play, models={"scripted": model})
    model.assert_done()
    log = weft.log("essay")
    (heard,) = [line for line in log if line["type"] == "words_understood"]
    assert (heard["meaning"], heard["reason"]) == ("unclear", "what it was said to was answered meanwhile")
    assert [line["usage"]["input"] for line in log if line["type"] == "reply_classified"] == [10]
    assert [line["outcome"] for line in log if line["type"] == "run_ended"][1:] == [OUTCOME[choice]]


def test_what_a_model_takes_words_for_is_heard_when_the_run_rests_that_another_answer_set_going(
    tmp_path: Path, workspace: Path
) -> None:
    """Two gates are open: the other one is answered while a model is asked about the words to this one."""
    weft = started(tmp_path, workspace, "one")
    pipeline = workspace / "pipelines/essay.yaml"
    text = pipeline.read_text()
    twin = text.partition("  draft:\n")[0].partition("  plan:\n")[2].replace("plan.json", "twin.json")
    after = "  behind:\n    artifact: behind.json\n    code: essay.py:draft\n    requires: [plan, twin]\n"
    pipeline.write_text(text.replace("  draft:\n", f"  twin:\n{twin}{after}  draft:\n", 1))
    assert weft("run", tmp_path / "subject.txt", "--session-id", "essay").code == 3
    config(weft)
    hold = Hold()
    model = ScriptedModel([Turn(hold, says(json.dumps({"meaning": "reply", "choice": "proceed", "confidence": 1})))])
    held = weft.ledger.parent / "held-draft-0"

    async def play(session: OpenedSession) -> None:
        await session.submit(Say(text="the Danube and its shores", gate="twin", to="run"))
        await hold.reached.wait()
        (weft.ledger.parent / "hold-draft-0").touch()
        assert isinstance(await session.submit(ReplyToGate(gate="plan", choice="proceed")), Accepted)
        while not held.exists():
            await asyncio.sleep(0.01)
        hold.release.set()
        while not [one for one in await session.records() if isinstance(one.event, ReplyClassified)]:
            await asyncio.sleep(0.01)
        (weft.ledger.parent / "hold-draft-0").unlink()
        assert await session.rest() == "waiting"
        assert session.state.confirming is not None
        assert session.state.confirming.gate.startswith("twin")

    opened(weft, play, models={"scripted": model})
    model.assert_done()


AT_WORK = {"proceed": "draft", "amend": "plan", "cancel": "none"}
OUTCOME = {"proceed": "waiting", "amend": "waiting", "cancel": "cancelled"}


def test_a_model_is_not_asked_about_clear_words(weft: Weft) -> None:
    config(weft)

    async def play(session: OpenedSession) -> None:
        assert (await hear(session, "never mind, something else")).meaning == "breakout"
        assert (await hear(session, "stay")).meaning == "stay"
        assert (await hear(session, "make it shorter")).meaning == "reply"

    opened(weft, play, models={"scripted": ScriptedModel([])})


def test_a_refused_edit_leaves_the_session_usable(weft: Weft) -> None:
    async def play(session: OpenedSession) -> None:
        plan = session.folder / "plan.json"
        good = plan.read_text()
        plan.write_text("{}")
        refused = await hear(session, "looks good")
        assert refused.meaning == "refused"
        assert "title" in refused.reason
        plan.write_text(good)
        assert (await hear(session, "looks good")).meaning == "reply"
        assert [event.gate for event in session.asks if isinstance(event, GateOpened)] == ["review-2"]

    opened(weft, play)


def test_words_that_a_killed_process_did_not_hear_go_first_and_new_ones_are_not_taken_for_the_next_gate(
    weft: Weft,
) -> None:
    """The person says it again because nothing was answered: the first time counts, the second is for nothing yet."""
    with App.open(weft.workspace) as app:
        session = app.sessions.open("essay")
        session.record([WordsSaid(run=1, words="w1", text="proceed", to="run")])
        session.close()
    ran = weft("reply", "essay", "proceed")
    assert ran.code == 3, ran.err
    assert "what was said before is heard first" in ran.err
    assert "your new words were not used" in ran.err
    assert [(line["gate"], line["words"]) for line in weft.log("essay") if line["type"] == "gate_resolved"] == [
        ("plan-1", "w1")
    ]
    assert [line["outcome"] for line in weft.log("essay") if line["type"] == "run_ended"][-1] == "waiting"
    assert weft("reply", "essay", "proceed").code == 0


def test_a_run_goes_on_with_words_that_a_killed_process_did_not_hear(weft: Weft) -> None:
    with App.open(weft.workspace) as app:
        session = app.sessions.open("essay")
        session.record([WordsSaid(run=1, words="w1", text="proceed", to="run")])
        session.close()
    ran = weft("run", "--session-id", "essay", "--plain")
    assert ran.code == 3, ran.err
    assert [line["words"] for line in weft.log("essay") if line["type"] == "gate_resolved"] == ["w1"]


def test_a_session_without_a_run_says_that_none_waits(tmp_path: Path, workspace: Path) -> None:
    with App.open(workspace) as app:

        async def go() -> None:
            async with app.session(SessionRequest(session="talky", talk=True)) as session:
                await session.submit(Say(text="hello"))
                await session.rest()

        asyncio.run(asyncio.wait_for(go(), 60))
    done = Weft(workspace)("reply", "talky", "yes")
    assert done.code == 1
    assert "no run is waiting in this session" in done.err


def test_words_to_a_run_that_is_at_work_are_told_so(weft: Weft) -> None:
    hold = weft.ledger.parent / "hold-draft-0"
    hold.touch()
    with subprocess.Popen(weft.command("reply", "essay", "proceed", "--plain"), env=weft.env) as going:
        wait_for_file(weft.ledger.parent / "held-draft-0")
        done = weft("reply", "essay", "make it shorter")
        said = weft.log("essay")
        hold.unlink()
        assert going.wait(60) == 3
    assert done.code == 1
    assert "the run is going on\n  wait until it needs a reply, or stop it: weft interrupt" in done.err
    assert [line["text"] for line in said if line["type"] == "words_said"] == ["proceed"]


def test_words_for_a_gate_that_somebody_else_answered_first_say_nothing_to_the_next(
    weft: Weft, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    @asynccontextmanager
    async def later(app: App, request: SessionRequest, *given: Any, **more: Any) -> AsyncIterator[FollowedSession]:
        async with app.session(SessionRequest(session="essay")) as session:
            assert await session.run(ReplyToGate(gate="plan", choice="proceed")) == "waiting"
        async with follow(app, request, *given, **more) as followed:
            yield followed

    monkeypatch.setattr(reply, "follow", later)
    assert run_command_line(["--workspace", str(weft.workspace), "reply", "essay", "proceed"]) == 1
    assert "that is no longer what the run asks" in capsys.readouterr().err
    assert [line["gate"] for line in weft.log("essay") if line["type"] == "gate_resolved"] == ["plan-1"]
    assert [line["type"] for line in weft.log("essay")].count("words_said") == 0


@pytest.mark.parametrize("another", ["", ", gate: {message: ok too}"])
def test_a_gate_that_is_open_while_other_steps_are_made_can_be_answered(weft: Weft, another: str) -> None:
    """Also when `another` opens before it is heard."""
    files = {
        "pipelines/sides.yaml": "name: sides\ndescription: d\ninputs: {}\nsteps:\n"
        '  fast: {artifact: fast.json, code: "sides.py:fast", gate: {message: ok}}\n'
        f'  slow: {{artifact: slow.json, code: "sides.py:slow"{another}}}\n'
        '  both: {artifact: both.json, code: "sides.py:both", requires: [fast, slow], final: true}\n',
        "code/sides.py": "import time\nfrom pathlib import Path\n"
        "HOLD = Path(__file__).parent.parent / 'traces/hold'\n"
        "def fast(step):\n    return {}\n"
        "def slow(step):\n    while HOLD.exists():\n        time.sleep(0.01)\n    return {}\n"
        "def both(step):\n    return {}\n",
        "traces/hold": "",
    }
    for name, text in files.items():
        (weft.workspace / name).write_text(text)
    with subprocess.Popen(
        weft.command("run", "sides", "--session-id", "sides", "--plain"), env=weft.env, stderr=subprocess.PIPE
    ) as going:
        assert going.stderr is not None
        while b"gate fast-1 opened" not in (line := going.stderr.readline()):
            assert line, "it ended"
        with subprocess.Popen(
            weft.command("reply", "sides", "proceed", "--plain"), env=weft.env, stderr=subprocess.PIPE
        ) as reply:
            for _ in range(6000):
                if reply.poll() is not None or "words_said" in [line["type"] for line in weft.log("sides")]:
                    break
                time.sleep(0.01)
            (weft.workspace / "traces/hold").unlink()
            _, told = reply.communicate(timeout=60)
            assert reply.returncode == (3 if another else 0), told
        going.communicate(timeout=60)
        assert going.returncode == (3 if another else 0)
    outcomes = [line["outcome"] for line in weft.log("sides") if line["type"] == "run_ended"]
    assert outcomes == ["waiting", "waiting" if another else "done"]
    assert [line["gate"] for line in weft.log("sides") if line["type"] == "gate_resolved"] == ["fast-1"]
