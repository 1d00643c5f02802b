"""What a session made, why, and what would happen: as the page asks for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.orchestrator.test_overruling import CODE as CLAIMS_CODE
from tests.orchestrator.test_overruling import PIPELINE as CLAIMS
from tests.web.served import PIPELINE, Client, Running, begin, until


@pytest.fixture(scope="module")
def session(browser: Client) -> str:
    """At its gate, with one step made."""
    name = begin(browser)
    until(browser, name, "run_ended")
    return name


def ask(browser: Client, path: str) -> Any:
    reply = browser.get(f"/api/w/desk/{path}")
    assert reply.status == 200, reply.body
    return reply.json


def test_an_edit_is_judged_saved_planned_and_accepted(browser: Client, desk: Path) -> None:
    name = begin(browser)
    until(browser, name, "run_ended")
    before = ask(browser, f"sessions/{name}/artifacts/lines.json")
    wrong = browser.post(f"/api/w/desk/sessions/{name}/plan", {"edits": {"lines.json": "[1,"}}).json
    assert "is not JSON" in wrong["findings"][0]["message"]
    good = browser.post(f"/api/w/desk/sessions/{name}/plan", {"edits": {"lines.json": '["one"]'}}).json
    assert (good["findings"], [line["action"] for line in good["lines"]]) == ([], ["skip", "run"])
    assert ask(browser, f"sessions/{name}/artifacts/lines.json") == before
    saved = browser.ask(
        "PUT", f"/api/w/desk/sessions/{name}/artifacts/lines.json", {"text": '["one"]', "if": before["hash"]}
    )
    assert (saved.status, saved.json["findings"]) == (200, [])
    late = browser.ask("PUT", f"/api/w/desk/sessions/{name}/artifacts/lines.json", {"text": "[]", "if": before["hash"]})
    assert late.status == 409
    assert (desk / "sessions" / name / "lines.json").read_text() == '["one"]'
    accepted = browser.post(
        f"/api/w/desk/sessions/{name}/commands", {"command": {"type": "accept_edit", "step": "lines"}}
    )
    assert accepted.status == 200
    versions = ask(browser, f"sessions/{name}/artifacts/lines.json/versions")
    assert [(one["how"], one["current"]) for one in versions] == [("edited", True), ("made", False)]
    assert versions[0]["by"] == {"kind": "person", "name": "", "face": "web"}
    first = ask(browser, f"sessions/{name}/artifacts/lines.json?version={versions[1]['hash']}")
    assert first["text"] == before["text"]
    differs = ask(
        browser,
        f"sessions/{name}/artifacts/lines.json/difference?before={versions[1]['hash']}&after={versions[0]['hash']}",
    )
    assert 'class="line removed"' in differs["html"]
    raw = browser.get(f"/api/w/desk/sessions/{name}/artifacts/lines.json/raw?version=accepted")
    assert (raw.body, raw.headers["content-disposition"]) == (b'["one"]', 'attachment; filename="lines.json"')


def test_a_step_says_why_it_was_made_and_from_what(browser: Client, session: str) -> None:
    step = ask(browser, f"sessions/{session}/steps/lines")
    (attempt,) = step["attempts"]
    assert (step["status"], attempt["cause"], attempt["result"]) == ("waiting for a reply", "first", "completed")
    assert any(name.startswith("input") for name in attempt["inputs"])
    steps = ask(browser, f"sessions/{session}/steps")
    assert [(one["step"], one["executor"], one["requires"]) for one in steps] == [
        ("lines", "code", []),
        ("count", "code", ["lines"]),
    ]
    assert steps[0]["reason"]
    assert browser.get(f"/api/w/desk/sessions/{session}/steps/nosuch").status == 404


def test_documents_are_shown_with_places_in_them(browser: Client, session: str) -> None:
    (document,) = ask(browser, f"sessions/{session}/documents")
    shown = ask(browser, f"sessions/{session}/documents/{document['input']}")
    assert (shown["title"], "The moon" in shown["text"], "<h1>" in shown["html"]) == ("Tides", True, True)
    place = ask(browser, f"sessions/{session}/documents/{document['input']}/place?quote=The%20moon%20%20pulls")
    assert (place["found"], place["heading"]) == ("The moon pulls", "Tides")
    assert shown["text"][place["start"] : place["end"]] == place["found"]
    missing = browser.get(f"/api/w/desk/sessions/{session}/documents/{document['input']}/place?quote=nosuch")
    assert missing.status == 404
    original = browser.get(f"/api/w/desk/sessions/{session}/documents/{document['input']}/original")
    assert b"# Tides" in original.body


def test_what_waits_is_told_with_all_that_answers_it(browser: Client, session: str) -> None:
    found = next(one for one in ask(browser, "waiting") if one["session"]["id"] == session)
    (gate,) = found["gates"]
    assert (gate["message"], [one["id"] for one in gate["choices"]][:1]) == ("Are these the lines?", ["proceed"])


def test_the_log_is_filtered(browser: Client, session: str) -> None:
    page = ask(browser, f"sessions/{session}/log?type=step_started&type=step_completed&step=lines")
    assert [one["event"]["type"] for one in page["records"]] == ["step_started", "step_completed"]
    assert page["records"][0]["envelope"]["by"]["kind"] == "person"
    assert ask(browser, f"sessions/{session}/log?words=nosuchword")["records"] == []


def test_a_frame_needs_no_cookie_and_gets_none(server: Running, browser: Client, session: str) -> None:
    address = ask(browser, f"sessions/{session}/artifacts/lines.json/frame")["address"]
    shown = Client(server.address).get(address)
    assert shown.status == 200
    assert shown.headers["content-security-policy"].startswith("sandbox allow-scripts;")
    assert "set-cookie" not in shown.headers
    assert Client(server.address).get(address[:-2]).status == 404
    assert Client(server.address).get("/frame/x.y").status == 404


def test_a_pipeline_is_drawn_checked_and_saved(browser: Client, desk: Path) -> None:
    (short,) = [one for one in ask(browser, "pipelines") if one["name"] == "notes"]
    assert (short["problems"], short["steps"]) == ([], ["lines", "count"])
    shown = ask(browser, "pipelines/notes")
    assert [(one["name"], one["requires"]) for one in shown["graph"]] == [("lines", []), ("count", ["lines"])]
    assert shown["graph"][0]["gate"]["message"] == "Are these the lines?"
    broken = browser.post("/api/w/desk/pipelines/notes/check", {"text": PIPELINE.replace("requires", "requiers")}).json
    assert broken["problems"][0]["line"] > 1
    assert broken["problems"][0]["key"].startswith("steps.count")
    made = browser.ask("PUT", "/api/w/desk/pipelines/more", {"text": PIPELINE.replace("name: notes", "name: more")})
    assert (made.status, made.json["problems"]) == (200, [])
    try:
        again = browser.ask("PUT", "/api/w/desk/pipelines/more", {"text": "x"})
        assert again.status == 409
        assert browser.ask("PUT", "/api/w/desk/pipelines/..%2fmore", {"text": "x"}).status == 404
    finally:
        (desk / "pipelines" / "more.yaml").unlink()


def test_texts_are_made_readable(browser: Client) -> None:
    texts = [
        {"kind": "markdown", "text": "# A\n\n<script>x</script>"},
        {"kind": "code", "text": "x = 1", "language": "python"},
        {"kind": "diff", "before": "a", "text": "b"},
    ]
    html = browser.post("/api/render", {"texts": texts}).json["html"]
    assert "<h1>A</h1>" in html[0]
    assert "<script" not in html[0]
    assert "added" in html[2]


def test_a_plan_is_made_for_what_is_not_begun(browser: Client) -> None:
    plan = browser.post("/api/w/desk/plan", {"text": "# New\n\nText.\n", "name": "new.md", "pipeline": "notes"})
    assert [line["action"] for line in plan.json["lines"]] == ["run", "run"]


def test_a_session_is_described_put_away_and_taken_back(browser: Client) -> None:
    name = begin(browser)
    until(browser, name, "run_ended")
    change = {"title": "My tides", "status": "doing", "labels": {"topic": "sea", "gone": ""}, "flag": True}
    changed = browser.ask("PATCH", f"/api/w/desk/sessions/{name}", change)
    assert changed.status == 200, changed.body
    entry = browser.ask("PATCH", f"/api/w/desk/sessions/{name}", {"labels": {"gone": None}, "unread": False}).json
    assert (entry["title"], entry["status"], entry["labels"]) == ("My tides", "doing", {"topic": "sea"})
    assert (entry["flag"], entry["unread"]) == (True, False)
    found = ask(browser, "sessions?label=topic=sea&status=doing&flag=true")
    assert [one["session"]["id"] for one in found["sessions"]] == [name]
    refused = browser.ask("PATCH", f"/api/w/desk/sessions/{name}", {"status": "nosuch"})
    assert (refused.status, "no status" in refused.json["what"]) == (409, True)
    assert [one["name"] for one in ask(browser, "marks")["statuses"]] == ["todo", "doing", "done", "cancelled"]
    assert browser.ask("DELETE", f"/api/w/desk/sessions/{name}").status == 204
    assert browser.get(f"/api/w/desk/sessions/{name}").status == 404
    trashed = next(one for one in ask(browser, "trash") if one["session"] == name)
    back = browser.post(f"/api/w/desk/trash/{trashed['name']}/restore", {})
    assert (back.status, back.json["title"]) == (200, "My tides")


def test_the_verdict_on_a_claim_is_overruled_by_who_is_signed_in(browser: Client, desk: Path) -> None:
    (desk / "pipelines" / "claims.yaml").write_text(CLAIMS)
    (desk / "code" / "claims.py").write_text(CLAIMS_CODE)
    name = begin(browser, pipeline="claims", text="The tide rises twice a day. What the moon does is told elsewhere.\n")
    seq = until(browser, name, "run_ended")[-1][0]
    claims = {one["claim"]: one for one in ask(browser, f"sessions/{name}/claims")}
    assert [(one["verdict"], one["by"]) for one in claims.values()] == [("quoted", ""), ("not_checked", "")]
    word = {"type": "overrule_verdict", "claim": "c2", "verdict": "judged", "why": "I looked"}
    assert browser.post(f"/api/w/desk/sessions/{name}/commands", {"command": word}).status == 200
    until(browser, name, "run_ended", seq)
    (_, moon) = ask(browser, f"sessions/{name}/claims")
    assert (moon["verdict"], moon["was"], moon["why"]) == ("judged", "not_checked", "I looked")
    assert moon["judged_by"] == moon["by"]
    refused = browser.post(f"/api/w/desk/sessions/{name}/commands", {"command": {**word, "claim": "c9"}})
    assert "there is no claim 'c9'" in refused.json["what"]
