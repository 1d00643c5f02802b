"""`weft chat`: a conversation in a terminal, or in plain lines where there is none.

The face decides nothing: what it shows is folded from events (`render/conversation_view.py`), what a person does
becomes a command. Leaving lets go of the conversation in order; one that waits for an approval is left as it is, so
that it can still be answered.
"""

from __future__ import annotations

import sys

from weft.app import OpenedSession
from weft.cli.chat.plain import PlainChat
from weft.cli.place import is_terminal


async def run_chat(
    session: OpenedSession,
    *,
    message: str | None = None,
    whole_input: bool = False,
    plain: bool = False,
    program: str = "weft",
) -> int:
    """Until the person leaves; the exit code. The conversation has been let go of when this returns.

    `message` is sent at once. Without a terminal (or `plain`) standard input is read: each line is a message, or all of
    it is one with `whole_input`; a `message` that is given is the only one then. `program` is how the commands that are
    proposed begin.
    """
    if plain or not (is_terminal(sys.stdin) and is_terminal(sys.stdout)):
        attended = message is None and not whole_input and sys.stdin.isatty()
        return await PlainChat(session, attended=attended, program=program).run(message, whole_input)
    from weft.cli.chat.screen import ChatScreen

    return await ChatScreen(session, program=program).run(message)
