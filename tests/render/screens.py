"""Runs to look at, and a way to look: events in the engine's order, rendered to the text a terminal would show."""

from __future__ import annotations

import io
from collections.abc import Iterable

from rich.console import Console, RenderableType

from weft.protocol.errors import Finding
from weft.protocol.events import (
    ArtifactAccepted,
    ArtifactRejected,
    Cause,
    Event,
    RunEnded,
    RunStarted,
    SessionCreated,
    StepCompleted,
    StepFailed,
    StepInterrupted,
    StepProgressed,
    StepSkipped,
    StepStarted,
)
from weft.render.terminal import live
from weft.render.view import RunView

SESSION = "on-rivers-3fa9c1"
FOLDER = f"/home/maria/.weft/sessions/{SESSION}"
STEPS = ("summary", "quotes", "ideas", "outline", "kit")
Moment = tuple[float, Event]
DIAMOND = {"summary": [], "ideas": ["summary"], "quotes": ["summary"], "kit": ["ideas", "quotes"]}

QUOTE = Finding(
    "ideas.json",
    "/ideas/0/quote",
    "this sentence is not in content.md, where every quote must be found",
    "copy the quote letter by letter from the source",
)


def screen(renderable: RenderableType, width: int, *, crop: bool = True) -> str:
    out = io.StringIO()
    console = Console(file=out, width=width, color_system=None, legacy_windows=False)
    console.print(renderable, crop=crop)
    return out.getvalue()


def coloured(renderable: RenderableType, width: int) -> str:
    out = io.StringIO()
    console = Console(file=out, width=width, color_system="standard", force_terminal=True, legacy_windows=False)
    console.print(renderable)
    return out.getvalue()


def folded(moments: Iterable[Moment], view: RunView | None = None) -> RunView:
    view = view or RunView(SESSION, FOLDER)
    for now, event in moments:
        view.apply(event, now)
    return view


def shown(run: list[Moment], width: int, now: float, *, ascii: bool = False, height: int | None = None) -> str:
    return screen(live(folded(run), now, width, ascii=ascii, height=height), width)


def started(step: str, attempt: int = 1, cause: Cause = "first", reason: str = "not yet made") -> StepStarted:
    return StepStarted(run=1, step=step, attempt=attempt, cause=cause, reason=reason, input_hash="", inputs={})


def rejected(step: str, attempt: int, *findings: Finding) -> ArtifactRejected:
    return ArtifactRejected(run=1, step=step, attempt=attempt, artifact=f"{step}.json", findings=findings)


def failed(step: str, attempt: int, message: str, *, retrying: bool, ms: int = 2000) -> StepFailed:
    return StepFailed(run=1, step=step, attempt=attempt, kind="rejected", message=message, retrying=retrying, ms=ms)


def completed(step: str, attempt: int = 1, ms: int = 412) -> list[Event]:
    return [
        ArtifactAccepted(run=1, step=step, attempt=attempt, artifact=f"{step}.json", hash="", size=1234),
        StepCompleted(run=1, step=step, attempt=attempt, hash="", schema_version="1", ms=ms),
    ]


def begun(steps: tuple[str, ...] = STEPS, desired: str = "kit") -> list[Event]:
    return [
        SessionCreated(session=SESSION, pipeline="writing-kit", weft="0.1"),
        RunStarted(run=1, pipeline="writing-kit", steps=steps, desired=desired, parameters={}),
    ]


def at(now: float, *events: Event) -> list[Moment]:
    return [(now, event) for event in events]


def second_attempt() -> list[Moment]:
    """A run in full flight: one step skipped, one done, one at its second attempt after a rejection."""
    return [
        *at(0, *begun(), StepSkipped(run=1, step="summary", reason="up to date")),
        *at(0, started("quotes"), started("ideas", reason="summary.json was edited by hand")),
        *at(0.4, *completed("quotes")),
        *at(2, rejected("ideas", 1, QUOTE), failed("ideas", 1, "ideas.json was rejected", retrying=True)),
        *at(2, started("ideas", 2, "retry", "attempt 1 failed")),
        *at(3, StepProgressed(step="ideas", attempt=2, text="looking for sentences that carry an argument\n")),
    ]


def run_failed() -> list[Moment]:
    findings = [Finding("ideas.json", f"/ideas/{n}/title", "is longer than 80 characters") for n in range(8)]
    return [
        *second_attempt(),
        *at(6, rejected("ideas", 2, *findings)),
        *at(6, failed("ideas", 2, "ideas.json was rejected: 8 findings", retrying=False, ms=4012)),
        *at(6, RunEnded(run=1, outcome="failed", message="failed: ideas")),
    ]


def run_interrupted() -> list[Moment]:
    why = "interrupted by the person"
    return [
        *second_attempt(),
        *at(6, StepInterrupted(run=1, step="ideas", attempt=2, why=why)),
        *at(6, RunEnded(run=1, outcome="interrupted", message=why)),
    ]


def run_done() -> list[Moment]:
    return [
        *second_attempt(),
        *at(7, *completed("ideas", 2, 5012), started("outline")),
        *at(8, *completed("outline"), started("kit")),
        *at(75, *completed("kit", ms=67_000), RunEnded(run=1, outcome="done")),
    ]
