"""What a source offered when it was last reached: the one list that `test`, `tools`, the model and the rules go by.

It is kept for each person (`reached/` in their own folder, by where the source is declared and its address), so that a
plan, a prompt and a judgement know the tools without starting anything, and a folder that came from elsewhere can't say
what a source offers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, field
from pathlib import Path
from typing import Any, Final, Literal

from weft.files import Folder
from weft.protocol.errors import WeftError
from weft.protocol.json_text import json_value
from weft.protocol.values import dataclass
from weft.sources.config import EffectWord

FOLDER: Final = "reached"
VERSION: Final = 1
SourceState = Literal["untested", "ready", "failed", "needs sign-in"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedTool:
    """A tool as the source describes it; its effect is ours to say."""

    name: str
    description: str = ""
    input_schema: Mapping[str, Any] = field(default_factory=dict)
    effect: EffectWord = "network"
    repeatable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedPrompt:
    name: str
    description: str = ""
    arguments: tuple[str, ...] = ()
    required: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    tools: tuple[OfferedTool, ...] = ()
    prompts: tuple[OfferedPrompt, ...] = ()
    resources: bool = False
    """Whether it has resources to read."""
    server: str = ""
    """What it calls itself, with its version."""
    protocol: str = ""
    instructions: str = ""
    left_out: Mapping[str, str] = field(default_factory=dict)
    """Tools that can't be offered, each with the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """How the last try to reach it ended."""

    state: SourceState = "untested"
    why: str = ""
    at: str = ""
    listing: Listing | None = None
    """The last that there was, also when it can't be reached now."""


class ReachedStore:
    """The last state of every source, in a person's own folder. What can't be read there is as if it were not there."""

    def __init__(self, own: Path) -> None:
        self._path = own / FOLDER
        self._known: dict[str, tuple[int, Reached]] = {}

    @property
    def stamp(self) -> int:
        """Another number when another process may have written something here."""
        return _written(self._path)

    def get(self, key: str) -> Reached:
        """As it is now, also when another process has just reached it or signed in."""
        now = _written(self._path / f"{key}.json")
        if key not in self._known or self._known[key][0] != now:
            self._known[key] = (now, self._read(key))
        return self._known[key][1]

    def put(self, key: str, reached: Reached) -> None:
        with Folder.open(self._path, create=True) as folder:
            folder.replace(
                f"{key}.json", json.dumps({"version": VERSION, **asdict(reached)}, indent=1).encode() + b"\n"
            )
        self._known[key] = (_written(self._path / f"{key}.json"), reached)

    def forget(self, key: str) -> None:
        self._known.pop(key, None)
        (self._path / f"{key}.json").unlink(missing_ok=True)

    def _read(self, key: str) -> Reached:
        try:
            if not self._path.is_dir():
                return Reached()
            with Folder.open(self._path) as folder:
                data = folder.read_or_none(f"{key}.json")
            return _decoded(json_value(data)) if data is not None else Reached()
        except (WeftError, ValueError, KeyError, TypeError, AttributeError):
            return Reached(why="what was known of it can't be read")


def _written(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def _decoded(value: Mapping[str, Any]) -> Reached:
    if value["version"] != VERSION:
        return Reached()
    found = value["listing"]
    listing = None
    if found is not None:
        listing = Listing(
            tools=tuple(OfferedTool(**one) for one in found["tools"]),
            prompts=tuple(
                OfferedPrompt(
                    name=one["name"],
                    description=one["description"],
                    arguments=tuple(one["arguments"]),
                    required=tuple(one["required"]),
                )
                for one in found["prompts"]
            ),
            resources=found["resources"],
            server=found["server"],
            protocol=found["protocol"],
            instructions=found["instructions"],
            left_out=found["left_out"],
        )
    return Reached(state=value["state"], why=value["why"], at=value["at"], listing=listing)
