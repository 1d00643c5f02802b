"""The language of `at`: where in an artifact a check looks.

    quotes[*].text    the `text` of every element of the list (or every value of the mapping) `quotes`
    ideas[0].title    the `title` of the first idea
    (nothing)         the whole artifact

What a path leads to is a `Place` with its JSON pointer, or a `Gap`. A gap is *absent* when the data is merely not
there (a missing key, an empty list, a null on the way) and *misshapen* when something else stands in its place, such
as a list of plain texts where the path expects mappings: a check that passed over that would pass for the wrong reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from weft.protocol.patterns import pattern
from weft.protocol.values import dataclass

_PART: Final = pattern(r"(?P<every>\[\*\])|\[(?P<index>[0-9]{1,9})\]|(?P<dot>\.?)(?P<key>[^.\[\]]+)")
_SHAPE: Final = "a path is keys joined by dots, with [*] for every element or [0] for one, such as quotes[*].text"


class Every:
    """The part `[*]`."""

    def __repr__(self) -> str:
        return "[*]"


EVERY: Final = Every()


@dataclass(frozen=True, slots=True)
class ValuePath:
    text: str
    parts: tuple[str | int | Every, ...]

    @property
    def many(self) -> bool:
        """Whether it can lead to more than one place."""
        return EVERY in self.parts


@dataclass(frozen=True, slots=True)
class ValuePlace:
    pointer: str
    value: Any


@dataclass(frozen=True, slots=True)
class Gap:
    pointer: str
    why: str
    misshapen: bool = False


def parse_path(text: str) -> ValuePath:
    """Raises ValueError, with what is right, for a text that is no path."""
    if text.startswith(("/", "$")):
        raise ValueError(f"{text!r} is not a path: {_SHAPE}; it does not start with {text[0]}")
    parts: list[str | int | Every] = []
    position = 0
    while position < len(text):
        match = _PART.match(text, position)
        if match is None:
            raise ValueError(_malformed(text, position))
        if match["every"]:
            parts.append(EVERY)
        elif match["index"]:
            parts.append(int(match["index"]))
        else:
            key = match["key"]
            if bool(match["dot"]) == (position == 0) or key != key.strip():
                raise ValueError(_malformed(text, position))
            if key == "*":
                raise ValueError(f"{text!r} is not a path: every element is written [*], not .*")
            parts.append(key)
        position = match.end()
    return ValuePath(text, tuple(parts))


def _malformed(text: str, position: int) -> str:
    return f"{text!r} is not a path (from {text[position : position + 20]!r} on): {_SHAPE}"


def kind(value: Any) -> str:
    """What a JSON value is, in words."""
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case str():
            return "text"
        case int() | float():
            return "a number"
        case list():
            return "a list"
        case _:
            return "a mapping"


def below(pointer: str, key: str | int) -> str:
    return f"{pointer}/{key}" if isinstance(key, int) else f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}"


def find(path: ValuePath, value: Any) -> list[ValuePlace | Gap]:
    """Everything the path leads to, in the order of the artifact."""
    items: list[ValuePlace | Gap] = [ValuePlace("", value)]
    for part in path.parts:
        items = [after for item in items for after in (_step(part, item) if isinstance(item, ValuePlace) else (item,))]
    return items


def _step(part: str | int | Every, place: ValuePlace) -> Sequence[ValuePlace | Gap]:
    value, pointer = place.value, place.pointer
    if value is None:
        return (Gap(pointer, "it is null"),)
    if isinstance(part, Every):
        if not isinstance(value, list | dict):
            return (Gap(pointer, f"it is {kind(value)}, not a list", misshapen=True),)
        return tuple(_elements(pointer, value)) or (Gap(pointer, "it is empty"),)
    if isinstance(part, int):
        if not isinstance(value, list):
            return (Gap(pointer, f"it is {kind(value)}, not a list", misshapen=True),)
        there = below(pointer, part)
        return (ValuePlace(there, value[part]) if part < len(value) else Gap(there, f"the list has {len(value)}"),)
    if not isinstance(value, dict):
        return (Gap(pointer, f"it is {kind(value)}, not a mapping with {part!r}", misshapen=True),)
    there = below(pointer, part)
    return (ValuePlace(there, value[part]) if part in value else Gap(there, "it is not there"),)


def _elements(pointer: str, value: list[Any] | dict[str, Any]) -> Iterator[ValuePlace]:
    pairs = enumerate(value) if isinstance(value, list) else value.items()
    for key, element in pairs:
        yield ValuePlace(below(pointer, key), element)


def leaves(place: ValuePlace) -> Iterator[ValuePlace]:
    """Every text, number, boolean and null at or below a place, in order; any depth."""
    waiting = [place]
    while waiting:
        current = waiting.pop()
        if isinstance(current.value, list | dict):
            waiting.extend(reversed(list(_elements(current.pointer, current.value))))
        else:
            yield current
