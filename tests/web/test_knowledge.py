"""Knowledge, models, costs and settings as the page asks for them."""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.web.served import Client, Running, begin, running, until

DOCUMENT = """# Tides

## 1. The moon

1.1 The moon pulls the sea, and the tide rises twice a day.

1.2 At the spring tide, described in 1.1, the sea rises highest.
"""


def ask(browser: Client, path: str) -> Any:
    reply = browser.get(f"/api/w/desk/{path}")
    assert reply.status == 200, reply.body
    return reply.json


def upload(browser: Client, path: str, name: str, data: bytes, field: str = "files") -> Any:
    return upload_all(browser, path, {name: data}, field)


def upload_all(browser: Client, path: str, files: Mapping[str, bytes], field: str = "files") -> Any:
    boundary = "weft-test"
    body = b"".join(
        f'--{boundary}\r\nContent-Disposition: form-data; name="{field}"; filename="{name}"\r\n\r\n'.encode()
        + data
        + b"\r\n"
        for name, data in files.items()
    )
    told = f"multipart/form-data; boundary={boundary}"
    return browser.ask("POST", path, body + f"--{boundary}--\r\n".encode(), Content_Type=told)


def test_a_collection_whose_file_is_broken_hides_no_other(browser: Client, desk: Path) -> None:
    for name in ("bay", "cliff"):
        assert browser.post("/api/w/desk/collections", {"name": name}).status == 201
    (desk / "knowledge/bay/collection.yaml").write_text("title: [\n")
    bay, cliff = ask(browser, "collections")[:2]
    assert (bay["name"], cliff["name"], cliff["problem"]) == ("bay", "cliff", "")
    assert bay["problem"].startswith("knowledge/bay/collection.yaml:")
    shutil.rmtree(desk / "knowledge/bay")


def test_a_server_that_is_ended_does_not_read_on(home: Path, own_desk: Path) -> None:
    """Whoever ends a server waits some seconds, then kills it. What was not read is read when it is asked for again."""
    words = "The keeper of light number {} counts the ships that pass, and writes them into the book at night.\n\n"
    files = {f"{number}.md": "".join(words.format(line * number) for line in range(99)) for number in range(1, 200)}
    data = {name: text.encode() for name, text in files.items()}
    with running(home, own_desk) as server:
        browser = server.signed_in()
        assert browser.post("/api/w/desk/collections", {"name": "lights"}).status == 201
        job = upload_all(browser, "/api/w/desk/collections/lights/documents", data).json
        while ask(browser, f"jobs/{job['id']}")["done"] < 2:
            time.sleep(0.05)
        server.process.terminate()
        assert server.process.wait(10) == 0
    with running(home, own_desk) as server:
        browser = server.signed_in()
        told = ask(browser, f"jobs/{job['id']}")
        assert (told["state"], told["notes"]) == ("failed", ["the server ended before it was done; ask for it again"])
        upload(browser, "/api/w/desk/collections/lights/documents", "last.md", b"The last light.\n")
        while len(ask(browser, "collections/lights")["documents"]) <= len(files):
            time.sleep(0.1)


def test_a_collection_is_made_filled_searched_and_asked(browser: Client) -> None:
    assert browser.post("/api/w/desk/collections", {"name": "sea", "title": "The sea"}).status == 201
    added = upload(browser, "/api/w/desk/collections/sea/documents", "tides.md", DOCUMENT.encode())
    assert added.status == 202, added.body
    job = added.json
    for _ in range(600):
        job = ask(browser, f"jobs/{job['id']}")
        if job["state"] != "working":
            break
        time.sleep(0.1)
    assert (job["state"], job["done"] > 0) == ("done", True), job
    shown = ask(browser, "collections/sea")
    assert [one["file"] for one in shown["documents"]] == ["tides.md"]
    found = ask(browser, "collections/sea/search?q=moon%20rises&mode=words")
    hit = found["hits"][0]
    assert "moon" in hit["words"]
    assert (hit["paths"], hit["bm25"] is not None) == (["keyword"], True)
    passage = ask(browser, f"collections/sea/passages/{hit['id']}")
    assert passage["passage"]["text"] == hit["text"]
    assert browser.get("/api/w/desk/collections/sea/passages/nosuch").status == 404
    assert browser.get("/api/w/desk/collections/nosuch").status == 400
    mixed = {"x.exe": b"x", "harbour.md": b"A harbour.\n", "y.dll": b"y"}
    refused = upload_all(browser, "/api/w/desk/collections/sea/documents", mixed)
    assert refused.status == 400
    assert refused.json["what"] == "x.exe, y.dll are of no kind that is read; nothing was added"
    begun = browser.post(
        "/api/w/desk/collections/sea/ask", {"question": "How often does the tide rise?", "key": "tide-question"}
    )
    assert begun.status == 201, begun.body
    again = browser.post(
        "/api/w/desk/collections/sea/ask", {"question": "How often does the tide rise?", "key": "tide-question"}
    )
    assert again.json["session"] == begun.json["session"]
    until(browser, begun.json["session"], "run_ended")
    answer = ask(browser, f"sessions/{begun.json['session']}/artifacts/answer.json")
    assert "twice a day" in answer["text"]


def test_models_costs_packs_profile_and_permissions_are_told(browser: Client) -> None:
    models = ask(browser, "models")
    assert [(one["model"], one["default"]) for one in models][:1] == [("embedded", True)]
    tested = browser.post("/api/w/desk/models/test", {"model": "embedded"})
    assert (tested.status, tested.json["answers"]["works"]) == (200, True)
    assert browser.post("/api/w/desk/models/test", {"model": "nosuch/x"}).status == 400
    assert ask(browser, "models/explain")["lines"]
    costs = ask(browser, "costs?by=model&days=7")
    assert costs["total"]["usd"] == 0.0
    assert "writing" in [one["name"] for one in ask(browser, "packs")]
    profile = ask(browser, "profile")
    changed = {**profile["profile"], "topics": [{"topic": "tides", "interestLevel": "high"}]}
    saved = browser.ask("PUT", "/api/w/desk/profile", {"profile": changed, "if": profile["hash"]})
    assert saved.status == 200, saved.body
    assert browser.ask("PUT", "/api/w/desk/profile", {"profile": {}, "if": profile["hash"]}).status == 409
    judged = browser.post("/api/w/desk/permissions/judge", {"subject": "git push"}).json
    assert (judged["decision"], bool(judged["rule"])) == ("ask", True)
    rules = ask(browser, "permissions")["rules"]
    assert {one["verb"] for one in rules} >= {"ask", "deny"}
    assert all(one["place"] for one in rules)
    assert "Shell" in [one["name"] for one in ask(browser, "tools")]


def test_the_list_is_told_of_what_a_terminal_wrote(server: Running, browser: Client) -> None:
    session = begin(browser)
    until(browser, session, "run_ended")
    for event, _, data in browser.events("/api/w/desk/events"):
        if event == "session" and data["id"] == session:
            assert data["state"] == "waiting"
            break
