"""What a list shows of a session besides its state, folded from its log; kept in the session's snapshot, so that the
end of a long log is enough to list it."""

from __future__ import annotations

from dataclasses import field

from weft.models.spending import Price, Tally
from weft.protocol.events import Record
from weft.protocol.values import dataclass
from weft.session.glance import Glance


@dataclass(slots=True)
class SessionListing:
    tally: Tally = field(default_factory=Tally)
    glance: Glance = field(default_factory=Glance)
    title: str = ""
    problem: str = ""

    def take(self, record: Record, price: Price) -> None:
        self.glance.apply(record)
        self.tally.take(record, price)
