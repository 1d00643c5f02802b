"""Runs the code of a step: in worker processes that can be killed, or in this process for functions that an embedding
program registers and vouches for.

A worker runs inside the kernel boundary: it reads the machine without its secrets, writes the workspace, and has no
key of ours. What it makes there that decides what is run is put away after each call, and between calls nothing of it
goes on, so that what a person makes meanwhile is known to be theirs. When a call is cancelled or times out it returns
at once. A worker is then ended with everything it started; a registered function is cancelled, and a thread that can't
be is left to end by itself: its result is never taken.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import sys
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from weft.files import READ_LIMIT, Folder
from weft.protocol.errors import WeftError
from weft.protocol.steps import MISTAKES, StepFunction, StepInput
from weft.version import INSTALLED

if TYPE_CHECKING:
    from weft.tools.boundary import FolderIdentity, Policy
    from weft.tools.processes import Report, Supervised

Say = Callable[[str], None]
"""Takes a line of progress."""
BREATH: Final = 0.05
"""Seconds after a call in which another of the same worker needs no holding in between."""


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
        self.told_last: Say = _silent
        """Who hears of what is found when its calls are over."""
        self.before: Mapping[str, FolderIdentity] = {}
        """What decides what is run here, as it was before the calls that it makes, one right after the other."""
        self.changed = 0
        self.held = True
        """Nothing of it goes on, or nothing has yet."""
        self.rest: asyncio.TimerHandle | None = None
        self.ending: asyncio.Task[None] | None = None
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
        may_give: Callable[[str, Sequence[str], Sequence[str]], Mapping[str, str]],
        secret: Callable[[str], str],
    ) -> None:
        """`may_run` raises when the code is not what the person agreed to; asked before each call. So does `may_give`,
        of a function, the names of secrets and hosts: a call before it may have written another. What it gives are the
        files that may be loaded for it, with the hash of each. `secret` is one of
        the person's, by its name."""
        self._may_run = may_run
        self._may_give = may_give
        self._secret = secret
        self._code_folder = code_folder
        self._surroundings = surroundings
        self._functions = functions or {}
        self._idle: list[_Worker] = []
        self._all: list[_Worker] = []
        self._deciding: Collection[str] = ()
        """The names of what decides what is run here, those of folders below among them: found once."""

    async def execute(
        self, code: str, given: StepInput, say: Say, *, secrets: Sequence[str] = (), hosts: tuple[str, ...] = ()
    ) -> Any:
        """What the step's function returned. Raises StepCodeError or WorkerCrashedError. `secrets` are given to it by
        name; `hosts` are all it reaches of the network. A worker that had either is used for nothing else."""
        function = self._functions.get(code)
        agreed = self._may_give(code, secrets, hosts) if function is None and (secrets or hosts) else {}
        if secrets:
            given = replace(given, secrets={name: self._secret(name) for name in secrets})
        if function is None:
            request = {"code": code, "step": asdict(given), "agreed": dict(agreed)}
            return await self._ask(request, say, hosts, alone=bool(secrets or hosts))
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
            self._end(worker, worker.told_last)
        for worker in workers:
            if worker.ending is not None:
                await worker.ending

    async def _ask(
        self, request: Mapping[str, Any], say: Say, hosts: tuple[str, ...] = (), *, alone: bool = False
    ) -> Any:
        self._may_run()
        worker = self._idle.pop() if self._idle and not alone else await self._start(hosts)
        worker.say = worker.told_last = say
        worker.last_words.clear()
        self._go_on(worker)
        answer: dict[str, Any] | None = None
        try:
            answer = await worker.ask(request)
        finally:
            worker.say = None
            if answer is None or alone:  # cancelled, timed out or dead: it must not live on, nor what it started
                self._end(worker, say)
            else:
                if self._changed() != worker.changed:  # told with the call, as far as one look can tell
                    self._put_away(worker, say)
                self._idle.append(worker)
                worker.rest = asyncio.get_running_loop().call_later(BREATH, self._hold, worker, say)
        if worker.ending is not None:
            await asyncio.shield(worker.ending)
        if answer is None:
            raise WorkerCrashedError(worker.epitaph())
        if "error" in answer:
            refused = _refused(answer.get("held", ""), hosts)
            fixed = bool(answer.get("fixed") or refused)
            raise StepCodeError(f"{answer['error']}{refused}", trace=answer["trace"], fixed=fixed)
        return answer["result"]

    def _go_on(self, worker: _Worker) -> None:
        from weft.tools.boundary import lying

        if worker.rest is not None:
            worker.rest.cancel()
        if worker.held:
            worker.before = lying(str(self._code_folder.parent), self._deciding)
            worker.changed = self._changed()
            worker.running.go_on()
            worker.held = False

    def _changed(self) -> int:
        return os.stat(self._code_folder.parent).st_ctime_ns

    def _hold(self, worker: _Worker, say: Say) -> None:
        """Nothing of it goes on until it is called again, and what it made until now is looked for once more."""
        worker.held = worker.running.hold()
        if worker.held:
            self._put_away(worker, say)
        else:
            self._idle.remove(worker)
            self._end(worker, say)

    def _end(self, worker: _Worker, say: Say) -> None:
        async def ended() -> None:
            await worker.gone()
            if worker in self._all:
                self._all.remove(worker)
            self._put_away(worker, say)

        self._go_on(worker)  # what is asked to end may do something first
        worker.kill()
        worker.ending = worker.ending or asyncio.create_task(ended(), name="ends a worker")

    def _put_away(self, worker: _Worker, say: Say) -> None:
        """What it made in its call that decides what is run here."""
        from weft.tools.boundary import OF_A_WORKSPACE, planted

        workspace = self._code_folder.parent
        if new := planted(str(workspace), worker.before, OF_A_WORKSPACE):
            from weft.tools.planted import put_away

            with Folder.open(workspace) as folder:
                say(put_away(folder, new))

    async def _start(self, hosts: tuple[str, ...]) -> _Worker:
        from weft.tools.boundary import PROTECTED, protected_places
        from weft.tools.processes import plain_environment

        self._deciding = self._deciding or {*PROTECTED, *protected_places(str(self._code_folder.parent))}

        environment = plain_environment(self._surroundings)
        if added := self._surroundings.get("PYTHONPATH"):
            environment["PYTHONPATH"] = added
        worker = await _Worker.start(self._code_folder, environment, hosts)
        self._all.append(worker)
        return worker


def _refused(held: str, hosts: Collection[str]) -> str:
    """What the boundary says to an error that it makes; nothing where there is none, or where it may be another's."""
    from weft.tools.boundary import boundary_here

    if boundary_here().strength != "strong" or (held == "network" and hosts):
        return ""
    return {
        "network": "; code reaches the hosts alone that its step names: network: [api.example.com]",
        "files": "; code writes in its workspace alone, and what it returns is kept as the artifact",
    }.get(held, "")


def _silent(_: str) -> None:
    """For code whose words nobody asked for."""
