"""Shell: one command in the working folder, inside the kernel boundary and under a supervisor, with limits of time,
memory, processes and disk, a plain environment and a last word.

What is opened in the boundary is what was granted for the call; without a word about that, what its words need. A
command that is known to be read only also runs without the things by which folders make programs run others: git's
hooks, monitors, filters, external diffs and repositories found by chance, and programs in the working folder itself.
"""

from __future__ import annotations

import asyncio
import os
import re
import secrets
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from weft.protocol.errors import UserError
from weft.protocol.values import dataclass
from weft.tools.background import OUTPUT_LIMIT as BACKGROUND_OUTPUT
from weft.tools.background import BackgroundProcess, files_of
from weft.tools.boundary import (
    NEEDS,
    OF_A_WORKSPACE,
    Need,
    Policy,
    boundary_here,
    planted,
    program_folders,
    protected_places,
    repository,
)
from weft.tools.builtin.schema import closed, text, whole, yes_or_no
from weft.tools.changed_files import HeldFile
from weft.tools.permission import declared_hosts, declared_needs
from weft.tools.planted import put_away
from weft.tools.processes import Finished, Process, plain_environment, usual_limits
from weft.tools.results import bounded
from weft.tools.shell.needs import Ground, shell_needs
from weft.tools.shell.reading import ShellReading, read_shell
from weft.tools.shell.remember import brings_from_outside
from weft.tools.shell_state import ShellState
from weft.tools.threads import in_thread
from weft.tools.tool import Context, Handle, Outcome, SettledHandle, Tool, failed, interrupted, runs
from weft.workspace.fields import HOST

SECONDS: Final = 120
MOST_SECONDS: Final = 1800
OUTPUT_LIMIT: Final = 8 * 2**20
_GIT_SETTINGS: Final = {
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "core.attributesFile": os.devnull,
    "safe.bareRepository": "explicit",
    "log.showSignature": "false",
    "log.diffMerges": "separate",
    "diff.submodule": "short",
    "diff.ignoreSubmodules": "dirty",
    "status.submoduleSummary": "false",
    "submodule.recurse": "false",
    **{f"gpg.{kind}program": "false" for kind in ("", "openpgp.", "x509.", "ssh.")},
}
_GIT_STAYS: Final = {"GIT_ALLOW_PROTOCOL": "none", "GIT_NO_LAZY_FETCH": "1"}
"""What a repository says is kept elsewhere is not fetched: how that is done is a program that its settings name."""
_HELD: Final[frozenset[Need]] = frozenset({"write", "network"})
"""With no more than these, what commands before have exported is given to a command. With more it would decide, unseen
by whoever allowed the words, which program they start and whose settings it obeys where the kernel does not hold it."""
_GIT_SEEN: Final = {
    "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "safe.bareRepository",
    "GIT_CONFIG_VALUE_0": "explicit",
}
"""With more than the boundary holds, git takes no folder for a repository only because it has what lies inside of one:
a build may have laid that out anywhere, and git obeys its settings."""
_GIT: Final = """git() {
 before=; while case ${1-} in --no-*) true;; *) false;; esac; do before="$before $1"; shift; done
 sub=${1-}; [ $# -gt 0 ] && shift
 case $sub in
 diff|log|show|diff-tree|diff-files|diff-index)
  set -- --no-ext-diff --no-textconv --ignore-submodules=dirty "$@";;
 stash|reflog)
  case ${1-} in list|show) next=$1; shift;; *) next=show;; esac
  set -- "$next" --no-ext-diff --no-textconv --ignore-submodules=dirty "$@";;
 status) set -- --ignore-submodules=dirty "$@";;
 blame|annotate|grep) set -- --no-textconv "$@";;
 esac
 command git --no-pager $before ${sub:+"$sub"} "$@"
}
"""
"""git for a command that only looks: whatever a repository's settings name, none of it is run."""


