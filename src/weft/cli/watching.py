"""`weft run --watch`: the files a result depends on are looked at a few times a second; a save runs what it changes.

Looking is polling: it works on every file system, and the folder of a workspace is small. Broken files and failed runs
are shown and do not end the watch; the next save is another try.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

from weft.protocol.errors import EXIT_DONE, EXIT_INTERRUPTED, WeftError

LOOK: Final = 0.2
"""Seconds between two looks."""
WATCHED: Final = ("pipelines", "schemas", "code", ".claude", "profile.json", "user-profile.json", "config.toml")

Signature = dict[str, tuple[int, int, int]]


def watch(files: Iterable[Path], workspace: Path, run: Callable[[], int], complain: Callable[[WeftError], None]) -> int:
    """Run, and run again after each save, until Ctrl+C. The exit code is 0 then, whatever single runs came to."""
    named = [Path(os.path.abspath(file)) for file in files]
    while True:
        before = signature(named, workspace)
        try:
            code = run()
        except WeftError as error:
            complain(error)
            code = error.exit_code
        if code == EXIT_INTERRUPTED:
            return EXIT_DONE
        print(f"watching {', '.join(str(file) for file in named)} (Ctrl+C ends)", file=sys.stderr, flush=True)
        try:
            changed = _next_change(named, workspace, before)
        except KeyboardInterrupt:
            print(file=sys.stderr)
            return EXIT_DONE
        print(f"{', '.join(changed)} changed", file=sys.stderr, flush=True)


def _next_change(named: list[Path], workspace: Path, before: Signature) -> list[str]:
    """The names of what was saved, once it has stopped changing and every named file is there."""
    last = before
    while True:
        time.sleep(LOOK)
        now = signature(named, workspace)
        settled = now == last and all(str(file) in now for file in named)
        if settled and now != before:
            return sorted(Path(path).name for path in now.keys() | before.keys() if now.get(path) != before.get(path))
        last = now


def signature(named: Iterable[Path], workspace: Path) -> Signature:
    """What tells a saved file from the one before: its inode, size and time of change."""
    found: Signature = {}
    for path in (*named, *_below(workspace)):
        try:
            status = os.stat(path)
        except OSError:
            continue  # between two names of an editor's save; it counts when it is there again
        found[str(path)] = (status.st_ino, status.st_size, status.st_mtime_ns)
    return found


def _below(workspace: Path) -> Iterator[Path]:
    for name in WATCHED:
        path = workspace / name
        if not path.is_dir():
            yield path
            continue
        for folder, folders, files in os.walk(path):
            folders[:] = [inner for inner in folders if inner != "__pycache__"]
            yield from (Path(folder) / file for file in files if not file.endswith((".pyc", "~", ".swp")))
