"""What must hold for the live view of any run in any width."""

from __future__ import annotations

import unicodedata

import pyte
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inline_snapshot import snapshot
from rich.cells import cell_len

from tests.lanes import lives
from weft.protocol.errors import Finding
from weft.protocol.events import NoticeGiven, RunEnded, StepProgressed
from weft.render.terminal import live
from weft.render.view import RunView

from .screens import (
    QUOTE,
    SESSION,
    Moment,
    at,
    begun,
    coloured,
    completed,
    failed,
    folded,
    rejected,
    run_done,
    run_failed,
    screen,
    second_attempt,
    shown,
    started,
)
from .strategies import moments


def test_a_step_that_failed_without_findings_says_what_happened_while_it_tries_again() -> None:
    events = [*begun(("ideas",), "ideas"), started("ideas"), failed("ideas", 1, "it raised ValueError", retrying=True)]
    assert "○ ideas  tries again, it raised ValueError" in shown(at(0, *events), 60, 1)
    events.append(started("ideas", 2, "retry", "attempt 1 failed"))
    assert "attempt 2 · after: it raised ValueError" in shown(at(0, *events), 60, 1)


def test_a_rerun_is_not_called_a_second_attempt() -> None:
    events = [*begun(("ideas",), "ideas"), started("ideas", 4, "rerun", "the source was changed")]
    text = shown(at(0, *events), 60, 1)
    assert "the source was changed" in text
    assert "attempt" not in text


def test_steps_that_were_not_asked_for_are_not_called_failures() -> None:
    events = [*begun(("ideas", "kit"), "ideas"), started("ideas"), *completed("ideas")]
    text = shown(at(0, *events, RunEnded(run=1, outcome="done")), 60, 1)
    assert "○ kit    not asked for" in text


def test_the_end_of_a_run_that_failed_outside_its_steps_says_why() -> None:
    text = shown(at(0, *begun(), RunEnded(run=1, outcome="failed", message="the disk is full")), 60, 1)
    assert "    the disk is full\n" in text


def test_commands_begin_as_the_face_says() -> None:
    text = screen(live(folded(run_failed()), 7, 120, program="weft --workspace /w"), 120)
    assert f"weft --workspace /w run --session-id {SESSION}" in text


def test_a_long_path_is_one_line_that_is_copied_as_one() -> None:
    folder = "/a-very-long-folder-name" * 6
    view = folded(run_done(), RunView(SESSION, folder))
    lines = screen(live(view, 99, 60), 60, crop=False).splitlines()
    path = lines[lines.index(next(line for line in lines if "Done" in line)) + 1 :]
    assert path == [f"    {folder}/kit.json"]


@pytest.mark.parametrize(("number", "more"), [(5, False), (6, True)])
def test_five_findings_are_shown_and_the_rest_counted(number: int, more: bool) -> None:
    findings = [Finding("a.json", f"/{place}", "is wrong") for place in range(number)]
    text = shown(at(0, *begun(("a",)), started("a"), rejected("a", 1, *findings)), 60, 1)
    assert text.count("is wrong") == 5
    assert ("and 1 more" in text, "and 0 more" in text) == (more, False)


@pytest.mark.parametrize(("words", "cut"), [(4, False), (5, True)])
def test_a_long_finding_takes_four_lines(words: int, cut: bool) -> None:
    finding = Finding("a.json", "", " ".join(["x" * 50] * (words - 1)))
    text = shown(at(0, *begun(("a",)), started("a"), rejected("a", 1, finding)), 60, 1)
    assert len([line for line in text.splitlines() if "x" * 40 in line or "a.json" in line]) == 4
    assert ("…" in text) is cut


@pytest.mark.parametrize(("lines", "cut"), [(8, False), (9, True)])
def test_a_long_error_takes_eight_lines_at_the_end(lines: int, cut: bool) -> None:
    message = "\n".join(f"trace {number}" for number in range(lines))
    events = [*begun(("a",)), started("a"), failed("a", 1, message, retrying=False)]
    end = shown(at(0, *events, RunEnded(run=1, outcome="failed", message="failed: a")), 60, 1).split("Failed")[1]
    assert end.count("    trace") + end.count("    a: trace") == 8
    assert "trace 7" in end
    assert ("trace 8" in end) is cut


