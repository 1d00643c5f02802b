"""Pipelines, agents and skills that did not exist: from templates, and drafted by a model until nothing is wrong."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.made import lay_out
from weft.app import App, TemplateKind, lay_draft
from weft.app.library.scaffolding import build, drafted, new_files, problems_of
from weft.models.model import Request
from weft.protocol.errors import UserError
from weft.testing.scripted import ScriptedModel, Turn, says

SKILL = "---\nname: dates\ndescription: How dates are written here.\n---\nYear first.\n"


@pytest.mark.parametrize("kind", ["pipeline", "agent", "skill"])
def test_what_is_laid_from_a_template_is_good_as_it_is(workspace: Path, kind: TemplateKind) -> None:
    lay_out(workspace)
    with App.open(workspace) as app:
        files = new_files(kind, "mail")
        assert problems_of(app, kind, "mail", files) == []
        lay_draft(app, drafted(app, kind, "mail", files))
        with pytest.raises(UserError, match="there already"):
            drafted(app, kind, "mail", files)
        if kind == "pipeline":
            assert list(app.workspace.pipeline("mail").steps) == ["points", "text"]


def test_a_draft_is_put_right_until_nothing_is_wrong_with_it(workspace: Path) -> None:
    lay_out(workspace)
    good = new_files("pipeline", "mail")
    broken = {
        **good,
        "pipelines/mail.yaml": good["pipelines/mail.yaml"].replace("requires: [points]", "requires: [x]"),
    }
    with_code = {**good, "code/evil.py": "import os"}

    def answer(files: dict[str, str]) -> str:
        listed = [{"path": path, "text": text} for path, text in files.items()]
        return json.dumps({"kind": "pipeline", "name": "mail", "files": listed})

    def told(words: str) -> Callable[[Request], bool]:
        def check(request: Request) -> bool:
            return words in str(request.messages[-1].content[0])

        return check

    turns = [
        Turn(says(answer(broken)), expect=told("dates in letters")),
        Turn(says(answer(with_code)), expect=told("unknown")),
        Turn(says(answer(good)), expect=told("never code")),
    ]
    model = ScriptedModel(turns)
    with App.open(workspace) as app:
        heard: list[str] = []
        draft = asyncio.run(build(app, model, "find the dates in letters", heard.append))
        model.assert_done()
        assert [line.partition(",")[0].strip(")") for line in heard] == [
            f"{model.name} drafts it (try {number} of 4" for number in (1, 2, 3)
        ]
        assert "never code" in heard[2], "whoever waits hears why it is tried again"
        assert draft.asks == 3
        assert "+++ pipelines/mail.yaml" in draft.diff
        assert "mail" not in app.workspace.pipeline_names()  # nothing is changed before somebody says yes
        lay_draft(app, draft)
        assert app.workspace.check_pipeline("mail") == []


def test_a_source_is_drafted_and_holds_no_secret(workspace: Path) -> None:
    lay_out(workspace)

    def answer(**config: object) -> str:
        files = [{"path": "sources/rivers/config.json", "text": json.dumps({"kind": "api", **config})}]
        return json.dumps({"kind": "source", "name": "rivers", "files": files})

    good = {"url": "https://api.example.org/v1", "auth": {"type": "bearer", "secret": "env:RIVERS"}}
    model = ScriptedModel([Turn(says(answer(address="x"))), Turn(says(answer(**good)))])
    with App.open(workspace) as app:
        draft = asyncio.run(build(app, model, "the river levels of example.org"))
        assert "unknown key" in str(model.requests[1].messages[-1]) or "url" in str(model.requests[1].messages[-1])
        lay_draft(app, draft)
        assert app.sources().one("rivers").config.address == "https://api.example.org/v1"


def test_one_that_is_never_good_says_what_is_wrong(workspace: Path) -> None:
    lay_out(workspace)
    files = [{"path": ".claude/skills/dates/SKILL.md", "text": SKILL.replace("name: dates", "name: other")}]
    said = json.dumps({"kind": "skill", "name": "dates", "files": files})
    with App.open(workspace) as app, pytest.raises(UserError, match="in 4 tries"):
        asyncio.run(build(app, ScriptedModel([Turn(says(said))] * 4), "dates"))
