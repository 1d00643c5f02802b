"""A source over HTTP as the client of the official conformance suite: signs in where it must, lists, calls every tool.

    conformance client --command "python -m tests.sources.conformance_client" --suite all

The suite (npm `@modelcontextprotocol/conformance`, node 22 or newer) gives the address as the last word.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

from tests.sources.made import Shelf, answering
from weft.sources.sign_in import SignInAsking, sign_in


def browse(address: str) -> None:
    with urllib.request.urlopen(address, timeout=20) as page:
        page.read()


def filled(schema: dict[str, Any]) -> dict[str, Any]:
    """An input that fits: every required key with the simplest value of its type."""
    values = {"string": "x", "integer": 1, "number": 1, "boolean": True, "array": [], "object": {}}
    fields = schema.get("properties", {})
    return {key: values.get(fields.get(key, {}).get("type", "string"), "x") for key in fields}


async def life(url: str, scenario: str, given: dict[str, Any]) -> None:
    with tempfile.TemporaryDirectory() as top:
        shelf = Shelf(Path(top))
        auth: dict[str, Any] = {"type": "oauth"}
        if "client_id" in given:
            auth["client_id"] = given["client_id"]
        if "client_secret" in given:
            shelf.store.put("secret/client", given["client_secret"])
            auth["client_secret"] = "secret:client"
        config = {"kind": "mcp", "url": url, "timeout": 20}
        shelf.add("suite", {**config, "auth": auth} if scenario.startswith("auth/") else config)
        try:
            if scenario.startswith("auth/"):
                source = shelf.sources.one("suite")
                opened: list[asyncio.Future[Any]] = []

                def show(address: str) -> None:
                    opened.append(asyncio.ensure_future(asyncio.to_thread(browse, address)))

                asking = SignInAsking(show=show)
                grant = await sign_in(source, shelf.sources.secrets(source), asking, time.time())
                await asyncio.gather(*opened)
                shelf.sources.grants.put(source.key, grant)
            reached = await shelf.reach("suite")
            if reached.state != "ready":
                raise SystemExit(f"{reached.state}: {reached.why}")
            for tool in shelf.box():
                outcome = await shelf.call(tool.name, filled(dict(tool.input_schema)), ask=answering({}))
                if outcome.is_error:
                    sys.stderr.write(f"{tool.name}: {outcome.text}\n")
        finally:
            await shelf.sources.release("test")
            shelf.folder.close()


if __name__ == "__main__":
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
    asyncio.run(life(sys.argv[-1], os.environ.get("MCP_CONFORMANCE_SCENARIO", ""), context))
