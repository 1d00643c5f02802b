"""What may be asked of a session's run: by a person through a face, or by a settled attempt. May be refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Final, Literal

from weft.protocol.call_events import Used
from weft.protocol.errors import Finding
from weft.protocol.events import FailureKind
from weft.protocol.values import dataclass

INLINE_LIMIT: Final = 256 * 1024
"""Bytes; a larger artifact is kept as a blob beside the log."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StartRun:
    """Bring the session up to date. `until` limits it; `force`, `start_from` and `accept` overrule the planner.
    `profile` stands in place of parts of the person's profile for this run, by dotted name."""

    parameters: Mapping[str, Any] = field(default_factory=dict)
    profile: Mapping[str, Any] = field(default_factory=dict)
    force: frozenset[str] = frozenset()
    start_from: str | None = None
    until: str | None = None
    accept: frozenset[str] = frozenset()
    answers: Mapping[str, str] = field(default_factory=dict)
    """Replies given in advance: the id of a choice by the step whose gate it is for. Each is used once."""
    budget: Mapping[str, float] = field(default_factory=dict)
    """In place of the pipeline's limits: usd, tokens, minutes."""
    type: Literal["start_run"] = "start_run"


@dataclass(frozen=True, slots=True, kw_only=True)
class InterruptRun:
    why: str = "interrupted by the person"
    used: Mapping[str, Used] = field(default_factory=dict)
    """What the attempt of each running step took until then; whoever runs them tells it."""
    type: Literal["interrupt_run"] = "interrupt_run"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyToGate:
    """A person's choice at an open gate; `text` is what they want changed."""

    gate: str
    choice: str
    text: str = ""
    type: Literal["reply_to_gate"] = "reply_to_gate"


@dataclass(frozen=True, slots=True, kw_only=True)
class AskBreakout:
    """A person seems to want out of a waiting run: ask them."""

    confirmation: str
    text: str
    type: Literal["ask_breakout"] = "ask_breakout"


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolveBreakout:
    confirmation: str
    choice: Literal["stay", "leave"]
    type: Literal["resolve_breakout"] = "resolve_breakout"


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelRun:
    """End a run that is at rest, for good. What it made stays."""

    type: Literal["cancel_run"] = "cancel_run"


@dataclass(frozen=True, slots=True)
class Artifact:
    """An artifact's bytes on their way to the disk, with the hash that names them."""

    name: str
    data: bytes
    hash: str

    @property
    def inline(self) -> str | None:
        """The text that goes into the log itself, or None for what is kept as a blob."""
        if len(self.data) > INLINE_LIMIT:
            return None
        try:
            return self.data.decode()
        except UnicodeDecodeError:
            return None


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptSucceeded:
    step: str
    attempt: int
    artifacts: tuple[Artifact, ...]
    ms: int
    model: str | None = None
    usage: Mapping[str, int] = field(default_factory=dict)
    by_model: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    seen: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    """What the pipeline's conditions look at in these artifacts, by `artifact#path`."""
    type: Literal["attempt_succeeded"] = "attempt_succeeded"


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptFailed:
    step: str
    attempt: int
    kind: FailureKind
    message: str
    ms: int
    findings: tuple[Finding, ...] = ()
    retryable: bool = True
    resumable: bool = False
    """It was cut off, and what it did so far is kept."""
    model: str | None = None
    usage: Mapping[str, int] = field(default_factory=dict)
    by_model: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    type: Literal["attempt_failed"] = "attempt_failed"


Settlement = AttemptSucceeded | AttemptFailed
Command = StartRun | InterruptRun | Settlement
RestCommand = ReplyToGate | AskBreakout | ResolveBreakout | CancelRun
"""What can be asked of a run that is at rest."""
