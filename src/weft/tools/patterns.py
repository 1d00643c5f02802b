"""Patterns for paths, the same in rules and in Glob: `*` and `?` within a name, `**` over folders, `[abc]`, `{a,b}`.

A pattern without a `/` is about the name, in whatever folder it is.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

LENGTH_LIMIT: Final = 500
CHOICE_LIMIT: Final = 64


class PatternError(ValueError):
    """What is wrong with a pattern, in words."""


@lru_cache(maxsize=512)
def path_pattern(pattern: str, *, fold: bool = False) -> re.Pattern[str]:
    """Matches whole paths written with `/`. `fold`: large and small letters are the same."""
    if len(pattern) > LENGTH_LIMIT:
        raise PatternError(f"the pattern is longer than {LENGTH_LIMIT} characters")
    choices = _choices(pattern.removeprefix("./"))
    body = "|".join(_one(choice if "/" in choice else f"**/{choice}") for choice in choices)
    return re.compile(rf"(?s:{body})\Z", re.IGNORECASE if fold else 0)


def _choices(pattern: str) -> list[str]:
    """The patterns that `{a,b}` stands for."""
    found = re.search(r"\{([^{}]*)\}", pattern)
    if not found:
        return [pattern]
    choices: list[str] = []
    for part in found[1].split(","):
        choices += _choices(pattern[: found.start()] + part + pattern[found.end() :])
        if len(choices) > CHOICE_LIMIT:
            raise PatternError(f"the pattern stands for more than {CHOICE_LIMIT} others")
    return choices


def _one(pattern: str) -> str:
    text, at = "", 0
    while at < len(pattern):
        if pattern.startswith("**/", at) and (at == 0 or pattern[at - 1] == "/"):
            text += r"(?:[^/]*/)*"
            at += 3
        elif pattern.startswith("**", at):
            text += r".*"
            at += 2
        elif pattern[at] == "*":
            text += r"[^/]*"
            at += 1
        elif pattern[at] == "?":
            text += r"[^/]"
            at += 1
        elif pattern[at] == "[" and (end := pattern.find("]", at + 2)) > 0:
            inside = pattern[at + 1 : end]
            negated = inside[0] in "!^"
            letters = re.sub(r"([\\\[\]&~|])", r"\\\1", inside[1:] if negated else inside)
            text += f"(?!/)[{'^' if negated else ''}{letters}]"
            at = end + 1
        else:
            text += re.escape(pattern[at])
            at += 1
    try:
        re.compile(text)
    except re.error as error:
        raise PatternError(f"the pattern {pattern!r} can't be read: {error}") from error
    return text
