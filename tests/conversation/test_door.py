"""The door of an open session: another process of the same person gets in, nobody else does."""

from __future__ import annotations

import asyncio
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from weft.conversation.door import door_path, knock, open_door
from weft.protocol.errors import UserError


@pytest.fixture(autouse=True)
def own_runtime(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("r")))


def test_what_is_asked_is_answered_and_the_door_goes_with_its_holder(tmp_path: Path) -> None:
    heard: list[Mapping[str, Any]] = []

    def answer(asked: Mapping[str, Any]) -> Mapping[str, Any]:
        heard.append(asked)
        if asked["do"] == "fail":
            raise UserError("not now", hint="later")
        return {"done": asked["do"]}

    async def play() -> None:
        assert await knock(tmp_path, {"do": "send"}) is None
        async with open_door(tmp_path, answer):
            assert stat.S_IMODE(door_path(tmp_path).stat().st_mode) == 0o600
            assert stat.S_IMODE(door_path(tmp_path).parent.stat().st_mode) == 0o700
            assert await knock(tmp_path, {"do": "send", "text": "é" * 100_000}) == {"done": "send"}
            replies = await asyncio.gather(*(knock(tmp_path, {"do": str(n)}) for n in range(20)))
            assert [reply and reply["done"] for reply in replies] == [str(n) for n in range(20)]
            with pytest.raises(UserError, match="not now"):
                await knock(tmp_path, {"do": "fail"})
        assert await knock(tmp_path, {"do": "send"}) is None
        assert len(heard) == 22

    asyncio.run(play())


def test_nonsense_is_answered_too_and_a_silent_visitor_is_no_harm(tmp_path: Path) -> None:
    async def play() -> None:
        async with open_door(tmp_path, lambda _: {"done": True}):
            for line in (b"nonsense\n", b"[1]\n"):
                reader, writer = await asyncio.open_unix_connection(str(door_path(tmp_path)))
                writer.write(line)
                assert b"error" in await reader.readline()
                writer.close()
            _, silent = await asyncio.open_unix_connection(str(door_path(tmp_path)))
            silent.close()
            assert await knock(tmp_path, {"do": "x"}) == {"done": True}

    asyncio.run(play())


def test_a_door_left_by_a_dead_process_is_taken_over(tmp_path: Path) -> None:
    async def play() -> None:
        path = door_path(tmp_path)
        server = await asyncio.start_unix_server(lambda _r, w: w.close(), path=str(path))
        server.close()
        await server.wait_closed()
        if not path.exists():
            path.touch()
        assert await knock(tmp_path, {"do": "x"}) is None
        async with open_door(tmp_path, lambda _: {"done": True}):
            assert await knock(tmp_path, {"do": "x"}) == {"done": True}

    asyncio.run(play())


def test_a_folder_that_others_can_look_into_is_refused(tmp_path: Path) -> None:
    door_path(tmp_path).parent.chmod(0o755)
    with pytest.raises(UserError, match="not a folder of yours alone"):
        door_path(tmp_path)

    async def play() -> str:
        async with open_door(tmp_path, lambda _: {}) as trouble:
            return trouble

    assert "not a folder of yours alone" in asyncio.run(play())
