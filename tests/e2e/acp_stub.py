"""An agent that speaks the Agent Client Protocol by hand and does what it is told: `python acp_stub.py`.

say WORDS          says them
run                asks for a permission, makes ran.txt itself, and says so
files              reads notes.txt and writes copy.txt through the client
out                reads a file outside the folder through the client
env                says which variables it sees, and its home
slow               says that it works, starts a process, and never ends
die                ends in the middle
make …             writes made.txt through the client, rightly when it is told that it is not done
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

_number = 0


def send(**message: Any) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def receive() -> dict[str, Any]:
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    return dict(json.loads(line))


def ask(method: str, **params: Any) -> dict[str, Any]:
    global _number
    _number += 1
    send(id=f"a{_number}", method=method, params={"sessionId": "one", **params})
    while True:
        reply = receive()
        if reply.get("id") == f"a{_number}":
            return reply


def update(what: str, /, **fields: Any) -> None:
    send(method="session/update", params={"sessionId": "one", "update": {"sessionUpdate": what, **fields}})


def say(text: str) -> None:
    update("agent_message_chunk", content={"type": "text", "text": text})


def run(command: str) -> None:
    call = {"toolCallId": "c1", "title": command, "kind": "execute", "rawInput": {"command": command}}
    update("tool_call", status="pending", **call)
    options = [
        {"optionId": "yes", "name": "Allow", "kind": "allow_once"},
        {"optionId": "no", "name": "Reject", "kind": "reject_once"},
    ]
    outcome = ask("session/request_permission", toolCall=call, options=options)["result"]["outcome"]
    if outcome.get("optionId") != "yes":
        update("tool_call_update", toolCallId="c1", status="failed")
        return say(f"Not allowed ({outcome}).")
    Path("ran.txt").write_text("made by the agent\n")
    content = [{"type": "content", "content": {"type": "text", "text": "exit code 0"}}]
    update("tool_call_update", toolCallId="c1", status="completed", content=content)
    return say("It ran.")


def change() -> None:
    """A change that it asks about, and makes through the protocol before the call has ended."""
    path = str(Path("notes.txt").absolute())
    call = {"toolCallId": "c2", "title": "Edit notes.txt", "kind": "edit", "locations": [{"path": path}]}
    update("tool_call", status="pending", **call)
    options = [{"optionId": "yes", "name": "Allow", "kind": "allow_once"}]
    ask("session/request_permission", toolCall=call, options=options)
    old = ask("fs/read_text_file", path=path)["result"]["content"]
    written = ask("fs/write_text_file", path=path, content=old.upper())
    update("tool_call_update", toolCallId="c2", status="completed" if "result" in written else "failed")
    say("Changed.")


def files() -> None:
    read = ask("fs/read_text_file", path=str(Path("notes.txt").absolute()))
    if "error" in read:
        return say(f"Can't read: {read['error']['message']}")
    written = ask(
        "fs/write_text_file", path=str(Path("copy.txt").absolute()), content=read["result"]["content"].upper()
    )
    return say("Copied." if "result" in written else f"Can't write: {written['error']['message']}")


def prompted(text: str) -> None:
    word, _, rest = text.rpartition("\n")[2].partition(" ")
    if text.startswith(("make", "You are not done")):
        content = "low tide\n" if text.startswith("make") else "LOW TIDE AT SIX\n"
        ask("fs/write_text_file", path=str(Path("made.txt").absolute()), content=content)
        say("Made.")
        return
    match word:
        case "say":
            update("agent_thought_chunk", content={"type": "text", "text": "hm"})
            say(rest)
        case "told":
            say(text)
        case "run":
            run(rest or "touch ran.txt")
        case "files" | "change":
            (files if word == "files" else change)()
        case "home":
            told = {str(one.relative_to(Path.home())): one.read_text() for one in Path.home().rglob("*.json")}
            say(json.dumps(told))
        case "out":
            reply = ask("fs/read_text_file", path="/etc/hostname")
            say(f"error: {reply['error']['message']}" if "error" in reply else "it was read")
        case "env":
            say(json.dumps({"names": sorted(os.environ), "home": os.environ.get("HOME")}))
        case "slow":
            subprocess.Popen(["sleep", "300"])
            say("working")
            while True:
                receive()
        case "die":
            sys.exit(7)


while True:
    message = receive()
    match message.get("method"):
        case "initialize":
            send(id=message["id"], result={"protocolVersion": 1, "agentCapabilities": {}})
        case "session/new":
            send(id=message["id"], result={"sessionId": "one"})
        case "session/prompt":
            prompted(message["params"]["prompt"][0]["text"])
            used = {"inputTokens": 11, "outputTokens": 3, "totalTokens": 14}
            send(id=message["id"], result={"stopReason": "end_turn", "usage": used})
