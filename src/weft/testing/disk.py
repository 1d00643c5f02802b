"""Disks that disturb on purpose. Each stands in for `weft.files.Disk` and performs the real calls; before, after or
instead of the n-th of them it does what its name says.

    CountingDisk     counts: how many calls does this work make, of which kinds, in which order?
    ├── KillingDisk  ends its own process with SIGKILL before or after a call, or half-way through a write
    └── FailingDisk  raises an operating-system error, once or from then on

Count a run first, then disturb it at every number up to the count. `sync=False` spares the real syncs (a killed
process does not lose what the kernel has), but they are counted, killed at and made to fail all the same.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal, NoReturn, get_args

from weft.files import Disk

Kind = Literal["write", "fsync", "fdatasync", "syncfs", "truncate", "create", "replace", "move", "mkdir"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
Moment = Literal["before", "after", "half"]
"""`half` is for writes only: the first half of the bytes reaches the file."""

Half = Callable[[], None]


@dataclass(frozen=True, slots=True)
class Call:
    """One changing call: its place in the order, from 1, and what it changes (a name for people, not an address)."""

    number: int
    of_kind: int
    """Its place among the calls of its kind, from 1."""
    kind: Kind
    subject: str

    def __str__(self) -> str:
        return f"#{self.number} {self.kind} {self.subject}"


class CountingDisk(Disk):
    """Performs every call and keeps the list of them."""

    def __init__(self, *, sync: bool = True) -> None:
        super().__init__(sync=sync)
        self.calls: list[Call] = []
        self._counting = threading.Lock()

    def before(self, call: Call, half: Half | None) -> None:
        """For a disk that disturbs: called when `call` is due; `half` performs the first half of a write."""

    def after(self, call: Call) -> None:
        """For a disk that disturbs: called when `call` has been performed."""

    # -- the calls

    def write(self, fd: int, data: bytes) -> None:
        call = self._count("write", _path(fd))
        self.before(call, lambda: super(CountingDisk, self).write(fd, data[: len(data) // 2]))
        super().write(fd, data)
        self.after(call)

    def fsync(self, fd: int) -> None:
        call = self._begin("fsync", _path(fd))
        super().fsync(fd)
        self.after(call)

    def fdatasync(self, fd: int) -> None:
        call = self._begin("fdatasync", _path(fd))
        super().fdatasync(fd)
        self.after(call)

    def syncfs(self, fd: int) -> bool:
        call = self._begin("syncfs", _path(fd))
        done = super().syncfs(fd)
        self.after(call)
        return done

    def truncate(self, fd: int, size: int) -> None:
        call = self._begin("truncate", _path(fd))
        super().truncate(fd, size)
        self.after(call)

    def create(self, name: str, flags: int, dir_fd: int) -> int:
        call = self._begin("create", name)
        fd = super().create(name, flags, dir_fd)
        self.after(call)
        return fd

    def replace(self, source: str, target: str, dir_fd: int) -> None:
        call = self._begin("replace", target)
        super().replace(source, target, dir_fd)
        self.after(call)

    def move(self, source: str, source_fd: int, target: str, target_fd: int) -> None:
        call = self._begin("move", target)
        super().move(source, source_fd, target, target_fd)
        self.after(call)

    def mkdir(self, name: str, dir_fd: int) -> None:
        call = self._begin("mkdir", name)
        super().mkdir(name, dir_fd)
        self.after(call)

    # -- inside

    def _begin(self, kind: Kind, subject: str) -> Call:
        call = self._count(kind, subject)
        self.before(call, None)
        return call

    def _count(self, kind: Kind, subject: str) -> Call:
        with self._counting:
            same = sum(call.kind == kind for call in self.calls)
            call = Call(len(self.calls) + 1, same + 1, kind, subject)
            self.calls.append(call)
        return call


class KillingDisk(CountingDisk):
    """Ends its own process at the call with this number, as the kernel would: nothing is unwound, nothing flushed."""

    def __init__(self, number: int, moment: Moment, *, sync: bool = True) -> None:
        super().__init__(sync=sync)
        if number < 1:
            raise ValueError(f"calls are counted from 1, not {number}")
        self.number = number
        self.moment = moment

    def before(self, call: Call, half: Half | None) -> None:
        if call.number != self.number or self.moment == "after":
            return
        if self.moment == "half" and half is not None:  # what is no write has no half: nothing of it is done
            half()
        _die()

    def after(self, call: Call) -> None:
        if call.number == self.number and self.moment == "after":
            _die()


class FailingDisk(CountingDisk):
    """Raises OSError(`errno`) instead of the call with this number: among all calls, or among those of one `kind`.

    `partial`: a write that fails has already put the first half of its bytes into the file, as a full disk does.
    `lasting`: every later call (of that kind) fails too, as on a disk that stays full or read-only.
    """

    def __init__(
        self,
        number: int,
        errno: int,
        *,
        kind: Kind | None = None,
        partial: bool = False,
        lasting: bool = False,
        sync: bool = True,
    ) -> None:
        super().__init__(sync=sync)
        if number < 1:
            raise ValueError(f"calls are counted from 1, not {number}")
        self.number = number
        self.errno = errno
        self.kind = kind
        self.partial = partial
        self.lasting = lasting
        self.failed: list[Call] = []
        """The calls that were made to fail. Empty when the work never came so far."""

    def before(self, call: Call, half: Half | None) -> None:
        if self.kind not in (None, call.kind):
            return
        number = call.number if self.kind is None else call.of_kind
        if number == self.number or (self.lasting and number > self.number):
            self.failed.append(call)
            if self.partial and half is not None:
                half()
            raise OSError(self.errno, os.strerror(self.errno))


def _die() -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("a killed process went on")


def _path(fd: int) -> str:
    """What people call the file behind a handle, where the system tells."""
    try:
        return os.path.basename(os.readlink(f"/proc/self/fd/{fd}"))
    except OSError:
        return f"handle {fd}"
