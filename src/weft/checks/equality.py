"""`same` and `unique`: JSON values compared as JSON means it. 1 is 1.0; true is not 1; the order of keys is nothing."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any, Final

from pydantic import Field, JsonValue, model_validator

from weft.checks.contract import CheckInput, CheckProblem
from weft.checks.faults import Fault, shown
from weft.checks.options import WHOLE, CheckDefinition, CheckOptions, OnePath, OptionalData, look
from weft.checks.paths import Gap, ValuePlace, find


def value_key(value: Any, *, exact: bool = True) -> tuple[Hashable, ...]:
    """Equal for equal values, and hashable. Flat, with the size before each list or mapping, so any depth will do."""
    flat: list[Hashable] = []
    waiting = [value]
    while waiting:
        match waiting.pop():
            case bool() | None as plain:
                flat.append(("plain", plain))
            case int() | float() as number:
                flat.append(("number", number))
            case str() as text:
                flat.append(("text", text if exact else " ".join(text.casefold().split())))
            case list() as elements:
                flat.append(("list", len(elements)))
                waiting.extend(elements)
            case mapping:
                flat.append(("mapping", *sorted(mapping)))
                waiting.extend(mapping[key] for key in sorted(mapping))
    return tuple(flat)


class SameOptions(CheckOptions):
    document: str | None = Field(default=None, alias="as", min_length=1, description="The document to compare with.")
    as_at: OnePath = Field(default=WHOLE, description="Where in that document; left out, all of it.")
    value: JsonValue = Field(default=None, description="A fixed value to compare with, instead of `as`.")

    @model_validator(mode="after")
    def _one_other_side(self) -> SameOptions:
        if (self.document is None) == ("value" not in self.model_fields_set):
            raise CheckProblem(
                "same compares with either `as` (a document) or `value` (a fixed value): give one of them"
            )
        if self.document is None and "as_at" in self.model_fields_set:
            raise CheckProblem("`as_at` is a place in the document that `as` names; there is no `as`", key="as_at")
        return self

    def reads(self) -> tuple[str, ...]:
        return () if self.document is None else (self.document,)


def check_same(options: SameOptions, given: CheckInput) -> Iterator[Fault]:
    wanted: Any = options.value
    where = ""
    if options.document is not None:
        item = find(options.as_at, given.documents[options.document])[0]
        if isinstance(item, Gap):
            hint = f"the check compares with it, so {options.document} must have it first"
            yield Fault("", f"{options.document} has nothing at `{options.as_at.text}`: {item.why}", hint)
            return
        wanted = item.value
        where = f", which is in {options.document}" + (f" at {item.pointer}" if item.pointer else "")
    key = value_key(wanted)
    for place in look(options, given.value, null_is_value=True):
        if isinstance(place, Fault):
            yield place
        elif value_key(place.value) != key:
            message = f"{shown(place.value)} is not the same as {shown(wanted)}{where}"
            yield Fault(place.pointer, message, f"write {shown(wanted, 300)} here")


class UniqueOptions(OptionalData):
    exact: bool = Field(
        default=False, description="Whether texts that differ only in case or white space may both stand."
    )

    @model_validator(mode="after")
    def _several(self) -> UniqueOptions:
        if len(self.at) == 1 and not self.at[0].many:
            text = self.at[0].text
            raise CheckProblem(f"unique compares many values and {text!r} leads to one: write {text}[*]", key="at")
        return self


def check_unique(options: UniqueOptions, given: CheckInput) -> Iterator[Fault]:
    first: dict[tuple[Hashable, ...], ValuePlace] = {}
    for place in look(options, given.value):
        if isinstance(place, Fault):
            yield place
            continue
        before = first.setdefault(value_key(place.value, exact=options.exact), place)
        if before is not place:
            but = "" if shown(before.value) == shown(place.value) else f" ({shown(before.value)})"
            message = f"{shown(place.value)} at {place.pointer} is the same as the one at {before.pointer}{but}"
            yield Fault(place.pointer, message, "leave one of the two out, or make it say something else")


SAME: Final = CheckDefinition(
    "same", "A value equals one in another document, or a fixed one.", SameOptions, check_same
)
UNIQUE: Final = CheckDefinition("unique", "No two of the values are equal.", UniqueOptions, check_unique)