@dataclass(frozen=True, slots=True)
class CommandEnd:
    """What is taken from a command at its end: what it leaves for the next one, and what it changed."""

    context: Context
    mark: str
    plain: Mapping[str, str]
    held: Mapping[str, HeldFile] | None
    holds: bool
    """What was exported before was given to it, and what it exports holds for the next one."""
    not_in: str = ""
    """The folder that it did not begin in, although the command before it has ended there."""
    cleared: str = ""
    """What was put away before it began."""

    def output(self, output: bytes) -> bytes:
        if self.context.shell is None or not self.mark:
            return output
        working = str(self.context.working.path)
        return self.context.shell.taken(output, self.mark, working, self.plain if self.holds else None)

    def left_out(self) -> list[str]:
        """The names of what was exported and not given to it."""
        return sorted(self.context.shell.environment)[:8] if self.context.shell is not None and not self.holds else []

    async def changes(self) -> tuple[dict[str, str], dict[str, str]]:
        watch, keep, held, folder = self.context.watch, self.context.keep, self.held, self.context.working
        if watch is None or keep is None or held is None:
            return {}, {}
        return await in_thread(lambda: watch.changes(folder, held, keep), "weft-changes")


class ShellHandle:
    """The result settles at once when it is interrupted; `closed` waits until no process is left."""

    def __init__(
        self,
        process: Process,
        context: Context,
        command: str,
        *,
        seconds: float,
        began: float,
        needs: frozenset[Need],
        made: Callable[[], str],
        after: CommandEnd,
    ) -> None:
        self._process = process
        strong = boundary_here().strength == "strong"
        self._outside = _brings(command, needs)
        self._hint = _hint(needs) if strong else ""
        self._background = strong and shell_needs(command).background
        self._made = made
        self._after = after
        self._settled: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self._timed_out = False
        self._timer = asyncio.get_running_loop().call_later(seconds, self._time_is_over)
        self._task = asyncio.create_task(self._follow(context, command, seconds, began))

    async def _follow(self, context: Context, command: str, seconds: float, began: float) -> None:
        try:
            finished = await self._process.finished()
            finished = replace(finished, output=self._after.output(finished.output))
            outcome = self._outcome(finished, seconds, time.monotonic() - began)
            was, left = await self._after.changes()
            outcome = replace(outcome, before=was, after=left)
            if self._outside:
                outcome = _from_network(outcome, command)
            outcome = await bounded(outcome, context)
        except Exception as error:  # noqa: BLE001  a call has an end, whatever its process did
            outcome = failed(f"the command could not be followed: {error}", effect="unknown")
        finally:
            self._timer.cancel()
        if not self._settled.done():
            self._settled.set_result(outcome)

    def _time_is_over(self) -> None:
        self._timed_out = True
        self._process.stop()

    def _outcome(self, finished: Finished, seconds: float, took: float) -> Outcome:
        shown = finished.output.decode("utf-8", "replace").rstrip("\n")
        notes = []
        if self._timed_out:
            notes.append(f"it was ended after {seconds:g} seconds, its time limit")
        elif finished.ended == "flooded":
            notes.append(f"it was ended after {OUTPUT_LIMIT:,} bytes of output")
        elif finished.code is None:
            notes.append("it ended its own supervisor; everything it had started was ended")
        elif finished.code < 0:
            notes.append(f"signal {-finished.code} ended it")
        elif finished.code:
            notes.append(f"exit code {finished.code}")
        if finished.over:
            notes.append(f"it took more {finished.over} than a command may, and was ended")
        if finished.strays:
            notes.append(f"{finished.strays} processes it had left in the background were ended")
        elif self._background and finished.ended == "exited":
            notes.append("what it had left in the background was ended")
        parts = [shown] if shown else []
        if notes:
            parts.append(f"[{'; '.join(notes)}]")
        parts += self._remarks(shown, bad=bool(finished.code))
        good = finished.code == 0 and finished.ended == "exited" and not self._timed_out
        return Outcome(
            text="\n".join(parts) or "[no output]",
            is_error=not good,
            effect="completed" if finished.ended == "exited" else "unknown",
            summary=f"{notes[0] if notes else 'done'} in {took:.1f} s",
        )

    def _remarks(self, shown: str, *, bad: bool) -> Iterator[str]:
        if self._hint and bad and _STOPPED.search(shown[-4000:]):
            yield f"[{self._hint}]"
        if left_out := self._after.left_out():
            yield f"[it ran without what was exported before: {', '.join(left_out)}]"
        if folder := self._after.not_in:
            yield f"[it ran in the working folder, as {folder} is of another repository]"
        if cleared := self._after.cleared:
            yield f"[before it began: {cleared}]"
        if made := self._made():
            yield f"[{made}]"

    async def result(self) -> Outcome:
        return await asyncio.shield(self._settled)

    def interrupt(self, reason: str) -> None:
        self._process.stop()
        if not self._settled.done():
            self._settled.set_result(interrupted(reason, began=True))

    async def closed(self) -> None:
        await asyncio.wait({self._task})


