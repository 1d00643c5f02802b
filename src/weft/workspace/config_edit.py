"""Small changes to the text of config.toml that leave all else in it as it is: comments, order, spacing. Pure.

Each change is made in the text and then checked by reading it: when the result would be anything but the change that
was asked for, nothing is changed and the person is told to do it by hand.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Mapping
from typing import Any, Final

from weft.protocol.errors import UserError
from weft.protocol.patterns import pattern

_HEADER: Final = pattern(r"[ \t]*\[")
_DEFAULT: Final = pattern(r"[ \t]*model[ \t]*=")


def with_table(text: str, name: str, values: Mapping[str, str | int | list[str]]) -> str:
    """The text with `[models.NAME]` at its end, in place of the one it had."""
    if name in tomllib.loads(text).get("models", {}):
        text = without_table(text, name)
    lines = [f"[models.{name}]", *(f"{key} = {_written(value)}" for key, value in values.items())]
    before = text.rstrip()
    made = (before + "\n\n" if before else "") + "\n".join(lines) + "\n"

    def expected(value: dict[str, Any]) -> None:
        value.setdefault("models", {})[name] = dict(values)

    return _checked(text, made, expected, f"add [models.{name}]")


def without_table(text: str, name: str) -> str:
    lines = text.splitlines(keepends=True)
    kept: list[str] = []
    inside = False
    for line in lines:
        if _HEADER.match(line):
            inside = bool(
                re.match(rf"""[ \t]*\[[ \t]*models[ \t]*\.[ \t]*["']?{re.escape(name)}["']?[ \t]*[.\]]""", line)
            )
        if not inside:
            kept.append(line)

    def expected(value: dict[str, Any]) -> None:
        value.get("models", {}).pop(name, None)

    return _checked(text, "".join(kept), expected, f"remove [models.{name}]")


def with_default(text: str, reference: str) -> str:
    """The text with the top-level `model` set."""
    written = f"model = {_written(reference)}\n"
    lines = text.splitlines(keepends=True)
    top = next((at for at, line in enumerate(lines) if _HEADER.match(line)), len(lines))
    at = next((at for at in range(top) if _DEFAULT.match(lines[at])), None)
    if at is None:
        made = written + text
    else:
        made = "".join([*lines[:at], written, *lines[at + 1 :]])

    def expected(value: dict[str, Any]) -> None:
        value["model"] = reference

    return _checked(text, made, expected, f"set model = {_written(reference)}")


def _written(value: str | int | list[str]) -> str:
    return str(value) if isinstance(value, int) else json.dumps(value, ensure_ascii=False)


def _checked(before: str, after: str, change: Callable[[dict[str, Any]], None], what: str) -> str:
    wanted = tomllib.loads(before)
    change(wanted)
    try:
        is_right = _without_empty(tomllib.loads(after)) == _without_empty(wanted)
    except tomllib.TOMLDecodeError:
        is_right = False
    if not is_right:
        raise UserError(
            f"config.toml is written in a way that can't be changed safely: {what} by hand",
            hint="nothing was changed",
        )
    return after


def _without_empty(value: dict[str, Any]) -> dict[str, Any]:
    return {key: item for key, item in value.items() if item != {}}
