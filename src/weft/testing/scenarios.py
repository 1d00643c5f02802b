"""Runs files of conversation scenarios and says which hold.

    python -m weft.testing.scenarios FILE.json [--only ID …] [--quick]

One line for each scenario and a total; exit code 1 when one fails, 2 when a file can't be read. A scenario is `sim`
(played on a simulated world), `static` (rules about the source) or `real` (measured on this machine; `--quick` makes
the counts a hundredth, for a look whether it works at all).
"""

from __future__ import annotations

import argparse
import json
import sys
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

QUICK: Final = 0.01


def load(path: Path) -> list[dict[str, Any]]:
    found = json.loads(path.read_text())
    scenarios = found.get("scenarios", found.get("cases")) if isinstance(found, dict) else found
    if not isinstance(scenarios, list) or not all(isinstance(one, dict) for one in scenarios):
        raise ValueError("it is not a list of scenarios")
    return scenarios


def faults_of(scenario: Mapping[str, Any], scale: float = 1.0) -> list[str]:
    """What is wrong with a scenario; nothing when it holds."""
    from weft.testing import scenario_real, scenario_sim, scenario_static

    known = {"id", "requirement", "title", "kind", "tags", "given", "steps", "expect", "note", "notes", "source"}
    if spare := set(scenario) - known:
        return [f"the scenario can't be understood: unknown key {sorted(spare)[0]!r}"]
    try:
        match scenario.get("kind"):
            case "sim":
                return scenario_sim.run(scenario)
            case "static":
                return scenario_static.run(scenario)
            case "real":
                return scenario_real.run(scenario, scale)
            case kind:
                return [f"the scenario can't be understood: unknown kind {kind!r}"]
    except Exception as error:  # noqa: BLE001  one scenario's accident must not hide the others
        where = traceback.extract_tb(error.__traceback__)[-1]
        return [f"{type(error).__name__}: {error} ({Path(where.filename).name}:{where.lineno})"]


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m weft.testing.scenarios",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--only", nargs="+", default=[], metavar="ID", help="only these scenarios")
    parser.add_argument("--quick", action="store_true", help="a hundredth of the counts of `real` scenarios")
    given = parser.parse_args(words)
    good = total = 0
    for path in given.files:
        try:
            scenarios = load(path)
        except (OSError, ValueError) as error:
            sys.stderr.write(f"{path}: {error}\n")
            return 2
        for scenario in scenarios:
            name = str(scenario.get("id", "?"))
            if given.only and name not in given.only:
                continue
            faults = faults_of(scenario, QUICK if given.quick else 1.0)
            total += 1
            good += not faults
            sys.stdout.write(f"{'ok  ' if not faults else 'FAIL'} {name:8} {scenario.get('title', '')}\n")
            sys.stdout.writelines(f"       {fault}\n" for fault in faults)
            sys.stdout.flush()
    sys.stdout.write(f"{good} of {total} scenarios hold\n")
    return 0 if good == total else 1


if __name__ == "__main__":
    sys.exit(main())
