"""A server in a process of its own, as a person starts it, and a client for it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from weft.consent import Consents

TEXT = "# Tides\n\nThe tide rises twice a day. The moon pulls the sea.\n"
PIPELINE = """
name: notes
description: Notes of a text, looked at by a person.
steps:
  lines:
    artifact: lines.json
    code: notes.py:lines
    gate:
      message: Are these the lines?
  count:
    artifact: count.json
    code: notes.py:count
    requires: [lines]
    final: true
"""
PATIENT = "# Patience\n\nThis takes until it is stopped.\n"
CODE = """
import time


def lines(step):
    if "until it is stopped" in step.text:
        print("here", flush=True)
        time.sleep(600)
    return step.text.split("\\n")


def count(step):
    return {"lines": len(step.artifacts["lines.json"])}
"""


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


_OPENER = urllib.request.build_opener(_NoRedirect, urllib.request.ProxyHandler({}))


@dataclass
class Client:
    address: str
    headers: dict[str, str] = field(default_factory=dict)

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        data = json.dumps(body).encode() if body is not None and not isinstance(body, bytes) else body
        told = {
            "Content-Type": "application/json",
            **self.headers,
            **{k.replace("_", "-"): v for k, v in headers.items()},
        }
        request = urllib.request.Request(self.address + path, data, told, method=method)
        try:
            with _OPENER.open(request, timeout=60) as reply:
                return Answer(reply.status, {k.lower(): v for k, v in reply.headers.items()}, reply.read())
        except urllib.error.HTTPError as error:
            with error:
                return Answer(error.code, {k.lower(): v for k, v in error.headers.items()}, error.read())

    def get(self, path: str, **headers: str) -> Answer:
        return self.ask("GET", path, **headers)

    def post(self, path: str, body: Any, **headers: str) -> Answer:
        return self.ask("POST", path, body, **headers)

    def events(self, path: str, **headers: str) -> Iterator[tuple[str, int | None, Any]]:
        """Server-sent events: kind, number, data; for as long as one asks for more."""
        told = {**self.headers, **{k.replace("_", "-"): v for k, v in headers.items()}}
        request = urllib.request.Request(self.address + path, headers=told)
        with _OPENER.open(request, timeout=60) as reply:
            fields: dict[str, str] = {}
            for raw in reply:
                line = raw.decode().rstrip("\n")
                if line:
                    name, _, value = line.partition(": ")
                    fields[name] = value
                elif fields:
                    number = int(fields["id"]) if "id" in fields else None
                    yield fields["event"], number, json.loads(fields["data"])
                    fields = {}


class NotStartedError(AssertionError):
    """With what the server said instead."""


class NotSignedInError(AssertionError):
    """With what was answered instead."""


@dataclass
class Running:
    process: subprocess.Popen[str]
    link: str
    home: Path
    errors: str = ""
    """What it said on standard error, once it has ended."""

    @property
    def address(self) -> str:
        parts = urlsplit(self.link)
        return f"{parts.scheme}://{parts.netloc}"

    def signed_in(self) -> Client:
        """As a browser: the link is opened, its button pressed, the cookie kept."""
        form = f"link={urlsplit(self.link).query.removeprefix('link=')}".encode()
        reply = Client(self.address).ask(
            "POST", "/sign-in", form, Content_Type="application/x-www-form-urlencoded", Origin=self.address
        )
        if reply.status != 303:
            raise NotSignedInError(reply.status, reply.body)
        cookie = reply.headers["set-cookie"].partition(";")[0]
        return Client(self.address, {"Cookie": cookie, "Origin": self.address, "X-Weft": "1"})

    def with_token(self, *scopes: str) -> Client:
        chosen = [word for scope in scopes for word in ("--scope", scope)]
        made = weft(self.home, "tokens", "add", "test", *chosen)
        return Client(self.address, {"Authorization": f"Bearer {made.stdout.strip()}"})


def environment(home: Path) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
    return {**kept, "HOME": str(home), "XDG_CONFIG_HOME": str(home / "config"), "WEFT_MODEL": ""}


def weft(home: Path, *words: str, expects: int = 0) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "weft", *words], env=environment(home), capture_output=True, text=True, timeout=120
    )
    if done.returncode != expects:
        raise subprocess.CalledProcessError(done.returncode, done.args, done.stdout, done.stderr)
    return done


@contextmanager
def running(home: Path, workspace: Path, *words: str, **variables: str) -> Iterator[Running]:
    Consents(home / "config" / "weft").own_work(workspace)
    process = subprocess.Popen(
        [sys.executable, "-m", "weft", "serve", "--port", "0", "--no-open", "--workspace", str(workspace), *words],
        env={**environment(home), **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    server = Running(process, "", home)
    try:
        assert process.stdout is not None
        link = process.stdout.readline().strip()
        if not link:
            assert process.stderr is not None
            raise NotStartedError(process.stderr.read())
        server.link = link
        yield server
    finally:
        process.terminate()
        try:
            process.wait(30)
        finally:
            process.kill()
            if process.stderr is not None:
                server.errors = process.stderr.read()
            for pipe in (process.stdout, process.stderr):
                if pipe is not None:
                    pipe.close()


def begin(client: Client, **wish: object) -> str:
    reply = client.post("/api/w/desk/sessions", {"text": TEXT, "name": "tides.md", "pipeline": "notes", **wish})
    assert reply.status == 201, reply.body
    session: str = reply.json["session"]
    return session


def until(client: Client, session: str, kind: str, after: int = 0) -> list[tuple[int, str]]:
    seen = []
    for event, number, _ in client.events(f"/api/w/desk/sessions/{session}/events?after={after}"):
        if number is not None:
            seen.append((number, event))
        if event == kind:
            break
    return seen
