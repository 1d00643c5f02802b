"""What a decision says of itself, besides its events: what it follows, who wrote it, who asked for it.

Each decision names the hash of the one before it, so that the decisions of a log are a chain: nothing in it can be
removed, changed or moved without being noticed. `docs/reference/log.md` has it as it stands in the file.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

from weft.protocol.values import dataclass

ActorKind = Literal["person", "answer", "rule", "model", "machine"]
"""A person; an answer that a person gave in advance; a rule that a person wrote; a model; the machine going on with
what was asked of it before."""


@dataclass(frozen=True, slots=True)
class Actor:
    """Who gave the command that led to a decision."""

    kind: ActorKind
    name: str = ""
    """The person's, the rule's or the model's; "" when there is only one it can be."""
    face: str = ""
    """Where it came in: terminal, web, another program."""


MACHINE: Final = Actor("machine")
PERSON: Final = Actor("person")


@dataclass(frozen=True, slots=True)
class Parent:
    """The decision of another session that a fork goes on from."""

    session: str
    seq: int
    """The last event that the fork has from it."""
    hash: str
    """Of the decision that event stands in."""


class Envelope(NamedTuple):
    """Of one decision; all its records have the same."""

    hash: str
    """Names this decision: it is of its bytes in the log."""
    prev: str
    """The hash of the decision before; "" for the first of a log."""
    epoch: int
    """Counts the writers of a log: each that opens it has the next number."""
    by: Actor = MACHINE
    key: str = ""
    """The command's own name, so that a command that comes again is known; "" when it has none."""
    parent: Parent | None = None
    """On the first decision of a fork."""
