"""The process of an agent of others: what it says is put into one queue, and what it asks for waits for a ruling.

It speaks JSON-RPC in lines, both ways. `AgentRuntime` has what every such agent needs; how one protocol begins, is told
something and says what it does is in the classes made from it.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import shlex
import shutil
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from weft.conversation.claude_agent.child import Child, boundary_policy, environment
from weft.models.model import ModelError, Part
from weft.protocol.errors import UserError
from weft.protocol.json_text import json_value
from weft.protocol.messages import StopReason, Usage
from weft.redaction import REDACTOR

START_SECONDS: Final = 60.0
SECRET: Final = 20
"""Characters from which on a word of a file of sign-ins counts as a secret."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentReach:
    """How an agent is started and what it is handed."""

    name: str
    command: tuple[str, ...]
    surroundings: Mapping[str, str]
    variables: Mapping[str, str] = field(default_factory=dict, repr=False)
    """What it gets of its own: its key, where it has one."""
    model: str = ""
    base_url: str = ""
    home: tuple[str, ...] = ()
    """Files of the person's home that it gets in its own."""


@dataclass(slots=True)
class WantedCall:
    """Something that the agent asked for and waits for: the request, and what came of it."""

    request: Any
    tool: str
    given: Mapping[str, Any]
    is_file: bool = False
    """We read or write it ourselves; else the agent does it once it may."""
    options: tuple[Mapping[str, Any], ...] = ()
    """What may be answered, where the protocol says so."""
    last: bool = True
    """Of several files that one request is about: the one whose ruling answers it."""
    end: asyncio.Future[tuple[str, bool]] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    content: str | None = None
    answered: bool = False


@dataclass(frozen=True, slots=True)
class PromptEnded:
    reason: StopReason
    usage: Usage


@dataclass(frozen=True, slots=True)
class PromptFailed:
    why: str


Heard = Part | str | PromptEnded | PromptFailed
"""A part of its answer, the name of a call that it asks for, or an end."""


ServeFile = Callable[[WantedCall], Awaitable[tuple[str, bool]]]
"""What came of it in words, and whether it failed."""


