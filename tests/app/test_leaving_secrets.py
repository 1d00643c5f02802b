"""What leaves holds no secret of the person's, also one that the log has from before it was kept as one."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.doors import talk_in
from weft.app import App, exported
from weft.app.connections.secrets import person_secrets
from weft.protocol.errors import UserError
from weft.testing.scripted import ScriptedModel, Turn, says

pytestmark = pytest.mark.process
SECRET = "umbrella-7-lantern"


def test_an_export_holds_no_secret_of_the_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEFT_CREDENTIALS_KEY", "open sesame")
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "config.toml").write_text('model = "scripted"\n')
    model = ScriptedModel([Turn(says("I see."))])

    async def life() -> None:
        with App.open(workspace, models={"scripted": model}) as app:
            async with talk_in(app, session="talk", working=tmp_path) as talk:
                await talk.say(f"my word is {SECRET}")
                await talk.idle()
            assert SECRET in exported(app, "talk", "markdown")[1].decode(), "nobody had said that it is one"
            person_secrets(app.surroundings, None).put("own", SECRET)
            for kind in ("markdown", "html"):
                made = exported(app, "talk", kind)[1].decode()
                assert SECRET not in made
                assert "[secret own]" in made
            with pytest.raises(UserError, match=r"log\.jsonl of session talk holds one of your secrets"):
                exported(app, "talk", "bundle")

    asyncio.run(life())
