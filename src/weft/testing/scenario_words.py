"""The vocabulary of scenario files and ours, side by side: commands in, events out, names of executions.

A scenario says "llm" where we say model, "invocation" where we say call, "reserved" where we say intent, "outcome"
where we say settlement. Its audit events are our refusals; a file may use any of the usual names for one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from weft.conversation.projections import Said
from weft.conversation.state import turn_of
from weft.protocol import conversation_commands as c
from weft.protocol import conversation_events as t

AUDITS: Final[Mapping[str, str]] = {
    "undeclared_turn": r"missing_turn_declaration|unknown_turn|stale_declaration",
    "undeclared_call": r"missing_turn_declaration|.*undeclared.*|.*not_declared.*|unknown_invocation",
    "repeated_declaration": r"duplicate_declaration",
    "repeated_request": r"(duplicate|repeated)_(invocation|request|reservation).*|.*already_requested.*",
    "request_after_interrupt": r".*(superseded|refused|rejected|suppressed).*|.*interrupt.*",
    "stale_approval": r"stale_approval_decision",
    "approval_after_interrupt": r"approval_superseded_by_interrupt",
    "stale_interrupt": r"stale_interrupt",
    "stale_settlement": r"stale_outcome_dropped",
    "repeated_continuation": r"duplicate_continuation",
    "cancelled_continuation": r"continuation_suppressed",
    "unknown_continuation": r"unknown_continuation|stale_continuation|continuation_suppressed",
    "shutting_down": r"rejected_shutting_down",
    "unknown_conversation": r"unknown_conversation",
    "child_takes_no_messages": r"child_takes_no_messages",
    "processor_failed": r".*process(or|ing).*",
}
"""Our refusals, and what a scenario may call them."""


class ScenarioError(Exception):
    """The scenario itself can't be understood; the text says where."""


def turn_number(name: object) -> int:
    return turn_of(f"{name}/") if isinstance(name, str) else 0


def execution(name: str) -> str:
    """A scenario's `t1/llm` in our words."""
    return re.sub(r"/llm\Z", "/model", name)


def told_execution(name: str) -> str:
    return re.sub(r"/model\Z", "/llm", name)


# -- commands


def tool_ask(given: Mapping[str, Any], tools: Mapping[str, Mapping[str, Any]]) -> c.ToolAsk:
    known = {"inv", "tool", "mode", "turn", "type", "args", "input"}
    if spare := set(given) - known:
        raise ScenarioError(f"a tool call has no {sorted(spare)}")
    modes = {"auto": "allow", "required": "ask"}
    mode = given.get("mode", "auto")
    if mode not in modes:
        raise ScenarioError(f"unknown mode {mode!r}")
    tool = tools.get(given["tool"])
    if tool is None:
        raise ScenarioError(f"unknown tool {given['tool']!r}")
    return c.ToolAsk(
        call=given["inv"],
        tool=given["tool"],
        input=given.get("args", given.get("input", {})),
        ruling="allow" if mode == "auto" else "ask",
        interruptible=bool(tool.get("interruptible", True)),
        safe_to_retry=bool(tool.get("safe_to_retry", False)),
    )


def command(given: Mapping[str, Any], root: str, tools: Mapping[str, Mapping[str, Any]]) -> c.ConversationCommand:
    kind = given.get("type")
    fields = {key: value for key, value in given.items() if key != "type"}
    try:
        match kind:
            case "UserMessage":
                return _message(root, **fields)
            case "DeclareTurn":
                return _declare(root, **fields)
            case "RequestInvocation":
                return c.RequestCall(conversation=root, turn=turn_number(given["turn"]), ask=tool_ask(given, tools))
            case "ApprovalDecision":
                return _approval(root, **fields)
            case "InterruptPendingApproval":
                return _interrupt_approval(root, **fields)
            case "ContinuationMessage" | "Continuation" | "Continue":
                return _continuation(root, **fields)
            case "ToolSettled" | "LlmSettled":
                return settlement(fields, root, tools)
    except (TypeError, KeyError) as error:
        raise ScenarioError(f"command {kind}: {error}") from error
    raise ScenarioError(f"unknown command {kind!r}")


