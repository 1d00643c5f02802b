"""Whole screens of the live view at 40, 60 and 120 columns, to be read as a person reads them."""

from __future__ import annotations

from inline_snapshot import snapshot

from weft.protocol.events import RunEnded, StepSkipped
from weft.render.terminal import live
from weft.render.view import RunView

from .screens import (
    FOLDER,
    SESSION,
    at,
    begun,
    folded,
    run_done,
    run_failed,
    run_interrupted,
    screen,
    second_attempt,
    shown,
)


def test_second_attempt_at_60_columns() -> None:
    assert shown(second_attempt(), 60, 5.3) == snapshot("""\
writing-kit · on-rivers-3fa9c1          2 of 5 steps · 5.3 s

  • summary  skipped: up to date
  ✓ quotes   ran: first time                           0.4 s
    → quotes.json
  ⠸ ideas    attempt 2 · looking for sentences that…   3.3 s
    attempt 1 was rejected
    ✗ ideas.json at /ideas/0/quote: this sentence is not in
      content.md, where every quote must be found
      hint: copy the quote letter by letter from the source
  ○ outline  waiting
  ○ kit      waiting
""")


def test_second_attempt_at_120_columns() -> None:
    assert shown(second_attempt(), 120, 5.3) == snapshot("""\
writing-kit · on-rivers-3fa9c1                                                                      2 of 5 steps · 5.3 s

  • summary  skipped: up to date
  ✓ quotes   ran: first time                                                                                       0.4 s
    → quotes.json
  ⠸ ideas    attempt 2 · looking for sentences that carry an argument                                              3.3 s
    attempt 1 was rejected
    ✗ ideas.json at /ideas/0/quote: this sentence is not in content.md, where every quote must be found
      hint: copy the quote letter by letter from the source
  ○ outline  waiting
  ○ kit      waiting
""")


def test_failed_at_60_columns() -> None:
    assert shown(run_failed(), 60, 7) == snapshot("""\
writing-kit · on-rivers-3fa9c1          2 of 5 steps · 6.0 s

  • summary  skipped: up to date
  ✓ quotes   ran: first time                           0.4 s
    → quotes.json
  ✗ ideas    attempt 2 · failed: ideas.json was reje…  4.0 s
    attempt 2 was rejected
    ✗ ideas.json at /ideas/0/title: is longer than 80
      characters
    ✗ ideas.json at /ideas/1/title: is longer than 80
      characters
    ✗ ideas.json at /ideas/2/title: is longer than 80
      characters
    ✗ ideas.json at /ideas/3/title: is longer than 80
      characters
    ✗ ideas.json at /ideas/4/title: is longer than 80
      characters
      and 3 more
  ○ outline  not run
  ○ kit      not run

  ✗ Failed after 6.0 s
    ideas: ideas.json was rejected: 8 findings

    What is finished is kept. Try again:
      weft run --session-id on-rivers-3fa9c1
    Every attempt with its errors:
      weft sessions log on-rivers-3fa9c1
""")


def test_failed_at_120_columns() -> None:
    assert shown(run_failed(), 120, 7) == snapshot("""\
writing-kit · on-rivers-3fa9c1                                                                      2 of 5 steps · 6.0 s

  • summary  skipped: up to date
  ✓ quotes   ran: first time                                                                                       0.4 s
    → quotes.json
  ✗ ideas    attempt 2 · failed: ideas.json was rejected: 8 findings                                               4.0 s
    attempt 2 was rejected
    ✗ ideas.json at /ideas/0/title: is longer than 80 characters
    ✗ ideas.json at /ideas/1/title: is longer than 80 characters
    ✗ ideas.json at /ideas/2/title: is longer than 80 characters
    ✗ ideas.json at /ideas/3/title: is longer than 80 characters
    ✗ ideas.json at /ideas/4/title: is longer than 80 characters
      and 3 more
  ○ outline  not run
  ○ kit      not run

  ✗ Failed after 6.0 s
    ideas: ideas.json was rejected: 8 findings

    What is finished is kept. Try again:
      weft run --session-id on-rivers-3fa9c1
    Every attempt with its errors:
      weft sessions log on-rivers-3fa9c1
""")


def test_interrupted_at_60_columns() -> None:
    assert shown(run_interrupted(), 60, 7) == snapshot("""\
writing-kit · on-rivers-3fa9c1          2 of 5 steps · 6.0 s

  • summary  skipped: up to date
  ✓ quotes   ran: first time                           0.4 s
    → quotes.json
  ! ideas    attempt 2 · interrupted by the person     4.0 s
    attempt 1 was rejected
    ✗ ideas.json at /ideas/0/quote: this sentence is not in
      content.md, where every quote must be found
      hint: copy the quote letter by letter from the source
  ○ outline  not run
  ○ kit      not run

  ! Interrupted after 6.0 s by the person
    Nothing is lost. Continue with:
      weft run --session-id on-rivers-3fa9c1
""")


