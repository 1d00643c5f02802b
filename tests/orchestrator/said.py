"""The table of phrasings: what people say to a run that waits, by what it must be taken for."""

from __future__ import annotations

from pathlib import Path
from typing import Final


def _sections() -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    section: list[str] = []
    for line in Path(__file__).with_name("phrasings.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("[") and line.endswith("]"):
            section = found.setdefault(line[1:-1], [])
        elif line and not line.startswith("# "):
            section.append(line)
    return {name: tuple(lines) for name, lines in found.items()}


PHRASINGS: Final = _sections()
