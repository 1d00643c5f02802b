"""Writes docs/reference/licences.md: every package that an install of Weft brings, with its licence as it says itself.

python docs/licences.py
"""

from __future__ import annotations

import re
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

PAGE = Path(__file__).parent / "reference" / "licences.md"
HEAD = """# Licences of what Weft brings

Made by `python docs/licences.py` from what the packages say of themselves. Weft itself: Apache-2.0. The weights and the
vocabulary that ship with it are named in `NOTICE`.

"""
_NAME = re.compile(r"[A-Za-z0-9._-]+")
_EXTRA = re.compile(r"extra\s*==\s*[\"']([^\"']+)")


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def needed(extra: str = "") -> dict[str, str]:
    """The packages that an install, or one with an extra besides, comes to; with their licences."""
    found: dict[str, str] = {}
    waiting = [("weft", frozenset({extra} if extra else set()))]
    while waiting:
        name, extras = waiting.pop()
        if name in found:
            continue
        try:
            told = distribution(name)
        except PackageNotFoundError:
            continue  # for other systems or versions
        found[name] = licence(name)
        for line in told.requires or ():
            requirement, _, marker = line.partition(";")
            wanted = _EXTRA.findall(marker)
            match = _NAME.match(requirement)
            if match is None or (wanted and not set(wanted) & extras):
                continue
            inside = re.search(r"\[([^\]]*)\]", requirement)
            named = frozenset(part.strip() for part in inside[1].split(",")) if inside else frozenset()
            waiting.append((normal(match[0]), named))
    found.pop("weft", None)
    return found


def licence(name: str) -> str:
    told = distribution(name).metadata
    if expression := (told.get_all("License-Expression") or [""])[0]:
        return str(expression)
    classes = [one.split(" :: ")[-1] for one in told.get_all("Classifier") or () if one.startswith("License ::")]
    named = [one for one in classes if one != "OSI Approved"]
    if named:
        return ", ".join(named)
    said = str((told.get_all("License") or [""])[0]).strip()
    return said.splitlines()[0][:60] if said else "not said"


def main() -> int:
    default = needed()
    more = {name: told for name, told in needed("postgres").items() if name not in default}
    text = HEAD
    for title, packages in (("The default install", default), ("With the extra `postgres`", more)):
        text += f"## {title}\n\n| package | licence |\n|---|---|\n"
        text += "".join(f"| {name} | {told} |\n" for name, told in sorted(packages.items())) + "\n"
    PAGE.write_text(text.rstrip() + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
