"""The terminal face of a conversation on a real pseudo-terminal: a person types, interrupts, answers, leaves, returns.

Every step waits for what a person would see, or for what the log says; nothing waits for time.
"""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.made import Weft
from tests.terminal import Terminal

ROOT = Path(__file__).parents[2]
READY = ("> ", "of context used")
KEYS = "r no, with a reason"
CTRL_C, CTRL_D, CTRL_O, ESC, SHIFT_TAB, ALT_ENTER, UP = "\x03", "\x04", "\x0f", "\x1b", "\x1b[Z", "\x1b\r", "\x1b[A"


class Chat(Weft):
    """The program of the tests instead of `weft`; its folder has the session and the files that let things go on."""

    def command(self, *words: object) -> list[str]:
        return [sys.executable, "-m", "tests.e2e.chat_program", str(self.workspace), *map(str, words)]

    @property
    def env(self) -> dict[str, str]:
        return {**super().env, "PYTHONPATH": str(ROOT)}

    def open(self, width: int = 90, height: int = 30, **env: str) -> Terminal:
        terminal = Terminal(self, width=width, height=height, **env)
        terminal.wait_for("weft chat", *READY)
        return terminal

    def file(self, name: str) -> Path:
        return self.workspace / name

    def events(self, kind: str) -> list[dict[str, Any]]:
        return [event for event in self.log("talk") if event["type"] == kind]


@pytest.fixture
def chat(tmp_path: Path) -> Chat:
    return Chat(tmp_path)


