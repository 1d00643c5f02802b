"""The events of a conversation in plain lines: who, what, and how it ended; a text of several lines is indented."""

from __future__ import annotations

from typing import assert_never

from weft.protocol import conversation_events as t
from weft.protocol.messages import told_stop
from weft.render.cells import clean, paragraphs
from weft.render.units import told_retry


def conversation_lines(event: t.ConversationEvent | t.LiveConversationEvent) -> list[str]:
    lead, text = _told(event)
    first, *rest = paragraphs(text) or [""]
    return [clean(f"{event.conversation} {lead}{': ' if first else ''}{first}"), *(clean(f"  {line}") for line in rest)]


def _told(event: t.ConversationEvent | t.LiveConversationEvent) -> tuple[str, str]:
    """What happened, and the text that belongs to it."""
    match event:
        case t.MessageAccepted():
            return ("message" if event.delivery == "started" else "message queued"), event.text
        case t.ModelSettled() | t.ModelRetried():
            return _model(event)
        case t.ToolRequested():
            return f"asks for {event.tool} ({event.call}, {event.verdict})", event.reason or ""
        case t.ApprovalRequested():
            return f"waits for approval of {event.tool} ({event.call})", event.reason
        case t.ApprovalDecided():
            return f"approval of {event.call}: {event.decision}", event.reason or ""
        case t.ApprovalRemembered():
            return f"approval of {event.tool} remembered", event.key
        case t.ToolSettled():
            return f"{event.call} {event.outcome.replace('_', ' ')} (effect: {event.effect})", event.text
        case t.CommandRefused():
            return _refused(event)
        case t.ConversationOpened() | t.ConversationStopped() | t.ConversationEnded():
            return _whole(event), ""
        case _ if isinstance(event, Beside):
            return told_beside(event)
        case t.TextStreamed() | t.ThinkingStreamed() | t.ToolProgressed():
            return event.execution, event.text
        case _:
            return _step(event), ""


def _model(event: t.ModelSettled | t.ModelRetried) -> tuple[str, str]:
    if isinstance(event, t.ModelRetried):
        return f"{event.execution} waits", told_retry(event.reason, event.wait_ms, event.instead)
    ended = told_stop(event.stop, event.text)
    return f"model {event.outcome}{f' ({ended})' if ended else ''}", event.text or event.reason or ""


Beside = (
    t.TranscriptCompacted
    | t.ProcessorFailed
    | t.LimitsSet
    | t.LimitReached
    | t.TaintCleared
    | t.FilesRestored
    | t.ConversationRewound
    | t.PlanSubmitted
    | t.PlanDecided
    | t.ProcessStarted
    | t.ProcessEnded
)


def told_beside(event: Beside) -> tuple[str, str]:
    """What happened beside what is said, and the text that belongs to it."""
    match event:
        case t.PlanSubmitted():
            return f"submits the plan {event.plan}", event.text
        case t.PlanDecided():
            return f"the plan {event.plan} is {event.decision}", ""
        case t.ProcessStarted():
            return f"{event.process} goes on in the background", event.command
        case t.ProcessEnded():
            return f"{event.process} ended", event.reason
        case t.FilesRestored():
            return "taken back by the person", ", ".join(event.files)
        case t.ConversationRewound():
            return f"went back to before turn {event.turn}", ", ".join(event.files)
        case t.TaintCleared():
            return "what came from outside is fine, the person says", ""
        case t.ProcessorFailed():
            return f"a processor failed for {event.call}", event.error
        case t.LimitsSet():
            return "may take", ", ".join(f"{value:g} {name}" for name, value in event.limits.items()) or "what it needs"
        case t.LimitReached():
            return f"stopped by its limit of {event.limit}", event.reason
        case t.TranscriptCompacted():
            return f"everything up to turn {event.turn} is told in short from now on", event.text


def _refused(event: t.CommandRefused) -> tuple[str, str]:
    about = event.execution or event.call or event.message or event.key or ""
    return f"refused ({event.refusal.replace('_', ' ')}{', ' + about if about else ''})", event.text or ""


def _whole(event: t.ConversationOpened | t.ConversationStopped | t.ConversationEnded) -> str:
    match event:
        case t.ConversationOpened():
            return f"opened for {event.parent} {event.execution}" if event.parent else "opened"
        case t.ConversationStopped():
            return f"stopped ({'clean' if event.clean else 'something ignored its end'})"
        case t.ConversationEnded():
            return f"ended ({event.disposition})"


def _step(
    event: t.ContinuationTaken
    | t.ContinuationCancelled
    | t.TurnStarted
    | t.IntentRecorded
    | t.CallsDeclared
    | t.TurnInterrupted
    | t.TurnCompleted
    | t.IdleReached
    | t.ShutdownRequested,
) -> str:
    match event:
        case t.ContinuationTaken():
            return f"continues {event.key}"
        case t.ContinuationCancelled():
            return f"continuation {event.key} cancelled ({event.reason})"
        case t.TurnStarted():
            return f"turn {event.turn} started"
        case t.IntentRecorded():
            return f"{event.execution} may start"
        case t.CallsDeclared():
            return f"turn {event.turn} calls {', '.join(event.calls)}"
        case t.TurnInterrupted():
            left = f"; can't be stopped: {', '.join(event.unsupported)}" if event.unsupported else ""
            return f"turn {event.turn} interrupted ({event.reason}{left})"
        case t.TurnCompleted():
            return f"turn {event.turn} completed ({event.disposition})"
        case t.IdleReached():
            return "is idle"
        case t.ShutdownRequested():
            return "shuts down"
        case _:
            assert_never(event)
