"""Whose instructions a conversation is told: the workspace's, and those of the folder it works in."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.made import lay_out
from weft.app import App, SessionRequest
from weft.conversation.context import project_files


def told(workspace: Path, working: Path) -> str:
    async def go() -> str:
        with App.open(workspace) as app:
            request = SessionRequest(talk=True, session="talk", working=working)
            async with app.session(request, reachable=False):
                pass
            return str((await app.next_prompt(request))["system"])

    return asyncio.run(asyncio.wait_for(go(), 60))


@pytest.mark.process
def test_every_file_counts_the_nearest_last_and_the_same_words_once(tmp_path: Path, workspace: Path) -> None:
    lay_out(workspace)
    (workspace / "AGENTS.md").write_text("Speak of looms.\n")
    (workspace / "CLAUDE.md").write_text("Speak of warps.\n")
    project = tmp_path / "project"
    inner = project / "src" / "deep"
    inner.mkdir(parents=True)
    (tmp_path / "AGENTS.md").write_text("Not of this repository.\n")
    (project / ".git").mkdir()
    (project / "CLAUDE.md").write_text("Use tabs.\n")
    (inner / "AGENTS.md").write_text("Use spaces here.\n")
    (inner / "CLAUDE.md").symlink_to("AGENTS.md")
    system = told(workspace, inner)
    places = [system.index(words) for words in ("looms", "warps", "Use tabs.", "Use spaces here.")]
    assert places == sorted(places)
    assert system.count("Use spaces here.") == 1
    assert "Not of this repository" not in system
    (inner / "AGENTS.md").write_bytes(b"\xff\xfe broken")
    assert "Use tabs." in told(workspace, inner)


def test_a_folder_in_no_repository_has_only_its_own(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("x")
    inner = tmp_path / "inner"
    inner.mkdir()
    assert project_files(inner) == []
    (inner / "CLAUDE.md").write_text("y")
    assert project_files(inner) == [inner / "CLAUDE.md"]
