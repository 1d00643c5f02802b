"""Makes the pictures of the page in docs/screens: `python -m tests.web.screens`. Needs Pillow, to keep them small.

A server on a workspace with a kit, a run that waits, a conversation with a model of a script, and a collection; then
every place at 1,280 and 390 pixels, light and dark.
"""

from __future__ import annotations

import io
import json
import tempfile
import time
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from tests.e2e.wired import wired
from tests.lanes import program
from tests.made import Weft
from tests.web.served import Client, Running, running, weft
from tests.web.test_knowledge import upload
from weft.testing.wire import Called, Reply

ROOT = Path(__file__).parent.parent.parent
SCREENS = ROOT / "docs" / "screens"
TIDES = ROOT / "examples" / "tides.md"
PIPELINE = """\
name: briefing
description: A briefing from a document - a plan that you approve, a draft that is checked, a report.
repair:
  - {steps: [draft, verify], rounds: 2}
steps:
  plan:
    artifact: plan.json
    code: briefing.py:plan
    gate: {message: Is this the plan for the briefing?, show: [title, {at: "parts[*]", label: Parts}]}
  draft:
    artifact: draft.json
    code: briefing.py:draft
    requires: [plan]
  verify:
    artifact: verify.json
    code: briefing.py:verify
    requires: [draft]
  report:
    artifact: report.md
    code: briefing.py:report
    requires: [plan, draft, verify]
    final: true
"""
CODE = """\
def plan(step):
    parts = ["What the machine did, and for whom", "Why a tide is a sum", "What it could not know: the wind of 1953"]
    return {"title": "Tide tables, and what they leave out", "parts": parts}

def draft(step):
    return {"parts": step.artifacts["plan.json"]["parts"]}

def verify(step):
    return {"verdict": "passed"}

def report(step):
    return "\\n".join(step.artifacts["draft.json"]["parts"])
"""
ANSWER = """\
The tables were right and the water was still **more than 2 metres higher**: they answer what the Moon and the Sun do,
not what the wind does.

| | predicted | 31 January 1953 |
|---|---|---|
| Moon and Sun | in the table | as predicted |
| storm in the North Sea | not in the table | + 2 m |

> heights are given for average weather
"""
REPLIES = (
    Reply(
        calls=(
            Called(tool="Read", arguments=json.dumps({"path": "notes/tides.md"}), call="call_1"),
            Called(tool="Shell", arguments=json.dumps({"command": "grep -c 1953 notes/tides.md"}), call="call_2"),
        )
    ),
    Reply(text=ANSWER, pieces=9, input=2140, output=160),
)


SCHEDULE = """\
description: The briefing of the week, every Monday at seven
cron: "0 7 * * MON"
zone: Europe/Berlin
start: {pipeline: briefing, input: notes/tides.md}
"""
CALLED = """\
description: The notes in short, when somebody calls
call: {}
start: {pipeline: summarize, input: notes/tides.md}
"""


def begin(client: Client, **wish: object) -> str:
    session: str = client.post("/api/w/desk/sessions", wish).json["session"]
    return session


def until(client: Client, session: str, kind: str, times: int = 1) -> None:
    for event, _, _ in client.events(f"/api/w/desk/sessions/{session}/events"):
        times -= event == kind
        if not times:
            return


def main() -> None:
    SCREENS.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        home, desk = Path(folder) / "home", Path(folder) / "desk"
        home.mkdir()
        weft(home, "--workspace", str(desk), "init")
        (desk / "pipelines" / "briefing.yaml").write_text(PIPELINE)
        (desk / "code" / "briefing.py").write_text(CODE)
        (desk / "notes").mkdir()
        (desk / "notes" / "tides.md").write_text(TIDES.read_text())
        (desk / "schedules").mkdir(exist_ok=True)
        (desk / "schedules" / "monday.yaml").write_text(SCHEDULE)
        (desk / "schedules" / "notes.yaml").write_text(CALLED)
        with running(home, desk) as server:
            kit, waiting, answer = runs(server.signed_in(), desk / "notes")
        with wired(Weft(desk), REPLIES), running(home, desk) as server:
            take_all(server, kit, waiting, answer)


