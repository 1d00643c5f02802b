"""Plain lines for pipes and logs: no colour, no cursor, one fact a line, the same words every time.

    run 1 started (pipeline kit, 3 steps, wanted: kit)
    step summary started (attempt 1, first: not yet made)
    step summary accepted summary.json (1.2 kB)
    step summary done in 0.4 s -> summary.json

A line that belongs to the one before it is indented. Nothing is cut.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from weft.protocol import events as e
from weft.protocol.call_events import CallEvent
from weft.protocol.conversation_events import (
    ApprovalDecided,
    ApprovalRequested,
    ConversationEvent,
    LiveConversationEvent,
    step_place,
)
from weft.protocol.errors import Finding
from weft.render.calls import Price, call_lines
from weft.render.cells import clean, paragraphs
from weft.render.conversation_lines import conversation_lines
from weft.render.flow import STEP_BUDGET, flow_lines, is_of_step, more_budget
from weft.render.units import count, human_ms, human_size, told_retry
from weft.render.view import RunEvent, StepEvent


class PlainLog:
    """`plain_lines` for a whole run: it remembers which artifacts an attempt made until the step is done."""

    def __init__(self, session: str = "", program: str = "weft", price: Price | None = None) -> None:
        self._session = session
        self._price = price
        self._program = program
        self._artifacts: dict[str, list[str]] = {}

    def lines(self, event: e.Event) -> list[str]:
        made: Sequence[str] = ()
        if isinstance(event, e.ArtifactAccepted) and not event.item:
            self._artifacts.setdefault(event.step, []).append(event.artifact)
        elif isinstance(event, e.StepStarted | e.StepCompleted):
            made = self._artifacts.pop(event.step, ())
        return plain_lines(event, self._session, artifacts=made, program=self._program, price=self._price)


def plain_lines(
    event: e.Event,
    session: str = "",
    *,
    artifacts: Sequence[str] = (),
    program: str = "weft",
    price: Price | None = None,
) -> list[str]:
    """The event in words. With a `session`, the end of a run also says what to do next."""
    if isinstance(event, ConversationEvent | LiveConversationEvent):
        # What a step's conversation does is told as the calls of the step; what is asked there is asked of a person.
        told = step_place(event.conversation) is None or isinstance(event, ApprovalRequested | ApprovalDecided)
        return conversation_lines(event) if told else []
    if isinstance(event, CallEvent):
        return call_lines(event, price)
    return _run_lines(event, session, artifacts, program)


def _run_lines(event: RunEvent, session: str, artifacts: Sequence[str], program: str) -> list[str]:
    match event:
        case e.SessionCreated() | e.SessionAdopted() | e.CutAccepted():
            return _session_lines(event)
        case e.InputRecorded():
            origin = f" from {event.origin}" if event.origin else ""
            return [clean(f"input {event.input} recorded as {event.file} ({human_size(event.size)}){origin}")]
        case e.RunStarted():
            steps = count(len(event.steps), "step")
            how = "taken up again" if event.resumed else "started"
            return [clean(f"run {event.run} {how} (pipeline {event.pipeline}, {steps}, wanted: {event.desired})")]
        case e.RunEnded():
            return _run_ended(event, session, program)
        case e.ArtifactSetAside():
            return [clean(f"artifact {event.artifact} was changed by hand, kept as {event.kept}")]
        case e.ArtifactRestored():
            return [clean(f"artifact {event.artifact} written again from the log")]
        case e.QuestionAsked() | e.QuestionClosed() | e.StatusChanged():
            return _asides(event)
        case e.SettingChanged() | e.SessionDescribed() | e.SourceSwitched():
            return _asides(event)
        case e.NoticeGiven():
            return _long("note: ", event.text)
        case _ if isinstance(event, e.FlowEvent):
            return flow_lines(event)
        case _:
            return _step_lines(event, artifacts)


def _session_lines(event: e.SessionCreated | e.SessionAdopted | e.CutAccepted) -> list[str]:
    match event:
        case e.SessionCreated():
            return [clean(f"session {event.session} created (pipeline {event.pipeline})")]
        case e.SessionAdopted():
            line = f"session {event.session} adopted (pipeline {event.pipeline}, {event.shape})"
            return [clean(line), *(clean(f"  note: {note}") for note in event.notes)]
        case e.CutAccepted():
            return ["the log goes on without what it has lost:", *(clean(f"  {lost}") for lost in event.lost)]


def _asides(
    event: e.QuestionAsked
    | e.QuestionClosed
    | e.StatusChanged
    | e.SettingChanged
    | e.SessionDescribed
    | e.SourceSwitched,
) -> list[str]:
    match event:
        case e.QuestionAsked():
            return [clean(f"asks: {one.get('text')}") for one in event.questions]
        case e.SettingChanged():
            return [clean(f"{event.setting}: {event.value}")]
        case e.SessionDescribed():
            return [clean(line) for line in _description(event)]
        case e.SourceSwitched():
            said = {True: "on", False: "off", None: "as its file says"}[event.on]
            return [clean(f"source {event.source}: {said}")]
        case _:
            return []


def _description(event: e.SessionDescribed) -> list[str]:
    words = {"title": event.title, "status": event.status, "note": event.note}
    told = [f"{name}: {value}" if value else f"no {name}" for name, value in words.items() if value is not None]
    told += [f"label {name}{f' = {value}' if value else ''}" for name, value in event.labels.items()]
    told += [f"no label {name}" for name in event.unlabelled]
    for is_so, yes, no in (
        (event.flag, "flagged", "no longer flagged"),
        (event.archived, "archived", "no longer archived"),
        (None if event.seen is None else event.seen > 0, "looked at", "unread"),
    ):
        told += [] if is_so is None else [yes if is_so else no]
    return told


def _step_lines(event: StepEvent, artifacts: Sequence[str]) -> list[str]:
    name = f"step {event.step}"
    match event:
        case e.StepProgressed():
            return [clean(f"{event.step}: {line}") for line in paragraphs(event.text)]
        case e.StepSkipped():
            return [clean(f"{name} skipped: {event.reason}")]
        case e.StepStarted():
            return [clean(f"{name} started (attempt {event.attempt}, {event.cause}: {event.reason})")]
        case e.ArtifactRejected():
            found = count(len(event.findings), "finding")
            first = clean(f"{name} rejected {event.artifact} (attempt {event.attempt}, {found})")
            return [first, *(line for finding in event.findings for line in _finding(finding))]
        case e.ArtifactAccepted():  # that of an item is said with its settlement
            return [] if event.item else [clean(f"{name} accepted {event.artifact} ({human_size(event.size)})")]
        case e.StepCompleted():
            made = f" -> {', '.join(artifacts)}" if artifacts else ""
            how = f"reused from session {event.reused}" if event.reused else f"done in {human_ms(event.ms)}"
            return [clean(f"{name} {how}{made}")]
        case e.StepFailed():
            then = ", retrying" if event.retrying else ""
            told = _long(f"{name} failed (attempt {event.attempt}, {event.kind}{then}): ", event.message)
            return told if event.retrying else [*told, *(f"  {clean(line)}" for line in event.trace.splitlines())]
        case e.StepModelRetried():
            return [
                clean(
                    f"{name} waits (attempt {event.attempt}): {told_retry(event.reason, event.wait_ms, event.instead)}"
                )
            ]
        case e.StepInterrupted():
            return [clean(f"{name} interrupted (attempt {event.attempt}): {event.why.removeprefix('interrupted ')}")]
        case e.ItemSettled():
            return [clean(f"{name} item {event.item} {_settled(event)}")]
        case e.EditAccepted() | e.StepAdopted():
            how = (
                "keeps the edit made by hand" if isinstance(event, e.EditAccepted) else "adopted from an older session"
            )
            return [clean(f"{name} {how}")]
        case _:
            assert_never(event)


def _settled(event: e.ItemSettled) -> str:
    if event.reused:
        return f"reused from session {event.reused}"
    how = "done" if event.ok else "failed, retrying" if event.retrying else "failed"
    return f"{how} in {human_ms(event.ms)}" + (f": {event.message}" if event.message else "")


def _run_ended(event: e.RunEnded, session: str, program: str) -> list[str]:
    said = event.message.startswith(event.outcome) or not event.message
    lines = _long("run " if said else f"run {event.outcome}: ", event.message or event.outcome)
    if not session or event.outcome == "done":
        return lines
    again = f"{program} run --session-id {session}"
    if event.outcome in ("interrupted", "left"):
        return [*lines, clean(f"  nothing is lost, continue with: {again}")]
    if event.outcome == "waiting":
        gate, _, others = event.message.rpartition(": ")[2].partition(", ")
        which = f"{gate}: " if others else ""
        return [*lines, clean(f"  reply with: {program} reply {session} {which}proceed")]
    if event.outcome == "asleep":
        return [*lines, clean(f"  it goes on then by itself under weft serve, or with: {again}")]
    if event.outcome == "over_budget" and is_of_step(event.message):
        return [*lines, clean(f"  {STEP_BUDGET}"), clean(f"  then continue: {again}")]
    if event.outcome == "over_budget":
        return [*lines, clean(f"  allow more and continue: {again} {more_budget(event.message)}")]
    if event.outcome == "cancelled":
        return lines
    return [*lines, clean(f"  try again: {again}"), clean(f"  every attempt: {program} sessions log {session}")]


def _finding(finding: Finding) -> list[str]:
    return [clean(f"  {finding}"), *([clean(f"    hint: {finding.hint}")] if finding.hint else [])]


def _long(lead: str, text: str) -> list[str]:
    """A text that may have several lines: the first stands behind its lead, the others are indented under it."""
    first, *rest = paragraphs(text) or [""]
    return [(clean(lead) + first).rstrip(), *(f"  {line}" for line in rest)]
