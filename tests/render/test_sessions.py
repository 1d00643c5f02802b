"""Lists of sessions and the page of one, for pipes and for terminals."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from inline_snapshot import snapshot
from rich.cells import cell_len

from weft.render.conversation_blocks import conversation_lines
from weft.render.page import group, page
from weft.render.sessions import (
    SessionPage,
    SessionRow,
    StepRow,
    session_screen,
    session_text,
    sessions_table,
    sessions_text,
)

from .screens import FOLDER, SESSION, screen
from .strategies import texts

NOW = "2026-03-01T12:05:00Z"
LONG = "a-long-title-of-a-talk-about-everything-77ffaa-2"
ROWS = [
    SessionRow(SESSION, "writing-kit", "done", 5, 5, "2026-03-01T12:00:00Z"),
    SessionRow(LONG, "writing-kit", "in_progress", 2, 5, "2026-03-01T10:00:00Z", "held by process 4242"),
]
PAGE = SessionPage(
    id=SESSION,
    pipeline="writing-kit",
    status="failed",
    created="2026-03-01T11:00:00Z",
    updated="2026-03-01T12:04:40Z",
    folder=FOLDER,
    steps=[
        StepRow("summary", "completed", 1, "summary.json", 412),
        StepRow("ideas", "failed", 3, "ideas.json", 2210, "a quote is not\nin the source", "the source was changed"),
        StepRow("kit", "pending", 0, "kit.md"),
    ],
    notes=["line 14 of the log is damaged"],
)


def test_list_on_a_pipe() -> None:
    assert [line.split("\t") for line in sessions_text(ROWS).split("\n")] == snapshot(
        [
            ["on-rivers-3fa9c1", "writing-kit", "done", "5", "5", "2026-03-01T12:00:00Z", "", ""],
            [
                "a-long-title-of-a-talk-about-everything-77ffaa-2",
                "writing-kit",
                "in_progress",
                "2",
                "5",
                "2026-03-01T10:00:00Z",
                "held by process 4242",
                "",
            ],
        ]
    )


def test_list_at_60_columns() -> None:
    assert screen(sessions_table(ROWS, 60, NOW), 60) == snapshot("""\
  ✓ on-rivers-3fa9c1
    done · 5 of 5 steps · writing-kit · 5 min ago
  ▸ a-long-title-of-a-talk-about-everything-77ffaa-2
    in progress · 2 of 5 steps · writing-kit · 2 h ago
    held by process 4242
""")


def test_list_at_120_columns() -> None:
    assert screen(sessions_table(ROWS, 120, NOW), 120) == snapshot("""\
  ✓ on-rivers-3fa9c1                                  writing-kit  done         5 of 5 steps  5 min ago
  ▸ a-long-title-of-a-talk-about-everything-77ffaa-2  writing-kit  in progress  2 of 5 steps  2 h ago
    held by process 4242
""")


def test_the_list_is_one_line_each_as_soon_as_that_fits() -> None:
    exact = len("  ✓ on-rivers-3fa9c1  writing-kit  done  5 of 5 steps  5 min ago")
    assert screen(sessions_table(ROWS[:1], exact, NOW), exact).count("\n") == 1
    assert screen(sessions_table(ROWS[:1], exact - 1, NOW), exact - 1).count("\n") == 2


def test_a_conversation_has_a_title_and_its_words_and_no_steps() -> None:
    row = SessionRow("talk-1", "", "idle", 0, 0, "2026-03-01T12:00:00Z", "", "What is a loom?")
    assert "0 of 0" not in screen(sessions_table([row], 60, NOW), 60)
    shown = screen(
        session_screen(
            SessionPage(
                id="talk-1",
                pipeline="",
                status="idle",
                created="2026-03-01T11:00:00Z",
                updated="2026-03-01T12:00:00Z",
                title="What is a loom?",
                works_in="/home/maria/desk",
            ),
            60,
            NOW,
        ),
        60,
    )
    assert shown == snapshot("""\