class AgentRuntime(ABC):
    """One process and one conversation of it."""

    def __init__(self, reach: AgentReach, working: Path, own: Path, kept: str = "") -> None:
        program = shutil.which(reach.command[0], path=reach.surroundings.get("PATH"))
        if program is None:
            raise UserError(
                f"{reach.name}: there is no program {reach.command[0]}", hint="install it, or name its path"
            )
        command = [program, *reach.command[1:], *self.arguments(reach)]
        for folder in (own, own / "home", own / "tmp"):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._furnish(reach, own / "home")
        variables = environment(reach.surroundings, own, "", (working,))
        variables |= {"CLAUDE_CONFIG_DIR": str(own / "home" / ".claude")}
        variables |= {"TMPDIR": str(own / "tmp"), **self.own_variables(own), **reach.variables}
        policy = boundary_policy(reach.surroundings, working, own, (), command)
        policy = replace(policy, readable=(*policy.readable, *_installed(program)))
        self._child = Child(command, folder=working, environment=variables, key=None, policy=policy)
        self.reach = reach
        self.working = working
        self.conversation = kept
        """What it calls the conversation; before it has begun, the one to go on with."""
        self.resumed = False
        """It has its own record of what was said before."""
        self.serve: ServeFile | None = None
        """Reads or writes a file of something that was allowed already."""
        self._serving: set[asyncio.Task[None]] = set()
        self.queue: asyncio.Queue[Heard] = asyncio.Queue()
        self.calls: dict[str, WantedCall] = {}
        self._latest: dict[str, list[WantedCall]] = {}
        """By the name that the agent gives a call, which it may give again."""
        self.open = False
        """It was told something, and its end was not taken in yet."""
        self.death = ""
        self.numbers = itertools.count(1)
        self._waiting: dict[Any, asyncio.Future[Any]] = {}
        self._life: asyncio.Task[None] | None = None

    def _furnish(self, reach: AgentReach, home: Path) -> None:
        """Its home gets the files of the person's that its table names, unless what it has of them is newer: it may
        have renewed its sign-in. Nothing goes the other way: what runs in there must not change the person's files."""
        theirs = Path(reach.surroundings.get("HOME", "/nonexistent"))
        there = [name for name in reach.home if (theirs / name).is_file()]
        if reach.home and not there:
            raise UserError(
                f"{reach.name}: there is no {reach.home[0]} in your home", hint="sign in to it there, or name its key"
            )
        for name in there:
            kept, given = home / name, theirs / name
            data = self.handed_over(name, given.read_bytes())
            for secret in _secrets(data):
                REDACTOR.learn(reach.name, secret)
            if not kept.exists() or kept.stat().st_mtime < given.stat().st_mtime:
                kept.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                kept.unlink(missing_ok=True)
                with os.fdopen(os.open(kept, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                    file.write(data)

    # -- what a protocol says in its own way

    def handed_over(self, name: str, data: bytes) -> bytes:
        """What it gets of a file of the person's."""
        return data

    def arguments(self, reach: AgentReach) -> list[str]:
        """What the program is started with beside its command."""
        return []

    def own_variables(self, own: Path) -> dict[str, str]:
        return {}

    @abstractmethod
    async def shake_hands(self) -> None:
        """Until it can be told something; sets `conversation` and `resumed`."""

    @abstractmethod
    async def tell(self, text: str) -> None: ...

    @abstractmethod
    async def tell_more(self, text: str) -> bool:
        """What the person says while it works. False when it can only be told at the end."""

    @abstractmethod
    async def hear(self, method: str, params: Mapping[str, Any], request: Any) -> bool:
        """Something it says, or asks for when it has a `request`. False: that is not offered here."""

    @abstractmethod
    def ruling(self, wanted: WantedCall, *, allowed: bool) -> Mapping[str, Any]:
        """How a permission is answered."""

    # -- its life

    @property
    def alive(self) -> bool:
        return not self.death and self._child.alive

    async def begin(self) -> None:
        try:
            async with asyncio.timeout(START_SECONDS):
                await self._child.connect()
                self._life = asyncio.create_task(self._live(), name=f"{self.reach.name} runs")
                await self.shake_hands()
        except TimeoutError:
            self.stop()
            raise self.failed(f"it did not begin within {START_SECONDS:g} s") from None
        except (KeyError, TypeError, ConnectionError, OSError) as error:
            self.stop()
            raise self.failed(self.death or f"it can't be started: {error}") from None

    async def send(self, text: str) -> None:
        self.open = True
        await self.tell(text)

    def stop(self) -> None:
        self._child.stop()

    async def gone(self) -> None:
        await self._child.gone()
        if ended := {*self._serving, *([self._life] if self._life is not None else [])}:
            await asyncio.wait(ended)

    async def aclose(self) -> None:
        if self._child.alive:
            await self._child.close()
        self.stop()
        await self.gone()

    def failed(self, why: str) -> ModelError:
        hint = "look whether the agent runs by itself, and is signed in"
        return ModelError("network", f"{self.reach.name}: {why}", hint=hint)

    # -- what it waits for

    def want(self, name: str, *wanted: WantedCall) -> None:
        """It waits for these: one request, about one thing or several files."""
        self._latest[name] = list(wanted)
        for one in wanted:
            call = f"{name}-{next(self.numbers)}" if name in self.calls else name  # it may give a name again
            one.given = self._in_our_words(one.given)
            self.calls[call] = one
            if one.is_file and self.serve is not None and self._is_allowed_already(one):
                task = asyncio.create_task(self._serve(call, one, self.serve))
                self._serving.add(task)
                task.add_done_callback(self._serving.discard)
            else:
                self.queue.put_nowait(call)

    def _is_allowed_already(self, file: WantedCall) -> bool:
        """It is the file of a change that it is at: the change can't end before the file is there."""
        changes = [one for one in self.calls.values() if one.tool in ("Edit", "Write") and not one.is_file]
        path = file.given.get("path")
        return any(one.answered and not one.end.done() and one.given.get("path") == path for one in changes)

    async def _serve(self, call: str, wanted: WantedCall, serve: ServeFile) -> None:
        text, bad = await serve(wanted)
        with suppress(ModelError):  # it has ended: the turn that listens to it says so
            await self.answer_file(call, text, failed=bad)

    def done(self, name: str, text: str, *, failed: bool) -> bool:
        """What it was allowed has ended. False when it never asked."""
        waiting = [one for one in self._latest.get(name, ()) if not one.end.done()]
        for one in waiting:
            one.end.set_result((text, failed))
        return name in self._latest

    async def decide(self, call: str, *, allowed: bool) -> None:
        """Answers a permission; once, whatever it asked for. One of several files is answered with the last of them."""
        wanted = self.calls[call]
        if wanted.answered or wanted.is_file:
            return
        wanted.answered = True
        if allowed and not wanted.last:
            return
        if not allowed:
            for other in self.calls.values():
                if other.request == wanted.request and not other.answered:
                    other.answered = True
                    other.end.set_result(("another file of the same change was not allowed: none was changed", True))
        await self.write({"id": wanted.request, "result": self.ruling(wanted, allowed=allowed)})

    async def answer_file(self, call: str, text: str, *, failed: bool) -> None:
        wanted = self.calls[call]
        if wanted.answered:
            return
        wanted.answered = True
        if failed:
            await self.write({"id": wanted.request, "error": {"code": -32000, "message": text[:2000]}})
        else:
            result = {} if wanted.content is None else {"content": wanted.content}
            await self.write({"id": wanted.request, "result": result})

    def _in_our_words(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """Paths as rules and people write them: from the working folder."""
        path = given.get("path")
        if not isinstance(path, str) or not path.startswith("/"):
            return given
        for one in (str(self.working), os.path.realpath(self.working)):
            if path.startswith(one.rstrip("/") + "/"):
                return {**given, "path": path[len(one.rstrip("/")) + 1 :]}
        return given

    # -- messages

    async def call(self, method: str, params: Mapping[str, Any]) -> Any:
        return await (await self.ask(method, params))

    async def ask(self, method: str, params: Mapping[str, Any]) -> asyncio.Future[Any]:
        """Sends a request; what is given back holds its answer in time."""
        number = next(self.numbers)
        answered = self._waiting[number] = asyncio.get_running_loop().create_future()
        await self.write({"id": number, "method": method, "params": params})
        return answered

    async def write(self, message: Mapping[str, Any]) -> None:
        try:
            await self._child.write(json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False) + "\n")
        except (ConnectionError, OSError) as error:
            raise self.failed(self.death or str(error)) from None

    async def _live(self) -> None:
        try:
            async for message in self._child.read_messages():
                await self._take(message)
        except Exception as error:  # noqa: BLE001  whatever it is, it is the end of this process and is told as such
            self.death = str(error) or type(error).__name__
        finally:
            self.stop()
            self.death = (self.death or "the agent has ended").replace("the Claude runtime", "the agent")
            self.queue.put_nowait(PromptFailed(self.death))
            for waiting in self._waiting.values():
                if not waiting.done():
                    waiting.set_exception(self.failed(self.death))
                    waiting.exception()
            for wanted in self.calls.values():
                if not wanted.end.done():
                    wanted.end.set_result((self.death, True))

    async def _take(self, message: Mapping[str, Any]) -> None:
        method, params = message.get("method"), message.get("params") or {}
        if method is None:
            self._answered(message)
        elif not await self.hear(method, params, message.get("id")) and "id" in message:
            error = {"code": -32601, "message": f"{method} is not offered here"}
            await self.write({"id": message["id"], "error": error})

    def _answered(self, message: Mapping[str, Any]) -> None:
        waiting = self._waiting.pop(message.get("id"), None)
        if waiting is None or waiting.done():
            return
        if "error" in message:
            said = str((message["error"] or {}).get("message") or message["error"])
            waiting.set_exception(self.failed(said[:400]))
            waiting.exception()
        else:
            waiting.set_result(message.get("result"))


def _secrets(data: bytes) -> list[str]:
    """What a file of sign-ins would give away: the long words of its values."""
    try:
        told = json_value(data)
    except ValueError:
        return []
    values, found = [told], list[str]()
    while values:
        one = values.pop()
        values += one.values() if isinstance(one, dict) else one if isinstance(one, list) else ()
        if isinstance(one, str) and len(one) >= SECRET and not any(sign in one for sign in " /"):
            found.append(one)
    return found


def script_of(command: Any) -> str:
    """A command as one would type it. A shell that is only started to run a script is left out: the script is meant."""
    try:
        words = [str(word) for word in command] if isinstance(command, list) else shlex.split(str(command))
    except ValueError:
        return str(command)
    if len(words) == 3 and Path(words[0]).name in ("bash", "sh", "zsh") and words[1] in ("-c", "-lc"):
        return words[2]
    return shlex.join(words) if isinstance(command, list) else str(command)


def count(told: Mapping[str, Any], key: str) -> int | None:
    """A number of tokens, where it is one."""
    value = told.get(key)
    return value if type(value) is int else None


def _installed(program: str) -> list[Path]:
    """Where a program really lies: what is on the path is often a link into a folder of packages."""
    real = Path(os.path.realpath(program))
    packages = [place for place in real.parents if place.name == "node_modules"]
    return [real.parent, *packages[-1:]]
