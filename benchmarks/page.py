"""The page in a real browser: what the first view weighs, how fast a long conversation opens, what streaming costs.

    python -m benchmarks.page [--turns 2000] [--pieces 10000] [--rate 1000]

Bytes are those of the answers as sent (compressed). Opening is from the address to the last turn on the screen.
Streaming is a model that writes so many pieces a second: the share of a core that the page's main thread takes, by its
own clock, so that what else the machine does counts little.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from playwright.sync_api import CDPSession, Page, sync_playwright
from tests.e2e.wired import wired
from tests.lanes import program
from tests.made import Weft
from tests.web.served import Client, Running, running, weft

from benchmarks.long_log import SESSION, build
from weft.testing.wire import Reply

WANTED = {"first view, kB": 120.0, "long conversation opens, s": 1.0, "main thread while streaming, %": 50.0}


def first_view(page: Page, server: Running) -> float:
    sizes: list[int] = []
    page.on("requestfinished", lambda one: sizes.append(one.sizes()["responseBodySize"]))
    page.goto(f"{server.address}/new")
    page.get_by_role("heading", level=1).wait_for()
    page.wait_for_load_state("load")
    return sum(sizes) / 1000


def opening(page: Page, tools: CDPSession, server: Running) -> tuple[float, float, float]:
    """Seconds on the wall, and of the page's main thread and the server's process alone."""
    page.goto(f"{server.address}/settings")
    page.get_by_role("heading", level=1).wait_for()
    begun, serving = time.perf_counter(), of_process(server.process.pid)
    page.goto(f"{server.address}/s/{SESSION}")
    page.locator(".timeline .card").last.wait_for(timeout=60_000)
    return time.perf_counter() - begun, worked(tools), of_process(server.process.pid) - serving


def of_process(process: int) -> float:
    """Seconds of CPU."""
    told = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(told[11]) + int(told[12])) / os.sysconf("SC_CLK_TCK")


def scrolling(page: Page, tools: CDPSession) -> tuple[float, int]:
    """Back to the first turn: the share of a core that it takes, and the turns that are then drawn."""
    before, begun = worked(tools), time.perf_counter()
    while page.locator("button.earlier").count():
        page.mouse.wheel(0, -1500)
        page.wait_for_timeout(30)
    return (worked(tools) - before) / (time.perf_counter() - begun) * 100, page.locator(".timeline .card").count()


def prose(pieces: int) -> str:
    """Markdown as models write it, six letters to a piece; no part of it is another's, or it would be taken for a model
    that repeats itself."""
    found, size, words = [], 0, random.Random(7)
    while size < pieces * 6:
        some = " ".join("".join(words.choices("etaoinshrdlu", k=words.randint(2, 9))) for _ in range(24))
        part = f"## {some[:20]}\n\nThe *{some[:30]}* and **{some[30:50]}**:\n\n- {some[50:90]}\n- `{some[90:110]}`\n\n"
        found.append(part)
        size += len(part)
    return "".join(found)[: pieces * 6]


def streaming(page: Page, tools: CDPSession, server: Running, client: Client, pieces: int) -> tuple[float, float]:
    session = client.post("/api/w/desk/sessions", {"message": "Write."}).json["session"]
    page.goto(f"{server.address}/s/{session}")
    page.locator(".card .formatted").last.wait_for(timeout=60_000)
    before, begun = worked(tools), time.perf_counter()
    page.locator(".card footer").wait_for(timeout=120_000)
    seconds = time.perf_counter() - begun
    return (worked(tools) - before) / seconds * 100, pieces / seconds


def worked(tools: CDPSession) -> float:
    return measured(tools, "TaskDuration")


def heap(tools: CDPSession) -> float:
    """Megabytes that the page's script holds on to."""
    tools.send("HeapProfiler.collectGarbage")
    return measured(tools, "JSHeapUsedSize") / 1e6


def measured(tools: CDPSession, name: str) -> float:
    found = tools.send("Performance.getMetrics")["metrics"]
    return float(next(one["value"] for one in found if one["name"] == name))


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.page")
    parser.add_argument("--turns", type=int, default=2000)
    parser.add_argument("--pieces", type=int, default=10_000)
    parser.add_argument("--rate", type=float, default=1000)
    given = parser.parse_args(words)
    with tempfile.TemporaryDirectory() as folder:
        home, desk = Path(folder) / "home", Path(folder) / "desk"
        home.mkdir()
        weft(home, "--workspace", str(desk), "init")
        size = build(desk, given.turns)
        reply = Reply(text=prose(given.pieces), pieces=given.pieces, a_second=given.rate, output=given.pieces)
        with wired(Weft(desk), [reply]), running(home, desk) as server, sync_playwright() as playwright:
            client = server.signed_in()
            name, _, value = client.headers["Cookie"].partition("=")
            browser = playwright.chromium.launch(executable_path=program("browser"), args=["--no-sandbox"])
            context = browser.new_context(viewport={"width": 1280, "height": 900})
            context.add_cookies([{"name": name, "value": value, "url": server.address}])
            page = context.new_page()
            tools = context.new_cdp_session(page)
            tools.send("Performance.enable", {"timeDomain": "threadTicks"})
            weighs = first_view(page, server)
            opens, drawn, served = min(opening(page, tools, server) for _ in range(3))
            at_first = heap(tools)
            scrolls, cards = scrolling(page, tools)
            at_last = heap(tools)
            share, rate = streaming(page, tools, server, client, given.pieces)
            browser.close()
    print(f"first view: {weighs:.0f} kB")
    told = f"{drawn:.2f} s of the page, {served:.2f} s of the server"
    print(f"{given.turns} turns ({size / 1e6:.1f} MB of log) open in {opens:.2f} s: {told}")
    print(f"back to the first of them ({cards} cards): the main thread works {scrolls:.0f} % of the time")
    print(f"the page holds {at_first:.0f} MB when it is open, {at_last:.0f} MB with all of it")
    print(f"streaming {rate:.0f} pieces a second: the main thread works {share:.0f} % of the time")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
