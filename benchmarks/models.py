"""What our model layer costs over the provider's bare client: per chunk, per call, the first one of a process and of
a chat, and 100 at once.

    python -m benchmarks.models [--pieces 2000] [--calls 100] [--rounds 3]

A loopback server in a process of its own speaks the wire format; bare client and ours read the same answers in turns,
in fresh processes. What counts is the CPU time of the reading process, which depends least on what else runs.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from benchmarks import measure

if TYPE_CHECKING:
    from collections.abc import Iterator

WIRES: Final = ("anthropic", "openai-chat", "openai-responses")
MODELS: Final = {"anthropic": "claude-sonnet-5", "openai-chat": "gpt-5", "openai-responses": "gpt-5"}
AT_ONCE: Final = 100


async def serve(wire: str, pieces: int) -> None:
    from weft.testing.wire import Reply, WireServer, anthropic_wire, openai_chat_wire, openai_responses_wire

    known = {one.name: one for one in (anthropic_wire, openai_chat_wire, openai_responses_wire)}
    reply = Reply(text="".join(f"{number:04d} " for number in range(pieces)), pieces=pieces)
    async with WireServer(known[wire], forever=reply) as server:
        measure.answer({"url": server.url})
        await asyncio.to_thread(sys.stdin.read)


@contextmanager
def server(wire: str, pieces: int) -> Iterator[str]:
    command = [sys.executable, "-m", "benchmarks.models", "--serve", wire, "--pieces", str(pieces)]
    with subprocess.Popen(command, cwd=measure.ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        found = measure.last_answer(child.stdout.readline())
        assert found is not None
        try:
            yield str(found["url"])
        finally:
            child.communicate("")


Call = Callable[[], Awaitable[int]]


def bare(wire: str, url: str) -> Call:
    """The provider's own client, streaming; how many pieces of text came."""
    asked: list[Any] = [{"role": "user", "content": "Hello"}]
    model = MODELS[wire]
    if wire == "anthropic":
        from anthropic import AsyncAnthropic

        claude = AsyncAnthropic(api_key="k", base_url=url, max_retries=0)

        async def call() -> int:
            count = 0
            stream: Any = await claude.beta.messages.create(model=model, max_tokens=9, messages=asked, stream=True)
            async for event in stream:
                count += event.type == "content_block_delta"
            return count

        return call
    from openai import AsyncOpenAI

    client = AsyncOpenAI(api_key="k", base_url=url, max_retries=0)

    async def chat() -> int:
        count = 0
        options: Any = {"include_usage": True}
        stream: Any = await client.chat.completions.create(
            model=model, messages=asked, stream=True, stream_options=options
        )
        async for chunk in stream:
            count += bool(chunk.choices and chunk.choices[0].delta.content)
        return count

    async def responses() -> int:
        count = 0
        stream: Any = await client.responses.create(model=model, input="Hello", stream=True, store=False)
        async for event in stream:
            count += event.type == "response.output_text.delta"
        return count

    return chat if wire == "openai-chat" else responses


def ours(wire: str, url: str) -> Call:
    from weft.models.anthropic_messages import AnthropicMessages
    from weft.models.endpoint import Endpoint
    from weft.models.model import Request, TextDelta
    from weft.models.openai_chat import OpenAIChat
    from weft.models.openai_responses import OpenAIResponses
    from weft.models.retrying import Retrying
    from weft.protocol.messages import Message, Text

    made: Any = {"anthropic": AnthropicMessages, "openai-chat": OpenAIChat, "openai-responses": OpenAIResponses}[wire]
    model = Retrying(made(Endpoint(name="bench", model=MODELS[wire], base_url=url, key="k")))
    request = Request(system="", messages=(Message(role="user", content=(Text(text="Hello"),)),))

    async def call() -> int:
        count = 0
        async for part in model.stream(request):
            count += isinstance(part, TextDelta)
        return count

    return call


