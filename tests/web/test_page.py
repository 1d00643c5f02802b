"""The page in a real browser on a real server: what a person does with it, and that it stays true.

One browser and one server for all stories. Whatever happens in any of them, the page writes no error to the console and
asks no other host for anything.
"""

from __future__ import annotations

import base64
import json
import os
import re
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.documents.test_spreadsheet import workbook
from tests.e2e.wired import wired
from tests.gated import lay_out_gated
from tests.lanes import program
from tests.made import Weft
from tests.web.served import Running, running, weft
from weft.files import Disk, Folder
from weft.protocol import conversation_events as t
from weft.protocol.events import DurableEvent, SessionCreated
from weft.session.log import LogHead, LogWriter
from weft.testing.scripted import Hold
from weft.testing.wire import Called, Reply

pytestmark = [pytest.mark.process, pytest.mark.needs("browser")]
ROOT = Path(__file__).parent.parent.parent
TIDES = ROOT / "examples" / "tides.md"
AXE = ROOT / "page" / "node_modules" / "axe-core" / "axe.min.js"
SECONDS = 30_000


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory, home: Path) -> Path:
    folder = tmp_path_factory.mktemp("page") / "desk"
    weft(home, "--workspace", str(folder), "init")
    lay_out_gated(folder)
    return folder


@pytest.fixture(scope="module")
def server(home: Path, desk: Path) -> Iterator[Running]:
    with running(home, desk) as found:
        yield found


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    path = program("browser")
    expect.set_options(timeout=SECONDS)
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture(scope="module")
def context(browser: Browser, server: Running) -> Iterator[BrowserContext]:
    found = browser.new_context(viewport={"width": 1280, "height": 900})
    found.set_default_timeout(SECONDS)
    page = found.new_page()
    page.goto(server.link)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(f"{server.address}/")
    page.close()
    yield found
    found.close()


@pytest.fixture
def page(context: BrowserContext, server: Running) -> Iterator[Page]:
    found = context.new_page()
    wrong: list[str] = []
    found.on("console", lambda told: wrong.append(told.text) if told.type == "error" else None)
    found.on("pageerror", lambda error: wrong.append(str(error)))
    found.on(
        "request",
        lambda asked: None if asked.url.startswith((server.address, "blob:", "data:")) else wrong.append(asked.url),
    )
    yield found
    found.close()
    away = ("ERR_CONNECTION_REFUSED", "ERR_INTERNET_DISCONNECTED", "ERR_NETWORK_CHANGED")  # stories without a network
    assert [text for text in wrong if not any(word in text for word in away)] == []


CALLING = """
name: calling
description: A page that calls somebody else.
steps:
  page: {artifact: page.html, code: "calling.py:page"}
"""
CALLS = """
PAGE = '''<p>waits</p><script>
const told = words => document.body.textContent = words;
try {
  const call = new RTCPeerConnection({iceServers: [{urls: "stun:127.0.0.1:%s"}]});
  call.createDataChannel("out");
  call.onicegatheringstatechange = () => call.iceGatheringState === "complete" && told("has called");
  call.createOffer().then(offer => call.setLocalDescription(offer)).catch(() => told("has called"));
} catch { told("has called") }
</script>'''


def page(step):
    return PAGE % step.text.strip()
"""


def test_a_page_that_a_step_made_calls_nobody_and_is_shown_in_the_page_alone(
    context: BrowserContext, server: Running, desk: Path
) -> None:
    (desk / "code").mkdir(exist_ok=True)
    (desk / "pipelines" / "calling.yaml").write_text(CALLING)
    (desk / "code" / "calling.py").write_text(CALLS)
    page = context.new_page()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as elsewhere:
        elsewhere.bind(("127.0.0.1", 0))
        elsewhere.setblocking(False)
        page.goto(f"{server.address}/")
        wish = {"text": str(elsewhere.getsockname()[1]), "name": "port.txt", "pipeline": "calling"}
        session = page.evaluate(
            """async wish => (await (await fetch("/api/w/desk/sessions", {method: "POST", headers: {"X-Weft": "1",
            "Content-Type": "application/json"}, body: JSON.stringify(wish)})).json()).session""",
            wish,
        )
        page.goto(f"{server.address}/s/{session}/artifact/page.html")
        expect(page.frame_locator("iframe[title='page.html']").locator("body")).to_have_text("has called")
        with pytest.raises(BlockingIOError):
            elsewhere.recv(2000)
    alone = page.locator("iframe[title='page.html']").get_attribute("src")
    page.goto(f"{server.address}{alone}")
    expect(page.locator("body")).to_have_text("This is shown in the page alone: by itself it could lead anywhere.")
    page.close()


def begin_essay(page: Page, server: Running) -> str:
    """A run that waits at its first gate."""
    page.goto(f"{server.address}/")
    made = page.evaluate(
        """async () => (await fetch("/api/w/desk/sessions", {method: "POST", headers: {"X-Weft": "1",
        "Content-Type": "application/json"}, body: JSON.stringify({text: "On rivers. They flow.", name: "rivers.md",
        pipeline: "essay"})})).json()"""
    )
    session: str = made["session"]
    return session


