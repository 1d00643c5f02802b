"""The page in a real browser on a real server: what a person does with it, and that it stays true.

One browser and one server for all stories. Whatever happens in any of them, the page writes no error to the console and
asks no other host for anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.gated import lay_out_gated
from tests.lanes import program
from tests.web.served import Running, running, weft

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
    expect.set_options(timeout=SECONDS)
    yield found
    found.close()
    assert [text for text in wrong if "ERR_CONNECTION_REFUSED" not in text] == []


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
    expect(page.get_by_role("heading", level=1)).to_have_text("The patient machine under the tide tables")
    expect(page.get_by_role("button", name="writing-kit: done")).to_be_visible()
    page.get_by_role("link", name="writing-kit.md", exact=True).first.click()
    expect(page.locator(".panel .document")).to_contain_text("Liverpool")
    look_with_axe(page)
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
    page.keyboard.press("1")
    review = page.get_by_role("region", name="Question after review")
    expect(review).to_contain_text("passed")
    expect(page.get_by_role("button", name="draft: done")).to_contain_text("round 2")
    review.get_by_role("button").first.click()
    expect(page.get_by_role("button", name="report: done")).to_be_visible()
    expect(page.locator(".run > header")).to_contain_text("done")
    page.get_by_role("button", name="verify: done").click()
    assert page.url.endswith(f"/s/{session}/step/verify")
    before = page.locator(".timeline").inner_text()
    page.reload()
    expect(page.locator(".step")).to_contain_text("Verdict")
    assert page.locator(".timeline").inner_text() == before


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
    page.goto(f"{server.address}/sessions")
    page.get_by_role("searchbox").fill("Liverpool")
    expect(page.locator("mark").first).to_have_text("Liverpool")
    look_with_axe(page)


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
