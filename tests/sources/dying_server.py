"""An MCP server that is killed in the phase of a call that it is told to: raw messages, over standard input and output
or streamable HTTP.

python dying_server.py FOLDER [PORT]   FOLDER/phase names the next phase to die in, once; FOLDER/calls what was called
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

FOLDER = Path(sys.argv[1])
OBJECT: dict[str, Any] = {"type": "object", "properties": {}}
READS = {"readOnlyHint": True}
TOOLS = [
    {"name": "write", "inputSchema": OBJECT},
    {"name": "look", "inputSchema": OBJECT, "annotations": READS},
    {"name": "ask", "inputSchema": OBJECT},
]
SESSION = str(os.getpid())


def comes(phase: str) -> bool:
    """Whether it is to die in this phase; only once."""
    path = FOLDER / "phase"
    if not path.exists() or path.read_text() != phase:
        return False
    path.unlink()
    return True


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)
    os._exit(9)


def answers(message: dict[str, Any]) -> Iterator[str]:
    """What is said to a message, a line each; it may be the last."""
    method, number = message.get("method"), message.get("id")
    if number is None or method is None:
        return
    if method == "initialize":
        if comes("initialize"):
            die()
        info = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}}
        yield said(number, {**info, "serverInfo": {"name": "dying", "version": "1"}})
    elif method == "tools/list":
        if comes("list"):
            die()
        yield said(number, {"tools": TOOLS})
    elif method == "tools/call":
        yield from called(number, message["params"])
    else:
        yield json.dumps({"jsonrpc": "2.0", "id": number, "error": {"code": -32601, "message": "no method"}})


def called(number: Any, params: dict[str, Any]) -> Iterator[str]:
    with (FOLDER / "calls").open("a") as file:
        file.write(f"{params['name']}\n")
    if comes("in the middle"):
        die()
    token = params.get("_meta", {}).get("progressToken")
    told = {"progressToken": token, "progress": 1, "total": 2}
    yield json.dumps({"jsonrpc": "2.0", "method": "notifications/progress", "params": told})
    if comes("progress"):
        die()
    if params["name"] == "ask":
        asked = {
            "mode": "form",
            "message": "Where?",
            "requestedSchema": {**OBJECT, "properties": {"a": {"type": "string"}}},
        }
        yield json.dumps({"jsonrpc": "2.0", "id": "asked", "method": "elicitation/create", "params": asked})
        while not (FOLDER / "asked").exists():
            time.sleep(0.01)
        (FOLDER / "asked").unlink()
        die()
    answer = said(number, {"content": [{"type": "text", "text": "done"}]})
    if comes("answering"):
        yield answer[: len(answer) // 2] + "\0"
        die()
    yield answer
    if comes("after"):
        time.sleep(0.1)  # the last bytes are on their way
        die()


def said(number: Any, result: dict[str, Any]) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": number, "result": result})


def over_standard_output() -> None:
    for line in sys.stdin:
        message = json.loads(line)
        for answer in answers(message):
            sys.stdout.write(answer.removesuffix("\0") + ("" if answer.endswith("\0") else "\n"))
            sys.stdout.flush()
        if message.get("method") == "tools/list" and comes("idle"):  # not behind the call that came before that
            die()


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if self.headers.get("mcp-session-id", SESSION) != SESSION:
            return self.answer(404, b"no such session", "text/plain")
        if message.get("method") != "tools/call":
            found = "".join(answers(message)).encode()
            return self.answer(200 if found else 202, found, "application/json")
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        for answer in answers(message):
            whole = not answer.endswith("\0")
            self.wfile.write(f"data: {answer.removesuffix(chr(0))}".encode() + (b"\n\n" if whole else b""))
            self.wfile.flush()
        return None

    def answer(self, status: int, body: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.send_header("mcp-session-id", SESSION)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        self.answer(405, b"", "text/plain")

    def do_DELETE(self) -> None:
        self.answer(405, b"", "text/plain")

    def log_message(self, *_: Any) -> None:
        """Nobody reads it."""


def over_http(port: int) -> None:
    with ThreadingHTTPServer(("127.0.0.1", port), Handler) as server:
        (FOLDER / "ready").write_text(str(server.server_port))
        server.serve_forever()


serve: Callable[[], None] = (lambda: over_http(int(sys.argv[2]))) if len(sys.argv) > 2 else over_standard_output
serve()
