"""One writer per session. The kernel holds the lock and lets go of it when the holder dies, however it dies; the text
in the lock file only tells others who holds it."""

from __future__ import annotations

import fcntl
import json
import os
import socket
import sys
import time
from typing import Final

from weft.files import Folder, translated
from weft.protocol.errors import UserError
from weft.protocol.json_text import json_value

LOCK: Final = ".lock"
PATIENCE: Final = 0.1
"""Seconds: somebody who only looks who the holder is holds the lock for an instant."""


class SessionLockedError(UserError):
    """Another process writes to this session."""

    def __init__(self, session: str, holder: str) -> None:
        super().__init__(
            f"session {session} is being written by {holder}",
            hint=f"wait for it, stop it, or watch it: weft sessions follow {session}",
        )
        self.session = session


class WriterLock:
    def __init__(self, fd: int) -> None:
        self._fd = fd

    @classmethod
    def acquire(cls, folder: Folder, session: str, since: str) -> WriterLock:
        deadline = time.monotonic() + PATIENCE
        while True:
            fd = folder.open_fd(LOCK, os.O_RDWR | os.O_CREAT)
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                holder = _holder(fd)
                os.close(fd)
                if time.monotonic() < deadline:
                    time.sleep(PATIENCE / 10)
                    continue
                raise SessionLockedError(session, holder) from None
            if _still_there(fd, folder):
                break
            os.close(fd)  # somebody removed the file between the two calls; lock the one that is there now
        try:
            text = json.dumps(
                {"pid": os.getpid(), "host": socket.gethostname(), "command": own_command(), "since": since}
            )
            os.ftruncate(fd, 0)
            os.pwrite(fd, text.encode(), 0)
        except OSError as error:
            os.close(fd)
            raise translated(error, f"can't lock session {session}") from error
        return cls(fd)

    def release(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def held_by(folder: Folder) -> str | None:
    """Who writes to the session now, or None. Does not disturb anybody."""
    try:
        fd = folder.open_fd(LOCK, os.O_RDONLY)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _holder(fd)
    finally:
        os.close(fd)
    return None


def _still_there(fd: int, folder: Folder) -> bool:
    try:
        there = os.stat(LOCK, dir_fd=folder.fd, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return os.path.samestat(there, os.fstat(fd))


def _holder(fd: int) -> str:
    try:
        told = json_value(os.pread(fd, 4096, 0))
        return f"process {told['pid']} on {told['host']} ({told['command']}, since {told['since']})"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"


def own_command() -> str:
    return " ".join(["weft", *sys.argv[1:3]])[:80]
