"""An MCP server over standard input and output that misbehaves as it is told. Raw messages, no library.

python odd_server.py FOLDER      FOLDER keeps what it has counted: starts, and calls of each tool
"""

from __future__ import annotations

import base64
import json
import os
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

FOLDER = Path(sys.argv[1])
OBJECT: dict[str, Any] = {"type": "object", "properties": {}}
FAR = {"$ref": "http://127.0.0.1:9/schema.json"}
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC"
READS = {"readOnlyHint": True, "openWorldHint": False}
grown = False
waiting: dict[Any, Any] = {}


def count(what: str) -> int:
    path = FOLDER / what
    number = (int(path.read_text()) if path.exists() else 0) + 1
    path.write_text(str(number))
    return number


def send(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def tools() -> list[dict[str, Any]]:
    found = [
        {"name": "echo", "description": "Say it again", "inputSchema": TEXT},
        {"name": "look", "description": "Only looks", "inputSchema": OBJECT, "annotations": READS},
        {"name": "die", "description": "Ends in the middle", "inputSchema": OBJECT},
        {"name": "die_once", "description": "Ends the first time", "inputSchema": OBJECT, "annotations": READS},
        {"name": "hang", "description": "Never answers", "inputSchema": OBJECT},
        {"name": "flood", "description": "A message without an end", "inputSchema": OBJECT},
        {"name": "big", "description": "A long answer", "inputSchema": OBJECT},
        {"name": "grow", "description": "Has more tools from now on", "inputSchema": OBJECT},
        {"name": "ask", "description": "Asks the person", "inputSchema": OBJECT},
        {"name": "lie", "description": "Answers otherwise", "inputSchema": OBJECT, "outputSchema": TEXT},
        {"name": "slow", "description": "With signs of life", "inputSchema": OBJECT},
        {"name": "fetch", "description": "Reaches out", "inputSchema": TEXT},
        {"name": "change", "description": "Writes into a file", "inputSchema": TEXT},
        {"name": "get env", "description": "What it sees", "inputSchema": OBJECT},
        {
            "name": "odd",
            "description": "No schema",
            "inputSchema": {"type": "object", "properties": {"a": {"type": 7}}},
        },
        {"name": "far", "description": "Elsewhere", "inputSchema": {"type": "object", "allOf": [FAR]}},
    ]
    return [*found, {"name": "grown", "description": "New", "inputSchema": OBJECT}] if grown else found


def text(said: str, **more: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": said}], **more}


def call(number: Any, name: str, given: dict[str, Any], meta: dict[str, Any]) -> dict[str, Any] | None:  # noqa: C901
    global grown
    made = count(f"call-{name}")
    match name:
        case "echo":
            return text(given["text"])
        case "change":
            try:
                (FOLDER / given["text"]).write_text("changed")
            except OSError as error:
                return text(str(error), isError=True)
            return text("changed")
        case "look":
            return text("looked")
        case "die":
            sys.stderr.write("about to die\n")
            if "KEY" in os.environ:
                sys.stderr.write("x" * 390 + os.environ["KEY"] + "\n")
            sys.stderr.flush()
            os._exit(7)
        case "die_once":
            if made == 1:
                os._exit(7)
            return text("alive")
        case "hang":
            return None
        case "flood":
            while True:
                sys.stdout.write("x" * 1_000_000)
        case "big":
            return text("\n".join(f"line {number}" for number in range(20_000)))
        case "grow":
            grown = True
            send({"method": "notifications/tools/list_changed"})
            return text("grown")
        case "ask":
            waiting["ask"] = number
            schema = {"type": "object", "properties": {"city": {"type": "string"}, "sure": {"type": "boolean"}}}
            params = {"message": "Where?", "requestedSchema": schema, "mode": "form"}
            send({"id": "ask", "method": "elicitation/create", "params": params})
            return None
        case "lie":
            return text("{}", structuredContent={"text": 7})
        case "slow":
            for done in range(1, 5):
                time.sleep(0.25)
                send(
                    {
                        "method": "notifications/progress",
                        "params": {"progressToken": meta.get("progressToken"), "progress": done, "total": 4},
                    }
                )
            return text("done")
        case "fetch":
            try:
                with urllib.request.urlopen(given["text"], timeout=10) as page:
                    return text(page.read().decode())
            except OSError as error:
                return text(str(error), isError=True)
        case "get env":
            return text(json.dumps(dict(os.environ)))
    return text("no such tool", isError=True)


def main() -> None:
    count("starts")
    for line in sys.stdin:
        message = json.loads(line)
        method, number = message.get("method"), message.get("id")
        if method is None and number in waiting:
            answer = message.get("result", {})
            send({"id": waiting.pop(number), "result": text(json.dumps(answer, sort_keys=True))})
        elif number is None:
            if method == "notifications/cancelled":
                count("cancelled")
        elif method == "initialize":
            greeting = {
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {"listChanged": True}},
                "serverInfo": {"name": "odd", "version": "1"},
            }
            send({"id": number, "result": greeting})
        elif method == "tools/list":
            send({"id": number, "result": {"tools": tools()}})
        elif method == "resources/read":
            uri = message["params"]["uri"]
            blob = PICTURE if uri.endswith(".png") else base64.b64encode(b"words").decode()
            blob = "abc" if uri.endswith(".cut") else blob
            send({"id": number, "result": {"contents": [{"uri": uri, "blob": blob}]}})
        elif method == "tools/call":
            params = message["params"]
            result = call(number, params["name"], params.get("arguments", {}), params.get("_meta", {}))
            if result is not None:
                send({"id": number, "result": result})
        else:
            send({"id": number, "error": {"code": -32601, "message": f"no method {method}"}})


main()