def runs(client: Client, folder: Path) -> tuple[str, str, str]:
    """A kit, a run that waits at its gate, and the address of a sentence of an answer."""
    text = TIDES.read_text()
    kit = begin(client, text=text, name="tides.md", pipeline="writing")
    until(client, kit, "run_ended")
    waiting = begin(client, text=text, name="tides.md", pipeline="briefing")
    until(client, waiting, "gate_opened")
    notes = {"words": str(folder), "slug": "shore", "description": "Notes on tides, harbours and machines."}
    client.post("/api/w/desk/sources", notes)
    client.post("/api/w/desk/sources/shore/test", {})
    client.post("/api/w/desk/collections", {"name": "tides", "title": "On tides"})
    head, *parts = text.split("\n\n")
    cut = "\n\n".join([head, *(f"## Part {number}\n\n{part}" for number, part in enumerate(parts, 1))])
    job = upload(client, "/api/w/desk/collections/tides/documents", "tides.md", cut.encode()).json["id"]
    while client.get(f"/api/w/desk/jobs/{job}").json["state"] == "working":
        time.sleep(0.2)
    asked = {"question": "How many wheels did the tide machine of 1872 have?"}
    answer: str = client.post("/api/w/desk/collections/tides/ask", asked).json["session"]
    until(client, answer, "run_ended")
    claim = client.get(f"/api/w/desk/sessions/{answer}/claims").json[-1]["claim"]
    return kit, waiting, f"/s/{answer}/claim/{claim}?in=answer.json"


def take_all(server: Running, kit: str, waiting: str, answer: str) -> None:
    client = server.signed_in()
    talk = begin(client, message="Was the table wrong on the night of 31 January 1953? My notes are in notes/tides.md.")
    until(client, talk, "idle_reached", 2)  # it is idle before the first word, too
    places = {
        "inbox": "/",
        "session": f"/s/{waiting}",
        "conversation": f"/s/{talk}",
        "kit": f"/s/{kit}/artifact/writing-kit.html",
        "evidence": f"/s/{kit}/source/source?quote=Where+the+wire+ended%2C+a+pen+wrote+the+sum.",
        "answer": answer,
        "new": "/new",
        "sessions": "/sessions?q=Liverpool",
        "pipelines": "/pipelines/briefing",
        "knowledge": "/knowledge/tides",
        "sources": "/sources/shore",
        "schedules": "/schedules",
        "models": "/models",
        "settings": "/settings",
    }
    cookie = client.headers["Cookie"].partition("=")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program("browser"), args=["--no-sandbox"])
        for width, height in ((1280, 800), (390, 844)):
            for scheme in ("light", "dark"):
                page = opened(browser, server, cookie, width, height, scheme)
                for name, address in places.items():
                    page.goto(server.address + address)
                    page.wait_for_load_state("load")
                    page.wait_for_timeout(1200)
                    page.wait_for_function(
                        "() => !/(reading|fetching|looking|opening|adding up)[^.]*…/.test(document.body.innerText)"
                    )
                    save(page, SCREENS / f"{name}-{width}-{scheme}.png")
                page.context.close()
        browser.close()


def opened(
    browser: Browser, server: Running, cookie: tuple[str, str, str], width: int, height: int, scheme: str
) -> Page:
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme="dark" if scheme == "dark" else "light"
    )
    context.add_cookies([{"name": cookie[0], "value": cookie[2], "url": server.address}])
    return context.new_page()


def save(page: Page, file: Path) -> None:
    """With 64 colours: a page of text needs no more."""
    shown = Image.open(io.BytesIO(page.screenshot())).convert("RGB").quantize(64, dither=Image.Dither.NONE)
    shown.save(file, optimize=True)


if __name__ == "__main__":
    main()
