"""The session tools as an MCP server: over standard input and output, or over HTTP for those who have a token."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from weft.app.root import App
from weft.app.sessions.session_tools import TOOLS, SessionTools, answer_text
from weft.knowledge.serving import answering_http, serve_stdio
from weft.protocol.envelope import Actor
from weft.protocol.errors import WeftError
from weft.version import __version__

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

ABOUT = (
    "Weft runs pipelines with people in them, on a durable log: what is begun here can be left and taken up again by "
    "anybody. Start a run, follow it with run_state, show the person what it waits for, and read its artifacts."
)


async def serve_sessions(app: App) -> None:
    """On standard input and output, until that ends."""
    async with _tools(app) as tools:
        await serve_stdio(make_session_server(tools))


@asynccontextmanager
async def answering_sessions(app: App, path: str) -> AsyncIterator[Any]:
    """The same over HTTP, as an ASGI app that somebody else stands in front of."""
    async with _tools(app) as tools, answering_http(make_session_server(tools), path) as answering:
        yield answering


@asynccontextmanager
async def _tools(app: App) -> AsyncIterator[SessionTools]:
    tools = SessionTools(app, Actor("person", face="mcp"))
    try:
        yield tools
    finally:
        await tools.close()


def make_session_server(tools: SessionTools) -> Server[Any]:
    import mcp.types as types
    from mcp.server.lowlevel import Server

    async def list_tools(_: Any, __: Any) -> types.ListToolsResult:
        return types.ListToolsResult(
            tools=[
                types.Tool(
                    name=tool.name,
                    description=tool.description,
                    input_schema=dict(tool.schema),
                    annotations=types.ToolAnnotations(read_only_hint=tool.role == "look", open_world_hint=False),
                )
                for tool in TOOLS.values()
            ]
        )

    async def call_tool(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        who = context.request.state.who if context.request is not None else None  # who stands in front told it
        try:
            answer = await tools.call(params.name, params.arguments or {}, who)
        except WeftError as error:
            return types.CallToolResult(content=[types.TextContent(type="text", text=str(error))], is_error=True)
        said = types.TextContent(type="text", text=answer_text(answer))
        return types.CallToolResult(content=[said], structured_content=answer)

    return Server(
        "weft-sessions", version=__version__, instructions=ABOUT, on_list_tools=list_tools, on_call_tool=call_tool
    )
