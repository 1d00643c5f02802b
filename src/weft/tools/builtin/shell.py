"""Shell: one command in the working folder, under a supervisor, with a time limit, a plain environment and a last word.

A command that is known to be read only also runs without the things by which folders make programs run others: git's
hooks, monitors and bare repositories found by chance, and programs that lie in the working folder itself.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from weft.tools.builtin.schema import closed, text, whole
from weft.tools.processes import Finished, Process, plain_environment
from weft.tools.results import bounded
from weft.tools.shell.reading import read_shell
from weft.tools.shell.remember import brings_from_outside
from weft.tools.tool import Context, Handle, Outcome, Tool, failed, interrupted

SECONDS: Final = 120
MOST_SECONDS: Final = 1800
OUTPUT_LIMIT: Final = 8 * 2**20
_GIT_SETTINGS: Final = {
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "safe.bareRepository": "explicit",
    "log.showSignature": "false",
}


class ShellHandle:
    """The result settles at once when it is interrupted; `closed` waits until no process is left."""

    def __init__(self, process: Process, context: Context, command: str, seconds: float, began: float) -> None:
        self._process = process
        self._settled: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self._timed_out = False
        self._timer = asyncio.get_running_loop().call_later(seconds, self._time_is_over)
        self._task = asyncio.create_task(self._follow(context, command, seconds, began))

    async def _follow(self, context: Context, command: str, seconds: float, began: float) -> None:
        try:
            finished = await self._process.finished()
            outcome = self._outcome(finished, seconds, time.monotonic() - began)
            if brings_from_outside(read_shell(command), command):
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
        if finished.strays:
            notes.append(f"{finished.strays} processes it had left in the background were ended")
        parts = [shown] if shown else []
        if notes:
            parts.append(f"[{'; '.join(notes)}]")
        good = finished.code == 0 and finished.ended == "exited" and not self._timed_out
        return Outcome(
            text="\n".join(parts) or "[no output]",
            is_error=not good,
            effect="completed" if finished.ended == "exited" else "unknown",
            summary=f"{notes[0] if notes else 'done'} in {took:.1f} s",
        )

    async def result(self) -> Outcome:
        return await asyncio.shield(self._settled)

    def interrupt(self, reason: str) -> None:
        self._process.stop()
        if not self._settled.done():
            self._settled.set_result(interrupted(reason, began=True))

    async def closed(self) -> None:
        await asyncio.wait({self._task})


def _from_network(outcome: Outcome, command: str) -> Outcome:
    return replace(outcome, outside=(f"what {command.split(chr(10))[0][:60]!r} brought",))


async def _start(given: Mapping[str, Any], context: Context) -> Handle:
    command, seconds = given["command"], float(given.get("seconds", SECONDS))
    environment = _environment(command, context)
    shell = shutil.which("bash", path=environment["PATH"])
    words = [shell, "--norc", "--noprofile", "-c", command] if shell else ["/bin/sh", "-c", command]
    began = time.monotonic()
    process = await Process.start(
        words,
        folder=context.working.fd,
        environment=environment,
        output_limit=OUTPUT_LIMIT,
        seen=lambda piece: context.progress(piece.decode("utf-8", "replace")),
    )
    return ShellHandle(process, context, command, seconds, began)


def _environment(command: str, context: Context) -> dict[str, str]:
    """Programs in the working folder come last, so that none of them can pass for one of the system's."""
    environment = plain_environment(context.environment)
    inside: list[str] = []
    others: list[str] = []
    roots = [os.path.realpath(folder.path) for folder in (context.working, context.session) if folder is not None]
    for entry in environment["PATH"].split(os.pathsep):
        real = os.path.realpath(entry)
        within = any(real == root or real.startswith(root.rstrip("/") + "/") for root in roots)
        (inside if within else others).append(entry)
    if not read_shell(command).read_only:
        return {**environment, "PATH": os.pathsep.join([*others, *inside])}
    settings = {"GIT_CONFIG_COUNT": str(len(_GIT_SETTINGS)), "GIT_OPTIONAL_LOCKS": "0"}
    for index, (key, value) in enumerate(_GIT_SETTINGS.items()):
        settings |= {f"GIT_CONFIG_KEY_{index}": key, f"GIT_CONFIG_VALUE_{index}": value}
    return {**environment, **settings, "PATH": os.pathsep.join(others)}


SHELL: Final = Tool(
    name="Shell",
    description=(
        "Run a command with bash in the working folder. It has no input and no terminal; it and everything it started "
        "are ended when it exits, when its time is over, or when the person interrupts. Prefer Read, Glob and Grep for "
        "looking at files."
    ),
    input_schema=closed(
        {"command": text("The command", shortest=1, longest=50_000)},
        {
            "seconds": whole(f"The time limit, {SECONDS} unless told", least=1, most=MOST_SECONDS),
            "description": text("What it is for, in a few words, for the person", longest=200),
        },
    ),
    effect="process",
    start=_start,
    subject=("command", "command"),
)