def until(true: Callable[[], object], what: str, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, what
        time.sleep(0.01)


def leave(terminal: Terminal) -> int | None:
    terminal.child.send(CTRL_D)
    return terminal.end()


def gone(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


# -- talking


@pytest.mark.parametrize("width", [60, 120])
def test_a_streamed_answer(chat: Chat, width: int) -> None:
    terminal = chat.open(width)
    terminal.child.send("hello\r")
    terminal.wait_for("> hello", "thinking", "how shall I greet")
    chat.file("thought").touch()
    terminal.wait_for("The end of it.", *READY)
    lines = [line.rstrip() for line in terminal.screen.display]
    assert "· thought for" in terminal.text()
    assert "how shall I greet" not in terminal.text()
    for line in ("A heading", "• first", "• second", '  print("weft")'):
        assert line in lines
    assert "bold words with code and 日本語 in one line" in terminal.words().replace("日 本 語", "日本語")
    assert all(len(line) <= width for line in lines)
    assert "**" not in terminal.text()
    assert "ask · obedient · 1,234 tokens · $0.02 · 12% of context used" in terminal.text()
    assert leave(terminal) == 0
    assert "go on with: weft chat --session talk" in terminal.words()


def test_what_is_typed_before_the_program_is_ready_is_not_lost(chat: Chat) -> None:
    terminal = Terminal(chat, width=90)
    terminal.child.send("early\r")
    terminal.wait_for("You said: early", *READY)
    assert leave(terminal) == 0


def test_several_lines_and_what_was_said_before(chat: Chat) -> None:
    terminal = chat.open()
    terminal.child.send("first line")
    terminal.child.send(ALT_ENTER)
    terminal.child.send("second line\r")
    terminal.wait_for("You said: first line second line")
    assert chat.events("message_accepted")[0]["text"] == "first line\nsecond line"
    terminal.child.send("again\r")
    terminal.wait_for("You said: again")
    terminal.child.send(UP)
    terminal.wait_for("> again ask ·")
    terminal.child.send(" more\r")
    terminal.wait_for("You said: again more")
    assert leave(terminal) == 0


def test_a_message_while_a_turn_runs_is_queued_and_then_answered(chat: Chat) -> None:
    terminal = chat.open()
    terminal.child.send("wait\r")
    terminal.wait_for("one moment")
    terminal.child.send("and another thing\r")
    terminal.wait_for("queued: and another thing")
    assert chat.events("message_accepted")[1]["delivery"] == "queued"
    chat.file("go").touch()
    terminal.wait_for("one moment and now it is done", "> and another thing", "You said: and another thing")
    assert "queued:" not in terminal.text()
    assert leave(terminal) == 0


def test_shift_tab_cycles_the_mode(chat: Chat) -> None:
    terminal = chat.open()
    for mode in ("edits", "auto", "plan", "safe", "ask"):
        terminal.child.send(SHIFT_TAB)
        terminal.wait_for(f"mode: {mode}", f"{mode} · obedient")
    assert leave(terminal) == 0


def test_nested_calls_are_shown_under_their_sub_agent(chat: Chat) -> None:
    terminal = chat.open()
    terminal.child.send("task\r")
    terminal.wait_for("Task look into it", "Slow deep.md · turning the pages")
    chat.file("go").touch()
    terminal.wait_for("✓ Task", "✓ Slow", "it was deep", "The tool said: The tool said: it was deep")
    assert leave(terminal) == 0


def test_a_question_of_the_model_is_answered_at_the_prompt(chat: Chat) -> None:
    terminal = chat.open()
    terminal.child.send("ask\r")
    terminal.wait_for("? Which colour?", "1 red", "2 green")
    terminal.child.send("2\r")
    terminal.wait_for("? Why?")
    terminal.child.send("it is calm\r")
    terminal.wait_for("The tool said: green; it is calm")
    assert leave(terminal) == 0


def test_an_interrupt_takes_a_question_of_the_model_away(chat: Chat) -> None:
    terminal = chat.open()
    terminal.child.send("ask\r")
    terminal.wait_for("? Which colour?")
    terminal.child.send(CTRL_C)
    terminal.wait_for("! interrupted")
    terminal.child.send("blue\r")
    terminal.wait_for("You said: blue")
    assert leave(terminal) == 0


def test_the_last_result_and_thinking_can_be_unfolded(chat: Chat) -> None:
    chat.file("thought").touch()
    terminal = chat.open()
    terminal.child.send("hello\r")
    terminal.wait_for("The end of it.")
    terminal.child.send(CTRL_O)
    terminal.wait_for("→ thought for", "how shall I greet")
    assert leave(terminal) == 0


def test_a_failed_model_call_is_told_and_the_conversation_goes_on(chat: Chat) -> None:
    terminal = chat.open()
    terminal.child.send("fail\r")
    terminal.wait_for("✗ the model is overloaded")
    terminal.child.send("hi\r")
    terminal.wait_for("You said: hi")
    assert leave(terminal) == 0


# -- interrupting


@pytest.mark.parametrize("key", [CTRL_C, ESC])
def test_a_flood_is_interrupted_and_what_was_typed_is_kept(chat: Chat, key: str) -> None:
    terminal = chat.open()
    terminal.child.send("flood\r")
    terminal.wait_for("of the flood")
    terminal.child.send("half a ")
    terminal.wait_for("> half a")
    terminal.child.send(key)
    terminal.wait_for("! interrupted", "> half a")
    (settled,) = chat.events("model_settled")
    assert settled["outcome"] == "interrupted"
    assert "of the flood" in settled["text"]
    terminal.child.send("message\r")
    terminal.wait_for("You said: half a message")
    assert leave(terminal) == 0


def test_a_stuck_command_is_interrupted_with_all_its_children(chat: Chat) -> None:
    terminal = chat.open()
    terminal.child.send("hang\r")
    pids = chat.file("pids")
    until(lambda: pids.exists() and len(pids.read_text().split()) == 3, "the command did not start")
    terminal.wait_for("Hang sleep 1000")
    found = [int(pid) for pid in pids.read_text().split()]
    assert not any(gone(pid) for pid in found)
    terminal.child.send(CTRL_C)
    terminal.wait_for("! Hang", "interrupted; it may be done in part", "! interrupted")
    until(lambda: all(gone(pid) for pid in found), "a process was left alive")
    terminal.child.send("hi\r")
    terminal.wait_for("You said: hi")
    assert leave(terminal) == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_polite_kill_ends_what_runs_and_leaves(chat: Chat, number: signal.Signals) -> None:
    terminal = chat.open()
    terminal.child.send("hang\r")
    pids = chat.file("pids")
    until(lambda: pids.exists() and len(pids.read_text().split()) == 3, "the command did not start")
    terminal.wait_for("Hang")
    found = [int(pid) for pid in pids.read_text().split()]
    terminal.child.kill(number)
    assert terminal.end() == 130
    until(lambda: all(gone(pid) for pid in found), "a process was left alive")
    assert chat.events("conversation_stopped")[-1]["clean"] is True


def test_a_kill_before_the_first_frame_is_not_lost(chat: Chat) -> None:
    terminal = Terminal(chat, "--told-to-leave", width=90)
    assert terminal.end() == 130
    assert chat.events("conversation_stopped")[-1]["clean"] is True


def test_when_the_terminal_goes_away_nothing_is_left_running(chat: Chat) -> None:
    terminal = chat.open()
    terminal.child.send("hang\r")
    pids = chat.file("pids")
    until(lambda: pids.exists() and len(pids.read_text().split()) == 3, "the command did not start")
    found = [int(pid) for pid in pids.read_text().split()]
    child: Any = terminal.child
    child.ptyproc.fileobj.close()
    until(lambda: gone(child.pid), "the program did not leave")
    assert child.wait() == 130
    until(lambda: all(gone(pid) for pid in found), "a process was left alive")
    assert chat.events("conversation_stopped")[-1]["clean"] is True


# -- leaving


def test_ctrl_c_twice_leaves_and_says_so_after_the_first(chat: Chat) -> None:
    terminal = chat.open()
    terminal.child.send("typed")
    terminal.wait_for("> typed")
    terminal.child.send(CTRL_C)
    terminal.wait_for("press Ctrl+C again to leave", "> typed")
    # The hint stands for as long as a second one leaves: when it has gone, pressing again only says it again.
    terminal.child.send(CTRL_C + CTRL_C)
    assert terminal.end() == 0
    assert chat.events("conversation_stopped")[-1]["clean"] is True


def test_ctrl_d_leaves_only_from_an_empty_line(chat: Chat) -> None:
    terminal = chat.open()
    terminal.child.send("ab" + CTRL_D)
    terminal.child.send("c\r")
    terminal.wait_for("You said: abc")
    assert leave(terminal) == 0


def test_leaving_in_the_middle_of_a_turn_stops_it_and_says_how_to_go_on(chat: Chat) -> None:
    terminal = chat.open()
    terminal.child.send("wait\r")
    terminal.wait_for("one moment")
    terminal.child.send("later\r")
    terminal.wait_for("queued: later")
    assert leave(terminal) == 0
    assert "1 queued message kept" in terminal.words()
    again = chat.open()
    again.wait_for("> later", "You said: later")
    assert leave(again) == 0


def test_when_the_log_cannot_be_written_it_ends_and_says_why(chat: Chat) -> None:
    terminal = chat.open()
    terminal.child.send("hi\r")
    terminal.wait_for("You said: hi")
    chat.file("full").touch()
    terminal.child.send("lost\r")
    assert terminal.end() == 1
    assert "can't be kept any more" in terminal.words()
    assert "no space left on device" in terminal.words()


# -- approvals


def test_approve_once(chat: Chat) -> None:
    terminal = chat.open()
    terminal.child.send("push\r")
    terminal.wait_for(
        "? May Shell do this?", "git push", "asks because it sends data out", "content from outside", KEYS
    )
    assert "always in this session" not in terminal.words()
    terminal.child.send("y\r")
    terminal.wait_for("✓ Shell git push", "pushed", "to the origin")
    terminal.wait_for("The tool said: pushed")
    assert chat.file("pushes").read_text() == "pushed\n"
    assert [event["decision"] for event in chat.events("approval_decided")] == ["once"]
    assert leave(terminal) == 0


def test_approve_for_the_session_and_see_the_diff(chat: Chat) -> None:
    terminal = chat.open()
    terminal.child.send("edit\r")
    terminal.wait_for("? May Edit do this?", "-two +three", "a yes, always in this session (Edit notes.md)", KEYS)
    terminal.child.send("a\r")
    terminal.wait_for("allowed for this session: Edit notes.md", "@@ -1,2 +1,2 @@ one -two +three", "The tool said")
    assert b"\x1b[32m+three" in terminal.raw
    terminal.child.send("edit again\r")
    terminal.wait_for("> edit again")
    until(lambda: len(chat.events("tool_settled")) == 2, "the second call was not allowed")
    assert [event["decision"] for event in chat.events("approval_decided")] == ["session"]
    assert leave(terminal) == 0


def test_deny_with_one_key(chat: Chat) -> None:
    terminal = chat.open()
    terminal.child.send("push\r")
    terminal.wait_for(KEYS)
    terminal.child.send("n\r")
    terminal.wait_for("✗ Shell git push", "denied", "The tool said: This call was not allowed")
    assert not chat.file("pushes").exists()
    assert leave(terminal) == 0


def test_deny_with_a_reason(chat: Chat) -> None:
    terminal = chat.open()
    terminal.child.send("push\r")
    terminal.wait_for(KEYS)
    terminal.child.send("r\r")
    terminal.wait_for("reason:")
    terminal.child.send("not on a friday\r")
    terminal.wait_for("denied: not on a friday", "The tool said: This call was not allowed: not on a friday")
    assert [event["reason"] for event in chat.events("approval_decided")] == ["not on a friday"]
    assert leave(terminal) == 0


def test_on_a_low_and_narrow_screen_a_question_can_be_read_and_answered(chat: Chat) -> None:
    terminal = chat.open(60, 9)
    terminal.child.send("push\r")
    terminal.wait_for("? May Shell do this?", "git push", KEYS, "ask · obedient")
    terminal.child.send("y\r")
    terminal.wait_for("The tool said: pushed")
    assert leave(terminal) == 0


def test_keys_are_text_while_something_is_being_typed(chat: Chat) -> None:
    terminal = chat.open()
    terminal.child.send("push\r")
    terminal.wait_for(KEYS)
    terminal.child.send("hay")
    terminal.wait_for("> hay", "send or clear what you typed")
    assert chat.events("approval_decided") == []
    terminal.child.send("\r")
    terminal.wait_for("queued: hay")
    terminal.child.send("y\r")
    terminal.wait_for("✓ Shell git push", "You said: hay")
    assert leave(terminal) == 0


def test_the_first_letter_of_a_sentence_approves_nothing(chat: Chat) -> None:
    """With a question open and an empty line, each of these letters was an answer."""
    terminal = chat.open()
    terminal.child.send("edit\r")
    terminal.wait_for("? May Edit do this?", KEYS)
    for letter in "also check the tests, yes, not now, really":
        terminal.child.send(letter)
    terminal.wait_for("also check the tests, yes, not now, really")
    assert chat.events("approval_decided") == []
    terminal.child.send("\r")
    terminal.wait_for("queued: also check the tests, yes, not now, really")
    assert chat.events("approval_decided") == []
    terminal.child.send("n\r")
    terminal.wait_for("denied")
    assert [event["decision"] for event in chat.events("approval_decided")] == ["denied"]
    assert leave(terminal) == 0


def test_several_questions_come_one_after_the_other(chat: Chat) -> None:
    terminal = chat.open()
    terminal.child.send("both\r")
    terminal.wait_for("May Shell do this?", "1 more question after this", KEYS)
    terminal.child.send("y\r")
    terminal.wait_for("May Edit do this?", KEYS)
    terminal.child.send("n\r")
    terminal.wait_for("✓ Shell", "✗ Edit", "The tool said")
    decided = {event["call"]: event["decision"] for event in chat.events("approval_decided")}
    assert decided == {"c1": "once", "c2": "denied"}
    assert leave(terminal) == 0


def test_a_letter_that_was_typed_for_one_question_answers_no_other(chat: Chat) -> None:
    terminal = chat.open()
    terminal.child.send("both\r")
    terminal.wait_for("May Shell do this?", "1 more question after this", KEYS)
    terminal.child.send("y")
    terminal.wait_for("> y")
    chat.file("told").write_text("c1")
    chat.file("told").rename(chat.file("denied-elsewhere"))
    terminal.wait_for("May Edit do this?", 'put aside, for that question is gone: "y"')
    terminal.child.send("\r")
    until(lambda: len(chat.events("approval_decided")) == 1, "the first was not answered")
    terminal.child.send("n\r")
    terminal.wait_for("✗ Shell", "✗ Edit", "The tool said")
    assert [(event["call"], event["decision"]) for event in chat.events("approval_decided")] == [
        ("c1", "denied"),
        ("c2", "denied"),
    ]
    assert leave(terminal) == 0


def test_an_interrupt_answers_a_question_with_no(chat: Chat) -> None:
    terminal = chat.open()
    terminal.child.send("push\r")
    terminal.wait_for(KEYS)
    terminal.child.send(CTRL_C)
    terminal.wait_for("interrupted before it began", "! interrupted")
    assert not chat.file("pushes").exists()
    assert leave(terminal) == 0


@pytest.mark.parametrize("how", ["killed", "left"])
def test_a_question_survives_and_is_answered_after_a_restart(chat: Chat, how: str) -> None:
    terminal = chat.open()
    terminal.child.send("push\r")
    terminal.wait_for(KEYS)
    if how == "killed":
        terminal.child.kill(signal.SIGKILL)
        terminal.end()
    else:
        assert leave(terminal) == 0
        assert "1 question still waits for you; answer with: weft chat --session talk" in terminal.words()
    assert chat.events("tool_settled") == []
    again = chat.open()
    again.wait_for("> push", "? May Shell do this?", "asks because it sends data out", "content from outside", KEYS)
    again.child.send("y\r")
    again.wait_for("✓ Shell git push", "The tool said: pushed")
    assert chat.file("pushes").read_text() == "pushed\n"
    assert leave(again) == 0


# -- coming back


def test_a_conversation_that_is_opened_again_shows_its_last_exchanges(chat: Chat) -> None:
    terminal = chat.open()
    for number in range(5):
        terminal.child.send(f"number {number}\r")
        terminal.wait_for(f"You said: number {number}")
    assert leave(terminal) == 0
    again = chat.open()
    again.wait_for("2 earlier messages: weft sessions show talk", "> number 2", "You said: number 4")
    assert "number 1" not in again.text()
    again.child.send(UP)
    again.wait_for("> number 4 ask ·")
    assert leave_typed(again) == 0


def leave_typed(terminal: Terminal) -> int | None:
    terminal.child.send("\x15")  # Ctrl+U clears the line
    return leave(terminal)


def test_after_a_crash_in_an_answer_the_conversation_goes_on(chat: Chat) -> None:
    terminal = chat.open()
    terminal.child.send("wait\r")
    terminal.wait_for("one moment")
    terminal.child.kill(signal.SIGKILL)
    terminal.end()
    again = chat.open()
    again.wait_for("> wait", "the program had ended here")
    again.child.send("hi\r")
    again.wait_for("You said: hi")
    assert leave(again) == 0


# -- the terminal itself


def test_nothing_a_model_or_a_tool_says_reaches_the_terminal_as_a_command(chat: Chat) -> None:
    terminal = chat.open(WEFT_NOTIFY="none")  # the bell and the title are the face's own
    terminal.child.send("evil\r")
    terminal.wait_for("✗ Evil", "The tool said: before")
    terminal.child.send(CTRL_O)
    terminal.wait_for("→ Evil")
    assert leave(terminal) == 0
    for sequence in (b"\x1b[2J", b"\x1b]0;", b"\x9b2J".decode("latin-1").encode(), b"\x07", "\u202e".encode()):
        assert sequence not in terminal.raw


def test_no_color(chat: Chat) -> None:
    terminal = chat.open(NO_COLOR="1")
    terminal.child.send("edit\r")
    terminal.wait_for(KEYS)
    terminal.child.send("y\r")
    terminal.wait_for("+three", "The tool said")
    assert leave(terminal) == 0
    assert b"\x1b[3" not in terminal.raw.replace(b"\x1b[?", b"")


def test_the_window_changes_its_size(chat: Chat) -> None:
    terminal = chat.open(100)
    terminal.child.send("push\r")
    terminal.wait_for(KEYS)
    terminal.screen.resize(24, 60)
    terminal.child.setwinsize(24, 60)
    # Wrapped anew: the warning does not fit into one line any more.
    wrapped = "content from outside is in this conversation: what it\n"
    until(lambda: wrapped in _fed(terminal), "the question was not laid out anew")
    before = len(terminal.raw)
    terminal.screen.resize(24, 50)
    terminal.child.setwinsize(24, 50)
    until(lambda: wrapped not in _fed(terminal), "the question was not laid out anew")
    # Cleared line by line: as a whole, from the first place of a window, it would go into the history of tmux.
    assert re.search(rb"\x1b\[\d*A\x1b\[K", terminal.raw[before:])
    terminal.child.send("y\r")
    terminal.wait_for("The tool said: pushed")
    assert leave(terminal) == 0


def _fed(terminal: Terminal) -> str:
    terminal.wait_for("May Shell do this?")
    terminal.feed()
    return terminal.text()


def test_the_face_is_loaded_only_when_it_is_needed(chat: Chat) -> None:
    code = "import sys, weft.cli.chat.face; sys.exit('prompt_toolkit' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, env=chat.env).returncode == 0
