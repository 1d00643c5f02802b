"""What faces show of sessions that are only looked at: a row of the listing, a session's page, a step's page.

A reader never disturbs a run. The pages are values of `render`; how they are drawn is the face's. Nothing is loaded
here that could run a session: a listing has to be instant.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weft.app.fleet.shared_store import store_of
from weft.protocol.errors import UserError, WeftError
from weft.protocol.hashes import hash_bytes
from weft.render.sessions import YOU, SessionPage, SessionRow, StepRow
from weft.session.cuts import LostLogError
from weft.session.manifest import manifest
from weft.session.recovery import blob
from weft.session.sessions import SessionReading, Sessions
from weft.session.state import SessionState, StepState
from weft.session.timestamps import timestamp
from weft.workspace.workspace import Workspace

if TYPE_CHECKING:
    from weft.app.parts import Parts
    from weft.app.sessions.catalogue import Catalogue
    from weft.files import Folder
    from weft.models.prices import Cost
    from weft.models.spending import ModelCall, Price
    from weft.render.item_page import ItemPage
    from weft.render.step_history import StepHistory
    from weft.render.step_page import AskedPrompt, StepPage
    from weft.session.index import ListedSession
    from weft.session.postgres import PostgresLog
    from weft.session.verify import Verification


@contextmanager
def open_sessions(path: Path) -> Iterator[Sessions]:
    with Workspace.open(path) as workspace, _shared(workspace) as shared:
        yield Sessions(workspace.folder, lambda: datetime.now(UTC), shared)


@contextmanager
def _shared(workspace: Workspace) -> Iterator[PostgresLog | None]:
    shared = store_of(workspace)
    try:
        yield shared
    finally:
        if shared is not None:
            shared.close()


@contextmanager
def open_catalogue(path: Path) -> Iterator[Catalogue]:
    """All sessions at a glance, with nothing loaded that could run them."""
    from weft.app.sessions.catalogue import Catalogue, shared_listings

    with Workspace.open(path) as workspace, _shared(workspace) as shared:
        sessions = Sessions(workspace.folder, lambda: datetime.now(UTC), shared)
        catalogue = Catalogue(sessions, workspace.path, _price_of(workspace), shared_listings(shared))
        try:
            yield catalogue
        finally:
            catalogue.close()


def _price_of(workspace: Workspace) -> Price:
    """Prices are asked for only when a log that is new to the index has calls of models."""

    def price(call: ModelCall) -> Cost:
        from weft.app.connections.model_registry import ConnectedModels

        # Nothing is opened, so that nobody has to agree to anything.
        return ConnectedModels(workspace.config(), {**os.environ}, {}, None, agreed=lambda _: None).price(call)

    return price


def session_row(entry: ListedSession) -> SessionRow:
    """A session as a listing on a terminal has it."""
    status = "running" if entry.state == "working" else entry.kind if entry.kind == "unreadable" else entry.state
    note = entry.problem or "; ".join(entry.waits)
    done = (entry.done, entry.steps)
    return SessionRow(entry.id, entry.pipeline, status, *done, entry.updated, note, entry.title)


def session_json(sessions: Sessions, session: str) -> dict[str, Any]:
    """A session as its manifest has it."""
    return manifest(sessions.read(session).state)


def verified(sessions: Sessions, session: str) -> Verification:
    """Every line of the log, every artifact and the manifest, held against each other. Changes nothing."""
    from weft.session.verify import verify

    with sessions.folder(session) as folder:
        found = verify(folder)
        found.faults += sessions.unlike_shared(session, folder)
        return found


def this_moment() -> str:
    """Now, as events have it."""
    return timestamp(datetime.now(UTC))


def session_page(sessions: Sessions, session: str) -> SessionPage:
    """A session's steps: state, attempts, artifacts, and what went wrong."""
    reading = sessions.read(session)
    state = reading.state
    if not state.seq and reading.cuts:
        raise LostLogError(session, reading.cuts)
    if not state.seq:
        raise UserError(
            f"session {session} was made by an older system", hint=f"weft plan --session-id {session} tells more"
        )
    steps = [
        StepRow(
            name,
            step.status,
            step.attempt,
            ", ".join(step.completion.artifacts) if step.completion else "",
            step.completion.ms if step.completion else None,
            step.problem,
        )
        for name, step in _in_order(state)
    ]
    notes = reading.faults
    notes += [f"{name} will be written again from the log" for name in reading.unfinished_writes]
    notes += _at_rest(session, state)
    with sessions.folder(session) as folder:
        path = str(folder.path)
    page = SessionPage(session, state.pipeline, reading.status, state.created_at, state.updated_at, steps, path, notes)
    return _with_conversation(page, sessions, state)


def _with_conversation(page: SessionPage, sessions: Sessions, state: SessionState) -> SessionPage:
    """With what was said in it, where it stands as a conversation when it has no run, and its title."""
    from weft.protocol.conversation_events import MAIN, MessageAccepted, ModelSettled
    from weft.session.glance import Glance, entry_of

    glance, said = Glance(), list[tuple[str, str]]()
    for record in sessions.records(page.id):
        glance.apply(record)
        match record.event:
            case MessageAccepted(conversation=name, origin="person", text=text) if name == MAIN:
                said.append((YOU, text))
            case ModelSettled(conversation=name, text=text, model=model) if name == MAIN and text.strip():
                said.append((model or "the model", text))
    if not said:
        return page
    entry = entry_of(state, glance, title="", held=False, tokens=0, usd=None)
    status = page.status if state.run is not None else entry.state
    return replace(page, status=status, title=entry.title, works_in=glance.folder, said=tuple(said))


