"""`weft models`: which models there are, connecting one, trying it, and which one is meant and why."""

from __future__ import annotations

import asyncio
import getpass
import json
import os
import select
import sys
from typing import Any

import click

from weft.app import MODEL_KINDS, Ability, ModelSettings, Probe
from weft.cli.place import (
    ListingGroup,
    asking_consents,
    is_attended,
    is_terminal,
    json_option,
    print_list,
    secret_asker,
    trust_option,
    workspace_option,
    workspace_path,
)
from weft.protocol.errors import EXIT_DONE, EXIT_FAILED, UsageError
from weft.render.cells import clean, clean_lines

PIPE_SECONDS = 1.0
THINKING = ("off", "low", "medium", "high")


@click.group("models", cls=ListingGroup)
def command() -> None:
    """List, connect, test and choose models."""


@command.command("list")
@workspace_option
@json_option
def list_models(as_json: bool) -> None:
    """The models that can be named, the default marked."""
    rows = model_settings().rows()
    found = []
    for row in rows:
        fields = {"model": row.model, "kind": row.kind, "where": row.where, "default": row.default}
        found.append((fields, (f"{'*' if row.default else ' '} {row.model}", row.kind, row.where)))
    print_list(found, as_json=as_json)
    if len(rows) == 1 and not as_json:
        print("No model is connected: `weft models add` connects one.", file=sys.stderr)


@command.command("add")
@click.argument("name", required=False)
@click.option("--kind", type=click.Choice(MODEL_KINDS), help="How it is spoken to.")
@click.option("--model", help="The model that is meant when only NAME is given.")
@click.option("--base-url", help="Where it is; else the provider's own address.")
@click.option("--file", metavar="FILE", help="The GGUF file, for --kind gguf.")
@click.option("--window", type=int, help="How many tokens fit.")
@click.option("--thinking", type=click.Choice(THINKING), help="How much it thinks before it answers, where it can.")
@click.option("--key-env", metavar="VARIABLE", help="Take the key from this variable instead of storing it.")
@click.option("--no-key", is_flag=True, help="It needs no key.")
@workspace_option
def add(name: str | None, **given: Any) -> int:
    """Connect a model. Without a NAME, it looks what is there and asks; with one, it writes the table into config.toml
    and stores the key, asked for or read from standard input."""
    if name is None:
        if not is_attended():
            raise UsageError("without a terminal nothing can be asked", hint="weft models add NAME --kind KIND …")
        from weft.cli.connecting import talk_it_through

        return talk_it_through(model_settings(), lambda found: _show(found, as_json=False))
    if given["kind"] is None:
        raise UsageError("--kind is missing", hint=f"one of {', '.join(MODEL_KINDS)}; or `weft models add` alone")
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
    settings = model_settings()
    settings.add(name, values, lambda needed: _asked(name, needed))
    print(f"connected {name}; `weft models test {name}` tries it", file=sys.stderr)
    if settings.is_embedded_default:
        print(f"the default is still embedded: `weft models default {name}` changes that", file=sys.stderr)
    return EXIT_DONE


@command.command("remove")
@click.argument("name")
@workspace_option
def remove(name: str) -> None:
    """Remove a connection and its stored key."""
    model_settings().remove(name)
    print(f"removed {name}", file=sys.stderr)


@command.command("default")
@click.argument("model")
@workspace_option
def default(model: str) -> None:
    """Make a model the workspace's default."""
    print(f"the default is now {model_settings().set_default(model)}", file=sys.stderr)


@command.command("explain")
@click.option("--session", help="What a session would choose.")
@click.option("--step", help="What a step would choose.")
@click.option("--agent", help="What an agent would choose.")
@workspace_option
def explain_choice(session: str | None, step: str | None, agent: str | None) -> None:
    """Which model is meant, and why."""
    print(clean_lines("\n".join(model_settings().explain(session=session, step=step, agent=agent))))


@command.command("test")
@click.argument("model", required=False)
@trust_option
@workspace_option
@json_option
def test(model: str | None, as_json: bool) -> int:
    """Really call a model: whether and how fast it answers, streams, calls tools, keeps to a schema, sees."""
    chosen = model_settings().chosen(model)
    if chosen.is_embedded:
        print("embedded: always there, no key, no network", file=sys.stderr)
        return EXIT_DONE
    found = asyncio.run(chosen.probe())
    _show(found, as_json=as_json)
    return EXIT_DONE if found.answers.works else EXIT_FAILED


def model_settings() -> ModelSettings:
    return ModelSettings(workspace_path(), {**os.environ}, secret_asker(), asking_consents())


def _show(found: Probe, *, as_json: bool) -> None:
    abilities = {
        "answers": found.answers,
        "streaming": found.streaming,
        "tools": found.tools,
        "schema": found.schema,
        "pictures": found.pictures,
    }
    if as_json:
        shown = {name: {"works": one.works, "note": one.note} for name, one in abilities.items()}
        times = {"first_part": found.first_part, "whole": found.whole}
        print(json.dumps({"model": found.model, **times, "window": found.window, **shown}))
        return
    print(clean(found.model))
    if found.first_part is not None and found.whole is not None:
        print(f"  latency    {found.first_part:.2f} s to the first part, {found.whole:.2f} s in all")
    for name, one in abilities.items():
        print(clean(f"  {name:<10} {_word(one)}: {one.note}"))


def _word(one: Ability) -> str:
    return "unknown" if one.works is None else "yes" if one.works else "no"


def _asked(name: str, needed: bool) -> str:
    """A key is typed unseen or comes on standard input: never on the command line, where others could see it. What
    needs none gets the one that is piped to it."""
    if is_terminal(sys.stdin):
        return getpass.getpass(f"Key of {name}: ").strip() if needed else ""
    if not needed and not _is_piped():
        return ""
    return sys.stdin.read().strip()


def _is_piped() -> bool:
    """Something comes on standard input, or it has ended: an open pipe that nobody writes to is not waited for."""
    try:
        return bool(select.select([sys.stdin], [], [], PIPE_SECONDS)[0])
    except (OSError, ValueError):
        return True  # not a file of the system's: it can be read at once
