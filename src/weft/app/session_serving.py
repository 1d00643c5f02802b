"""The session tools as an MCP server: over standard input and output, or over HTTP for those who have a token."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from weft import __version__
from weft.access import Access
from weft.app.root import App
from weft.app.session_tools import TOOLS, SessionTools, answer_text
from weft.knowledge.serving import serve_http, serve_stdio
from weft.protocol.envelope import Actor
from weft.protocol.errors import WeftError

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

ABOUT = (
    "Weft runs pipelines with people in them, on a durable log: what is begun here can be left and taken up again by "
    "anybody. Start a run, follow it with run_state, show the person what it waits for, and read its artifacts."
)


async def serve_sessions(app: App, http: tuple[str, int] | None, access: Access, tell: Callable[[str], None]) -> None:
    """Until it is told to stop. Over HTTP every request needs a token with the scope `mcp`."""
    tools = SessionTools(app, Actor("person", face="mcp"))
    server = make_session_server(tools)
    try:
        if http:
            await serve_http(server, *http, tell, lambda inner: _Gate(inner, access))
        else:
            await serve_stdio(server)
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
                    annotations=types.ToolAnnotations(read_only_hint=tool.reads, open_world_hint=False),
                )
                for tool in TOOLS.values()
            ]
        )

    async def call_tool(_: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        try:
            answer = await tools.call(params.name, params.arguments or {})
        except WeftError as error:
            return types.CallToolResult(content=[types.TextContent(type="text", text=str(error))], is_error=True)
        said = types.TextContent(type="text", text=answer_text(answer))
        return types.CallToolResult(content=[said], structured_content=answer)

    return Server(
        "weft-sessions", version=__version__, instructions=ABOUT, on_list_tools=list_tools, on_call_tool=call_tool
    )


class _Gate:
    """Lets those in who have a token with the scope `mcp`."""

    def __init__(self, inner: Any, access: Access) -> None:
        self._inner = inner
        self._access = access

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http" and not self._lets_in(dict(scope["headers"])):
            await send({"type": "http.response.start", "status": 401, "headers": [(b"www-authenticate", b"Bearer")]})
            await send({"type": "http.response.body", "body": b"a token with the scope mcp: weft tokens add\n"})
            return
        await self._inner(scope, receive, send)

    def _lets_in(self, headers: dict[bytes, bytes]) -> bool:
        kind, _, token = headers.get(b"authorization", b"").decode("latin-1").partition(" ")
        identity = self._access.identify_token(token.strip()) if kind.lower() == "bearer" else None
        return identity is not None and identity.may_use("mcp")