def _at_rest(session: str, state: SessionState) -> list[str]:
    """What the last run waits for, or what is to be known of its result."""
    told = state.status in ("done", "over_budget", "asleep") and state.run is not None and state.run.message
    notes = [told] if told else []
    for gate in state.gates.values():
        choices = ", ".join(choice.id for choice in gate.choices)
        asked = f": {gate.message}" if gate.message else ""
        asked += f" (for {gate.assignee})" if gate.assignee else ""
        asked += f" (until {gate.due}, then {gate.then})" if gate.due else ""
        which = f" --gate {gate.gate}" if len(state.gates) > 1 else ""
        notes.append(f"waits at the gate {gate.gate}{asked} (weft reply {session}{which}: {choices})")
    return notes


class NothingThereError(UserError):
    """What is asked for is not in the session."""


def step_page(parts: Parts, session: str, step: str, attempt: int | None = None) -> StepPage:
    """All about one step: its inputs and what changed, every attempt, its artifacts and checks; the prompts of an
    attempt, else of the last that asked a model."""
    from weft.render.step_history import step_history
    from weft.render.step_page import StepPage
    from weft.session.log import LogReader

    reading = parts.sessions.read(session)
    known = reading.state.steps
    if step not in known:
        raise NothingThereError(
            f"session {session} has no step {step}",
            hint=f"it has {', '.join(known)}" if known else "it has not been run yet",
        )
    checks, notes = _checks(parts.workspace, reading.state.pipeline, step)
    with parts.sessions.folder(session) as folder:
        history = step_history(step, LogReader(folder).read())
        return StepPage(
            session,
            reading.state.pipeline,
            step_status(reading, step),
            history,
            {name: _file(folder, name, digest) for name, (digest, _) in history.result.items()},
            checks,
            asked_prompts(folder, history, attempt),
            str(folder.path),
            [*_damage(reading), *notes],
        )


def item_page(parts: Parts, session: str, step: str, item: str) -> ItemPage:
    """One item of a step that is made item by item: every try of it."""
    from weft.render.item_page import ItemPage, item_keys, item_tries
    from weft.workspace.spelling import suggest

    history = step_page(parts, session, step).history
    tries = item_tries(history, item)
    if not tries:
        known = item_keys(history)
        hint = suggest(item, known, "items") if known else "it is not made item by item"
        raise NothingThereError(f"the step {step} of session {session} has no item {item}", hint=hint)
    made = next((tried.settled for tried in reversed(tries) if tried.settled.ok), None)
    with parts.sessions.folder(session) as folder:
        file = _file(folder, made.artifact, made.hash) if made and made.artifact else ""
    return ItemPage(session, step, item, tries, file)


def item_steps(parts: Parts, session: str, step: str, item: str) -> list[str]:
    """Of a step that is a pipeline for each item: the steps of one; none for any other step."""
    from weft.workspace.mapping import item_name

    run = parts.sessions.read(session).state.run
    place = f"{step}.{item_name(item)}."
    return [name for name in run.steps if name.startswith(place)] if run else []


def step_status(reading: SessionReading, step: str) -> str:
    state = reading.state
    if step in state.gates:
        return "waiting for a reply"
    if state.steps[step].open:
        return "in_progress" if reading.holder else "interrupted"
    return state.steps[step].status


def _in_order(state: SessionState) -> list[tuple[str, StepState]]:
    """As the last run has them; then those of earlier ones."""
    names = dict.fromkeys([*(state.run.steps if state.run else ()), *state.steps])
    return [(name, state.steps[name]) for name in names if name in state.steps]


def _damage(reading: SessionReading) -> list[str]:
    torn = [f"the log ends in an unfinished write of {reading.torn} bytes"] if reading.torn else []
    return [*reading.faults, *torn]


def _checks(workspace: Workspace, pipeline: str, step: str) -> tuple[list[str], list[str]]:
    from weft.workspace.inner import written_steps  # a listing needs no pipeline

    try:
        read = workspace.pipeline(pipeline)
        found = read.steps.get(step) or (written_steps(read).get(read.written(step)) if read.mapped else None)
    except WeftError as error:
        return [], [f"the checks can't be told: {error.message}"]
    if found is None:
        return [], [f"the pipeline {pipeline} has no step {step} any more"]
    return [f"{call.name} on {artifact}: {json.dumps(dict(call.options))}" for artifact, call in found.checks], []


def _file(folder: Folder, name: str, digest: str) -> str:
    data = folder.read_or_none(name)
    if data is None:
        return "its file is missing"
    return "" if hash_bytes(data) == digest else "its file was changed by hand"


def asked_prompts(folder: Folder, history: StepHistory, number: int | None) -> list[AskedPrompt]:
    """What models were asked; a blob that is gone or not the one recorded is said."""
    from weft.render.step_page import AskedPrompt

    for attempt in reversed(history.attempts):
        asked = [call for call in attempt.calls if call.kind == "model" and call.request]
        if asked and number in (None, attempt.attempt):
            return [
                AskedPrompt(
                    attempt.attempt, call.call, call.name, call.request, blob_words(folder, call.request), call.dropped
                )
                for call in asked
            ]
    return []


def blob_words(folder: Folder, digest: str) -> str | None:
    data = blob(folder, digest)
    return None if data is None else data.decode("utf-8", "replace")
