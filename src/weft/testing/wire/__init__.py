"""Servers on loopback that speak the providers' real wire formats, with the faults that real ones have.

    async with WireServer(anthropic_wire, [Reply(text="Hello"), Reply(status=529)]) as server:
        model = AnthropicMessages(Endpoint(name="t", model="claude-x", base_url=server.url, key="k"))

A `Reply` says what the model answers and what goes wrong, the same for every format; a request beyond the last reply is
answered with an error and fails `server.assert_done()`.
"""

from __future__ import annotations

from weft.testing.wire.anthropic import anthropic_wire
from weft.testing.wire.google import google_wire
from weft.testing.wire.openai_chat import openai_chat_wire
from weft.testing.wire.openai_responses import openai_responses_wire
from weft.testing.wire.replies import Called, Reply, Wire
from weft.testing.wire.server import Seen, WireServer

__all__ = [
    "Called",
    "Reply",
    "Seen",
    "Wire",
    "WireServer",
    "anthropic_wire",
    "google_wire",
    "openai_chat_wire",
    "openai_responses_wire",
]
