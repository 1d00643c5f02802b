"""Which model is meant: the most specific choice, why, and where its key is."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.files import Folder
from weft.models.answer import gather
from weft.models.anthropic_messages import AnthropicMessages
from weft.models.connections import (
    LEVELS,
    Choices,
    Connection,
    Resolved,
    connect,
    connections,
    explain,
    key_of,
    resolve,
)
from weft.models.google import GoogleModel
from weft.models.local_gguf import LocalGguf
from weft.models.openai_chat import OpenAIChat
from weft.models.openai_responses import OpenAIResponses
from weft.protocol.errors import UserError, WorkspaceError
from weft.testing.conformance import HELLO
from weft.testing.wire import Reply, WireServer, anthropic_wire
from weft.workspace.config import Config
from weft.workspace.config_file import ConfigFile, read_config

WRITTEN = """
model = "work"
[models.work]
kind = "anthropic"
model = "claude-sonnet-5"
window = 200000

[models.desk]
kind = "openai"
base_url = "http://127.0.0.1:11434/v1"
price = { input = 0, output = 0.5 }
"""


def configured(path: Path, text: str = WRITTEN) -> Config:
    (path / "config.toml").write_text(text)
    with Folder.open(path) as folder:
        return read_config(folder)


def resolved(path: Path, **choices: Any) -> Resolved:
    return resolve(Choices(**choices), connections(configured(path).models, {}))


def test_tables_become_connections(tmp_path: Path) -> None:
    found = connections(configured(tmp_path).models, {})
    assert sorted(found) == ["desk", "work"]
    work, desk = found["work"], found["desk"]
    assert (work.kind, work.model, work.window, work.key_place, work.needs_key) == (
        "anthropic",
        "claude-sonnet-5",
        200000,
        "store:work",
        True,
    )
    assert not desk.needs_key, "a server on this machine needs none"
    assert desk.price
    assert str(desk.price.output) == "0.5"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[models.w]\nkind = "antropic"', "kind"),
        ('[models.w]\nkind = "openai"\nkye = "env:X"', "kye"),
        ('[models.w]\nkind = "openai"\nbase_url = "ftp://x"', "http"),
        ('[models.w]\nkind = "openai"\nbase_url = "https://me:secret@x/v1"', "user name"),
        ('[models.embedded]\nkind = "openai"', "embedded"),
        ('[models."W x"]\nkind = "openai"', "name of a connection"),
        ("[models.w]\nmodel = 'x'", "kind"),
    ],
)
def test_faults_in_a_table_are_named(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(WorkspaceError, match=said) as raised:
        configured(tmp_path, text)
    assert raised.value.problems[0].line
    assert "me:secret" not in str(raised.value)


def test_the_line_is_that_of_the_key(tmp_path: Path) -> None:
    text = 'concurrency = 2\n[models.a]\nkind = "openai"\n\n[models.b]\nkind = "openai"\nwindow = 3\nkye = "none"\n'
    with pytest.raises(WorkspaceError) as raised:
        configured(tmp_path, text)
    assert [(one.line, one.key) for one in raised.value.problems] == [
        (7, "models.b.window"),
        (8, "models.b.kye"),
    ]


def test_a_file_belongs_to_its_kind(tmp_path: Path) -> None:
    found = connections(
        configured(tmp_path, '[models.s]\nkind = "gguf"\nfile = "~/small.gguf"\nthreads = 3').models, {}
    )["s"]
    assert (found.model, found.needs_key) == ("small", False)
    made = connect(resolve(Choices(session="s"), {"s": found}), "")
    assert isinstance(made, LocalGguf)
    assert made._threads == 3
    with pytest.raises(WorkspaceError, match="'threads' belongs to the kind gguf"):
        configured(tmp_path, '[models.s]\nkind = "openai"\nthreads = 3')
    with pytest.raises(WorkspaceError, match="kind gguf needs it"):
        configured(tmp_path, '[models.s]\nkind = "gguf"')


def test_a_key_written_into_the_file_is_refused_and_not_repeated(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match="must name where the key is") as raised:
        configured(tmp_path, '[models.w]\nkind = "openai"\nkey = "sk-0123456789abcdef"')
    assert "sk-0123456789abcdef" not in str(raised.value)


def test_the_most_specific_choice_wins(tmp_path: Path) -> None:
    assert resolved(tmp_path).reference == "embedded"
    assert resolved(tmp_path, workspace="work").reference == "work/claude-sonnet-5"
    choice = resolved(tmp_path, workspace="work", agent="desk/a", step="desk/b", session="embedded")
    assert (choice.reference, choice.level, choice.connection) == ("embedded", "session", None)
    assert resolved(tmp_path, workspace="work", agent="desk/a", step="desk/b").model == "b"
    assert resolved(tmp_path, environment="desk/e", workspace="work").level == "workspace"
    assert resolved(tmp_path, workspace="desk/org/name:7b").model == "org/name:7b", "a model's name may hold slashes"


@settings(deadline=None)
@given(st.fixed_dictionaries({level: st.sampled_from([None, "embedded", "w/a", "w/b"]) for level in LEVELS[:-1]}))
def test_the_explanation_marks_the_one_that_counts(said: dict[str, str | None]) -> None:
    known = {"w": Connection(name="w", kind="openai")}
    found = resolve(Choices(**said), known)
    won = [one for one in found.considered if one.won]
    assert [one.level for one in won] == [found.level]
    assert won[0].reference == found.reference
    assert all(not said[level] for level in LEVELS[: LEVELS.index(found.level)])
    assert sum(line.startswith("→") for line in explain(found)) == 1


def test_the_explanation_says_which_and_why(tmp_path: Path) -> None:
    assert explain(resolved(tmp_path, workspace="work", environment="desk/x")) == [
        "work/claude-sonnet-5: config.toml says so",
        "  connection  work (anthropic) from config.toml, at the provider's own address",
        "  key         store:work",
        "  window      200,000 tokens, from config.toml",
        "  session     -",
        "  step        -",
        "  agent       -",
        "→ workspace   work",
        "  environment desk/x",
        "  default     embedded",
    ]
    assert explain(resolved(tmp_path))[-1] == "No model is connected: `weft models add` connects one."


def test_an_address_that_is_not_encrypted_is_pointed_out() -> None:
    known = {"lan": Connection(name="lan", kind="openai", base_url="http://10.0.0.7/v1")}
    assert any("not encrypted" in line for line in explain(resolve(Choices(session="lan/m"), known)))
    local = {"lan": Connection(name="lan", kind="openai", base_url="http://localhost/v1")}
    assert not any("not encrypted" in line for line in explain(resolve(Choices(session="lan/m"), local)))


def test_what_is_not_there_is_named_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="the step asks for the model 'wrok'") as raised:
        resolved(tmp_path, step="wrok")
    assert raised.value.hint == "did you mean 'work'?"
    with pytest.raises(UserError, match="the model 'wrok' was chosen, but there is no connection"):
        resolved(tmp_path, session="wrok")
    with pytest.raises(UserError, match="names no model"):
        resolved(tmp_path, step="desk")


def test_a_key_in_the_environment_makes_a_connection_that_is_used_only_when_named() -> None:
    known = connections({}, {"ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": ""})
    assert list(known) == ["anthropic"]
    assert resolve(Choices(), known).reference == "embedded"
    chosen = resolve(Choices(session="anthropic/claude-sonnet-5"), known)
    assert chosen.connection
    assert key_of(chosen.connection, {"ANTHROPIC_API_KEY": "k"}, lambda name: None) == "k"


def test_keys_come_from_where_they_are_said_to_be() -> None:
    stored = {"work": "from the store"}.get
    assert key_of(Connection(name="work", kind="anthropic"), {}, stored) == "from the store"
    assert key_of(Connection(name="x", kind="openai", key="env:MY_KEY"), {"MY_KEY": "v"}, stored) == "v"
    assert key_of(Connection(name="x", kind="openai", key="none"), {}, stored) == ""
    with pytest.raises(UserError, match="MY_KEY, which is not set"):
        key_of(Connection(name="x", kind="openai", key="env:MY_KEY"), {}, stored)
    with pytest.raises(UserError, match="there is no key") as raised:
        key_of(Connection(name="x", kind="openai"), {}, stored)
    assert "weft models add x" in raised.value.hint


def test_each_kind_has_its_client(tmp_path: Path) -> None:
    made = {
        kind: connect(
            resolve(Choices(session="c/m"), {"c": Connection(name="c", kind=kind, window=9000)}),
            "key",
        )
        for kind in ("anthropic", "openai", "openai-responses", "google")
    }
    assert [type(model) for model in made.values()] == [AnthropicMessages, OpenAIChat, OpenAIResponses, GoogleModel]
    assert {(model.name, model.window) for model in made.values()} == {("c/m", 9000)}


def test_the_window_is_the_persons_else_the_lists() -> None:
    def window(**given: Any) -> int:
        known = {"c": Connection(name="c", **given)}
        return connect(resolve(Choices(session="c/claude-sonnet-4-5"), known), "key").window

    assert window(kind="anthropic", window=9000) == 9000
    assert window(kind="anthropic") == 200_000
    assert window(kind="anthropic", base_url="https://gateway.example") == 200_000
    assert window(kind="openai", base_url="http://127.0.0.1:8080/v1") == 128_000, "what a desk has is not on a list"
    told = explain(resolve(Choices(session="c/claude-sonnet-4-5"), {"c": Connection(name="c", kind="anthropic")}))
    assert "  window      200,000 tokens, from the list of models" in told


def test_how_much_a_model_thinks_is_part_of_its_connection() -> None:
    plain = {"kind": "anthropic", "model": "claude-sonnet-4-5"}
    config = ConfigFile.model_validate({"models": {"deep": plain}}).settings()
    assert connections(config.models, {})["deep"].thinking == "off"
    config = ConfigFile.model_validate({"models": {"deep": {**plain, "thinking": "high"}}}).settings()

    async def asked() -> tuple[dict[str, Any], list[str]]:
        async with WireServer(anthropic_wire, [Reply(text="Six.", thinking="Let me see.")]) as server:
            known = {"deep": replace(connections(config.models, {})["deep"], base_url=server.url)}
            chosen = resolve(Choices(session="deep"), known)
            model = connect(chosen, "key")
            answer = await gather(model.stream(HELLO))
            assert answer.text == "Six."
            await model.aclose()
            return server.seen[0].body, explain(chosen)

    body, told = asyncio.run(asked())
    assert body["thinking"]["type"] == "enabled"
    assert body["thinking"]["budget_tokens"] >= 4096
    assert "  thinking    high" in told
