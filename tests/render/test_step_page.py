"""A step's page: everything the log knows of it, bounded, on any width."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inline_snapshot import snapshot
from rich.cells import cell_len

from tests.lanes import lives
from weft.protocol.call_events import CallSettled
from weft.protocol.errors import Finding
from weft.protocol.events import (
    ArtifactAccepted,
    ArtifactRejected,
    ArtifactSetAside,
    DurableEvent,
    EditAccepted,
    Event,
    GateOpened,
    GateResolved,
    Record,
    RoundStarted,
    StepCompleted,
    StepFailed,
    StepSkipped,
    StepStarted,
    VerdictGiven,
    is_durable,
)
from weft.protocol.gates import Choice
from weft.render.step_history import StepHistory, step_history
from weft.render.step_page import MOST_ATTEMPTS, MOST_CALLS, AskedPrompt, StepPage, prompts_text, step_json, step_text
from weft.render.step_page import step_screen as drawn

from .screens import screen
from .strategies import events


def price(model: str, usage: Mapping[str, int]) -> Decimal | None:
    return Decimal(sum(usage.values())) / 1000 if model == "work/large" else None


def history(*events: DurableEvent, step: str = "draft") -> StepHistory:
    return step_history(step, [Record(number, f"at-{number}", event) for number, event in enumerate(events, 1)])


def begins(attempt: int, cause: Any = "first", reason: str = "not yet made", **inputs: str) -> StepStarted:
    named = {name.replace("_", ":", 1): value for name, value in inputs.items()}
    return StepStarted(
        run=1, step="draft", attempt=attempt, cause=cause, reason=reason, input_hash=f"hash-{attempt}", inputs=named
    )


def call(attempt: int, number: str, parent: str = "", **more: Any) -> CallSettled:
    given: dict[str, Any] = {"kind": "model", "name": "work/large", "model": "work/large", "usage": {"input": 10}}
    return CallSettled(
        run=1, step="draft", attempt=attempt, call=number, parent=parent, ms=5, ok=True, **{**given, **more}
    )


def ends(attempt: int, **usage: int) -> list[DurableEvent]:
    name = "draft.md"
    made = ArtifactAccepted(run=1, step="draft", attempt=attempt, artifact=name, hash=f"made-{attempt}", size=12)
    done = StepCompleted(
        run=1,
        step="draft",
        attempt=attempt,
        hash=f"made-{attempt}",
        schema_version="",
        ms=50,
        model="work/large" if usage else None,
        usage=usage,
    )
    return [made, done]


LIFE: Sequence[DurableEvent] = (
    begins(1, input_source="aa", model="work/large"),
    call(1, "2", "1", title="think", request="f00"),
    call(1, "3", "1", kind="tool", name="Read", model=None, usage={}, title="notes.md", message="12 lines"),
    call(1, "1", kind="agent", name="writer", model=None, usage={}),
    ArtifactRejected(
        run=1, step="draft", attempt=1, artifact="draft.md", findings=(Finding("draft.md", "/1", "too long", "cut it"),)
    ),
    StepFailed(
        run=1,
        step="draft",
        attempt=1,
        kind="rejected",
        message="draft.md at /1: too long",
        retrying=True,
        ms=40,
        model="work/large",
        usage={"input": 10},
    ),
    begins(2, "retry", "attempt 1 failed", input_source="aa", model="work/large"),
    *ends(2, input=30),
    VerdictGiven(run=1, step="draft", attempt=2, verdict="failed", round=0, most=2),
    RoundStarted(
        run=1, kind="repair", unit="verify", round=1, most=2, steps=("draft",), base="b", feedback=["a claim is wrong"]
    ),
    GateOpened(
        run=1,
        gate="draft-1",
        step="draft",
        hash="made-2",
        message="Good?",
        choices=(Choice("proceed", "go on", "proceed"),),
    ),
    GateResolved(run=1, gate="draft-1", choice="amend", does="amend", hash="made-2", text="shorter, please"),
    begins(
        3,
        "repair",
        "verify asked",
        **{"input_source": "bb", "reply_draft-1": "shorter, please", "repair_verify": "1 abc", "model": "work/large"},
    ),
    *ends(3, input=5),
    GateOpened(
        run=1,
        gate="draft-2",
        step="draft",
        hash="made-3",
        message="Good now?",
        choices=(Choice("proceed", "go on", "proceed"),),
    ),
    ArtifactSetAside(artifact="draft.md", hash="x", kept="aside/draft.md.x"),
    StepSkipped(run=2, step="draft", reason="up to date"),
)


def made(events: Sequence[DurableEvent] = LIFE, **more: Any) -> StepPage:
    return StepPage("s-1", "letters", "waiting for a reply", history(*events), **more)


def test_the_whole_page() -> None:
    prompt = AskedPrompt(1, "2", "work/large", "f00", "Say it.", ("skills (rhyme)",))
    page = made(files={"draft.md": "its file is missing"}, checks=["unique on draft.md: {}"], prompts=[prompt])
    assert step_text(page, price) == snapshot("""\
s-1 · letters · step draft
waiting for a reply
last run: skipped, up to date
in all: 3 attempts, 0.1 s, 45 tokens, $0.0450

inputs of attempt 3
  input:source  bb  (was aa)
  reply:draft-1  shorter, please  (new)
  repair:verify  1 abc  (new)
  model  work/large

