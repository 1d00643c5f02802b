"""A person's word against the verdict on a claim: kept with who said it, an input of the step, shown in its result."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from weft.app import App, SessionRequest
from weft.orchestrator.overruling import ClaimOnRecord, overrule
from weft.protocol.commands import OverruleVerdict, StartRun
from weft.protocol.envelope import Actor
from weft.protocol.errors import UserError
from weft.protocol.events import ClaimVerdict, StepStarted, VerdictGiven, VerdictOverruled

pytestmark = pytest.mark.process

PIPELINE = """\
name: claims
description: Claims with a verdict each, and a page of them.
repair:
  - {steps: [draft, verify], rounds: 1, counts: counts}
steps:
  draft: {artifact: draft.json, code: claims.py:draft}
  verify:
    artifact: verify.json
    code: claims.py:verify
    requires: [draft]
    verdicts: {at: "claims[*]"}
  page: {artifact: page.md, code: claims.py:page, requires: [verify], inputs: [], final: true}
"""
CODE = """\
from weft.checks.claims import compare
from weft.checks.overruling import overruled

def draft(step):
    left = str(step.rounds.get("verify", {}).get("feedback", ""))
    return [line for line in ("The tide rises twice a day.", "The moon is full.") if line not in left]

def verify(step):
    claims = []
    for number, text in enumerate(step.artifacts["draft.json"], 1):
        found = compare(text, step.text)
        claim = {"id": f"c{number}", "text": text, "state": found.state, "reason": found.reason}
        claims.append(overruled(claim, step.overruled))
    wrong = [one["text"] for one in claims if one["state"] == "contradicted"]
    counts = {state: sum(one["state"] == state for one in claims) for state in ("quoted", "judged", "not_checked")}
    verdict = "failed" if wrong else "passed" if not counts["not_checked"] else "not_checked"
    return {"verdict": verdict, "feedback": wrong, "claims": claims, "counts": counts}

def page(step):
    lines = []
    for one in step.artifacts["verify.json"]["claims"]:
        said = one.get("overruled")
        mark = f", says {said['by']}: {said['why']}" if said else ""
        lines.append(f"{one['text']} ({one['state']}{mark})")
    return "\\n".join(lines) + "\\n"
"""
ANN = Actor("person", "Ann", "web")


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    place = tmp_path / "desk"
    for name in ("pipelines", "code"):
        (place / name).mkdir(parents=True)
    (place / "pipelines" / "claims.yaml").write_text(PIPELINE)
    (place / "code" / "claims.py").write_text(CODE)
    (place / "tides.md").write_text("# Tides\n\nThe tide rises twice a day. What the moon does is told elsewhere.\n")
    return place


def given(place: Path, *commands: StartRun | OverruleVerdict) -> None:
    async def go() -> None:
        with App.open(place) as app:
            request = SessionRequest(pipeline="claims", file=place / "tides.md", session="tides")
            async with app.session(request, reachable=False) as session:
                for command in commands:
                    await session.run(command, by=ANN)

    asyncio.run(asyncio.wait_for(go(), 60))


def page(place: Path) -> list[str]:
    return (place / "sessions" / "tides" / "page.md").read_text().splitlines()


def says(verdict: ClaimVerdict, why: str = "I looked", claim: str = "c2") -> OverruleVerdict:
    return OverruleVerdict(claim=claim, verdict=verdict, why=why)


def test_a_word_against_a_verdict_is_kept_with_who_said_it_and_shown(workspace: Path) -> None:
    given(workspace, StartRun(), says("judged", "it was, last night"))
    assert page(workspace) == [
        "The tide rises twice a day. (quoted)",
        "The moon is full. (judged, says Ann: it was, last night)",
    ]
    with App.open(workspace) as app:
        records = list(app.sessions.records("tides"))
        (said,) = [record for record in records if isinstance(record.event, VerdictOverruled)]
        assert said.envelope is not None
        assert said.envelope.by == ANN
        verdicts = [record.event for record in records if isinstance(record.event, VerdictGiven)]
        assert [(one.verdict, dict(one.claims)) for one in verdicts] == [
            ("not_checked", {"quoted": 1, "judged": 0, "not_checked": 1}),
            ("passed", {"quoted": 1, "judged": 1, "not_checked": 0}),
        ]
        again = [record.event for record in records[records.index(said) :] if isinstance(record.event, StepStarted)]
        assert [(one.step, one.cause) for one in again] == [("verify", "amend"), ("page", "rerun")]
        assert again[0].reason == "you overruled the verdict on c2"
        (claim,) = [one for one in app.claims("tides") if one.claim == "c2"]
        assert claim == ClaimOnRecord(
            "verify", "c2", "The moon is full.", "judged", "not_checked", "it was, last night", "Ann", "Ann"
        )


def test_a_word_can_be_taken_back_and_a_run_after_it_has_nothing_to_do(workspace: Path) -> None:
    given(workspace, StartRun(), says("judged"), says("not_checked", "I was wrong"), StartRun())
    assert page(workspace)[1] == "The moon is full. (not_checked)"
    with App.open(workspace) as app:
        assert app.sessions.read("tides").state.overruled == {"verify": {}}
        started = [record.event for record in app.sessions.records("tides") if isinstance(record.event, StepStarted)]
        assert [one.step for one in started].count("draft") == 1


def test_what_a_person_calls_contradicted_is_repaired(workspace: Path) -> None:
    given(workspace, StartRun(), says("contradicted", "it was new"))
    assert page(workspace) == ["The tide rises twice a day. (quoted)"]


def test_it_counts_only_against_the_verdict_it_was_said_against(workspace: Path) -> None:
    given(workspace, StartRun(), says("judged"))
    (workspace / "tides.md").write_text("# Tides\n\nThe tide rises twice a day. The moon is full.\n")
    given(workspace, StartRun())
    assert page(workspace)[1] == "The moon is full. (quoted)"
    told = json.loads((workspace / "sessions" / "tides" / "verify.json").read_text())
    assert "Ann overruled not checked, which it is not any more: I looked" in told["claims"][1]["reason"]


CLAIM = ClaimOnRecord("verify", "s12", "It is so.", "not_checked", "not_checked")
OTHER = ClaimOnRecord("verify", "s13", "It is not so.", "quoted", "quoted")


@pytest.mark.parametrize(
    ("command", "claims", "reason"),
    [
        (says("judged", " ", "s12"), [CLAIM], "why is it so"),
        (says("judged", "x", "s12"), [], "no verdicts on claims"),
        (says("judged", "x", "s9"), [CLAIM, OTHER], "no claim 's9'"),
        (says("judged", "x", ""), [CLAIM, OTHER], "no claim ''"),
        (says("judged", "x", "s1"), [CLAIM, OTHER], "more than one claim begins with 's1'"),
        (says("quoted", "x", "s12"), [CLAIM], "quoted is what code finds"),
        (says("not_checked", "x", "s12"), [CLAIM], "not checked already"),
    ],
)
def test_what_can_t_be_overruled_is_said(command: OverruleVerdict, claims: list[ClaimOnRecord], reason: str) -> None:
    with pytest.raises(UserError, match=reason):
        overrule(command, claims)


def test_the_first_letters_of_an_id_are_enough() -> None:
    found: Any = overrule(says("judged", " because ", "s12"), [CLAIM, OTHER])
    assert found == VerdictOverruled(
        step="verify", claim="s12", text="It is so.", was="not_checked", verdict="judged", why="because"
    )
