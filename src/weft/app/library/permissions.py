"""Which tools a model may call in a workspace, and what its permission rules say to a call. Nothing is run."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from weft.protocol.errors import UsageError, UserError
from weft.protocol.json_text import json_value
from weft.protocol.messages import ToolCall
from weft.tools.boundary import boundary_here
from weft.tools.builtin import builtin_tools
from weft.tools.permission import Mode, Ruling, judge
from weft.tools.permission_file import app_rules
from weft.tools.shell.needs import Ground
from weft.tools.toolbox import Toolbox


def tools_listed(path: Path, collection: str | None = None) -> list[dict[str, Any]]:
    """Every tool exactly as a model is told of it. Without a workspace only the built-in ones: there is nothing else to
    offer."""
    if collection is None and not path.is_dir():
        return Toolbox(builtin_tools()).listing()
    from weft.app.root import App

    with App.open(path) as app, ExitStack() as opened:
        knowledge = app.knowledge(collection)
        if knowledge is not None:
            opened.enter_context(knowledge)
        return app.toolbox(knowledge, project=Path.cwd()).switched_on().listing()


def judge_call(
    path: Path,
    tool: str,
    subject: str,
    mode: Mode,
    *,
    tainted: bool = False,
    tell: Callable[[str], None] = lambda _: None,
) -> Ruling:
    """`subject`: what the tool is about (a command, an address, a path), or its whole input as a JSON object.
    `tell` hears of rules that are not in force, since nobody agreed to them."""
    toolbox, rules = Toolbox(builtin_tools()), app_rules()
    if path.is_dir():
        from weft.app.root import App

        with App.open(path) as app:
            toolbox, rules = app.toolbox(project=Path.cwd()), app.rules()
            if not_used := app.rules_not_used():
                tell(not_used)
    known = toolbox.get(tool)
    call = ToolCall(call="", tool=tool, input=_input(subject, known.subject[1] if known and known.subject else None))
    ground = Ground(str(Path.cwd()), os.environ.get("HOME", ""), boundary_here().strength)
    taint = ("content from outside",) if tainted else ()
    return judge(call, known, mode=mode, rules=rules, taint=taint, ground=ground)


def allow_always(path: Path, tool: str, subject: str) -> str:
    """Write the rule that spares the question about a call from now on; the rule, as it stands in the file. UserError
    when there is no such rule: what is dangerous is asked about each time."""
    ruling = judge_call(path, tool, subject, "ask")
    if ruling.decision == "allow":
        raise UserError("this is not asked about", hint=f"{ruling.reason} ({ruling.rule}, {ruling.file})")
    if ruling.always is None:
        raise UserError("there is no rule that would spare this question", hint=ruling.reason)
    from weft.app.root import App

    with App.open(path) as app:
        app.allow_from_now_on(ruling.always)
    return ruling.always.told


def _input(subject: str, key: str | None) -> dict[str, object]:
    if subject.startswith("{"):
        try:
            value = json_value(subject)
        except ValueError as error:
            raise UsageError(f"the input is not a JSON object: {error}") from error
        if isinstance(value, dict):
            return value
    return {key: subject} if key else {}