prompts of attempt 1
  call 2, work/large: 7 B, blobs/f00
    left out: skills (rhyme)
  --prompt shows the whole text

attempts
  1 failed (run 1, first: not yet made)
    at-1  inputs hash-1
    40 ms, work/large, 10 tokens, $0.0100
    rejected: 1 finding
    - draft.md at /1: too long
      hint: cut it
    agent writer (5 ms)
      model work/large · think (5 ms, 10 in, 0 out, $0.0100)
      tool Read · notes.md (5 ms) · 12 lines
  2 completed (run 1, retry: attempt 1 failed)
    at-7  inputs hash-2
    50 ms, work/large, 30 tokens, $0.0300
    verdict: failed
    made draft.md (12 B) made-2
  3 completed (run 1, repair: verify asked)
    at-14  inputs hash-3
    50 ms, work/large, 5 tokens, $0.0050
    changed: input:source, reply:draft-1, repair:verify
    reply at draft-1: shorter, please
    repair round 1 of 2, asked for by verify: a claim is wrong
    made draft.md (12 B) made-3

output
  draft.md (12 B) made-3: its file is missing
  an earlier version of draft.md, changed by hand: aside/draft.md.x
checks (all passed by attempt 3)
  unique on draft.md: {}

gates
  draft-1: amend by person: shorter, please (at-13)
    Good?
  draft-2: open, waits for a reply
    Good now?
    proceed: go on\
""")


def test_json_has_all_of_it() -> None:
    page = step_json(made(prompts=[AskedPrompt(1, "2", "work/large", "f00", "Say it.")]), price, whole_prompts=True)
    found = json.loads(json.dumps(page))
    assert [one["result"] for one in found["attempts"]] == ["failed", "completed", "completed"]
    assert found["attempts"][2]["changed"] == {
        "input:source": "aa",
        "reply:draft-1": None,
        "repair:verify": None,
    }
    assert found["attempts"][2]["rounds"][0]["feedback"] == ["a claim is wrong"]
    assert found["attempts"][2]["replies"] == [{"gate": "draft-1", "text": "shorter, please"}]
    assert found["cost"] == 0.045
    assert found["gates"][1]["choices"][0]["id"] == "proceed"
    assert found["prompts"][0]["text"] == "Say it."
    assert found["attempts"][0]["calls"][1]["cost"] == 0.0
    assert (
        "text"
        not in step_json(made(prompts=[AskedPrompt(1, "2", "m", "h", "x")]), price, whole_prompts=False)["prompts"][0]
    )
    assert step_json(made(), None, whole_prompts=False)["cost"] is None


def test_a_page_is_bounded_however_long_the_step_lived() -> None:
    events: list[DurableEvent] = []
    for number in range(1, 60):
        events.append(begins(number, **{f"input_{i}": "x" * 500 for i in range(60)}))
        events += [call(number, str(i), title="t" * 190, message="m" * 190) for i in range(1, 200)]
        finding = Finding("a", "/", "bad " * 500, "do " * 500)
        events.append(ArtifactRejected(run=1, step="draft", attempt=number, artifact="a", findings=(finding,) * 60))
        events.append(
            StepFailed(run=1, step="draft", attempt=number, kind="rejected", message="no " * 900, retrying=True, ms=1)
        )
    text = step_text(made(events), price)
    assert len(text.splitlines()) < MOST_ATTEMPTS * (MOST_CALLS + 40) + 100
    assert max(map(len, text.splitlines())) < 1_000
    assert "and 49 more earlier attempts" in text
    assert "and 159 more calls" in text


def test_an_attempt_whose_process_was_killed_shows_what_its_calls_used() -> None:
    text = step_text(made([begins(1), call(1, "2", "1")]), price)
    assert "1 not settled" in text
    assert "in all: 1 attempt, 0 ms, 10 tokens, $0.0100" in text
    assert "    model work/large (5 ms, 10 in, 0 out, $0.0100)" in text


def test_a_kept_edit_is_the_result() -> None:
    kept = ArtifactAccepted(run=1, step="draft", attempt=1, artifact="draft.md", hash="mine", size=3)
    edit = EditAccepted(step="draft", hash="mine", schema_version="", input_hash="", inputs={})
    page = made([begins(1), *ends(1), kept, edit])
    assert "result: edited by hand" in step_text(page, price)
    assert "draft.md (3 B) mine" in step_text(page, price)


def test_prompts_are_whole_and_one_that_is_gone_is_said() -> None:
    text = prompts_text([AskedPrompt(1, "1", "m", "h", "a\n\tb"), AskedPrompt(1, "2", "m", "i", None)])
    assert text == "--- call 1, m ---\na\n\tb\n--- call 2, m ---\n(its text is gone)"


@pytest.mark.lives
@settings(deadline=None, max_examples=lives(40, 400))
@given(st.lists(events, max_size=8), st.integers(20, 140))
def test_any_log_has_a_page_that_fits(found: list[Event], width: int) -> None:
    durable = [event for event in found if is_durable(event)]
    page = StepPage("s-1", "p", "done", history(*durable, step="summary"))  # type: ignore[arg-type]
    text = screen(drawn(page, price, width), max(width, 30))
    assert all(cell_len(line) <= max(width, 30) for line in text.splitlines())
    assert "\x1b" not in text
