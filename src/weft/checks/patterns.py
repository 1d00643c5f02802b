"""`matches`: every text matches a regular expression as a whole.

The expression is run by the engine inside pydantic, which takes time linear in the text whatever the expression is: no
pattern in a pack can hang a run. The price is that look-around and back-references are refused, at load time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Final

from pydantic import Field, TypeAdapter, ValidationError, field_validator
from pydantic_core import SchemaError

from weft.checks.contract import CheckInput
from weft.checks.faults import Fault, cut, shown
from weft.checks.options import CheckDefinition, OptionalData, look
from weft.checks.paths import kind

LENGTH_LIMIT: Final = 100_000


def _whole(pattern: str) -> TypeAdapter[str]:
    # On its own first: `a)(b` is wrong, but would pair up with the brackets put around it.
    _compiled(pattern)
    return _compiled(rf"\A(?:{pattern})\z")


def _compiled(pattern: str) -> TypeAdapter[str]:
    try:
        return TypeAdapter(Annotated[str, Field(pattern=pattern, strict=True)])
    except SchemaError as error:
        reason = str(error).splitlines()[-1].strip().removeprefix("error: ").removeprefix("SchemaError: ")
        raise ValueError(f"{pattern!r} is not a regular expression that can be used here: {reason}") from None


class MatchesOptions(OptionalData):
    pattern: str = Field(description="The regular expression; no look-around, no back-references.")

    @field_validator("pattern")
    @classmethod
    def _compiles(cls, pattern: str) -> str:
        _whole(pattern)
        return pattern


def check_matches(options: MatchesOptions, given: CheckInput) -> Iterator[Fault]:
    expression = _whole(options.pattern)
    for place in look(options, given.value):
        if isinstance(place, Fault):
            yield place
            continue
        value = place.value
        if not isinstance(value, str):
            hint = f"it has to be text that matches {cut(options.pattern, 200)}"
            yield Fault(place.pointer, f"{shown(value)} is {kind(value)}, not text", hint)
        elif len(value) > LENGTH_LIMIT:
            hint = f"at most {LENGTH_LIMIT:,} characters can be matched: make it shorter"
            yield Fault(place.pointer, f"{shown(value)} has {len(value):,} characters", hint)
        elif not _accepts(expression, value):
            hint = f"the whole text has to match {cut(options.pattern, 200)}"
            yield Fault(place.pointer, f"{shown(value)} does not match the pattern", hint)


def _accepts(expression: TypeAdapter[str], text: str) -> bool:
    try:
        expression.validate_python(text)
    except ValidationError:
        return False
    return True


MATCHES: Final = CheckDefinition(
    "matches", "Every text matches a regular expression as a whole.", MatchesOptions, check_matches
)