def test_a_lone_finished_step_folds_to_its_own_line() -> None:
    run = at(0, *begun(("a", "b"), "b"), started("a"), *completed("a"), started("b"), rejected("b", 1, QUOTE))
    whole = shown(run, 60, 1)
    assert shown(run, 60, 1, height=whole.count("\n") - 3) == snapshot("""\
writing-kit · on-rivers-3fa9c1          1 of 2 steps · 1.0 s

  ✓ a  ran: first time                                 0.4 s
  ⠋ b  not yet made                                    1.0 s
    attempt 1 was rejected
    ✗ ideas.json at /ideas/0/quote: this sentence is not in
""")


def test_a_terminal_too_narrow_for_anything_gets_the_narrowest_page() -> None:
    text = screen(live(folded(run_failed()), 7, 10), 200)
    assert max(cell_len(line) for line in text.splitlines()) == 30


def test_old_notices_are_counted() -> None:
    events = [NoticeGiven(text=f"notice {number}") for number in range(8)]
    text = shown(at(0, *begun(("kit",)), *events), 60, 1)
    assert "3 earlier notices" in text
    assert "notice 2" not in text
    assert "note: notice 3\n" in text
    assert "note: notice 7\n" in text


def test_the_spinner_turns_with_the_clock() -> None:
    frames = {shown(second_attempt(), 60, now).splitlines()[5][2] for now in (5.0, 5.1, 5.2)}
    assert len(frames) == 3


def test_markup_and_escapes_in_findings_are_only_text() -> None:
    finding = Finding("[red]a.json[/red]", "", "\x1b[2Jgone\x07", "[link=http://x]y[/link]")
    text = shown(at(0, *begun(("a",)), started("a"), rejected("a", 1, finding)), 60, 1)
    assert "✗ [red]a.json[/red]: ␛[2Jgone␇" in text
    assert "hint: [link=http://x]y[/link]" in text


def test_colour_is_never_alone() -> None:
    """Without its colours a screen is the same text."""
    with_colour = coloured(live(folded(run_failed()), 7, 60), 60)
    assert "\x1b[31m" in with_colour
    terminal = pyte.Screen(60, 40)
    pyte.Stream(terminal).feed(with_colour.replace("\n", "\r\n"))
    assert [line.rstrip() for line in terminal.display if line.strip()] == [
        line for line in shown(run_failed(), 60, 7).splitlines() if line.strip()
    ]


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_a_terminal_agrees_on_every_width(width: int) -> None:
    """An emulator with its own idea of cells draws the same lines: none is wrapped, none moves the cursor."""
    nasty = "日本語のまとめ e\u0301 👩\u200d👧 👍🏽 ❤\ufe0f \x1b[2J \x1b[5;5H \u202e \x9b1m 한국어 " * 3
    finding = Finding("日本語.json", "/要約", nasty, nasty)
    run = [
        *at(0, *begun(("日本語のステップ", "ideas")), started("日本語のステップ", reason=nasty)),
        *at(1, StepProgressed(step="日本語のステップ", attempt=1, text=nasty)),
        *at(1, started("ideas", reason=nasty), rejected("ideas", 1, finding), NoticeGiven(text=nasty)),
    ]
    text = shown(run, width, 2)
    lines = text.splitlines()
    # One column more than the view was given, since pyte wraps before it sees that a mark combines. It must stay empty.
    terminal = pyte.Screen(width + 1, len(lines) + 5)
    pyte.Stream(terminal).feed(text.replace("\n", "\r\n"))
    assert {terminal.buffer[row][width].data for row in range(len(lines))} == {" "}
    drawn = [unicodedata.normalize("NFC", line.rstrip()) for line in terminal.display[: len(lines)]]
    assert drawn == [unicodedata.normalize("NFC", line.rstrip()) for line in lines]
    assert not any(line.strip() for line in terminal.display[len(lines) :])


@pytest.mark.lives
@settings(max_examples=lives(150, 1500), deadline=None)
@given(moments, st.sampled_from((40, 60, 61, 80, 120)), st.booleans())
def test_every_line_of_every_run_fits(run: list[Moment], width: int, ascii: bool) -> None:
    view = RunView("日本" * 30 + "\x1b[0m\n", "/tmp/\u202e" * 20)
    for now, event in run:
        view.apply(event, now)
        text = screen(live(view, now + 0.5, width, ascii=ascii), width + 40)
        assert max(cell_len(line) for line in text.split("\n")) <= width
        assert not set(text) & set("\x1b\x07\x00\u202e\u200d")
        assert text.isascii() or not ascii
        text.encode("utf-8")


@pytest.mark.lives
@settings(max_examples=lives(100, 1000), deadline=None)
@given(moments, st.integers(4, 40))
def test_a_height_is_kept(run: list[Moment], height: int) -> None:
    view = folded(run)
    assert screen(live(view, 1, 80, height=height), 80).count("\n") <= height
