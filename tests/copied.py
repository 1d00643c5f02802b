"""Programs without the cost of loading: one process has loaded everything, and each program begins as a copy of it.

Most of what a command of the tests takes is Python and our modules being loaded, the same ones a thousand times. So a
single-threaded process loads them once and forks when a test starts `python -m MODULE WORDS`. What comes of it is a
process like any other: its own arguments, surroundings, folder, streams and terminal, and a child of the test, which
waits for it, signals it and kills it as ever. `install` puts this beneath `subprocess` and `pexpect`; tests know
nothing of it. What is started in any other form is started as ever, and so is everything in a test marked `fresh`.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import fcntl
import gc
import importlib
import os
import pickle
import pkgutil
import pty
import runpy
import socket
import subprocess
import sys
import termios
import threading
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from io import TextIOWrapper
from pathlib import Path
from typing import Any, Final, Literal, NoReturn

import ptyprocess

from weft.files import Disk

ROOT: Final = Path(__file__).parent.parent
CAN: Final = sys.platform == "linux"
"""Elsewhere a grandchild can't be adopted: there programs are started as ever."""
LOADED: Final = ("weft", "tests.e2e.chat_program")
"""Packages and modules that programs of the tests are made of."""
SUBREAPER: Final = 36
UNDERSTOOD: Final = {
    "PYTHONPATH": None,
    "PYTHONWARNINGS": "error",
    "PYTHONUNBUFFERED": None,
    "LD_PRELOAD": None,
}
"""Settings of Python and of the loader that a copy follows: to any value, or to one. With others a program is started
as ever. What is loaded before a program is loaded before that which is copied, so there is one for each of these."""

is_fresh = False
"""True while nothing is to be copied."""
is_spared = False
"""True when nobody waits for a disk."""


def spare_syncs() -> None:
    """No test cuts the power: what was written is there for whoever asks, also after a kill, and waiting for the disk
    shows nothing. What is synced, and when, is seen by the disks of `weft.testing`, which come to this last."""
    global is_spared
    is_spared = True
    setattr(Disk, "fsync", _as_if_synced)  # noqa: B010  for everything in this process
    setattr(Disk, "fdatasync", _as_if_synced)  # noqa: B010


def _as_if_synced(disk: Disk, fd: int) -> None:
    os.fstat(fd)  # what is not open fails as ever


@dataclass(frozen=True)
class Wish:
    module: str
    words: Sequence[str]
    env: Mapping[str, str]
    folder: str
    new_session: bool = False
    is_terminal: bool = False


def wish_of(command: Any, env: Mapping[str, str] | None, folder: Any) -> Wish | None:
    """None for what is started as ever."""
    if not CAN or is_fresh or not isinstance(command, Sequence) or isinstance(command, str | bytes):
        return None
    words = [os.fsdecode(word) for word in command]
    env = dict(os.environ if env is None else env)
    folder = os.fspath(folder or os.getcwd())
    settings = {name: value for name, value in env.items() if name.startswith(("PYTHON", "LD_"))}
    if words[:2] != [sys.executable, "-m"] or not words[2].startswith(("weft", "tests.")):
        return None
    if any(UNDERSTOOD.get(name, "") not in (None, value) for name, value in settings.items()):
        return None
    if not os.path.isdir(folder) or any(not is_utf8(env.get(name, "")) for name in ("LANG", "LC_ALL", "LC_CTYPE")):
        return None
    return Wish(words[2], words[3:], env, folder)


def is_utf8(place: str) -> bool:
    return place in ("", "C", "POSIX") or place.lower().endswith(("utf-8", "utf8"))


# -- the test's end


class Line:
    """To the process that is copied."""

    def __init__(self, preload: str) -> None:
        self._ours, theirs = socket.socketpair()
        self._alone = threading.Lock()
        number = theirs.fileno()
        spared = is_spared and not preload  # what is loaded before looks at every call
        program = f"from tests.copied import serve; serve({number}, {spared})"
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL", "PYTHONPATH") if name in os.environ}
        if preload:
            kept["LD_PRELOAD"] = preload
        self._server = subprocess.Popen(
            [sys.executable, "-c", program],
            cwd=ROOT,
            env=kept,
            pass_fds=[number],
            stdin=subprocess.DEVNULL,
        )
        theirs.close()
        atexit.register(self.close)

    def close(self) -> None:
        self._ours.close()
        self._server.wait()

    def copy(self, wish: Wish, streams: Sequence[int]) -> int:
        """The number of a new child of this process."""
        data = pickle.dumps(wish)
        with self._alone, adopting():
            socket.send_fds(self._ours, [len(data).to_bytes(8, "big")], list(streams))
            self._ours.sendall(data)
            told = self._ours.recv(8)
        if len(told) < 8:
            raise AssertionError("the process that is copied has ended: see standard error")
        return int.from_bytes(told, "big")


@contextlib.contextmanager
def adopting() -> Iterator[None]:
    """What loses its parent meanwhile, below this process, becomes its child."""
    prctl = ctypes.CDLL(None).prctl
    prctl(SUBREAPER, 1, 0, 0, 0)
    try:
        yield
    finally:
        prctl(SUBREAPER, 0, 0, 0, 0)


@cache
def line(process: int, preload: str = "") -> Line:
    return Line(preload)


