"""`weft models`: which models there are, connecting one, trying it, and which one is meant and why."""

from __future__ import annotations

import asyncio
import getpass
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import click

from weft.app import Folder
from weft.app.connecting import credential_store, open_model
from weft.cli.place import is_terminal, json_option, secret_asker, workspace_option, workspace_path
from weft.models.connections import (
    EMBEDDED,
    Choices,
    Connection,
    Resolved,
    connections,
    explain,
    key_of,
    resolve,
)
from weft.models.credentials import CredentialStore
from weft.models.probe import Ability, Probe, probe
from weft.protocol.errors import EXIT_DONE, EXIT_FAILED, UsageError, UserError
from weft.workspace.config import FILE, Config, read_config
from weft.workspace.config_edit import with_default, with_table, without_table
from weft.workspace.model_table import is_connection_name

THINKING = ("off", "low", "medium", "high")
KINDS = ("anthropic", "openai", "openai-responses", "google", "gguf", "claude-agent")


@click.group("models", invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """List, connect, test and choose models."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_models)


@command.command("list")
@workspace_option
@json_option
def list_models(workspace: str | None = None, as_json: bool = False) -> None:
    """The models that can be named, the default marked."""
    config = _config(workspace)
    known = _known(config)
    chosen = _chosen(config)
    default = resolve(chosen, known).reference if _is_there(chosen, known) else (chosen.workspace or EMBEDDED)
    rows = [(EMBEDDED, "built in", "no key, no network")]
    for one in known.values():
        named = f"{one.name}/{one.model}" if one.model else f"{one.name}/…"
        rows.append((named, one.kind, one.file or one.base_url or one.origin))
    for name, kind, where in rows:
        if as_json:
            print(json.dumps({"model": name, "kind": kind, "where": where, "default": name == default}))
        else:
            print(f"{'*' if name == default else ' '} {name}\t{kind}\t{where}")
    if not known and not as_json:
        print("No model is connected: `weft models add NAME --kind KIND` connects one.", file=sys.stderr)


@command.command("add")
@click.argument("name")
@click.option("--kind", type=click.Choice(KINDS), required=True, help="How it is spoken to.")
@click.option("--model", help="The model that is meant when only NAME is given.")
@click.option("--base-url", help="Where it is; else the provider's own address.")
@click.option("--file", metavar="FILE", help="The GGUF file, for --kind gguf.")
@click.option("--window", type=int, help="How many tokens fit.")
@click.option("--thinking", type=click.Choice(THINKING), help="How much it thinks before it answers, where it can.")
@click.option("--key-env", metavar="VARIABLE", help="Take the key from this variable instead of storing it.")
@click.option("--no-key", is_flag=True, help="It needs no key.")
@workspace_option
def add(name: str, workspace: str | None, **given: Any) -> None:
    """Connect a model: writes its table into config.toml and stores its key, asked for or read from standard input."""
    if not is_connection_name(name):
        hint = "use small letters, digits and '-'; 'embedded' is taken"
        raise UsageError(f"{name!r} can't be the name of a connection", hint=hint)
    values: dict[str, str | int] = {"kind": given["kind"]}
    for key in ("model", "base_url", "file", "window", "thinking"):
        if given[key] is not None:
            values[key] = given[key]
    if given["key_env"] and given["no_key"]:
        raise UsageError("--key-env and --no-key contradict each other")
    if given["key_env"]:
        values["key"] = f"env:{given['key_env']}"
    elif given["no_key"]:
        values["key"] = "none"
    path = workspace_path(workspace)
    text = _text(path)
    changed = with_table(text, name, values)
    with Folder.open(path) as folder:
        folder.replace(FILE, changed.encode())
        try:
            known = connections(read_config(folder).models, {})
        except BaseException:
            folder.replace(FILE, text.encode())
            raise
    if known[name].needs_key and not given["key_env"]:
        key = _asked(f"Key of {name}: ")
        if not key:
            raise UserError(f"{name} is connected, but no key was given", hint=f"run `weft models add {name} …` again")
        _store().put(name, key)
    print(f"connected {name}; `weft models test {name}` tries it", file=sys.stderr)


@command.command("remove")
@click.argument("name")
@workspace_option
def remove(name: str, workspace: str | None) -> None:
    """Remove a connection and its stored key."""
    path = workspace_path(workspace)
    if name not in _config(workspace).models:
        raise UserError(f"config.toml has no connection '{name}'", hint="`weft models list` shows them")
    with Folder.open(path) as folder:
        folder.replace(FILE, without_table(_text(path), name).encode())
    if name in _store().names():
        _store().remove(name)
    print(f"removed {name}", file=sys.stderr)


@command.command("default")
@click.argument("model")
@workspace_option
def default(model: str, workspace: str | None) -> None:
    """Make a model the workspace's default."""
    path = workspace_path(workspace)
    chosen = resolve(Choices(workspace=model), _known(_config(workspace)))
    with Folder.open(path) as folder:
        folder.replace(FILE, with_default(_text(path), model).encode())
    print(f"the default is now {chosen.reference}", file=sys.stderr)


@command.command("explain")
@click.option("--session", help="What a session would choose.")
@click.option("--step", help="What a step would choose.")
@click.option("--agent", help="What an agent would choose.")
@workspace_option
def explain_choice(workspace: str | None, session: str | None, step: str | None, agent: str | None) -> None:
    """Which model is meant, and why."""
    config = _config(workspace)
    chosen = _chosen(config, session=session, step=step, agent=agent)
    print("\n".join(explain(resolve(chosen, _known(config)))))


@command.command("test")
@click.argument("model", required=False)
@workspace_option
@json_option
def test(model: str | None, workspace: str | None, as_json: bool) -> int:
    """Really call a model: does it answer, how fast, does it stream, call tools, keep to a schema?"""
    chosen, key, _ = chosen_model(model, workspace)
    if chosen.connection is None:
        print("embedded: always there, no key, no network", file=sys.stderr)
        return EXIT_DONE
    found = asyncio.run(_probed(chosen, key))
    _show(found, as_json=as_json)
    return EXIT_DONE if found.answers.works else EXIT_FAILED


def chosen_model(model: str | None, workspace: str | None) -> tuple[Resolved, str, dict[str, str]]:
    """The model that is meant, its key and the variables it is opened with."""
    config = _config(workspace)
    chosen = resolve(_chosen(config, session=model), _known(config))
    connection = chosen.connection
    key = key_of(connection, _variables(), lambda name: _store().get(name)) if connection is not None else ""
    return chosen, key, _variables()


async def _probed(chosen: Resolved, key: str) -> Probe:
    model = open_model(chosen, key, _variables())
    try:
        return await probe(model, time.monotonic)
    finally:
        await model.aclose()


def _show(found: Probe, *, as_json: bool) -> None:
    abilities = {"answers": found.answers, "streaming": found.streaming, "tools": found.tools, "schema": found.schema}
    if as_json:
        shown = {name: {"works": one.works, "note": one.note} for name, one in abilities.items()}
        print(json.dumps({"model": found.model, "first_part": found.first_part, "whole": found.whole, **shown}))
        return
    print(found.model)
    if found.first_part is not None and found.whole is not None:
        print(f"  latency    {found.first_part:.2f} s to the first part, {found.whole:.2f} s in all")
    for name, one in abilities.items():
        print(f"  {name:<10} {_word(one)}: {one.note}")


def _word(one: Ability) -> str:
    return "unknown" if one.works is None else "yes" if one.works else "no"


def _config(workspace: str | None) -> Config:
    path = workspace_path(workspace)
    if not path.is_dir():
        raise UserError(f"there is no workspace at {path}", hint="`weft init` makes one")
    with Folder.open(path) as folder:
        return read_config(folder)


def _text(path: Path) -> str:
    if not path.is_dir():
        raise UserError(f"there is no workspace at {path}", hint="`weft init` makes one")
    with Folder.open(path) as folder:
        read_config(folder)
        return (folder.read_or_none(FILE) or b"").decode()


def _known(config: Config) -> dict[str, Connection]:
    return connections(config.models, _variables())


def _chosen(config: Config, **more: str | None) -> Choices:
    workspace = config.model if config.model != EMBEDDED else None
    return Choices(workspace=workspace, environment=os.environ.get("WEFT_MODEL"), **more)


def _is_there(chosen: Choices, known: dict[str, Connection]) -> bool:
    try:
        resolve(chosen, known)
    except UserError:
        return False
    return True


def _variables() -> dict[str, str]:
    return {**os.environ}


def _store() -> CredentialStore:
    return credential_store(_variables(), secret_asker())


def _asked(prompt: str) -> str:
    """A key is typed unseen or comes on standard input: never on the command line, where others could see it."""
    return getpass.getpass(prompt).strip() if is_terminal(sys.stdin) else sys.stdin.readline().strip()
