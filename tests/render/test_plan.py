"""Plans in words, for pipes and for terminals."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from inline_snapshot import snapshot
from rich.cells import cell_len

from weft.protocol.plans import Plan, PlanLine
from weft.render.plan import plan_lines, plan_summary, plan_table, plan_text

from .screens import SESSION, screen
from .strategies import steps, texts

PLAN = Plan(
    session=SESSION,
    pipeline="writing-kit",
    lines=(
        PlanLine(step="summary", action="skip", reason="up to date"),
        PlanLine(step="ideas", action="run", reason="summary.json was edited by hand"),
        PlanLine(step="outline", action="run", reason="ideas is made again", conditional=True),
        PlanLine(step="kit", action="leave", reason="not needed for outline"),
    ),
    notes=("your edit of outline.md would be set aside as outline.edited.md",),
)


def test_text() -> None:
    assert plan_text(PLAN) == snapshot("""\
summary: skip, up to date
ideas: run, summary.json was edited by hand
outline: run, ideas is made again (skipped if that yields the same bytes)
kit: leave, not needed for outline
note: your edit of outline.md would be set aside as outline.edited.md
2 to run, 1 up to date, 1 not asked for\
""")


def test_table_at_60_columns() -> None:
    assert screen(plan_table(PLAN, 60), 60) == snapshot("""\
writing-kit · on-rivers-3fa9c1

  • summary  skip   up to date
  ▸ ideas    run    summary.json was edited by hand
  ▸ outline  run    ideas is made again (skipped if that
                    yields the same bytes)
  ○ kit      leave  not needed for outline

    note: your edit of outline.md would be set aside as
    outline.edited.md

  2 to run, 1 up to date, 1 not asked for
""")


def test_table_at_120_columns() -> None:
    assert screen(plan_table(PLAN, 120), 120) == snapshot("""\
writing-kit · on-rivers-3fa9c1

  • summary  skip   up to date
  ▸ ideas    run    summary.json was edited by hand
  ▸ outline  run    ideas is made again (skipped if that yields the same bytes)
  ○ kit      leave  not needed for outline

    note: your edit of outline.md would be set aside as outline.edited.md

  2 to run, 1 up to date, 1 not asked for
""")


def test_ascii_table() -> None:
    assert screen(plan_table(PLAN, 60, ascii=True), 60).isascii()


def test_a_plan_for_a_session_that_is_not_there_yet_has_no_dangling_dot() -> None:
    assert screen(plan_table(Plan(session="", pipeline="kit", lines=()), 60), 60).splitlines()[0] == "kit"


def test_summaries() -> None:
    run, skip, leave = (PlanLine(step="a", action=action, reason="r") for action in ("run", "skip", "leave"))
    assert plan_summary(Plan(session="", pipeline="", lines=(run, run, skip))) == "2 to run, 1 up to date"
    assert plan_summary(Plan(session="", pipeline="", lines=(skip, skip))) == "nothing to run, 2 up to date"
    assert plan_summary(Plan(session="", pipeline="", lines=(skip, leave))) == (
        "0 to run, 1 up to date, 1 not asked for"
    )


lines = st.builds(
    PlanLine, step=steps, action=st.sampled_from(("run", "skip", "leave")), reason=texts, conditional=st.booleans()
)
plans = st.builds(
    Plan,
    session=texts,
    pipeline=texts,
    lines=st.lists(lines, max_size=5).map(tuple),
    notes=st.lists(texts, max_size=2).map(tuple),
)


@settings(deadline=None)
@given(plans, st.sampled_from((40, 60, 120)))
def test_any_plan_fits_and_says_every_reason(plan: Plan, width: int) -> None:
    text = screen(plan_table(plan, width), width + 40)
    assert max(cell_len(line) for line in text.split("\n")) <= width
    assert len(plan_lines(plan)) == len(plan.lines) + len(plan.notes) + 1
    assert all("\n" not in line for line in plan_lines(plan))
