"""A collection as an MCP server: its tools, by the official SDK, over standard input and output or over HTTP.

The SDK is imported here only when a server is made. A tool's answer goes
out as JSON text and as structured content; a wrong call is an error of the tool, told to the model in words. Calls run
in threads, one at a time, since one connection to the index serves them all.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from weft.knowledge.knowledge_base import KnowledgeBase
from weft.knowledge.tools import call, tools_of
from weft.protocol.errors import UserError, WeftError

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server


def make_server(knowledge: KnowledgeBase, version: str) -> Server[Any]:
    import mcp.types as types
    from mcp.server.lowlevel import Server

    one_at_a_time = asyncio.Lock()

    async def list_tools(_: Any, __: Any) -> types.ListToolsResult:
        found = tools_of(knowledge)
        return types.ListToolsResult(
            tools=[
                types.Tool(name=name, description=tool.description, input_schema=schema)
                for name, (tool, schema) in found.items()
            ]
        )

    async def call_tool(_: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        try:
            async with one_at_a_time:
                answer = await asyncio.to_thread(call, knowledge, params.name, params.arguments or {})
        except WeftError as error:
            return types.CallToolResult(content=[types.TextContent(type="text", text=str(error))], is_error=True)
        text = types.TextContent(type="text", text=json.dumps(answer, ensure_ascii=False))
        return types.CallToolResult(content=[text], structured_content=answer)

    return Server(
        "weft",
        version=version,
        title=knowledge.collection.title,
        instructions=_instructions(knowledge),
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _instructions(knowledge: KnowledgeBase) -> str:
    about = knowledge.collection.description or knowledge.collection.title
    return f"{about}. Search it, follow its references, and verify every claim before you rely on it."


async def serve_stdio(server: Server[Any]) -> None:
    """Until standard input ends."""
    from mcp.server.stdio import stdio_server

    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


async def serve_http(
    server: Server[Any],
    host: str,
    port: int,
    ready: Callable[[str], None],
    gate: Callable[[Any], Any] = lambda inner: inner,
) -> None:
    """Until it is interrupted. `ready` is told the address once it answers; port 0 takes a free one. `gate` is put
    around the application, to let only some in."""
    import socket

    import uvicorn

    try:
        listening = socket.create_server((host, port))
    except OSError as error:
        raise UserError(f"can't listen on {host}:{port}: {error.strerror}", hint="choose another --port") from error
    address = f"http://{host}:{listening.getsockname()[1]}/mcp"
    app = server.streamable_http_app(host=host)
    serving = uvicorn.Server(uvicorn.Config(gate(app), log_level="warning", lifespan="on"))
    ready(address)
    await serving.serve(sockets=[listening])
