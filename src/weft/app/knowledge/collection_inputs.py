"""What a question to a collection is asked with besides: which one, in which state, and the answer it goes on from."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from weft.app.parts import Parts
from weft.files import Folder
from weft.knowledge.knowledge_base import collection_names, open_collection
from weft.knowledge.research.earlier import read_earlier
from weft.knowledge.research.question import tidy
from weft.knowledge.research.state import collection_state
from weft.orchestrator.inputs import GivenInput
from weft.protocol.commands import GivenFile
from weft.protocol.errors import UsageError
from weft.workspace.pipeline import EARLIER, Pipeline
from weft.workspace.spelling import listed

COLLECTION: Final = "collection"
"""The input that says which collection a pipeline asks, and in which state."""
ANSWER: Final = "answer.json"
FOLLOWED: Final = (
    "version", "session", "original_query", "followup_number", "answer", "citations", "sub_queries", "known_passages",
)  # fmt: skip
"""What a follow-up reads of an earlier answer: the rest would only fill a model's window."""


def which_collection(app: Parts, named: str | None) -> str:
    """The one that is named, else the workspace's own choice, else the only one."""
    chosen = named or app.config.kb
    if chosen:
        return chosen
    names = collection_names(app.workspace.folder)
    if len(names) == 1:
        return names[0]
    if not names:
        raise UsageError("there is no collection to ask", hint="weft kb create NAME FILE... makes one")
    raise UsageError("which collection?", hint=f"name one with --kb: {listed(names)}")


def collection_now(parts: Parts, collection: str) -> GivenFile:
    """A collection with its state, as the input that is asked."""
    with open_collection(parts.workspace.folder, collection) as knowledge:
        return GivenFile(collection_state(knowledge).encode(), f"knowledge/{collection}")


def asked_here(
    parts: Parts, pipeline: Pipeline, given: Mapping[str, GivenInput], session: Folder
) -> dict[str, GivenInput]:
    """What a question in a session is asked with besides, when a person only gave the question: the collection, and the
    answer that the session has already, which it then goes on from. UsageError when it is not clear which one."""
    found = {COLLECTION: GivenInput((collection_now(parts, which_collection(parts, None)),))}
    data = session.read_or_none(ANSWER)
    if EARLIER not in pipeline.inputs or EARLIER in given or data is None:
        return found
    question = next((one.files[0].data.decode("utf-8", "replace") for one in given.values() if one.files), "")
    answer = read_earlier(data.decode("utf-8", "replace")) or {}
    if tidy(question) != answer.get("original_query"):
        found[EARLIER] = GivenInput((followed(answer, session.path.name),))
    return found


def followed(answer: Mapping[str, Any], session: str) -> GivenFile:
    kept = {key: answer[key] for key in FOLLOWED if key in answer}
    return GivenFile(json.dumps(kept, ensure_ascii=False, indent=1).encode() + b"\n", f"sessions/{session}/{ANSWER}")
