"""`weft serve` as a person and a script use it: sign in, begin, follow, answer, and be turned away."""

from __future__ import annotations

import base64
import os
import signal
import subprocess
import sys
import time
from collections import deque
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest

from tests.e2e.wired import wired
from tests.made import Weft
from tests.web.served import CODE, PATIENT, PIPELINE, TEXT, Client, Running, begin, environment, running, until, weft
from weft.consent import Consents
from weft.files import Folder
from weft.session.codec import record_fields
from weft.session.log import LogReader
from weft.testing.scripted import Hold
from weft.testing.wire import Reply


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


def test_a_slash_is_a_command_and_never_sent_to_a_model(browser: Client, desk: Path) -> None:
    session = begin(browser)
    until(browser, session, "run_ended")
    said = [
        browser.post(f"/api/w/desk/sessions/{session}/commands", {"command": {"type": "say", "text": text}})
        for text in ("/result", "/limits turns=3", "/limits", "/rnu", "/run lines /etc/hostname", "/export")
    ]
    assert [one.status for one in said] == [200, 200, 200, 400, 400, 400]
    assert "lines.json" in said[0].json["note"]
    assert "0 of 3 turns" in said[2].json["note"]
    assert "did you mean /run?" in str(said[3].json)
    log = (desk / "sessions" / session / "log.jsonl").read_text()
    assert '"message_accepted"' not in log
    assert '"limits_set"' in log


def test_a_slash_runs_a_pipeline_on_words_or_on_what_was_attached(browser: Client) -> None:
    session = begin(browser)
    last = until(browser, session, "run_ended")[-1][0]
    address = f"/api/w/desk/sessions/{session}"
    file = {"origin": "moon.md", "data": base64.b64encode(b"# Moon\n").decode()}
    for text, files, made in (
        ("/run notes The moon pulls", [], "The moon pulls"),
        ("/run notes", [file], "# Moon"),
    ):
        say = {"type": "say", "text": text, "attachments": files}
        reply = browser.post(f"{address}/commands", {"command": say})
        assert reply.status == 200, reply.body
        last = until(browser, session, "run_ended", after=last)[-1][0]
        assert made in browser.get(f"{address}/artifacts/lines.json").json["text"]
    told = [
        browser.post(f"{address}/commands", {"command": {"type": "say", "text": text, "attachments": [file]}})
        for text in ("/run notes The moon", "/limits turns=3")
    ]
    assert [one.status for one in told] == [400, 400]
    assert "words or files" in str(told[0].json)
    looks = browser.get(f"{address}/log?type=message_accepted").json["records"]
    assert looks == [], "it never reaches a model"


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
    for body, kind, said in (
        (b'{"text": "x", "pipline": "y"}', "application/json", "unknown key 'pipline'"),
        (b"{text", "application/json", "the body is not valid JSON"),
        (b'{"text": "x"}', "text/plain", "the body is not a JSON object, or its Content-Type is not application/json"),
    ):
        reply = browser.ask("POST", "/api/w/desk/sessions", body, Content_Type=kind)
        assert (reply.status, reply.json["what"]) == (422, said)


def test_sessions_are_found_by_their_words(browser: Client) -> None:
    session = begin(browser, text="# Wells\n\nAn artesian well needs no pump.\n", name="wells.md")
    until(browser, session, "run_ended")
    found = browser.get("/api/w/desk/sessions?q=artesian").json
    for _ in range(100):  # who writes puts the words into the index after the decision
        if found["sessions"]:
            break
        time.sleep(0.05)
        found = browser.get("/api/w/desk/sessions?q=artesian").json
    assert [one["session"]["id"] for one in found["sessions"]] == [session]
    assert any(hit["found"] == "artesian" for hit in found["sessions"][0]["hits"])


def test_nobody_comes_in_without_signing_in(server: Running) -> None:
    nobody = Client(server.address)
    for path in ("/api/me", "/api/w/desk/sessions", "/api/openapi.json", "/api/w/desk/events"):
        assert nobody.get(path).status == 401
    assert nobody.get("/sign-in").status == 200
    assert f"weft tokens link {server.address}<" in nobody.get("/sign-in").body.decode()  # which the command can't know
    assert nobody.get("/api/me", Cookie="weft=br_x_y").status == 401
    assert nobody.get("/api/me", Host="evil.example").status == 421


