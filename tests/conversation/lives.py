"""Lives of a conversation: everything that may happen next, exhaustively for small ones and at random for long ones.

`moves(world)` lists what is enabled; `explore` takes every one of them in every order, once for each distinct state;
`walk` takes weighted ones, with crashes, lag, lost checkpoints and repeated deliveries; `finish` lets the world come to
rest and looks whether everything that was promised has been kept.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from weft.conversation.control import Intent
from weft.conversation.state import turn_of
from weft.conversation.turns import TurnRules
from weft.protocol import conversation_commands as c
from weft.protocol import conversation_events as t
from weft.testing.oracle import judge
from weft.testing.simulation import Crash, World, promise

Move = tuple[str, ...]


def ask(call: str, kind: str) -> c.ToolAsk:
    match kind:
        case "approval":
            return c.ToolAsk(call=call, tool="write", ruling="ask", reason="it writes", key="write:x")
        case "changing":
            return c.ToolAsk(call=call, tool="edit", in_order=True)
        case "asked change":
            return c.ToolAsk(call=call, tool="edit", in_order=True, ruling="ask", reason="it writes")
        case "solid":
            return c.ToolAsk(call=call, tool="solid", interruptible=False)
        case "denied":
            return c.ToolAsk(call=call, tool="write", ruling="deny", reason="a rule says no")
        case "child":
            return c.ToolAsk(call=call, tool="task", prompt="look into it")
        case "asked child":
            return c.ToolAsk(call=call, tool="task", prompt="look into it", ruling="ask")
        case _:
            return c.ToolAsk(call=call, tool="read", safe_to_retry=True)


@dataclass
class Scope:
    """How large a small world is. The first turn of the main conversation calls `calls`; every other turn is final."""

    calls: tuple[str, ...]
    interrupts: int = 1
    crashes: int = 0
    chunks: int = 0
    model_interruptible: bool = True
    targets: tuple[str | None, ...] = (None,)
    goes_on: bool = False
    ends: str = ""
    """The call of the first turn whose result ends the conversation."""


@dataclass
class Life:
    """A world together with what the test has done to it."""

    world: World
    interrupts: int = 0
    crashes: int = 0
    chunks: int = 0
    settled: set[tuple[str, str]] = field(default_factory=set)
    decided: set[str] = field(default_factory=set)
    continued: set[str] = field(default_factory=set)

    def copied(self) -> Life:
        return Life(
            self.world.copied(),
            self.interrupts,
            self.crashes,
            self.chunks,
            set(self.settled),
            set(self.decided),
            set(self.continued),
        )

    def fingerprint(self) -> str:
        world = self.world
        intents = sorted(
            (i.conversation, i.execution, i.phase, i.interrupted, i.returned, "".join(i.texts))
            for i in world.engine.control.intents.values()
        )
        made = (self.interrupts, self.crashes, self.chunks, sorted(self.settled), sorted(self.decided))
        closing = sorted((name, sorted(hit)) for name, hit in world.engine.control.closing.items())
        inbox = [repr(command) for command in world.engine.inbox]
        return repr((world.alive, world.engine.state, intents, closing, inbox, made, sorted(self.continued)))


def settlement(life: Life, x: tuple[str, str], scope: Scope | None = None) -> c.SettleModel | c.SettleTool:
    name, execution = x
    if not execution.endswith("/model"):
        ends = scope is not None and execution == f"t1/{scope.ends}"
        return c.SettleTool(conversation=name, execution=execution, end=c.ToolEnd(text=f"did {execution}", ends=ends))
    first = execution == "t1/model" and name == life.world.root
    kinds = scope.calls if scope and first else ()
    asks = tuple(ask("abcdef"[number], kind) for number, kind in enumerate(kinds))
    return c.SettleModel(conversation=name, execution=execution, outcome="completed", text="said", asks=asks)


def moves(life: Life, scope: Scope) -> Iterator[Move]:
    world = life.world
    if not world.alive:
        yield ("restart",)
        return
    if world.engine.inbox:
        yield ("step",)
    for x, intent in world.engine.control.intents.items():
        yield from _moves_of(life, scope, x, intent)
    if life.interrupts < scope.interrupts:
        for target in scope.targets:
            yield ("interrupt", target or "")
    if life.crashes < scope.crashes:
        yield ("crash",)
        if world.engine.inbox:
            yield ("step", "after_append")


def _moves_of(life: Life, scope: Scope, x: tuple[str, str], intent: Intent) -> Iterator[Move]:
    match intent.phase:
        case "reserved":
            yield ("start", *x)
        case "starting" | "draining" if intent.handle is None and x in life.world.ledger.started:
            yield ("bind", *x)
        case "awaiting" if intent.execution not in life.decided:
            yield ("approve", *x)
        case "continuing" if intent.execution not in life.continued:
            yield ("continue", *x)
        case "bound" | "draining" if intent.handle is not None and x not in life.settled:
            yield ("settle", *x)
            if intent.kind == "model" and life.chunks < scope.chunks:
                yield ("chunk", *x)


def play(life: Life, move: Move, scope: Scope) -> None:
    world = life.world
    match move:
        case ("step",):
            world.step()
        case ("step", "after_append"):
            life.crashes += 1
            world.step("after_append")
            life.settled.clear()
        case ("start", name, x):
            world.start(x, name)
        case ("bind", name, x):
            world.bind(x, name)
        case ("approve", name, x):
            life.decided.add(x)
            command = c.DecideApproval(conversation=name, call=x.partition("/")[2], decision="once")
            world.submit(command, hold=True)
        case ("continue", name, key):
            life.continued.add(key)
            world.submit(c.Continue(conversation=name, key=key), hold=True)
        case ("settle", name, x):
            life.settled.add((name, x))
            world.settle(settlement(life, (name, x), scope), hold=True)
        case ("chunk", name, x):
            life.chunks += 1
            world.chunk(x, "piece", name)
        case ("interrupt", target):
            life.interrupts += 1
            world.interrupt(target or None, hold=True)
        case ("crash",):
            life.crashes += 1
            world.crash()
            life.settled.clear()
            life.decided.clear()
            life.continued.clear()
        case ("restart",):
            world.restart()


def begin(scope: Scope) -> Life:
    world = World(model_interruptible=scope.model_interruptible, rules=TurnRules(goes_on=scope.goes_on))
    world.submit(c.SendMessage(conversation=world.root, message="m1", text="hello"))
    return Life(world)


def explore(scope: Scope, check: Callable[[Life], None] | None = None) -> int:
    """Every order of everything in a small scope. Returns the number of distinct states."""
    first = begin(scope)
    seen, todo = {first.fingerprint()}, [first]
    while todo:
        life = todo.pop()
        enabled = list(moves(life, scope))
        if not enabled:
            finish(life.copied())
        for move in enabled:
            branch = life.copied()
            play(branch, move, scope)
            mark = branch.fingerprint()
            if mark not in seen:
                seen.add(mark)
                judge(branch.world)
                if check:
                    check(branch)
                todo.append(branch)
    return len(seen)


def finish(life: Life) -> None:
    """Let the world end by itself: it comes to rest, is idle, and every accepted message was used exactly once."""
    world = life.world
    if not world.alive:
        world.restart()
    if not world.state.stopping:
        for name in [name for name, talk in world.state.talks.items() if talk.limits]:
            world.submit(c.SetLimits(conversation=name, limits={}))
    for _ in range(200):
        world.drain()
        world.project()
        if not _nudge(life):
            break
    world.advance(10)
    world.project()
    judge(world)
    state = world.state
    if not state.stopping:
        promise(world.idle(), "left alone, a conversation comes to rest")
    accepted = [e.message for e in world.events if isinstance(e, t.MessageAccepted)]
    used = [message for e in world.events if isinstance(e, t.TurnStarted) for message in e.messages]
    waiting = [message for talk in state.talks.values() for message in talk.waiting]
    promise(sorted(accepted) == sorted(used + waiting), "every accepted message is used exactly once")
    promise(not waiting or state.stopping, "nothing waits when all is at rest")


def _nudge(life: Life) -> bool:
    """One thing that the world outside would do in the end; False when there is none."""
    world = life.world
    for x, intent in list(world.engine.control.intents.items()):
        if intent.phase == "reserved":
            world.run(x[1], x[0])
            return True
        if intent.phase == "starting":
            world.bind(x[1], x[0])
            return True
        if intent.phase == "awaiting":
            call = x[1].partition("/")[2]
            world.submit(c.DecideApproval(conversation=x[0], call=call, decision="denied", reason="no"))
            return True
        if intent.phase == "continuing":
            promise(intent.execution in world.ledger.continuations, f"nobody asked for {intent.execution}")
            world.submit(c.Continue(conversation=x[0], key=intent.execution))
            return True
        if intent.phase == "declared":
            if is_ready(world, x):
                continue  # it waits for its place
            turn = world.engine.control.turns[x[0]]
            world.submit(c.RequestCall(conversation=x[0], turn=turn, ask=ask(x[1].partition("/")[2], "auto")))
            return True
        if intent.phase == "bound" and intent.kind != "child":
            world.settle(settlement(life, x))
            return True
        if intent.phase == "draining":
            world.returned(x[1], x[0])
            return True
    return False


def is_ready(world: World, x: tuple[str, str]) -> bool:
    """Whether a call may run and waits for those before it."""
    turn = world.state.talks[x[0]].turn
    call = turn.calls.get(x[1].partition("/")[2]) if turn else None
    return call is not None and call.phase == "ready"


# -- random lives

KINDS = (
    *("auto", "auto", "auto", "approval", "approval", "changing", "changing", "asked change"),
    *("solid", "denied", "child", "asked child"),
)


class Walk:
    """One random life, weighted by what is enabled, so that deep states are reached."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        rng = self.rng
        self.world = World(
            auto_project=rng.random() < 0.6,
            auto_continue=rng.random() < 0.3,
            model_interruptible=rng.random() < 0.9,
            rules=TurnRules(depth=2, children=3, goes_on=rng.random() < 0.4),
        )
        self.life = Life(self.world)
        self.messages = 0
        self.calls = 0
        self.old: list[tuple[str, str]] = []

    def run(self, length: int = 60) -> World:
        for number in range(length):
            self.one()
            if number % 12 == 11:
                judge(self.world)
        finish(self.life)
        return self.world

    def one(self) -> None:
        world, rng = self.world, self.rng
        if not world.alive:
            world.restart()
            return
        choices: list[tuple[float, Callable[[], None]]] = [
            (1.0 if self.messages < 5 else 0.1, self.say),
            (0.5, self.interrupt),
            (0.3, lambda: world.project(rng.choice(["status", "continuation", "notification", "transcript", None]))),
            (0.12, lambda: world.redeliver(rng.choice(["status", "continuation", None]))),
            (0.05, lambda: world.lose_checkpoint(rng.choice(["continuation", "notification", "status", "transcript"]))),
            (0.15, lambda: world.advance(rng.choice([0.1, 0.3]))),
            (0.1, self.crash),
            (0.3, self.nonsense),
            (0.2, lambda: self.idle()),
            (0.008, lambda: self.stop()),
            (0.06, self.limit),
            (0.02, self.clear_taint),
        ]
        if world.engine.inbox:
            choices.append((4.0, self.step))
        for x, intent in world.engine.control.intents.items():
            choices += self.of_intent(x, intent.phase, intent.kind)
        weights = [weight for weight, _ in choices]
        rng.choices([action for _, action in choices], weights)[0]()

    def of_intent(self, x: tuple[str, str], phase: str, kind: str) -> Iterator[tuple[float, Callable[[], None]]]:
        world = self.world
        if phase == "reserved":
            yield 3.0, lambda: self.start(x)
        elif phase == "starting":
            yield 3.0, lambda: self.bind(x)
        elif phase == "awaiting":
            yield 2.0, lambda: self.decide(x)
        elif phase == "continuing":
            yield 2.5, lambda: self.go_on(x)
        elif phase == "declared":
            yield 2.0, lambda: self.request(x)
        elif phase == "draining":
            yield 0.6, lambda: world.returned(x[1], x[0])
            yield 0.6, lambda: self.settle(x)
            yield 0.5, lambda: self.bind(x)
        if phase == "bound" and kind != "child":
            yield 3.0, lambda: self.settle(x)
            if kind == "model":
                yield 1.0, lambda: self.chunk(x)
                yield 0.5, lambda: self.declare(x)

    def hold(self) -> bool:
        return self.rng.random() < 0.6

    def say(self) -> None:
        self.messages += 1
        message = f"m{self.messages}"
        self.world.submit(c.SendMessage(conversation=self.world.root, message=message, text=message), hold=self.hold())

    def limit(self) -> None:
        rng = self.rng
        name = rng.choice([self.world.root, *self.world.state.talks])
        limits = rng.choice([{}, {"turns": rng.randint(0, 6)}, {"turns": 3, "minutes": 1}, {"usd": -1}])
        self.world.submit(c.SetLimits(conversation=name, limits=limits), hold=self.hold())

    def clear_taint(self) -> None:
        name = self.rng.choice([self.world.root, *self.world.state.talks])
        self.world.submit(c.ClearTaint(conversation=name), hold=self.hold())

    def interrupt(self) -> None:
        talks = list(self.world.state.talks)
        target = self.rng.choice(talks) if talks and self.rng.random() < 0.3 else None
        self.world.interrupt(target, hold=self.hold())

    def start(self, x: tuple[str, str]) -> None:
        self.old.append(x)
        self.world.start(x[1], x[0])

    def bind(self, x: tuple[str, str]) -> None:
        intent = self.world.engine.control.intents.get(x)
        if intent is not None and intent.handle is None and x in self.world.ledger.started:
            self.world.bind(x[1], x[0])

    def decide(self, x: tuple[str, str]) -> None:
        name, call = x[0], x[1].partition("/")[2]
        command: c.ConversationCommand = c.InterruptApproval(conversation=name, call=call)
        if self.rng.random() < 0.8:
            decision: t.Decision = self.rng.choice(["once", "once", "session", "denied"])
            command = c.DecideApproval(conversation=name, call=call, decision=decision, reason="so")
        self.world.submit(command, hold=self.hold())

    def go_on(self, x: tuple[str, str]) -> None:
        if x[1] in self.world.ledger.continuations:
            self.world.submit(c.Continue(conversation=x[0], key=x[1]), hold=self.hold())

    def request(self, x: tuple[str, str]) -> None:
        turn = int(x[1][1:].partition("/")[0])
        asked = ask(x[1].partition("/")[2], self.rng.choice(KINDS))
        self.world.submit(c.RequestCall(conversation=x[0], turn=turn, ask=asked), hold=self.hold())

    def declare(self, x: tuple[str, str]) -> None:
        turn = int(x[1][1:].partition("/")[0])
        calls = tuple("ghi"[: self.rng.randint(1, 3)])
        self.world.submit(c.DeclareCalls(conversation=x[0], turn=turn, calls=calls), hold=self.hold())

    def chunk(self, x: tuple[str, str]) -> None:
        self.world.chunk(x[1], "piece", x[0])

    def settle(self, x: tuple[str, str]) -> None:
        rng, (name, execution) = self.rng, x
        command: c.SettleModel | c.SettleTool
        if execution.endswith("/model"):
            asks = tuple(ask("abc"[n], rng.choice(KINDS)) for n in range(rng.choice([0, 0, 1, 2, 3])))
            failed = rng.random() < 0.1
            command = c.SettleModel(
                conversation=name,
                execution=execution,
                outcome="failed" if failed else "completed",
                text="said",
                asks=() if failed else asks,
            )
        else:
            end = c.ToolEnd(text="done", failed=rng.choice([False, False, True]), ends=rng.random() < 0.1)
            command = c.SettleTool(conversation=name, execution=execution, end=end)
        self.world.settle(command, hold=self.hold())

    def nonsense(self) -> None:
        """What a confused or late part of the program may send."""
        rng, root = self.rng, self.world.root
        old = rng.choice(self.old) if self.old else (root, "t9/z")
        commands: list[c.ConversationCommand] = [
            c.SettleTool(conversation=old[0], execution=old[1], end=c.ToolEnd(text="late")),
            c.SettleModel(conversation=root, execution="t1/model", outcome="completed", asks=(ask("a", "auto"),)),
            c.DecideApproval(conversation=root, call=rng.choice("abc"), decision="once"),
            c.InterruptApproval(conversation=root, call=rng.choice("abc")),
            c.Continue(conversation=root, key=f"{root}:t{rng.randint(1, 4)}"),
            c.RequestCall(conversation=root, turn=rng.randint(1, 3), ask=ask(rng.choice("abg"), "auto")),
            c.DeclareCalls(conversation=root, turn=1, calls=("a", "b")),
        ]
        chosen = rng.choice(commands)
        if isinstance(chosen, c.SettleTool | c.SettleModel) and self._is_live(chosen):
            return  # that would be a result, not nonsense
        if isinstance(chosen, c.Continue) and chosen.key not in self.world.ledger.continuations:
            return
        self.world.submit(chosen, hold=self.hold())

    def _is_live(self, command: c.SettleTool | c.SettleModel) -> bool:
        talk = self.world.state.talks.get(command.conversation)
        to_come = talk is None or talk.turns < turn_of(command.execution)
        return to_come or (command.conversation, command.execution) in self.world.engine.control.intents

    def step(self) -> None:
        chance = self.rng.random()
        crash: Crash | None = "before_append" if chance < 0.01 else "after_append" if chance < 0.025 else None
        self.world.step(crash)

    def crash(self) -> None:
        self.world.crash()
        self.old.clear()

    def idle(self) -> None:
        self.world.idle()

    def stop(self) -> None:
        self.world.shutdown(hold=self.hold())
        if self.rng.random() < 0.5:
            self.world.drain()
            if not self.world.state.stopped:
                self.world.stop()


def walk(seed: int, length: int = 60) -> World:
    return Walk(seed).run(length)
