"""A program of the tests: brings the index of a collection up to date, and is killed at one of its statements.

`python -m tests.knowledge.killed_update FOLDER AT` prints how many statements there were when `AT` was none of them.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from tests.knowledge.made import isa
from weft.files import Folder
from weft.knowledge.ingest import update
from weft.knowledge.store import Store


def main() -> None:
    folder, at = Path(sys.argv[1]), int(sys.argv[2])
    store, count = Store(folder / "index.db"), 0

    def trace(_: str) -> None:
        nonlocal count
        count += 1
        if count == at:
            os.kill(os.getpid(), signal.SIGKILL)

    store._connection.set_trace_callback(trace)
    update(store, Folder.open(folder), isa())
    sys.stdout.write(f"{count}\n")


if __name__ == "__main__":
    main()
