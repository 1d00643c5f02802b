"""`count` and `sum_near`: how much of something there is. Sums are exact: 0.29 of 100 is 29, not a little less."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Annotated, Any, Final, Literal

from pydantic import Field, PlainValidator, model_validator

from weft.checks.contract import CheckInput, CheckProblem
from weft.checks.faults import Fault, shown
from weft.checks.options import CheckDefinition, CheckOptions, look
from weft.checks.paths import Gap, ValuePath, ValuePlace, find, kind, parse_path
from weft.protocol.values import dataclass

Unit = Literal["elements", "words", "characters"]


class CountOptions(CheckOptions):
    min: int | None = Field(default=None, ge=0, description="The fewest there may be.")
    max: int | None = Field(default=None, ge=0, description="The most there may be.")
    exactly: int | None = Field(default=None, ge=0, description="How many there must be, instead of min and max.")
    of: Unit = Field(
        default="elements",
        description="What is counted: elements of a list or mapping, words of a text (as white space parts them), "
        "or its characters.",
    )

    @model_validator(mode="after")
    def _some_limit(self) -> CountOptions:
        if self.exactly is not None and (self.min is not None or self.max is not None):
            raise CheckProblem("`exactly` leaves nothing for min and max to say: give one or the other", key="exactly")
        if self.exactly is None and self.min is None and self.max is None:
            raise CheckProblem("count needs at least one of min, max and exactly")
        if self.min is not None and self.max is not None and self.min > self.max:
            raise CheckProblem(f"no count is at least {self.min} and at most {self.max}", key="min")
        return self

    @property
    def limits(self) -> tuple[int, float]:
        if self.exactly is not None:
            return self.exactly, self.exactly
        return self.min or 0, math.inf if self.max is None else self.max


def check_count(options: CountOptions, given: CheckInput) -> Iterator[Fault]:
    low, high = options.limits
    wanted = f"exactly {low}" if low == high else f"{low} or more" if high == math.inf else f"{low} to {high}"
    for place in look(options, given.value):
        if isinstance(place, Fault):
            yield place
            continue
        number = _count(place.value, options.of)
        if number is None:
            wants = "a list or a mapping" if options.of == "elements" else "text"
            message = f"{shown(place.value)} is {kind(place.value)}, so its {options.of} can't be counted"
            yield Fault(place.pointer, message, f"the check counts {options.of}: put {wants} here")
        elif not low <= number <= high:
            change = f"add {low - number}" if number < low else f"take away {number - int(high)}"
            unit = options.of[:-1] if number == 1 else options.of
            message = f"{shown(place.value)} has {number} {unit}, not {wanted}"
            yield Fault(place.pointer, message, f"{change}, so that there are {wanted}")


def _count(value: Any, unit: Unit) -> int | None:
    if unit == "elements":
        return len(value) if isinstance(value, list | dict) else None
    if not isinstance(value, str):
        return None
    return len(value.split()) if unit == "words" else len(value)


@dataclass(frozen=True, slots=True)
class FromParameter:
    name: str


@dataclass(frozen=True, slots=True)
class FromDocument:
    name: str
    at: ValuePath
    otherwise: Fraction | None = None


def _target(value: object) -> Fraction | FromParameter | FromDocument:
    number = exact(value)
    if number is not None:
        return number
    if isinstance(value, Mapping):
        found = dict(value)
        otherwise = exact(found.pop("otherwise")) if "otherwise" in found and "document" in found else None
        if all(isinstance(part, str) and part for part in found.values()):
            if set(found) == {"parameter"}:
                return FromParameter(found["parameter"])
            if set(found) == {"document", "at"}:
                path = parse_path(found["at"])
                if not path.many and (otherwise is None) == ("otherwise" not in value):
                    return FromDocument(found["document"], path, otherwise)
    raise ValueError(
        "a target is a number, {parameter: name}, or {document: name, at: path to one number, otherwise: number}, "
        f"which {shown(value)} is not"
    )


class SumNearOptions(CheckOptions):
    target: Annotated[
        Fraction | FromParameter | FromDocument,
        PlainValidator(_target, json_schema_input_type=int | float | dict[str, str | int | float]),
    ] = Field(
        description="What the sum has to be near: a number, {parameter: name} or {document: name, at: path}; "
        "`otherwise` in the last is for a value that is not set."
    )
    within: float = Field(default=0.1, ge=0, le=1, description="How far off it may be, as a share of the target.")

    def reads(self) -> tuple[str, ...]:
        return (self.target.name,) if isinstance(self.target, FromDocument) else ()


def check_sum_near(options: SumNearOptions, given: CheckInput) -> Iterator[Fault]:
    target = _resolve(options.target, given)
    if isinstance(target, Fault):
        yield target
        return
    total = Fraction(0)
    pointers: list[str] = []
    faulty = False
    for place in look(options, given.value):
        if isinstance(place, Fault) or (number := exact(place.value)) is None:
            faulty = True
            yield place if isinstance(place, Fault) else _not_a_number(place)
        else:
            total += number
            pointers.append(place.pointer)
    # A sum with a part missing would only send somebody after the wrong number.
    if not faulty:
        yield from _far_off(total, target, options.within, pointers)


def _far_off(total: Fraction, target: Fraction, within: float, pointers: Sequence[str]) -> Iterator[Fault]:
    share = Fraction(repr(within))
    room = abs(target) * share
    if abs(total - target) > room:
        off = f"more than {_plain(share * 100)} % off" if share else "not"
        parts = f"of {len(pointers)} numbers " if len(pointers) > 1 else ""
        message = f"the sum {parts}is {_plain(total)}, which is {off} {_plain(target)}"
        hint = f"make it {_plain(target - room)} to {_plain(target + room)}" if room else f"make it {_plain(target)}"
        change = f"add {_plain(target - total)}" if total < target else f"take away {_plain(total - target)}"
        yield Fault(_common(pointers), message, f"{hint}: {change} to hit the target")


def exact(value: object) -> Fraction | None:
    """A JSON number without rounding; None for everything else, booleans and infinity too."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return Fraction(value) if isinstance(value, int) else Fraction(repr(value))


def _resolve(target: Fraction | FromParameter | FromDocument, given: CheckInput) -> Fraction | Fault:
    if isinstance(target, Fraction):
        return target
    if isinstance(target, FromParameter):
        value, name = given.parameters.get(target.name), f"the parameter {target.name}"
    else:
        item = find(target.at, given.documents[target.name])[0]
        value, name = (None if isinstance(item, Gap) else item.value), f"`{target.at.text}` of {target.name}"
        if value is None and target.otherwise is not None:
            return target.otherwise
    number = exact(value)
    if number is None:
        return Fault("", f"there is no target: {name} is {shown(value)}, not a number", f"set {name} to a number")
    return number


def _not_a_number(place: ValuePlace) -> Fault:
    return Fault(place.pointer, f"{shown(place.value)} is {kind(place.value)}, not a number", "write a plain number")


def _plain(number: Fraction) -> str:
    return str(number.numerator) if number.denominator == 1 else f"{float(number):.6g}"


def _common(pointers: Sequence[str]) -> str:
    """The pointer of the smallest part that holds them all."""
    split = [pointer.split("/") for pointer in pointers]
    shared = 0
    while all(shared < len(parts) and parts[shared] == split[0][shared] for parts in split):
        shared += 1
    return "/".join(split[0][:shared])


COUNT: Final = CheckDefinition("count", "There are so many elements, words or characters.", CountOptions, check_count)
SUM_NEAR: Final = CheckDefinition("sum_near", "The numbers add up to about a target.", SumNearOptions, check_sum_near)
