"""The parameters of a pipeline: their good values, and a person's text turned into one."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, Final, Literal

from weft.protocol.errors import UsageError
from weft.protocol.values import dataclass
from weft.workspace.document import describe
from weft.workspace.spelling import listed, suggest

Kind = Literal["integer", "number", "string", "boolean", "folder"]
_INTEGER: Final = re.compile(r"[-+]?[0-9]{1,100}\Z")
_WORDS: Final = {"true": True, "yes": True, "false": False, "no": False}
_KINDS: Final[Mapping[Kind, str]] = {
    "integer": "a whole number",
    "number": "a number",
    "string": "text",
    "boolean": "true or false",
    "folder": "the path of a folder",
}


@dataclass(frozen=True)
class ParameterSpec:
    type: Kind
    default: Any
    description: str = ""
    minimum: int | float | None = None
    maximum: int | float | None = None
    choices: tuple[Any, ...] = ()

    def good_values(self) -> str:
        """In words, for messages and lists: `a whole number from 50 to 5000`."""
        if self.choices:
            return f"one of {listed(shown(choice) for choice in self.choices)}"
        kind = _KINDS[self.type]
        if self.minimum is not None and self.maximum is not None:
            return f"{kind} from {self.minimum} to {self.maximum}"
        if self.minimum is not None:
            return f"{kind}, at least {self.minimum}"
        return f"{kind}, at most {self.maximum}" if self.maximum is not None else kind

    def problem(self, value: Any) -> str | None:
        """Why `value` is not a good one, or None when it is."""
        kind_fits = is_of_kind(self.type, value)
        below = kind_fits and self.minimum is not None and value < self.minimum
        above = kind_fits and self.maximum is not None and value > self.maximum
        if kind_fits and not below and not above and (not self.choices or value in self.choices):
            return None
        return f"must be {self.good_values()}, not {describe(value)}"

    def settle(self, value: Any) -> Any:
        """The one form of a good value: a number is always a float, so that 1 and 1.0 are the same choice."""
        return float(value) if self.type == "number" else value

    def convert(self, text: str) -> Any:
        """What a person typed, as a value of this kind; the text itself when it is none, for `problem` to refuse."""
        word = text.strip()
        if self.type == "integer" and _INTEGER.match(word):
            return int(word)
        if self.type == "boolean":
            return _WORDS.get(word.lower(), text)
        if self.type == "number":
            try:
                return float(word)
            except ValueError:
                return text
        return text


def is_of_kind(kind: Kind, value: Any) -> bool:
    match kind:
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        case "string":
            return isinstance(value, str)
        case "folder":
            return isinstance(value, str) and bool(value.strip()) and "\0" not in value
        case "boolean":
            return isinstance(value, bool)


def shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def parameter_values(specs: Mapping[str, ParameterSpec], given: Mapping[str, Any]) -> dict[str, Any]:
    """Every parameter with its value. UsageError, with the good values, for an unknown name or a bad value."""
    for name in given:
        if name not in specs:
            raise UsageError(f"unknown parameter '{name}'", hint=suggest(name, specs, "parameters"))
    values = {}
    for name, spec in specs.items():
        if spec.type == "folder" and name not in given:
            raise UsageError(f"name the folder '{name}': --set {name}=PATH", hint=spec.description)
        value = given.get(name, spec.default)
        if isinstance(value, str) and name in given:
            value = spec.convert(value)
        if problem := spec.problem(value):
            raise UsageError(f"parameter '{name}' {problem}", hint=spec.description)
        values[name] = spec.settle(value)
    return values
