"""What a pydantic model says about a document, as sentences with a place, and the document without what was wrong.

`check` goes on after a fault: what is wrong is reported and taken out, so that the rules after it still see the rest
and one look shows every problem of a file. `dropped` tells those rules what they must not draw conclusions from.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import NoneType, UnionType
from typing import Any, Final, Generic, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from weft.protocol.errors import Problem, WorkspaceError
from weft.protocol.values import dataclass
from weft.workspace.document import MarkedDocument, Path, describe, in_order, shortened
from weft.workspace.fields import FAULT
from weft.workspace.spelling import listed, nearest, suggest

Model = TypeVar("Model", bound=BaseModel)


@dataclass(frozen=True)
class Checked(Generic[Model]):
    model: Model | None
    """None when not even the rest could be read."""
    problems: list[Problem]
    dropped: frozenset[Path]

    def good(self, document: MarkedDocument, more: Iterable[Problem] = ()) -> Model:
        """The model when nothing is wrong; WorkspaceError with all that is. `more`: what rules have found besides."""
        problems = [*document.problems, *self.problems, *more]
        if problems or self.model is None:
            raise WorkspaceError(in_order(problems, document.file))
        return self.model


def check(model: type[Model], document: MarkedDocument, fillers: Mapping[str, Any] | None = None) -> Checked[Model]:
    """`fillers` stand in for required top-level keys that are missing or bad, so that the rest can still be checked."""
    if not isinstance(document.value, dict):
        message = f"this must be a mapping of keys to values, not {describe(document.value)}"
        hint = f"the keys are: {listed(key_names(model))}"
        return Checked(None, [document.at_value((), message, hint)], frozenset())
    value = copy.deepcopy(document.value)
    problems: dict[Problem, None] = {}
    dropped: set[Path] = set()
    for path in document.unreadable:
        _take_out(value, path, "unreadable", fillers or {}, dropped)
    while True:
        try:
            return Checked(model.model_validate(value), list(problems), frozenset(dropped))
        except ValidationError as error:
            details = error.errors(include_url=False, include_context=True)
        dropped |= _misspelt(model, details)
        for detail in details:
            if detail["type"] != "missing" or detail["loc"] not in dropped:
                problems[problem_of(model, document, detail)] = None
        changed = [
            _take_out(value, _clean(detail["loc"]), detail["type"], fillers or {}, dropped) for detail in details
        ]
        if not any(changed):
            return Checked(None, list(problems), frozenset(dropped))


def _misspelt(model: type[BaseModel], details: Sequence[ErrorDetails]) -> set[Path]:
    """The keys that unknown keys were probably meant to be: their absence is not a second problem."""
    meant: set[Path] = set()
    for detail in details:
        *around, name = _clean(detail["loc"])
        owner = model_at(model, tuple(around)) if detail["type"] == "extra_forbidden" else None
        if owner and (close := nearest(str(name), key_names(owner))):
            meant.add((*around, close))
    return meant


def _take_out(value: Any, path: Path, kind: str, fillers: Mapping[str, Any], dropped: set[Path]) -> bool:
    """Remove what a fault is about. False when there is nothing left that could be removed."""
    if len(path) == 1 and path[0] in fillers and value.get(path[0]) is not fillers[str(path[0])]:
        value[path[0]] = fillers[str(path[0])]
        dropped.add(path)
        return True
    if kind == "missing":
        path = path[:-1]
    while path and isinstance(path[-1], int):
        path = path[:-1]
    for part in path[:-1]:
        value = value.get(part) if isinstance(value, dict) else None
    if not path or not isinstance(value, dict) or path[-1] not in value:
        return False
    dropped.add(path)
    del value[path[-1]]
    return True


def _clean(location: tuple[str | int, ...]) -> Path:
    return tuple(part for part in location if part != "[key]")


# -- one fault, one sentence


def problem_of(model: type[BaseModel], document: MarkedDocument, detail: ErrorDetails) -> Problem:
    path, on_key, message, hint = fault_in(model, detail)
    return document.at_key(path, message, hint) if on_key else document.at_value(path, message, hint)


def fault_in(model: type[BaseModel], detail: ErrorDetails) -> tuple[Path, bool, str, str]:
    """The place below the model, whether the key or the value there is meant, the sentence and the hint."""
    path, kind, context = _clean(detail["loc"]), detail["type"], detail.get("ctx", {})
    name = str(path[-1]) if path else ""
    if kind == "missing":
        description = field_description(model, path)
        return path, True, f"'{name}' is missing", f"add '{name}': {description}" if description else ""
    if kind == "extra_forbidden":
        owner = model_at(model, path[:-1])
        return path, True, f"unknown key '{name}'", suggest(name, key_names(owner), "keys") if owner else ""
    message, hint = _sentence(kind, context, detail["input"], detail["msg"])
    if kind in ("model_type", "model_attributes_type") and (inner := model_at(model, path)):
        hint = f"the keys are: {listed(key_names(inner))}"
    return path, False, message, hint or field_description(model, path)


_EXPECTED: Final = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "list_type": "a list, such as [a, b]",
    "dict_type": "a mapping of names to values",
    "model_type": "a mapping of keys to values",
    "model_attributes_type": "a mapping of keys to values",
}
_BOUNDS: Final[Mapping[str, Callable[[Mapping[str, Any]], str]]] = {
    "greater_than_equal": lambda context: f"must be at least {context['ge']}",
    "less_than_equal": lambda context: f"must be at most {context['le']}",
    "greater_than": lambda context: f"must be more than {context['gt']}",
    "less_than": lambda context: f"must be less than {context['lt']}",
}


def _sentence(kind: str, context: Mapping[str, Any], value: Any, fallback: str) -> tuple[str, str]:
    if kind in _EXPECTED:
        return f"must be {_EXPECTED[kind]}, not {describe(value)}", ""
    if kind in _BOUNDS:
        return f"{_BOUNDS[kind](context)}, not {value}", ""
    if kind == "too_short" and context["min_length"] > 1 and context["actual_length"]:
        return f"must have at least {context['min_length']} entries, not {context['actual_length']}", ""
    if kind in ("string_too_short", "too_short"):
        return "may not be empty", ""
    if kind == "literal_error":
        good = [word.strip("' ") for word in context["expected"].replace(" or ", ", ").split(",")]
        hint = f"did you mean '{close}'?" if (close := nearest(str(value), good)) else ""
        return f"{shortened(str(value))} is not one of {listed(good)}", hint
    if kind == FAULT:
        return context["message"], context["hint"]
    return f"is not valid: {fallback}", ""


# -- looking into models


def key_names(model: type[BaseModel]) -> list[str]:
    return [info.alias or name for name, info in model.model_fields.items()]


def model_at(model: type[BaseModel], path: Path) -> type[BaseModel] | None:
    """The model that describes the mapping at `path`, through fields and through maps and lists of models."""
    current: Any = model
    for part in path:
        if isinstance(current, type) and issubclass(current, BaseModel):
            current = _annotations(current).get(str(part))
        elif get_origin(current) is dict:
            current = get_args(current)[1]
        elif get_origin(current) is list and isinstance(part, int):
            current = get_args(current)[0]
        else:
            return None
        current = _given(current)
    return current if isinstance(current, type) and issubclass(current, BaseModel) else None


def _given(annotation: Any) -> Any:
    """What stands there when the key is given: `None` only says that it may be left out."""
    if get_origin(annotation) not in (Union, UnionType):
        return annotation
    kinds = [kind for kind in get_args(annotation) if kind is not NoneType]
    return kinds[0] if len(kinds) == 1 else annotation


def field_description(model: type[BaseModel], path: Path) -> str:
    """What the nearest described key around `path` is for, as a hint; the models describe every key."""
    while path:
        owner = model_at(model, path[:-1])
        for name, info in owner.model_fields.items() if owner else ():
            if path[-1] == (info.alias or name):
                text = info.description or ""
                return text[:1].lower() + text[1:]
        path = path[:-1]
    return ""


def _annotations(model: type[BaseModel]) -> dict[str, Any]:
    return {info.alias or name: info.annotation for name, info in model.model_fields.items()}
