"""A program that speaks the protocol of Codex's app server by hand and does what it is told.

It knows the words of acp_stub.py; `files` asks for one change of two files. It keeps its threads in CODEX_HOME.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

_number = 0
HEARD: list[str] = []
TURN = {"threadId": "thread-1", "turnId": "turn-1"}
KEPT = Path(os.environ["CODEX_HOME"]) / "thread-1"


def send(**message: Any) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def receive() -> dict[str, Any]:
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    return dict(json.loads(line))


def ask(method: str, **params: Any) -> str:
    global _number
    _number += 1
    send(id=_number, method=method, params={**TURN, **params})
    while True:
        reply = receive()
        if reply.get("id") == _number and "method" not in reply:
            return str(reply["result"]["decision"])
        steered(reply)


def steered(message: dict[str, Any]) -> None:
    if message.get("method") == "turn/steer":
        send(id=message["id"], result={"turnId": "turn-1"})
        HEARD.append(message["params"]["input"][0]["text"])


def item(state: str, **fields: Any) -> None:
    send(method=f"item/{state}", params={**TURN, "item": fields})


def say(text: str) -> None:
    for piece in (text[:3], text[3:]):
        send(method="item/agentMessage/delta", params={**TURN, "itemId": "m", "delta": piece})


def run(command: str) -> None:
    call = {"type": "commandExecution", "id": "call_1", "command": f"/bin/bash -lc '{command}'", "cwd": os.getcwd()}
    item("started", **call, status="inProgress")
    decision = ask("item/commandExecution/requestApproval", itemId="call_1", command=call["command"], cwd=call["cwd"])
    if decision != "accept":
        item("completed", **call, status="declined")
        return say(f"Not allowed ({decision}).")
    Path("ran.txt").write_text("made by the agent\n")
    item("completed", **call, status="completed", exitCode=0, aggregatedOutput="exit code 0")
    return say("It ran.")


def files(*names: str) -> None:
    changes = [{"path": os.path.abspath(one), "kind": {"type": "add"}, "diff": "+LOW TIDE AT SIX\n"} for one in names]
    change = {"type": "fileChange", "id": "call_2", "changes": changes}
    item("started", **change, status="inProgress")
    decision = ask("item/fileChange/requestApproval", itemId="call_2")
    if decision != "accept":
        item("completed", **change, status="declined")
        return say(f"Not changed ({decision}).")
    for one in names:
        Path(one).write_text("LOW TIDE AT SIX\n")
    item("completed", **change, status="completed")
    return say("Copied.")


def prompted(text: str) -> None:
    word, _, rest = text.rpartition("\n")[2].partition(" ")
    if word == "fail":
        error = {"message": "the model of the agent is away"}
        return send(
            method="turn/completed", params={**TURN, "turn": {"id": "turn-1", "status": "failed", "error": error}}
        )
    match "make" if text.startswith("make") else word:
        case "make":
            files("made.txt")
        case "say":
            send(method="item/reasoning/summaryTextDelta", params={**TURN, "itemId": "r", "delta": "hm"})
            say(rest)
        case "told":
            say(text)
        case "run":
            run(rest or "touch ran.txt")
        case "files":
            files(*rest.split())
        case "env":
            say(json.dumps({"names": sorted(os.environ), "home": os.environ.get("HOME")}))
        case "slow":
            subprocess.Popen(["sleep", "300"])
            say("working")
            while True:
                receive()
        case "die":
            sys.exit(7)
    total = {"inputTokens": 11, "outputTokens": 3, "cachedInputTokens": 0}
    send(method="thread/tokenUsage/updated", params={**TURN, "tokenUsage": {"total": used(total), "last": total}})
    return send(method="turn/completed", params={**TURN, "turn": {"id": "turn-1", "status": "completed"}})


def used(last: dict[str, int]) -> dict[str, int]:
    """Of the whole thread, as Codex counts."""
    before = json.loads(KEPT.read_text() or "{}")
    total = {key: before.get(key, 0) + number for key, number in last.items()}
    KEPT.write_text(json.dumps(total))
    return total


while True:
    message = receive()
    match message.get("method"):
        case "initialize":
            send(id=message["id"], result={"userAgent": "stub"})
        case "thread/start":
            KEPT.write_text("")
            send(id=message["id"], result={"thread": {"id": "thread-1"}})
        case "thread/resume":
            known = KEPT.exists() and message["params"]["threadId"] == "thread-1"
            if known:
                send(id=message["id"], result={"thread": {"id": "thread-1"}})
            else:
                send(id=message["id"], error={"code": -32600, "message": "no such thread"})
        case "turn/start":
            send(id=message["id"], result={"turn": {"id": "turn-1", "status": "inProgress"}})
            prompted(message["params"]["input"][0]["text"])
