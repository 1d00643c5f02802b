"""A collection as an MCP server: its tools, by the official SDK, over standard input and output or behind a server.

The SDK is imported here only when a server is made. A tool's answer goes
out as JSON text and as structured content; a wrong call is an error of the tool, told to the model in words. Calls run
in threads, one at a time, since one connection to the index serves them all.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any, Final, cast

from weft.knowledge.knowledge_base import KnowledgeBase
from weft.knowledge.tools import call, tools_of
from weft.protocol.errors import WeftError

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

READ_AT_ONCE: Final = 2**16


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
    """Until standard input ends, or this is cancelled."""
    from mcp.server.stdio import stdio_server

    with _standard_input() as given:
        async with stdio_server(stdin=cast(Any, _lines(given))) as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())


@contextmanager
def _standard_input() -> Iterator[int]:
    """What was standard input; whoever reads that meanwhile finds it empty."""
    given = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    try:
        yield given
    finally:
        os.dup2(given, 0)
        os.close(given)


async def _lines(given: int) -> AsyncIterator[str]:
    """Without a thread that reads, which nothing could end before another line comes."""
    begun = bytearray()
    while data := await _next_bytes(given):
        begun += data
        if b"\n" in data:
            *lines, rest = bytes(begun).split(b"\n")
            begun = bytearray(rest)
            for line in lines:
                yield line.decode("utf-8", "replace")
    if begun:
        yield begun.decode("utf-8", "replace")


async def _next_bytes(given: int) -> bytes:
    import anyio

    try:
        await anyio.wait_readable(given)
    except PermissionError:  # a file: it is never waited for
        await asyncio.sleep(0)
    return os.read(given, READ_AT_ONCE)


@asynccontextmanager
async def answering_http(server: Server[Any], path: str) -> AsyncIterator[Any]:
    """What answers requests at a path, as an ASGI app, for as long as this is open. Whoever puts it on the network
    stands in front of it: who may ask, for which host and from which page, is not looked at here."""
    from mcp.server.transport_security import TransportSecuritySettings

    trusting = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    app = server.streamable_http_app(streamable_http_path=path, transport_security=trusting)
    async with app.router.lifespan_context(app):
        yield app
