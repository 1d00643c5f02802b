"""`weft run --watch` rebuilds what a save changes; `weft open` shows what was made."""

from __future__ import annotations

import os
import signal
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.made import Weft
from tests.terminal import Terminal


def test_a_save_runs_what_it_changes_until_ctrl_c(weft: Weft, source: Path) -> None:
    terminal = Terminal(weft, "run", "--plain", "--watch", str(source), width=300, height=60)

    def after(change: Callable[[], object], *wanted: str) -> None:
        terminal.screen.reset()
        change()
        terminal.wait_for(*wanted, "(Ctrl+C ends)")

    def save() -> None:
        temporary = source.with_suffix(".tmp")
        temporary.write_text("glazed with rain water\n")
        os.replace(temporary, source)

    terminal.wait_for("run done", "(Ctrl+C ends)")
    assert weft.ran() == ["count", "list", "report"]
    after(save, "poem.txt changed", "count started (attempt 2, rerun: the source was changed)", "run done")
    tone = weft.workspace / "profile.json"
    after(
        lambda: tone.write_text('{"style": {"tone": "loud"}}'),
        "profile.json changed",
        "style.tone in the profile was changed",
    )
    pipeline = weft.workspace / "pipelines/letters.yaml"
    good = pipeline.read_text()
    after(lambda: pipeline.write_text(good.replace("[count]", "[cuont]")), "did you mean 'count'?")
    after(lambda: pipeline.write_text(good), "letters.yaml changed", "run done")
    terminal.child.kill(signal.SIGINT)
    assert terminal.end() == 0


def test_what_can_t_be_watched(weft: Weft) -> None:
    assert "can't be watched" in weft("run", "letters", "--watch", "--session-id", "poem").err


def _browser(folder: Path) -> tuple[Path, Path]:
    seen, script = folder / "seen", folder / "browser"
    script.write_text(f'#!/bin/sh\nprintf "%s" "$1" > {seen}\n')
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return script, seen


def test_open_shows_the_result_in_the_browser(
    weft: Weft, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert weft("run", source, "--session-id", "poem").code == 0
    script, seen = _browser(tmp_path)
    monkeypatch.setenv("BROWSER", f"{script} %s")
    opened = weft("open", "poem")
    assert opened.code == 0, opened.err
    assert opened.out == ""
    assert seen.read_text() == (weft.session("poem") / "report.md").as_uri()
    assert weft("open", "poem", "--path").out.strip() == str(weft.session("poem") / "report.md")
    named = weft("open", "poem", "--path", "--artifact", "count.json")
    assert named.out.strip() == str(weft.session("poem") / "count.json")


def test_open_says_what_is_not_there(weft: Weft, source: Path) -> None:
    assert weft("open", "nobody").code == 1
    assert "there is no session nobody" in weft("open", "nobody").err
    assert "is not a session id" in weft("open", "../x").err
    assert weft("run", source, "--session-id", "poem", "--until", "count").code == 0
    early = weft("open", "poem")
    assert early.code == 1
    assert "run --session-id poem" in early.err
    assert "did you mean 'count.json'?" in weft("open", "poem", "--artifact", "cuont.json").err