def test_a_link_signs_in_once(server: Running, browser: Client) -> None:
    assert browser.get("/api/me").json["person"] == "me"
    form = server.link.partition("?")[2].encode()
    reply = Client(server.address).ask(
        "POST", "/sign-in", form, Content_Type="application/x-www-form-urlencoded", Origin=server.address
    )
    assert reply.status == 403


def test_a_link_leads_to_the_place_that_was_asked_for(server: Running) -> None:
    nobody = Client(server.address)
    assert nobody.get("/s/%C3%A9%20x").headers["location"] == "/sign-in?next=/s/%25C3%25A9%2520x"
    asked = nobody.get("/sessions?state=waiting&q=a%20b").headers["location"]
    assert asked == "/sign-in?next=/sessions%3Fstate%3Dwaiting%26q%3Da%2520b"
    kept = nobody.get(asked).headers["set-cookie"].partition(";")[0]
    link = weft(server.home, "tokens", "link", server.address).stdout.strip().removeprefix(server.address)
    shown = nobody.get(link, Cookie=kept).body.decode()
    place = "/sessions?state=waiting&q=a%20b"
    assert f'name="next" value="{escape(place)}"' in shown
    form = urlencode({"link": link.partition("link=")[2], "next": place}).encode()
    told = {"Content_Type": "application/x-www-form-urlencoded", "Origin": server.address}
    reply = nobody.ask("POST", "/sign-in", form, **told)
    assert (reply.status, reply.headers["location"]) == (303, place)


@pytest.mark.parametrize("place", ["//evil.example/", "https://evil.example/", "/\\evil.example", "sessions"])
def test_no_other_host_is_led_to(server: Running, place: str) -> None:
    nobody = Client(server.address)
    assert "set-cookie" not in nobody.get(f"/sign-in?{urlencode({'next': place})}").headers
    for address, headers in (
        (f"/sign-in?{urlencode({'link': 'x', 'next': place})}", {}),
        ("/sign-in?link=x", {"Cookie": f"weft-place={quote(place, safe='')}"}),
    ):
        assert 'name="next" value=""' in nobody.get(address, **headers).body.decode()


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
    made = both.post("/api/tokens", {"title": "more", "scopes": ["read", "write", "mcp", "trigger"]})
    assert (made.status, made.json["what"]) == (403, "a token makes no tokens")
    until(both, begin(both), "run_ended")


def test_who_is_let_in_no_longer_follows_no_further(home: Path, own_desk: Path) -> None:
    with running(home, own_desk) as server:
        browser = server.signed_in()
        session = begin(browser)
        until(browser, session, "gate_opened")
        following = server.with_token("read")
        told = [following.events(f"/api/w/desk/{one}") for one in ("events", f"sessions/{session}/events")]
        for event, _, _ in told[1]:
            if event == "caught_up":
                break
        next(told[0])
        for token in browser.get("/api/tokens").json:
            assert browser.ask("DELETE", f"/api/tokens/{token['id']}").status == 204
        assert weft(home, "--workspace", str(own_desk), "reply", session, "proceed").returncode == 0
        until(browser, session, "run_ended")
        listed, followed = ([data for _, _, data in one] for one in told)  # both ended
        assert followed == []
        assert [one for one in listed if one.get("id") == session and one["state"] == "done"] == []
    assert server.errors.splitlines()[1:] == [], server.errors


def test_every_route_says_which_role_it_needs(server: Running, browser: Client) -> None:
    paths = browser.get("/api/openapi.json").json["paths"]
    assert len(paths) >= 10
    assert {path for path in paths if not path.startswith("/api/")} == {"/sign-in"}
    nobody = Client(server.address)
    for path, methods in paths.items():
        if path == "/sign-in":
            continue
        for method in methods:
            filled = path.replace("{workspace}", "desk").replace("{session}", "x-x").replace("{token}", "x")
            assert nobody.ask(method.upper(), filled).status == 401, path


def test_killed_it_goes_on_where_it_was_and_nothing_is_told_twice(home: Path, desk: Path) -> None:
    with running(home, desk) as first:
        browser = first.signed_in()
        session = begin(browser, key="the same wish")
        assert begin(browser, key="the same wish") == session
        assert begin(browser, key="another wish") != session
        seen = until(browser, session, "gate_opened")
        os.kill(first.process.pid, signal.SIGKILL)
        first.process.wait()
    with running(home, desk) as second:
        browser = second.signed_in()
        assert begin(browser, key="the same wish") == session
        log = browser.get(f"/api/w/desk/sessions/{session}/log").json["records"]
        assert [one["event"]["type"] for one in log].count("run_started") == 1
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


