"""`weft doctor`: is everything in order here? Each line is a fact that was just tried, with what to do if it is bad."""

from __future__ import annotations

import asyncio
import os
import platform
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import click

from weft.app import App, Folder, SourceSettings, boundary_here, verified
from weft.app.knowledge.research_requests import altered_passages
from weft.app.schedules.schedules import Schedules
from weft.cli.kept_errors import kept_errors
from weft.cli.place import open_app, workspace_option, workspace_path
from weft.protocol.errors import EXIT_DONE, EXIT_FAILED, ExternalError, UsageError, WeftError
from weft.redaction import REDACTOR
from weft.version import __version__

DoctorLine = tuple[str, str]
"""ok, note or bad; and what was found."""
LOW_SPACE = 200 * 2**20


@click.command("doctor")
@click.option("--report", is_flag=True, help="With the settings, to send to others: no secrets, your home as ~.")
@click.option("--to", "file", metavar="FILE", type=click.Path(dir_okay=False), help="Write the report, once shown.")
@workspace_option
def command(report: bool, file: str | None) -> int:
    """Check the workspace, the disk and every session. Changes nothing."""
    if file and not report:
        raise UsageError("--to is for a report", hint="weft doctor --report --to FILE")
    bad, lines = False, []
    for state, text in [*_findings(), *(_settings() if report else ())]:
        lines.append(_for_others(f"{state:4}  {text}") if report else f"{state:4}  {text}")
        print(lines[-1])
        bad = bad or state == "bad"
    if file and _is_wanted(file):
        try:
            Path(file).write_text("\n".join(lines) + "\n", encoding="utf-8")
        except OSError as error:
            raise ExternalError(f"can't write {file}: {error.strerror}") from error
        print(f"written to {file}: exactly what stands above", file=sys.stderr)
    return EXIT_FAILED if bad else EXIT_DONE


def _is_wanted(file: str) -> bool:
    """What is shown is written; in a terminal after a yes."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return True
    return click.confirm(f"write this to {file}?", err=True)


def _settings() -> Iterator[DoctorLine]:
    """What is written in config.toml, which holds no key, and the names of the variables that Weft reads."""
    file = workspace_path() / "config.toml"
    if file.is_file():
        yield "note", "config.toml:\n" + file.read_text(encoding="utf-8", errors="replace")
    if errors := kept_errors():
        yield "note", f"the last unexpected error ({errors[-1].name}):\n" + errors[-1].read_text(encoding="utf-8")
    yield "note", f"set: {', '.join(sorted(name for name in {**os.environ} if name.startswith('WEFT_'))) or 'nothing'}"


def _for_others(text: str) -> str:
    REDACTOR.learn_environment({**os.environ})
    home = os.environ.get("HOME", "")
    return REDACTOR.text(text.replace(home, "~") if len(home) > 1 else text)


def _findings() -> Iterator[DoctorLine]:
    yield "ok", f"weft {__version__} on Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    yield from _boundary()
    path = workspace_path()
    if not path.is_dir():
        yield "bad", f"there is no workspace at {path}: weft init makes one"
        return
    yield from _disk(path)
    try:
        app = open_app()
    except WeftError as error:
        yield "bad", str(error)
        return
    with app:
        yield from _workspace(app)
        yield from _collections(app)
        yield from _sources(app)
        yield from _sessions(app)


def _boundary() -> Iterator[DoctorLine]:
    """Which one is in force for commands and the code of steps, just tried, and what it stops."""
    here = boundary_here()
    state = "ok" if here.strength == "strong" else "note"
    words = {
        "strong": f"commands and the code of steps run inside a boundary of the kernel ({here.kind})",
        "weak": "commands and the code of steps run inside a weak boundary of the kernel (Landlock)",
        "none": "there is no boundary around commands and the code of steps: only their words are judged, and the mode "
        "auto runs anything with your rights",
    }
    lines = [words[here.strength], *(f"  stops {what}: {means}" for what, means in here.table())]
    if here.strength != "strong":
        lines += [f"  not in force: {tried}" for tried in here.tried]
        lines.append("  to have one: install bubblewrap, or allow user namespaces")
    yield state, "\n      ".join(lines)


def _disk(path: Path) -> Iterator[DoctorLine]:
    free = shutil.disk_usage(path).free
    yield "ok" if free > LOW_SPACE else "note", f"{free // 2**20:,} MB free at {path}"
    probe = ".doctor-probe"
    try:
        with Folder.open(path) as folder:
            begun = time.perf_counter()
            folder.replace(probe, b"probe")
            spent = (time.perf_counter() - begun) * 1000
        (path / probe).unlink()
        yield "ok", f"the workspace can be written; a durable write takes {spent:.1f} ms"
    except WeftError as error:
        yield "bad", str(error)


def _workspace(app: App) -> Iterator[DoctorLine]:
    for request in app.not_agreed():
        yield "note", f"nobody has agreed to {request.words}: it is not used (weft trust)"
    if not app.config.durable:
        yield "note", "config.toml sets durable = false: a power cut may take back what was shown as done"
    names = app.workspace.pipeline_names()
    if not names:
        yield "note", "the workspace has no pipelines: weft init lays a pack into it"
    for name in names:
        problems = app.workspace.check_pipeline(name)
        yield ("bad", "\n      ".join(map(str, problems))) if problems else ("ok", f"pipeline {name}")
    for row in Schedules(app).rows():
        yield ("bad", f"schedule {row.name}: {row.problem}") if row.problem else ("ok", f"schedule {row.name}")
    _, broken = app.workspace.skills()
    for problem in broken:
        yield "note", str(problem)


def _collections(app: App) -> Iterator[DoctorLine]:
    """Whether the text that answers are quoted from is the text that was filed."""
    for name, altered in altered_passages(app).items():
        if isinstance(altered, WeftError):
            yield "bad", f"collection {name}: {altered.message}"
        elif altered:
            shown = ", ".join(altered[:3]) + (", …" if altered[3:] else "")
            what = f"{len(altered)} of its passages are not as they were filed ({shown})"
            cure = f"remove knowledge/{name}/index.db and run weft kb update {name}: it is made from the documents"
            yield "bad", f"collection {name}: {what}\n      {cure}"
        else:
            yield "ok", f"collection {name}"


def _sources(app: App) -> Iterator[DoctorLine]:
    """Each is really reached."""
    shelf = SourceSettings(app)
    if not (rows := shelf.rows()):
        return
    reached = asyncio.run(shelf.test())
    for row in rows:
        slug = row["slug"]
        if slug not in reached:
            yield "bad", f"source {slug}: {row['why']}"
        elif reached[slug].state == "ready":
            yield "ok", f"source {slug}: {len(shelf.tools(shelf.one(slug)))} tools"
        else:
            yield "bad" if row["enabled"] else "note", f"source {slug}: {reached[slug].why}"


def _sessions(app: App) -> Iterator[DoctorLine]:
    ids = app.sessions.ids()
    intact = 0
    for session in ids:
        try:
            found = verified(app.sessions, session)
        except WeftError as error:
            yield "bad", f"session {session}: {error.message}"
            continue
        intact += not found.faults
        for fault in found.faults:
            yield "bad", f"session {session}: {fault}"
    yield "ok", f"{intact} of {len(ids)} sessions intact"
