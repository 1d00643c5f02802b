"""What a gate shows: some fields of an artifact, the choices with their numbers, what it has cost so far.

A value, not a text: a terminal, a page and `--json` each draw it in their own way, and `as_text` is the plain form for
all others. Text from artifacts is never interpreted: a template is filled in one pass, so what stands in a value is not
looked at again, and every string becomes one line without control characters. Long things are cut, and it is said how
much is missing; what was asked for and is not in the artifact is named, not passed over.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, Literal

from weft.orchestrator.replies import Choice, ChoiceKind

FieldKind = Literal["auto", "text", "list", "key-value", "object-list"]

LONGEST_TEXT: Final = 1_200
LONGEST_ITEM: Final = 300
MOST_ITEMS: Final = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class Show:
    """One entry of a gate's `show:`. `key` may be a path with dots; without a label it is its own."""

    key: str
    label: str = ""
    kind: FieldKind = "auto"
    keys: tuple[str, ...] = ()
    """Of a key-value field: which, in this order; all of them otherwise."""
    template: str = ""
    """Of an object-list: how an item reads, with {field}."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownField:
    """A field as it is shown: a text, the items of a list, or pairs of a name and a value."""

    label: str
    kind: Literal["text", "list", "pairs"]
    text: str = ""
    items: tuple[str, ...] = ()
    pairs: tuple[tuple[str, str], ...] = ()
    more: int = 0
    """Items that are there and not shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A choice with the number it is offered under."""

    number: int
    id: str
    label: str
    kind: ChoiceKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What a run has used so far. `usd` is None where a price is not known."""

    input_tokens: int
    output_tokens: int
    usd: Decimal | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GateMessage:
    gate: str
    step: str
    message: str
    """What the pipeline's author says at this gate."""
    fields: tuple[ShownField, ...]
    missing: tuple[str, ...]
    """Keys that were to be shown and are not in the artifact."""
    offers: tuple[Offer, ...]
    cost: str


def gate_message(
    artifact: object,
    *,
    gate: str,
    step: str,
    show: Sequence[Show] = (),
    choices: Sequence[Choice] = (),
    message: str = "",
    spent: Spent | None = None,
) -> GateMessage:
    """The message of a gate. `choices` is the very order that `judge_reply` counts in."""
    fields, missing = shown_fields(artifact, show)
    return GateMessage(
        gate=gate,
        step=step,
        message=_lines(message, LONGEST_TEXT),
        fields=fields,
        missing=missing,
        offers=tuple(
            Offer(
                number=number, id=choice.id, label=one_line(choice.label or choice.id, LONGEST_ITEM), kind=choice.kind
            )
            for number, choice in enumerate(choices, 1)
        ),
        cost=cost_line(spent) if spent else "",
    )


def shown_fields(artifact: object, show: Sequence[Show]) -> tuple[tuple[ShownField, ...], tuple[str, ...]]:
    """The fields that have something to show, and the keys that are not there at all."""
    fields, missing = [], []
    for entry in show:
        found, value = _at(artifact, entry.key)
        if not found:
            missing.append(one_line(entry.key, LONGEST_ITEM))
        elif (field := _field(entry, value)) is not None:
            fields.append(field)
    return tuple(fields), tuple(missing)


def cost_line(spent: Spent) -> str:
    money = "cost not known" if spent.usd is None else f"${spent.usd:.4f}"
    return f"so far {spent.input_tokens:,} tokens in, {spent.output_tokens:,} out, {money}"


def as_text(message: GateMessage) -> str:
    """The plain form: what a pipe, a log or a screen reader gets."""
    blocks = [f"{message.step} is done. The run waits ({message.gate})."]
    if message.message:
        blocks.append(message.message)
    blocks += [_block(field) for field in message.fields]
    if message.missing:
        blocks.append(f"Not in the artifact: {', '.join(message.missing)}")
    blocks.append("\n".join(f"{offer.number}. {offer.label} ({offer.id})" for offer in message.offers))
    blocks.append(message.cost)
    return "\n\n".join(block for block in blocks if block)


