"""Runs the code of a step: in worker processes that can be killed, or in this process for functions that an embedding
program registers and vouches for.

A worker runs inside the kernel boundary: it reads the machine without its secrets, writes the workspace, and has no
key of ours. When a call is cancelled or times out it returns at once. A worker is then ended with everything it
started; a registered function is cancelled, and a thread that can't be is left to end by itself: its result is never
taken.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import sys
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weft.files import READ_LIMIT
from weft.protocol.errors import WeftError
from weft.protocol.steps import MISTAKES, StepFunction, StepInput
from weft.version import INSTALLED

if TYPE_CHECKING:
    from weft.tools.boundary import Policy
    from weft.tools.processes import Report, Supervised

Say = Callable[[str], None]
"""Takes a line of progress."""


class StepCodeError(WeftError):
    """The code of a step raised; the message has its error and place, `trace` the calls that led there. `fixed`:
    another try would end the same way."""

    def __init__(self, message: str, *, trace: str = "", fixed: bool = False) -> None:
        super().__init__(message)
        self.trace = trace
        self.fixed = fixed


class WorkerCrashedError(WeftError):
    """The process that ran the code ended without an answer."""


def code_policy(code_folder: Path, environment: Mapping[str, str]) -> Policy:
    """What the code of steps gets of the machine: to read it, and to write the workspace that it belongs to."""
    from weft.tools.boundary import Policy, program_folders  # a run with nothing to do starts no process

    return Policy(
        working=code_folder.parent,
        home=Path(environment.get("HOME", "/nonexistent")),
        needs=frozenset({"write"}),
        readable=(*program_folders(environment), Path(INSTALLED)),
    )


def _import_path(environment: Mapping[str, str]) -> str:
    """Where this very Weft is, and what the person added."""
    own = str(Path(INSTALLED).parent)
    return os.pathsep.join(filter(None, (own, environment.get("PYTHONPATH", ""))))


class _Worker:
    """One worker process inside the boundary, and the pipes to it."""

    def __init__(self, running: Supervised) -> None:
        self.running = running
        self.say: Say | None = None
        self.last_words: deque[str] = deque(maxlen=10)
        self._report: Report | None = None
        self._listener = asyncio.create_task(self._listen())

    @classmethod
    async def start(cls, code_folder: Path, environment: Mapping[str, str], hosts: tuple[str, ...]) -> _Worker:
        from weft.tools.processes import Supervised, usual_limits

        here = os.open(code_folder.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            running = await Supervised.start(
                (sys.executable, "-P", "-m", "weft.orchestrator.code_worker", str(code_folder)),
                folder=here,
                environment={**environment, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": _import_path(environment)},
                policy=replace(code_policy(code_folder, environment), hosts=hosts),
                limits=usual_limits(),
                takes_input=True,
                errors_apart=True,
                line_limit=READ_LIMIT,
            )
        finally:
            os.close(here)
        return cls(running)

    async def ask(self, request: Mapping[str, Any]) -> dict[str, Any] | None:
        """The answer, or None when the process ended without one."""
        writer, stdout = self.running.writer, self.running.inner.stdout
        if writer is None or stdout is None:
            raise AssertionError("a worker is always started with pipes")
        try:
            writer.write(json.dumps(request).encode() + b"\n")
            await writer.drain()
            line = await stdout.readline()
        except (ConnectionError, BrokenPipeError):
            return None
        return json.loads(line) if line.endswith(b"\n") else None

    def kill(self) -> None:
        self.running.stop()

    async def gone(self) -> None:
        """Wait until nothing of it is left, whatever it started."""
        self._report = await self.running.gone()
        self._listener.cancel()
        await asyncio.wait([self._listener])
        self.running.inner._transport.close()  # type: ignore[attr-defined]

    def epitaph(self) -> str:
        code, over = (self._report.code, self._report.over) if self._report else (None, "")
        how = f"killed by signal {-code}" if code is not None and code < 0 else f"exit code {code}"
        if over:
            how = f"it took more {over} than code may"
        said = "; it last said: " + " | ".join(list(self.last_words)[-3:]) if self.last_words else ""
        return f"the process that ran the code ended without a result ({how}){said}"

    async def _listen(self) -> None:
        stderr = self.running.inner.stderr
        if stderr is None:
            raise AssertionError("a worker is always started with pipes")
        while raw := await stderr.readline():
            text = raw.decode(errors="replace").rstrip("\n")
            self.last_words.append(text)
            if self.say:
                self.say(text)


class StepExecutor:
    """Runs code by name: a registered function here, everything else in a worker.

    Workers are started when first needed, reused, and ended with all they started when they are cancelled or misbehave.
    Of our own `surroundings` code sees what is plain, without keys, and what the person added to Python's path.
    """

    def __init__(
        self,
        code_folder: Path,
        surroundings: Mapping[str, str],
        functions: Mapping[str, StepFunction] | None = None,
        *,
        may_run: Callable[[], None],
        secret: Callable[[str], str],
    ) -> None:
        """`may_run` raises when the code is not what the person agreed to; asked before each call. `secret` is one of
        the person's, by its name."""
        self._may_run = may_run
        self._secret = secret
        self._code_folder = code_folder
        self._surroundings = surroundings
        self._functions = functions or {}
        self._idle: list[_Worker] = []
        self._all: list[_Worker] = []

    async def execute(
        self, code: str, given: StepInput, say: Say, *, secrets: Sequence[str] = (), hosts: tuple[str, ...] = ()
    ) -> Any:
        """What the step's function returned. Raises StepCodeError or WorkerCrashedError. `secrets` are given to it by
        name; `hosts` are all it reaches of the network. A worker that had either is used for nothing else."""
        function = self._functions.get(code)
        if secrets:
            given = replace(given, secrets={name: self._secret(name) for name in secrets})
        if function is None:
            return await self._ask({"code": code, "step": asdict(given)}, say, hosts, alone=bool(secrets or hosts))
        try:
            if inspect.iscoroutinefunction(function):
                return await function(given)
            return await asyncio.to_thread(function, given)
        except WeftError:
            raise
        except Exception as error:
            fixed = isinstance(error, MISTAKES)
            raise StepCodeError(f"{type(error).__name__}: {error}", fixed=fixed) from error

    async def check(self, code: str, given: Mapping[str, Any]) -> Any:
        """What a pack's own check returned: a list of texts, one per fault."""
        return await self._ask({"code": code, "check": dict(given)}, _silent)

    async def close(self) -> None:
        workers, self._all, self._idle = self._all, [], []
        for worker in workers:
            worker.kill()
        for worker in workers:
            await worker.gone()

    async def _ask(
        self, request: Mapping[str, Any], say: Say, hosts: tuple[str, ...] = (), *, alone: bool = False
    ) -> Any:
        self._may_run()
        worker = self._idle.pop() if self._idle and not alone else await self._start(hosts)
        worker.say = say
        worker.last_words.clear()
        answer: dict[str, Any] | None = None
        try:
            answer = await worker.ask(request)
        finally:
            worker.say = None
            if answer is None or alone:  # cancelled, timed out or dead: it must not live on, nor what it started
                worker.kill()
            else:
                self._idle.append(worker)
        if answer is None or alone:
            await worker.gone()
            self._all.remove(worker)
        if answer is None:
            raise WorkerCrashedError(worker.epitaph())
        if "error" in answer:
            raise StepCodeError(answer["error"], trace=answer["trace"], fixed=answer.get("fixed", False))
        return answer["result"]

    async def _start(self, hosts: tuple[str, ...]) -> _Worker:
        from weft.tools.processes import plain_environment

        environment = plain_environment(self._surroundings)
        if added := self._surroundings.get("PYTHONPATH"):
            environment["PYTHONPATH"] = added
        worker = await _Worker.start(self._code_folder, environment, hosts)
        self._all.append(worker)
        return worker


def _silent(_: str) -> None:
    """For code whose words nobody asked for."""
