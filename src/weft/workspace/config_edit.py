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
_ROLES: Final = pattern(r"[ \t]*\[[ \t]*roles[ \t]*\]")


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


def with_role(text: str, role: str, reference: str) -> str:
    """The text with a role of `[roles]` set; "" takes it away."""
    lines = text.splitlines(keepends=True)
    head = next((at for at, line in enumerate(lines) if _ROLES.match(line)), None)
    written = [f"{role} = {_written(reference)}\n"] if reference else []
    if head is None:
        before = text.rstrip()
        made = (before + "\n\n" if before else "") + "".join(["[roles]\n", *written]) if reference else text
    else:
        end = next((at for at in range(head + 1, len(lines)) if _HEADER.match(lines[at])), len(lines))
        said = re.compile(rf"""[ \t]*["']?{re.escape(role)}["']?[ \t]*=""")
        at = next((at for at in range(head + 1, end) if said.match(lines[at])), None)
        kept = lines[head + 1 : end] if at is None else [*lines[head + 1 : at], *lines[at + 1 : end]]
        begin = lines[head] if lines[head].endswith("\n") else lines[head] + "\n"
        made = "".join([*lines[:head], begin, *written, *kept, *lines[end:]])

    def expected(value: dict[str, Any]) -> None:
        roles = value.setdefault("roles", {})
        roles.pop(role, None)
        if reference:
            roles[role] = reference

    return _checked(text, made, expected, f"set {role} under [roles]")


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
