"""`weft approve`: answer what a tool of a session waits for, wherever the session is held, also after a restart."""

from __future__ import annotations

import asyncio
import json
import sys

import click

from weft.app import App, SessionRequest, allow_always, open_questions
from weft.cli.place import open_app, workspace_option
from weft.cli.stopping import TERMINAL
from weft.protocol.commands import Refused
from weft.protocol.conversation_commands import DecideApproval
from weft.protocol.conversation_events import Decision
from weft.protocol.errors import EXIT_DONE, UsageError, UserError
from weft.protocol.ids import check_session_id
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
            waiting = open_questions(app, check_session_id(session)).approvals
            for asked in (asked for asked, one in waiting if one.call == call):
                told = allow_always(app.workspace.path, asked.tool, json.dumps(dict(asked.input)))
                print(f"permissions.yaml, allow: {told}", file=sys.stderr)
        return asyncio.run(_approve(app, check_session_id(session), call, decision, reason))


async def _approve(app: App, name: str, call: str | None, decision: Decision, reason: str) -> int:
    waiting = open_questions(app, name).approvals
    if call is None:
        for wanted, one in waiting:
            told = " ".join(str(value) for value in wanted.input.values())
            print(clean(f"{one.call}  {one.conversation}  {one.tool}: {told[:SHOWN]}  ({one.reason})"))
        return EXIT_DONE
    found = [one for _, one in waiting if one.call == call]
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
