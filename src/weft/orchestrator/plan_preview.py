"""What a run would find at each step before it makes anything: which steps are passed over, and what the others are
made from. One way to tell it, for the plan and for a result that a person keeps, so that neither can differ from what
the run then does. Pure.

Ask for the steps in running order, and say which of them will be made: what looks at those can't be told yet.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from weft.orchestrator.run_history import RunHistory, extra_inputs, on_base, outside
from weft.orchestrator.step_facts import StepFacts
from weft.protocol.values import dataclass
from weft.session.state import SessionState
from weft.workspace.pipeline import Pipeline


@dataclass(frozen=True, slots=True)
class StepOutlook:
    upstream: Mapping[str, str]
    """Hash of each artifact it reads; "" for one never made."""
    edited: frozenset[str]
    """Those of them that a person changed and kept."""
    extra: Mapping[str, str]
    """The rounds and replies it is made with."""
    stands: bool = True
    """Nothing that it reads is to be made before it."""


@dataclass(slots=True)
class Outlook:
    pipeline: Pipeline
    facts: Mapping[str, StepFacts]
    state: SessionState
    parameters: Mapping[str, Any]
    made: dict[str, str]
    """Hash of each artifact there is."""
    history: RunHistory = field(default_factory=RunHistory)
    seen: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    passed: set[str] = field(default_factory=set)
    to_make: set[str] = field(default_factory=set)
    taken_over: set[str] = field(default_factory=set)
    """Of those: what is known already, as another session has it."""

    @classmethod
    def of(
        cls,
        pipeline: Pipeline,
        facts: Mapping[str, StepFacts],
        state: SessionState,
        parameters: Mapping[str, Any],
        standing: Mapping[str, str] | None = None,
    ) -> Outlook:
        """`standing`: hashes that count in place of the log's."""
        made = {
            name: digest
            for step in state.steps.values()
            if step.completion
            for name, digest in step.completion.artifacts.items()
        }
        return cls(pipeline, facts, state, parameters, {**made, **(standing or {})}, RunHistory.of(state, pipeline))

    def at(self, name: str) -> StepOutlook | None:
        """None when its condition does not hold, as far as that can be told."""
        step = self.pipeline.steps[name]
        if self._is_passed(name):
            self._pass(name)
            return None
        for unit in self.pipeline.units_of(name):  # what its base has in it may come later in the running order
            for before in outside(self.pipeline, unit):
                if self._is_passed(before):
                    self._pass(before)
        self.history = on_base(self.pipeline, self.facts, self.history, name, self.made)
        self.seen |= self.facts[name].seen
        read = [before for before in step.requires if before not in self.passed]
        upstream = {
            artifact: self.made.get(artifact, "")
            for before in read
            for artifact in self.pipeline.steps[before].artifacts
        }
        edited = frozenset(
            artifact
            for before in read
            if (done := self.state.steps[before].completion if before in self.state.steps else None)
            and done.how == "edited"
            for artifact in self.pipeline.steps[before].artifacts
        )
        stands = not any(before in self.to_make - self.taken_over for before in read)
        return StepOutlook(upstream, edited, extra_inputs(self.pipeline, self.history, name), stands)

    def _is_passed(self, name: str) -> bool:
        step = self.pipeline.steps[name]
        if step.when is None or any(before in self.to_make for before in step.before):
            return False
        seen: dict[str, tuple[Any, ...]] = {}
        for before in step.before:
            if not self._is_passed(before):
                seen |= self.facts[before].seen
        return not step.when.holds(self.parameters, seen)

    def _pass(self, name: str) -> None:
        self.passed.add(name)
        for artifact in self.pipeline.steps[name].artifacts:
            self.made.pop(artifact, None)

    def will_make(self, name: str) -> None:
        self.to_make.add(name)

    def will_take_over(self, name: str, artifacts: Mapping[str, str]) -> None:
        self.taken_over.add(name)
        self.made |= artifacts
