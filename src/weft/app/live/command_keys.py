"""A command that comes again under its key: what it was answered, and whether it is the same command at all.

The log has the key of a command and what that led to, not the command itself. So a new process compares these: an event
of the kind that such a command leads to, and what both of them say. It never refuses the same command; of two runs it
sees which pipeline and step were asked for, not with which parameters.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from weft.app.live.door_messages import to_wire
from weft.protocol import commands as c
from weft.protocol import conversation_events as t
from weft.protocol import events as e
from weft.protocol.conversation_commands import ClearTaint, DecideApproval, DecidePlan, SetLimits
from weft.protocol.events import Record
from weft.protocol.hashes import hash_bytes
from weft.redaction import REDACTOR
from weft.session.session import Session

_LEADS_TO: Final[Mapping[type, tuple[tuple[type, ...], tuple[str, ...]]]] = {
    c.StartRun: ((e.RunStarted,), ()),
    c.Say: ((e.WordsSaid, t.MessageAccepted), ()),
    c.ReplyToGate: ((e.GateResolved,), ("choice",)),
    c.ResolveConfirmation: ((e.ConfirmationResolved,), ("confirmation", "choice")),
    c.CancelRun: ((e.RunEnded,), ()),
    c.AcceptEdit: ((e.EditAccepted,), ("step",)),
    c.OverruleVerdict: ((e.VerdictOverruled,), ("verdict", "why")),
    c.SetMode: ((e.SettingChanged,), ()),
    c.SetModel: ((e.SettingChanged,), ()),
    c.DescribeSession: ((e.SessionDescribed,), ("status", "labels", "unlabelled", "flag", "archived", "note", "seen")),
    c.SwitchSource: ((e.SourceSwitched,), ("source", "on")),
    c.Undo: ((t.FilesRestored,), ()),
    c.Rewind: ((t.ConversationRewound,), ()),
    DecideApproval: ((t.ApprovalDecided,), ("conversation", "call", "decision")),
    DecidePlan: ((t.PlanDecided,), ("decision",)),
    SetLimits: ((t.LimitsSet,), ("conversation", "limits")),
    ClearTaint: ((t.TaintCleared,), ("conversation",)),
}
_COMPARED: Final = 1000
"""Characters of a message: of a very long one only the beginning is told in the log."""


def fingerprint(command: c.SessionCommand) -> str:
    """The same for the same command, whoever gives it."""
    return hash_bytes(json.dumps(to_wire(command), sort_keys=True).encode())


def another(key: str) -> c.Refused:
    return c.Refused(
        reason=f"the key {key} was given with another command before; this one was not carried out",
        hint="each command has a key of its own; only the same command may come again under it",
    )


def replied(records: Sequence[Record]) -> c.Reply:
    """What a decision says to the command that led to it."""
    refused = next((record.event for record in records if isinstance(record.event, t.CommandRefused)), None)
    if refused is not None:
        return c.Refused(reason=_REFUSALS.get(refused.refusal, f"it can't be done now ({refused.refusal})"))
    return c.Accepted(seq=records[-1].seq)


def replied_before(session: Session, key: str, command: c.SessionCommand) -> c.Reply | None:
    """What the log says to a command with this key; None when it has none. Blocking: it reads the log."""
    if not key or not session.accepted(key):
        return None
    records = [record for record in session.records() if record.envelope is not None and record.envelope.key == key]
    reply = replied(records)
    if isinstance(reply, c.Refused) or any(_is_of(command, record.event) for record in records):
        return reply
    return another(key)


def _is_of(command: c.SessionCommand, event: e.DurableEvent) -> bool:
    kinds, said = _LEADS_TO.get(type(command), ((), ()))
    if not isinstance(event, kinds):
        return False
    match command, event:
        case c.StartRun(), e.RunStarted():
            asked = (command.pipeline or event.pipeline, command.until or event.desired)
            return asked == (event.pipeline, event.desired)
        case c.Say(), e.WordsSaid() | t.MessageAccepted():
            text: Any = REDACTOR.value(command.text)
            return bool(text[:_COMPARED] == event.text[:_COMPARED])
        case c.SetMode(), e.SettingChanged():
            return (event.setting, event.value) == ("mode", command.mode)
        case c.SetModel(), e.SettingChanged():
            return (event.setting, event.value) == ("model", command.model)
        case _:
            return all(REDACTOR.value(getattr(command, name)) == getattr(event, name) for name in said)


_REFUSALS: Final = {
    "stale_approval": "that question is no longer open",
    "approval_after_interrupt": "that question is no longer open",
    "shutting_down": "the conversation is being closed",
    "unknown_conversation": "there is no such conversation",
    "stale_plan": "no plan waits for your word",
    "stale_rewind": "it can't go back to there now",
    "child_takes_no_messages": "a sub-conversation takes no messages",
}
