"""Programs with a loop of their own, the real ones, each held to the same checks.

    npm install -g opencode-ai @openai/codex @zed-industries/claude-code-acp @google/gemini-cli
    WEFT_LANE=slow pytest tests/e2e/test_runtime_conformance.py

They are large, start slowly and are not ours: a machine without one says so in one line. WEFT_AGENTS_PATH names where
they are.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import shutil
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.runtime_conformance import (
    RUNTIME_CONFORMANCE,
    RuntimeCheck,
    RuntimeStage,
    files_of_a_step_are_judged_as_written,
    what_is_denied_is_not_run,
)
from weft.testing.wire import (
    Called,
    Reply,
    anthropic_wire,
    google_wire,
    openai_chat_wire,
    openai_responses_wire,
)

PLACES = os.environ.get("WEFT_AGENTS_PATH", os.environ.get("PATH"))
NAMES = count(1)
GEMINI = "gemini-2.5-pro"
"""Told by name: else it asks another model first which one to use."""


def called(tool: str, **given: Any) -> Called:
    return Called(tool=tool, arguments=json.dumps(given), call=f"toolu_{next(NAMES)}")


def patched(name: str, text: str) -> Called:
    """The second time it is changed, from the first text in small letters."""
    change = f"*** Add File: {name}\n" if text.islower() else f"*** Update File: {name}\n@@\n-{text.lower()}"
    patch = f"*** Begin Patch\n{change}+{text}*** End Patch\n"
    return called("exec_command", cmd=f"apply_patch <<'EOF'\n{patch}EOF\n")


def program(name: str) -> str:
    return shutil.which(name, path=PLACES) or name


def opencode(url: str, _: Path) -> dict[str, Any]:
    """Its settings are where a person has them: in a step the working folder is empty."""
    stub = {"npm": "@ai-sdk/openai-compatible", "options": {"baseURL": url, "apiKey": "x"}, "models": {"m": {}}}
    settings = {"provider": {"stub": stub}, "model": "stub/m", "permission": {"edit": "ask", "bash": "ask"}}
    more = {"autoupdate": False, "share": "disabled", "agent": {"title": {"disable": True}}}
    own = Path.home() / ".config/opencode/opencode.json"
    own.parent.mkdir(parents=True, exist_ok=True)
    own.write_text(json.dumps({**settings, **more}))
    return {"kind": "acp", "command": [program("opencode"), "acp"], "home": [".config/opencode/opencode.json"]}


def copilot(url: str, _: Path) -> dict[str, Any]:
    """Without GitHub: its own way to another provider."""
    settings = {"COPILOT_PROVIDER_BASE_URL": url, "COPILOT_MODEL": "gpt-4.1", "COPILOT_OFFLINE": "true"}
    return {"kind": "acp", "command": [*on_path(**settings), program("copilot"), "--acp"]}


def on_path(**variables: str) -> list[str]:
    return ["env", *(f"{name}={value}" for name, value in variables.items())]


STAGES = {
    "claude": RuntimeStage(
        "claude",
        anthropic_wire,
        lambda url, _: {"kind": "claude-agent", "model": "claude-sonnet-4-5", "base_url": url, "key": "none"},
        lambda command: called("Bash", command=command, description="does it"),
        lambda name, text: called("Write", file_path=name, content=text),
    ),
    "codex": RuntimeStage(
        "codex",
        openai_responses_wire,
        lambda url, _: {
            "kind": "codex",
            "model": "m",
            "base_url": url,
            "key": "none",
            "command": [program("codex")],
        },
        lambda command: called("exec_command", cmd=command),
        patched,
    ),
    "opencode": RuntimeStage(
        "opencode",
        openai_chat_wire,
        opencode,
        lambda command: called("bash", command=command, description="does it"),
        lambda name, text: called("write", filePath=name, content=text),
    ),
    "copilot": RuntimeStage(
        "copilot",
        openai_chat_wire,
        copilot,
        lambda command: called("bash", command=command, description="does it", mode="sync"),
        lambda name, text: (
            called("create", path=name, file_text=text)
            if text.islower()
            else called("edit", path=name, old_str=text.lower(), new_str=text)
        ),
    ),
    "claude-code-acp": RuntimeStage(
        "claude-code-acp",
        anthropic_wire,
        lambda url, _: {
            "kind": "acp",
            "command": [
                *on_path(ANTHROPIC_BASE_URL=url.removesuffix("/v1"), ANTHROPIC_API_KEY="x"),
                program("claude-code-acp"),
            ],
        },
        lambda command: called("Bash", command=command, description="does it"),
        lambda name, text: called("mcp__acp__Write", file_path=name, content=text),
        asides=(Reply(text="1"), Reply(text="a title")),
    ),
    "gemini": RuntimeStage(
        "gemini",
        replace(google_wire, path=f"/v1beta/models/{GEMINI}:streamGenerateContent"),
        lambda url, _: {
            "kind": "acp",
            "command": [
                *on_path(GOOGLE_GEMINI_BASE_URL=url.removesuffix("/v1"), GEMINI_API_KEY="x"),
                program("gemini"),
                "--model",
                GEMINI,
                "--experimental-acp",
            ],
        },
        lambda command: called("run_shell_command", command=command, description="does it"),
        lambda name, text: called("write_file", file_path=name, content=text),
    ),
}
NOT_SHOWN = {("gemini", files_of_a_step_are_judged_as_written)}
"""It sends a request that the script of the stub has no reply to."""
CHECKED = [(name, check) for name in STAGES for check in RUNTIME_CONFORMANCE if (name, check) not in NOT_SHOWN]


def is_here(name: str) -> bool:
    if name == "claude":
        return importlib.util.find_spec("claude_agent_sdk") is not None
    return shutil.which(name, path=PLACES) is not None


@pytest.mark.campaign
@pytest.mark.timeout(300)
@pytest.mark.parametrize(("name", "check"), CHECKED, ids=[f"{name}-{check.__name__}" for name, check in CHECKED])
def test_every_runtime_does_what_the_port_promises(name: str, check: RuntimeCheck, tmp_path: Path) -> None:
    if not is_here(name):
        pytest.skip(f"needs {name}, which is not here")
    asyncio.run(check(STAGES[name], tmp_path))


@pytest.mark.slow
@pytest.mark.skipif(not is_here("claude"), reason="needs weft[claude]")
def test_a_sample_of_it(tmp_path: Path) -> None:
    """The rest is in the campaigns, and in the tests of each."""
    asyncio.run(what_is_denied_is_not_run(STAGES["claude"], tmp_path))
