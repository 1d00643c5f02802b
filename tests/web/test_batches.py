"""Several files at once, what a beginning would cost, and jobs that a server which was started again still knows."""

from __future__ import annotations

import asyncio
import json
import time
from contextlib import suppress
from pathlib import Path

from tests.web.served import PATIENT, PIPELINE, Client, running
from tests.web.test_knowledge import ask
from weft.app.library.estimates import took
from weft.app.library.pipeline_pages import PipelineRun, StepTook
from weft.web.jobs import JobItem, Jobs, Tell


def upload(browser: Client, path: str, files: dict[str, str], **asked: object) -> dict[str, object]:
    parts = [
        f'--b\r\nContent-Disposition: form-data; name="files"; filename="{name}"\r\n\r\n{text}\r\n'
        for name, text in files.items()
    ]
    wish = f'--b\r\nContent-Disposition: form-data; name="asked"\r\n\r\n{json.dumps(asked)}\r\n--b--\r\n'
    reply = browser.ask("POST", path, "".join([*parts, wish]).encode(), Content_Type="multipart/form-data; boundary=b")
    assert reply.status in (200, 201), reply.body
    found: dict[str, object] = reply.json
    return found


def test_a_batch_begins_a_session_for_each_file_and_once(browser: Client) -> None:
    files = {"one.md": "# One\n\nA line.\n", "two.md": "# Two\n\nTwo lines.\n", "empty.md": ""}
    wish = {"pipeline": "notes", "key": "a batch"}
    batch = upload(browser, "/api/w/desk/batches", files, **wish)
    assert upload(browser, "/api/w/desk/batches", files, **wish)["id"] == batch["id"]
    shown = ask(browser, f"batches/{batch['id']}")
    while shown["state"] == "working":
        time.sleep(0.1)
        shown = ask(browser, f"batches/{batch['id']}")
    assert [one["name"] for one in shown["items"]] == [*files]
    assert [bool(one["problem"]) for one in shown["items"]] == [False, False, True]
    for one in shown["items"][:2]:
        assert ask(browser, f"sessions/{one['session']}")["state"] == "waiting"
    assert browser.get("/api/w/desk/batches/nosuch").status == 404


def test_a_server_that_is_ended_begins_no_other_file_of_a_batch(home: Path, own_desk: Path) -> None:
    """Nor does it go on by itself with what it has just stopped. Either would keep it from ending."""
    wish = {"pipeline": "notes", "key": "a long batch"}
    files = {f"{number}.md": PATIENT for number in range(9)}
    with running(home, own_desk) as server:
        browser = server.signed_in()
        batch = upload(browser, "/api/w/desk/batches", files, **wish)
        items: list[dict[str, str]] = batch["items"]  # type: ignore[assignment]
        while not ask(browser, "sessions?state=working")["sessions"]:
            time.sleep(0.05)
        server.process.terminate()
        assert server.process.wait(30) == 0
    begun = [one for one in items if (own_desk / "sessions" / one["session"]).exists()]
    assert 0 < len(begun) < len(items)
    with running(home, own_desk, "--no-resume") as server:
        browser = server.signed_in()
        shown = ask(browser, f"batches/{batch['id']}")
        assert (shown["state"], {one["problem"] for one in shown["items"]}) == ("failed", {""})


def test_a_plan_says_what_it_would_cost_and_makes_nothing(browser: Client) -> None:
    before = len(ask(browser, "sessions?limit=500")["sessions"])
    plan = upload(browser, "/api/w/desk/uploads/plan", {"tides.md": "# Tides\n\nThe sea rises.\n"}, pipeline="notes")
    assert [line["action"] for line in plan["lines"]] == ["run", "run"]  # type: ignore[attr-defined]
    assert plan["estimate"] == {"models": [], "steps": [], "low": 0, "high": 0, "runs": 0, "words": 5}
    said = browser.post("/api/w/desk/plan", {"text": "Short.", "name": "a.md", "pipeline": "notes"})
    assert (said.status, said.json["pipeline"]) == (200, "notes")
    assert len(ask(browser, "sessions?limit=500")["sessions"]) == before
    assert "notes" in PIPELINE


def test_what_is_expected_is_taken_from_runs_whose_cost_is_known() -> None:
    def run(outcome: str, **steps: StepTook) -> PipelineRun:
        return PipelineRun("s", "t", outcome, "", 1, None, steps)

    cheap, dear = StepTook(1, 100, 0.01, 1), StepTook(1, 900, 0.09, 2)
    unknown, none = StepTook(1, 100, None, 1), StepTook(1, 0, 0.0, 1)
    runs = [
        run("done", a=cheap, b=cheap),
        run("done", a=dear, b=cheap),
        run("failed", a=dear, b=dear),
        run("done", a=unknown, b=cheap),
        run("done", a=cheap),
        run("done", a=none, b=none),
    ]
    assert [round(cost, 4) for cost in took(runs, {"a": "m", "b": "m"})] == [0.02, 0.1]


class Kept:
    data: bytes | None = None

    def read(self) -> bytes | None:
        return self.data

    def write(self, data: bytes) -> None:
        self.data = data


def test_jobs_outlive_the_server_and_one_that_was_cut_off_has_failed() -> None:
    kept = Kept()

    begun: list[str] = []

    async def lived() -> None:
        ready = asyncio.Event()

        async def done(tell: Tell) -> list[str]:
            tell(1, 1, "a")
            return ["read"]

        async def hangs(_: Tell) -> list[str]:
            ready.set()
            await asyncio.Event().wait()
            return []

        with suppress(asyncio.CancelledError):
            async with asyncio.TaskGroup() as group:
                jobs = Jobs(group, kept)
                first = jobs.begin("reading", done, key="k", items=[JobItem("a.md", "a-1")])
                assert jobs.begin("reading", done, key="k") is first
                begun.extend((first.id, jobs.begin("reading", hangs).id))
                await ready.wait()
                while first.state == "working":
                    await asyncio.sleep(0)
                await asyncio.sleep(0.01)
                raise asyncio.CancelledError

    async def after(ended: str, cut: str) -> None:
        async with asyncio.TaskGroup() as group:
            jobs = Jobs(group, kept)
            known, lost = jobs.get(ended), jobs.get(cut)
            assert known is not None
            assert lost is not None
            assert (known.state, known.notes, known.items[0].session) == ("done", ("read",), "a-1")
            assert (lost.state, "ask for it again" in lost.notes[0]) == ("failed", True)

    asyncio.run(lived())
    asyncio.run(after(*begun))
    kept.data = b"{broken"
    asyncio.run(after_broken(kept))


def test_what_waits_for_a_person_ends_with_the_server() -> None:
    kept = Kept()

    async def lived() -> str:
        ready = asyncio.Event()

        async def waits(_: Tell) -> list[str]:
            ready.set()
            await asyncio.Event().wait()
            return []

        async with asyncio.timeout(20), asyncio.TaskGroup() as group:
            jobs = Jobs(group, kept)
            name = jobs.begin("signing in to notes", waits).id
            await ready.wait()
            await jobs.close()
        return name

    name = asyncio.run(lived())
    (told,) = json.loads(kept.data or b"[]")
    assert (told["id"], told["state"], "the server ended" in told["notes"][0]) == (name, "failed", True)


async def after_broken(kept: Kept) -> None:
    async with asyncio.TaskGroup() as group:
        assert Jobs(group, kept).all() == []
