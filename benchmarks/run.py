"""Every benchmark that needs nothing from outside, as markdown tables.

    python benchmarks/run.py [--quick]

`--quick` only shows that everything works; its figures mean nothing.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
FULL: Final[dict[str, list[str]]] = {
    "engine": [],
    "crash": [],
    "big_session": [],
    "long_log": [],
    "server": [],
    "startup": [],
    "language": [],
    "models": [],
    "agent_runtime": [],
    "conversation": [],
    "boundary": [],
    "source_calls": [],
}
QUICK: Final[dict[str, list[str]]] = {
    "engine": ["--n", "10", "--rounds", "1", "--patience", "0"],
    "crash": ["--trials", "1"],
    "big_session": ["--events", "2000", "--rounds", "1"],
    "long_log": ["--turns", "200"],
    "server": ["--conversations", "4", "--runs", "1", "--streams", "8", "--messages", "4", "--calm", "2"],
    "startup": ["--runs", "2"],
    "models": ["--pieces", "50", "--calls", "2", "--rounds", "1"],
    "agent_runtime": ["--turns", "1", "--rounds", "1"],
    "language": ["--sizes", "1000,3000", "--rounds", "1"],
    "boundary": ["--runs", "2"],
    "source_calls": ["--calls", "10"],
    "conversation": ["--rounds", "5", "--commands", "500", "--events", "2000", "--conversations", "50"],
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a small trial of everything")
    given = parser.parse_args()
    print("# Benchmarks\n\nOnly ratios within one run count.", flush=True)
    failed = 0
    for name, words in (QUICK if given.quick else FULL).items():
        print(flush=True)
        failed |= subprocess.run([sys.executable, "-m", f"benchmarks.{name}", *words], cwd=ROOT, check=False).returncode
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
