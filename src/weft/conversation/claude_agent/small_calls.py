"""One question to the runtime, as a model: in an empty folder of its own, with nothing kept.

Titles, summaries, `weft models test` and values of a schema go this way, never through the folder of a conversation:
a second writer there would spoil the transcript that it resumes from. A tool call ends the answer, as with any model.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import aclosing
from pathlib import Path
from typing import Any, Final

from weft.conversation.claude_agent.message_reader import HeardTurn
from weft.conversation.claude_agent.options import OwnTool, Reach, Start
from weft.conversation.claude_agent.runtime import MAIN, NOT_LET_THROUGH, OWN, Runtime
from weft.conversation.claude_agent.runtime_conversation import RuntimeConnection, RuntimeConversation, Setup
from weft.conversation.step_files import Judge, make_files
from weft.models.file_making import FilesMade, FilesRequest
from weft.models.model import ModelError, Part, Request
from weft.models.structured import Way
from weft.protocol.messages import Media, Message, Text, Thinking, ToolCall, ToolResult
from weft.protocol.values import dataclass
from weft.tools.processes import to_the_end
from weft.tools.tool import Context
from weft.tools.toolbox import Toolbox

FILE_TOOLS: Final = ("Read", "Write", "Edit", "Glob", "Grep")
"""What it has of its own in a step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaudeAgent:
    """A connection of the kind claude-agent. Whoever runs conversations or steps on it takes what it holds."""

    reach: Reach
    output_ways: tuple[Way, ...] = ("tool", "prompted")

    @property
    def name(self) -> str:
        return self.reach.name

    @property
    def window(self) -> int:
        return self.reach.window

    async def stream(self, request: Request) -> AsyncIterator[Part]:
        with tempfile.TemporaryDirectory(prefix="weft-claude-") as made:
            working, folder = Path(made) / "work", Path(made) / "own"
            working.mkdir()
            start = Start(
                model=self.reach.model,
                working=working,
                folder=folder,
                system=request.system or "Answer.",
                tools=(),
                own_tools=tuple(_tool(spec.name, spec.description, spec.input_schema) for spec in request.tools),
                keep=False,
                bare=True,
                thinking=request.thinking != "off",
            )
            runtime = Runtime(start, self.reach)
            try:
                await runtime.begin()
                await runtime.send(_told(request))
                async with aclosing(HeardTurn(runtime, _named).parts(runtime.queues[MAIN])) as parts:
                    async for part in parts:
                        yield part
            finally:
                runtime.stop()
                await to_the_end(runtime.gone())

    async def make(self, ask: FilesRequest) -> FilesMade:
        """A step: the runtime writes the files itself."""

        def speaking(
            context: Context, own: Path, talk: Callable[[], RuntimeConversation], written: Judge
        ) -> RuntimeConnection:
            setup = Setup(
                reach=self.reach,
                folder=own,
                context=context,
                tools=Toolbox(()),
                its_tools=FILE_TOOLS,
                keep=False,
                written=written,
            )
            return RuntimeConnection(setup, talk)

        return await make_files(speaking, "the Claude runtime", ask)

    async def aclose(self) -> None:
        """Every call has ended its own child."""


def _tool(name: str, description: str, schema: Mapping[str, Any]) -> OwnTool:
    async def call(_: Mapping[str, Any]) -> tuple[str, bool]:
        return NOT_LET_THROUGH, True

    return OwnTool(name=name, description=description, input_schema=schema, call=call)


def _named(name: str, given: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    return name.removeprefix(OWN), given


def _told(request: Request) -> str:
    """All messages as one text: the runtime begins every conversation with a message of the person."""
    if request.must_call:
        extra = f"\n\nAnswer with one call of the tool {OWN}{request.must_call}."
    elif request.schema is not None:
        extra = f"\n\nAnswer with one JSON value of this schema and nothing else:\n{json.dumps(dict(request.schema))}"
    else:
        extra = ""
    if len(request.messages) == 1:
        return _text(request.messages[0]) + extra
    told = [f"[{'The person' if one.role == 'user' else 'You'}]\n{_text(one)}" for one in request.messages]
    return "\n\n".join(told) + extra


def _text(message: Message) -> str:
    return "\n\n".join(part for part in map(_part, message.content) if part)


def _part(part: Any) -> str:
    match part:
        case Text():
            return part.text
        case ToolCall():
            return f"[called {part.tool} with {json.dumps(dict(part.input), ensure_ascii=False)}]"
        case ToolResult():
            return f"[{part.tool} gave]\n{part.text}"
        case Thinking():
            return ""
        case Media():
            raise ModelError("invalid_request", "the Claude runtime is given text only in small calls")
    return ""
