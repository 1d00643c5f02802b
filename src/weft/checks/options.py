"""How a check is defined: its options, a pydantic model that forbids what it doesn't know, and where it looks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, PlainValidator

from weft.checks.contract import CheckInput, document_names
from weft.checks.faults import Fault
from weft.checks.paths import Gap, ValuePath, ValuePlace, find, parse_path
from weft.protocol.values import dataclass


def _paths(value: object) -> tuple[ValuePath, ...]:
    texts = value if isinstance(value, list | tuple) else [value]
    paths = tuple(parse_path(text) for text in texts if isinstance(text, str))
    if not paths or len(paths) != len(texts):
        raise ValueError("a path, or a list of paths, such as quotes[*].text")
    return paths


def _path(value: object) -> ValuePath:
    if not isinstance(value, str):
        raise ValueError("one path, such as contentId")
    path = parse_path(value)
    if path.many:
        raise ValueError(f"{value!r} leads to many values; a path to one value is needed, without [*]")
    return path


Paths = Annotated[tuple[ValuePath, ...], PlainValidator(_paths, json_schema_input_type=str | list[str])]
OnePath = Annotated[ValuePath, PlainValidator(_path, json_schema_input_type=str)]
DocumentNames = Annotated[tuple[str, ...], PlainValidator(document_names, json_schema_input_type=str | list[str])]


WHOLE: Final[Any] = ""
"""The default of a path, as a person would write it: it goes through the same validation."""


class CheckOptions(BaseModel):
    """What every check has: where to look."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, validate_default=True, allow_inf_nan=False, defer_build=True
    )

    at: Paths = Field(
        default=WHOLE, description="Where to look: a path or a list of paths; left out, the whole artifact."
    )

    def reads(self) -> tuple[str, ...]:
        """The names of the documents it needs."""
        return ()


class OptionalData(CheckOptions):
    """Options of a check that has nothing to say where there is nothing to check."""

    required: bool = Field(default=False, description="Whether it is a fault when the paths lead to nothing.")


@dataclass(frozen=True)
class CheckDefinition:
    name: str
    summary: str
    options: type[CheckOptions]
    function: Callable[[Any, CheckInput], Iterator[Fault]]


def look(options: CheckOptions, value: Any, *, null_is_value: bool = False) -> list[ValuePlace | Fault]:
    """The places a check has to test, each once, and the faults in getting there, in the order of the artifact."""
    required = options.required if isinstance(options, OptionalData) else True
    found: dict[tuple[str | None, str], ValuePlace | Fault] = {}
    for path in options.at:
        if isinstance(value, str) and path.parts:
            found[path.text, ""] = _text_has_no_parts(path)
            continue
        for item in find(path, value):
            if isinstance(item, ValuePlace) and item.value is None and not null_is_value:
                item = Gap(item.pointer, "it is null")
            if isinstance(item, ValuePlace):
                found.setdefault((None, item.pointer), item)
            elif item.misshapen:
                hint = f"give it the shape in which `{path.text}` leads somewhere"
                message = f"can't look for `{path.text}` here: {item.why}"
                found[path.text, item.pointer] = Fault(item.pointer, message, hint)
            elif required:
                name = f"`{path.text}`" if path.parts else "the artifact"
                message = f"nothing for {name} here: {item.why}"
                found[path.text, item.pointer] = Fault(item.pointer, message, "put in what is missing")
    return list(found.values())


def _text_has_no_parts(path: ValuePath) -> Fault:
    hint = "a check of a text leaves `at` out; this is for the author of the pipeline"
    return Fault("", f"the artifact is text as a whole and has no `{path.text}`", hint)
