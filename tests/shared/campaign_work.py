"""What the campaign runs besides the essay: a map over words, and an agent that reads and hands in, with a model that
answers from a server on this machine. The model keeps no state: what it says follows from what it is told."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final

from weft.consent import ConsentRequest
from weft.testing.wire.openai_chat import openai_chat_wire
from weft.testing.wire.replies import Called, Reply

MARKING: Final = """\
name: marking
description: Every word by itself
steps:
  words: {artifact: words.json, code: "words.py:words"}
  marks:
    map: {artifact: words.json, at: "words[*]", as: word, at_once: 2}
    artifact: marks.json
    code: words.py:mark
    requires: [words]
    inputs: []
    final: true
"""
NOTING: Final = """\
name: noting
description: An agent that looks and notes
parameters:
  place: {type: folder}
steps:
  note:
    artifact: note.json
    agent: noter
    executor: agent
    folder: place
    tools: [Glob]
    schema: note.schema.json
    final: true
"""
FILES: Final = {
    "pipelines/marking.yaml": MARKING,
    "pipelines/noting.yaml": NOTING,
    "code/words.py": """\
import time

def words(step):
    return {"words": sorted(set(step.text.replace(".", "").split()))}

def mark(step):
    time.sleep(0.05)
    return {"mark": str(step.item).upper()}
""",
    ".claude/agents/noter.md": "---\nname: noter\ndescription: Notes\ntools: Glob\nmodel: stub\n---\nLook, hand in.\n",
    "schemas/note.schema.json": json.dumps(
        {"type": "object", "required": ["told"], "properties": {"told": {"type": "string"}}}
    ),
}


def lay_out(workspace: Path, address: str) -> str:
    """The files, and what config.toml says besides the store."""
    for name, text in FILES.items():
        (workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace / name).write_text(text)
    return f'\n[models.stub]\nkind = "openai"\nmodel = "stub-1"\nbase_url = "{address}/v1"\nkey = "none"\n'


def model_consent(address: str) -> str:
    """What a worker's person agrees to: that model, at that address."""
    return ConsentRequest(kind="model", subject="stub", parts={"address": f"{address}/v1", "key": "none"}).hash


@contextmanager
def model_server(host: str, seconds: float = 0.0) -> Iterator[tuple[str, list[str]]]:
    """Its address, and what it was asked for. `seconds`: how long it thinks before each answer."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["content-length"])))
            looked = any(one["role"] == "tool" for one in request["messages"])
            names = [one["function"]["name"] for one in request.get("tools", ())]
            tool, given = ("hand_in", {"told": "seen"}) if looked else (names[0], {"pattern": "*.md"})
            asked.append(tool)
            time.sleep(seconds)
            call = Called(call=f"call-{tool}", tool=tool, arguments=json.dumps(given))
            events = openai_chat_wire.stream(Reply(calls=(call,)), request)
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.end_headers()
            for one in events:
                self.wfile.write(one.encode())

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer((host, 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://{host}:{server.server_address[1]}", asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
