"""The words of `run` and `plan`: which pipeline, which files, which session, and what overrules the planner."""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import click

from weft.app import (
    MAX_BYTES,
    PIECE_WORDS,
    TONES,
    VOICES,
    App,
    GivenFile,
    SessionRequest,
    is_address,
    nearest,
    profile_parts,
    suggest,
)
from weft.cli.place import DEFAULT_WORKSPACE, Decorated, is_terminal, pairs
from weft.protocol.commands import StartRun
from weft.protocol.errors import UsageError
from weft.render.cells import clean
from weft.render.units import human_size

STANDARD_INPUT: Final = "-"
TAKES_LONG: Final = 4_000_000
"""Bytes of a document that a person would wonder about before anything is shown."""
LIMITS: Final = ("usd", "tokens", "minutes")


def profile_options(when: str) -> tuple[Callable[..., Any], ...]:
    """For whom: a person's topics, tone, length and voice. `when` says how long they count."""
    return (
        click.option(
            "--topics", metavar="LIST", help=f'What matters to you {when}: "ai:5, baking:2"; interest 1 to 5.'
        ),
        click.option("--tone", type=click.Choice(TONES), help=f"For whom you write {when}."),
        click.option(
            "--word-count",
            type=click.IntRange(*PIECE_WORDS),
            metavar="NUMBER",
            help=f"How long the piece is to be {when}: {PIECE_WORDS[0]} to {PIECE_WORDS[1]} words.",
        ),
        click.option("--voice", type=click.Choice(VOICES), help=f"How you speak {when}."),
    )


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
    click.option("--only", multiple=True, metavar="ITEM", help="Of steps with a map, only this item."),
    click.option("--accept", multiple=True, metavar="STEP", help="Keep your edit of its artifact as the result."),
    click.option("--depth", metavar="MODE", help="How thorough: a mode of the pipeline; kept for the session."),
    click.option("--answer", "answers", multiple=True, metavar="GATE=CHOICE", help="A reply in advance, used once."),
    click.option("--budget", "limits", multiple=True, metavar="usd=N", help="A limit: usd=, tokens= or minutes=."),
    click.option("--model", metavar="NAME", help="The model of every step; kept for the session. `default` undoes it."),
    click.option("--together", is_flag=True, help="Read all the files as one document, in one session."),
    click.option("--allow-network", is_flag=True, help="Let an address (https://…) be fetched."),
    *profile_options("for this run"),
)


def ask_options(function: Decorated) -> Decorated:
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def start_run(given: Mapping[str, Any]) -> StartRun:
    parameters = pairs(given["settings"], "--set", "VALUE")
    return StartRun(
        parameters={**parameters, "depth": given["depth"]} if given["depth"] else parameters,
        answers=pairs(given["answers"], "--answer", "CHOICE"),
        budget=_limits(given["limits"]),
        model=given["model"] or "",
        profile=profile_parts(given),
        force=frozenset(given["force"]),
        start_from=given["start_from"],
        until=given["until"],
        accept=frozenset(given["accept"]),
        only=frozenset(given["only"]),
    )


def _limits(written: tuple[str, ...]) -> dict[str, float]:
    found: dict[str, float] = {}
    for name, value in pairs(written, "--budget", "NUMBER").items():
        if name not in LIMITS:
            raise UsageError(f"--budget {name}: there is no such limit", hint=suggest(name, LIMITS, "limits"))
        try:
            found[name] = float(value)
        except ValueError:
            found[name] = 0
        if not 0 < found[name] < float("inf"):
            raise UsageError(f"--budget {name}={value}: must be a number above 0")
    return found


