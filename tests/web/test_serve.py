"""`weft serve` as a person and a script use it: sign in, begin, follow, answer, and be turned away."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.web.served import TEXT, Client, Running, begin, running, until, weft
from weft.files import Folder
from weft.session.codec import record_fields
from weft.session.log import LogReader


def test_a_run_is_begun_followed_answered_and_done(browser: Client, desk: Path) -> None:
    session = begin(browser)
    seen = until(browser, session, "run_ended")
    assert [number for number, _ in seen] == list(range(1, len(seen) + 1))
    shown = browser.get(f"/api/w/desk/sessions/{session}").json
    assert (shown["state"], shown["title"], shown["waits"]) == ("waiting", "Tides", ["Are these the lines?"])
    gate = next(
        record["event"]["gate"]
        for record in browser.get(f"/api/w/desk/sessions/{session}/log").json["records"]
        if record["event"]["type"] == "gate_opened"
    )
    command = {"command": {"type": "reply_to_gate", "gate": gate, "choice": "proceed"}, "key": "once"}
    first = browser.post(f"/api/w/desk/sessions/{session}/commands", command)
    again = browser.post(f"/api/w/desk/sessions/{session}/commands", command)
    assert (first.status, again.status) == (200, 200)
    assert first.json["seq"] == again.json["seq"]
    rest = until(browser, session, "run_ended", after=seen[-1][0])
    with Folder.open(desk / "sessions" / session) as folder:
        log = [record_fields(record) for record in LogReader(folder).read()]
    assert [number for number, _ in (*seen, *rest)] == [line["seq"] for line in log]
    assert browser.get(f"/api/w/desk/sessions/{session}").json["state"] == "done"
    answered = next(line for line in log if line["type"] == "gate_resolved")
    assert answered["envelope"]["by"] == {"kind": "person", "face": "web"}


def test_what_was_made_is_shown_and_an_edit_is_told(browser: Client, desk: Path) -> None:
    session = begin(browser)
    until(browser, session, "run_ended")
    assert [one["name"] for one in browser.get(f"/api/w/desk/sessions/{session}/artifacts").json] == ["lines.json"]
    shown = browser.get(f"/api/w/desk/sessions/{session}/artifacts/lines.json").json
    assert (shown["edited"], "Tides" in shown["text"]) == (False, True)
    assert shown["html"].startswith('<pre class="code">')
    (desk / "sessions" / session / "lines.json").write_text('["<b>"]')
    shown = browser.get(f"/api/w/desk/sessions/{session}/artifacts/lines.json").json
    assert (shown["edited"], shown["text"], "<b>" in shown["html"]) == (True, '["<b>"]', False)
    for name in ("log.jsonl", "..%2flog.jsonl", "nosuch.json"):
        assert browser.get(f"/api/w/desk/sessions/{session}/artifacts/{name}").status == 404


def test_what_is_refused_says_why(browser: Client) -> None:
    session = begin(browser)
    until(browser, session, "run_ended")
    wrong = {"command": {"type": "reply_to_gate", "gate": "nosuch", "choice": "proceed"}}
    reply = browser.post(f"/api/w/desk/sessions/{session}/commands", wrong)
    assert reply.status == 409
    assert set(reply.json) == {"what", "where", "hint"}
    assert browser.post(f"/api/w/desk/sessions/{session}/commands", {"command": {"type": "nosuch"}}).status == 400
    assert browser.get("/api/w/desk/sessions/nosuch").status == 404
    assert browser.get("/api/w/nosuch/sessions").status == 404
    assert browser.post("/api/w/desk/sessions", {"odd": 1}).status == 422


def test_sessions_are_found_by_their_words(browser: Client) -> None:
    session = begin(browser, text="# Wells\n\nAn artesian well needs no pump.\n", name="wells.md")
    until(browser, session, "run_ended")
    found = browser.get("/api/w/desk/sessions?q=artesian").json
    assert [one["session"]["id"] for one in found["sessions"]] == [session]
    assert any(hit["found"] == "artesian" for hit in found["sessions"][0]["hits"])


def test_nobody_comes_in_without_signing_in(server: Running) -> None:
    nobody = Client(server.address)
    for path in ("/api/me", "/api/w/desk/sessions", "/api/openapi.json", "/api/w/desk/events"):
        assert nobody.get(path).status == 401
    assert nobody.get("/sign-in").status == 200
    assert nobody.get("/api/me", Cookie="weft=br_x_y").status == 401
    assert nobody.get("/api/me", Host="evil.example").status == 421


def test_a_link_signs_in_once(server: Running, browser: Client) -> None:
    assert browser.get("/api/me").json["person"] == "me"
    form = server.link.partition("?")[2].encode()
    reply = Client(server.address).ask(
        "POST", "/sign-in", form, Content_Type="application/x-www-form-urlencoded", Origin=server.address
    )
    assert reply.status == 403


def test_a_cookie_is_not_enough_to_change_something(server: Running, browser: Client) -> None:
    cookie = {"Cookie": browser.headers["Cookie"]}
    wish = {"text": TEXT, "pipeline": "notes"}
    for headers in ({}, {"Origin": "http://evil.example"}, {"Origin": server.address}):
        assert Client(server.address, {**cookie, **headers}).post("/api/w/desk/sessions", wish).status == 403


def test_a_token_does_what_its_scope_says(server: Running) -> None:
    reading = server.with_token("read")
    assert reading.get("/api/w/desk/sessions").status == 200
    assert reading.post("/api/w/desk/sessions", {"text": TEXT, "pipeline": "notes"}).status == 403
    assert reading.get("/api/tokens").status == 403
    both = server.with_token("read", "write")
    until(both, begin(both), "run_ended")


def test_every_route_says_which_role_it_needs(server: Running, browser: Client) -> None:
    paths = browser.get("/api/openapi.json").json["paths"]
    assert len(paths) >= 10
    nobody = Client(server.address)
    for path, methods in paths.items():
        for method in methods:
            filled = path.replace("{workspace}", "desk").replace("{session}", "x-x").replace("{token}", "x")
            assert nobody.ask(method.upper(), filled).status == 401, path


def test_killed_it_goes_on_where_it_was_and_nothing_is_told_twice(home: Path, desk: Path) -> None:
    with running(home, desk) as first:
        browser = first.signed_in()
        session = begin(browser)
        seen = until(browser, session, "gate_opened")
        os.kill(first.process.pid, signal.SIGKILL)
        first.process.wait()
    with running(home, desk) as second:
        browser = second.signed_in()
        gate = next(
            record["event"]["gate"]
            for record in browser.get(f"/api/w/desk/sessions/{session}/log").json["records"]
            if record["event"]["type"] == "gate_opened"
        )
        command = {"command": {"type": "reply_to_gate", "gate": gate, "choice": "proceed"}, "key": "k"}
        assert browser.post(f"/api/w/desk/sessions/{session}/commands", command).status == 200
        rest = []
        for event, number, data in browser.events(f"/api/w/desk/sessions/{session}/events?after={seen[-1][0]}"):
            rest += [number] if number is not None else []
            if event == "run_ended" and data["event"]["outcome"] == "done":
                break
    assert rest == list(range(seen[-1][0] + 1, rest[-1] + 1))


def test_a_port_that_is_taken_is_said(server: Running, home: Path, desk: Path) -> None:
    port = server.address.rsplit(":", 1)[1]
    with pytest.raises(subprocess.CalledProcessError) as caught:
        weft(home, "serve", "--port", port, "--no-open", "--workspace", str(desk))
    assert "can't listen" in caught.value.stderr
    assert "Traceback" not in caught.value.stderr


def test_beyond_this_machine_it_needs_encryption_and_a_passphrase(home: Path, desk: Path) -> None:
    for words in (["--host", "0.0.0.0"], ["--host", "0.0.0.0", "--behind-proxy"]):
        with pytest.raises(subprocess.CalledProcessError) as caught:
            weft(home, "serve", "--port", "0", "--no-open", "--workspace", str(desk), *words)
        assert caught.value.returncode == 2
        assert "beyond this machine" in caught.value.stderr
