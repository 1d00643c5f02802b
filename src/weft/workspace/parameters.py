"""The parameters of a pipeline: their good values, and a person's text turned into one."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import date
from typing import Any, Final, Literal

from weft.protocol.errors import UsageError
from weft.protocol.json_text import json_value
from weft.protocol.patterns import pattern
from weft.protocol.values import dataclass
from weft.redaction import SECRET_NAME
from weft.workspace.document import describe
from weft.workspace.spelling import listed, suggest

Kind = Literal["integer", "number", "string", "boolean", "date", "list", "object", "file", "folder", "secret"]
_INTEGER: Final = pattern(r"[-+]?[0-9]{1,100}\Z")
_SECRET_VALUE: Final = pattern(
    r"sk-|ghp_|gho_|github_pat_|glpat-|xox[abp]-|AKIA[0-9A-Z]{12}|AIza|eyJ[A-Za-z0-9_-]{20,}\.|-----BEGIN .*PRIVATE KEY"
)
_SECRET_CALLED: Final = pattern(r"[a-z0-9][a-z0-9_-]{0,63}\Z")
NAMED: Final[tuple[Kind, ...]] = ("file", "folder", "secret")
"""What the person names for each session: a pipeline can't choose it for them."""
_WORDS: Final = {"true": True, "yes": True, "false": False, "no": False}
_KINDS: Final[Mapping[Kind, str]] = {
    "integer": "a whole number",
    "number": "a number",
    "string": "text",
    "boolean": "true or false",
    "date": "a date such as 2026-12-01",
    "list": "a list such as [1, 2], or texts with commas between them",
    "object": 'an object such as {"a": 1}',
    "file": "the path of a file",
    "folder": "the path of a folder",
    "secret": "the name of a secret, as `weft secrets list` shows it",
}


@dataclass(frozen=True)
class ParameterSpec:
    type: Kind
    default: Any
    description: str = ""
    minimum: int | float | None = None
    maximum: int | float | None = None
    choices: tuple[Any, ...] = ()
    asked: bool = False
    """Of a file: a person is asked for it at a gate, and there is none before."""

    def good_values(self) -> str:
        """In words, for messages and lists: `a whole number from 50 to 5000`."""
        if self.choices:
            some = "a list of some of" if self.type == "list" else "one of"
            return f"{some} {listed(shown(choice) for choice in self.choices)}"
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
        if kind_fits and not below and not above and self._is_choice(value):
            return None
        return f"must be {self.good_values()}, not {describe(value)}"

    def _is_choice(self, value: Any) -> bool:
        """Of a list, every one of its values."""
        chosen = value if self.type == "list" else [value]
        return not self.choices or all(one in self.choices for one in chosen)

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
        if self.type in ("list", "object"):
            return _structured(self.type, word, text)
        if self.type == "number":
            try:
                return float(word)
            except ValueError:
                return text
        return text


def _structured(kind: Kind, word: str, text: str) -> Any:
    """JSON; of a list also texts with commas between them."""
    if word.startswith(("[", "{")):
        try:
            return json_value(word)
        except ValueError:
            return text
    return [one.strip() for one in word.split(",") if one.strip()] if kind == "list" else text


def is_of_kind(kind: Kind, value: Any) -> bool:
    match kind:
        case "list" | "object":
            return isinstance(value, list if kind == "list" else dict) and _is_json(value)
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        case "string":
            return isinstance(value, str)
        case "file" | "folder":
            return isinstance(value, str) and bool(value.strip()) and "\0" not in value
        case "secret":
            return isinstance(value, str) and bool(_SECRET_CALLED.match(value)) and not _SECRET_VALUE.match(value)
        case "boolean":
            return isinstance(value, bool)
        case "date":
            return isinstance(value, str) and _is_date(value)


def _is_json(value: Any) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        return False
    return True


def _is_date(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def shown(value: Any) -> str:
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False)
    return str(value).lower() if isinstance(value, bool) else str(value)


def check_names(specs: Mapping[str, ParameterSpec], given: Mapping[str, Any]) -> None:
    """UsageError for an unknown name, and for what looks like a secret."""
    for name, value in given.items():
        _refuse_secret(name, specs.get(name), value)
        if name not in specs:
            no_modes = "this pipeline has no modes: it has no key 'depth'" if name == "depth" else ""
            raise UsageError(f"unknown parameter '{name}'", hint=no_modes or suggest(name, specs, "parameters"))


def parameter_values(specs: Mapping[str, ParameterSpec], given: Mapping[str, Any]) -> dict[str, Any]:
    """Every parameter with its value. UsageError, with the good values, for an unknown name or a bad value."""
    check_names(specs, given)
    values = {}
    for name, spec in specs.items():
        if spec.asked and not given.get(name):
            values[name] = ""
            continue
        if spec.type in NAMED and name not in given:
            how = "NAME" if spec.type == "secret" else "PATH"
            raise UsageError(f"name the {spec.type} '{name}': --set {name}={how}", hint=spec.description)
        value = given.get(name, spec.default)
        if isinstance(value, str) and name in given:
            value = spec.convert(value)
        if problem := spec.problem(value):
            raise UsageError(f"parameter '{name}' {problem}", hint=spec.description)
        values[name] = spec.settle(value)
    return values


def _refuse_secret(name: str, spec: ParameterSpec | None, value: Any) -> None:
    """Parameters stand in the log; a secret is given by its name. What was given is not repeated."""
    takes_name = spec is not None and spec.type == "secret"
    if not isinstance(value, str) or (takes_name and is_of_kind("secret", value)):
        return
    if takes_name or _SECRET_VALUE.match(value) or SECRET_NAME.search(name):
        raise UsageError(
            f"--set {name}: this looks like a secret, and parameters stand in the log for everybody to read",
            hint="nothing was kept; `weft secrets set NAME` keeps it, and a parameter of the type secret takes NAME",
        )
