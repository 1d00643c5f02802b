"""Folders that systems older than the log left: they open, valid artifacts count, and what was wrong is said."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from tests.made import Weft

PIPELINE = """\
name: kit
description: The older writing pipeline, with its four artifacts.
outputs:
  summary: {artifact: summary.json, code: 'kit.py:make', schema: summary.json}
  ideas: {artifact: ideas.json, code: 'kit.py:make', requires: [summary]}
  outline: {artifact: outline.json, code: 'kit.py:make', requires: [ideas]}
  writing-kit: {artifact: writing-kit.json, code: 'kit.py:make', requires: [outline], final: true}
"""
CODE = """\
from pathlib import Path
def make(step):
    with open(Path(__file__).parent.parent / "traces" / "ledger", "a") as file:
        file.write(step.step + "\\n")
    return {"headline": "made by " + step.step}
"""
SCHEMA = {"type": "object", "required": ["headline"], "properties": {"headline": {"type": "string", "minLength": 5}}}
GOOD = json.dumps({"headline": "from long ago"})


def sha16(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@pytest.fixture
def kit(tmp_path: Path, workspace: Path) -> Weft:
    for name, text in {
        "pipelines/kit.yaml": PIPELINE,
        "code/kit.py": CODE,
        "schemas/summary.json": json.dumps(SCHEMA),
    }.items():
        path = workspace / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return Weft(workspace)


def older(weft: Weft, files: dict[str, str], manifest: dict[str, Any] | None = None, home: str = "sessions") -> Path:
    folder = weft.workspace / home / "cli-1733"
    folder.mkdir(parents=True)
    for name, text in {"content.md": "the old text", **files}.items():
        (folder / name).write_text(text)
    if manifest is not None:
        (folder / "session.json").write_text(json.dumps(manifest))
    return folder


def everything(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def go(weft: Weft) -> tuple[list[str], str]:
    ran = weft("run", "--session-id", "cli-1733")
    assert ran.code == 0, ran.err
    return weft.ran(), ran.err


def with_hashes(status: str = "completed", content_hash: str | None = None) -> dict[str, Any]:
    step = {"status": status, "contentHash": content_hash or sha16(GOOD), "schemaVersion": "0.4.0"}
    return {
        "version": 1, "contentId": "cli-1733", "createdAt": "2025-12-05T00:00:00Z", "updatedAt": "2025-12-05T00:00:00Z",
        "sourceHash": sha16("the old text"), "steps": {"analyzing": step},
    }  # fmt: skip


WITH_PHASES = {"version": 1, "contentId": "cli-1733", "updatedAt": "now", "steps": {"analyzing": "done"}}
WITH_PIPELINE = {
    "version": 1, "contentId": "cli-1733", "updatedAt": "now", "pipeline": "kit", "desiredOutput": "writing-kit",
    "steps": {"summary": "done"},
}  # fmt: skip


@pytest.mark.parametrize("home", ["sessions", "contentItem"])
@pytest.mark.parametrize(
    "manifest", [None, with_hashes(), WITH_PHASES, WITH_PIPELINE], ids=["none", "hashes", "phases", "pipeline"]
)
def test_a_valid_artifact_counts_and_nothing_is_deleted(kit: Weft, manifest: dict[str, Any] | None, home: str) -> None:
    folder = older(kit, {"summary.json": GOOD, "notes.txt": "mine"}, manifest, home)
    before = everything(folder)
    plan = kit("plan", "--session-id", "cli-1733")
    assert plan.code == 0, plan.err
    assert "summary: skip, up to date (adopted)" in plan.out
    assert "ideas: run, not yet made" in plan.out
    assert everything(folder) == before, "planning changes nothing"
    steps, _ = go(kit)
    assert steps == ["ideas", "outline", "writing-kit"]
    after = everything(folder)
    for name, data in before.items():
        assert data in after.values(), f"{name} is gone"
    assert after["summary.json"] == GOOD.encode()
    assert go(kit)[0] == []
    assert json.loads(after["session.json"])["steps"]["summary"]["status"] == "completed"


def test_an_invalid_artifact_is_made_again_and_kept_aside(kit: Weft) -> None:
    folder = older(kit, {"summary.json": '{"headline": "no"}', "ideas.json": "{"}, WITH_PIPELINE)
    steps, said = go(kit)
    assert steps == ["summary", "ideas", "outline", "writing-kit"]
    assert "summary.json does not pass and will be made again: /headline" in said
    kept = [path.read_text() for path in (folder / "aside").iterdir()]
    assert '{"headline": "no"}' in kept
    assert "{" in kept


@pytest.mark.parametrize(
    ("manifest", "files", "said"),
    [
        (WITH_PIPELINE, {}, "the old manifest says summary is done, but summary.json is missing"),
        (
            with_hashes(content_hash="0" * 16),
            {"summary.json": GOOD},
            "summary.json is not what the old manifest recorded",
        ),
        (
            with_hashes("in_progress"),
            {"summary.json": GOOD},
            "summary.json is there, but the old manifest says in_progress",
        ),
        (with_hashes("failed"), {"summary.json": GOOD}, "the old manifest says failed"),
        (
            {**with_hashes(), "sourceHash": "0" * 16},
            {"summary.json": GOOD},
            "content.md changed since the old manifest",
        ),
        ({**WITH_PHASES, "steps": {"analyzing": "almost"}}, {"summary.json": GOOD}, 'says "almost" of analyzing'),
    ],
)
def test_what_was_wrong_is_said(kit: Weft, manifest: dict[str, Any], files: dict[str, str], said: str) -> None:
    older(kit, files, manifest)
    steps, err = go(kit)
    assert steps == ["summary", "ideas", "outline", "writing-kit"]
    assert said in err
    adopted = next(event for event in kit.log("cli-1733") if event["type"] == "session_adopted")
    assert any(said in note for note in adopted["notes"])


@pytest.mark.parametrize("text", ["{", "[]", '{"version": 9}', "\x00\x01"])
def test_a_manifest_that_can_not_be_read_is_only_a_note(kit: Weft, text: str) -> None:
    folder = older(kit, {"summary.json": GOOD})
    (folder / "session.json").write_text(text)
    steps, err = go(kit)
    assert steps == ["ideas", "outline", "writing-kit"]
    assert "the artifacts are judged by themselves" in err


def test_an_older_session_without_its_text_says_what_is_missing(kit: Weft) -> None:
    folder = older(kit, {"summary.json": GOOD})
    (folder / "content.md").unlink()
    ran = kit("run", "--session-id", "cli-1733")
    assert ran.code == 2
    assert "needs the input 'source'" in ran.err
    assert (folder / "summary.json").read_text() == GOOD


def test_older_sessions_are_listed(kit: Weft) -> None:
    older(kit, {"summary.json": GOOD}, WITH_PHASES, "contentItem")
    assert "cli-1733\t\tolder" in kit("sessions").out
