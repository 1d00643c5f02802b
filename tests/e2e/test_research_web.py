"""Research with a search of the web, on loopback from end to end: searched, fetched, labelled, verified, compared."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.knowledge.made import write_documents
from tests.knowledge.research.desk import DOCUMENTS
from weft.app import App, SourceSettings
from weft.app.connections.web_searches import pages_about
from weft.app.knowledge.research_requests import Inquiry, ask_of
from weft.files import Folder
from weft.knowledge.embedding import Unavailable
from weft.knowledge.knowledge_base import open_collection
from weft.protocol.commands import StartRun
from weft.tools.fetch import Fetched, fetch
from weft.workspace.pack import lay_pack
from weft.workspace.pack_file import find_packs

pytestmark = [pytest.mark.process, pytest.mark.timeout(200)]
QUESTION = "How long is the retention period of audit documentation?"
PAGE = """<html><head><title>A guide</title></head><body><article><h1>A guide</h1>
<p>The retention period of audit documentation is at least seven years.</p>
<p>Another paragraph says that nothing else matters to this page at all.</p></article></body></html>"""


class _Web(BaseHTTPRequestHandler):
    asked: list[str]

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet."""

    def do_GET(self) -> None:
        where, base = urlsplit(self.path), f"http://{self.headers['Host']}"
        if where.path == "/search":
            self.asked.append(parse_qs(where.query)["q"][0])
            rows = [
                {"title": "A guide", "url": f"{base}/guide", "content": "retention period of audit documentation"},
                {"title": "Gone", "url": f"{base}/gone", "content": "it was here"},
                {"title": "Inside", "url": "http://10.0.0.1/admin", "content": "a private place"},
            ]
            self._send(200, "application/json", json.dumps({"results": rows}))
        elif where.path == "/guide":
            self._send(200, "text/html", PAGE)
        else:
            self._send(404, "text/plain", "not here")

    def _send(self, status: int, kind: str, text: str) -> None:
        data = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


@contextmanager
def web() -> Iterator[tuple[str, list[str]]]:
    asked: list[str] = []
    handler = type("Web", (_Web,), {"asked": asked})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        serving = threading.Thread(target=server.serve_forever, daemon=True)
        serving.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}", asked
        finally:
            server.shutdown()
            serving.join()


async def over_loopback(url: str) -> Fetched:
    """The fetcher that a person has, which may reach this machine's own pages, and no other private address."""
    return await fetch(url, allow_loopback=True)


def lay(top: Path, base: str) -> Path:
    place = top / "desk"
    lay_pack(find_packs()["research"], place)
    write_documents(place / "knowledge/audit", DOCUMENTS).close()
    with Folder.open(place) as workspace, open_collection(workspace, "audit", Unavailable("")) as knowledge:
        knowledge.update()
    (place / "sources/pages").mkdir(parents=True)
    config = {"kind": "search", "provider": "searxng", "url": base}
    (place / "sources/pages/config.json").write_text(json.dumps(config))
    with App.open(place) as app:
        for request in app.not_agreed():
            app.consents.agree(request, "asked")
    return place


def test_pages_that_a_search_found_are_quoted_checked_and_held_against_the_collection(tmp_path: Path) -> None:
    async def life(place: Path) -> tuple[list[str], dict[str, Any], dict[str, Any]]:
        with App.open(place, fetch_page=over_loopback) as app:
            await SourceSettings(app).test()
            knowledge = app.knowledge("audit")
            assert knowledge is not None
            assert knowledge.web is not None
            with knowledge:
                searched = await asyncio.to_thread(knowledge.web, [QUESTION], 2)
            pages, notes = await pages_about(app.sources(), app.fetch_input, QUESTION, "standard")
            ask = ask_of(app, Inquiry(question=QUESTION, collection="audit", session="web-0001", pages=pages))
            async with app.session(ask) as session:
                assert await session.run(StartRun(parameters={"depth": "standard"})) == "done"
            return notes, searched, json.loads((session.folder / "answer.json").read_text())

    with web() as (base, asked):
        notes, searched, answer = asyncio.run(life(lay(tmp_path, base)))
    assert QUESTION in asked
    assert searched["results"][0]["url"] == f"{base}/guide", "kb_web_search has the same search"
    assert any(note.startswith(f"{base}/gone: ") for note in notes)
    assert any("10.0.0.1" in note for note in notes), "what lies inside is not fetched, whoever found it"
    assert [(one["label"], one["url"]) for one in answer["web_references"]] == [("W1", f"{base}/guide")]
    sentences = [one for section in answer["sections"] for one in section["sentences"]]
    by_label = {label: one for one in sentences for label in one["labels"]}
    assert by_label["W1"]["text"] == "The retention period of audit documentation is at least seven years."
    assert by_label["W1"]["state"] == "quoted"
    pairs = [one for one in answer["open_ends"] if one["what"] == "contradiction"]
    assert any("W1" in one["text"] and "five" in one["reason"] and "seven" in one["reason"] for one in pairs), pairs
