"""What a person is told when a model does something else than answer: on the screen, in the log, by the exit code."""

from __future__ import annotations

import io
import json
import signal
import subprocess
from pathlib import Path

import pytest

from tests.e2e.test_chat_face import leave
from tests.e2e.test_model_steps import events, run
from tests.e2e.test_model_steps import scripted as scripted  # a fixture
from tests.e2e.test_models_command import serving
from tests.made import Weft
from tests.terminal import Terminal
from weft.cli.commands import run_command_line
from weft.models.model import Stop, TextDelta
from weft.testing.scripted import ScriptedModel, Turn
from weft.testing.wire import Reply


def desk(weft: Weft, url: str, more: str = "") -> None:
    table = f'[models.desk]\nkind = "openai"\nbase_url = "{url}"\nkey = "none"\n{more}'
    (weft.workspace / "config.toml").write_text(f'model = "desk/m"\n{table}')


@pytest.mark.parametrize(
    ("reply", "stop", "told"),
    [
        (Reply(text="No.", stop="refused"), "refused", "the model refused to answer"),
        (Reply(text=""), "end", "the model ended its answer without a word"),
        (Reply(text="And so", stop="max_tokens"), "max_tokens", "cut off: it reached the most that it may write"),
    ],
    ids=["refused", "empty", "cut"],
)
def test_an_answer_that_is_none_is_said_in_a_chat(
    weft: Weft, reply: Reply, stop: str, told: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    with serving([reply]) as server:
        desk(weft, server.url)
        words = ["--workspace", str(weft.workspace), "chat", "--session", "the-talk", "hello"]
        code = run_command_line(words)
    said = capsys.readouterr()
    assert code == 1, said.err
    assert said.out.strip() == reply.text
    assert told in said.err
    assert ("go on" in said.err) is (stop == "max_tokens")
    (settled,) = [event for event in weft.log("the-talk") if event["type"] == "model_settled"]
    assert (settled["outcome"], settled["stop"]) == ("completed", stop)
    assert told in weft("sessions", "log", "the-talk").out


def test_a_conversation_says_that_it_waits_for_its_turn(weft: Weft) -> None:
    with serving([Reply(text="Hello.")]) as server:
        desk(weft, server.url, '[limits]\ndesk = "1 a day"\n')
        assert weft("chat", "hello").code == 0
        words = weft.command("chat", "hello")
        with subprocess.Popen(words, env=weft.env, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE) as second:
            assert second.stderr is not None
            assert "waits for its turn with desk (1 a day)" in second.stderr.readline().decode()
            second.send_signal(signal.SIGINT)
            second.stderr.read()


def test_a_call_of_a_step_says_why_its_answer_ended(scripted: Weft, source: Path) -> None:
    cut = ScriptedModel(
        [
            Turn((TextDelta(text='["ba'), Stop(reason="max_tokens"))),
            Turn((TextDelta(text='["barrow"]'), Stop(reason="end"))),
        ]
    )
    assert run(scripted, cut, source) == "done"
    first, second = events(scripted, "call_settled")
    assert (first["stop"], second["stop"]) == ("max_tokens", "end")
    assert first["message"].startswith("cut off")


def test_half_a_text_is_no_artifact(scripted: Weft, source: Path) -> None:
    pipeline = scripted.workspace / "pipelines/letters.yaml"
    text = pipeline.read_text()
    text = text.replace("    schema: list.schema.json\n    checks:\n      - unique: {at: '[*]'}\n", "")
    pipeline.write_text(text.replace("list.json", "list.md"))
    model = ScriptedModel(
        [
            Turn((TextDelta(text="Half a te"), Stop(reason="max_tokens"))),
            Turn((TextDelta(text="A whole text."), Stop(reason="end"))),
        ]
    )
    run(scripted, model, source)
    assert (scripted.session("poem") / "list.md").read_text().strip() == "A whole text."
    assert "cut off" in events(scripted, "step_failed")[0]["message"]


def test_a_pause_of_an_hour_is_said_and_respected_by_attempts_and_runs(scripted: Weft, source: Path) -> None:
    with serving([Reply(status=429, error="slow down", headers={"retry-after": "3600"})]) as server:
        desk(scripted, server.url)
        for _ in range(2):
            ran = scripted("run", source, "--session-id", "poem", "--plain")
            assert ran.code == 1
            assert "it asks to wait 1 h 00 min, until " in ran.err
        server.assert_done()  # asked once, by two runs of a step that has two attempts
    assert [one["retrying"] for one in events(scripted, "step_failed")] == [False, False]


def test_another_model_of_the_same_connection_stands_in_while_one_pauses(
    scripted: Weft, source: Path, tmp_path: Path
) -> None:
    hour = Reply(status=429, error="slow down", headers={"retry-after": "3600"})
    with serving([hour, Reply(text='["red"]'), Reply(text='["blue"]')]) as server:
        desk(scripted, server.url, 'fallbacks = ["desk/small"]\n')
        ran = scripted("run", source, "--session-id", "poem", "--plain")
        assert ran.code == 0, ran.err
        other = tmp_path / "other.txt"
        other.write_text("Roses are blue.")
        ran = scripted("run", other, "--session-id", "prose", "--plain")
        assert ran.code == 0, ran.err
        assert "a pause that is not over" in ran.err
        server.assert_done()
        assert [seen.body["model"] for seen in server.seen] == ["m", "small", "small"]


def test_the_model_of_a_run_is_chosen_on_the_command_line_and_kept(scripted: Weft, source: Path) -> None:
    with serving([Reply(text='["red"]')]) as server:
        desk(scripted, server.url)
        config = scripted.workspace / "config.toml"
        config.write_text(config.read_text().replace('model = "desk/m"\n', ""))
        assert "there is no connection 'nobody'" in scripted("run", source, "--model", "nobody").err
        ran = scripted("run", source, "--session-id", "poem", "--plain", "--model", "desk/m")
        assert ran.code == 0, ran.err
        again = scripted("run", source, "--session-id", "poem", "--plain")
        assert again.code == 0, "the model is kept: nothing is made anew"
        server.assert_done()
    assert events(scripted, "step_completed")[0]["model"] == "desk/m"
    started = [event["chosen_model"] for event in scripted.log("poem") if event["type"] == "run_started"]
    assert started == ["desk/m"] * len(started)
    planned = scripted("plan", source, "--session-id", "poem", "--model", "default").out
    assert "list" in planned
    assert "model" in planned


FALLING = """\
[roles]
strong = "work/big"
[models.work]
kind = "openai"
base_url = "{first}"
key = "none"
fallbacks = ["desk/m"]
[models.desk]
kind = "openai"
base_url = "{second}"
key = "none"
price = {{input = 1.0, output = 1.0}}
"""


def test_a_fallback_in_the_middle_of_a_run_is_in_the_log_and_on_the_screen(
    scripted: Weft, source: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that was begun in a conversation, on a real terminal."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("r")))
    pipeline = scripted.workspace / "pipelines/letters.yaml"
    pipeline.write_text(pipeline.read_text().replace("    agent: lister\n", "    agent: lister\n    model: strong\n"))
    refused, answered = [Reply(status=401, error="the key was withdrawn")], [Reply(text='["red"]')]
    with serving(refused) as first, serving(answered) as second:
        config = FALLING.format(first=first.url, second=second.url)
        (scripted.workspace / "config.toml").write_text(config)
        terminal = Terminal(scripted, "chat", "--session", "poem", width=110, height=40, cwd=str(source.parent))
        terminal.wait_for("weft chat · poem", seconds=60)
        terminal.child.send(f"/run letters {source.name}\r")
        terminal.wait_for("the key was withdrawn (HTTP 401); asking desk/m instead", "letters is done", seconds=90)
        assert leave(terminal) == 0
        first.assert_done()
        second.assert_done()
    (retried,) = events(scripted, "step_model_retried")
    assert (retried["model"], retried["instead"]) == ("work/big", "desk/m")
    (call,) = events(scripted, "call_settled")
    assert (call["name"], call["model"], call["usage"]["input"]) == ("work/big", "desk/m", 12)
    (done,) = events(scripted, "step_completed")
    assert done["model"] == "desk/m"
    assert json.loads(scripted("cost", "poem", "--json").out.splitlines()[-1])["usd"] > 0
