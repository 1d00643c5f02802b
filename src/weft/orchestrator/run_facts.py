"""What a session's log says of its last run, as the summary for later prompts needs it.

Everything comes from the fold of the log, but for two things that a reader wants in words: what was asked and what was
found are excerpts of files, and only of those that are still as the log knows them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, Final

from weft.documents import from_content_md
from weft.orchestrator.run_summary import (
    ReplyFact,
    RunFacts,
    RunSpent,
    RunStatus,
    StepFact,
    StepStatus,
    VerificationFact,
)
from weft.protocol.hashes import hash_bytes
from weft.session.state import RunState, SessionState, StepState

EXCERPT: Final = 600
"""Characters of what was asked, and of one thing that was found."""
Price = Callable[[str, Mapping[str, int]], Decimal | None]


def run_facts(
    state: SessionState, read: Callable[[str], bytes | None], *, folder: str, price: Price, resume: str = ""
) -> RunFacts | None:
    """Of the session's last run; None when it has none. `read` gives a file of the session."""
    run = state.run
    if run is None:
        return None
    steps = tuple(_step(state, run, name, read) for name in run.steps)
    failed = [name for name, verdict in state.verdicts.items() if verdict != "passed" and name in run.steps]
    repairs = [round_ for name, round_ in state.rounds.items() if round_.kind == "repair" and name in run.steps]
    return RunFacts(
        run=str(run.run),
        pipeline=run.pipeline,
        request=_request(state, read),
        status=_status(state, run),
        detail=run.message,
        steps=steps,
        verification=tuple(
            VerificationFact(what=name, verdict=verdict, note=_against(state, name))
            for name, verdict in state.verdicts.items()
            if name in run.steps
        ),
        repair_rounds=sum(one.round for one in repairs),
        repair_exhausted=bool(failed) and any(one.round >= one.most for one in repairs),
        replies=tuple(
            ReplyFact(gate=gate, reply="amend", text=text)
            for name in run.steps
            for gate, text in (state.steps[name].replies if name in state.steps else ())
        ),
        folder=folder,
        spent=_spent(run, price),
        open=_open(state, run),
        resume="" if run.over or run.outcome is None else resume,
    )


def _against(state: SessionState, step: str) -> str:
    """What a person says against verdicts of a verifier."""
    said = state.overruled.get(step, {}).values()
    return "; ".join(f"overruled by {one.by.name or 'the person'}: {one.why}" for one in said)


def _status(state: SessionState, run: RunState) -> RunStatus:
    if run.outcome is None:
        return "running"
    return "confirming" if state.confirming else run.outcome


def _step(state: SessionState, run: RunState, name: str, read: Callable[[str], bytes | None]) -> StepFact:
    step = state.steps.get(name) or StepState()
    done = step.completion if step.status == "completed" else None
    return StepFact(
        name=name,
        status=_step_status(step, run),
        attempts=max(step.attempt, 1),
        found=_found(name, state, run, read) if done else (),
        files=tuple(done.artifacts) if done else (),
    )


def _step_status(step: StepState, run: RunState) -> StepStatus:
    match step.status:
        case "completed":
            return "done"
        case "failed":
            return "failed"
        case "in_progress":
            return "running"
        case _:
            return "skipped" if run.outcome == "done" else "not started"


def _found(
    name: str, state: SessionState, run: RunState, read: Callable[[str], bytes | None]
) -> tuple[tuple[str, str], ...]:
    """What its open gate shows; of the wanted step, how its artifacts begin."""
    if gate := state.gates.get(name):
        return tuple((str(one.get("label", "")), _words(one.get("value"))) for one in gate.shown)
    done = state.steps[name].completion
    if name != run.desired or done is None:
        return ()
    found: list[tuple[str, str]] = []
    for file, digest in done.artifacts.items():
        data = read(file)
        if data is not None and hash_bytes(data) == digest:
            found.append((file, data[: 4 * EXCERPT].decode("utf-8", "ignore").strip()[:EXCERPT]))
    return tuple(found)


def _request(state: SessionState, read: Callable[[str], bytes | None]) -> str:
    """How the first input begins, and its name."""
    given = next(iter(state.inputs.values()), None)
    if given is None:
        return ""
    data = read(given.file)
    if data is None:
        return given.origin
    text = data.decode("utf-8", "replace")
    if given.file.endswith(".md"):
        document = from_content_md(data)
        text = f"{document.title}: {document.text}"
    return " ".join(text[: 4 * EXCERPT].split())[:EXCERPT]


def _open(state: SessionState, run: RunState) -> tuple[str, ...]:
    if run.over:
        return ()
    gates = [f"a reply at the gate {one.gate}: {one.message}" for one in state.gates.values()]
    if state.confirming:
        gates.insert(0, f"whether to leave the run, since the person said: {state.confirming.text}")
    rest = [name for name in run.steps if state.steps.get(name, StepState()).status != "completed"]
    return (*gates, *([f"steps to be made: {', '.join(rest)}"] if rest else []))


def _spent(run: RunState, price: Price) -> RunSpent | None:
    told = [(model, usage) for one in run.spent.values() for model, usage in one.usage.items()]
    if not told:
        return None
    costs = [price(model, usage) for model, usage in told]
    return RunSpent(
        input_tokens=sum(usage.get("input", 0) for _, usage in told),
        output_tokens=sum(usage.get("output", 0) for _, usage in told),
        usd=None if None in costs else sum((cost for cost in costs if cost is not None), Decimal(0)),
    )


def _words(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