def _brings(command: str, needs: frozenset[Need]) -> bool:
    held = boundary_here().strength == "strong"
    return brings_from_outside(command, needs if held else needs | shell_needs(command).needs)


def _from_network(outcome: Outcome, command: str) -> Outcome:
    return replace(outcome, outside=(f"what {command.split(chr(10))[0][:60]!r} brought",))


async def _start(given: Mapping[str, Any], context: Context) -> Handle:
    command, seconds = given["command"], float(given.get("seconds", SECONDS))
    reading = read_shell(command)
    needs = context.needs if context.needs is not None else needs_of(command, given)
    plain = environment = _environment(reading, context)
    state = context.shell if boundary_here().strength == "strong" else None
    holds = needs <= _HELD
    if state is not None and holds:
        carried = {k: v for k, v in state.environment.items() if k != "PATH" or not reading.read_only}
        environment = {**environment, **carried}
    if reading.read_only or not holds:
        environment |= await _quiet_git(reading, context, plain) if reading.read_only else _GIT_SEEN
    shell = shutil.which("bash", path=environment["PATH"])
    text_run = f"{_GIT}{command}" if reading.read_only and _runs_git(reading) else command
    background = _in_background(given, context, needs)
    mark = secrets.token_hex(16) if state is not None and shell and background is None else ""
    working = str(context.working.path)
    not_in = "" if state is None or holds or _is_of_one_repository(working, state.folder) else state.folder
    if state is not None and shell:
        begun = ShellState() if not_in else state
        text_run = begun.wrapped(text_run, mark) if mark else begun.moved(text_run)
    words = [shell, "--norc", "--noprofile", "-c", text_run] if shell else ["/bin/sh", "-c", text_run]
    beside = context.processes
    cleared = beside.put_away() if beside is not None and not holds else ""
    before = protected_places(working)
    kept_up = beside.allowed(working, before) if beside is not None and needs & {"git", "outside"} else []
    watch = context.watch if "write" in needs and background is None else None
    held = await in_thread(lambda: watch.hold(context.working), "weft-hold") if watch is not None else None
    began = time.monotonic()
    with ExitStack() as passing:
        policy = boundary_policy(context, plain, needs)  # what was exported opens nothing in it
        if "network" in needs:
            policy = replace(policy, hosts=declared_hosts(given))
        if boundary_here().kind == "landlock":  # which has no /tmp of its own
            own = passing.enter_context(tempfile.TemporaryDirectory(prefix="weft-", ignore_cleanup_errors=True))
            policy, environment = replace(policy, writable=(Path(own),)), {**environment, "TMPDIR": own}
        process = await Process.start(
            words,
            folder=context.working.fd,
            environment=environment,
            policy=policy,
            limits=usual_limits(),
            output_limit=BACKGROUND_OUTPUT if background else OUTPUT_LIMIT,
            seen=background.said if background else _progress(context, mark),
        )
        kept = passing.pop_all()

    def made() -> str:
        if boundary_here().strength == "strong" and "write" not in needs:
            return ""  # it could make nothing: what is new is another's
        new = planted(working, before, OF_A_WORKSPACE if _is_workspace(context) else ())
        asked = shell_needs(command, Ground(working, plain.get("HOME", ""))).deciding
        spared = (
            new if needs & {"git", "outside"} else [n for n in new if any(_is_of(path, n, working) for path in asked)]
        )
        if beside is not None:
            for name in (*spared, *kept_up):
                beside.allow(files_of(working, name))
            spared += [name for name in new if beside.is_allowed(files_of(working, name))]
        return put_away(context.working, (name for name in new if name not in spared))

    def ended() -> str:
        kept.close()
        return made()

    if background is not None and beside is not None:
        background.made = made
        beside.begun(background, process, ended)
        told = f"It goes on as {background.name}: BashOutput reads what it says, KillShell ends it."
        return SettledHandle(Outcome(text=told, summary=f"goes on as {background.name}"))
    after = CommandEnd(context, mark, plain, held, holds, not_in, cleared)
    return ShellHandle(process, context, command, seconds=seconds, began=began, needs=needs, made=ended, after=after)


