"""A person who is not looking is told: once for each cause, by what they chose, from their own surroundings."""

from __future__ import annotations

import asyncio
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from tests.made import lay_out
from weft.app import App, SessionRequest, notify_wishes
from weft.app.live.notifications import NotifyWishes, posted
from weft.protocol.commands import Say
from weft.protocol.conversation_commands import DecideApproval
from weft.testing.scripted import ScriptedModel, Turn, calls, says


def test_bell_and_title_unless_the_person_says_otherwise() -> None:
    assert notify_wishes("") == NotifyWishes(bell=True, title=True)
    assert notify_wishes("none") == NotifyWishes()
    wanted = NotifyWishes(desktop=True, addresses=("https://ntfy.example/mine",))
    assert notify_wishes("desktop https://ntfy.example/mine") == wanted


def test_each_kind_of_address_gets_what_it_takes() -> None:
    assert posted("https://ntfy.example/mine", "é").data == "é".encode()
    assert posted("https://hooks.example/services/T/B/x", "done").data == b'{"text": "done"}'


@pytest.mark.process
def test_an_address_is_told_once_that_somebody_is_waited_for(
    workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lay_out(workspace)
    (workspace / "config.toml").write_text('model = "scripted"\n')
    heard: list[str] = []

    class Ear(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            heard.append(self.rfile.read(int(self.headers["Content-Length"])).decode())
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """Quiet."""

    server = HTTPServer(("127.0.0.1", 0), Ear)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    monkeypatch.setenv("WEFT_NOTIFY", f"http://127.0.0.1:{server.server_port}/mine")
    turns = [Turn(calls("Write", {"file_path": "a.txt", "content": "x"})), Turn(says("Done."))]

    async def go() -> None:
        with App.open(workspace, models={"scripted": ScriptedModel(turns)}) as app:
            request = SessionRequest(talk=True, session="talk", mode="ask", working=tmp_path)
            async with app.session(request, reachable=False) as session:
                await session.submit(Say(text="write it"))
                async for item in session.events():
                    if getattr(getattr(item, "event", item), "type", "") == "approval_requested":
                        break
                await session.submit(DecideApproval(conversation="main", call="call-Write", decision="once"))
                await session.rest()

    try:
        asyncio.run(asyncio.wait_for(go(), 60))
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    assert len(heard) == 1
    assert heard[0].startswith("talk: Write needs your approval")
