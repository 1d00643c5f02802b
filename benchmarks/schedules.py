"""A thousand schedules: what one look at all of them costs, when nothing is due and when all of them are.

python -m benchmarks.schedules [COUNT]
"""

from __future__ import annotations

import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from weft.app import App
from weft.app.schedules.schedules import Schedules

BEGIN = datetime(2026, 11, 16, 5, 30, tzinfo=UTC)


def main(count: int) -> None:
    now = BEGIN
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "schedules").mkdir()
        for number in range(count):
            text = f'cron: "{number % 60} 7 * * *"\nzone: Europe/Berlin\nstart: {{pipeline: none}}\n'
            (place / f"schedules/s{number:04}.yaml").write_text(text)
        with App.open(place, now=lambda: now) as app:
            schedules = Schedules(app)
            for what, later in (("first look", 0), ("nothing due", 1), ("nothing due", 2), ("all due", 5400)):
                now = BEGIN + timedelta(seconds=later)
                begun = time.perf_counter()
                found = schedules.look()
                took = time.perf_counter() - begun
                print(f"{what:12} {count} schedules  {took * 1000:8.1f} ms  {len(found)} to begin")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
