"""What people have in other systems: taken in, kept where it is here already, named where it has no counterpart."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from weft.app import App
from weft.app.library.importing import ImportReport, import_from
from weft.orchestrator.validate import Documents, validate
from weft.protocol.conversation_events import ToolRequested, ToolSettled
from weft.protocol.errors import UserError
from weft.protocol.hashes import hash_bytes


@pytest.fixture
def app(workspace: Path) -> Iterator[App]:
    with App.open(workspace) as opened:
        yield opened


def write(folder: Path, files: dict[str, Any]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))
    return folder


def fingerprint(folder: Path) -> dict[str, str]:
    return {str(one): hash_bytes(one.read_bytes()) for one in sorted(folder.rglob("*")) if one.is_file()}


def taken(origin: Path, app: App) -> ImportReport:
    before = fingerprint(origin)
    report = import_from(origin, app)
    assert fingerprint(origin) == before, "nothing is changed at its origin"
    again = import_from(origin, app)
    assert again.made == [], "taken in once"
    return report


STAGES: dict[str, Any] = {
    "controlFlow": {
        "stages": [
            {"id": 0, "name": "analyze_request", "description": "Understand it",
             "pauseInstructions": "Is this what you want?",
             "pauseChoices": ["Go on", "Change it", "Stop"],
             "pauseDisplayFields": [{"key": "scope", "label": "Scope", "type": "text"},
                                    {"key": "parts", "label": "Parts", "type": "list"}]},
            {"id": 1, "name": "implement", "description": "Do it", "mode": "sdk_breakout"},
            {"id": 2, "name": "test", "description": "Try it"},
        ],
        "pauseAfterStages": [0, 1],
        "autoAdvance": True,
        "pauseOnErrors": ["auth"],
        "repairUnits": [{"stages": [1, 2], "maxIterations": 5, "feedbackField": "repair_feedback"}],
        "stageOutputSchemas": {
            "0": {"required": ["scope"], "properties": {"scope": {"type": "string"}}, "enforcement": "block"},
            "2": {"required": ["verdict", "repair_feedback"], "properties": {}},
        },
    },
    "depthModes": {"quick": {"maxSubQueries": 3}, "standard": {"maxSubQueries": 8}},
    "verification": {"entityGrounding": {"threshold": 0.8}},
    "orchestrator": {"enabled": True, "budgetUsd": 5, "model": "claude-x"},
    "followUp": {"enabled": True},
}  # fmt: skip


def test_an_agent_with_stages_becomes_a_pipeline_that_is_good(tmp_path: Path, app: App) -> None:
    origin = write(
        tmp_path / "dev-loop",
        {
            "AGENT.md": "\ufeff---\nname: Dev Loop\ndescription: Builds things.\nicon: x\n"
            "sources:\n- {slug: kb, required: true}\n---\n",
            "config.json": STAGES,
            "prompts/stage-0-analyze-request.md": "You are {{agentName}}. Read {{threshold}}.",
        },
    )
    report = taken(origin, app)
    assert report.system == "agent"
    (app.workspace.path / "sources/kb").mkdir(parents=True)
    write(app.workspace.path, {"sources/kb/config.json": {"kind": "folder", "path": str(tmp_path)}})
    assert app.workspace.check_pipeline("dev-loop") == []
    pipeline = app.workspace.pipeline("dev-loop")
    first, second, third = pipeline.steps.values()
    assert (first.name, first.artifacts, second.executor, third.requires) == (
        "analyze_request",
        ("analyze_request.json",),
        "agent",
        ("analyze_request", "implement"),
    )
    assert first.gate is not None
    assert [(one.id, one.label) for one in first.gate.choices] == [
        ("proceed", "Go on"),
        ("amend", "Change it"),
        ("cancel", "Stop"),
    ]
    assert second.gate is None
    (unit,) = pipeline.units
    assert (unit.steps, unit.bound({}), unit.kind) == (("implement", "test"), 5, "repair")
    assert pipeline.budget.usd == 5
    assert pipeline.parameters["max_sub_queries"].default == 8
    assert pipeline.parameters["entity_grounding_threshold"].default == 0.8
    assert "You are Dev Loop." in app.workspace.agent("dev-loop-analyze_request").text
    left = "\n".join(report.left)
    for named in (
        "{{threshold}}",
        "autoAdvance",
        "pauseOnErrors",
        "followUp",
        "orchestrator.model",
        "needsRepair",
        "icon",
        "source kb",
        "it only warned",
    ):
        assert named in left, named


def test_a_looplia_workspace_comes_with_its_sessions(tmp_path: Path, app: App) -> None:
    pipeline = (
        "name: kit\ndescription: A kit.\nsteps:\n  summary: {artifact: summary.json, agent: reader, final: true}\n"
    )
    origin = write(
        tmp_path / "looplia",
        {
            "CLAUDE.md": "Be kind.\n",
            "user-profile.json": {"topics": []},
            "pipelines/kit.yaml": pipeline,
            ".claude/agents/reader.md": "---\nname: reader\ndescription: Reads.\n---\nRead.\n",
            "contentItem/article-2025-12-12-abc123/content.md": "---\nid: a\ntitle: T\n---\nText\n",
            "contentItem/article-2025-12-12-abc123/session.json": {"version": 1, "pipeline": "kit", "steps": {}},
            "contentItem/article-2025-12-12-abc123/logs/query.log": "x",
            "registry/x.json": {},
        },
    )
    write(app.workspace.path, {"CLAUDE.md": "Mine.\n"})
    report = taken(origin, app)
    assert report.kept == ["CLAUDE.md"]
    assert (app.workspace.path / "CLAUDE.md").read_text() == "Mine.\n"
    assert app.workspace.check_pipeline("kit") == []
    assert app.sessions.exists("article-2025-12-12-abc123")
    assert "contentItem/article-2025-12-12-abc123/logs: a session is flat" in report.left
    assert "registry: nothing here reads it" in report.left


CRAFT: dict[str, Any] = {
    "statuses/config.json": {
        "statuses": [{"id": "todo", "label": "To do"}, {"id": "shipped", "label": "Shipped", "category": "closed"}]
    },
    "labels/config.json": {"labels": [{"id": "topic", "name": "Topic", "children": [{"id": "sea"}]}]},
    "permissions.json": {
        "allowedBashPatterns": ["^ls"], "blockedTools": ["WebFetch"], "allowedWritePaths": ["notes/**", "/etc/**"]
    },
    "sources/linear/config.json": {
        "type": "mcp", "name": "Linear", "enabled": True, "isAuthenticated": True,
        "mcp": {"url": "https://mcp.linear.app/mcp", "authType": "oauth"},
    },
    "sources/linear/guide.md": "Issues.\n",
    "sources/odd/config.json": {"type": "carrier-pigeon"},
    "skills/tidy/SKILL.md": "---\nname: tidy\ndescription: Tidies.\n---\nTidy.\n",
    "automations.json": {},
}  # fmt: skip
HEADER = {
    "id": "260101-swift-river",
    "name": "Tides",
    "isFlagged": True,
    "sessionStatus": "shipped",
    "labels": ["topic::sea"],
}
SAID = [
    {"role": "user", "content": "What is a tide?"},
    {"role": "assistant", "content": "thinking", "isIntermediate": True},
    {"role": "tool", "toolName": "Read", "toolUseId": "u1", "toolInput": {"path": "sea.md"}, "toolResult": "high"},
    {"role": "tool", "toolName": "Bash", "toolInput": {"command": "x"}, "content": "no", "toolStatus": "error"},
    {"role": "info", "content": "a note"},
    {"role": "assistant", "content": "The sea rises."},
    {"role": "user", "content": [{"type": "text", "text": "And falls?"}]},
    {"role": "assistant", "content": "Twice a day."},
]


def test_a_craft_workspace_with_conversations_that_go_on(tmp_path: Path, app: App) -> None:
    origin = write(tmp_path / "craft", CRAFT)
    log = "\n".join(json.dumps(one) for one in (HEADER, *SAID)) + "\n{broken\n"
    write(origin, {"sessions/260101-swift-river/session.jsonl": log, "sessions/260101-swift-river/plans/p.md": "x"})
    report = taken(origin, app)
    entry = app.catalogue.entry("260101-swift-river")
    assert entry is not None
    assert (entry.title, entry.status, dict(entry.labels), entry.flag) == ("Tides", "shipped", {"topic": "sea"}, True)
    said = [record.event for record in app.sessions.records("260101-swift-river")]
    assert [one.text for one in said if one.type == "message_accepted"] == ["What is a tide?", "And falls?"]
    assert [one.text for one in said if one.type == "model_settled"] == ["", "The sea rises.", "Twice a day."]
    made = [(one.call, one.outcome, one.text, one.tainting) for one in said if isinstance(one, ToolSettled)]
    assert made == [("u1", "succeeded", "high", True), ("call-2", "failed", "no", True)]
    assert [(one.tool, dict(one.input)) for one in said if isinstance(one, ToolRequested)] == [
        ("Read", {"path": "sea.md"}),
        ("Bash", {"command": "x"}),
    ]
    assert app.sessions.read("260101-swift-river").faults == []
    assert "sea" in (app.workspace.path / "labels.yaml").read_text()
    assert "closed: true" in (app.workspace.path / "statuses.yaml").read_text()
    source = json.loads((app.workspace.path / "sources/linear/config.json").read_text())
    assert (source["kind"], source["auth"]) == ("mcp", {"type": "oauth"})
    assert app.workspace.skill_names() == ["tidy"]
    left = "\n".join(report.left)
    for named in (
        "carrier-pigeon",
        '"^ls"',
        "/etc/**",
        "kind info",
        "1 lines",
        "/plans:",
        "automations.json",
        "sign-in linear",
    ):
        assert named in left, named
    rules = (app.workspace.path / "permissions.yaml").read_text()
    assert "notes/**" in rules
    assert "WebFetch" in rules


CASES = json.loads((Path(__file__).parents[1] / "vectors/orch_stage_output_validation.json").read_text())["cases"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"].split(" > ", 1)[-1])
def test_an_imported_schema_accepts_and_refuses_what_it_did(case: dict[str, Any], tmp_path: Path, app: App) -> None:
    data, schema = case["args"]
    config = {"controlFlow": {"stages": [{"id": 0, "name": "one"}], "stageOutputSchemas": {"0": schema}}}
    origin = write(tmp_path / "staged", {"AGENT.md": "---\nname: S\ndescription: D.\n---\n", "config.json": config})
    import_from(origin, app)
    step = app.workspace.pipeline("staged").steps["one"]
    found = validate(step, "one.json", data, Documents({}, {})) if step.schemas else []
    assert (not found) == case["result"]["valid"]
    for warning in case["result"]["warnings"]:
        key = warning.partition(":")[0]
        assert any(key in f"{one.at} {one.message}" for one in found), warning


def test_what_is_not_known_is_said(tmp_path: Path, app: App) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match=r"nothing in .* is known"):
        import_from(tmp_path / "empty", app)
    with pytest.raises(UserError, match=r"there is no folder .*nowhere"):
        import_from(tmp_path / "nowhere", app)
