"""How far an agent has come with a step: a fold of the events of its conversation, and the log as that sees it.

A new process that goes on with the conversation knows by this what the old one knew.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any, Final

from weft.conversation.tool_calls import sub_agent
from weft.protocol import conversation_events as t
from weft.protocol.envelope import MACHINE, Actor
from weft.protocol.events import DurableEvent, Record
from weft.protocol.values import dataclass

HAND_IN: Final = "hand_in"
NUDGE: Final = "nudge"
"""How the messages are named that say to an agent that it has handed in nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepJournal:
    """The log as the conversation of a step sees it: its own records, and where it writes."""

    write: Callable[[Sequence[DurableEvent], Sequence[bytes], Actor, str], list[Record]]
    """Durable when it returns. Blocking: called off the loop."""
    before: Sequence[Record]
    """What the log has of it from earlier processes."""
    prompt: bytes
    """What its opening names by hash."""

    def record(self, events: Sequence[DurableEvent], *, by: Actor = MACHINE, key: str = "") -> Sequence[Record]:
        opens = any(isinstance(event, t.ConversationOpened) and event.prompt for event in events)
        return self.write(events, [self.prompt] if opens else [], by, key)

    def read(self, after: int = 0) -> Sequence[Record]:
        return [record for record in self.before if record.seq > after]


@dataclass(slots=True)
class AgentProgress:
    """How far a conversation has come: a fold of its events."""

    conversation: str
    nonce: str = ""
    messages: int = 0
    nudges: int = 0
    answered: dict[str, int] = field(default_factory=dict)
    """Model calls that were answered, by conversation: a sub-agent counts its own."""
    handed_in: int = 0
    result: Mapping[str, Any] | None = None
    """What was last handed in."""
    taken: bool = False
    """It was found good."""
    over: bool = False
    """The conversation has ended with it, good or not."""
    end: t.Disposition | None = None
    """How the last turn ended; None while one is open."""
    why: str = ""
    """Why a model call failed, the turn was interrupted, or nothing more is asked."""
    limited: bool = False
    """A limit of conversations was reached: a call fails again and again."""
    sub_agents: dict[str, str] = field(default_factory=dict)
    """The agent of each sub-conversation, "" for one without a file."""
    questions: dict[tuple[str, str], t.ApprovalRequested] = field(default_factory=dict)
    """Approvals that nobody has given yet, by conversation and call."""
    at_work: set[tuple[str, str]] = field(default_factory=set)
    """Calls of models and tools that have begun and not ended, by conversation and execution; one that a sub-agent
    answers is at work when that is."""
    _asked: dict[tuple[str, str], Mapping[str, Any]] = field(default_factory=dict)
    _hand_ins: set[str] = field(default_factory=set)
    """Calls of the open turn that hand in."""

    def take(self, event: object) -> None:
        match event:
            case t.IntentRecorded():
                self.at_work.add((event.conversation, event.execution))
            case t.ModelSettled() | t.ToolSettled():
                self.at_work.discard((event.conversation, event.execution))
            case t.ConversationOpened() if event.parent:
                self.at_work.discard((event.parent, event.execution or ""))
        match event:
            case t.ConversationOpened() if event.parent:
                call = (event.execution or "").partition("/")[2].partition("#")[0]
                self.sub_agents[event.conversation] = sub_agent(self._asked.get((event.parent, call), {}))
            case t.ConversationOpened() if event.conversation == self.conversation:
                self.nonce = event.nonce or self.nonce
            case t.ToolRequested():
                self._asked[event.conversation, event.call] = event.input
                if event.tool == HAND_IN and event.conversation == self.conversation:
                    self._hand_ins.add(event.call)
            case t.ApprovalRequested():
                self.questions[event.conversation, event.call] = event
            case t.ApprovalDecided():
                self.questions.pop((event.conversation, event.call), None)
            case t.ModelSettled() if event.outcome == "completed":
                self.answered[event.conversation] = self.answered.get(event.conversation, 0) + 1
            case _ if getattr(event, "conversation", "") == self.conversation:
                self._own(event)
            case _:
                pass

    def _own(self, event: object) -> None:
        match event:
            case t.MessageAccepted():
                self.messages += 1
                self.nudges += event.message.startswith(NUDGE)
            case t.TurnStarted():
                self.end, self.why = None, ""
                self._hand_ins.clear()
            case t.ModelSettled():
                self.why = event.reason or ""
            case t.ToolSettled() if event.call in self._hand_ins:
                self.handed_in += 1
                self.result = self._asked[event.conversation, event.call]
                self.taken, self.over = event.outcome == "succeeded", event.ends
            case t.TurnInterrupted():
                self.why = event.reason
            case t.TurnCompleted():
                self.end = event.disposition
            case t.LimitReached():
                self.end, self.why = "final", event.reason
                self.limited = True
            case _:
                pass
