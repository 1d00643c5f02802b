"""The kinds of values people write, each with its faults in words. No key that is there may be left without a value."""

from __future__ import annotations

import math
from datetime import datetime
from typing import Annotated, Any, Final

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from weft.protocol.patterns import pattern
from weft.workspace.document import describe

FAULT: Final = "fault"
"""The error type of the validators here; explain.py shows its message and hint as they are."""


class Strict(BaseModel):
    """The base of everything people write: no unknown keys, no silent conversion."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, defer_build=True)


def fault(message: str, hint: str = "") -> Exception:
    """What a validator raises."""
    return PydanticCustomError(FAULT, "{message}", {"message": message, "hint": hint})


HOST: Final = pattern(r"(\*\.)?[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]{1,5})?\Z")
"""A host that may be reached: by name, with a port of its own, or all below one."""
_DURATION: Final = pattern(r"([0-9]+(?:\.[0-9]+)?)\s*(s|m|h|d)\Z")
_PERCENT: Final = pattern(r"([0-9]{1,3}(?:\.[0-9]+)?)\s*%\Z")
_SECONDS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def _version(value: Any) -> str:
    if isinstance(value, float):
        raise fault(f"{value} could also be read as a number", f'put it in quotes: "{value}"')
    if isinstance(value, bool) or not isinstance(value, int | str) or value == "":
        raise fault(f"must be a whole number or text, not {describe(value)}")
    return str(value)


def _seconds(value: Any) -> float:
    found = _DURATION.match(value) if isinstance(value, str) else None
    if found:
        value = float(found[1]) * _SECONDS[found[2]]
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise fault(f"must be a time, not {describe(value)}", 'write seconds, or a time such as "90s", "5m", "1h"')
    if value <= 0 or not math.isfinite(value):
        raise fault(f"must be more than 0 seconds, not {value:g}")
    return float(value)


def _moment(value: Any) -> str:
    """A time with a zone of its own, or one of the place where the run is."""
    try:
        datetime.fromisoformat(value)
    except (TypeError, ValueError):
        hint = "write it as 2026-12-01T09:00, with a zone (+01:00, Z) unless it is the local time"
        raise fault(f"must be a date and a time, not {describe(value)}", hint) from None
    return str(value)


def _number(value: Any) -> int | float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise fault(f"must be a number, not {describe(value)}")
    return value


def _share(value: Any) -> int | str:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    if isinstance(value, str) and (found := _PERCENT.match(value)) and float(found[1]) <= 100:
        return value
    raise fault(f"must be a number or a share, not {describe(value)}", 'write 3, or "10%"')


def _given(value: Any) -> Any:
    """A key may be left out; a key that is there has a value."""
    if value is None:
        raise fault("has no value", "write one, or remove the key")
    return value


def _schema_files(value: Any) -> str | dict[str, str]:
    if isinstance(value, str) and value:
        return value
    if isinstance(value, dict) and value and all(isinstance(file, str) for file in value.values()):
        return dict(value)
    raise fault("must be a file in schemas/, or a mapping of artifacts to such files")


def _name_list(value: Any) -> list[str]:
    names = value.split(",") if isinstance(value, str) else value
    if not isinstance(names, list) or not all(isinstance(name, str) and name.strip() for name in names):
        raise fault(f"must be a list of names, not {describe(value)}", "write [a, b], or: a, b")
    return [name.strip() for name in names]


def _check_entry(value: Any) -> dict[str, dict[str, Any]]:
    if isinstance(value, str) and value:
        return {value: {}}
    if not isinstance(value, dict) or not value:
        raise fault(f"must be a check's name with its options, not {describe(value)}")
    if len(value) > 1:
        hint = f"indent the options of '{next(iter(value))}' under it, or begin each check with its own '-'"
        raise fault("one entry holds one check", hint)
    ((name, options),) = value.items()
    if options is not None and not isinstance(options, dict):
        raise fault(f"the options of '{name}' must be a mapping of keys to values, not {describe(options)}")
    return {name: dict(options or {})}


Text = Annotated[str, Field(min_length=1)]
Given = BeforeValidator(_given)
OptionalText = Annotated[Text | None, Given]
OptionalNames = Annotated[list[Text] | None, Given]
NameList = Annotated[list[str], PlainValidator(_name_list)]
Version = Annotated[str, PlainValidator(_version), WithJsonSchema({"type": ["integer", "string"]})]
Seconds = Annotated[
    float,
    PlainValidator(_seconds),
    WithJsonSchema(
        {"anyOf": [{"type": "number", "exclusiveMinimum": 0}, {"type": "string", "pattern": "^[0-9.]+ *[smhd]$"}]}
    ),
]
Moment = Annotated[str, PlainValidator(_moment), WithJsonSchema({"type": "string"})]
Share = Annotated[
    int | str, PlainValidator(_share), WithJsonSchema({"anyOf": [{"type": "integer"}, {"type": "string"}]})
]
Number = Annotated[int | float, PlainValidator(_number), WithJsonSchema({"type": "number"})]
SchemaFiles = Annotated[
    str | dict[str, str],
    PlainValidator(_schema_files),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "object", "additionalProperties": {"type": "string"}}]}),
]
CheckEntry = Annotated[
    dict[str, dict[str, Any]],
    PlainValidator(_check_entry),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string"},
                {
                    "type": "object",
                    "minProperties": 1,
                    "maxProperties": 1,
                    "additionalProperties": {"type": ["object", "null"]},
                },
            ]
        }
    ),
]
