"""Calls under their step: nested, bounded, with what is known of tokens and cost; open gates while others run."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from inline_snapshot import snapshot
from rich.cells import cell_len

from weft.protocol.call_events import CallKind, CallSettled, CallStarted, StepTextStreamed
from weft.protocol.events import Event, GateOpened, StepCompleted, StepInterrupted
from weft.protocol.gates import Choice
from weft.protocol.values import replace
from weft.render.calls import MOST_CALLS, call_lines, spent_parts
from weft.render.terminal import live

from .screens import at, begun, completed, folded, screen, started


def price(model: str, usage: Mapping[str, int]) -> Decimal | None:
    return Decimal(sum(usage.values())) / 1000 if model == "work/large" else None


def opened(call: str, kind: CallKind, name: str, parent: str = "", title: str = "") -> CallStarted:
    return CallStarted(step="ideas", attempt=1, call=call, kind=kind, name=name, parent=parent, title=title)


def ended(call: str, kind: CallKind, name: str, parent: str = "", *, ok: bool = True, message: str = "") -> CallSettled:
    return CallSettled(
        run=1,
        step="ideas",
        attempt=1,
        call=call,
        kind=kind,
        name=name,
        ms=1_234,
        ok=ok,
        parent=parent,
        title="look",
        message=message,
        model=name if kind == "model" else None,
        usage={"input": 1_200, "output": 34} if kind == "model" else {},
    )


def seen(events: list[Event], width: int, now: float = 4, height: int | None = None) -> str:
    view = folded(at(1, *begun(("summary", "ideas"), "ideas"), started("ideas"), *events))
    return screen(live(view, now, width, price=price, height=height), width)


AGENT: list[Event] = [
    opened("1", "agent", "reviewer", title="look for gaps"),
    opened("2", "model", "work/large", "1", "think"),
    ended("2", "model", "work/large", "1"),
    opened("3", "tool", "Read", "1", "notes.md"),
    ended("3", "tool", "Read", "1", ok=False, message="there is no notes.md"),
    opened("4", "model", "cheap", "1", "think again"),
    StepTextStreamed(step="ideas", attempt=1, call="4", text="first line\nthe end of what is written"),
]


def test_the_calls_of_an_agent_on_two_widths() -> None:
    assert seen(AGENT, 100) == snapshot("""\
writing-kit · on-rivers-3fa9c1                                                  0 of 2 steps · 3.0 s

  ○ summary  waiting
  ⠋ ideas    not yet made                                                                      3.0 s
    ⠋ reviewer · look for gaps                                                                 3.0 s
      ✓ work/large · look                                         1,200 in, 34 out · $1.2340 · 1.2 s
      ✗ Read · there is no notes.md                                                            1.2 s
      ⠋ cheap · think again                                                                    3.0 s
        first line the end of what is written
""")
    assert seen(AGENT, 60) == snapshot("""\
writing-kit · on-rivers-3fa9c1          0 of 2 steps · 3.0 s

  ○ summary  waiting
  ⠋ ideas    not yet made                              3.0 s
    ⠋ reviewer · look for gaps                         3.0 s
      ✓ work/large · look        1,234 tok · $1.2340 · 1.2 s
      ✗ Read · there is no notes.md                    1.2 s
      ⠋ cheap · think again                            3.0 s
        first line the end of what is written
""")


def test_a_step_that_is_done_shows_what_it_took_and_the_head_the_sum() -> None:
    done = StepCompleted(
        run=1,
        step="ideas",
        attempt=1,
        hash="",
        schema_version="",
        ms=4_000,
        model="work/large",
        usage={"input": 1_000, "output": 500},
    )
    text = seen([*AGENT, done], 100)
    assert "1,500 tokens · $1.5000 · 4.0 s" in text
    assert "reviewer" not in text
    assert "· 3.0 s · 1,500 tokens · $1.5000" in text.splitlines()[0]


def test_what_has_no_price_is_called_unknown_and_never_nothing() -> None:
    known, unknown = ("work/large", {"input": 10}), ("cheap", {"input": 5})
    assert spent_parts([known], price) == ["10 tokens", "$0.0100"]
    assert spent_parts([unknown], price) == ["5 tokens", "cost unknown"]
    assert spent_parts([known, unknown], price) == ["15 tokens", "$0.0100+?"]
    assert spent_parts([], price) == []
    stopped = StepInterrupted(run=1, step="ideas", attempt=1, why="x", model="cheap", usage={"input": 5})
    assert "5 tokens · cost unknown" in seen([stopped], 100)


def test_many_calls_leave_room_for_the_rest() -> None:
    many: list[Event] = [opened("1", "agent", "reviewer")]
    for number in range(2, 60):
        many += [opened(str(number), "tool", "Read", "1", f"file {number}"), ended(str(number), "tool", "Read", "1")]
    many.append(opened("60", "tool", "Grep", "1", "at work"))
    text = seen(many, 80)
    assert "reviewer" in text
    assert "at work" in text
    assert "earlier calls" in text
    assert text.count("Read") <= MOST_CALLS
    assert len(seen(many, 80, height=8).splitlines()) <= 8


def test_a_flood_of_text_takes_two_lines_and_fits() -> None:
    flood = [StepTextStreamed(step="ideas", attempt=1, call="4", text="日本語 [bold]\x1b[31m " * 400) for _ in range(5)]
    lines = seen([*AGENT, *flood], 60).splitlines()
    assert len(lines) == len(seen(AGENT, 60).splitlines()) + 1
    assert all(cell_len(line) <= 60 for line in lines)
    assert "\x1b" not in "".join(lines)


def test_an_open_gate_is_shown_with_its_choices_while_other_steps_run() -> None:
    gate = GateOpened(
        run=1,
        gate="summary-1",
        step="summary",
        hash="",
        message="Is this right?",
        shown=({"label": "Title", "value": "On rivers"},),
        choices=(Choice("proceed", "go on", "proceed"), Choice("amend", "change it", "amend")),
    )
    text = seen([started("summary"), *completed("summary"), gate], 60)
    for words in ("? summary is done; the run waits for you", "Is this right?", "Title: On rivers", "1 proceed: go on"):
        assert words in text


def test_plain_lines_say_what_is_called_what_came_of_it_and_what_it_cost() -> None:
    lines = [line for event in AGENT if not isinstance(event, GateOpened) for line in _lines(event)]
    assert lines == [
        "step ideas calls agent reviewer (look for gaps)",
        "step ideas calls model work/large (think)",
        "step ideas model work/large done (look) (1.2 s, 1,200 in, 34 out, $1.2340)",
        "step ideas calls tool Read (notes.md)",
        "step ideas tool Read failed (look) (1.2 s): there is no notes.md",
        "step ideas calls model cheap (think again)",
    ]


def test_what_came_of_a_call_says_for_which_item_it_was() -> None:
    settled = next(event for event in AGENT if isinstance(event, CallSettled))
    (line,) = call_lines(replace(settled, item="t-7"), price)
    assert line.startswith("step ideas item t-7 model work/large done")


def _lines(event: Event) -> list[str]:
    assert isinstance(event, CallStarted | CallSettled | StepTextStreamed)
    return call_lines(event, price)