async def timed(call: Call, calls: int, at_once: int, pieces: int) -> dict[str, float]:
    started = measure.own_cpu()
    await call()  # imports, connections and caches: what the first turn of a process pays
    first = measure.own_cpu() - started
    begun, used = time.perf_counter(), measure.own_cpu()
    for _ in range(0, calls, at_once):
        counts = await asyncio.gather(*(call() for _ in range(at_once)))
        assert set(counts) == {pieces}, f"{set(counts)} pieces came, not {pieces}"
    return {"cpu": (measure.own_cpu() - used) / calls, "wall": (time.perf_counter() - begun) / calls, "first": first}


def compare(
    wire: str, pieces: int, calls: int, at_once: int, rounds: int, *, in_a_chat: bool = False
) -> dict[str, dict[str, float]]:
    with server(wire, pieces) as url:
        runs: dict[str, list[dict[str, float]]] = {"bare": [], "ours": []}
        for _ in range(rounds):
            for way, found in runs.items():
                words = ["--read", wire, "--way", way, "--url", url, "--pieces", pieces, "--calls", calls]
                chat = ["--in-a-chat"] if in_a_chat else []
                found.append(measure.ask("models", *words, "--at-once", at_once, *chat))
        return {way: measure.medians(found) for way, found in runs.items()}


def report(pieces: int, calls: int, rounds: int) -> None:
    rows = []
    for wire in WIRES:
        short = compare(wire, 1, calls, 1, rounds)
        chat = compare(wire, 1, 1, 1, rounds, in_a_chat=True)
        long = compare(wire, pieces, 5, 1, rounds)
        many = compare(wire, 20, max(calls, AT_ONCE), AT_ONCE, rounds)
        chunk = {way: (long[way]["cpu"] - short[way]["cpu"]) / (pieces - 1) for way in long}
        rows.append(
            (
                wire,
                f"{chunk['bare'] * 1e6:.0f} / {chunk['ours'] * 1e6:.0f} µs",
                measure.times(chunk["ours"] / chunk["bare"]),
                f"{short['bare']['cpu'] * 1e3:.1f} / {short['ours']['cpu'] * 1e3:.1f} ms",
                measure.times(short["ours"]["cpu"] / short["bare"]["cpu"]),
                f"{short['bare']['first']:.2f} / {short['ours']['first']:.2f} s",
                f"{chat['bare']['first']:.2f} / {chat['ours']['first']:.2f} s",
                f"{many['bare']['cpu'] * 1e3:.1f} / {many['ours']['cpu'] * 1e3:.1f} ms",
                measure.times(many["ours"]["cpu"] / many["bare"]["cpu"]),
            )
        )
    head = (
        "wire",
        "a chunk, bare / ours",
        "ratio",
        "a call, bare / ours",
        "ratio",
        "the first, with imports",
        "the first of a chat",
        f"{AT_ONCE} at once, a call",
        "ratio",
    )
    print(measure.table(head, rows))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pieces", type=int, default=2000)
    parser.add_argument("--calls", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--serve", choices=WIRES, help=argparse.SUPPRESS)
    parser.add_argument("--read", choices=WIRES, help=argparse.SUPPRESS)
    parser.add_argument("--way", choices=("bare", "ours"), help=argparse.SUPPRESS)
    parser.add_argument("--url", help=argparse.SUPPRESS)
    parser.add_argument("--at-once", type=int, default=1, help=argparse.SUPPRESS)
    parser.add_argument("--in-a-chat", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve:
        asyncio.run(serve(given.serve, given.pieces))
    elif given.read:
        if given.in_a_chat:  # what has been loaded before anything is said
            for name in (
                "weft.app.live.live_session",
                "weft.app.live.conversations",
                "weft.cli.chat.command",
                "weft.cli.chat.screen",
            ):
                importlib.import_module(name)
        loaded = measure.own_cpu()
        call = (ours if given.way == "ours" else bare)(given.read, given.url)
        loaded = measure.own_cpu() - loaded
        found = asyncio.run(timed(call, given.calls, given.at_once, given.pieces))
        measure.answer({**found, "first": found["first"] + loaded})
    else:
        report(given.pieces, given.calls, given.rounds)


if __name__ == "__main__":
    main()
