"""Glob and Grep: names and lines of files, searched by a process that an interrupt can end."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from weft.protocol.errors import ExternalError, UserError
from weft.tools import search_worker
from weft.tools.boundary import Policy, boundary_here
from weft.tools.builtin.schema import closed, text, whole, yes_or_no
from weft.tools.patterns import PatternError, path_pattern
from weft.tools.results import bounded
from weft.tools.tool import Context, Outcome, Tool, runs
from weft.tools.tool_paths import SESSION, FilePlace, place

SECONDS: Final = 30.0
NAMES: Final = 500
MATCHES: Final = 200
WIDTH: Final = 400
_WORKER: Final = str(Path(search_worker.__file__))


async def _search(request: Mapping[str, Any], where: FilePlace) -> list[dict[str, Any]]:
    """What the worker finds, inside the boundary: it reads and does nothing else. It is ended when the time is over or
    the wait is cancelled."""
    policy = Policy(
        working=where.folder.path,
        home=Path(os.environ.get("HOME", "/nonexistent")),
        readable=(Path(sys.prefix), Path(sys.base_prefix), Path(_WORKER).parent),
    )
    found = os.fstat(where.folder.fd)
    process = await asyncio.create_subprocess_exec(
        *boundary_here().wrap((sys.executable, "-I", "-S", _WORKER), policy),
        cwd=where.folder.path,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={"LC_ALL": "C.UTF-8", "PATH": os.environ.get("PATH", os.defpath)},
        start_new_session=True,
    )
    try:
        async with asyncio.timeout(SECONDS):
            same = [found.st_dev, found.st_ino]
            asked = json.dumps({**request, "folder": same, "under": where.name}).encode()
            told, complaint = await process.communicate(asked)
    except TimeoutError:
        raise ExternalError(
            f"the search took longer than {SECONDS:g} seconds", hint="search a smaller folder, or a simpler pattern"
        ) from None
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):  # all of them: the boundary has processes of its own
                os.killpg(process.pid, signal.SIGKILL)
            await process.communicate()  # until what ran inside the boundary has let go of the pipe too
    if process.returncode:
        last = complaint.decode("utf-8", "replace").strip().split("\n")[-1]
        if "FileNotFoundError" in last or "NotADirectoryError" in last:
            raise UserError(f"{where.shown} is not there", hint="look for it with Glob")
        raise ExternalError(f"the search failed: {last[:300]}")
    return [json.loads(line) for line in told.splitlines()]


def _outside(where: FilePlace, paths: list[str]) -> tuple[str, ...]:
    found = sorted({path for path in paths if where.keeps(path)})
    return tuple(f"the document {_shown(where, path)}" for path in found[:3])


def _shown(where: FilePlace, path: str) -> str:
    return f"{SESSION}/{path}" if where.in_session else path


def _name_pattern(pattern: str) -> str:
    try:
        return path_pattern(pattern).pattern
    except PatternError as error:
        raise UserError(str(error)) from error


# -- Glob


async def _glob(given: Mapping[str, Any], context: Context) -> Outcome:
    where = place(given.get("path", "."), context)
    told = await _search({"name": _name_pattern(given["pattern"]), "most": NAMES}, where)
    paths = [_shown(where, entry["path"]) for entry in told if "path" in entry]
    found = told[-1]["found"]
    lines = paths or [f"no file in {where.shown} is named like {given['pattern']}"]
    lines += [f"[{entry['note']}]" for entry in told if "note" in entry]
    if found > len(paths):
        lines.append(f"[{found:,} in all; the first {len(paths):,} are shown: name a folder or a closer pattern]")
    return await bounded(Outcome(text="\n".join(lines), summary=f"{found:,} files"), context)


# -- Grep


async def _grep(given: Mapping[str, Any], context: Context) -> Outcome:
    where = place(given.get("path", "."), context)
    flags = re.IGNORECASE if given.get("ignore_case", False) else 0
    words = re.escape(given["pattern"]) if given.get("literal", False) else given["pattern"]
    try:
        re.compile(words, flags)
    except (re.error, RecursionError, OverflowError) as error:
        raise UserError(
            f"the pattern can't be read: {error}", hint="set literal to search for the text as it is"
        ) from error
    request = {
        "name": _name_pattern(given["glob"]) if "glob" in given else None,
        "words": words,
        "flags": int(flags),
        "most": given.get("limit", MATCHES),
        "names_only": given.get("names_only", False),
        "width": WIDTH,
    }
    told = await _search(request, where)
    matches = [entry for entry in told if "line" in entry]
    if request["names_only"]:
        lines = [_shown(where, entry["path"]) for entry in matches]
    else:
        lines = [f"{_shown(where, entry['path'])}:{entry['line']}: {entry['text']}" for entry in matches]
    summary = f"{len(matches):,} matches in {len({entry['path'] for entry in matches}):,} files"
    if not matches:
        lines = ["no match"]
    lines += [f"[{entry['note']}]" for entry in told if "note" in entry]
    if told[-1]["more"]:
        lines.append("[there are more: name a folder, a glob or a closer pattern]")
    outside = _outside(where, [entry["path"] for entry in matches])
    return await bounded(Outcome(text="\n".join(lines), summary=summary, outside=outside), context)


_UNDER: Final = "The folder to search in; the working folder unless told"

GLOB: Final = Tool(
    name="Glob",
    description=(
        "Find files by name: *.md in any folder, src/**/*.py below one. Folders such as .git and node_modules are "
        "passed over unless path names them."
    ),
    input_schema=closed(
        {"pattern": text("* and ? within a name, ** over folders, {a,b} for either", shortest=1, longest=500)},
        {"path": text(_UNDER, shortest=1, longest=1024)},
    ),
    kind="read",
    start=runs(_glob),
    retryable=True,
    subject=("path", "path"),
)
GREP: Final = Tool(
    name="Grep",
    description="Search the lines of files for a regular expression of Python. Files that are no text are passed over.",
    input_schema=closed(
        {"pattern": text("The regular expression", shortest=1, longest=2000)},
        {
            "path": text("A file or a folder; the working folder unless told", shortest=1, longest=1024),
            "glob": text("Only files named like this, such as *.py", shortest=1, longest=500),
            "ignore_case": yes_or_no("Large and small letters are the same"),
            "literal": yes_or_no("The pattern is plain text"),
            "names_only": yes_or_no("Only the names of files that have a match"),
            "limit": whole(f"The most matches, {MATCHES} unless told", least=1, most=2000),
        },
    ),
    kind="read",
    start=runs(_grep),
    retryable=True,
    subject=("path", "path"),
)
