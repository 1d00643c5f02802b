"""`weft tools`: what a model may call, and what the permission rules say to a call."""

from __future__ import annotations

import json
import os
from contextlib import ExitStack
from pathlib import Path

import click

from weft.app import Folder
from weft.cli.place import json_option, open_app, workspace_option, workspace_path
from weft.protocol.errors import UsageError
from weft.protocol.messages import ToolCall
from weft.tools.boundary import boundary_here
from weft.tools.builtin import builtin_tools
from weft.tools.permission import MODES, Mode, judge
from weft.tools.permission_file import app_rules, read_rules
from weft.tools.shell.needs import Ground
from weft.tools.toolbox import Toolbox


@click.group("tools", invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """List the tools a model may call, and judge a call."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_tools)


@command.command("list")
@click.option("--kb", metavar="NAME", help="With the tools of this collection (default: `kb` in config.toml).")
@json_option
@workspace_option
def list_tools(kb: str | None = None, as_json: bool = False, workspace: str | None = None) -> None:
    """Every tool with its effect and what it does, exactly as a model is told."""
    for entry in _toolbox(kb, workspace).listing():
        if as_json:
            print(json.dumps(entry))
        else:
            print(f"{entry['name']}\t{entry['effect']}\t{entry['description']}")


def _toolbox(kb: str | None, workspace: str | None) -> Toolbox:
    """Without a workspace only the built-in ones: there is nothing else to offer."""
    if kb is None and not workspace_path(workspace).is_dir():
        return Toolbox(builtin_tools())
    with open_app(workspace) as app, ExitStack() as opened:
        knowledge = app.knowledge(kb)
        if knowledge is not None:
            opened.enter_context(knowledge)
        return app.toolbox(knowledge)


@command.command("judge")
@click.argument("subject")
@click.option("--tool", default="Shell", help="The tool's name (default: Shell).")
@click.option("--mode", type=click.Choice(MODES), default="ask", help="The mode (default: ask).")
@click.option("--tainted", is_flag=True, help="As if content from outside were in the conversation.")
@json_option
@workspace_option
def judge_call(subject: str, tool: str, mode: Mode, tainted: bool, as_json: bool, workspace: str | None) -> None:
    """What the rules of the workspace say to a call, and which of them. Nothing is run.

    SUBJECT is the command for Shell, the address for WebFetch, the path for tools of files, and for any tool its whole
    input as a JSON object.
    """
    toolbox = Toolbox(builtin_tools())
    known = toolbox.get(tool)
    given = _input(subject, known.subject[1] if known and known.subject else None)
    path = workspace_path(workspace)
    rules = app_rules()
    if path.is_dir():
        with Folder.open(path) as folder:
            rules = read_rules(folder)
    taint = ("content from outside",) if tainted else ()
    ground = Ground(str(Path.cwd()), os.environ.get("HOME", ""), boundary_here().strength)
    call = ToolCall(call="", tool=tool, input=given)
    verdict = judge(call, known, mode=mode, rules=rules, taint=taint, ground=ground)
    if as_json:
        told = {name: getattr(verdict, name) for name in ("decision", "reason", "rule", "file", "remember_key")}
        always = verdict.always.model_dump(exclude_defaults=True) if verdict.always else None
        print(json.dumps({**told, "needs": sorted(verdict.needs), "always": always}))
    else:
        print(f"{verdict.decision}: {verdict.reason}\n  rule: {verdict.rule} ({verdict.file})")
        if verdict.remember_key:
            print(f"  for this session it would be remembered as: {verdict.remember_key}")
        if verdict.needs and verdict.decision != "deny":
            print(f"  opened for it in the boundary: {', '.join(sorted(verdict.needs))}")


def _input(subject: str, key: str | None) -> dict[str, object]:
    if subject.startswith("{"):
        try:
            value = json.loads(subject)
        except ValueError as error:
            raise UsageError(f"the input is not a JSON object: {error}") from error
        if isinstance(value, dict):
            return value
    return {key: subject} if key else {}
