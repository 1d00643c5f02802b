"""Which steps may be taken over from another session, and what names their result. Pure.

A result is named by its pipeline, its step and everything it was made from. Only what depends on nothing else may be
taken over: one answer of a model, or code that says of itself that it is so (`cache: true`). What a person or a
verifier asked for in this session (a reply, a round, `--force`) is made; what reaches outside is made; what names its
own session is of that session alone. Of a step that is made item by item, with a model and `cache: true`, each item is
named by everything it depends on, and taken over by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from weft.orchestrator.facts import Material
from weft.orchestrator.progress import StartAttempt
from weft.protocol.commands import Artifact
from weft.protocol.hashes import hash_value
from weft.protocol.values import dataclass
from weft.workspace.pipeline import Pipeline, Step, secrets_of


@dataclass(frozen=True, slots=True)
class ReusedStep:
    """A result that another session has."""

    session: str
    artifacts: tuple[Artifact, ...]


class StepCache(Protocol):
    """The results of a workspace, by their names."""

    def find(self, key: str, session: str, *, only_look: bool = False) -> ReusedStep | None:
        """None when there is none, or its bytes are not there any more. `session` is the one that asks. Who only looks
        changes nothing."""
        ...

    def keep(self, key: str, session: str, artifacts: Mapping[str, str]) -> None:
        """That a session has it: the hash of each artifact."""
        ...


def may_reuse(step: Step, *, by_model: bool, secrets: Sequence[str]) -> bool:
    """Whether its result depends on its inputs alone, as far as can be known."""
    if step.cache is False or step.map is not None or step.executor not in ("code", "model"):
        return False
    return (by_model or step.cache is True) and not step.network and not secrets


def cache_key(
    pipeline: Pipeline,
    step: Step,
    material: Material,
    parameters: Mapping[str, Any],
    start: StartAttempt,
    works_by_itself: Callable[[str], bool],
) -> str:
    """What an attempt's result is called in every session; "" when no other's is taken over. `works_by_itself`: of a
    model, whether it has a loop and tools of its own."""
    by_model = bool(material.model) and not material.code
    if not may_reuse(step, by_model=by_model, secrets=secrets_of(pipeline, step, parameters)):
        return ""
    if by_model and works_by_itself(material.model):
        return ""
    return reuse_key(pipeline, step, material.code, start, material.inputs, material.documents)


def reuses_items(
    pipeline: Pipeline,
    step: Step,
    material: Material,
    parameters: Mapping[str, Any],
    start: StartAttempt,
    works_by_itself: Callable[[str], bool],
) -> bool:
    """Whether items that a model made in other sessions are taken over."""
    asked = step.cache is True and step.executor == "model" and bool(material.model) and not material.code
    said = start.replies or start.rounds or start.overruled or start.feedback or start.anew
    return asked and not said and not secrets_of(pipeline, step, parameters) and not works_by_itself(material.model)


def item_key(step: Step, file: str, digest: str) -> str:
    """Names an item's result in every session; `digest` is of everything it depends on."""
    return hash_value(["item", step.own.name, file, digest])


def reuse_key(
    pipeline: Pipeline,
    step: Step,
    code: str,
    start: StartAttempt,
    inputs: Mapping[str, str],
    documents: Mapping[str, Mapping[str, Any]],
) -> str:
    """Names the result of an attempt in every session; "" for one that is of this session. A session's copy of an input
    has the session's name in it, so the input stands here by what a step reads of it: its text and what it says of
    itself."""
    if start.replies or start.rounds or start.overruled or start.feedback or start.resumed:
        return ""
    read = {f"input:{name}": hash_value([text, _without_id(documents.get(name, {}))]) for name, text in inputs.items()}
    return hash_value([pipeline.name, step.name, step.artifacts, code, {**start.inputs, **read}])


def _without_id(about: Mapping[str, Any]) -> dict[str, Any]:
    extra = {key: value for key, value in about.get("extra", {}).items() if key != "id"}
    return {**about, "extra": extra}


def is_of_session(session: str, artifacts: Sequence[Artifact]) -> bool:
    """It names the session that it was made in."""
    return any(session.encode() in artifact.data for artifact in artifacts)
