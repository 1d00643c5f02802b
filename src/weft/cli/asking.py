"""The words of `run` and `plan`: which pipeline, which files, which session, and what overrules the planner."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click

from weft.app import App, Ask
from weft.cli.place import DEFAULT_WORKSPACE, pairs
from weft.protocol.commands import StartRun
from weft.protocol.errors import UsageError

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

_OPTIONS = (
    click.argument("words", nargs=-1, metavar="[PIPELINE] [FILE]..."),
    click.option("--file", "-f", "files", multiple=True, metavar="FILE", help="The input file; may be repeated."),
    click.option("--input", "inputs", multiple=True, metavar="NAME=FILE", help="A named input of the pipeline."),
    click.option("--session-id", "session", metavar="ID", help="The session to continue, or the id for a new one."),
    click.option("--new", is_flag=True, help="Begin another session on a file that has one."),
    click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="A parameter; kept for the session."),
    click.option("--force", multiple=True, metavar="STEP", help="Run this step even if it is up to date."),
    click.option("--from", "start_from", metavar="STEP", help="Run this step and all that depends on it."),
    click.option("--until", metavar="STEP", help="Stop after this step: it and what it needs."),
    click.option("--accept", multiple=True, metavar="STEP", help="Keep your edit of its artifact as the result."),
)


def ask_options(function: Decorated) -> Decorated:
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def start_run(given: Mapping[str, Any]) -> StartRun:
    return StartRun(
        parameters=pairs(given["settings"], "--set", "VALUE"),
        force=frozenset(given["force"]),
        start_from=given["start_from"],
        until=given["until"],
        accept=frozenset(given["accept"]),
    )


def asks(app: App, words: tuple[str, ...], given: Mapping[str, Any]) -> list[Ask]:
    """One ask for each file; one without a file when none is named."""
    pipeline, rest = _pipeline_and_files(app, words)
    files = [Path(word) for word in (*rest, *given["files"])]
    inputs = {name: Path(value) for name, value in pairs(given["inputs"], "--input", "FILE").items()}
    session = given["session"]
    if session and len(files) > 1:
        raise UsageError("--session-id names one session, but there are several files", hint="run them one by one")
    if session and given["new"]:
        raise UsageError("--new and --session-id contradict each other")
    if not files:
        return [Ask(pipeline=pipeline, inputs=inputs, session=session, new=given["new"])]
    return [Ask(pipeline=pipeline, file=file, inputs=inputs, session=session, new=given["new"]) for file in files]


def _pipeline_and_files(app: App, words: tuple[str, ...]) -> tuple[str | None, tuple[str, ...]]:
    """The first word is a pipeline when one has that name; `./name` always means a file."""
    if not words:
        return None, ()
    names = app.workspace.pipeline_names()
    if words[0] in names:
        return words[0], words[1:]
    if "/" not in words[0] and "." not in words[0] and not Path(words[0]).exists():
        app.workspace.pipeline(words[0])  # says which ones there are
    return None, words


def program_words(app: App) -> str:
    """How a command proposed to the person must begin to reach this workspace."""
    default = Path(DEFAULT_WORKSPACE).expanduser()
    return "weft" if app.workspace.path == default else f"weft --workspace {app.workspace.path}"
