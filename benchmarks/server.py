"""The server under load, next to bare Starlette on the same cores; and the index of many sessions.

    python -m benchmarks.server                                  200 conversations, 50 runs, 500 event streams
    python -m benchmarks.server --conversations 20 --runs 5 --streams 50
    python -m benchmarks.server --index 10000                    the list and search of so many sessions
    python -m benchmarks.server --folders 10000                  so many sessions on the disk: start, list, search

What is measured, from outside: how long an interrupt takes to be answered while everything goes on, how long after a
message its event is with a client, the memory of a session that is held and idle, and a small request here and on a
bare Starlette app.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from weft import __version__
from weft.app import App
from weft.protocol.envelope import PERSON
from weft.protocol.events import SessionCreated, SessionDescribed
from weft.session.index import Filter, IndexedText, ListedSession, SessionIndex
from weft.session.shared import LogMark

PIPELINE = """
name: wait
description: Takes a while.
steps:
  wait: {artifact: wait.json, code: "wait.py:wait", final: true}
"""
CODE = """
import time


def wait(step):
    for number in range(6000):
        print(number, flush=True)
        time.sleep(0.1)
    return {}
"""
BARE = """
import sys, uvicorn
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route


async def me(_):
    return JSONResponse({"person": "me"})


uvicorn.run(Starlette(routes=[Route("/api/me", me)]), port=int(sys.argv[1]), log_level="warning", access_log=False)
"""


class Asking:
    """A client on plain sockets, so that it costs little itself."""

    def __init__(self, port: int, token: str = "") -> None:
        self._port = port
        self._head = f"Host: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n"

    async def ask(self, method: str, path: str, body: Any = None) -> Any:
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        data = json.dumps(body).encode() if body is not None else b""
        head = f"{method} {path} HTTP/1.1\r\n{self._head}Content-Length: {len(data)}\r\nConnection: close\r\n\r\n"
        writer.write(head.encode() + data)
        answer = await reader.read()
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()
        first, _, rest = answer.partition(b"\r\n\r\n")
        if b" 2" not in first[:12]:
            raise RuntimeError(f"{method} {path}: {first[:60]!r} {rest[:200]!r}")
        return json.loads(rest) if rest[:1] in b"{[" else None

    async def events(self, path: str) -> AsyncIterator[dict[str, Any]]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port, limit=2**24)
        writer.write(f"GET {path} HTTP/1.1\r\n{self._head}\r\n".encode())
        try:
            while line := await reader.readline():
                if line.startswith(b"data: "):
                    yield json.loads(line[6:])
        finally:
            writer.close()


def shown(name: str, values: Sequence[float], unit: str = "ms") -> None:
    values = sorted(values)
    if values:
        at = [values[min(len(values) - 1, int(len(values) * part))] for part in (0.5, 0.99)]
        print(f"{name:<46} p50 {at[0]:8.1f} {unit}   p99 {at[1]:8.1f} {unit}   ({len(values)})")


def memory(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


async def small_requests(port: int, token: str, number: int, path: str = "/api/me") -> list[float]:
    asking, took = Asking(port, token), []
    for _ in range(number):
        begun = time.perf_counter()
        await asking.ask("GET", path)
        took.append((time.perf_counter() - begun) * 1000)
    return took


async def load(port: int, token: str, pid: int, given: argparse.Namespace) -> None:
    asking, base = Asking(port, token), "/api/w/desk"
    empty = memory(pid)
    begun = await asyncio.gather(
        *(asking.ask("POST", f"{base}/sessions", {"message": f"hello {n}"}) for n in range(given.conversations))
    )
    talks = [one["session"] for one in begun]
    await asyncio.sleep(3)
    held = memory(pid)
    print(f"memory of an idle session that is held: {(held - empty) / max(1, len(talks)) / 2**20:.2f} MB")
    runs = [
        (await asking.ask("POST", f"{base}/sessions", {"pipeline": "wait", "text": f"{n}", "name": f"{n}.md"}))[
            "session"
        ]
        for n in range(given.runs)
    ]
    sent: dict[str, float] = {}
    delays: list[float] = []

    async def follow(session: str) -> None:
        with suppress(asyncio.CancelledError, OSError):
            async for item in asking.events(f"{base}/sessions/{session}/events"):
                text = item.get("event", {}).get("text", "")
                if item.get("event", {}).get("type") == "message_accepted" and text in sent:
                    delays.append((time.perf_counter() - sent[text]) * 1000)

    everything = [*talks, *runs] or [""]
    followers = [asyncio.create_task(follow(everything[n % len(everything)])) for n in range(given.streams)]

    async def measured(when: str) -> None:
        """Something is said and stopped in each conversation, one after the other."""
        delays.clear()
        interrupts: list[float] = []
        for number, session in enumerate(talks[: given.messages]):
            text = f"{when} {number}"
            sent[text] = time.perf_counter()
            say = {"command": {"type": "say", "text": text}}
            await asking.ask("POST", f"{base}/sessions/{session}/commands", say)
            stop = {"command": {"type": "interrupt"}}
            at = time.perf_counter()
            await asking.ask("POST", f"{base}/sessions/{session}/commands", stop)
            interrupts.append((time.perf_counter() - at) * 1000)
        await asyncio.sleep(2)
        shown(f"an interrupt is answered, {when}", interrupts)
        shown(f"an event is with its clients, {when}", delays)
        shown(f"a small request, {when}", await small_requests(port, token, 100))

    await measured("runs starting")
    for session in runs:
        async for item in asking.events(f"{base}/sessions/{session}/events"):
            if item.get("event", {}).get("type") == "step_started":
                break
    await asyncio.sleep(given.calm)  # the programs of the steps have been started
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    await measured("all going on")
    for session in runs:
        await asking.ask("POST", f"{base}/sessions/{session}/commands", {"command": {"type": "interrupt"}})
    for task in followers:
        task.cancel()
    await asyncio.gather(*followers, return_exceptions=True)


def server_load(given: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as place:
        home, desk = Path(place) / "home", Path(place) / "desk"
        for name in ("pipelines", "code"):
            (desk / name).mkdir(parents=True)
        (desk / "pipelines" / "wait.yaml").write_text(PIPELINE)
        (desk / "code" / "wait.py").write_text(CODE)
        kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        around = {**kept, "HOME": str(home), "XDG_CONFIG_HOME": str(home)}
        weft = [sys.executable, "-m", "weft"]
        words = [*weft, "trust", "folder", str(desk)]
        subprocess.run(words, env=around, capture_output=True, check=False)
        begun = time.perf_counter()
        words = [*weft, "serve", "--port", "0", "--no-open", "--workspace", str(desk)]
        with subprocess.Popen(words, env=around, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            port = int(server.stdout.readline().partition("/sign-in")[0].rpartition(":")[2])
            print(f"start of the server: {time.perf_counter() - begun:.2f} s")
            made = [*weft, "tokens", "add", "bench", "--scope", "read", "--scope", "write"]
            token = subprocess.run(made, env=around, capture_output=True, text=True, check=True).stdout.strip()
            try:
                shown("a small request, nothing going on", asyncio.run(small_requests(port, token, 200)))
                asyncio.run(load(port, token, server.pid, given))
            finally:
                server.terminate()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with subprocess.Popen([sys.executable, "-c", BARE, str(port)]) as bare:
        time.sleep(3)
        try:
            shown("a small request, bare Starlette", asyncio.run(small_requests(port, "", 200)))
        finally:
            bare.terminate()


def index(number: int) -> None:
    with tempfile.TemporaryDirectory() as place:
        store = SessionIndex(Path(place) / "index.db")
        begun = time.perf_counter()
        for n in range(number):
            entry = ListedSession(
                id=f"s-{n:06}",
                seq=1,
                title=f"Report {n} on tides",
                kind="run",
                updated=f"2026-11-{n % 28 + 1:02}T{n:06}",
            )
            body = f"The tide of day {n} rose by {n % 13} feet; the moon was {n % 29} days old. " * 20
            store.put(entry, LogMark(1, n), [IndexedText(kind="input", name="source", body=body)], whole=True)
        print(f"{number} sessions put in {time.perf_counter() - begun:.1f} s")
        wanted = Filter(limit=50)
        looks: dict[str, Callable[[], object]] = {
            "list, 50 of them": lambda: store.page(wanted),
            "search, a word that every one has": lambda: store.search("moon", wanted),
            "search, two words and a number": lambda: store.search("tide day 4711", wanted),
        }
        for name, work in looks.items():
            took = []
            for _ in range(20):
                at = time.perf_counter()
                work()
                took.append((time.perf_counter() - at) * 1000)
            shown(name, took)
        store.close()


def folders(number: int) -> None:
    """The whole way: logs on the disk, a server that is started beside them, and what a person waits for."""
    with tempfile.TemporaryDirectory() as place:
        home, desk = Path(place) / "home", Path(place) / "desk"
        (desk / "pipelines").mkdir(parents=True)
        (desk / "config.toml").write_text("durable = false\n")
        (desk / "pipelines" / "wait.yaml").write_text(PIPELINE)
        begun = time.perf_counter()
        with App.open(desk) as app:
            for n in range(number):
                with app.sessions.open(f"s-{n:06}", create=True) as session:
                    made = SessionCreated(session=f"s-{n:06}", pipeline="", weft=__version__)
                    title = SessionDescribed(title=f"Report {n} on tides of day {n % 29}")
                    session.record([made, title], by=PERSON)
        print(f"{number} sessions made in {time.perf_counter() - begun:.0f} s")
        kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        around = {**kept, "HOME": str(home), "XDG_CONFIG_HOME": str(home)}
        weft = [sys.executable, "-m", "weft"]
        for when in ("for the first time", "the index knows them"):
            before, at = cpu_of_children(), time.perf_counter()
            subprocess.run(
                [*weft, "--workspace", str(desk), "sessions", "list"], env=around, stdout=subprocess.DEVNULL, check=True
            )
            took = time.perf_counter() - at
            print(f"weft sessions list, {when}: {took:.2f} s, CPU {cpu_of_children() - before:.2f} s")
        adding = [*weft, "tokens", "add", "bench", "--scope", "read"]
        token = subprocess.run(adding, env=around, capture_output=True, text=True, check=True).stdout.strip()
        begun = time.perf_counter()
        words = [*weft, "serve", "--port", "0", "--no-open", "--workspace", str(desk)]
        with subprocess.Popen(words, env=around, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            try:
                port = int(server.stdout.readline().partition("/sign-in")[0].rpartition(":")[2])
                asyncio.run(small_requests(port, token, 1))
                print(
                    f"the server has answered after {time.perf_counter() - begun:.2f} s, CPU {cpu_of(server.pid):.2f} s"
                )
                for name, path in (
                    ("list, 100 of them", "sessions"),
                    ("search, a word that all have", "sessions?q=tides"),
                ):
                    shown(name, asyncio.run(small_requests(port, token, 20, f"/api/w/desk/{path}")))
            finally:
                server.terminate()


def cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def cpu_of(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--conversations", type=int, default=200)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--streams", type=int, default=500)
    parser.add_argument("--messages", type=int, default=100)
    parser.add_argument("--calm", type=float, default=60.0, metavar="SECONDS", help="for the runs to get going")
    parser.add_argument("--index", type=int, default=0, metavar="SESSIONS")
    parser.add_argument("--folders", type=int, default=0, metavar="SESSIONS")
    given = parser.parse_args()
    if given.index:
        index(given.index)
    elif given.folders:
        folders(given.folders)
    else:
        server_load(given)


if __name__ == "__main__":
    main()
