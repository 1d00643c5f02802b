"""Further scenarios in the same language, for what the kept file does not show."""

from __future__ import annotations

from typing import Any

GIVEN = {
    "session": "s1",
    "tools": {
        "read": {"interruptible": True},
        "write": {"interruptible": True},
        "solid": {"interruptible": False},
    },
    "llm": {"interruptible": True},
    "auto_project": True,
    "auto_continue": False,
    "grace_ms": 250,
}

Step = dict[str, Any]


def scenario(
    name: str, requirement: list[int], title: str, steps: list[Step], expect: dict[str, Any], **given: Any
) -> dict[str, Any]:
    return {
        "id": name,
        "requirement": requirement,
        "title": title,
        "kind": "sim",
        "given": {**GIVEN, **given},
        "steps": steps,
        "expect": expect,
    }


def say(message: str, *, hold: bool = False) -> Step:
    return {"op": "submit", "cmd": {"type": "UserMessage", "msg": message}, "hold": hold}


def run(x: str) -> Step:
    return {"op": "run", "x": x}


def answer(x: str, *calls: tuple[str, str, str], text: str = "", hold: bool = False) -> Step:
    asked = [{"inv": inv, "tool": tool, "mode": mode} for inv, tool, mode in calls]
    return {"op": "settle", "x": x, "kind": "completed", "text": text, "tool_calls": asked, "hold": hold}


def settle(x: str, kind: str = "succeeded", result: str = "r", *, hold: bool = False) -> Step:
    return {"op": "settle", "x": x, "kind": kind, "result": result, "hold": hold}


def stop(expect: str = "accepted", *, hold: bool = False, **targets: str) -> Step:
    return {"op": "interrupt", "expect": expect, "hold": hold, "targets": targets}


def submit(kind: str, *, hold: bool = False, **fields: Any) -> Step:
    return {"op": "submit", "cmd": {"type": kind, **fields}, "hold": hold}


def event(name: str, /, **fields: Any) -> dict[str, Any]:
    return {"type": name, **fields}


def count(n: int, name: str, /, **fields: Any) -> dict[str, Any]:
    return {"n": n, **event(name, **fields)}


CALLED = [say("m1"), run("t1/llm"), answer("t1/llm", ("a", "read", "auto"))]
RUNNING = [*CALLED, run("t1/a")]
ASKED = [say("m1"), run("t1/llm"), answer("t1/llm", ("a", "write", "required"))]
CRASH = [{"op": "crash"}, {"op": "restart"}]
DRAIN = {"op": "drain"}
CONTINUE = {"op": "continue", "key": "s1:t1"}