def asks(app: App, words: tuple[str, ...], given: Mapping[str, Any]) -> list[SessionRequest]:
    """One ask for each file, or one for all that are to be read together; one without a file when none is named."""
    pipeline, rest = _pipeline_and_files(app, words)
    inputs = {name: Path(value) for name, value in pairs(given["inputs"], "--input", "FILE").items()}
    named = list(dict.fromkeys(_normal(word) for word in (*rest, *given["files"])))
    session, new = given["session"], given["new"]
    if session and new:
        raise UsageError("--new and --session-id contradict each other")
    if given["together"] and len(named) < 2:
        raise UsageError("--together needs at least two files")
    if session and len(named) > 1 and not given["together"]:
        raise UsageError(
            "--session-id names one session, but there are several files",
            hint="run them one by one, or add --together to read them as one document",
        )
    for word in named:
        _check_there(app, word, alone=len(named) == 1)
    files = [_file(app, word, allow_network=given["allow_network"]) for word in named]
    if not files:
        if session and not inputs:
            _say_what_changed(app, session)
        return [SessionRequest(pipeline=pipeline, inputs=inputs, session=session, new=new)]
    if given["together"]:
        together = tuple(files[1:])
        return [
            SessionRequest(pipeline=pipeline, file=files[0], together=together, inputs=inputs, session=session, new=new)
        ]
    return [SessionRequest(pipeline=pipeline, file=file, inputs=inputs, session=session, new=new) for file in files]


def _say_what_changed(app: App, session: str) -> None:
    """Whoever puts their document right and goes on with the session would otherwise meet the same fault again."""
    if not app.sessions.exists(session):
        return
    for origin in app.changed_since(session):
        again = f"{program_words(app)} run --session-id {session} {shlex.quote(os.path.relpath(origin))}"
        told = f"{origin} has changed since the session took it in, and is not read again unless it is named: {again}"
        print(f"weft: {told}", file=sys.stderr)


def _normal(word: str) -> str:
    """So that the same file named twice is one file."""
    return word if word == STANDARD_INPUT or is_address(word) else os.path.normpath(word)


def _check_there(app: App, word: str, *, alone: bool) -> None:
    """A name with a slip of the pen in it is the fault that is met first. Of several files each says so for itself."""
    if word == STANDARD_INPUT or is_address(word):
        return
    if os.path.lexists(word):
        if is_terminal(sys.stderr) and os.path.isfile(word) and (size := os.path.getsize(word)) > TAKES_LONG:
            print(clean(f"reading {word} ({human_size(size)}) …"), file=sys.stderr, flush=True)
        return
    if word in app.workspace.pipeline_names():
        raise UsageError(f"there is no file {word}", hint=f"{word} is a pipeline: its name stands before the files")
    if not alone:
        return
    place = os.path.dirname(word)
    try:
        there = sorted(one.name for one in os.scandir(place or ".") if one.is_file())
    except OSError:
        raise UsageError(f"there is no file {word}", hint=f"there is no folder {place} that could be read") from None
    if close := nearest(os.path.basename(word), there):
        raise UsageError(f"there is no file {word}", hint=f"did you mean {os.path.join(place, close)!r}?")
    hint = f"looked for in {os.path.abspath(place)}; a session that has a copy goes on with --session-id"
    raise UsageError(f"there is no file {word}", hint=hint)


def _file(app: App, word: str, *, allow_network: bool) -> Path | GivenFile:
    if word == STANDARD_INPUT:
        if sys.stdin.isatty():
            print("reading standard input; Ctrl+D ends it", file=sys.stderr)
        return GivenFile(sys.stdin.buffer.read(MAX_BYTES + 1))
    if not is_address(word):
        return Path(word)
    if not allow_network:
        raise UsageError(
            f"{word} is on the network, and Weft stays off it unless you say otherwise", hint="add --allow-network"
        )
    return asyncio.run(app.fetch_input(word))


def _pipeline_and_files(app: App, words: tuple[str, ...]) -> tuple[str | None, tuple[str, ...]]:
    """The first word is a pipeline when one has that name; `./name` always means a file."""
    if not words:
        return None, ()
    names = app.workspace.pipeline_names()
    if words[0] in names:
        return words[0], words[1:]
    is_name = words[0] != STANDARD_INPUT and "/" not in words[0] and "." not in words[0]
    if is_name and not Path(words[0]).exists():
        app.workspace.pipeline(words[0])  # says which ones there are
    return None, words


def program_words(app: App) -> str:
    """How a command proposed to the person must begin, so that it can be copied: this program, this workspace."""
    return program_in(app.workspace.path)


def program_in(workspace: Path) -> str:
    """The same, where no workspace is open."""
    called = sys.argv[0]
    by_path = Path(called).name == "weft" and os.sep in called and shutil.which("weft") is None
    program = shlex.quote(called) if by_path else "weft"
    default = Path(DEFAULT_WORKSPACE).expanduser()
    return program if workspace == default else f"{program} --workspace {shlex.quote(str(workspace))}"