def _in_background(given: Mapping[str, Any], context: Context, needs: frozenset[Need]) -> BackgroundProcess | None:
    if not given.get("background", False):
        return None
    if context.processes is None:
        raise UserError("nothing can go on in the background here", hint="run it to its end")
    return context.processes.reserve(given["command"], outside=_brings(given["command"], needs))


def _progress(context: Context, mark: str) -> Callable[[bytes], None]:
    """What a command says while it runs, without what it tells us behind the mark."""
    over = False

    def say(piece: bytes) -> None:
        nonlocal over
        shown, found, _ = piece.partition(mark.encode()) if mark else (piece, b"", b"")
        if not over and shown.strip():
            context.progress(shown.decode("utf-8", "replace"))
        over = over or bool(found)

    return say


# -- what goes on in the background


async def _read_on(given: Mapping[str, Any], context: Context) -> Outcome:
    if context.processes is None:
        raise UserError("nothing goes on in the background here")
    one = context.processes.get(given["process"])
    said = one.read()
    state = f"[{one.ended}]" if one.ended else "[it is running]"
    outcome = Outcome(text=f"{said.rstrip()}\n{state}".lstrip("\n"), summary=one.ended or "running")
    return await bounded(_from_network(outcome, one.command) if one.outside else outcome, context)


async def _stop(given: Mapping[str, Any], context: Context) -> Outcome:
    if context.processes is None:
        raise UserError("nothing goes on in the background here")
    one = await context.processes.stopped(given["process"])
    return Outcome(text=f"{one.name} and everything it started is ended.", summary="ended")


def _is_workspace(context: Context) -> bool:
    """The session is kept in the folder that it works in."""
    kept = os.path.realpath(context.session.path) if context.session is not None else "/"
    return os.path.dirname(os.path.dirname(kept)) == os.path.realpath(context.working.path)


def _is_of_one_repository(working: str, folder: str) -> bool:
    """Whether git obeys the same settings in this folder below. A build may have made a repository there, and whoever
    allows a command is shown its words and not where the one before has gone."""
    top = os.path.realpath(working)
    there = os.path.realpath(f"{top}/{folder}")
    return f"{there}/".startswith(f"{top}/") and repository(there) == repository(top)


def _is_of(path: str, name: str, working: str) -> bool:
    """Whether what was asked about is this name in the working folder, or lies below it; of a path whose beginning is
    known only when it runs, whether it may be."""
    within = path.removeprefix(f"{working}/")
    return f"{within}/".startswith(f"{name}/") or (within == path and f"/{name}/" in f"{path}/")


def needs_of(command: str, given: Mapping[str, Any]) -> frozenset[Need]:
    """What a command gets when nobody said more about it: what its words need, and what its call asks for."""
    if read_shell(command).read_only and "needs" not in given:
        return frozenset() if read_shell(command).offline else frozenset({"outside"})
    return shell_needs(command).needs | declared_needs(given) | {"write"}


def boundary_policy(context: Context, environment: Mapping[str, str], needs: frozenset[Need]) -> Policy:
    session = (context.session.path,) if context.session is not None else ()
    return Policy(
        working=context.working.path,
        home=Path(environment.get("HOME", "/nonexistent")),
        needs=needs,
        readable=(*session, *program_folders(environment)),
    )


_STOPPED: Final = re.compile(
    r"Read-only file system|Permission denied|Network is unreachable|[Cc]ould not resolve|Temporary failure in name"
    r"|Operation not permitted|No route to host|getaddrinfo|Name or service not known"
)


def _hint(needs: frozenset[Need]) -> str:
    closed_now = [need for need in NEEDS if need not in needs and need != "outside"]
    if not closed_now or "outside" in needs:
        return ""
    return (
        f"it ran inside a boundary without {', '.join(closed_now)}; if it needs one of them, call again with needs, "
        f'such as ["{closed_now[0]}"], and the person is asked'
    )


def _environment(reading: ShellReading, context: Context) -> dict[str, str]:
    """Programs in the working folder come last, so that none of them can pass for one of the system's."""
    environment = plain_environment(context.environment)
    inside: list[str] = []
    others: list[str] = []
    roots = [os.path.realpath(folder.path) for folder in (context.working, context.session) if folder is not None]
    for entry in environment["PATH"].split(os.pathsep):
        real = os.path.realpath(entry)
        within = any(real == root or real.startswith(root.rstrip("/") + "/") for root in roots)
        (inside if within else others).append(entry)
    caches = {"XDG_CACHE_HOME": "/tmp/.cache", "UV_CACHE_DIR": "/tmp/.cache/uv", "PYTHONDONTWRITEBYTECODE": "1"}
    if boundary_here().strength == "strong":
        environment |= caches
    return {**environment, "PATH": os.pathsep.join(others if reading.read_only else [*others, *inside])}


