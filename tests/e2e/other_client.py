"""Uses an MCP server as a program of its own: `python other_client.py ADDRESS TOKEN`, or a command line in its place.

The client is `chuk-mcp`, which speaks the protocol by code of its own. It runs apart from the tests since it leaves
streams open when it ends. What it saw goes to standard output as JSON.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import Any

from chuk_mcp.client.connection import connect_to_server
from chuk_mcp.transports.http import StreamableHTTPParameters, StreamableHTTPTransport
from chuk_mcp.transports.stdio import StdioParameters

CALLS: list[tuple[str, dict[str, Any]]] = [
    ("kb_search", {"query": "sufficient evidence", "search_type": "keyword"}),
    (
        "kb_verify_citations",
        {"citations": [{"paragraph_ref": "315.1", "claim": "The auditor shall assess risk within 45 days"}]},
    ),
    ("kb_search", {"max_results": 3}),
]


async def use(words: list[str]) -> dict[str, Any]:
    if words[0].startswith("http://"):
        server: Any = StreamableHTTPTransport(StreamableHTTPParameters(url=words[0], bearer_token=words[1]))
    else:
        server = StdioParameters(command=words[0], args=words[1:], env=dict(os.environ))
    async with connect_to_server(server) as client:
        tools = [tool.name for tool in await client.list_tools()]
        results = [await client.call_tool(name, given) for name, given in CALLS]
    answers = [{"error": bool(one.isError), "text": one.content[0]["text"]} for one in results]
    return {"tools": tools, "answers": answers}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asyncio.run(use(sys.argv[1:]))))