def _message(root: str, *, msg: str, text: str | None = None) -> c.ConversationCommand:
    return c.SendMessage(conversation=root, message=msg, text=msg if text is None else text)


def _declare(root: str, *, turn: str, invocations: list[str]) -> c.ConversationCommand:
    return c.DeclareCalls(conversation=root, turn=turn_number(turn), calls=tuple(invocations))


def _approval(
    root: str, *, inv: str, decision: str, reason: str = "", turn: str | None = None
) -> c.ConversationCommand:
    decisions: dict[str, t.Decision] = {"approved": "once", "denied": "denied", "approved_for_session": "session"}
    if decision not in decisions:
        raise ScenarioError(f"unknown decision {decision!r}")
    number = None if turn is None else turn_number(turn)
    return c.DecideApproval(conversation=root, call=inv, decision=decisions[decision], reason=reason or "", turn=number)


def _interrupt_approval(root: str, *, inv: str, reason: str = "user", turn: str | None = None) -> c.ConversationCommand:
    return c.InterruptApproval(conversation=root, call=inv, reason=reason)


def _continuation(root: str, *, key: str, msg: str | None = None) -> c.ConversationCommand:
    return c.Continue(conversation=root, key=key)


def settlement(
    given: Mapping[str, Any], root: str, tools: Mapping[str, Mapping[str, Any]]
) -> c.SettleModel | c.SettleTool:
    name = given["x"]
    if name.endswith("/llm"):
        return c.SettleModel(
            conversation=root,
            execution=execution(name),
            outcome=_one_of(given["kind"], ("completed", "failed", "interrupted")),
            text=given.get("text") or "",
            asks=tuple(tool_ask(call, tools) for call in given.get("tool_calls") or ()),
            reason=str(given.get("error") or given.get("reason") or ""),
        )
    failed = _one_of(given["kind"], ("succeeded", "failed")) == "failed"
    return c.SettleTool(conversation=root, execution=name, end=c.ToolEnd(text=given.get("result") or "", failed=failed))


def _one_of(value: str, choices: tuple[str, ...]) -> Any:
    if value not in choices:
        raise ScenarioError(f"unknown kind {value!r}")
    return value


# -- events


def told(event: t.ConversationEvent) -> dict[str, Any] | None:
    """An event as a scenario tells it; None for what scenarios don't know."""
    tell = _TOLD.get(type(event))
    return tell(event) if tell else None


def _refused(event: t.CommandRefused) -> dict[str, Any]:
    found = {
        "type": "Audit",
        "kind": event.refusal,
        "turn": None if event.turn is None else f"t{event.turn}",
        "x": event.execution and told_execution(event.execution),
        "inv": event.call,
        "msg": event.message,
        "key": event.key,
        "kind2": event.outcome,
        "result": event.text,
    }
    return {key: value for key, value in found.items() if value is not None}


def _started(event: t.TurnStarted) -> dict[str, Any]:
    before = [f"cont:{event.continues}"] if event.continues else []
    return {"type": "TurnStarted", "turn": f"t{event.turn}", "msgs": [*before, *event.messages]}


def _completed(event: t.TurnCompleted) -> dict[str, Any]:
    return {
        "type": "TurnCompleted",
        "turn": f"t{event.turn}",
        "disposition": event.disposition,
        "key": event.key,
        "results": [list(pair) for pair in event.results.items()],
    }


