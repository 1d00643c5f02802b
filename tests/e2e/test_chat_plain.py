"""A conversation without a terminal: messages on standard input, answers on standard output, all else on error."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import psutil
import pytest

from tests.e2e.test_chat_face import KEYS, Chat, gone, until
from tests.e2e.wired import wired
from tests.made import Weft
from tests.terminal import Terminal
from weft.testing.scripted import Hold
from weft.testing.wire import Reply


@pytest.fixture
def chat(tmp_path: Path) -> Chat:
    return Chat(tmp_path)


def run(chat: Chat, given: str, *words: str) -> tuple[int, str, str]:
    done = subprocess.run(
        chat.command(*words), env=chat.env, input=given.encode(), capture_output=True, timeout=120, check=False
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def test_each_line_is_a_message_and_answers_are_the_only_output(chat: Chat) -> None:
    assert run(chat, "one\n\ntwo\n") == (0, "You said: one\nYou said: two\n", "")
    said = [event["text"] for event in chat.events("message_accepted")]
    assert said == ["one", "two"]
    assert chat.events("conversation_stopped")[-1]["clean"] is True


def test_a_command_that_is_refused_is_said_and_the_next_line_is_taken(chat: Chat) -> None:
    code, out, err = run(chat, "one\n/mode nonsense\ntwo\n")
    assert (code, out) == (1, "You said: one\nYou said: two\n")
    assert "nonsense" in err


def test_all_of_the_input_is_one_message(chat: Chat) -> None:
    assert run(chat, "one\ntwo\n", "--whole-input") == (0, "You said: one\ntwo\n", "")


def test_a_message_that_is_given_is_the_only_one(chat: Chat) -> None:
    assert run(chat, "never read\n", "--message", "given") == (0, "You said: given\n", "")


def test_whoever_reads_the_answer_may_go(chat: Chat) -> None:
    """That is the end of it, as for every command; nothing is wrong with the conversation."""
    reading, writing = os.pipe()
    os.close(reading)
    try:
        words = chat.command("--message", "given")
        done = subprocess.run(words, env=chat.env, stdout=writing, stderr=subprocess.PIPE, timeout=120, check=False)
    finally:
        os.close(writing)
    assert b"can't be kept" not in done.stderr
    assert chat.events("turn_completed")


def test_every_approval_is_denied_and_the_model_is_told(chat: Chat) -> None:
    code, out, err = run(chat, "push\n")
    assert code == 0
    assert "The tool said: This call was not allowed: nobody is there to approve it" in out
    assert "✗ Shell  git push" in err
    assert not chat.file("pushes").exists()
    assert [event["decision"] for event in chat.events("approval_decided")] == ["denied"]


def test_a_question_that_an_earlier_process_left_open_is_denied_too(chat: Chat) -> None:
    terminal = chat.open()
    terminal.child.send("push\r")
    terminal.wait_for(KEYS)
    terminal.child.kill(signal.SIGKILL)
    terminal.end()
    code, out, err = run(chat, "hi\n")
    assert code == 0
    assert out.endswith("You said: hi\n")
    assert "denied: nobody is there to approve it" in err
    assert not chat.file("pushes").exists()


def test_a_question_of_the_model_is_refused(chat: Chat) -> None:
    code, out, err = run(chat, "ask\n")
    assert code == 0
    assert "The tool said: nobody is there to answer" in out
    assert "✗ AskUser" in err


def test_a_failed_model_call_is_exit_code_1(chat: Chat) -> None:
    code, out, err = run(chat, "fail\nhi\n")
    assert code == 1
    assert out == "You said: hi\n"
    assert "✗ the model is overloaded" in err


def test_what_is_printed_is_clean(chat: Chat) -> None:
    code, out, err = run(chat, "evil\n")
    assert code == 0
    for text in (out, err):
        assert "before ␛[2J" in text
        assert not set("\x1b\x07\x9b\u202e") & set(text)


def test_an_interrupt_stops_what_runs_and_is_exit_code_130(chat: Chat) -> None:
    process = subprocess.Popen(
        chat.command("--message", "hang"), env=chat.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE
    )
    with process:
        try:
            pids = chat.file("pids")
            until(lambda: pids.exists() and len(pids.read_text().split()) == 3, "the command did not start")
            found = [int(pid) for pid in pids.read_text().split()]
            process.send_signal(signal.SIGINT)
            assert process.wait(40) == 130
        finally:
            if psutil.pid_exists(process.pid):
                process.kill()
    until(lambda: all(gone(pid) for pid in found), "a process was left alive")
    assert chat.events("tool_settled")[-1]["outcome"] == "interrupted"


@pytest.mark.fresh
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_whoever_is_told_to_end_while_it_waits_for_a_line_ends_with_exit_code_130(weft: Weft, number: int) -> None:
    """Of a program that may say more, and of a person: the thread that reads still waits while Python ends."""
    words = ("chat", "--plain", "--session", "talk")
    with wired(weft, [Reply(text="Hello.")]):
        piped = subprocess.Popen(
            weft.command(*words), env=weft.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        with piped:
            assert piped.stdin is not None
            assert piped.stdout is not None
            assert piped.stderr is not None
            piped.stdin.write(b"one\n")
            piped.stdin.flush()
            assert piped.stdout.readline() == b"Hello.\n"
            piped.send_signal(number)
            code, said = piped.wait(40), piped.stderr.read()
        assert (code, b"Fatal" in said) == (130, False), said
        terminal = Terminal(weft, *words, width=90, height=40, TERM="dumb")
        terminal.wait_for("/help lists commands", ">")
        terminal.child.kill(number)
        assert terminal.end() == 130
        assert "Fatal" not in terminal.words()


def test_a_polite_kill_ends_a_chat_in_the_middle_of_an_answer(weft: Weft) -> None:
    """Unlike Ctrl+C, which stops the answer and stays."""
    hold = Hold()
    with wired(weft, [Reply(text="never heard", hold=hold)]):
        terminal = Terminal(weft, "chat", "--plain", "--session", "talk", width=90, height=40, TERM="dumb")
        terminal.wait_for("/help lists commands", ">")
        terminal.child.send("one\r")
        until(hold.reached.is_set, "the model was not asked")
        terminal.child.kill(signal.SIGTERM)
        assert terminal.end() == 130
    (ended,) = [event for event in weft.log("talk") if event["type"] == "turn_completed"]
    assert ended["disposition"] == "interrupted"


def test_a_line_that_was_interrupted_elsewhere_was_not_answered(weft: Weft) -> None:
    hold = Hold()
    with wired(weft, [Reply(text="never heard", hold=hold)]):
        words = weft.command("chat", "--plain", "--session", "talk", "one")
        with subprocess.Popen(words, env=weft.env, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
            until(hold.reached.is_set, "the model was not asked")
            assert weft("interrupt", "talk").code == 0
            assert process.wait(60) == 130


def test_when_the_log_cannot_be_written_it_fails_and_says_why(chat: Chat) -> None:
    assert run(chat, "hi\n")[0] == 0
    chat.file("full").touch()
    code, out, err = run(chat, "lost\n")
    assert code == 1
    assert out == ""
    assert "no space left on device" in err


def test_a_person_at_a_terminal_is_asked_in_lines(chat: Chat) -> None:
    """For a screen reader: nothing is drawn, and the next line answers what was asked."""
    terminal = Terminal(chat, width=90, height=40, TERM="dumb")
    terminal.wait_for("weft chat · talk", "/help lists commands")
    terminal.child.send("push\r")
    terminal.wait_for("May Shell do this?", "git push", KEYS, "then Enter >")
    terminal.child.send("r not on a Friday\r")
    terminal.wait_for("denied: not on a Friday", "The tool said:")
    terminal.child.send("ask\r")
    terminal.wait_for("Which colour?", "2 green")
    terminal.child.send("2\r")
    terminal.wait_for("Why?")
    terminal.child.send("it is calm\r")
    terminal.wait_for("The tool said: green; it is calm")
    terminal.child.send("/nonsense\r")
    terminal.wait_for("there is no command /nonsense")
    terminal.child.send("wait\r")
    until(lambda: len(chat.events("turn_started")) == 5, "it has begun")
    terminal.child.send("\x03")
    terminal.wait_for("interrupted")
    terminal.child.send("\x04")
    terminal.wait_for("go on with: weft chat --session talk")
    assert terminal.end() == 0
    assert b"\x1b[" not in terminal.raw, "nothing is drawn"