def _block(field: ShownField) -> str:
    more = [f"… and {field.more} more"] if field.more else []
    if field.kind == "text":
        return f"{field.label}: {field.text}"
    if field.kind == "pairs":
        said = ", ".join([*(f"{name} {value}" if name else value for name, value in field.pairs), *more])
        return f"{field.label}: {said}"
    return "\n".join([field.label, *(f"- {item}" for item in (*field.items, *more))])


# Fields


def _field(entry: Show, value: object) -> ShownField | None:
    label = one_line(entry.label or entry.key.replace("_", " "), LONGEST_ITEM)
    kind = _kind(value) if entry.kind == "auto" else entry.kind
    if kind == "text":
        text = _lines(_scalar(value), LONGEST_TEXT)
        return ShownField(label=label, kind="text", text=text) if text else None
    if kind == "key-value":
        return _pairs(label, entry, value)
    if not isinstance(value, list | tuple):
        return None
    items = [_item(entry.template if kind == "object-list" else "", item) for item in value]
    items = [item for item in items if item]
    if not items:
        return None
    return ShownField(label=label, kind="list", items=tuple(items[:MOST_ITEMS]), more=max(0, len(items) - MOST_ITEMS))


def _kind(value: object) -> FieldKind:
    if isinstance(value, Mapping):
        return "key-value"
    if isinstance(value, list | tuple):
        return "object-list" if any(isinstance(item, Mapping) for item in value) else "list"
    return "text"


def _pairs(label: str, entry: Show, value: object) -> ShownField | None:
    if not isinstance(value, Mapping):
        return None
    names = entry.keys or tuple(str(name) for name in value)
    pairs = [(one_line(name, LONGEST_ITEM), one_line(_compact(value.get(name)), LONGEST_ITEM)) for name in names]
    pairs = [(name, said) for name, said in pairs if said]
    if not pairs:
        return None
    return ShownField(label=label, kind="pairs", pairs=tuple(pairs[:MOST_ITEMS]), more=max(0, len(pairs) - MOST_ITEMS))


def _item(template: str, item: object) -> str:
    if template and isinstance(item, Mapping):
        # One pass: braces in a value stay what they are.
        filled = re.sub(r"\{([^{}]+)\}", lambda match: _compact(item.get(match[1])), template)
        said = re.sub(r"\{[^{}]*\}|\W", "", template) or any(_compact(value) for value in item.values())
        return one_line(filled, LONGEST_ITEM) if said else ""
    if isinstance(item, Mapping):
        return one_line(
            ", ".join(f"{name}: {said}" for name, value in item.items() if (said := _compact(value))), LONGEST_ITEM
        )
    return one_line(_compact(item), LONGEST_ITEM)


def _scalar(value: object) -> str:
    """A value that can stand as a text: not a structure, which would need a kind of its own."""
    return "" if isinstance(value, Mapping | list | tuple) else _compact(value)


def _compact(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str | int | float):
        return str(value)
    return json.dumps(value, ensure_ascii=False, default=str)


def _at(artifact: object, key: str) -> tuple[bool, object]:
    """What stands at a key, or at a path of keys and numbers: the whole key first, since a name may have dots in it."""
    if isinstance(artifact, Mapping) and key in artifact:
        return True, artifact[key]
    value: object = artifact
    for part in key.split("."):
        if isinstance(value, Mapping) and part in value:
            value = value[part]
        elif isinstance(value, list | tuple) and part.isdecimal() and int(part) < len(value):
            value = value[int(part)]
        else:
            return False, None
    return True, value


def one_line(text: str, limit: int) -> str:
    """The text on one line with nothing in it that a terminal would obey, cut to `limit` characters."""
    return _cut(" ".join(_clean(text).split()), limit)


def _lines(text: str, limit: int) -> str:
    """Several lines stay several; nothing else that a terminal would obey stays."""
    return _cut("\n".join(_clean(line).rstrip() for line in text.strip().splitlines()), limit)


def _clean(text: str) -> str:
    if text.isascii() and text.isprintable():
        return text
    return "".join(" " if char in "\t\n\r" else char for char in text if char in "\t\n\r" or _harmless(char))


def _harmless(char: str) -> bool:
    return unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Co", "Cn") or char in "\u200c\u200d"


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[:limit].rstrip()} … ({len(text) - limit:,} more characters)"
