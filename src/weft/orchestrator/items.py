"""The items of a step: what is made for each of them settles by itself, and is durable at once.

An item has a key that names it in its step, the hash of everything its result depends on, and one settlement with the
result by its hash. So a step that is cut off goes on with the next item, and one changed item of many is made alone: an
item whose hash has a good result is taken over, from whatever attempt and run, unless a person wants it made anew.
What an attempt has settled itself is taken over good or not: no call that has ended is made again.
"""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, Final

from weft.checks.paths import ValuePlace, find, parse_path
from weft.protocol.errors import UserError
from weft.protocol.events import ItemSettled
from weft.protocol.hashes import combine, hash_bytes, hash_value
from weft.protocol.values import dataclass
from weft.workspace.mapping import Map

NAMING: Final = ("id", "key", "name", "title")
"""What names a mapping that no `key` is given for."""
LONGEST_KEY: Final = 60
INLINE: Final = 16 * 1024
"""Bytes; a larger result is kept as a blob beside the log."""


@dataclass(frozen=True, slots=True)
class Item:
    key: str
    hash: str
    value: Any


@dataclass(frozen=True, slots=True)
class ItemResult:
    ok: bool
    value: Any
    message: str = ""
    ms: int = 0


@dataclass(frozen=True, slots=True)
class StepItems:
    """The items of one attempt, as far as they have their end."""

    run: int
    step: str
    attempt: int
    kept: Mapping[str, ItemResult]
    """What is taken over, by the hash of the item."""
    base: Mapping[str, str]
    """What each item depends on besides its own."""

    def of(self, names: Sequence[Any], inputs: Sequence[Any]) -> list[Item]:
        """The items with these inputs, in order; each is called by its name, as far as that is one."""
        keys = _distinct(map(_key, names))
        return [
            Item(key, combine({**self.base, "item": hash_value(value)}), value)
            for key, value in zip(keys, inputs, strict=True)
        ]

    def settled(self, item: Item, result: ItemResult) -> tuple[ItemSettled, bytes | None]:
        """The settlement, and the bytes that are kept beside the log when they are many."""
        data = json.dumps(result.value, ensure_ascii=False).encode("utf-8", "replace")
        inline = len(data) <= INLINE
        settled = ItemSettled(
            run=self.run,
            step=self.step,
            attempt=self.attempt,
            item=item.key,
            input_hash=item.hash,
            ok=result.ok,
            hash=hash_bytes(data),
            size=len(data),
            content=data.decode() if inline else None,
            message=result.message,
            ms=result.ms,
        )
        return settled, None if inline else data


def taken_over(settled: ItemSettled, data: bytes) -> ItemResult:
    return ItemResult(settled.ok, json.loads(data), settled.message, settled.ms)


# -- the items of a step with a map


@dataclass(frozen=True, slots=True)
class MapItem:
    """An item before it is made: its key, the hash of it alone, and its value; a file's is read when its turn comes."""

    key: str
    digest: str
    value: Any = None
    file: str = ""


def map_items(
    over: Map,
    artifacts: Mapping[str, Any],
    inputs: Mapping[str, str],
    documents: Mapping[str, Mapping[str, Any]],
    files: Mapping[str, str],
) -> list[MapItem]:
    """In their order. `files` are those of the folder, by name with their hash. UserError when a table or a document
    can't be taken apart."""
    if over.folder is not None:
        stems = Counter(map(_without_ending, files))
        names = [stem if stems[stem := _without_ending(name)] == 1 else name for name in files]
        return [MapItem(key, digest, file=name) for key, (name, digest) in zip(names, files.items(), strict=True)]
    if over.look is not None:
        return _of_values(over, artifacts.get(over.look.artifact))
    if over.rows is not None:
        return _named(over, list(_rows(over.rows, inputs.get(over.rows, ""))))
    name = over.pages or ""
    return [
        MapItem(f"page-{number:03}", hash_value(text), text)
        for number, text in enumerate(_pages(name, inputs.get(name, ""), documents.get(name, {})), 1)
        if text
    ]