def test_told_to_stop_it_waits_for_nobody_who_follows(home: Path, own_desk: Path) -> None:
    with running(home, own_desk) as server:
        browser = server.signed_in()
        session = begin(browser)
        until(browser, session, "run_ended")
        following = [browser.events(f"/api/w/desk/{one}") for one in ("events", f"sessions/{session}/events")]
        for one in following:
            next(one)
    for one in following:
        deque(one, maxlen=0)  # it has ended, and was not cut
    assert server.errors.splitlines()[1:] == [], server.errors


def test_on_a_fresh_machine_it_serves_a_workspace_that_is_ready(home: Path, tmp_path: Path) -> None:
    with running(home, tmp_path / "new"):
        assert (tmp_path / "new/pipelines/writing.yaml").exists()


ASKS = """\
name: asks
description: A model is asked.
steps:
  said:
    artifact: said.json
    agent: said
    final: true
"""


def test_what_begins_goes_by_the_settings_as_they_are_now(home: Path, tmp_path: Path) -> None:
    """A server is open for weeks: a model that was chosen meanwhile is the one that is asked."""
    desk = tmp_path / "desk"
    for name, text in {
        "pipelines/asks.yaml": ASKS,
        ".claude/agents/said.md": "---\nname: said\ndescription: Says it.\n---\nSay what it says.\n",
    }.items():
        (desk / name).parent.mkdir(parents=True, exist_ok=True)
        (desk / name).write_text(text)
    with running(home, desk) as server:
        browser = server.signed_in()
        settings = 'model = "b/m2"\n[models.b]\nkind = "openai"\nbase_url = "http://127.0.0.1:9/v1"\n'
        (desk / "config.toml").write_text(settings)
        session = begin(browser, text="The lamp is lit.", pipeline="asks")
        until(browser, session, "step_model_retried")
    assert '"model":"b/m2"' in (desk / "sessions" / session / "log.jsonl").read_text()


@pytest.mark.fresh
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_told_to_end_it_lets_go_of_its_sessions_in_order(
    home: Path, desk: Path, number: signal.Signals, code: int
) -> None:
    """What runs is stopped and told to be; the next start goes on with it."""
    with running(home, desk) as server:
        browser = server.signed_in()
        session = begin(browser, text=PATIENT)
        until(browser, session, "step_started")
        server.process.send_signal(number)
        assert server.process.wait(60) == code
    with Folder.open(desk / "sessions" / session) as folder:
        log = [record_fields(record) for record in LogReader(folder).read()]
    assert (log[-1]["type"], log[-1]["outcome"], log[-1]["message"]) == (
        *("run_ended", "interrupted"),
        "the session was closed",
    )
    assert [one["type"] for one in log].count("step_interrupted") == 1


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


SLOW = """
import pathlib
import time


def lines(step):
    return step.text.split("\\n")


def count(step):
    for _ in range(600):
        if pathlib.Path("GO").exists():
            return {"lines": len(step.artifacts["lines.json"])}
        time.sleep(0.1)
"""


def test_a_run_that_was_going_goes_on_when_the_server_is_started_again(home: Path, tmp_path: Path) -> None:
    """Killed in the middle of a step; nobody asks for anything after the new start."""
    slow = tmp_path / "slow"
    (slow / "pipelines").mkdir(parents=True)
    (slow / "code").mkdir()
    gateless = PIPELINE.replace("    gate:\n      message: Are these the lines?\n", "")
    (slow / "pipelines" / "notes.yaml").write_text(gateless)
    (slow / "code" / "notes.py").write_text(SLOW.replace('"GO"', repr(str(slow / "go"))))
    wish = {"text": TEXT, "name": "tides.md", "pipeline": "notes"}
    with running(home, slow) as first:
        browser = first.signed_in()
        session = browser.post("/api/w/slow/sessions", wish).json["session"]
        for event, _, data in browser.events(f"/api/w/slow/sessions/{session}/events"):
            if event == "step_started" and data["event"]["step"] == "count":
                break
        os.kill(first.process.pid, signal.SIGKILL)
        first.process.wait()
    (slow / "go").touch()
    with running(home, slow, "--no-resume") as idle:
        assert idle.signed_in().get(f"/api/w/slow/sessions/{session}").json["state"] == "interrupted"
    with running(home, slow) as second:
        browser = second.signed_in()
        for event, _, data in browser.events(f"/api/w/slow/sessions/{session}/events"):
            if event == "run_ended" and data["event"]["outcome"] == "done":
                break
        log = browser.get(f"/api/w/slow/sessions/{session}/log?type=run_started").json["records"]
    assert [one["envelope"]["by"]["kind"] for one in log] == ["person", "machine"]


