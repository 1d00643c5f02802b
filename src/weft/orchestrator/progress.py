"""What a run works with: the spec, which changes only when items are found, the progress carried from decision to
decision, and what a decision asks to be done. Values only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from decimal import Decimal
from typing import Any, Final, Literal

from weft.models.budget import Allowance, CallEstimate, Ledger, Price
from weft.orchestrator.run_history import RunHistory
from weft.orchestrator.step_facts import StepFacts
from weft.protocol.commands import StartRun
from weft.protocol.errors import WeftError
from weft.protocol.events import Cause, DurableEvent, GateOpened, Outcome, Verdict
from weft.protocol.values import dataclass, replace
from weft.session.state import WaitState
from weft.workspace.flow import Budget
from weft.workspace.pipeline import Pipeline

LEAVING: Final = 5.0
"""Seconds that what runs gets to end when the attempt is cut off."""


class OverAllowanceError(WeftError):
    """What the attempt may spend is spent."""


class PersonNeededError(WeftError):
    """The step can't go on without somebody, and nobody attends."""


class SignInNeededError(PersonNeededError):
    """A source does not let the person in any more, and nobody attends: the run waits until somebody has signed in."""


class QuestionOpenError(PersonNeededError):
    """An earlier process has asked whether a call may be made, and nobody attends now: the question stays."""

    def __init__(self, tool: str, session: str) -> None:
        super().__init__(f"{tool} waits for somebody's word: weft approve {session}")


Phase = Literal["waiting", "running", "done", "failed", "left", "passed", "held", "asked"]
"""`left`: not asked for. `passed`: its condition does not hold. `held`: done, and its gate is open. `asked`: the gate
before it is open."""
SHORT_SLEEP: Final = 60.0
"""Seconds; what begins sooner is waited for, and no run is laid down."""


def _free(_: str, __: Mapping[str, int]) -> Decimal | None:
    return Decimal(0)


@dataclass(frozen=True, slots=True)
class RunSpec:
    """What does not change during a run: the pipeline, the facts at its start, the person's wish."""

    pipeline: Pipeline
    facts: Mapping[str, StepFacts]
    wish: StartRun
    parameters: Mapping[str, Any]
    chosen: Mapping[str, Any] = field(default_factory=dict)
    model: str = "embedded"
    limit: int = 4
    price: Price = _free
    chosen_model: str = ""


@dataclass(frozen=True, slots=True)
class StepProgress:
    phase: Phase = "waiting"
    attempt: int = 0
    tries: int = 0
    """Attempts in this run, in its round."""
    artifacts: Mapping[str, str] = field(default_factory=dict)
    edited: bool = False
    inputs: Mapping[str, str] = field(default_factory=dict)
    size: int = 0
    """Bytes of its artifacts."""
    estimate: CallEstimate | None = None
    """Of the attempt that runs."""
    again: tuple[Cause, str] | None = None
    """Why it must be made again whatever the planner thinks."""
    problem: str = ""
    """Why it failed for good."""
    asleep: bool = False
    """All it requires is there, and its time has not come."""


@dataclass(frozen=True, slots=True)
class Progress:
    run: int
    steps: Mapping[str, StepProgress]
    history: RunHistory = field(default_factory=RunHistory)
    seen: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    """What is looked at in the artifacts that are there."""
    budget: Budget = field(default_factory=Budget)
    """The pipeline's, with what a person set in its place."""
    ledger: Ledger = field(default_factory=Ledger)
    gates: Mapping[str, GateOpened] = field(default_factory=dict)
    gates_opened: int = 0
    approved: Mapping[str, str] = field(default_factory=dict)
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)
    """By verifier, as the log has them."""
    notes: Mapping[str, str] = field(default_factory=dict)
    """What the person should know of the result, by what it is about: not passed, not checked, a loop at its bound."""
    over: str = ""
    """Why the budget is reached."""
    waits: Mapping[str, WaitState] = field(default_factory=dict)
    """By step, as the log has them."""
    until: float | None = None
    """The moment at which the run has taken too long."""
    stopped: bool = False
    """It has: nothing in order is made any more, only what is made on failure and at the end."""
    at_end: bool = False
    """What is made then has begun: it has its own time."""
    given_up: frozenset[str] = frozenset()
    """What had failed for good in this run before it was taken up again: an item's failure stays that."""
    now: float = 0.0
    """The moment of the last command."""
    ending: Outcome | None = None
    message: str = ""

    def of(self, phase: Phase) -> list[str]:
        return [name for name, step in self.steps.items() if step.phase == phase]

    def with_step(self, name: str, step: StepProgress) -> Progress:
        return replace(self, steps={**self.steps, name: step})

    def without_gate(self, name: str) -> Progress:
        return replace(self, gates={other: gate for other, gate in self.gates.items() if other != name})

    def with_note(self, about: str, note: str) -> Progress:
        notes = {other: text for other, text in self.notes.items() if other != about}
        return replace(self, notes={**notes, about: note} if note else notes)

    @property
    def hashes(self) -> dict[str, str]:
        """Of every artifact that is there."""
        return {name: digest for step in self.steps.values() for name, digest in step.artifacts.items()}


@dataclass(frozen=True, slots=True)
class StartAttempt:
    step: str
    attempt: int
    feedback: tuple[str, ...]
    upstream: Mapping[str, str]
    """Hash of each artifact it reads, to be met exactly."""
    idempotency_key: str
    replies: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    rounds: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    allowance: Allowance = field(default_factory=Allowance)
    run: int = 0
    overruled: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    resumed: bool = False
    """It goes on with what this attempt did before it was cut off."""
    inputs: Mapping[str, str] = field(default_factory=dict)
    """Everything it is made from."""
    only: frozenset[str] = frozenset()
    """The items that are asked for; none for all."""
    wait: float = 0.0
    """Seconds before it begins."""
    anew: bool = False
    """A person wants it made whatever is there."""
    failed: Mapping[str, str] = field(default_factory=dict)
    """By step, why it failed for good; for a step that is made then."""


@dataclass(frozen=True, slots=True)
class StopAttempt:
    step: str
    attempt: int


@dataclass(frozen=True, slots=True)
class EndRun:
    """Nothing is left to do: make the files durable, then record that the run has come to rest."""

    run: int
    outcome: Outcome
    message: str
    due: str = ""
    """When it goes on by itself."""


@dataclass(frozen=True, slots=True)
class WakeAt:
    """At this moment something is to be looked at."""

    at: float


@dataclass(frozen=True, slots=True)
class FindItems:
    """What the items of these steps are in has been made: the pipeline is to be unfolded anew."""

    steps: Mapping[str, str]
    """Each with the hash of what its items are in."""


Effect = StartAttempt | StopAttempt | EndRun | WakeAt | FindItems


@dataclass(frozen=True, slots=True)
class Decision:
    progress: Progress
    events: tuple[DurableEvent, ...] = ()
    effects: tuple[Effect, ...] = ()

    def then(self, follows: Decision) -> Decision:
        """This, and what was decided after it."""
        return Decision(follows.progress, (*self.events, *follows.events), (*self.effects, *follows.effects))