talk-1
What is a loom?
idle · conversation
created 1 h ago, updated 5 min ago
works in /home/maria/desk

""")
    said = [("you", "What is a loom?"), ("own/m1", "A **frame** for weaving.")]
    shown = screen(group(conversation_lines(said * 11, page(60, False))), 60)
    assert shown.startswith("2 earlier messages: weft sessions export\n> What is a loom?\n\nA frame for weaving.\n\n> ")


def test_page_on_a_pipe() -> None:
    assert session_text(PAGE).split("\n") == snapshot(
        [
            "id\ton-rivers-3fa9c1",
            "pipeline\twriting-kit",
            "status\tfailed",
            "created\t2026-03-01T11:00:00Z",
            "updated\t2026-03-01T12:04:40Z",
            "folder\t/home/maria/.weft/sessions/on-rivers-3fa9c1",
            "note\tline 14 of the log is damaged",
            "step\tsummary\tcompleted\t1\tsummary.json\t412\t\t",
            "step\tideas\tfailed\t3\tideas.json\t2210\ta quote is not↵in the source\tthe source was changed",
            "step\tkit\tpending\t0\tkit.md\t\t\t",
        ]
    )


def test_page_at_60_columns() -> None:
    assert screen(session_screen(PAGE, 60, NOW), 60) == snapshot("""\
on-rivers-3fa9c1
failed · writing-kit
created 1 h ago, updated just now
/home/maria/.weft/sessions/on-rivers-3fa9c1

  ✓ summary  completed · summary.json                  0.4 s
  ✗ ideas    failed · ideas.json · 3 attempts          2.2 s
    why: the source was changed
    a quote is not
    in the source
  ○ kit      pending · kit.md

    note: line 14 of the log is damaged

    What is finished is kept. Go on with:
      weft run --session-id on-rivers-3fa9c1
""")


def test_page_at_120_columns() -> None:
    assert screen(session_screen(PAGE, 120, NOW), 120) == snapshot("""\
on-rivers-3fa9c1
failed · writing-kit
created 1 h ago, updated just now
/home/maria/.weft/sessions/on-rivers-3fa9c1

  ✓ summary  completed · summary.json                                                                              0.4 s
  ✗ ideas    failed · ideas.json · 3 attempts                                                                      2.2 s
    why: the source was changed
    a quote is not
    in the source
  ○ kit      pending · kit.md

    note: line 14 of the log is damaged

    What is finished is kept. Go on with:
      weft run --session-id on-rivers-3fa9c1
""")


def test_ascii() -> None:
    assert screen(sessions_table(ROWS, 60, NOW, ascii=True), 60).isascii()
    assert screen(session_screen(PAGE, 60, NOW, ascii=True), 60).isascii()


rows = st.builds(
    SessionRow,
    id=texts,
    pipeline=texts,
    status=texts | st.sampled_from(("done", "failed")),
    steps_done=st.integers(0, 99),
    steps_total=st.integers(0, 99),
    updated=texts,
    note=texts,
)
steps = st.builds(
    StepRow, name=texts, status=texts, attempts=st.integers(0, 9), artifact=texts, message=texts, reason=texts
)
pages = st.builds(
    SessionPage,
    id=texts,
    pipeline=texts,
    status=texts,
    created=texts,
    updated=texts,
    steps=st.lists(steps, max_size=3),
    folder=texts,
    notes=st.lists(texts, max_size=2),
)


@settings(deadline=None)
@given(st.lists(rows, max_size=4), pages, st.sampled_from((40, 60, 120)))
def test_everything_fits_and_pipes_have_one_line_each(listed: list[SessionRow], page: SessionPage, width: int) -> None:
    text = screen(sessions_table(listed, width, NOW), width + 40) + screen(session_screen(page, width, NOW), width + 40)
    assert max(cell_len(line) for line in text.split("\n")) <= width
    assert [line.count("\t") for line in sessions_text(listed).split("\n") if listed] == [7] * len(listed)
    assert len(session_text(page).split("\n")) == 6 + len(page.notes) + len(page.steps)
