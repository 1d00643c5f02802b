"""`weft chat` as it ships, on a pseudo-terminal: with the model that is always there, and with the real tools."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.agents import at_work_in
from tests.e2e.test_chat_face import KEYS, ROOT, leave, until
from tests.made import Weft
from tests.terminal import Terminal


@pytest.fixture(autouse=True)
def own_runtime(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("r")))


class Scripted(Weft):
    """The app with a model that follows a script; everything else is as it ships."""

    folder: Path

    def command(self, *words: object) -> list[str]:
        return [sys.executable, "-m", "tests.e2e.chat_scripted", str(self.workspace), str(self.folder)]

    @property
    def env(self) -> dict[str, str]:
        return {**super().env, "PYTHONPATH": str(ROOT)}


def settled(weft: Weft) -> list[dict[str, Any]]:
    return [event for event in weft.log("the-talk") if event["type"] == "tool_settled"]


def test_the_embedded_model_answers_from_the_documents_and_other_terminals_reach_it(weft: Weft, source: Path) -> None:
    assert weft("run", source, "--session-id", "poem").code == 0
    terminal = Terminal(weft, "chat", "--session", "poem", width=90, height=40)
    terminal.wait_for("weft chat · poem", "ask · embedded")
    terminal.child.send("What depends upon a wheel barrow?\r")
    terminal.wait_for(
        "> What depends upon a wheel barrow?", "so much depends upon a red wheel barrow", "embedded engine"
    )
    assert weft("send", "poem", "and", "what", "more?").code == 0
    terminal.wait_for("> and what more?")
    assert leave(terminal) == 0
    assert "chat --session poem" in terminal.words()
    again = Terminal(weft, "chat", "--session", "poem", width=90, height=40)
    again.wait_for("> What depends upon a wheel barrow?", "> and what more?", "ask · embedded")
    assert leave(again) == 0


def test_real_tools_under_the_real_rules(weft: Weft, tmp_path: Path) -> None:
    scripted = Scripted(weft.workspace)
    scripted.folder = desk = tmp_path / "desk"
    desk.mkdir()
    notes, pids = desk / "notes.md", desk / "pids"
    notes.write_text("one\ntwo\n")
    terminal = Terminal(scripted, width=90, height=40)
    terminal.wait_for("weft chat · the-talk", "ask · scripted")
    terminal.child.send("say three\r")
    terminal.wait_for("? May Edit do this?", "notes.md", "-two", "+three", "asks because", KEYS)
    terminal.child.send("y\r")
    terminal.wait_for("✓ Edit notes.md", "-two +three", "It says three now.")
    assert terminal.text().count("+three") == 1
    assert notes.read_text() == "one\nthree\n"
    terminal.child.send("ask me\r")
    terminal.wait_for("? Which colour?", "2 green")
    terminal.child.send("2\r")
    terminal.wait_for("✓ AskUser Which colour?", "Green it is.")
    terminal.child.send("hang\r")
    terminal.wait_for("? May Shell do this?", "sleep 1000", KEYS)
    terminal.child.send("y\r")
    until(lambda: pids.exists() and len(pids.read_text().split()) == 3, "the command did not start")
    terminal.wait_for("Shell echo")
    terminal.child.send("\x03")
    terminal.wait_for("! Shell", "interrupted; it may be done in part", "! interrupted")
    until(lambda: not at_work_in(desk), "a process was left alive")
    terminal.child.send("are you there?\r")
    terminal.wait_for("I have stopped.")
    assert leave(terminal) == 0
    assert [event["outcome"] for event in settled(scripted)] == ["succeeded", "succeeded", "interrupted"]


def test_the_last_conversation_is_found_again(weft: Weft, tmp_path: Path) -> None:
    assert weft("chat", "--continue").code == 2
    assert weft("chat", "--plain", "-s", "first", "What is a loom?").code == 0
    assert weft("chat", "--plain", "-s", "second", "What is a warp?").code == 0
    assert weft("chat", "--plain", "--continue", "And what more?").code == 0
    (tmp_path / "elsewhere").mkdir()
    left = Terminal(weft, "chat", width=90, height=40)
    left.wait_for("weft chat · talk-")
    assert leave(left) == 0
    assert weft("chat", "--plain", "--continue", "--folder", tmp_path / "elsewhere", "And this?").code == 0
    said = [event["text"] for event in weft.log("second") if event["type"] == "message_accepted"]
    assert said == ["What is a warp?", "And what more?", "And this?"]
    assert "--pick needs a terminal" in weft("chat", "--pick").err
    assert weft("chat", "-c", "-s", "first").code == 2
    listed = [row["folder"] for row in weft.log("second") if row["type"] == "message_accepted"]
    assert listed == [*[str(Path.cwd())] * 2, str(tmp_path / "elsewhere")], "where its tools worked"
    shown = weft("sessions", "show", "second").out.split("\n")
    assert shown[2] == "status\tidle"
    assert "title\tWhat is a warp?" in shown
    assert [line for line in shown if line.startswith("said\tyou")] == [f"said\tyou\t{words}" for words in said]
    terminal = Terminal(weft, "chat", "--pick", width=100, height=40)
    terminal.wait_for("1 What is a warp?", "2 What is a loom?", "I have no document", str(Path.cwd()), "which")
    terminal.child.send("2\r")
    terminal.wait_for("weft chat · first", "> What is a loom?")
    assert leave(terminal) == 0


class Planned(Scripted):
    def command(self, *words: object) -> list[str]:
        return [sys.executable, "-m", "tests.e2e.chat_planned", str(self.workspace), str(self.folder)]


def test_a_file_is_named_a_plan_accepted_and_both_messages_taken_back(weft: Weft, tmp_path: Path) -> None:
    planned = Planned(weft.workspace)
    planned.folder = desk = tmp_path / "desk"
    desk.mkdir()
    notes = desk / "notes.md"
    notes.write_text("one\ntwo\n")
    terminal = Terminal(planned, width=90, height=40)
    terminal.wait_for("weft chat · the-talk", "plan · scripted")
    terminal.child.send("change @nts")
    terminal.wait_for("@notes.md file")
    terminal.child.send("\t\r")
    terminal.wait_for("> change @notes.md", "1. say three in notes.md", "Is this the plan?", "y carry it out")
    assert notes.read_text() == "one\ntwo\n"
    terminal.child.send("y\r")
    terminal.wait_for("the plan is accepted", "May Edit do this?", KEYS)
    terminal.child.send("y\r")
    terminal.wait_for("It says three now.", "ask · scripted")
    assert notes.read_text() == "one\nthree\n"
    terminal.child.send("/rewind 2\r")
    terminal.wait_for("back to before “change @notes.md”", "put back: notes.md")
    assert notes.read_text() == "one\ntwo\n"
    terminal.child.send("hello\r")
    terminal.wait_for("We are back.")
    assert leave(terminal) == 0
