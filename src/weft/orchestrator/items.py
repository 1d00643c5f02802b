"""The items of a step: what is made for each of them settles by itself, and is durable at once.

An item has a key that names it in its step, the hash of everything its result depends on, and one settlement with the
result by its hash. So a step that is cut off goes on with the next item, and one changed item of many is made alone: an
item whose hash has a good result is taken over, from whatever attempt and run, unless a person wants it made anew.
What an attempt has settled itself is taken over good or not: no call that has ended is made again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from weft.protocol.events import ItemSettled
from weft.protocol.hashes import combine, hash_bytes, hash_value
from weft.protocol.values import dataclass

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
        found: list[Item] = []
        taken: set[str] = set()
        for named, value in zip(names, inputs, strict=True):
            key, number = _key(named), 1
            name = key
            while name in taken:
                number += 1
                name = f"{key}-{number}"
            taken.add(name)
            found.append(Item(name, combine({**self.base, "item": hash_value(value)}), value))
        return found

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


def _key(value: Any) -> str:
    """What a person would call it: a short text stands for itself."""
    text = " ".join(value.split()) if isinstance(value, str) else str(value) if isinstance(value, int | float) else ""
    return text if 0 < len(text) <= LONGEST_KEY else hash_value(value)[:12]