def test_terminal_and_server_use_one_session_in_both_directions(home: Path, desk: Path, browser: Client) -> None:
    held = begin(browser)  # the server holds it, and a terminal answers its gate
    until(browser, held, "gate_opened")
    done = weft(home, "--workspace", str(desk), "reply", held, "proceed")
    assert done.returncode == 0
    assert browser.get(f"/api/w/desk/sessions/{held}").json["state"] == "done"
    source = desk.parent / "terminal.md"  # a terminal has begun it, and the server shows and answers it
    source.write_text(TEXT)
    words = ["--workspace", str(desk), "run", "notes", str(source), "--session-id", "own-one"]
    begun = subprocess.run(
        [sys.executable, "-m", "weft", *words], env=environment(home), capture_output=True, timeout=120, check=False
    )
    assert begun.returncode == 3
    gate = next(one for one in browser.get("/api/w/desk/waiting").json if one["session"]["id"] == "own-one")
    reply = {"type": "reply_to_gate", "gate": gate["gates"][0]["gate"], "choice": "proceed"}
    assert browser.post("/api/w/desk/sessions/own-one/commands", {"command": reply}).status == 200
    for event, _, data in browser.events("/api/w/desk/sessions/own-one/events"):
        if event == "run_ended" and data["event"]["outcome"] == "done":
            break


