"""Where a process dies: every point of a run, and the few that leave the most to put right."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from weft.testing import Call, KillingDisk, Kind, Moment


@dataclass(frozen=True)
class Death:
    call: Call
    moment: Moment

    def __str__(self) -> str:
        return f"killed {self.moment} {self.call}"

    @property
    def disk(self) -> partial[KillingDisk]:
        return partial(KillingDisk, self.call.number, self.moment, sync=False)


def deaths(calls: Iterable[Call]) -> Iterator[Death]:
    """Before and after each call, and half-way through it if it is a write."""
    for call in calls:
        yield Death(call, "before")
        if call.kind == "write":
            yield Death(call, "half")
        yield Death(call, "after")


def the_call(calls: Iterable[Call], kind: Kind, subject: str, which: int = 0) -> Call:
    return [call for call in calls if call.kind == kind and call.subject.startswith(subject)][which]


def telling_deaths(calls: Sequence[Call]) -> dict[str, Death]:
    """Where a kill leaves the most to put right."""
    blobs = the_call(calls, "mkdir", "blobs")
    return {
        "file not yet written": Death(the_call(calls, "create", ".right.md"), "before"),
        "torn log": Death(the_call(calls, "write", "log.jsonl", 4), "half"),
        "half a blob": Death(the_call(calls[blobs.number :], "write", "."), "half"),
        "files not yet settled": Death(the_call(calls, "fsync", "gather.json"), "after"),
    }