_ALL = [
    scenario(
        "M01",
        [1, 9],
        "calls are declared and requested while the model still writes; the turn waits for the model too",
        [
            say("m1"),
            run("t1/llm"),
            submit("DeclareTurn", turn="t1", invocations=["a"]),
            submit("RequestInvocation", turn="t1", inv="a", tool="read", mode="auto"),
            run("t1/a"),
            settle("t1/a"),
            answer("t1/llm"),
        ],
        {
            "tail": [event("LlmOutcome", kind="completed"), event("TurnCompleted", disposition="continue")],
            "counts": [count(1, "TurnCompleted"), count(1, "ToolOutcome")],
        },
    ),
    scenario(
        "M02",
        [2],
        "a call outside the declared set, and one requested twice, change nothing",
        [
            say("m1"),
            run("t1/llm"),
            submit("DeclareTurn", turn="t1", invocations=["a"]),
            submit("RequestInvocation", turn="t1", inv="z", tool="read"),
            submit("RequestInvocation", turn="t1", inv="a", tool="read"),
            submit("RequestInvocation", turn="t1", inv="a", tool="read"),
        ],
        {
            "counts": [
                count(2, "Audit"),
                count(1, "ExecutionReserved", x="t1/a"),
                count(0, "ExecutionReserved", x="t1/z"),
            ],
            "contains": [
                event("Audit", kind="undeclared_invocation", inv="z"),
                event("Audit", kind="duplicate_invocation", inv="a"),
            ],
        },
    ),
    scenario(
        "M03",
        [3],
        "a tool that fails is a result, and the turn goes on",
        [*RUNNING, settle("t1/a", "failed", "no such file")],
        {
            "tail": [
                event("ToolOutcome", kind="failed", result="no such file", effect="none"),
                event("TurnCompleted", disposition="continue", key="s1:t1"),
            ]
        },
    ),
    scenario(
        "M04",
        [5],
        "approved twice, executed once",
        [
            *ASKED,
            submit("ApprovalDecision", inv="a", decision="approved", hold=True),
            submit("ApprovalDecision", inv="a", decision="approved", hold=True),
            DRAIN,
        ],
        {
            "tail": [event("ExecutionReserved", x="t1/a"), event("Audit", kind="stale_approval_decision", inv="a")],
            "counts": [count(1, "ExecutionReserved", x="t1/a")],
        },
    ),
    scenario(
        "M05",
        [5, 21],
        "a pending approval survives the process",
        [
            *ASKED,
            *CRASH,
            {"op": "idle_check", "expect": False},
            submit("ApprovalDecision", inv="a", decision="approved"),
            run("t1/a"),
            settle("t1/a"),
        ],
        {"tail": [event("ToolOutcome", kind="succeeded"), event("TurnCompleted", disposition="continue")]},
    ),
    scenario(
        "M06",
        [9, 12],
        "an interrupt over a settled, a running, a reserved and a pending call",
        [
            say("m1"),
            run("t1/llm"),
            answer(
                "t1/llm",
                ("a", "read", "auto"),
                ("b", "read", "auto"),
                ("c", "read", "auto"),
                ("d", "write", "required"),
            ),
            run("t1/a"),
            settle("t1/a"),
            run("t1/b"),
            {
                "op": "interrupt",
                "expect": "accepted",
                "targets": {
                    "t1/b": "signalled",
                    "t1/c": "cancelled_before_start",
                    "t1/d": "cancelled_before_start",
                },
            },
        ],
        {
            "counts": [count(1, "TurnCompleted")],
            "tail": [
                event(
                    "TurnCompleted",
                    disposition="interrupted",
                    results=[
                        ["a", "succeeded"],
                        ["b", "interrupted"],
                        ["c", "interrupted_before_execution"],
                        ["d", "interrupted_before_execution"],
                    ],
                )
            ],
        },
    ),
    scenario(
        "M07",
        [10],
        "a continuation delivered twice at once leads to one turn",
        [*RUNNING, settle("t1/a"), CONTINUE, CONTINUE],
        {"counts": [count(2, "TurnStarted"), count(1, "Audit", kind="duplicate_continuation")]},
    ),
    scenario(
        "M08",
        [11],
        "a processor that raises is recorded, and the result goes on",
        [*RUNNING, settle("t1/a")],
        {
            "contains": [event("Audit", kind="processor_failed", inv="a")],
            "tail": [event("ToolOutcome", kind="succeeded", result="r"), event("TurnCompleted")],
        },
        processors=["raises"],
    ),
    scenario(
        "M09",
        [11, 16],
        "a late settlement is not processed",
        [*RUNNING, stop(), settle("t1/a", result="late")],
        {"processed": [["a", "interrupted"]]},
    ),
    scenario(
        "M10",
        [12],
        "an interrupt during the start, with its record still queued when the handle binds",
        [
            *CALLED,
            {"op": "start", "x": "t1/a", "expect": True},
            stop(hold=True),
            {"op": "bind", "x": "t1/a", "expect": "interrupted"},
            DRAIN,
        ],
        {
            "tail": [event("ToolOutcome", kind="interrupted", effect="unknown"), event("TurnCompleted")],
            "ports": {"handle_interrupts": {"t1/a": 1}},
        },
    ),
    scenario(
        "M11",
        [13],
        "a model interrupted while its request is opened",
        [
            say("m1"),
            {"op": "start", "x": "t1/llm", "expect": True},
            {"op": "interrupt", "expect": "accepted", "targets": {"t1/llm": "pending_bind"}},
            {"op": "bind", "x": "t1/llm", "expect": "interrupted"},
            {"op": "chunk", "x": "t1/llm", "text": "late"},
        ],
        {
            "tail": [event("LlmOutcome", kind="interrupted", text=""), event("TurnCompleted")],
            "dropped_chunks": 1,
            "ports": {"handle_interrupts": {"t1/llm": 1}, "delivered_chunks": []},
        },
    ),
    scenario(
        "M12",
        [13, 10],
        "the continuation is in the inbox ahead of the record of the interrupt",
        [*RUNNING, settle("t1/a"), {**CONTINUE, "hold": True}, stop(hold=True), DRAIN],
        {
            "tail": [event("Audit", kind="continuation_suppressed"), event("ContinuationCancelled", key="s1:t1")],
            "counts": [count(1, "TurnStarted")],
        },
    ),
    scenario(
        "M13",
        [14],
        "nothing to interrupt: after an interrupted turn, and in a conversation at rest",
        [stop("nothing_to_interrupt"), *RUNNING, stop(), stop("nothing_to_interrupt")],
        {"replies": ["nothing_to_interrupt", "accepted", "nothing_to_interrupt"]},
    ),
    scenario(
        "M14",
        [15],
        "unsupported stays unsupported, however often it is asked",
        [
            say("m1"),
            run("t1/llm"),
            answer("t1/llm", ("a", "solid", "auto")),
            run("t1/a"),
            stop("unsupported"),
            stop("unsupported"),
            settle("t1/a"),
        ],
        {"tail": [event("TurnCompleted", disposition="continue")], "ports": {"handle_interrupts": {}}},
    ),
    scenario(
        "M15",
        [16],
        "a settlement of an execution that nobody intended",
        [say("m1"), settle("t1/zzz"), settle("t7/a")],
        {"counts": [count(2, "Audit", kind="stale_outcome_dropped"), count(0, "ToolOutcome")]},
    ),
    scenario(
        "M16",
        [18, 2],
        "an interrupt between the declaration and the request",
        [
            say("m1"),
            run("t1/llm"),
            submit("DeclareTurn", turn="t1", invocations=["a"]),
            stop(hold=True),
            submit("RequestInvocation", turn="t1", inv="a", tool="read"),
        ],
        {
            "absent": [event("ExecutionReserved", x="t1/a")],
            "contains": [event("ToolOutcome", inv="a", kind="interrupted_before_execution", effect="none")],
            "tail": [event("Audit", inv="a")],
        },
    ),
    scenario(
        "M17",
        [20],
        "a message between the interrupt and its record waits and then starts",
        [*RUNNING, stop(hold=True), say("m2")],
        {
            "tail": [
                event("TurnCompleted", disposition="interrupted"),
                event("UserMessageAccepted", msg="m2"),
                event("TurnStarted", msgs=["m2"]),
                event("ExecutionReserved"),
            ]
        },
    ),
    scenario(
        "M18",
        [23],
        "the status after a replay is the status before it",
        [*ASKED, {"op": "lose_checkpoint", "name": "status"}, *CRASH],
        {"status": "awaiting_approval"},
    ),
    scenario(
        "M19",
        [24],
        "what was interrupted and has not returned keeps it from being idle",
        [
            *RUNNING,
            stop(),
            {"op": "idle_check", "expect": False},
            {"op": "reaped", "x": "t1/a"},
            {"op": "idle_check", "expect": True},
        ],
        {"counts": [count(1, "IdleEligible")], "abandoned": []},
    ),
    scenario(
        "M20",
        [24],
        "a notification that lags does not matter; a status or a continuation that lags does",
        [
            say("m1"),
            run("t1/llm"),
            answer("t1/llm", text="hi"),
            {"op": "idle_check", "expect": False},
            {"op": "project", "name": "status"},
            {"op": "idle_check", "expect": False},
            {"op": "project", "name": "continuation"},
            {"op": "idle_check", "expect": True},
            {"op": "idle_check", "expect": True},
        ],
        {"counts": [count(1, "IdleEligible")]},
        auto_project=False,
    ),
    scenario(
        "M21",
        [10, 21],
        "a crash after the append and before any projection: exactly one continuation",
        [*RUNNING, settle("t1/a", hold=True), {"op": "step", "crash": "after_append"}, {"op": "restart"}, CONTINUE],
        {"ports": {"continuations": ["s1:t1"]}, "counts": [count(2, "TurnStarted")]},
    ),
    scenario(
        "M22",
        [10, 23, 24],
        "every record delivered to every projection again: no effect twice",
        [*RUNNING, settle("t1/a"), {"op": "redeliver"}, {"op": "redeliver", "name": "continuation"}, CONTINUE],
        {"ports": {"continuations": ["s1:t1"]}, "counts": [count(2, "TurnStarted")], "status": "thinking"},
    ),
    scenario(
        "M23",
        [10],
        "with continuations that are taken at once a turn goes on by itself, also after a crash",
        [*RUNNING, settle("t1/a", hold=True), {"op": "step", "crash": "after_append"}, {"op": "restart"}],
        {"counts": [count(2, "TurnStarted")], "status": "thinking"},
        auto_continue=True,
    ),
    scenario(
        "M24",
        [19, 20],
        "a message that waited at a shutdown is taken up by the next process",
        [
            say("m1"),
            run("t1/llm"),
            say("m2"),
            {"op": "shutdown"},
            {"op": "reaped", "x": "t1/llm"},
            {"op": "stop"},
            *CRASH,
        ],
        {
            "contains": [event("SessionStopped", clean=True)],
            "tail": [event("SessionStopped"), event("TurnStarted", msgs=["m2"]), event("ExecutionReserved")],
        },
    ),
    scenario(
        "M25",
        [17, 22, 25, 26, 4, 6, 7, 8],
        "decisions after an interrupt, in the order in which they came",
        [
            *ASKED,
            stop(hold=True),
            submit("ApprovalDecision", inv="a", decision="denied", reason="no", hold=True),
            submit("InterruptPendingApproval", inv="a", hold=True),
            DRAIN,
        ],
        {
            "tail": [
                event("TurnCompleted", disposition="interrupted"),
                event("Audit", kind="stale_approval_decision", inv="a"),
                event("Audit", kind="stale_interrupt", inv="a"),
            ]
        },
    ),
]
MORE = {one["id"]: one for one in _ALL}
