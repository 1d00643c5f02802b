"""How a run flows from step to step: conditions, gates, rounds of units, budgets. Values, and how they are judged.

A condition looks at a parameter, or at a place in an artifact. What it sees of artifacts is taken out of them once,
when they are made (`look`), so that a decision needs no artifact: `seen` maps `artifact#path` to the values found.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal, get_args

from weft.checks.paths import ValuePlace, find, parse_path
from weft.protocol.events import ClaimVerdict, UnitKind, Verdict
from weft.protocol.gates import Choice
from weft.protocol.hashes import hash_bytes
from weft.protocol.values import dataclass

Seen = Mapping[str, tuple[Any, ...]]
Operator = Literal["is", "is_not", "one_of", "above", "below", "at_least", "at_most", "exists"]
CLAIM_VERDICTS: Final[tuple[ClaimVerdict, ...]] = get_args(ClaimVerdict)
MOST_SHOWN: Final = 50
"""Values of one place that are looked at: a list longer than this is shown in part."""


@dataclass(frozen=True)
class ArtifactPlace:
    """A place in an artifact."""

    artifact: str
    at: str = ""

    @property
    def key(self) -> str:
        return f"{self.artifact}#{self.at}"


@dataclass(frozen=True)
class Condition:
    """One test, or several joined: all of them, any of them, none of them."""

    look: ArtifactPlace | None = None
    parameter: str | None = None
    operator: Operator = "exists"
    value: Any = True
    join: Literal["all", "any", "none"] | None = None
    parts: tuple[Condition, ...] = ()

    def holds(self, parameters: Mapping[str, Any], seen: Seen) -> bool:
        if self.join:
            held = [part.holds(parameters, seen) for part in self.parts]
            return {"all": all(held), "any": any(held), "none": not any(held)}[self.join]
        if self.parameter is not None:
            found: tuple[Any, ...] = (parameters[self.parameter],)
        else:
            found = seen.get(self.look.key, ()) if self.look else ()
        return _test(self.operator, self.value, found)

    def looks(self) -> Iterator[ArtifactPlace]:
        if self.look:
            yield self.look
        for part in self.parts:
            yield from part.looks()

    def parameters(self) -> Iterator[str]:
        if self.parameter:
            yield self.parameter
        for part in self.parts:
            yield from part.parameters()

    def __str__(self) -> str:
        if self.join:
            word = {"all": " and ", "any": " or ", "none": " nor "}[self.join]
            inner = word.join(map(str, self.parts))
            if self.join == "none":
                return f"neither {inner}" if len(self.parts) > 1 else f"not {inner}"
            return inner
        what = self.parameter or (f"{self.look.at} of {self.look.artifact}" if self.look else "")
        if self.operator == "exists":
            return f"{what} {'is there' if self.value else 'is not there'}"
        return f"{what} {self.operator.replace('_', ' ')} {_shown(self.value)}"


def _test(operator: Operator, value: Any, found: tuple[Any, ...]) -> bool:
    match operator:
        case "exists":
            return any(item is not None for item in found) == bool(value)
        case "is":
            return any(_same(item, value) for item in found)
        case "is_not":
            return not any(_same(item, value) for item in found)
        case "one_of":
            return any(_same(item, one) for item in found for one in value)
        case "above" | "below" | "at_least" | "at_most":
            return any(_compare(operator, item, value) for item in found)


def _same(a: Any, b: Any) -> bool:
    """1 is not true, and 1 is 1.0."""
    return isinstance(a, bool) == isinstance(b, bool) and bool(a == b)


def _compare(operator: str, item: Any, value: Any) -> bool:
    if isinstance(item, bool) or not isinstance(item, int | float):
        return False
    held = {"above": item > value, "below": item < value, "at_least": item >= value, "at_most": item <= value}
    return bool(held[operator])


def _shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


@dataclass(frozen=True)
class Shown:
    """A place of the artifact that a person sees at a gate."""

    look: ArtifactPlace
    label: str


@dataclass(frozen=True)
class Gate:
    choices: tuple[Choice, ...]
    message: str = ""
    show: tuple[Shown, ...] = ()
    when: Condition | None = None
    auto: bool = False
    """It shows and goes on."""
    form: tuple[str, ...] = ()
    """The parameters that a person is asked for with their reply."""
    before: bool = False
    """It stands before the step."""
    assignee: str = ""
    within: float | None = None
    """Seconds that a reply is awaited."""
    then: str = ""
    """What happens after that: `remind`, or the id of a choice."""

    @property
    def sets(self) -> frozenset[str]:
        """The parameters that a reply may set."""
        return frozenset({*self.form, *(name for choice in self.choices for name in choice.set)})


@dataclass(frozen=True)
class Unit:
    """Steps that are made again in rounds: a repair (its verifier closes it) or a loop (the step that has it does)."""

    kind: UnitKind
    steps: tuple[str, ...]
    """In running order; the last one closes it."""
    most: int | str
    """Rounds after the first; the name of a parameter that says how many."""
    look: ArtifactPlace | None = None
    """Where a verifier says its verdict."""
    feedback: ArtifactPlace | None = None
    when: Condition | None = None
    """What makes a loop go back."""
    claims: ArtifactPlace | None = None
    """Where a verifier says how many claims are quoted, judged, contradicted and not checked."""

    @property
    def name(self) -> str:
        return self.steps[-1]

    def bound(self, parameters: Mapping[str, Any]) -> int:
        return self.most if isinstance(self.most, int) else int(parameters[self.most])

    def verdict(self, seen: Seen) -> Verdict:
        """As the verifier says it; anything but a clear word is "not checked"."""
        found = seen.get(self.look.key, ()) if self.look else ()
        if len(found) != 1:
            return "not_checked"
        return _VERDICTS.get(found[0], "not_checked") if isinstance(found[0], str | bool) else "not_checked"

    def counted(self, seen: Seen) -> dict[str, int]:
        """How many claims the verifier found to be what; {} when it counts none."""
        found = seen.get(self.claims.key, ()) if self.claims else ()
        told = found[0] if len(found) == 1 and isinstance(found[0], Mapping) else {}
        return {state: told[state] for state in CLAIM_VERDICTS if type(told.get(state)) is int}

    def wants_round(self, parameters: Mapping[str, Any], seen: Seen) -> bool:
        """Whether the step that closes it sends it round again, if it may."""
        if self.kind == "repair":
            return self.verdict(seen) == "failed"
        return self.when is not None and self.when.holds(parameters, seen)

    def said(self, seen: Seen) -> Any:
        """The feedback for the next round: one value, or a list of them."""
        found = seen.get(self.feedback.key, ()) if self.feedback else ()
        return (found[0] if len(found) == 1 else list(found)) if found else None


_VERDICTS: Final[Mapping[Any, Verdict]] = {"passed": "passed", "failed": "failed", True: "passed", False: "failed"}


@dataclass(frozen=True)
class Retry:
    """How long a step waits before it is tried again, and after which failures it is tried again."""

    delay: float = 0.0
    """Seconds before the second try; no policy waits for nothing."""
    factor: float = 2.0
    most: float = 300.0
    on: tuple[str, ...] = ()
    """Kinds of failures; () for all."""

    def takes(self, kind: str) -> bool:
        return not self.on or kind in self.on

    def wait(self, tries: int, seed: str) -> float:
        """Seconds, after so many tries. It varies with the seed by up to a half, so that many do not come at once."""
        if not self.delay:
            return 0.0
        whole = min(self.most, self.delay * self.factor ** min(tries - 1, 64))
        return whole * (0.5 + int(hash_bytes(seed.encode())[:8], 16) / 2**33)


@dataclass(frozen=True)
class Budget:
    """The most that may be spent; None for no limit."""

    usd: float | None = None
    tokens: int | None = None
    minutes: float | None = None

    def __str__(self) -> str:
        parts = [f"${self.usd:g}"] if self.usd is not None else []
        parts += [f"{self.tokens:,} tokens"] if self.tokens is not None else []
        return ", ".join([*parts, *([f"{self.minutes:g} minutes"] if self.minutes is not None else [])])


def look(looks: tuple[ArtifactPlace, ...], artifacts: Mapping[str, Any]) -> dict[str, tuple[Any, ...]]:
    """What is found at each place, of the artifacts that are there."""
    return {
        one.key: tuple(
            place.value
            for place in find(parse_path(one.at), artifacts[one.artifact])[:MOST_SHOWN]
            if isinstance(place, ValuePlace)
        )
        for one in looks
        if one.artifact in artifacts
    }
