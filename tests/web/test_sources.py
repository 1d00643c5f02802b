"""Sources over the API: the same list, tested and switched by who may, after consent."""

from __future__ import annotations

import json
import os
import time
import urllib.request
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from tests.web.served import Client, Running
from weft.app import App
from weft.consent import ConsentRequest, Consents
from weft.sources.source_consent import consent_request


def test_sources_are_listed_tested_and_switched(browser: Client, home: Path, desk: Path, tmp_path: Path) -> None:
    folder = desk / "sources" / "notes"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps({"kind": "folder", "path": str(tmp_path)}))
    row = browser.get("/api/w/desk/sources").json[0]
    assert (row["slug"], row["state"], row["tools"]) == ("notes", "untested", 0)
    refused = browser.post("/api/w/desk/sources/notes/test", {}).json
    assert "nobody has agreed to the source notes" in refused["why"]
    parts = {"reads the folder": str(tmp_path)}
    request = ConsentRequest(kind="source", subject="notes", folder=os.path.realpath(desk), parts=parts)
    Consents(home / "config" / "weft").agree(request, "asked")
    tested = browser.post("/api/w/desk/sources/notes/test", {}).json
    assert (tested["state"], tested["tools"]) == ("ready", 3), tested
    tools = browser.get("/api/w/desk/sources/notes/tools").json
    assert [tool["name"] for tool in tools] == ["notes__read", "notes__glob", "notes__grep"]
    off = browser.ask(
        "PUT", "/api/w/desk/sources/notes/enabled", b'{"enabled": false}', Content_Type="application/json"
    )
    assert off.json["enabled"] is False
    assert browser.get("/api/w/desk/sources/none/tools").status in (400, 404)


def test_a_source_is_added_shown_and_taken_away(browser: Client, desk: Path, tmp_path: Path) -> None:
    (tmp_path / "tides.md").write_text("The tide rises twice a day.")
    added = browser.post("/api/w/desk/sources", {"words": str(tmp_path), "slug": "shore", "description": "On tides."})
    assert added.status == 201, added.body
    (made,) = added.json
    assert (made["state"], made["guide"], made["sign_in"]) == ("untested", "On tides.", "")
    assert made["reaches"] == [f"reaches {tmp_path}"]
    assert browser.post("/api/w/desk/sources/shore/test", {}).json["state"] == "ready", "adding it was the consent"
    assert browser.get("/api/w/desk/sources/shore").json["tools"] == 3
    again = browser.post("/api/w/desk/sources", {"words": str(tmp_path), "slug": "shore"})
    assert (again.status, again.json["what"]) == (400, "there is a source shore already")
    assert browser.ask("DELETE", "/api/w/desk/sources/shore").status == 204
    assert "shore" not in [row["slug"] for row in browser.get("/api/w/desk/sources").json]
    assert (desk / "sources" / ".removed" / "shore-1" / "config.json").is_file()


def test_a_configuration_of_another_program_is_pasted(browser: Client) -> None:
    text = json.dumps(
        {
            "mcpServers": {
                "time": {"command": "uvx", "args": ["mcp-server-time"]},
                "wiki": {"url": "https://wiki.example/mcp"},
            }
        }
    )
    added = browser.post("/api/w/desk/sources", {"text": text})
    assert [(one["slug"], one["kind"], one["sign_in"]) for one in added.json] == [
        ("time", "mcp", ""),
        ("wiki", "mcp", "oauth"),
    ]
    for wrong in ({}, {"words": "a", "text": "b"}, {"words": "npx 'x"}, {"text": "just words"}):
        assert browser.post("/api/w/desk/sources", wrong).status == 400, wrong


def test_signing_in_with_a_secret_says_how_it_ended(browser: Client) -> None:
    spec = "openapi: 3.1.0\ninfo: {title: Shop, version: '1'}\nservers: [{url: 'http://127.0.0.1:9'}]\npaths: {}\n"
    (shop,) = browser.post("/api/w/desk/sources", {"text": spec}).json
    assert (shop["slug"], shop["kind"]) == ("shop", "api")
    job = browser.post("/api/w/desk/sources/shop/sign-in", {"secret": "s3cret"}).json
    for _ in range(200):
        job = browser.get(f"/api/w/desk/jobs/{job['id']}").json
        if job["state"] != "working":
            break
        time.sleep(0.05)
    assert job["state"] == "failed"
    assert "needs no sign-in" in job["notes"][0]


def test_where_somebody_signs_in_to_a_source_is_told_to_who_may_do_that(
    server: Running, browser: Client, desk: Path, home: Path
) -> None:
    """The address has the state that the answer must have: who has both signs the source in as somebody else."""
    oauth = {"type": "oauth", "client_id": "weft"}
    oauth |= {"authorization_url": "https://id.example/agree", "token_url": "https://id.example/token"}
    folder = desk / "sources" / "books"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps({"kind": "api", "url": "https://id.example/", "auth": oauth}))
    with App.open(desk) as app:
        asked = consent_request(app.sources().one("books"))
    assert asked is not None
    Consents(home / "config" / "weft").agree(asked, "asked")
    reads = server.with_token("read")
    job = browser.post("/api/w/desk/sources/books/sign-in", {}).json
    while not (shown := browser.get(f"/api/w/desk/jobs/{job['id']}").json)["at"]:
        assert shown["state"] == "working", shown
        time.sleep(0.05)
    told = [one for one in reads.get("/api/w/desk/jobs").json if one["id"] == job["id"]]
    assert [one["at"] for one in (*told, reads.get(f"/api/w/desk/jobs/{job['id']}").json)] == ["", ""]
    back = parse_qs(urlsplit(shown["at"]).query)["redirect_uri"][0]
    urllib.request.urlopen(f"{back}?error=access_denied", timeout=10).close()
    while browser.get(f"/api/w/desk/jobs/{job['id']}").json["state"] == "working":
        time.sleep(0.05)