def start(home: Path, *words: str, given: int = subprocess.DEVNULL) -> subprocess.Popen[bytes]:
    """A terminal that goes on."""
    return subprocess.Popen(
        [sys.executable, "-m", "weft", *words],
        env=environment(home),
        stdin=given,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def test_a_terminal_follows_and_stops_what_the_server_runs(home: Path, desk: Path, browser: Client) -> None:
    held = begin(browser, text=PATIENT)
    until(browser, held, "step_started")
    with start(home, "--workspace", str(desk), "run", "--session-id", held) as following:
        assert following.stderr is not None
        assert b"is followed" in following.stderr.readline()
        weft(home, "--workspace", str(desk), "interrupt", held)
        assert b"interrupted" in following.stderr.read()
    assert following.returncode == 130
    assert browser.get(f"/api/w/desk/sessions/{held}").json["state"] == "interrupted"


def test_the_server_shows_and_stops_what_a_terminal_runs(
    home: Path, desk: Path, browser: Client, tmp_path: Path
) -> None:
    source = tmp_path / "two.md"
    source.write_text(PATIENT)
    words = ("--workspace", str(desk), "run", "notes", str(source), "--session-id", "terminals")
    with start(home, *words) as running_there:
        assert running_there.stderr is not None
        while b"here" not in running_there.stderr.readline():
            pass
        assert browser.get("/api/w/desk/sessions/terminals").json["state"] == "working"
        until(browser, "terminals", "step_started")  # what was before
        stop = {"command": {"type": "interrupt"}}
        assert browser.post("/api/w/desk/sessions/terminals/commands", stop).status == 200
        until(browser, "terminals", "run_ended")  # what comes
        running_there.stderr.read()
    assert running_there.returncode == 130


def test_a_conversation_is_had_from_a_terminal_and_the_page_at_once(home: Path, desk: Path, browser: Client) -> None:
    here = browser.post("/api/w/desk/sessions", {"message": "hello from the page"}).json["session"]
    there = ("--workspace", str(desk), "chat", "--plain", "--session")
    assert "embedded engine" in weft(home, *there, here, "hello from the terminal").stdout
    weft(home, "--workspace", str(desk), "send", here, "and once more")
    read, write = os.pipe()
    try:
        with start(home, *there, "terminals-talk", given=read) as talking:
            say = {"command": {"type": "say", "text": "hello from the page"}, "key": "once"}
            while (reply := browser.post("/api/w/desk/sessions/terminals-talk/commands", say)).status == 404:
                assert talking.poll() is None
            again = browser.post("/api/w/desk/sessions/terminals-talk/commands", say)
            if (reply.status, again.status) == (200, 200):
                until(browser, "terminals-talk", "turn_completed")
            os.close(write)  # nothing more is said there, so that it ends whatever came of it
            write = -1
            talking.communicate()
        assert (reply.status, again.status) == (200, 200), (reply.body, again.body)
    finally:
        for handle in (read, write):
            if handle >= 0:
                os.close(handle)
    said = {}
    for session in (here, "terminals-talk"):
        log = browser.get(f"/api/w/desk/sessions/{session}/log?type=message_accepted").json["records"]
        said[session] = [(one["event"]["text"], one["envelope"]["by"]["face"]) for one in log]
    assert said == {
        here: [
            ("hello from the page", "web"),
            ("hello from the terminal", "terminal"),
            ("and once more", "terminal"),
        ],
        "terminals-talk": [("hello from the page", "web")],
    }


def test_a_conversation_is_gone_on_with_after_a_restart(home: Path, tmp_path: Path) -> None:
    """It belongs to no pipeline, whatever pipelines there are."""
    place = tmp_path / "two"
    (place / "pipelines").mkdir(parents=True)
    for name in ("one", "other"):
        (place / "pipelines" / f"{name}.yaml").write_text(PIPELINE.replace("name: notes", f"name: {name}"))
    with running(home, place) as first:
        talk = first.signed_in().post("/api/w/two/sessions", {"message": "hello"}).json["session"]
    with running(home, place) as second:
        browser = second.signed_in()
        said = browser.post(f"/api/w/two/sessions/{talk}/commands", {"command": {"type": "say", "text": "and again"}})
        assert said.status == 200, said.body


def test_a_conversation_that_somebody_watches_goes_into_the_trash_while_it_is_answered(
    home: Path, tmp_path: Path
) -> None:
    """The server serves on, whoever still watches it."""
    place = tmp_path / "three"
    place.mkdir()
    replies = [Reply(text="On and on", hold=Hold(), hold_after=2)]
    with wired(Weft(place), replies), running(home, place) as server:
        browser = server.signed_in()
        talk = browser.post("/api/w/three/sessions", {"message": "hello"}).json["session"]
        watching = browser.events(f"/api/w/three/sessions/{talk}/events")
        assert any(event == "text_streamed" for event, _, _ in watching)
        assert browser.ask("DELETE", f"/api/w/three/sessions/{talk}").status == 204
        assert browser.get(f"/api/w/three/sessions/{talk}").status == 404
        del watching  # the server would wait for it


def test_the_client_of_the_examples_runs(server: Running, home: Path, tmp_path: Path) -> None:
    token = server.with_token("read", "write").headers["Authorization"].removeprefix("Bearer ")
    source = tmp_path / "example.md"
    source.write_text(TEXT)
    client = Path(__file__).parent.parent.parent / "examples" / "client.py"
    ran = subprocess.run(
        [sys.executable, str(client), server.address, "desk", "notes", str(source)],
        env={**environment(home), "WEFT_TOKEN": token, "no_proxy": "*"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert "Are these the lines? -> Go on" in ran.stdout
    assert "the run is done" in ran.stdout
    assert "count.json" in ran.stdout


def test_what_is_made_twice_under_one_key_is_made_once(browser: Client) -> None:
    wish = {"title": "once", "scopes": ["read"], "key": "k1"}
    first = browser.post("/api/tokens", wish).json
    assert browser.post("/api/tokens", wish).json == first
    assert browser.post("/api/tokens", {**wish, "key": "k2"}).json["secret"] != first["secret"]
    assert [one["title"] for one in browser.get("/api/tokens").json].count("once") == 2
    named = {"name": "kept-once", "key": "k1"}
    assert [browser.post("/api/w/desk/collections", named).status for _ in range(2)] == [201, 201]
    assert browser.post("/api/w/desk/collections", {"name": "kept-once"}).status == 400


def test_a_program_with_a_trigger_token_begins_a_schedule_and_nothing_else(
    server: Running, desk: Path, browser: Client
) -> None:
    (desk / "schedules").mkdir(exist_ok=True)
    (desk / "schedules" / "asked.yaml").write_text("call: true\nstart: {pipeline: notes, input: tides.md}\n")
    (desk / "schedules" / "counted.yaml").write_text("call: {parameters: [points]}\nstart: {pipeline: counted}\n")
    counted = PIPELINE.replace("name: notes", "name: counted\nparameters: {points: {type: integer, default: 3}}")
    (desk / "pipelines" / "counted.yaml").write_text(counted)
    (desk / "tides.md").write_text(TEXT)
    made = browser.post("/api/tokens", {"title": "caller", "scopes": ["trigger"]}).json["secret"]
    caller = Client(server.address, {"Authorization": f"Bearer {made}"})
    assert caller.get("/api/w/desk/schedules").status == 403
    assert caller.post("/api/w/desk/schedules/asked/run", {}).status == 403
    called = caller.post("/api/w/desk/schedules/asked/call", {"key": "1"})
    assert called.status == 202
    assert caller.post("/api/w/desk/schedules/asked/call", {"key": "1"}).json["session"] == called.json["session"]
    assert caller.post("/api/w/desk/schedules/asked/call", {"parameters": {"x": 1}}).status == 400
    assert caller.ask("POST", "/api/w/desk/schedules/asked/call").status == 202, "there need be nothing in it"
    many = caller.post("/api/w/desk/schedules/counted/call", {"parameters": {"points": "many"}})
    assert (many.status, "must be a whole number" in many.json["what"]) == (400, True)
    session = called.json["session"]
    while browser.get(f"/api/w/desk/sessions/{session}").status == 404:
        time.sleep(0.05)
    until(browser, session, "run_ended")
    assert browser.get(f"/api/w/desk/sessions/{session}").json["state"] == "waiting"
    history = browser.get("/api/w/desk/schedules/asked/history").json
    assert [one["kind"] for one in history].count("decided") == 2
    (row,) = [one for one in browser.get("/api/w/desk/schedules").json if one["name"] == "asked"]
    assert row["when"] == "when it is called"
    reading = browser.post("/api/tokens", {"title": "reader", "scopes": ["read"]}).json["secret"]
    reader = Client(server.address, {"Authorization": f"Bearer {reading}"})
    assert reader.post("/api/w/desk/schedules/asked/call", {}).status == 403


SCOPES = ("--scope", "read", "--scope", "write")
BRIEF = """
name: brief
description: Lines of a text, with a file beside it.
parameters: {brief: {type: file}}
steps:
  lines: {artifact: lines.json, code: "notes.py:lines", gate: {message: Which?, form: [brief]}}
  count: {artifact: count.json, code: "notes.py:count", requires: [lines], parameters: [brief], final: true}
"""


def test_a_file_that_is_named_as_a_parameter_is_one_that_its_namer_may_have_read(tmp_path: Path) -> None:
    home, desk, notes = tmp_path / "home", tmp_path / "desk", tmp_path / "notes.md"
    key = home / ".ssh" / "id_rsa"
    for folder in (desk / "pipelines", desk / "code", desk / "schedules", key.parent):
        folder.mkdir(parents=True, exist_ok=True)
    (desk / "pipelines" / "brief.yaml").write_text(BRIEF)
    (desk / "code" / "notes.py").write_text(CODE)
    (desk / "schedules" / "called.yaml").write_text("call: {parameters: [brief]}\nstart: {pipeline: brief}\n")
    for file in (key, notes, desk / "own.md"):
        file.write_text(f"{file}\n")
    (desk / "link.md").symlink_to(key)
    keys, own = ("~/.ssh/id_rsa", str(desk / "link.md")), str(desk / "own.md")
    with running(home, desk) as server:
        people = {}
        for role in ("look", "answer", "run"):
            weft(home, "persons", "add", role, "--role", role)
            secret = weft(home, "tokens", "add", "t", "--person", role, *SCOPES).stdout.strip()
            people[role] = Client(server.address, {"Authorization": f"Bearer {secret}"})

        def wish(named: str) -> dict[str, Any]:
            return {"text": f"{named} {time.monotonic()}", "pipeline": "brief", "parameters": {"brief": named}}

        def plan(role: str, named: str) -> int:
            return people[role].post("/api/w/desk/plan", wish(named)).status

        assert [plan("look", named) for named in (own, str(notes), *keys)] == [200, 400, 400, 400]
        assert [plan("run", named) for named in (own, str(notes), *keys)] == [200, 200, 400, 400]
        begun = [people["run"].post("/api/w/desk/sessions", wish(named)).status for named in (own, str(notes), *keys)]
        assert begun == [201, 201, 400, 400]
        started = people["run"].post("/api/w/desk/sessions", {"text": "a\nb", "pipeline": "brief"}).json["session"]
        until(people["look"], started, "run_ended")
        place = f"/api/w/desk/sessions/{started}"
        assert people["look"].post(f"{place}/plan", {"parameters": {"brief": str(notes)}}).status == 400
        again = {"type": "start_run", "parameters": {"brief": keys[0]}}
        assert people["run"].post(f"{place}/commands", {"command": again}).status == 400
        called = "/api/w/desk/schedules/called/call"
        assert people["run"].post(called, {"parameters": {"brief": keys[0]}}).status == 400
        assert people["run"].post(called, {"parameters": {"brief": "own.md"}}).status == 202
        reply = {"type": "reply_to_gate", "gate": "lines-1", "choice": "proceed"}
        said = [
            people["answer"].post(f"{place}/commands", {"command": {**reply, "values": {"brief": named}}})
            for named in (str(notes), *keys, own)
        ]
        assert [one.status for one in said] == [400, 400, 400, 200], said
        assert plan("run", "a\0b") == 400
        assert said[1].json["what"] == "brief: ~/.ssh/id_rsa is where keys are kept"
        assert server.signed_in().post("/api/w/desk/plan", wish(keys[0])).status == 200, "who administers, at home"


def test_a_key_that_comes_again_with_another_wish_is_refused_by_every_route(desk: Path, browser: Client) -> None:
    def begun(**asked: object) -> tuple[int, object]:
        reply = browser.post("/api/w/desk/sessions", {"pipeline": "notes", "name": "a.md", "text": TEXT, **asked})
        return reply.status, reply.json.get("session")

    first = begun(key="one-wish")
    assert first[0] == 201
    assert begun(key="one-wish") == first
    for other in ({"text": "Another text."}, {"name": "b.md"}, {"until": "count"}, {"start": False}):
        assert begun(key="one-wish", **other)[0] == 409, other
    assert begun(key="another-wish", text="Another text.")[1] != first[1]
    talk = {"message": "hello", "key": "a-talk"}
    assert browser.post("/api/w/desk/sessions", talk).status == 201
    assert browser.post("/api/w/desk/sessions", {**talk, "message": "good bye"}).status == 409
    token = {"title": "keyed", "scopes": ["read"], "key": "k9"}
    assert browser.post("/api/tokens", token).status == 201
    assert browser.post("/api/tokens", {**token, "title": "other"}).status == 409


TIMED = PIPELINE.replace(
    "message: Are these the lines?", "message: Are these the lines?\n      within: 1s\n      then: proceed"
)


def test_what_is_due_goes_on_whatever_became_of_others(home: Path, tmp_path: Path) -> None:
    """One that can't go on is told of once, by its name, and is in nobody's way."""
    place = tmp_path / "timed"
    (place / "pipelines").mkdir(parents=True)
    (place / "code").mkdir()
    (place / "code" / "notes.py").write_text(CODE)
    source = tmp_path / "tides.md"
    source.write_text(TEXT)
    Consents(home / "config" / "weft").own_work(place)
    for session, name in (("first", "notes"), ("middle", "gone"), ("last", "notes")):
        (place / "pipelines" / f"{name}.yaml").write_text(TIMED.replace("name: notes", f"name: {name}"))
        weft(home, "run", name, str(source), "--session-id", session, "--workspace", str(place), "--plain", expects=3)
    (place / "pipelines" / "gone.yaml").unlink()
    with running(home, place) as server:
        browser = server.signed_in()
        for session in ("first", "last"):
            for event, _, data in browser.events(f"/api/w/timed/sessions/{session}/events"):
                if event == "run_ended" and data["event"]["outcome"] == "done":
                    break
            resolved = browser.get(f"/api/w/timed/sessions/{session}/log?type=gate_resolved").json["records"]
            assert [one["event"]["by"] for one in resolved] == ["deadline"]
    told = [line for line in server.errors.splitlines() if "gone" in line]
    assert told == ["session middle: unknown pipeline 'gone'; the pipelines are: notes"], server.errors