def look_with_axe(page: Page) -> None:
    page.evaluate(AXE.read_text())
    found = page.evaluate(
        "async () => (await axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa']})).violations"
        ".map(one => one.id + ': ' + one.nodes.map(node => node.target.join(' ')).join(', '))"
    )
    assert found == [], page.url


def test_a_document_becomes_a_kit_that_can_be_read(page: Page, server: Running) -> None:
    page.goto(f"{server.address}/new")
    page.get_by_label("Drop a document here").set_input_files(TIDES)
    page.get_by_role("button", name="Make a kit of it").click()
    page.wait_for_url(re.compile(r"/s/tides-"))
    expect(page.locator("header.head").get_by_role("heading", level=1)).to_have_text(
        "The patient machine under the tide tables"
    )
    expect(page.get_by_role("button", name="writing-kit: done")).to_be_visible()
    expect(page.get_by_role("link", name="Read all of it")).to_be_visible()  # what comes above the links moves them
    page.get_by_role("link", name="writing-kit.md", exact=True).first.click()
    expect(page.locator(".panel .document")).to_contain_text("Liverpool")
    look_with_axe(page)
    expect(page.locator(".panel")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("link", name="writing-kit.md", exact=True)).to_be_focused()
    page.go_back()
    expect(page.locator(".panel")).to_be_visible()
    page.go_back()
    expect(page.locator(".panel")).to_have_count(0)


def test_a_run_is_amended_proceeds_through_its_gates_and_survives_reloading(page: Page, server: Running) -> None:
    session = begin_essay(page, server)
    page.goto(f"{server.address}/s/{session}")
    gate = page.get_by_role("region", name="Question after plan")
    expect(gate).to_contain_text("beginning")
    look_with_axe(page)
    gate.get_by_role("button", name=re.compile("change", re.IGNORECASE)).click()
    gate.get_by_label("What should be different?").fill("a middle")
    gate.get_by_role("button", name="Make it again").click()
    expect(gate).to_contain_text("a middle")
    page.reload()
    expect(gate).to_contain_text("a middle")
    review = page.get_by_role("region", name="Question after review")
    gate.get_by_role("button").first.click()
    expect(review).to_contain_text("passed")
    expect(page.get_by_role("button", name="draft: done")).to_contain_text("round 2")
    review.get_by_role("button").first.click()
    expect(page.get_by_role("button", name="report: done")).to_be_visible()
    expect(page.locator(".run > header")).to_contain_text("done")
    page.get_by_role("button", name="verify: done").click()
    assert page.url.endswith(f"/s/{session}/step/verify")
    expect(page.locator(".preview")).to_contain_text("a middle")
    before = page.locator(".timeline").text_content() or ""
    page.reload()
    expect(page.locator(".step")).to_contain_text("Verdict")
    expect(page.locator(".preview")).to_contain_text("a middle")
    expect(page.locator(".timeline")).to_have_text(before)
    page.get_by_text("Run it again").click()
    page.get_by_label("Make", exact=True).select_option("report")
    plan = page.locator(".again .plan")
    expect(plan.get_by_role("row", name=re.compile("report"))).to_contain_text("runs")
    expect(plan.get_by_role("row", name=re.compile("draft"))).to_contain_text("is kept")
    look_with_axe(page)
    page.get_by_role("button", name="Run it", exact=True).click()
    expect(page.locator("article.run")).to_have_count(2)
    expect(page.locator("article.run").last.get_by_role("button", name="report: done")).to_be_visible()


