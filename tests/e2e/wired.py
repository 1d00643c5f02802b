"""The `letters` workspace whose lister is a model behind a real address on this machine, with a price."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.made import Weft
from weft.testing.scripted import Hold
from weft.testing.wire import Reply, WireServer, openai_chat_wire

CONFIG = """\
model = "work/m"

[models.work]
kind = "openai"
model = "m"
base_url = "{url}"
key = "none"
window = {window}
price = {{input = 1000.0, output = 2000.0}}
"""


@dataclass
class Wired:
    server: WireServer
    loop: asyncio.AbstractEventLoop

    def release(self, hold: Hold) -> None:
        self.loop.call_soon_threadsafe(hold.release.set)


@contextmanager
def wired(weft: Weft, replies: Sequence[Reply], *, window: int = 100_000) -> Iterator[Wired]:
    """Answers the workspace's model calls in a thread of its own while this is open."""
    ready = threading.Event()
    found: list[Wired] = []
    ended = asyncio.Event()

    async def serve() -> None:
        async with WireServer(openai_chat_wire, replies) as server:
            found.append(Wired(server, asyncio.get_running_loop()))
            ready.set()
            await ended.wait()

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    assert ready.wait(60)
    config = CONFIG.format(url=found[0].server.url, window=window)
    (weft.workspace / "config.toml").write_text(config)
    try:
        yield found[0]
    finally:
        found[0].loop.call_soon_threadsafe(ended.set)
        thread.join(60)


def held_to_a_list(weft: Weft) -> None:
    """The lister must give a list of words, each once."""
    pipeline: Path = weft.workspace / "pipelines/letters.yaml"
    more = "    agent: lister\n    schema: list.schema.json\n    checks:\n      - unique: {at: '[*]'}\n"
    pipeline.write_text(pipeline.read_text().replace("    agent: lister\n", more))
    schema = {"type": "array", "items": {"type": "string"}, "minItems": 1}
    (weft.workspace / "schemas/list.schema.json").write_text(json.dumps(schema))
