"""What leaves: exports in three forms, what would leave said first, links until a day, bundles taken in."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.web.served import TEXT, Client, Running, begin, until
from tests.web.test_knowledge import upload
from weft.app import App, taken_in
from weft.protocol.errors import UserError


@pytest.fixture(scope="module")
def session(browser: Client) -> str:
    name = begin(browser, text=TEXT + "\nKept in /home/ada/notes, with sk-abcdefghijklmnopqrstuv.\n")
    until(browser, name, "run_ended")
    return name


def get(browser: Client, path: str) -> Any:
    reply = browser.get(f"/api/w/desk/{path}")
    assert reply.status == 200, reply.body
    return reply


def test_what_would_leave_is_said_before_it_does(browser: Client, session: str) -> None:
    told = get(browser, f"sessions/{session}/export/preview?kind=bundle").json
    assert "log.jsonl" in told["files"]
    assert any(path.startswith("/home/ada/notes") for path in told["paths"])
    assert told["keys"] == ["sk-abcde…"]


def test_a_session_leaves_as_a_page_as_markdown_and_as_a_bundle(browser: Client, session: str) -> None:
    page = get(browser, f"sessions/{session}/export?kind=html")
    assert b"The moon pulls" in page.body
    assert b"http://" not in page.body.replace(b"http-equiv", b"")
    assert b"<script" not in page.body
    assert "attachment" in page.headers["content-disposition"]
    assert b"# Tides" in get(browser, f"sessions/{session}/export?kind=markdown").body
    bundle = get(browser, f"sessions/{session}/export?kind=bundle").body
    begun = upload(browser, "/api/w/desk/imports", "x.zip", bundle, field="bundle")
    assert begun.status == 201, begun.body
    copy = begun.json["session"]
    assert copy != session
    assert get(browser, f"sessions/{copy}").json["state"] == "waiting"
    first = get(browser, f"sessions/{session}/log").json["records"]
    assert get(browser, f"sessions/{copy}/log").json["records"] == first


def test_a_link_shows_one_session_until_it_is_revoked(server: Running, browser: Client, session: str) -> None:
    made = browser.post("/api/w/desk/shares", {"session": session, "days": 1}).json
    nobody = Client(server.address)
    shown = nobody.get(made["address"])
    assert (shown.status, b"The moon pulls" in shown.body) == (200, True)
    assert shown.headers["content-security-policy"].startswith("sandbox")
    assert nobody.get(made["address"][:-4] + "0000").status == 404
    assert session in [one["session"] for one in get(browser, "shares").json]
    assert browser.ask("DELETE", f"/api/w/desk/shares/{made['share']['id']}").status == 204
    assert nobody.get(made["address"]).status == 404


def test_a_link_to_a_session_that_is_gone_does_not_show_the_next_of_its_name(server: Running, browser: Client) -> None:
    """The same file, or the same question, has the same name again."""
    nobody = Client(server.address)
    name = begin(browser, text="# First\n\nThe first that is said.\n", name="shown-once.md")
    until(browser, name, "run_ended")
    address = browser.post("/api/w/desk/shares", {"session": name}).json["address"]
    assert b"The first" in nobody.get(address).body
    assert browser.ask("DELETE", f"/api/w/desk/sessions/{name}").status == 204
    assert nobody.get(address).status == 404
    assert begin(browser, text="# Second\n\nNot for whoever has the link.\n", name="shown-once.md") == name
    until(browser, name, "run_ended")
    assert nobody.get(address).status == 404
    assert browser.ask("DELETE", f"/api/w/desk/sessions/{name}").status == 204
    trashed = [one for one in get(browser, "trash").json if one["name"].startswith(name)]
    first = min(trashed, key=lambda one: len(one["name"]))["name"]
    assert browser.post(f"/api/w/desk/trash/{first}/restore", {}).status == 200
    assert b"The first" in nobody.get(address).body


@pytest.mark.parametrize("name", ["tides/../../evil", "tides/log.jsonl/x", "/etc/passwd", "tides/code/x.py", "a\\b"])
def test_a_bundle_stays_in_its_folder(tmp_path: Path, name: str) -> None:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as bundle:
        bundle.writestr("tides/log.jsonl", b"")
        bundle.writestr(name, b"x")
    with App.open(tmp_path) as app, pytest.raises(UserError, match="no file of a session"):
        taken_in(app, made.getvalue())
    assert not (tmp_path / "sessions" / "tides").exists()
