"""A cut: the log has lost something that it had said. It is noticed, never put right by guessing.

In the middle the chain tells: a decision does not follow from what stands before it. At its end nothing follows that
could tell, so here, and for this alone, the manifest is asked: it is written after the log is durable, so a manifest
that knows more than the log means that the log was cut. Nothing is run on such a log until a person puts it back or
says that it goes on without what is lost, which is then in the log itself (`cut_accepted`).
"""

from __future__ import annotations

from collections.abc import Sequence

from weft.protocol.errors import UserError
from weft.session.log import LOG, Damage, LogHead
from weft.session.manifest import MANIFEST, Known
from weft.session.state import SessionState


class CutLogError(UserError):
    """The log of a session has lost something."""

    def __init__(self, session: str, cuts: Sequence[str]) -> None:
        super().__init__(
            f"the log of session {session} has lost something:\n" + "\n".join(f"  {cut}" for cut in cuts),
            hint=f"nothing was changed. Put {LOG} back from a copy if you have one; or go on without what is lost, "
            f"which makes and pays for it again: weft sessions accept-cut {session}",
        )


class LostLogError(UserError):
    """There is a manifest, and nothing of the log it was made from."""

    def __init__(self, session: str, cuts: Sequence[str]) -> None:
        super().__init__(
            f"the log of session {session} is lost:\n" + "\n".join(f"  {cut}" for cut in cuts),
            hint=f"nothing was changed. Put {LOG} back from a copy if you have one; or take away {MANIFEST}, and what "
            "lies in the folder is taken in like that of an older system",
        )


def cut_error(session: str, seq: int, cuts: Sequence[str]) -> CutLogError | LostLogError:
    """Why nothing is made from a log that ends after event `seq`."""
    return CutLogError(session, cuts) if seq else LostLogError(session, cuts)


def find_cuts(known: Known | None, head: LogHead, damage: Sequence[Damage], state: SessionState) -> list[str]:
    """What the log has lost and nobody has accepted yet, in words. `known` has to be read before the log is."""
    found = [str(one) for one in damage if one.cut and one.seq > state.cut_accepted]
    if known is None or (state.session and known.session != state.session):
        return found
    if (known.seq, known.hash) == state.lost_end:
        return found
    if known.seq > head.seq:
        one = known.seq == head.seq + 1
        lost = f"event {known.seq} is missing" if one else f"events {head.seq + 1} to {known.seq} are missing"
        found.append(f"{LOG} ends after event {head.seq}, and {MANIFEST} was made from {known.seq}: {lost}")
    elif known.seq == head.seq and known.hash and head.epoch and known.hash != head.hash:
        found.append(f"{LOG}: its last decision is not the one that {MANIFEST} was made from (seq {head.seq})")
    return found