def _runs_git(reading: ShellReading) -> bool:
    return any(part.program == "git" for part in reading.commands)


async def _quiet_git(reading: ShellReading, context: Context, environment: Mapping[str, str]) -> dict[str, str]:
    """What keeps git from running a folder's programs when it is only asked to show something."""
    settings = dict(_GIT_SETTINGS)
    if _runs_git(reading):
        settings |= await _drivers(context, environment)
    made = {"GIT_CONFIG_COUNT": str(len(settings)), "GIT_OPTIONAL_LOCKS": "0", "GIT_ATTR_NOSYSTEM": "1", **_GIT_STAYS}
    for index, (key, value) in enumerate(settings.items()):
        made |= {f"GIT_CONFIG_KEY_{index}": key, f"GIT_CONFIG_VALUE_{index}": value}
    return made


async def _drivers(context: Context, environment: Mapping[str, str]) -> dict[str, str]:
    """Settings that still the filters and converters which the repository's own name. To read settings runs nothing."""
    if shutil.which("git", path=environment["PATH"]) is None:
        return {}
    asked = await asyncio.create_subprocess_exec(
        *("git", "config", "--includes", "--null", "--name-only", "--get-regexp", r"^(filter|diff)\..*\."),
        cwd=context.working.path,
        env=dict(environment),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    told, _ = await asked.communicate()
    still: dict[str, str] = {}
    for name in dict.fromkeys(key.rpartition(".")[0] for key in told.decode("utf-8", "replace").split("\0") if key):
        if name.startswith("filter."):
            still |= {f"{name}.{key}": "" for key in ("clean", "smudge", "process")} | {f"{name}.required": "false"}
        else:
            still[f"{name}.textconv"] = "cat"
    return still


SHELL: Final = Tool(
    name="Shell",
    description=(
        "Run a command with bash in the working folder. It has no input and no terminal; it and everything it started "
        "are ended when it exits, when its time is over, or when the person interrupts. The folder it ends in and what "
        "it exports hold for the next command, what it exports not for one with git, keys or outside. It runs inside a "
        "boundary: it can read the machine without the places of keys, and needs nothing said for looking, building "
        "and testing; /tmp is empty and its own. For more, say what it needs, and the person is asked. Prefer Read, "
        "Glob and Grep for looking at files."
    ),
    input_schema=closed(
        {"command": text("The command", shortest=1, longest=50_000)},
        {
            "seconds": whole(f"The time limit, {SECONDS} unless told", least=1, most=MOST_SECONDS),
            "needs": {
                "type": "array",
                "items": {"enum": list(NEEDS)},
                "uniqueItems": True,
                "description": "What to open in the boundary: write (change the working folder), git (change the "
                "repository), network, keys (as for ssh), outside (no boundary). Leave it out unless it failed without",
            },
            "hosts": {
                "type": "array",
                "items": {"type": "string", "pattern": HOST.pattern.removesuffix(r"\Z") + "$", "maxLength": 253},
                "uniqueItems": True,
                "description": "The hosts it needs the network for, such as pypi.org or localhost:8080, by HTTP; any "
                "other stays closed. Prefer it to the need network",
            },
            "description": text("What it is for, in a few words, for the person", longest=200),
            "background": yes_or_no(
                "It goes on while you do other things, such as a server; it has no time limit and ends with the session"
            ),
        },
    ),
    kind="process",
    start=_start,
    subject=("command", "command"),
)
_PROCESS: Final = {"process": text("Its name, as it was told when it began", shortest=1, longest=100)}
SHELL_OUTPUT: Final = Tool(
    name="ShellOutput",
    description="What a command in the background said since you last asked, and whether it still runs.",
    input_schema=closed(_PROCESS),
    kind="read",
    start=runs(_read_on),
)
SHELL_STOP: Final = Tool(
    name="ShellStop",
    description="End a command in the background, with everything it started.",
    input_schema=closed(_PROCESS),
    kind="read",
    start=runs(_stop),
)