def test_done_at_60_columns() -> None:
    assert shown(run_done(), 60, 99) == snapshot("""\
writing-kit · on-rivers-3fa9c1     5 of 5 steps · 1 min 15 s

  • summary  skipped: up to date
  ✓ quotes   ran: first time                           0.4 s
    → quotes.json
  ✓ ideas    attempt 2 · ran: summary.json was edite…  5.0 s
    → ideas.json
  ✓ outline  ran: first time                           0.4 s
    → outline.json
  ✓ kit      ran: first time                      1 min 07 s
    → kit.json

  ✓ Done in 1 min 15 s · 4 ran, 1 skipped
    /home/maria/.weft/sessions/on-rivers-3fa9c1/kit.json
""")


def test_done_at_120_columns() -> None:
    assert shown(run_done(), 120, 99) == snapshot("""\
writing-kit · on-rivers-3fa9c1                                                                 5 of 5 steps · 1 min 15 s

  • summary  skipped: up to date
  ✓ quotes   ran: first time                                                                                       0.4 s
    → quotes.json
  ✓ ideas    attempt 2 · ran: summary.json was edited by hand                                                      5.0 s
    → ideas.json
  ✓ outline  ran: first time                                                                                       0.4 s
    → outline.json
  ✓ kit      ran: first time                                                                                  1 min 07 s
    → kit.json

  ✓ Done in 1 min 15 s · 4 ran, 1 skipped
    /home/maria/.weft/sessions/on-rivers-3fa9c1/kit.json
""")


def test_ascii_at_40_columns() -> None:
    text = shown([*run_failed()], 40, 7, ascii=True)
    assert text.isascii()
    assert text == snapshot("""\
writing-kit - o...  2 of 5 steps - 6.0 s

  = summary  skipped: up to date
  + quotes   ran: first time       0.4 s
    > quotes.json
  x ideas    attempt 2 - faile...  4.0 s
    attempt 2 was rejected
    x ideas.json at /ideas/0/title: is
      longer than 80 characters
    x ideas.json at /ideas/1/title: is
      longer than 80 characters
    x ideas.json at /ideas/2/title: is
      longer than 80 characters
    x ideas.json at /ideas/3/title: is
      longer than 80 characters
    x ideas.json at /ideas/4/title: is
      longer than 80 characters
      and 3 more
  . outline  not run
  . kit      not run

  x Failed after 6.0 s
    ideas: ideas.json was rejected: 8
    findings

    What is finished is kept. Try again:
      weft run --session-id
      on-rivers-3fa9c1
    Every attempt with its errors:
      weft sessions log on-rivers-3fa9c1
""")


def test_before_anything_happened() -> None:
    assert screen(live(RunView(SESSION, FOLDER), 0, 60), 60) == snapshot("""\
weft · on-rivers-3fa9c1

""")


def test_a_run_with_nothing_to_do_leads_to_the_file() -> None:
    skipped = [StepSkipped(run=1, step=step, reason="up to date") for step in ("summary", "kit")]
    events = [*begun(("summary", "kit")), *skipped, RunEnded(run=1, outcome="done")]
    view = folded(at(0, *events), RunView(SESSION, FOLDER, {"kit": ("kit.md", "kit.html")}))
    assert screen(live(view, 1, 60), 60) == snapshot("""\
writing-kit · on-rivers-3fa9c1          2 of 2 steps · 0.0 s

  • summary  skipped: up to date
  • kit      skipped: up to date

  ✓ Done in 0.0 s · everything was up to date
    /home/maria/.weft/sessions/on-rivers-3fa9c1/kit.md
    /home/maria/.weft/sessions/on-rivers-3fa9c1/kit.html
    weft open on-rivers-3fa9c1
""")


def test_in_a_low_terminal_the_finished_and_the_waiting_fold_first() -> None:
    whole = shown(second_attempt(), 60, 5.3)
    assert whole.count("\n") == 12
    assert shown(second_attempt(), 60, 5.3, height=12) == whole
    assert shown(second_attempt(), 60, 5.3, height=11) == whole.replace("    → quotes.json\n", "")
    assert shown(second_attempt(), 60, 5.3, height=10) == snapshot("""\
writing-kit · on-rivers-3fa9c1          2 of 5 steps · 5.3 s

  ✓ 2 steps finished
  ⠸ ideas    attempt 2 · looking for sentences that…   3.3 s
    attempt 1 was rejected
    ✗ ideas.json at /ideas/0/quote: this sentence is not in
      content.md, where every quote must be found
      hint: copy the quote letter by letter from the source
  ○ outline  waiting
  ○ kit      waiting
""")
    assert shown(second_attempt(), 60, 5.3, height=7) == snapshot("""\
writing-kit · on-rivers-3fa9c1          2 of 5 steps · 5.3 s

  ✓ 2 steps finished
  ⠸ ideas    attempt 2 · looking for sentences that…   3.3 s
    attempt 1 was rejected
    ✗ ideas.json at /ideas/0/quote: this sentence is not in
  ○ 2 steps waiting
""")
