"""Searches files, in a process of its own: a pattern that runs for ever can then be ended, and keeps nobody waiting.

Run as a script with nothing but the standard library. The request comes as JSON on standard input; matches go out as
they are found, one JSON value per line. The folder is where it is started, and has to be the one that the request names
by device and number; links are not followed.
"""

from __future__ import annotations

import json
import os
import re
import stat
import sys
from collections.abc import Iterator

FILE_LIMIT = 16 * 2**20
ENTRY_LIMIT = 200_000
SKIPPED = {".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", ".mypy_cache", ".ruff_cache", ".pytest_cache"}


def main() -> None:
    request = json.load(sys.stdin)
    name = re.compile(request["name"], re.DOTALL) if request.get("name") else None
    words = re.compile(request["words"], request["flags"]) if request.get("words") else None
    found, more, seen = 0, False, 0
    for path, parent, last in walk(opened(request["folder"]), request["under"]):
        seen += 1
        if seen > ENTRY_LIMIT:
            say({"note": f"stopped after looking at {ENTRY_LIMIT:,} files"})
            break
        if name is not None and not name.match(path) and not name.match(path[len(request["under"]) :].lstrip("/")):
            continue
        if words is None:
            found += 1
            if found > request["most"]:
                more = True
                continue
            say({"path": path})
            continue
        for number, line in lines_with(words, parent, last):
            found += 1
            if found > request["most"]:
                more = True
                break
            say({"path": path, "line": number, "text": line[: request["width"]]})
            if request["names_only"]:
                break
        if more:
            break
    say({"found": found, "more": more})


def say(value: object) -> None:
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


def opened(same: list[int]) -> int:
    folder = os.open(".", os.O_RDONLY | os.O_DIRECTORY)
    found = os.fstat(folder)
    if [found.st_dev, found.st_ino] != same:
        raise FileNotFoundError("the folder is another one now")
    return folder


def walk(top: int, under: str) -> Iterator[tuple[str, int, str]]:
    """Every regular file below, by name: its path, a handle on its folder, its name there."""
    try:
        parts = [part for part in under.split("/") if part]
        for index, part in enumerate(parts):
            mode = os.stat(part, dir_fd=top, follow_symlinks=False).st_mode
            if index == len(parts) - 1 and stat.S_ISREG(mode):
                yield under, top, part
                return
            step = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=top)
            os.close(top)
            top = step
        yield from below(top, "/".join(parts))
    finally:
        os.close(top)


def below(folder: int, path: str) -> Iterator[tuple[str, int, str]]:
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        where = f"{path}/{entry.name}" if path else entry.name
        try:
            if entry.is_file(follow_symlinks=False):
                yield where, folder, entry.name
            elif entry.is_dir(follow_symlinks=False) and entry.name not in SKIPPED:
                inner = os.open(entry.name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
                try:
                    yield from below(inner, where)
                finally:
                    os.close(inner)
        except OSError:
            continue


def lines_with(words: re.Pattern[str], parent: int, name: str) -> Iterator[tuple[int, str]]:
    try:
        handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=parent)
    except OSError:
        return
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return
        data = file.read(FILE_LIMIT)
    if b"\0" in data[:8192]:
        return
    for number, line in enumerate(data.decode("utf-8", "replace").split("\n"), 1):
        if words.search(line.removesuffix("\r")):
            yield number, line.removesuffix("\r")


if __name__ == "__main__":
    main()
