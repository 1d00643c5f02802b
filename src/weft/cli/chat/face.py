"""`weft chat`: a conversation in a terminal, or in plain lines where there is none.

The face decides nothing: what it shows is folded from events (`render/conversation_view.py`), what a person does
becomes a command. Leaving lets go of the conversation in order; one that waits for an approval is left as it is, so
that it can still be answered.
"""

from __future__ import annotations

import sys

from weft.cli.chat.plain import run_plain
from weft.cli.chat.ports import ChatSession
from weft.cli.place import is_terminal


async def run_chat(
    session: ChatSession,
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
        return await run_plain(session, message=message, whole_input=whole_input, program=program)
    from weft.cli.chat.screen import ChatScreen

    return await ChatScreen(session, program=program).run(message)
