"""Every file that Weft reads, spoilt in every simple way: never a traceback, and never silently another result."""

from __future__ import annotations

import io
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.made import Weft, lay_out
from weft.cli.commands import run_command_line

SPOILT: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda _: b"",
    "half": lambda data: data[: len(data) // 2],
    "one bit": lambda data: data[: len(data) // 2] + bytes([data[len(data) // 2] ^ 4]) + data[len(data) // 2 + 1 :],
    "no text": lambda data: b"\xff\xfe\x00" + data,
    "another shape": lambda _: b"[[1, 2, null]]\n",
    "without end": lambda _: b'{"a": ' * 50_000,
}
LOOKING = (("plan", "--session-id", "poem"), ("sessions", "show", "poem"), ("sessions", "verify", "poem"))
OWN = (("trust", "list"), ("secrets", "list"), ("models", "list"))
READ_BY = {"index.db": (("sessions", "list"),), "profile.json": (("profile", "show"), ("plan", "--session-id", "poem"))}
"""What reads a file that the others do not."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with a finished session, and a home with everything a person has there."""
    top = tmp_path_factory.mktemp("made")
    (top / "workspace").mkdir()
    lay_out(top / "workspace")
    (top / "workspace" / "config.toml").write_text("durable = false\n")
    (top / "workspace" / "profile.json").write_text('{"style": {"tone": "expert"}}\n')
    (top / "poem.txt").write_text("so much depends upon a red wheel barrow\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(top / "home"))
        patch.setenv("WEFT_CREDENTIALS_KEY", "open sesame")
        assert run_command_line(["trust", "folder", str(top / "workspace")]) == 0
        patch.setattr("sys.stdin", io.StringIO("correct-horse\n"))
        assert run_command_line(["secrets", "set", "own"]) == 0
        ran = Weft(top / "workspace")("run", top / "poem.txt", "--session-id", "poem")
        assert ran.code == 0, ran.err
        assert run_command_line(["--workspace", str(top / "workspace"), "sessions", "list"]) == 0
    return top


def files(made: Path) -> list[str]:
    kept = [path for path in made.rglob("*") if path.is_file() and path.stat().st_size and path.suffix != ".lock"]
    return sorted(str(path.relative_to(made)) for path in kept if "traces" not in path.parts)


def shown(capsys: pytest.CaptureFixture[str], workspace: Path, words: tuple[str, ...]) -> tuple[int, str]:
    code = run_command_line(["--workspace", str(workspace), *words])
    told = capsys.readouterr()
    assert "Traceback" not in told.err, f"{words}: {told.err}"
    return code, told.out + told.err


@pytest.mark.parametrize("how", SPOILT)
def test_a_spoilt_file_is_said_or_does_not_matter(
    how: str, made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEFT_CREDENTIALS_KEY", "open sesame")
    artifacts = {"count.json", "list.json", "report.md"}
    names = files(made)
    assert {"workspace/sessions/poem/log.jsonl", "workspace/sessions/poem/session.json"} <= {*names}
    assert {"home/.config/weft/consents.json", "home/.config/weft/credentials.json"} <= {*names}
    assert {"workspace/index.db", "workspace/profile.json", "workspace/config.toml"} <= {*names}
    for name in names:
        place = tmp_path / "place"
        shutil.copytree(made, place, symlinks=True)
        monkeypatch.setenv("HOME", str(place / "home"))
        path = place / name
        spoilt = SPOILT[how](path.read_bytes())
        path.write_bytes(spoilt)
        commands = READ_BY.get(path.name, OWN if name.startswith("home/") else LOOKING)
        told = [shown(capsys, place / "workspace", words) for words in commands]
        assert all(code in (0, 1, 2, 5) for code, _ in told), f"{name}, {how}: {told}"
        if name.endswith("log.jsonl"):
            assert any(code == 1 for code, _ in told), f"{how}: a spoilt log is noticed: {told}"
        if path.name == "index.db":
            assert told[0][1].split("\t")[0] == "poem", f"{how}: it is made anew from the logs: {told}"
        if path.name == "profile.json" and how != "one bit":
            assert all(code == 1 and "profile.json" in text for code, text in told), f"{how}: it is said: {told}"
        if path.name in artifacts and "sessions" in path.parts:
            assert told[0][1] != shown(capsys, made / "workspace", LOOKING[0])[1], f"{name}: an edit is not passed over"
        shutil.rmtree(place)


def test_a_session_folder_full_of_strange_things_is_listed_all_the_same(
    made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "workspace"
    shutil.copytree(made / "workspace", place)
    sessions = place / "sessions"
    (sessions / "not-a-folder").write_text("text")
    (sessions / "empty-one").mkdir()
    (sessions / "a-fifo").mkdir()
    os.mkfifo(sessions / "a-fifo" / "log.jsonl")
    (sessions / "a-link").symlink_to(sessions / "poem")
    code, told = shown(capsys, place, ("sessions", "list", "--json"))
    assert code in (0, 1), told
    assert any("poem" in json.loads(line).values() for line in told.splitlines() if line.startswith("{")), told