def install() -> None:
    """From now on `subprocess` (and what is built on it) and `pexpect` copy what can be copied."""
    execute, spawn = subprocess.Popen._execute_child, ptyprocess.PtyProcess.spawn  # type: ignore[attr-defined]

    def execute_copied(
        self: Any, args: Any, executable: Any, preexec_fn: Any, close_fds: Any, pass_fds: Any, cwd: Any, env: Any,
        startupinfo: Any, creationflags: Any, shell: Any, *rest: Any,
    ) -> None:  # fmt: skip
        told = wish_of(args, env, cwd)
        if told is None or executable or preexec_fn or pass_fds or shell:
            execute(self, args, executable, preexec_fn, close_fds, pass_fds, cwd, env, startupinfo, creationflags,
                    shell, *rest)  # fmt: skip
            return
        pipes, new_session = rest[:6], rest[11]  # a pipe is (read, write); -1 is no pipe: the stream is inherited
        streams = [given if given != -1 else own for own, given in enumerate((pipes[0], pipes[3], pipes[5]))]
        wish = Wish(told.module, told.words, told.env, told.folder, new_session=new_session)
        self.pid = line(os.getpid(), wish.env.get("LD_PRELOAD", "")).copy(wish, streams)
        self._child_created = True
        self._close_pipe_fds(*pipes)

    def spawn_copied(
        argv: Any, cwd: Any = None, env: Any = None, echo: bool = True, preexec_fn: Any = None,
        dimensions: tuple[int, int] = (24, 80), pass_fds: Any = (),
    ) -> Any:  # fmt: skip
        told = wish_of(argv, env, cwd)
        if told is None or preexec_fn or pass_fds or not echo:
            return spawn(argv, cwd, env, echo, preexec_fn, dimensions, pass_fds)
        ours, theirs = pty.openpty()
        termios.tcsetwinsize(theirs, dimensions)
        wish = Wish(told.module, told.words, told.env, told.folder, new_session=True, is_terminal=True)
        pid = line(os.getpid(), wish.env.get("LD_PRELOAD", "")).copy(wish, (theirs, theirs, theirs))
        os.close(theirs)
        made = ptyprocess.PtyProcess(pid, ours)
        made.argv, made.env, made.launch_dir = argv, env, cwd
        return made

    setattr(subprocess.Popen, "_execute_child", execute_copied)  # noqa: B010  the one place that all starts go through
    setattr(ptyprocess.PtyProcess, "spawn", spawn_copied)  # noqa: B010


# -- the process that is copied


def serve(number: int, spared: bool) -> None:
    """Copies until the line is closed. Only a copy returns from this: with its program's end."""
    with socket.socket(fileno=number) as asked:
        for name in LOADED:
            load(name)
        if spared:
            spare_syncs()
        if len(os.listdir("/proc/self/task")) > 1:
            raise AssertionError("a process with threads must not fork")
        gc.collect()
        gc.freeze()
        while True:
            size, streams, _, _ = socket.recv_fds(asked, 8, 3)
            if not size:
                return
            data = b""
            while len(data) < int.from_bytes(size, "big"):
                data += asked.recv(1 << 16)
            child = fork_twice()
            if child == 0:
                break
            for given in streams:
                os.close(given)
            asked.sendall(child.to_bytes(8, "big"))
    begin(pickle.loads(data), streams)


def load(name: str) -> None:
    package = importlib.import_module(name)
    for found in pkgutil.walk_packages(getattr(package, "__path__", ()), f"{name}."):
        if not found.name.startswith(("weft.packs", "weft.__main__")):
            importlib.import_module(found.name)


def fork_twice() -> int:
    """The number of a grandchild whose parent has ended; 0 in the grandchild."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        grandchild = os.fork()
        if grandchild == 0:
            os.close(reading)
            os.close(writing)
            return 0
        os.write(writing, grandchild.to_bytes(8, "big"))
        os._exit(0)
    os.close(writing)
    told = os.read(reading, 8)
    os.close(reading)
    os.waitpid(child, 0)
    return int.from_bytes(told, "big")


def begin(wish: Wish, streams: Sequence[int]) -> None:
    """What the start of Python does, the program, and what the end of Python does."""
    if wish.new_session:
        os.setsid()
    for own, given in enumerate(streams):
        os.dup2(given, own)
    for given in streams:
        os.close(given)
    if wish.is_terminal:
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    os.chdir(wish.folder)
    os.environ.clear()
    os.environ.update(wish.env)
    sys.path[0:1] = [wish.folder, *filter(None, wish.env.get("PYTHONPATH", "").split(os.pathsep))]
    sys.argv = [wish.module, *wish.words]
    sys.stdin = stream(0, "r", "strict")
    sys.stdout = stream(1, "w", "strict")
    sys.stderr = stream(2, "w", "backslashreplace")
    if "PYTHONWARNINGS" in wish.env:
        warnings.simplefilter("error")
    if not hasattr(sys.modules.get(wish.module), "__path__"):
        sys.modules.pop(wish.module, None)  # it was loaded for what it loads
    code: object = 0
    try:
        runpy.run_module(wish.module, run_name="__main__", alter_sys=True)
    except SystemExit as ended:
        code = ended.code
    end(code)


def end(code: object) -> NoReturn:
    """Without taking everything apart that was loaded: that alone takes longer than most commands."""
    if not isinstance(code, int | None):
        sys.stderr.write(f"{code}\n")
        code = 1
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    gc.collect()  # what was left open is told
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        code = 120
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.flush()
    os._exit((code or 0) & 0xFF)


def stream(number: int, mode: Literal["r", "w"], errors: str) -> TextIOWrapper:
    by_line = 1 if mode == "w" and (number == 2 or os.isatty(number)) else -1  # errors are told at once, as ever
    made = open(number, mode, buffering=by_line, encoding="utf-8", errors=errors, closefd=False)  # noqa: SIM115
    if mode == "w" and os.environ.get("PYTHONUNBUFFERED"):
        made.reconfigure(write_through=True)
    return made
