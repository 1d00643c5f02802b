"""What a gate offers: one value for the pipeline that declares it, the gate that asks and the words that answer it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

from weft.protocol.patterns import pattern
from weft.protocol.values import dataclass, field

ChoiceKind = Literal["proceed", "amend", "cancel", "goto"]
"""`goto` leads somewhere else than on, back or to the end; pipelines declare the other three."""


@dataclass(frozen=True, slots=True)
class Choice:
    id: str
    label: str
    does: ChoiceKind
    set: Mapping[str, Any] = field(default_factory=dict)
    """Parameters that choosing it sets."""
    step: str = ""
    """Where a `goto` leads."""
    says: tuple[str, ...] = ()
    """Further phrases that mean it."""

    def told(self) -> dict[str, Any]:
        """As the log and the API have it."""
        told: dict[str, Any] = {"id": self.id, "label": self.label, "does": self.does}
        return {**told, "set": dict(self.set)} if self.set else told

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> Choice:
        """A log may come from a later version, with more in it."""
        return cls(str(told["id"]), str(told["label"]), told["does"], told.get("set", {}))


_SIGN_IN: Final = pattern(r"the source (\S+) needs sign-in: weft sources sign-in \1(?![\w-])(?!; and )")


def needs_sign_in(slug: str) -> str:
    """What a call, or a run, is said to wait for; what waits is found again by these words."""
    return f"the source {slug} needs sign-in: weft sources sign-in {slug}"


def sign_in_slug(words: str) -> str:
    """The source that these words wait for a sign-in to, and for nothing else; "" for any others."""
    found = _SIGN_IN.match(words)
    return found[1] if found else ""
