"""`weft tools`: what a model may call, and what the permission rules say to a call."""

from __future__ import annotations

import json
import sys
from functools import partial
from typing import get_args

import click

from weft.app import allow_always, tools_listed
from weft.app import judge_call as judge
from weft.cli.place import ListingGroup, json_option, print_list, workspace_option, workspace_path
from weft.protocol.commands import Mode
from weft.render.cells import clean_lines


@click.group("tools", cls=ListingGroup)
def command() -> None:
    """List the tools a model may call, and judge a call."""


@command.command("list")
@click.option("--kb", metavar="NAME", help="With the tools of this collection (default: `kb` in config.toml).")
@json_option
@workspace_option
def list_tools(kb: str | None, as_json: bool) -> None:
    """Every tool with its kind and what it does, exactly as a model is told."""
    listed = tools_listed(workspace_path(), kb)
    print_list([(one, (one["name"], one["effect"], one["description"])) for one in listed], as_json=as_json)


@command.command("judge")
@click.argument("subject")
@click.option("--tool", default="Shell", help="The tool's name (default: Shell).")
@click.option("--mode", type=click.Choice(get_args(Mode)), default="ask", help="The mode (default: ask).")
@click.option("--tainted", is_flag=True, help="As if content from outside were in the conversation.")
@json_option
@workspace_option
def judge_call(subject: str, tool: str, mode: Mode, tainted: bool, as_json: bool) -> None:
    """What the rules of the workspace say to a call, and which of them. Nothing is run.

    SUBJECT is the command for Shell, the address for WebFetch, the path for tools of files, and for any tool its whole
    input as a JSON object.
    """
    note = partial(print, file=sys.stderr)
    ruling = judge(workspace_path(), tool, subject, mode, tainted=tainted, tell=note)
    if as_json:
        told = {name: getattr(ruling, name) for name in ("decision", "reason", "rule", "file", "remember_key")}
        always = ruling.always.model_dump(exclude_defaults=True) if ruling.always else None
        print(json.dumps({**told, "needs": sorted(ruling.needs), "always": always}))
    else:
        print(clean_lines(f"{ruling.decision}: {ruling.reason}\n  rule: {ruling.rule} ({ruling.file})"))
        if ruling.remember_key:
            print(clean_lines(f"  for this session it would be remembered as: {ruling.remember_key}"))
        if ruling.needs and ruling.decision != "deny":
            print(f"  opened for it in the boundary: {', '.join(sorted(ruling.needs))}")


@command.command("allow")
@click.argument("subject")
@click.option("--tool", default="Shell", help="The tool's name (default: Shell).")
@workspace_option
def allow(subject: str, tool: str) -> None:
    """Write the rule that spares the question about such calls into permissions.yaml, and print it."""
    print(allow_always(workspace_path(), tool, subject))
