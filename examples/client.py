"""A client of `weft serve`, a page long: begin a run, follow it, answer its gate, fetch what it made.

    weft serve --no-open &
    export WEFT_TOKEN=$(weft tokens add client --scope read --scope write)
    python examples/client.py http://127.0.0.1:8700 desk notes article.md

Nothing is needed besides Python. Events come as server-sent events: `id` is the number of a durable one, and whoever
asks again after that number misses nothing and gets nothing twice.
"""

from __future__ import annotations

import json
import os
import sys
import urllib.request
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any


class Weft:
    def __init__(self, address: str, workspace: str, token: str) -> None:
        self._base = f"{address.rstrip('/')}/api/w/{workspace}"
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def ask(self, path: str, body: Any = None) -> Any:
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(self._base + path, data, self._headers)
        with urllib.request.urlopen(request, timeout=60) as reply:
            return json.load(reply)

    def begin(self, pipeline: str, file: Path) -> str:
        wish = {"text": file.read_text(), "name": file.name, "pipeline": pipeline, "key": uuid.uuid4().hex}
        session: str = self.ask("/sessions", wish)["session"]
        return session

    def events(self, session: str, after: int = 0) -> Iterator[dict[str, Any]]:
        request = urllib.request.Request(f"{self._base}/sessions/{session}/events?after={after}", headers=self._headers)
        with urllib.request.urlopen(request, timeout=60) as reply:
            for line in reply:
                if line.startswith(b"data: "):
                    yield json.loads(line.removeprefix(b"data: "))

    def command(self, session: str, **command: Any) -> None:
        self.ask(f"/sessions/{session}/commands", {"command": command, "key": uuid.uuid4().hex})


def main(address: str, workspace: str, pipeline: str, file: str) -> None:
    weft = Weft(address, workspace, os.environ["WEFT_TOKEN"])
    session = weft.begin(pipeline, Path(file))
    gate = None
    for item in weft.events(session):
        event = item.get("event", {})
        match event.get("type"):
            case "step_completed":
                print(f"{event['step']} is done")  # noqa: T201
            case "gate_opened":
                gate = event
            case "run_ended" if event["outcome"] == "waiting" and gate:
                print(f"{gate['message']} -> {gate['choices'][0]['label']}")  # noqa: T201
                weft.command(session, type="reply_to_gate", gate=gate["gate"], choice=gate["choices"][0]["id"])
            case "run_ended":
                print(f"the run is {event['outcome']}")  # noqa: T201
                break
    for artifact in weft.ask(f"/sessions/{session}/artifacts"):
        print(artifact["name"], weft.ask(f"/sessions/{session}/artifacts/{artifact['name']}")["text"].strip()[:200])  # noqa: T201


if __name__ == "__main__":
    main(*sys.argv[1:])