_TOLD: Final[Mapping[type, Callable[[Any], dict[str, Any]]]] = {
    t.MessageAccepted: lambda e: {
        "type": "UserMessageAccepted",
        "msg": e.message,
        "text": e.text,
        "origin": "user",
        "delivery": e.delivery,
    },
    t.ContinuationTaken: lambda e: {
        "type": "UserMessageAccepted",
        "msg": f"cont:{e.key}",
        "origin": "continuation",
        "delivery": "started",
        "key": e.key,
    },
    t.TurnStarted: _started,
    t.IntentRecorded: lambda e: {
        "type": "ExecutionReserved",
        "turn": f"t{e.turn}",
        "x": told_execution(e.execution),
        "kind": "llm" if e.kind == "model" else "tool",
        "inv": e.call,
    },
    t.ModelSettled: lambda e: {
        "type": "LlmOutcome",
        "turn": f"t{e.turn}",
        "x": told_execution(e.execution),
        "kind": e.outcome,
        "text": e.text,
        "reason": e.reason,
    },
    t.CallsDeclared: lambda e: {"type": "TurnDeclared", "turn": f"t{e.turn}", "invocations": list(e.calls)},
    t.ToolRequested: lambda e: {
        "type": "ToolInvocationRequested",
        "turn": f"t{e.turn}",
        "inv": e.call,
        "tool": e.tool,
        "mode": "required" if e.verdict == "ask" else "auto",
    },
    t.ApprovalRequested: lambda e: {
        "type": "ToolApprovalRequested",
        "turn": f"t{e.turn}",
        "inv": e.call,
        "tool": e.tool,
    },
    t.ApprovalDecided: lambda e: {
        "type": "ToolApprovalResolved",
        "turn": f"t{e.turn}",
        "inv": e.call,
        "decision": "denied" if e.decision == "denied" else "approved",
        "reason": e.reason,
    },
    t.ToolSettled: lambda e: {
        "type": "ToolOutcome",
        "turn": f"t{e.turn}",
        "inv": e.call,
        "x": e.execution,
        "kind": e.outcome,
        "result": e.text,
        "effect": e.effect,
    },
    t.TurnInterrupted: lambda e: {
        "type": "TurnInterrupted",
        "turn": f"t{e.turn}",
        "reason": e.reason,
        "unsupported": [told_execution(x) for x in e.unsupported],
    },
    t.TurnCompleted: _completed,
    t.ContinuationCancelled: lambda e: {"type": "ContinuationCancelled", "key": e.key, "reason": e.reason},
    t.CommandRefused: _refused,
    t.ProcessorFailed: lambda e: {
        "type": "Audit",
        "kind": "processor_failed",
        "turn": f"t{e.turn}",
        "inv": e.call,
        "error": e.error,
    },
    t.IdleReached: lambda e: {"type": "IdleEligible"},
    t.ShutdownRequested: lambda e: {"type": "ShutdownRequested"},
    t.ConversationStopped: lambda e: {"type": "SessionStopped", "clean": e.clean},
}
EVENT_TYPES: Final = frozenset(
    {
        "UserMessageAccepted",
        "TurnStarted",
        "ExecutionReserved",
        "LlmOutcome",
        "TurnDeclared",
        "ToolInvocationRequested",
        "ToolApprovalRequested",
        "ToolApprovalResolved",
        "ToolOutcome",
        "TurnInterrupted",
        "TurnCompleted",
        "ContinuationCancelled",
        "Audit",
        "IdleEligible",
        "ShutdownRequested",
        "SessionStopped",
    }
)


def check_pattern(pattern: Mapping[str, Any]) -> None:
    if pattern.get("type") not in EVENT_TYPES:
        raise ScenarioError(f"unknown event type {pattern.get('type')!r}")
    kind = pattern.get("kind")
    if pattern["type"] == "Audit" and kind and not any(re.fullmatch(names, kind) for names in AUDITS.values()):
        raise ScenarioError(f"unknown kind of audit {kind!r}")


def matches(pattern: Mapping[str, Any], event: Mapping[str, Any]) -> bool:
    """A pattern is a subset of an event. A refusal answers to any of its names."""
    for key, wanted in pattern.items():
        if key == "kind" and event["type"] == "Audit" == pattern["type"]:
            if not re.fullmatch(AUDITS[event["kind"]], wanted):
                return False
        elif event.get(key) != wanted:
            return False
    return True


def told_entry(said: Said) -> list[Any]:
    match said.kind:
        case "message" | "summary":
            return ["user", list(said.messages)]
        case "answer":
            return ["assistant", said.text]
        case "call":
            return ["tool_use", f"t{said.turn}", said.call]
        case "result":
            return ["tool_result", f"t{said.turn}", said.call, said.outcome, said.effect]
