"""Blocks, the live area and the status line as text: what they say, that they fit, that nothing in them is obeyed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from rich.cells import cell_len
from rich.text import Text

from weft.protocol.conversation_events import ToolOutcome
from weft.protocol.events import StatusChanged
from weft.render.conversation_blocks import block_lines, call_words, parted, whole_lines
from weft.render.conversation_live import live_lines, question_lines, status_line, wanted_lines
from weft.render.conversation_view import (
    Answered,
    Called,
    CallView,
    ConversationBlock,
    ConversationView,
    Noted,
    SpokenMessage,
    Thought,
    WrittenSpeech,
)
from weft.render.page import Page, page

WIDE = page(100, False)
EVIL = "a\x1b[2J\x1b]0;x\x07b\u202ec\nd"
DIFF = "changed a.md:\n--- a.md\n+++ a.md\n@@ -1 +1 @@\n-two\n+three\n"


def plain(lines: list[Text]) -> list[str]:
    return [line.plain.rstrip() for line in lines]


def a_call(**more: Any) -> CallView:
    given: dict[str, Any] = {"conversation": "main", "call": "c1", "tool": "Shell", "input": {"command": "make test"}}
    return CallView(**{**given, **more})


def of(block: ConversationBlock, sheet: Page = WIDE) -> list[str]:
    return plain(block_lines(block, sheet))


def test_what_a_person_said_keeps_its_lines() -> None:
    assert of(SpokenMessage("one\n\n  two")) == ["", "> one", "", "    two"]


def test_a_call_in_two_lines() -> None:
    lines = of(Called(a_call(phase="ended", outcome="succeeded", ms=1234, text="ok\nmore\nmore")))
    assert lines[0].split() == ["✓", "Shell", "make", "test", "1.2", "s"]
    assert len(lines[0]) == 100
    assert lines[1:] == ["      ok", "      more", "      more"]
    long = a_call(phase="ended", outcome="succeeded", text="\n".join("abcdefgh"))
    assert of(Called(long))[1:] == ["      a", "      b", "      c", "      … 5 more lines: Ctrl+O"]
    read = a_call(tool="Read", phase="ended", outcome="succeeded", text="a\nb\nc")
    assert of(Called(read))[1:] == ["      a", "      … 2 more lines: Ctrl+O"]
    answer = a_call(tool="AskUser", phase="ended", outcome="succeeded", text="Which?\ngreen")
    assert of(Called(answer))[1:] == ["      green"], "what was answered, not what was asked"


@pytest.mark.parametrize(
    ("outcome", "text", "told"),
    [
        ("denied", "not today", "✗ denied: not today"),
        ("denied", "", "✗ denied"),
        ("failed", "exit code 1", "✗ exit code 1"),
        ("succeeded", "", "✓ no output"),
        ("interrupted", "user", "! interrupted; it may be done in part"),
        ("interrupted_before_execution", "user", "! interrupted before it began"),
    ],
)
def test_each_end_of_a_call(outcome: ToolOutcome, text: str, told: str) -> None:
    first, second = of(Called(a_call(phase="ended", outcome=outcome, text=text, effect="unknown")))
    assert f"{first.split()[0]} {second.strip()}" == told


def test_a_diff_is_told_apart_from_its_result_and_coloured() -> None:
    assert parted(DIFF) == ("changed a.md", DIFF[len("changed a.md:\n") :])
    assert parted(f"{DIFF}\n\n{DIFF[len('changed a.md:') :]}") == parted(DIFF)
    other = DIFF[len("changed a.md:\n") :].replace("a.md", "b.md")
    assert parted(DIFF + other)[1] == parted(DIFF)[1] + other
    assert parted("--- just a rule\ntext") == ("--- just a rule\ntext", "")
    lines = block_lines(Called(a_call(tool="Edit", phase="ended", outcome="succeeded", text=DIFF)), WIDE)
    assert plain(lines)[1:] == ["      changed a.md", "      @@ -1 +1 @@", "      -two", "      +three"]
    looks = [str(line.spans[-1].style) for line in lines[2:]]
    assert looks == ["cyan", "red", "green"]


def test_a_long_diff_is_cut_and_says_so() -> None:
    long = "--- a\n+++ a\n@@ -1 +1 @@\n" + "+x\n" * 100
    assert of(Called(a_call(phase="ended", outcome="succeeded", text=long)))[-1].strip() == "… 61 more lines"


def test_a_sub_agents_calls_stand_under_it() -> None:
    inner = [a_call(tool="Grep", phase="ended", outcome="succeeded", text=f"{n} found") for n in range(10)]
    lines = of(Called(a_call(tool="Task", phase="ended", outcome="succeeded", text="done", inner=inner)))
    assert lines[1].startswith("      ✓ Grep")
    assert lines[2] == "          0 found"
    assert lines[-2:] == ["      and 2 more", "      done"]


def test_thinking_is_folded_and_can_be_unfolded() -> None:
    block = Thought("first\nsecond", 2.5)
    assert of(block) == ["", "· thought for 2.5 s"]
    assert plain(whole_lines(block, WIDE)) == ["", "→ thought for 2.5 s", "  first", "  second"]


def test_a_note_has_a_sign_for_what_it_is() -> None:
    assert of(Noted("kept")) == ["  • kept"]
    assert of(Noted("stopped", "warning")) == ["  ! stopped"]
    assert of(Noted("broken", "error")) == ["  ✗ broken"]


def test_the_telling_part_of_an_input() -> None:
    assert call_words({"limit": 3, "path": "a.md"}) == "a.md"
    assert call_words({"x": {"y": "é"}}) == '{"x": {"y": "é"}}'
    assert call_words({"todos": [{"text": "a"}, {"text": "b"}]}) == "2 todos"
    assert call_words({"questions": [{"question": "Which?"}, {"question": "Why?"}]}) == "Which? Why?"
    assert call_words({}) == ""


# -- the live area


def asked(**more: Any) -> ConversationView:
    call = a_call(phase="asked", reason="it runs a program", **more)
    return ConversationView(calls={(call.conversation, call.call): call})


def live(view: ConversationView, now: float = 0.0, sheet: Page = WIDE, height: int = 30) -> list[str]:
    return plain(live_lines(view, now, sheet, height=height))


def test_a_question_says_what_why_and_which_keys() -> None:
    assert live(asked()) == [
        "",
        "? May Shell do this?",
        "    make test",
        "  asks because it runs a program",
        "  y  yes, once",
        "  n  no",
        "  r  no, with a reason",
        "  then Enter",
    ]
    assert "  a  yes, always in this session (Shell make)" in live(asked(key="Shell make"))
    rule = '{"tool": "Edit", "path": "a.md"}'
    assert "  f  yes, from now on, by a rule: Edit path a.md" in live(asked(always=rule))
    assert any("content from outside" in line for line in live(asked(tainted=True)))
    assert "sub-agent a1" in live(asked(conversation="main/a1"))[1]


def test_a_change_that_needs_approval_is_shown_as_a_diff() -> None:
    lines = live(asked(tool="Edit", input={"path": "a.md", "old": "two", "new": "three\nfour", "all": True}))
    assert lines[2:7] == ["    a.md", "    all: true", "    -two", "    +three", "    +four"]


def test_nothing_of_what_needs_approval_is_hidden_silently() -> None:
    lines = live(asked(input={"command": "ls\nrm -rf /", "cwd": "/"}))
    assert lines[2:5] == ["    ls", "    rm -rf /", "    cwd: /"]
    long = asked(input={"command": "\n".join(f"line {n}" for n in range(40))})
    assert "    … 28 more lines; Ctrl+O shows all of it" in live(long)
    assert plain(wanted_lines(long.approvals[0], WIDE))[-1] == "    line 39"


def test_on_a_low_screen_the_question_and_its_keys_stay() -> None:
    view = asked(input={"command": "x " * 500})
    view.speeches["main"] = WrittenSpeech("t1/model", 0.0, tail="text")
    for height in range(1, 12):
        lines = live(view, height=height)
        assert len(lines) <= height
        assert lines[-1] == "  y yes, once  n no  r no, with a reason   then Enter"


def test_text_that_is_being_written_gives_way_from_its_beginning() -> None:
    view = ConversationView(speeches={"main": WrittenSpeech("t1/model", 0.0, tail="word " * 200 + "end", begun=True)})
    lines = live(view, height=4)
    assert len(lines) == 4
    assert lines[-1].endswith("end")


def test_running_calls_tick_and_nest() -> None:
    inner = [a_call(tool="Read", phase="ended"), a_call(tool="Grep", phase="running", started=8.0)]
    call = a_call(tool="Task", started=4.0, child="main/a1", inner=inner)
    view = ConversationView(calls={("main", "c1"): call}, turning=True)
    lines = live(view, now=10.0)
    assert lines[0].split()[1:] == ["Task", "make", "test", "6.0", "s"]
    assert lines[1] == "      ✓ 1 call done, last: Read make test"
    assert lines[2].startswith("      ⠋ Grep")
    assert lines[2].endswith("2.0 s")


def test_queued_messages_are_shown_as_queued() -> None:
    view = ConversationView(queued={str(n): f"message {n}" for n in range(5)})
    assert live(view) == [
        "  queued: message 0",
        "  queued: message 1",
        "  queued: message 2",
        "  and 2 more queued",
    ]


def test_waiting_and_thinking() -> None:
    speech = WrittenSpeech("t1/model", 1.0)
    assert live(ConversationView(speeches={"main": speech}), 3.5)[1].split() == [
        "⠴",
        "waiting",
        "for",
        "the",
        "model",
        "2.5",
        "s",
    ]
    speech.thinking, speech.thinking_since = "hm\nwell", 2.0
    lines = live(ConversationView(speeches={"main": speech}), 3.5)
    assert lines[1].endswith("1.5 s")
    assert lines[2:] == ["  hm", "  well"]
    assert live(ConversationView()) == []


def test_a_question_of_the_model() -> None:
    assert plain(question_lines("Which?", ("red", "green"), False, WIDE)) == [
        "",
        "? Which?",
        "   1  red",
        "   2  green",
        "  type the number of your choice, or an answer of your own, then Enter",
    ]


def test_the_status_line_leaves_out_what_is_not_known() -> None:
    fields = StatusChanged(mode="ask", model="embedded")
    assert status_line(fields, WIDE).plain == "ask · embedded"
    full = replace(fields, tokens=12345, cost="$0.10", context_used=0.456)
    assert status_line(full, WIDE).plain == "ask · embedded · 12,345 tokens · $0.10 · 46% of context used"


def test_on_a_narrow_screen_the_figures_stay() -> None:
    fields = StatusChanged(mode="ask", model="work/claude-sonnet-4-5", tokens=12345, cost="$0.10", context_used=0.456)
    assert status_line(fields, page(60, False)).plain == "ask · work/claude-sonnet-4-5 · 12,345 · $0.10 · 46%"
    assert status_line(fields, page(40, False)).plain == "ask · work/claud… · 12,345 · $0.10 · 46%"


# -- everything


def everything(text: str) -> list[ConversationBlock]:
    call = a_call(input={"command": text}, text=text, outcome="failed", phase="ended", reason=text, tool=text)
    return [SpokenMessage(text), Answered(text), Thought(text, 1.0), Called(call), Noted(text, "error")]


@pytest.mark.parametrize("width", [30, 60, 120])
@pytest.mark.parametrize("ascii", [False, True])
@pytest.mark.parametrize("text", [EVIL, "日本語" * 60, "word " * 80, "x" * 500])
def test_nothing_is_too_wide_and_nothing_is_obeyed(text: str, width: int, ascii: bool) -> None:
    sheet = page(width, ascii)
    lines = [line for block in everything(text) for line in block_lines(block, sheet)]
    view = asked(input={"command": text, "content": text}, key=text, tool=text)
    view.queued["m"] = text
    view.speeches["main"] = WrittenSpeech("t1/model", 0.0, tail=text, thinking=text)
    lines += live_lines(view, 0.0, sheet, height=100)
    lines += question_lines(text, (text,), True, sheet)
    lines += whole_lines(Thought(text), sheet)
    lines.append(status_line(StatusChanged(mode="ask", model=text), sheet))
    for line in lines:
        assert cell_len(line.plain) <= width
        assert all(" " <= character != "\x7f" and character not in "\x9b\u202e" for character in line.plain)
        if ascii:
            assert line.plain.isascii()
