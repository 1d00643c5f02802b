"""What the code of a step is given and what it gives back. Plain values: they cross a process boundary as JSON.

    def summarize(step: StepInput) -> dict:
        return {"title": step.text.splitlines()[0], "words": len(step.text.split())}

A function returns the artifact's value (anything JSON for `.json`, text for every other ending); a step with several
artifacts returns a mapping from artifact name to value.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import field
from typing import Any, Final

from weft.protocol.values import dataclass

MISTAKES: Final = (
    NameError,
    AttributeError,
    TypeError,
    LookupError,
    ImportError,
    SyntaxError,
    ZeroDivisionError,
)
"""Errors of the code itself: it would fail in the same way however often it is tried."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepInput:
    session: str
    step: str
    attempt: int
    makes: tuple[str, ...] = ()
    """The artifacts that are to be made."""
    idempotency_key: str
    """The same for every attempt at the same work: hand it to services that can honour it."""
    inputs: Mapping[str, str] = field(default_factory=dict)
    """The text of each input of the pipeline that this step reads."""
    documents: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """What each of them says of itself: kind, title, author, published, language, url, words, cues, pages, notes."""
    artifacts: Mapping[str, Any] = field(default_factory=dict)
    """The artifacts of the required steps by file name: parsed for `.json`, text otherwise."""
    models: Mapping[str, str] = field(default_factory=dict)
    """The model that made each of them, by file name; those that code made, or `embedded`, are not there."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    profile: Mapping[str, Any] = field(default_factory=dict)
    """The parts of the person's profile that the step declares, by dotted name."""
    secrets: Mapping[str, str] = field(default_factory=dict)
    """The secrets that the step declares, and those its parameters name, by name. They stand in no log and no file."""
    instructions: str = ""
    """The agent's text, for a step that has one."""
    skills: Mapping[str, str] = field(default_factory=dict)
    feedback: tuple[str, ...] = ()
    """What was wrong with the attempt before this one."""
    replies: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """What the person wanted changed, by the step at whose gate they said it, the oldest first."""
    before: Mapping[str, Any] = field(default_factory=dict)
    """For a step whose result a person wanted changed: its artifacts as they looked at them, by file name."""
    rounds: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """For a step that is made again: by the step that closes its unit `kind`, `round`, `most` and its `feedback`."""
    overruled: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """By claim, what a person says against this step's verdict on it: `was`, `verdict`, `why` and `by`."""
    failed: Mapping[str, str] = field(default_factory=dict)
    """By step, why it failed for good: for a step with `on_failure` or `finally`."""
    item: Any = None
    """What it is made for, in a step with a `map`: a value of an artifact, a row, the text of a file or a page."""
    item_key: str = ""
    """What names it in its step."""
    item_name: str = ""
    """What the `map` calls it (`as`)."""
    prior: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    """Artifacts as the session's earlier runs, on other inputs, finished with them; by name, the oldest first."""

    @property
    def text(self) -> str:
        """The first input's text; "" for a pipeline without inputs."""
        return next(iter(self.inputs.values()), "")

    @property
    def document(self) -> Mapping[str, Any]:
        """What the first input says of itself; {} for one that is taken as plain text."""
        return next(iter(self.documents.values()), {})


StepFunction = Callable[[StepInput], Any | Awaitable[Any]]
