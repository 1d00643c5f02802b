"""`weft approve`: answer what a tool of a session waits for, wherever the session is held, also after a restart."""

from __future__ import annotations

import asyncio
import json
import sys

import click

from weft.app import App, SessionRequest, allow_always
from weft.cli.place import open_app, workspace_option
from weft.cli.stopping import TERMINAL
from weft.protocol.commands import Refused
from weft.protocol.errors import EXIT_DONE, UsageError, UserError
from weft.protocol.ids import check_session_id
from weft.protocol.talk import ApprovalDecided, ApprovalRequested, Decision, ToolRequested, ToolSettled
from weft.protocol.talk_commands import DecideApproval
from weft.render.cells import clean

SHOWN = 200


@click.command("approve")
@click.argument("session")
@click.argument("call", required=False)
@click.option("--deny", is_flag=True, help="Say no.")
@click.option("--session-long", "always", is_flag=True, help="Allow the like of it for the rest of the session.")
@click.option("--always", "by_rule", is_flag=True, help="Allow the like of it from now on, by a rule that is shown.")
@click.option("--reason", metavar="TEXT", default="", help="What the model is told of a no.")
@workspace_option
def command(
    session: str, call: str | None, deny: bool, always: bool, by_rule: bool, reason: str, workspace: str | None
) -> int:
    """Allow a call of a tool that waits for you, or deny it; without CALL, list what waits.

    A session that nobody holds is opened for it, and goes on as far as that lets it.
    """
    if deny and (always or by_rule):
        raise UsageError("--deny and an approval contradict each other")
    if by_rule and call is None:
        raise UsageError("--always needs the call that is meant", hint=f"weft approve {session} lists what waits")
    decision: Decision = "denied" if deny else "session" if always else "once"
    with open_app(workspace) as app:
        if by_rule:
            wanted = [asked for one, asked in _waiting(app, check_session_id(session)) if one.call == call and asked]
            for asked in wanted:
                told = allow_always(app.workspace.path, asked.tool, json.dumps(dict(asked.input)))
                print(f"permissions.yaml, allow: {told}", file=sys.stderr)
        return asyncio.run(_approve(app, check_session_id(session), call, decision, reason))


async def _approve(app: App, name: str, call: str | None, decision: Decision, reason: str) -> int:
    open_calls = _waiting(app, name)
    if call is None:
        for one, wanted in open_calls:
            told = " ".join(str(value) for value in wanted.input.values()) if wanted else ""
            print(clean(f"{one.call}  {one.conversation}  {one.tool}: {told[:SHOWN]}  ({one.reason})"))
        return EXIT_DONE
    found = [one for one, _ in open_calls if one.call == call]
    if not found:
        raise UserError(f"no call {call} waits for you in {name}", hint=f"weft approve {name} lists what waits")
    (asked, *_) = found
    command = DecideApproval(conversation=asked.conversation, call=call, decision=decision, reason=reason)
    talks = asked.conversation.partition("/")[0] == "main"
    async with app.session(SessionRequest(session=name, talk=talks)) as session:
        reply = await session.submit(command, by=TERMINAL)
        if isinstance(reply, Refused):
            raise reply.error()
        await session.rest()
    return EXIT_DONE


def _waiting(app: App, name: str) -> list[tuple[ApprovalRequested, ToolRequested | None]]:
    wanted: dict[tuple[str, str], ToolRequested] = {}
    asked: dict[tuple[str, str], ApprovalRequested] = {}
    for record in app.sessions.records(name):
        match record.event:
            case ToolRequested() as event:
                wanted[event.conversation, event.call] = event
            case ApprovalRequested() as event:
                asked[event.conversation, event.call] = event
            case ApprovalDecided() | ToolSettled() as event:
                asked.pop((event.conversation, event.call), None)
    return [(one, wanted.get(key)) for key, one in asked.items()]