def test_what_waits_is_answered_in_the_inbox(page: Page, server: Running) -> None:
    begin_essay(page, server)
    page.goto(f"{server.address}/")
    expect(page.get_by_text("Is this the plan?").first).to_be_visible()
    look_with_axe(page)
    page.emulate_media(color_scheme="dark")
    look_with_axe(page)
    page.set_viewport_size({"width": 360, "height": 800})
    look_with_axe(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.locator(".ask .primary").first.click()
    expect(page.get_by_text("Shall it be handed in?").first).to_be_visible()


def test_sessions_are_found_by_their_words(page: Page, server: Running) -> None:
    session = begin_essay(page, server)
    page.goto(f"{server.address}/s/{session}")
    expect(page.get_by_role("region", name="Question after plan")).to_be_visible()
    page.goto(f"{server.address}/sessions")
    page.get_by_role("searchbox").fill("rivers")
    expect(page.locator("mark").first).to_have_text(re.compile("rivers", re.IGNORECASE))
    look_with_axe(page)
    page.set_viewport_size({"width": 360, "height": 240})
    row = page.locator("main a.row").first
    row.scroll_into_view_if_needed()
    left = page.evaluate("scrollY")
    assert left > 0
    row.click()
    page.wait_for_url(re.compile("/s/"))
    page.go_back()
    page.wait_for_function("left => scrollY === left", arg=left)


def test_two_pages_on_one_session_and_a_time_without_network(
    context: BrowserContext, page: Page, server: Running
) -> None:
    session = begin_essay(page, server)
    page.goto(f"{server.address}/s/{session}")
    expect(page.get_by_role("region", name="Question after plan")).to_be_visible()
    other = context.new_page()
    other.goto(f"{server.address}/s/{session}")
    expect(other.get_by_role("region", name="Question after plan")).to_be_visible()
    page.get_by_role("region", name="Question after plan").get_by_role("button").first.click()
    expect(other.get_by_role("region", name="Question after review")).to_be_visible()
    context.set_offline(True)
    context.set_offline(False)
    other.get_by_role("region", name="Question after review").get_by_role("button").first.click()
    for one in (page, other):
        expect(one.get_by_role("button", name="report: done")).to_be_visible()
    other.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_place_is_there_and_can_be_read_by_everybody(page: Page, server: Running, scheme: str) -> None:
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    headings = {
        "/new": "New",
        "/sessions": "Sessions",
        "/sessions/trash": "Trash",
        "/pipelines": "Pipelines",
        "/pipelines/essay": "essay",
        "/pipelines/agent/drafter": "drafter",
        "/knowledge": "Knowledge",
        "/sources": "Sources",
        "/schedules": "Schedules",
        "/models": "Models and cost",
        "/settings": "Settings",
        "/nowhere": "There is nothing here",
    }
    for address, heading in headings.items():
        page.goto(f"{server.address}{address}")
        expect(page.get_by_role("heading", level=1)).to_have_text(heading)
        look_with_axe(page)
    page.keyboard.press("Control+k")
    page.get_by_label("Where to, or what?").fill("pipel")
    look_with_axe(page)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Pipelines")


def test_a_list_walked_by_keys_shows_where_one_is_and_the_documentation_is_a_click_away(
    page: Page, server: Running
) -> None:
    page.set_viewport_size({"width": 1280, "height": 480})
    page.goto(f"{server.address}/settings")
    expect(page.get_by_role("heading", level=1)).to_have_text("Settings")
    page.keyboard.press("Control+k")
    listed = page.get_by_role("listbox").get_by_role("option")
    expect(listed).to_have_count(12)
    for _ in range(11):
        page.keyboard.press("ArrowDown")
    expect(listed.last).to_have_attribute("aria-selected", "true")
    expect(listed.last).to_be_in_viewport(ratio=1)
    page.keyboard.press("Escape")
    assert page.get_by_role("link", name="Documentation").get_attribute("href") == "/docs/"


def test_on_a_phone_the_way_to_every_place_is_there_also_when_something_waits(page: Page, server: Running) -> None:
    begin_essay(page, server)
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{server.address}/")
    expect(page.locator(".badge")).to_be_visible()
    expect(page.get_by_role("button", name="More")).to_be_in_viewport(ratio=1)


def test_on_a_phone_a_run_has_its_bar_below_a_long_title(page: Page, server: Running) -> None:
    session = begin_essay(page, server)
    page.evaluate(
        """async (at) => fetch(at, {method: "PATCH", headers: {"X-Weft": "1", "Content-Type": "application/json"},
        body: JSON.stringify({title: "Rivers that nobody had expected to come back to their old beds"})})""",
        f"/api/w/desk/sessions/{session}",
    )
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{server.address}/pipelines/essay")
    expect(page.get_by_role("link", name="Rivers that nobody").locator(".bar")).to_be_in_viewport(ratio=1)


def test_what_cannot_be_taken_out_of_the_trash_says_why(page: Page, server: Running) -> None:
    session = begin_essay(page, server)
    address = f"/api/w/desk/sessions/{session}"
    page.evaluate("async (at) => fetch(at, {method: 'DELETE', headers: {'X-Weft': '1'}})", address)
    page.goto(f"{server.address}/sessions/trash")
    row = page.get_by_role("listitem").filter(has_text=session)
    expect(row).to_be_visible()
    page.route("**/restore", lambda asked: asked.abort("connectionrefused"))
    row.get_by_role("button", name="Restore").click()
    expect(page.get_by_role("alert")).to_contain_text("the server can't be reached")
    page.unroute("**/restore")
    row.get_by_role("button", name="Restore").click()
    expect(row).to_have_count(0)


def test_an_empty_workspace_makes_the_kit_that_it_offers(browser: Browser, home: Path, tmp_path: Path) -> None:
    """What lies there is the person's: nothing is laid beside it before they say so."""
    (tmp_path / "empty").mkdir()
    with running(home, tmp_path / "empty") as server:
        context = browser.new_context()
        page = context.new_page()
        page.goto(server.link)
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_url(f"{server.address}/")
        page.get_by_label("Drop a document here").set_input_files(TIDES)
        expect(page.get_by_role("button", name="Add the pack writing and make a kit of it")).to_be_enabled()
        assert list((tmp_path / "empty").glob("pipelines/*")) == []
        page.get_by_role("button", name="Add the pack writing and make a kit of it").click()
        page.wait_for_url(re.compile(r"/s/tides-"))
        expect(page.get_by_role("button", name="writing-kit: done")).to_be_visible()
        page.goto(f"{server.address}/new")
        expect(page.get_by_role("radio", name="writing")).to_be_checked()
        expect(page.get_by_role("button", name="Make a kit of it")).to_be_visible()
        context.close()


def test_an_address_leads_to_its_session_in_whichever_workspace_it_is(
    browser: Browser, home: Path, desk: Path, tmp_path: Path
) -> None:
    weft(home, "--workspace", str(tmp_path / "other"), "run", str(TIDES), "--session-id", "of-the-other")
    with running(home, desk, "--workspace", str(tmp_path / "other")) as server:
        context = browser.new_context()
        page = context.new_page()
        page.goto(server.link)
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_url(f"{server.address}/")
        expect(page.get_by_label("Workspace")).to_have_value("desk")
        page.goto(f"{server.address}/s/of-the-other")
        expect(page.locator("header.head").get_by_role("heading", level=1)).to_have_text(
            "The patient machine under the tide tables"
        )
        expect(page.get_by_label("Workspace")).to_have_value("other")
        page.keyboard.press("Control+k")
        page.get_by_label("Where to, or what?").fill("of-the-oth")
        expect(page.get_by_role("listbox").get_by_role("option")).to_contain_text(
            "The patient machine under the tide tables"
        )
        page.keyboard.press("Escape")
        page.goto(f"{server.address}/s/of-nobody")
        expect(page.get_by_role("heading", level=1)).to_have_text("There is no such session")
        expect(page.get_by_role("link", name="trash")).to_have_attribute("href", "/sessions/trash")
        context.close()


def test_a_source_is_connected_tested_and_taken_away(page: Page, server: Running, tmp_path: Path) -> None:
    (tmp_path / "tides.md").write_text("The tide rises twice a day.")
    page.goto(f"{server.address}/sources")
    page.get_by_label("Address, folder or command").last.fill(str(tmp_path))
    page.get_by_label("What it is called").fill("shore")
    page.get_by_role("button", name="Connect").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("shore")
    expect(page.get_by_text(f"reaches {tmp_path}")).to_be_visible()
    page.get_by_role("button", name="Test it").click()
    expect(page.get_by_role("heading", name="3 tools")).to_be_visible()
    page.get_by_text("shore__grep").click()
    expect(page.get_by_label("What shore__grep takes")).to_contain_text("pattern")
    look_with_axe(page)
    page.on("dialog", lambda asked: asked.accept())
    page.get_by_role("button", name="Take it away").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Sources")
    expect(page.get_by_text("shore")).to_have_count(0)


def test_a_schedule_is_begun_from_the_page_and_paused(page: Page, server: Running, desk: Path) -> None:
    (desk / "schedules").mkdir(exist_ok=True)
    (desk / "note.md").write_text("# Tides\n\nThe tide rises twice a day.\n")
    start = "start: {pipeline: writing, input: note.md}"
    (desk / "schedules" / "digest.yaml").write_text(f"description: Of the week\ncron: '0 9 * * 1'\n{start}\n")
    page.goto(f"{server.address}/schedules")
    page.get_by_role("link", name="digest", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("digest")
    page.get_by_role("button", name="Run it now").click()
    expect(
        page.get_by_role("region", name="What was begun, and why").get_by_role("cell", name="person").first
    ).to_be_visible()
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_role("button", name="Let it go on")).to_be_visible()
    look_with_axe(page)


def test_an_outline_is_edited_with_its_plan_and_kept(page: Page, server: Running) -> None:
    session = begin_essay(page, server)
    page.goto(f"{server.address}/s/{session}/artifact/plan.json?as=edit")
    text = page.get_by_label("The text of plan.json")
    text.fill('{"title": "On seas", "parts": []}')
    expect(page.locator(".checked")).to_contain_text("parts")
    text.fill('{"title": "On seas", "parts": ["only this"]}')
    expect(page.locator(".checked")).to_contain_text("It fits")
    expect(page.get_by_role("region", name="What a run would do then")).to_contain_text("draft")
    look_with_axe(page)
    page.get_by_role("button", name="Save").click()
    page.get_by_role("button", name="Keep as plan’s result").click()
    page.get_by_role("tab", name="Versions").click()
    expect(page.locator(".versions")).to_contain_text("edited")
    expect(page.locator(".versions .difference, .versions pre")).to_contain_text("only this")
    page.get_by_role("tab", name="Read").click()
    expect(page.locator(".document")).to_contain_text("On seas")


def test_a_session_is_shared_by_a_file_and_by_a_link_that_can_be_revoked_and_its_bundle_is_opened_again(
    browser: Browser, page: Page, server: Running, tmp_path: Path
) -> None:
    session = begin_essay(page, server)
    page.goto(f"{server.address}/s/{session}")
    page.get_by_role("button", name="Share").click()
    expect(page.get_by_text("nothing that looks like a key")).to_be_visible()
    look_with_axe(page)
    with page.expect_download() as download:
        page.get_by_role("link", name="Download").click()
    saved = tmp_path / "session.html"
    download.value.save_as(saved)
    stranger = browser.new_context()
    shown = stranger.new_page()
    shown.goto(saved.as_uri())
    expect(shown.locator("body")).to_contain_text("Is this the plan?")
    page.get_by_role("button", name="Bundle for another Weft").click()
    with page.expect_download() as download:
        page.get_by_role("link", name="Download").click()
    bundle = tmp_path / "session.weft"
    download.value.save_as(bundle)
    page.get_by_role("button", name="Make a link for").click()
    link = page.locator(".marks .terminal").inner_text().strip()
    shown.goto(link)
    expect(shown.locator("body")).to_contain_text("Is this the plan?")
    page.get_by_role("button", name="Revoke").first.click()
    expect(page.get_by_role("button", name="Revoke")).to_have_count(0)
    assert shown.goto(link).status in (403, 404, 410)  # type: ignore[union-attr]
    stranger.close()
    page.goto(f"{server.address}/sessions")
    page.get_by_label("Import").set_input_files(bundle)
    page.wait_for_url(re.compile(r"/s/"))
    assert not page.url.endswith(f"/s/{session}")
    expect(page.get_by_role("region", name="Question after plan")).to_contain_text("beginning")


def test_a_run_is_left_for_something_else_and_taken_up_where_it_was(page: Page, server: Running) -> None:
    session = begin_essay(page, server)
    page.goto(f"{server.address}/s/{session}")
    gate = page.get_by_role("region", name="Question after plan")
    expect(gate).to_be_visible()
    page.get_by_label("Answer, or ask something else").fill("Let's do something else entirely")
    page.keyboard.press("Enter")
    asked = page.get_by_role("region", name="Do you mean this?")
    expect(asked).to_contain_text("It is kept")
    look_with_axe(page)
    asked.get_by_role("button", name="Leave the run").click()
    expect(page.locator(".run > header")).to_contain_text("left")
    expect(page.locator(".run")).to_contain_text("It waits where it was")
    page.reload()
    page.get_by_role("button", name="Take it up again").click()
    expect(page.locator(".run > header")).to_contain_text("waits for you")
    expect(gate).to_contain_text("beginning")
    gate.get_by_role("button").first.click()
    expect(page.get_by_role("region", name="Question after review")).to_be_visible()


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port


def test_an_approval_outlives_the_server_and_a_stream_and_a_process_tree_are_stopped(
    browser: Browser, tmp_path: Path
) -> None:
    """A model asks for a tool; the server is killed and started again under the page's eyes; the call is allowed there.
    Then the model writes and does not end, and is stopped. Then so is a command that started others."""
    home, desk, port = tmp_path / "home", tmp_path / "talk", str(free_port())
    home.mkdir()
    weft(home, "--workspace", str(desk), "init")
    ask = Called(tool="Shell", arguments=json.dumps({"command": "git push origin main", "description": "send it"}))
    tree = f"(sleep {TREE} & sleep {TREE} & sleep {TREE})"
    replies = (
        Reply(calls=(ask,)),
        Reply(text="It is **sent**."),
        Reply(text="On and on", hold=Hold(), hold_after=2),
        Reply(calls=(Called(tool="Shell", arguments=json.dumps({"command": tree, "description": "wait"}), call="c2"),)),
    )
    with wired(Weft(desk), replies):
        with running(home, desk, "--port", port) as first:
            context = browser.new_context()
            context.set_default_timeout(SECONDS)
            page = context.new_page()
            page.goto(first.link)
            page.get_by_role("button", name="Sign in").click()
            page.goto(f"{first.address}/new")
            page.get_by_label("Or paste a text").fill("Send it")
            page.get_by_role("button", name="Talk").click()
            approval = page.get_by_role("region", name="May Shell do this?")
            expect(approval).to_contain_text("git push origin main")
            os.kill(first.process.pid, signal.SIGKILL)
            first.process.wait()
        expect(page.get_by_text("The server is away").first).to_be_visible()
        said = page.locator(".composer textarea")
        said.fill("Nobody hears this")
        said.press("Enter")
        expect(page.get_by_text("the server can't be reached")).to_be_visible()
        with running(home, desk, "--port", port):
            expect(page.get_by_text("The server is away")).to_have_count(0)
            expect(page.get_by_text("the server can't be reached")).to_have_count(0)
            expect(said).to_have_value("Nobody hears this")
            said.fill("")
            said.blur()
            page.keyboard.press("y")
            expect(page.locator(".card strong")).to_have_text("sent")
            page.get_by_label("Say something").fill("Go on")
            page.keyboard.press("Enter")
            expect(page.locator(".card").last).to_contain_text("On and")
            page.keyboard.press("Escape")
            page.keyboard.press("Escape")
            expect(page.locator(".card").last).to_contain_text("interrupted")
            expect(page.get_by_role("button", name="Stop")).to_have_count(0)
            page.get_by_label("Say something").fill("Wait for it")
            page.keyboard.press("Enter")
            wait_until(lambda: len(sleeping()) == 3)
            page.get_by_role("button", name="Stop").click()
            expect(page.locator(".card").last).to_contain_text("interrupted")
            assert sleeping() == []
            context.close()


DEAR = """\
name: dear
description: A model writes, within a budget.
budget: {usd: 0.01}
steps:
  only: {artifact: only.md, agent: plain, final: true}
"""


def test_a_question_waits_in_the_inbox_a_budget_is_raised_and_what_was_cut_off_says_so(
    browser: Browser, tmp_path: Path
) -> None:
    """Also: whoever is signed out loses nothing that was written."""
    home, desk, port = tmp_path / "home", tmp_path / "desk", str(free_port())
    home.mkdir()
    weft(home, "--workspace", str(desk), "init")
    (desk / "pipelines" / "dear.yaml").write_text(DEAR)
    agent = "---\nname: plain\ndescription: Writes.\n---\nWrite of it.\n"
    (desk / ".claude" / "agents" / "plain.md").write_text(agent)
    sea = {"questions": [{"question": "Which sea?", "options": ["North", "South"]}]}
    ask = Reply(calls=(Called(tool="AskUser", arguments=json.dumps(sea)),))
    with wired(Weft(desk), (ask, Reply(text="The **North** it is."), Reply(text="Of rivers."), ask)):
        with running(home, desk, "--port", port) as first:
            context = browser.new_context()
            context.set_default_timeout(SECONDS)
            page = context.new_page()
            page.goto(first.link)
            page.get_by_role("button", name="Sign in").click()
            page.goto(f"{first.address}/new?q=Ask+me")
            page.get_by_role("button", name="Talk").click()
            expect(page.get_by_role("form", name="A question for you")).to_be_visible()
            talk = page.url
            page.goto(f"{first.address}/sessions")
            page.get_by_role("button", name=re.compile("waits for you 1$")).click()
            expect(page.locator(".rows > li")).to_have_count(1)
            page.goto(f"{first.address}/")
            question = page.get_by_role("form", name="A question for you")
            look_with_axe(page)
            question.get_by_label("North").check()
            question.get_by_role("button", name="Answer", exact=True).click()
            expect(page.get_by_role("heading", level=1)).to_have_text("Nothing waits for you")

            page.goto(f"{first.address}/new?pipeline=dear&q=On+rivers.")
            page.get_by_role("button", name="Begin dear").click()
            expect(page.locator(".run > header")).to_contain_text("over budget")
            page.get_by_label("All in all it may take").fill("9")
            page.get_by_role("button", name="Go on").click()
            expect(page.locator(".run > header")).to_contain_text("done")
            expect(page.locator(".preview")).to_contain_text("Of rivers.")

            page.goto(talk)
            expect(page.locator(".card strong")).to_have_text("North")
            page.get_by_label("Say something").fill("And again")
            kept = context.cookies()
            context.clear_cookies()
            page.keyboard.press("Enter")
            expect(page.get_by_text("You are signed out")).to_be_visible()
            expect(page.get_by_label("Say something")).to_have_value("And again")
            context.add_cookies(kept)  # type: ignore[arg-type]
            expect(page.get_by_text("You are signed out")).to_have_count(0)
            page.get_by_label("Say something").press("Enter")
            expect(page.get_by_role("form", name="A question for you")).to_be_visible()
            os.kill(first.process.pid, signal.SIGKILL)
            first.process.wait()
        with running(home, desk, "--port", port):
            expect(page.get_by_text("has ended in the middle of it")).to_be_visible()
            expect(page.get_by_role("button", name="Stop")).to_have_count(0)
            context.close()


TREE = 31415926
"""Seconds that nothing else on a machine sleeps for."""


def sleeping() -> list[str]:
    """The commands that sleep for so long."""
    found = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout.splitlines()
    return [line for line in found if line.startswith("sleep ") and str(TREE) in line]


def wait_until(is_so: Callable[[], bool]) -> None:
    until = time.monotonic() + SECONDS / 1000
    while not is_so():
        assert time.monotonic() < until
        time.sleep(0.05)


def test_many_files_fill_one_table_and_what_will_happen_is_said_first(
    page: Page, server: Running, tmp_path: Path
) -> None:
    files = [tmp_path / f"river-{number}.md" for number in (1, 2)]
    for file in files:
        file.write_text(f"{file.stem} flows. It is long.")
    page.goto(f"{server.address}/new?pipeline=essay")
    page.get_by_label("Drop a document here").set_input_files(files)
    page.get_by_role("button", name="2 sessions, one for each").click()
    told = page.get_by_role("region", name="What will happen")
    expect(told).to_contain_text("plan")
    expect(told).to_contain_text("it costs nothing")
    look_with_axe(page)
    page.get_by_role("button", name="Begin essay").click()
    page.wait_for_url(re.compile(r"/new/batch/"))
    expect(page.locator(".batch tbody tr")).to_have_count(2)
    expect(page.get_by_text("Is this the plan?")).to_have_count(2)
    look_with_axe(page)
    page.reload()
    page.locator(".batch tbody a").first.click()
    expect(page.get_by_role("region", name="Question after plan")).to_be_visible()


def test_an_answer_stands_on_the_page_and_each_sentence_leads_to_its_passage(page: Page, server: Running) -> None:
    page.goto(f"{server.address}/knowledge")
    page.get_by_label("Name of a new collection").fill("sea")
    page.get_by_role("button", name="Make a collection").click()
    document = "# Tides\n\n## The moon\n\nThe moon pulls the sea, and the tide rises twice a day.\n"
    given = {"name": "tides.md", "mimeType": "text/markdown", "buffer": document.encode()}
    page.get_by_label("Drop documents here to add them").set_input_files(given)  # type: ignore[arg-type]
    page.get_by_placeholder("A question to these documents").fill("How often does the tide rise?")
    page.get_by_role("button", name="Ask", exact=True).click()
    claim = page.locator(".answer a.claim").first
    expect(claim).to_contain_text("quoted")
    look_with_axe(page)
    claim.click()
    panel = page.get_by_role("complementary", name="Evidence")
    expect(panel.locator("mark")).to_contain_text("the tide rises twice a day")
    look_with_axe(page)
    page.get_by_role("link", name="Close").click()
    expect(panel).to_have_count(0)
    page.go_back()
    expect(panel).to_be_visible()


def test_several_sessions_are_marked_at_once_and_what_is_shown_is_kept_as_a_view(page: Page, server: Running) -> None:
    for _ in range(2):
        begin_essay(page, server)
    page.goto(f"{server.address}/sessions?pipeline=essay")
    page.get_by_role("button", name="Select").click()
    page.locator(".several input[type=checkbox]").check()
    page.get_by_label("Label for all").fill("river")
    page.keyboard.press("Enter")
    expect(page.locator(".rows .tag").first).to_have_text("river")
    look_with_axe(page)
    page.get_by_label("Label", exact=True).select_option("river")
    page.once("dialog", lambda asked: asked.accept("Rivers"))
    page.get_by_role("button", name="Keep as a view").click()
    page.goto(f"{server.address}/sessions?q=nothing-has-this")
    page.get_by_role("button", name="Rivers").click()
    expect(page.locator(".rows .tag").first).to_have_text("river")
    assert page.url.endswith("pipeline=essay&label=river")


def test_a_long_conversation_opens_from_its_end_and_goes_back_to_its_beginning(
    page: Page, desk: Path, server: Running
) -> None:
    write_long(desk, "long-talk", 240)
    page.goto(f"{server.address}/s/long-talk")
    expect(page.locator(".card").last).to_contain_text("answer 240")
    assert page.locator(".card").count() < 60
    page.goto(f"{server.address}/s/long-talk/log")
    look_with_axe(page)
    page.get_by_label("Filter").fill('"answer 1"')
    expect(page.locator(".log li")).to_have_count(1)
    page.goto(f"{server.address}/s/long-talk/event/6")
    expect(page.get_by_text("answer 1", exact=True)).to_be_visible()
    page.goto(f"{server.address}/s/long-talk")
    expect(page.locator(".card").last).to_contain_text("answer 240")
    for _ in range(300):  # each time there is more above; what one reads stays where it is, so one goes up again
        if page.get_by_text("answer 1", exact=True).count():
            break
        page.evaluate("scrollTo(0, 0)")
        page.wait_for_timeout(100)
    expect(page.locator(".said p").first).to_have_text("words 1")
    expect(page.locator(".card")).to_have_count(240)


def test_a_run_is_begun_in_a_conversation_as_in_a_terminal(page: Page, desk: Path, server: Running) -> None:
    write_long(desk, "spoken", 1)
    page.goto(f"{server.address}/s/spoken")
    expect(page.locator(".card")).to_have_count(1)
    page.get_by_label(re.compile("^Say")).fill("/run essay On rivers: they flow.")
    page.keyboard.press("Enter")
    run = page.locator(".run")
    expect(run.locator("> header")).to_contain_text("waits for you")
    expect(run.get_by_role("button", name="Go on")).to_be_visible()
    expect(page.locator(".card")).to_have_count(1)
    expect(page.get_by_role("heading", level=1)).to_have_text("words 1")
    expect(page.locator(".said", has_text="/run")).to_have_count(0)


def test_a_plan_is_accepted_and_a_message_with_a_file_is_taken_back(page: Page, desk: Path, server: Running) -> None:
    todo = "[x] look at the tide\n[>] write of it\n[ ] read it again"
    write_long(
        desk,
        "planned",
        1,
        t.ToolRequested(conversation="main", turn=1, call="c1", tool="TodoWrite", input={}, verdict="allow"),
        t.IntentRecorded(conversation="main", turn=1, execution="t1/c1", kind="tool", call="c1"),
        t.ToolSettled(
            conversation="main", turn=1, call="c1", execution="t1/c1", outcome="succeeded", effect="none", text=todo
        ),
        t.PlanSubmitted(conversation="main", plan="p1", text="1. Ask the **moon**\n2. Wait", steps=("Ask", "Wait")),
    )
    page.goto(f"{server.address}/s/planned")
    expect(page.get_by_role("region", name="To do").locator("li")).to_have_count(3)
    plan = page.get_by_role("region", name="A plan")
    expect(plan.locator("strong")).to_have_text("moon")
    look_with_axe(page)
    plan.get_by_role("button", name="Accept", exact=True).click()
    expect(page.locator(".plan.decided")).to_contain_text("accepted")
    picture = {"name": "dot.png", "mimeType": "image/png", "buffer": DOT}
    page.get_by_label("Attach files").set_input_files(picture)  # type: ignore[arg-type]
    page.get_by_label(re.compile("^Say")).fill("What is this?")
    page.keyboard.press("Enter")
    said = page.locator(".said", has_text="What is this?")
    expect(said.get_by_alt_text("dot.png")).to_be_visible()
    assert (
        said.get_by_alt_text("dot.png").evaluate(
            "async picture => { await picture.decode(); return picture.naturalWidth }"
        )
        == 1
    )
    expect(page.get_by_role("button", name="Stop")).to_have_count(0)
    book = {
        "name": "tides.xlsx",
        "mimeType": "",
        "buffer": workbook("<row><c><v>9.1</v></c></row><row><c><v>6</v></c></row>"),
    }
    page.get_by_label("Attach files").set_input_files(book)  # type: ignore[arg-type]
    page.get_by_label(re.compile("^Say")).fill("And this?")
    page.keyboard.press("Enter")
    page.get_by_text("tides.xlsx", exact=True).click()
    expect(page.get_by_role("region", name="Tides").locator("td")).to_have_text("6")
    expect(page.get_by_role("button", name="Stop")).to_have_count(0)
    said.get_by_role("button", name="Go back to before this").click()
    look_with_axe(page)
    said.get_by_role("button", name="Go back", exact=True).click()
    expect(said).to_contain_text("taken back")
    expect(page.locator(".note", has_text="You went back")).to_be_visible()
    page.reload()
    expect(said).to_contain_text("taken back")


BLOCKS = """\
The sum of waves is $\\sum_i A_i$; it costs $5.

```mermaid
graph LR
  Moon --> Tide
```

```mermaid
graph LR
  this --> --> is none
```

```csv
station,high
Dover,6.8
Liverpool,9.1
```
"""


def test_blocks_are_drawn_and_an_answer_is_forked_from(page: Page, desk: Path, server: Running) -> None:
    write_long(desk, "blocks", 1, answer=BLOCKS)
    page.goto(f"{server.address}/s/blocks")
    picture = page.get_by_role("img", name="Diagram: graph LR Moon --> Tide")
    expect(picture).to_be_visible()
    width = "async shown => { await shown.decode(); return shown.naturalWidth }"
    assert picture.evaluate(width) > 100
    expect(page.locator(".card math").first).to_be_visible()
    expect(page.get_by_text("This diagram can't be drawn")).to_be_visible()
    expect(page.locator(".card pre", has_text="is none")).to_be_visible()
    page.get_by_role("button", name="high").click()
    expect(page.locator(".card tbody tr").first).to_contain_text("Dover")
    look_with_axe(page)
    light = picture.get_attribute("src")
    page.emulate_media(color_scheme="dark")
    expect(picture).not_to_have_attribute("src", light or "")
    look_with_axe(page)
    page.get_by_role("button", name="Fork from here").click()
    page.wait_for_url(re.compile(r"/s/blocks-fork"))
    expect(picture).to_be_visible()


def test_what_a_person_sets_is_kept(page: Page, server: Running) -> None:
    page.goto(f"{server.address}/pipelines")
    page.get_by_role("button", name="New pipeline").click()
    page.get_by_label("Name of the new pipeline").fill("minutes")
    page.get_by_role("button", name="Make it").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("minutes")
    expect(page.get_by_text("no problems")).to_be_visible()
    page.goto(f"{server.address}/models")
    expect(page.get_by_role("region", name="Budgets", exact=True)).to_contain_text("minutes")
    page.get_by_label("strong").select_option("embedded")
    page.reload()
    expect(page.get_by_label("strong")).to_have_value("embedded")
    page.goto(f"{server.address}/settings")
    page.get_by_label("Topics").fill("tides:5, baking")
    page.get_by_label("Voice").select_option("third-person")
    page.get_by_role("button", name="Save the profile").click()
    expect(page.get_by_text("Saved.")).to_be_visible()
    page.reload()
    expect(page.get_by_label("Topics")).to_have_value("tides:5, baking")
    expect(page.get_by_label("Voice")).to_have_value("third-person")
    look_with_axe(page)


DOT = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def write_long(desk: Path, name: str, turns: int, *inside: DurableEvent, answer: str = "") -> None:
    """The log of a conversation that was had; `inside` its last turn this happened."""
    with Folder.open(desk, Disk(sync=False)) as root, root.folder(f"sessions/{name}", create=True) as folder:
        writer = LogWriter(folder, lambda: datetime.now(UTC), LogHead())
        writer.append([SessionCreated(session=name, pipeline="", weft="0"), t.ConversationOpened(conversation="main")])
        for turn in range(1, turns + 1):
            said, model = f"m{turn}", f"t{turn}/model"
            writer.append(
                [
                    t.MessageAccepted(conversation="main", message=said, text=f"words {turn}", delivery="started"),
                    t.TurnStarted(conversation="main", turn=turn, messages=(said,)),
                    t.IntentRecorded(conversation="main", turn=turn, execution=model, kind="model"),
                ]
            )
            writer.append(
                [
                    t.ModelSettled(
                        conversation="main",
                        turn=turn,
                        execution=model,
                        outcome="completed",
                        text=answer or f"answer {turn}",
                    ),
                    *(inside if turn == turns else ()),
                    t.TurnCompleted(conversation="main", turn=turn, disposition="final", key=None, results={}),
                ]
            )
        writer.append([t.IdleReached(conversation="main"), t.ConversationStopped(conversation="main", clean=True)])
        writer.close()
