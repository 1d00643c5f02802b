"""Connecting a model by conversation, on a real terminal: a server of this machine, and one that refuses a key."""

from __future__ import annotations

import asyncio
import os
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.test_models_command import serving
from tests.made import Weft
from tests.terminal import Terminal
from weft.models.answer import gather
from weft.models.anthropic_messages import AnthropicMessages
from weft.models.discovery import PRESETS, ListedModel, Preset, found_agents, listed_models
from weft.models.endpoint import Endpoint
from weft.models.openai_chat import OpenAIChat
from weft.testing.conformance import HELLO
from weft.testing.wire import Called, Reply, WireServer, anthropic_wire, openai_chat_wire

WORKS = [
    Reply(text="one two three"),
    Reply(calls=(Called(tool="note_number", arguments='{"number": 7}'),)),
    Reply(text='{"city": "Paris", "letters": 5}'),
    Reply(status=400, error="this model takes no images"),
]


def test_a_server_of_this_machine_is_found_tried_and_made_the_default(weft: Weft) -> None:
    listed = [{"id": "small:1b", "max_model_len": 4096}, {"id": "large:8b"}]
    (weft.workspace / "config.toml").write_text("# mine\n")
    with serving(WORKS, listed=listed) as server:
        place = server.url.removeprefix("http://").removesuffix("/v1")
        terminal = Terminal(weft, "models", "add", width=110, height=50, OLLAMA_HOST=place)
        terminal.wait_for("1 Ollama at http://", "(2 models)", "another address", "Which [1]:", seconds=60)
        terminal.child.send("1\r")
        terminal.wait_for("1 small:1b (4,096 tokens)", "2 large:8b", "Which model [1]:")
        terminal.child.send("1\r")
        terminal.wait_for("A name for it [ollama]:")
        terminal.child.send("\r")
        terminal.wait_for("Make it the workspace's model?", seconds=60)
        terminal.child.send("y\r")
        assert terminal.end() == 0
        server.assert_done()
    shown = terminal.words()
    assert "tools yes: called with {'number': 7}" in shown
    assert "pictures no: invalid_request" in shown
    assert "It sees no pictures. Prompts are kept within 4,096 tokens." in shown
    written = tomllib.loads((weft.workspace / "config.toml").read_text())
    assert written["model"] == "ollama/small:1b"
    table = written["models"]["ollama"]
    assert (table["kind"], table["model"], table["window"]) == ("openai", "small:1b", 4096)


def test_a_refused_key_is_asked_for_again_and_nothing_is_written_before_one_is_taken(weft: Weft) -> None:
    config = weft.workspace / "config.toml"
    config.write_text("# mine\n")
    key = "sk-a-key-of-the-test-0123456789"
    listed = [{"id": f"model-{number}"} for number in range(40)]
    with serving([Reply(status=500, error="down")], listed=listed, wants_key=key) as server:
        terminal = Terminal(weft, "models", "add", width=110, height=60, WEFT_CREDENTIALS_KEY="open sesame")
        last = terminal.wait_for("another address", "Which [1]:", seconds=60)
        number = next(line.split()[0] for line in last.splitlines() if "another address" in line)
        terminal.child.send(f"{number}\r")
        terminal.wait_for("Its address")
        terminal.child.send(f"{server.url}\r")
        terminal.wait_for("The key is refused", "this key is not known here", "Key, unseen (try 2 of 3):")
        terminal.child.send("sk-wrong\r")
        terminal.wait_for("Key, unseen (try 3 of 3):")
        assert config.read_text() == "# mine\n"
        terminal.child.send(f"{key}\r")
        terminal.wait_for("and 25 more: type a part of the name", "Which model [1]:")
        terminal.child.send("-39\r")
        terminal.wait_for("A name for it [own]:")
        terminal.child.send("far\r")
        assert terminal.end() == 1, "it was connected, and does not answer"
    assert "It does not answer" in terminal.words()
    assert key.encode() not in terminal.raw
    written = tomllib.loads(config.read_text())["models"]["far"]
    assert (written["model"], written["key"]) == ("model-39", "store:far")


def test_agents_of_others_are_found_with_whether_somebody_signed_in(weft: Weft, tmp_path: Path) -> None:
    for name in ("codex", "claude", "opencode"):
        program = tmp_path / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(f"#!/bin/sh\nexec {sys.executable} {Path(__file__).parent / 'acp_stub.py'}\n")
        program.chmod(0o755)
    (tmp_path / "home/.codex").mkdir(parents=True)
    (tmp_path / "home/.codex/auth.json").write_text("not looked into")
    place = {"HOME": str(tmp_path / "home"), "PATH": str(tmp_path / "bin"), "OPENAI_API_KEY": "k"}
    assert [(one.agent.name, one.variable, one.signed_in) for one in found_agents(place)] == [
        ("claude", "", False),
        ("codex", "OPENAI_API_KEY", True),
        ("opencode", "OPENAI_API_KEY", False),
    ]
    assert found_agents({"HOME": place["HOME"], "PATH": ""}) == []

    path = os.pathsep.join([place["PATH"], weft.env["PATH"]])
    terminal = Terminal(weft, "models", "add", width=110, height=60, PATH=path, HOME=place["HOME"])
    last = terminal.wait_for("Codex (signed in)", "opencode (installed)", "Azure OpenAI", "Which [1]:", seconds=60)
    number = next(line.split()[0] for line in last.splitlines() if "opencode" in line)
    terminal.child.send(f"{number}\r")
    terminal.wait_for("A name for it [opencode]:")
    terminal.child.send("\r")
    terminal.wait_for("weft chat --model opencode", "Make it the workspace's model? [Y/n]:")
    terminal.child.send("\r")
    assert terminal.end() == 0, terminal.text()
    written = tomllib.loads((weft.workspace / "config.toml").read_text())
    assert written["models"]["opencode"] == {"kind": "acp", "command": ["opencode", "acp"]}
    assert written["model"] == "opencode"


def test_without_a_terminal_nothing_is_asked(weft: Weft) -> None:
    ran = weft("models", "add")
    assert ran.code == 2
    assert "without a terminal nothing can be asked" in ran.err
    assert "--kind is missing" in weft("models", "add", "x").err


@pytest.mark.parametrize("preset", [one for one in PRESETS if one.kind != "google"], ids=lambda one: one.name)
def test_every_preset_was_run_on_a_stub_of_its_wire(preset: Preset) -> None:
    """All that a preset says, but for the host."""
    wire = anthropic_wire if preset.kind == "anthropic" else openai_chat_wire
    made = AnthropicMessages if preset.kind == "anthropic" else OpenAIChat

    async def go() -> None:
        listed: list[dict[str, Any]] = [{"id": "m", "context_length": 1000}, {"object": "odd"}]
        async with WireServer(wire, [Reply(text="Six.")], listed=listed) as server:
            model = made(Endpoint(name=preset.name, model="m", base_url=server.url, key="k"))
            assert (await gather(model.stream(HELLO))).text == "Six."
            await model.aclose()
            if preset.kind == "openai":
                assert await listed_models("openai", server.url, "k") == [ListedModel(name="m", window=1000)]

    asyncio.run(go())
