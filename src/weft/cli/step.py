"""`weft sessions show SESSION STEP`: one step's page."""

from __future__ import annotations

import json
import sys

from weft.app import App, Folder, to_json
from weft.cli.place import is_ascii, is_terminal, screen_width
from weft.protocol.errors import UserError, WeftError
from weft.protocol.hashes import hash_bytes
from weft.render.step_history import StepHistory, step_history
from weft.render.step_page import Prompt, StepPage, prompts_text, step_json, step_screen, step_text
from weft.session.log import LogReader
from weft.session.sessions import Reading


def show_step(app: App, session: str, step: str, *, prompt: bool, as_json: bool) -> None:
    content = _content(app, session, step)
    if as_json:
        sys.stdout.buffer.write(to_json(step_json(content, app.price, whole_prompts=prompt)) + b"\n")
    elif prompt:
        if not content.prompts:
            raise UserError(f"no model was asked for {step}")
        print(prompts_text(content.prompts))
    elif is_terminal(sys.stdout):
        from rich.console import Console

        screen = step_screen(content, app.price, screen_width(), ascii=is_ascii(sys.stdout))
        Console(highlight=False).print(screen)
    else:
        print(step_text(content, app.price))


def _content(app: App, session: str, step: str) -> StepPage:
    reading = app.sessions.read(session)
    known = reading.state.steps
    if step not in known:
        raise UserError(
            f"session {session} has no step {step}",
            hint=f"it has {', '.join(known)}" if known else "it has not been run yet",
        )
    checks, notes = _checks(app, reading.state.pipeline, step)
    with app.sessions.folder(session) as folder:
        history = step_history(step, LogReader(folder).read())
        return StepPage(
            session,
            reading.state.pipeline,
            _status(reading, step),
            history,
            {name: _file(folder, name, digest) for name, (digest, _) in history.result.items()},
            checks,
            _prompts(folder, history),
            str(folder.path),
            [*_damage(reading), *notes],
        )


def _status(reading: Reading, step: str) -> str:
    state = reading.state
    if step in state.gates:
        return "waiting for a reply"
    if state.steps[step].open:
        return "in_progress" if reading.holder else "interrupted"
    return state.steps[step].status


def _damage(reading: Reading) -> list[str]:
    torn = [f"the log ends in an unfinished write of {reading.torn} bytes"] if reading.torn else []
    return [*reading.faults, *torn]


def _checks(app: App, pipeline: str, step: str) -> tuple[list[str], list[str]]:
    try:
        found = app.workspace.pipeline(pipeline).steps.get(step)
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


def _prompts(folder: Folder, history: StepHistory) -> list[Prompt]:
    """What models were last asked; a blob that is gone or not the one recorded is said."""
    for attempt in reversed(history.attempts):
        asked = [call for call in attempt.calls if call.kind == "model" and call.request]
        if asked:
            return [
                Prompt(attempt.attempt, call.call, call.name, call.request, _blob(folder, call.request), call.dropped)
                for call in asked
            ]
    return []


def _blob(folder: Folder, digest: str) -> str | None:
    data = folder.read_or_none(f"blobs/{digest}")
    return data.decode("utf-8", "replace") if data is not None and hash_bytes(data) == digest else None
