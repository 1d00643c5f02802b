"""A workspace as it was printed before there was this program: it opens and runs unchanged, whatever is in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.made import Weft

ROOT = Path(__file__).parents[2]
PRINTED = """\
name: writing-kit
description: A kit for writing about a document
outputs:
  summary:
    artifact: summary.json
    agent: content-analyzer
  ideas:
    artifact: ideas.json
    agent: idea-generator
    requires: [summary]
  writing-kit:
    artifact: writing-kit.json
    agent: writing-kit-builder
    requires: [ideas]
    final: true
"""
PROFILE = {
    "userId": "default",
    "topics": [{"topic": "tides", "interestLevel": 5}],
    "style": {"tone": "expert", "targetWordCount": 600, "voice": "first-person"},
}
OLD = "article-2025-12-12-abc123"


@pytest.fixture
def older(tmp_path: Path) -> Weft:
    place = tmp_path / "older"
    for name, text in {
        "pipelines/writing-kit.yaml": PRINTED,
        "user-profile.json": json.dumps(PROFILE),
        "CLAUDE.md": "# Rules\n\nKeep every quote as it is.\n",
    }.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)
    weft = Weft(place)
    laid = weft("init")
    assert laid.code == 0, laid.err
    return weft


def value(folder: Path, name: str) -> Any:
    return json.loads((folder / name).read_text())


def test_the_printed_pipeline_runs_with_the_profile_that_was_there(older: Weft) -> None:
    assert not (older.workspace / "profile.json").exists()
    assert older("pipelines", "validate", "writing-kit").code == 0
    ran = older("run", "writing-kit", ROOT / "examples/tides.md", "--session-id", "tides")
    assert ran.code == 0, ran.err
    folder = older.session("tides")
    kit = value(folder, "writing-kit.json")
    assert kit["contentId"] == "tides"
    assert kit["suggestedOutline"] == value(folder, "outline.json")["sections"]
    assert kit["summary"] == value(folder, "summary.json")
    started = {one["step"]: one["inputs"] for one in older.log("tides") if one["type"] == "step_started"}
    assert "profile:topics" in started["summary"]
    assert "artifact:summary.json" in started["writing-kit"], "the agent needs it, though only ideas is required"


def test_a_session_of_it_goes_on_under_contentitem(older: Weft) -> None:
    made = older("run", "writing-kit", ROOT / "examples/tides.md", "--session-id", "tides")
    assert made.code == 0, made.err
    folder = older.workspace / "contentItem" / OLD
    folder.mkdir(parents=True)
    summary = {**value(older.session("tides"), "summary.json"), "contentId": OLD}
    (folder / "content.md").write_bytes((older.session("tides") / "content.md").read_bytes())
    (folder / "summary.json").write_text(json.dumps(summary))
    manifest = {"version": 1, "contentId": OLD, "pipeline": "writing-kit", "desiredOutput": "writing-kit"}
    (folder / "session.json").write_text(json.dumps({**manifest, "steps": {"summary": "done"}, "updatedAt": "x"}))
    (older.workspace / "pipelines/writing-kit.yaml").unlink()  # only this program's own is left: `writing`
    ran = older("run", "--session-id", OLD)
    assert ran.code == 0, ran.err
    assert "step summary skipped: up to date (adopted)" in ran.err
    assert value(folder, "writing-kit.json")["contentId"] == OLD


def test_what_an_agent_needs_is_seen_before_a_run(older: Weft) -> None:
    broken = PRINTED.replace("    requires: [summary]\n", "").replace(
        "    requires: [ideas]\n", "    requires: [summary]\n"
    )
    (older.workspace / "pipelines/writing-kit.yaml").write_text(broken)
    found = older("pipelines", "validate", "writing-kit")
    assert found.code != 0
    assert "the agent 'idea-generator' needs summary.json" in found.out + found.err
    assert "it is made by the step 'summary': add that to 'requires'" in found.out + found.err


def test_a_mistake_in_the_code_is_not_tried_three_times(older: Weft) -> None:
    for name, text in {
        "pipelines/once.yaml": "name: once\ndescription: x\ninputs: {}\nsteps:\n"
        "  wrong: {artifact: a.json, code: 'once.py:wrong'}\n"
        "  silent: {artifact: b.json, code: 'once.py:silent', requires: [wrong], final: true}\n",
        "code/once.py": "def wrong(step):\n    return step.profile['topics']\n\n\ndef silent(step):\n    {'a': 1}\n",
    }.items():
        (older.workspace / name).write_text(text)
    assert older("run", "once", "--session-id", "once").code == 1
    failed = [one for one in older.log("once") if one["type"] == "step_failed"]
    assert [(one["attempt"], one["retrying"]) for one in failed] == [(1, False)]
    assert "KeyError: 'topics' (code/once.py, line 2)" in failed[0]["message"]
    (older.workspace / "code/once.py").write_text(
        "def wrong(step):\n    return 1\n\n\ndef silent(step):\n    {'a': 1}\n"
    )
    assert older("run", "--session-id", "once").code == 1
    failed = [one for one in older.log("once") if one["type"] == "step_failed"]
    assert failed[-1]["message"] == "once.py:silent returned nothing: is a 'return' missing?"
    assert failed[-1]["retrying"] is False
