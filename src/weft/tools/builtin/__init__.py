"""The tools that are always there. `builtin_tools` is the whole list, in the order a person and a model see it."""

from __future__ import annotations

from weft.tools.builtin.files import EDIT, MULTI_EDIT, READ, WRITE
from weft.tools.builtin.people import ASK_USER, SKILL, SUBMIT_PLAN, TASK, TODO_WRITE
from weft.tools.builtin.search import GLOB, GREP
from weft.tools.builtin.shell import SHELL, SHELL_OUTPUT, SHELL_STOP
from weft.tools.builtin.web import Fetcher, web_fetch
from weft.tools.fetch import fetch
from weft.tools.tool import Tool

__all__ = ["builtin_tools"]


def builtin_tools(fetcher: Fetcher = fetch) -> tuple[Tool, ...]:
    return (
        *(READ, WRITE, EDIT, MULTI_EDIT, GLOB, GREP, SHELL, SHELL_OUTPUT, SHELL_STOP),
        *(web_fetch(fetcher), SKILL, TASK, TODO_WRITE, ASK_USER, SUBMIT_PLAN),
    )
