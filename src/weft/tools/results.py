"""Results a model can hold: a long one is kept whole in `blobs/`; the model gets its head, its tail and the way on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from weft.files import Folder
from weft.protocol.hashes import hash_bytes
from weft.redaction import REDACTOR
from weft.tools.threads import in_thread
from weft.tools.tool import Context, Outcome

TEXT_LIMIT: Final = 24_000
"""Characters of a result that go to the model as they are."""
HEAD: Final = 12_000
TAIL: Final = 8_000
BLOBS: Final = "blobs"


def keeper(session: Folder) -> Callable[[bytes], str]:
    """Keeps bytes in the session's `blobs/` under the hash of what they are; durable when it returns."""

    def keep(data: bytes) -> str:
        name = hash_bytes(data)
        with session.folder(BLOBS, create=True) as blobs:
            if blobs.read_or_none(name) != data:
                blobs.replace(name, data)
        return name

    return keep


async def bounded(outcome: Outcome, context: Context) -> Outcome:
    """The outcome with a text that is not too long. What was cut out is in a blob, when blobs are kept.

    Every tool whose result may be long passes it through here, those of sources too.
    """
    text = outcome.text.encode("utf-8", "replace").decode("utf-8")  # odd file names leave half characters
    text = REDACTOR.text(text)
    outcome = replace(outcome, text=text) if text != outcome.text else outcome
    if len(outcome.text) <= TEXT_LIMIT:
        return outcome
    blob, keep = outcome.blob, context.keep
    if blob is None and keep is not None:
        blob = await in_thread(lambda: keep(text.encode()), "weft-keep")
    return replace(outcome, text=_head_and_tail(outcome.text, blob), blob=blob)


def _head_and_tail(text: str, blob: str | None) -> str:
    head = text[: text.rfind("\n", 0, HEAD) + 1 or HEAD]
    tail_start = text.find("\n", len(text) - TAIL) + 1 or len(text) - TAIL
    first_hidden, last_hidden = head.count("\n") + 1, text.count("\n", 0, tail_start)
    note = f"… {tail_start - len(head):,} characters are not shown here"
    if blob is not None:
        note += (
            f" (lines {first_hidden:,} to {last_hidden:,}). Read the rest with Read: "
            f'{{"path": "@session/{BLOBS}/{blob}", "offset": {first_hidden}}}, or search it with Grep'
        )
    return f"{head}\n[{note} …]\n{text[tail_start:]}"