def item_hash(over: Map, inputs: Mapping[str, str], item: MapItem) -> str:
    """Of everything its result depends on: what the step is made from, but of its items only this one."""
    base = {name: digest for name, digest in inputs.items() if name not in over.sources and name != "map"}
    return combine({**base, "as": over.name, "key": item.key, "item": item.digest})


def _of_values(over: Map, artifact: Any) -> list[MapItem]:
    place = over.look.at if over.look is not None else ""
    values = [found.value for found in find(parse_path(place), artifact) if isinstance(found, ValuePlace)]
    if not over.gathered:
        return _named(over, values)
    made = [one for one in values if isinstance(one, Mapping) and "value" in one]
    return [MapItem(str(one["item"]), hash_value(one["value"]), one["value"]) for one in made]


def _named(over: Map, values: Sequence[Any]) -> list[MapItem]:
    names = [_name_in(over, value) for value in values]
    return [
        MapItem(key, hash_value(value), value) for key, value in zip(_distinct(map(_key, names)), values, strict=True)
    ]


def _name_in(over: Map, value: Any) -> Any:
    if over.key is not None:
        found = next((one.value for one in find(parse_path(over.key), value) if isinstance(one, ValuePlace)), None)
        return value if found is None else found
    if isinstance(value, Mapping):
        return next((value[name] for name in NAMING if isinstance(value.get(name), str | int)), value)
    return value


def _without_ending(name: str) -> str:
    return PurePosixPath(name).with_suffix("").as_posix()


def _rows(name: str, text: str) -> Iterator[dict[str, str]]:
    import csv  # few inputs are tables

    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    try:
        for row in reader:
            if None in row:
                extra = len(row[None])
                raise UserError(
                    f"the input {name}, line {reader.line_num}: {extra} values more than there are names",
                    hint='a value with a comma in it stands in quotes: "a, b"',
                )
            yield {key: value if value is not None else "" for key, value in row.items()}
    except csv.Error as error:
        raise UserError(f"the input {name} is no table of comma-separated values: {error}") from error


def _pages(name: str, text: str, about: Mapping[str, Any]) -> list[str]:
    begins = list(about.get("pages") or ())
    if not begins:
        raise UserError(
            f"the input {name} has no pages that could be told apart", hint="pages are known of PDF documents"
        )
    ends = [*begins[1:], len(text)]
    return [text[first:last].strip() for first, last in zip(begins, ends, strict=True)]


def gathered(keys: Sequence[str], values: Mapping[str, Any], failed: Mapping[str, str], *, keep: bool) -> Any:
    """The artifact of the step: its items in their order. One that failed is told in its place when it is kept."""
    items: list[dict[str, Any]] = []
    for key in keys:
        if key in values:
            items.append({"item": key, "value": values[key]})
        elif keep:
            items.append({"item": key, "failed": failed[key]})
    return {"items": items, "failed": [key for key in keys if key in failed]}


def chosen_items(items: Sequence[MapItem], only: frozenset[str], step: str) -> Sequence[MapItem]:
    """Those that a person asked for by their keys. UserError when none of them is there."""
    if not only:
        return items
    found = [item for item in items if item.key in only]
    if not found:
        names = ", ".join(sorted(only))
        some = ", ".join(item.key for item in items[:8]) + (f" and {len(items) - 8} more" if len(items) > 8 else "")
        raise UserError(f"--only {names}: {step} has no such item", hint=f"its items are: {some or 'none'}")
    return found


def _distinct(names: Iterable[str]) -> list[str]:
    """The same name again gets a number behind it."""
    found: list[str] = []
    times: dict[str, int] = {}
    taken: set[str] = set()
    for name in names:
        key = name
        while key in taken:
            times[name] = times.get(name, 1) + 1
            key = f"{name}-{times[name]}"
        taken.add(key)
        found.append(key)
    return found


def _key(value: Any) -> str:
    """What a person would call it: a short text stands for itself."""
    text = " ".join(value.split()) if isinstance(value, str) else str(value) if isinstance(value, int | float) else ""
    return text if 0 < len(text) <= LONGEST_KEY else hash_value(value)[:12]
