"""From a declaration to a checked call, and from a call to findings."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from importlib import import_module
from typing import Any, Final

from pydantic import ValidationError

from weft.checks.contract import CheckCall, CheckInput, CheckProblem, document_names
from weft.checks.faults import collect, shown
from weft.checks.options import CheckDefinition
from weft.protocol.errors import Finding
from weft.protocol.patterns import pattern


class _Checks(Mapping[str, CheckDefinition]):
    """By name. A check is loaded when it is first asked for: most pipelines use few."""

    _homes: Final = {
        "count": "measures",
        "matches": "patterns",
        "numbers_from": "numbers_from",
        "same": "equality",
        "sum_near": "measures",
        "supported": "supported",
        "unique": "equality",
        "verbatim": "verbatim",
    }

    def __getitem__(self, name: str) -> CheckDefinition:
        found: CheckDefinition = getattr(import_module(f"weft.checks.{self._homes[name]}"), name.upper())
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._homes)

    def __len__(self) -> int:
        return len(self._homes)


CHECKS: Final[Mapping[str, CheckDefinition]] = _Checks()
_OWN: Final = pattern(r"[^:]+\.py:(?P<function>.*)", re.DOTALL)


def parse_check(name: str, options: Mapping[str, Any], *, artifact: str = "") -> CheckCall:
    """Raises CheckProblem. With the `artifact`'s name, also for a path into an artifact that is text."""
    plain = _plain_mapping(name, options)
    own = _OWN.fullmatch(name)
    if own:
        if not own["function"].isidentifier():
            raise CheckProblem(f"{name!r}: after the colon comes the name of a function, such as words.py:polite")
        return CheckCall(name, plain, _own_documents(plain))
    if name not in CHECKS:
        own_hint = "; a check of your own is written file.py:function"
        raise CheckProblem(f"there is no check {name!r}{_instead(name, CHECKS)}{own_hint}")
    definition = CHECKS[name]
    try:
        parsed = definition.options.model_validate(plain)
    except ValidationError as error:
        raise _problem(definition, error) from None
    if artifact and not artifact.endswith(".json") and any(path.parts for path in parsed.at):
        raise CheckProblem(f"{artifact} is text as a whole, so `at` has to be left out", key="at")
    return CheckCall(name, plain, parsed.reads())


def run_check(call: CheckCall, given: CheckInput) -> tuple[Finding, ...]:
    """The findings of a built-in check; a pack's own check is code, and is run where the code of steps is."""
    check = CHECKS[call.name]
    return collect(given.artifact, check.function(check.options.model_validate(dict(call.options)), given))


def _own_documents(options: Mapping[str, Any]) -> tuple[str, ...]:
    if "in" not in options:
        return ()
    try:
        return document_names(options["in"])
    except ValueError as error:
        raise CheckProblem(f"`in` is {error}, not {shown(options['in'])}", key="in") from None


def _plain_mapping(name: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """A copy in plain JSON values: a YAML reader has types of its own, and dates, which can't be hashed or sent."""
    given: object = options
    if not isinstance(given, Mapping) or not all(isinstance(key, str) for key in given):
        raise CheckProblem(f"{name} takes a mapping of options, such as {{at: title}}, not {shown(str(given))}")
    return {str(key): _plain(str(key), value) for key, value in given.items()}


def _plain(key: str, value: Any) -> Any:
    match value:
        case None | bool():
            return value
        case str():
            return str(value)
        case int():
            return int(value)
        case float() if math.isfinite(value):
            return float(value)
        case list() | tuple():
            return [_plain(key, element) for element in value]
        case Mapping() if all(isinstance(inner, str) for inner in value):
            return {str(inner): _plain(key, element) for inner, element in value.items()}
        case _:
            raise CheckProblem(f"`{key}` has {shown(str(value))}, which JSON can't hold; put it in quotes", key=key)


def _problem(definition: CheckDefinition, error: ValidationError) -> CheckProblem:
    # An unknown option explains best: a misspelt one also makes the right one missing.
    first = min(error.errors(), key=lambda each: each["type"] != "extra_forbidden")
    cause = first.get("ctx", {}).get("error")
    if isinstance(cause, CheckProblem):
        return cause
    key = str(first["loc"][0]) if first["loc"] else ""
    names = [field.alias or name for name, field in definition.options.model_fields.items()]
    if first["type"] == "extra_forbidden":
        return CheckProblem(f"{definition.name} has no option {key!r}{_instead(key, names)}", key=key)
    if first["type"] == "missing":
        return CheckProblem(f"{definition.name} needs the option `{key}`", key=key)
    reason = str(cause) if cause else first["msg"][:1].lower() + first["msg"][1:]
    return CheckProblem(f"`{key}` of {definition.name}: {reason} (it is {shown(first['input'])})", key=key)


def _instead(name: str, known: Iterable[str]) -> str:
    known = sorted(known)
    near = get_close_matches(name.lower(), known, n=1, cutoff=0.5)
    return (f"; did you mean {near[0]!r}?" if near else ";") + f" there are: {', '.join(known)}"
