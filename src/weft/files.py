"""The one way to the disk: a confined opener, atomic replacement, and durability said aloud.

`Folder` holds a directory handle and opens names below it one component at a time without following symlinks, so a
name can never lead outside: `..`, absolute paths, symlinks, devices, pipes, NUL and over-long names are refused.
`Disk` is the short list of system calls that change anything. It is passed in, so that tests can record every write,
kill the process at each of them, or make the disk full.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import secrets
import shutil
import stat
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from functools import lru_cache
from pathlib import Path
from typing import Final, NoReturn

from weft.protocol.errors import EXIT_USAGE, ExternalError, UserError

NAME_LIMIT: Final = 255
PATH_LIMIT: Final = 1024
READ_LIMIT: Final = 256 * 2**20
"""Nothing the engine reads whole is larger; what is, is refused by name instead of eating the memory."""

TEMPORARY: Final = re.compile(r"\..+\.[0-9a-f]{8}\.tmp")


class Disk:
    """The system calls that change the disk. `sync=False` is the setting that trades durability for speed."""

    def __init__(self, *, sync: bool = True) -> None:
        self.sync = sync

    def write(self, fd: int, data: bytes) -> None:
        """All of `data` or an error; the caller knows what a part of it means."""
        view = memoryview(data)
        while view:
            view = view[os.write(fd, view) :]

    def fsync(self, fd: int) -> None:
        if self.sync:
            os.fsync(fd)

    def fdatasync(self, fd: int) -> None:
        if self.sync:
            _fdatasync(fd)

    def syncfs(self, fd: int) -> bool:
        """Make all that was written to the file system of `fd` durable, in one call; False where there is no such call.
        For many files: one by one, each waits for a commit of the file system's own."""
        return not self.sync or _syncfs(fd)

    def truncate(self, fd: int, size: int) -> None:
        os.ftruncate(fd, size)

    def create(self, name: str, flags: int, dir_fd: int) -> int:
        return os.open(name, flags | os.O_CREAT, 0o600, dir_fd=dir_fd)

    def replace(self, source: str, target: str, dir_fd: int) -> None:
        os.replace(source, target, src_dir_fd=dir_fd, dst_dir_fd=dir_fd)

    def move(self, source: str, source_fd: int, target: str, target_fd: int) -> None:
        os.rename(source, target, src_dir_fd=source_fd, dst_dir_fd=target_fd)

    def mkdir(self, name: str, dir_fd: int) -> None:
        os.mkdir(name, 0o700, dir_fd=dir_fd)


_fdatasync = getattr(os, "fdatasync", os.fsync)


def _syncfs(fd: int) -> bool:
    import ctypes  # only where there is much to sync; Python itself does not offer the call

    call = getattr(ctypes.CDLL(None, use_errno=True), "syncfs", None)
    if call is None:
        return False
    if call(fd):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return True


@lru_cache(maxsize=1024)
def split_name(name: str) -> tuple[str, ...]:
    """The components of a confined name, or a refusal that says why."""
    if not name or "\0" in name:
        raise UserError(f"{name[:80]!r} is not a file name")
    if name.startswith("/"):
        raise UserError(f"{name[:80]!r} is an absolute path; only names inside the folder are allowed")
    if len(os.fsencode(name)) > PATH_LIMIT:
        raise UserError(f"the name {name[:40]!r}… is longer than {PATH_LIMIT} bytes")
    parts = tuple(name.split("/"))
    for part in parts:
        if part in ("", ".", ".."):
            raise UserError(f"{name[:80]!r} may not contain {part!r}")
        if len(os.fsencode(part)) > NAME_LIMIT:
            raise UserError(f"a part of {name[:40]!r}… is longer than {NAME_LIMIT} bytes")
    return parts


def named_folder(path: str, what: str = "folder") -> Path:
    """The absolute form of a folder that a person named. UserError when it is not there or can't be worked in."""
    found = Path(os.path.abspath(os.path.expanduser(path)))
    if not found.is_dir():
        why = "is not a folder" if found.exists() else "is not there"
        raise UserError(f"the {what} {found} {why}", hint="name a folder that is there", exit_code=EXIT_USAGE)
    if not os.access(found, os.R_OK | os.X_OK):
        raise UserError(f"the {what} {found} can't be read", hint="check its permissions", exit_code=EXIT_USAGE)
    return found


def named_file(path: str, what: str = "file") -> Path:
    """The absolute form of a file that a person named. UserError when it is not there or can't be read."""
    found = Path(os.path.abspath(os.path.expanduser(path)))
    if not found.is_file():
        why = "is not a file" if found.exists() else "is not there"
        raise UserError(f"the {what} {found} {why}", hint="name a file that is there", exit_code=EXIT_USAGE)
    if not os.access(found, os.R_OK):
        raise UserError(f"the {what} {found} can't be read", hint="check its permissions", exit_code=EXIT_USAGE)
    return found


class Folder:
    """A directory that names can't escape from. Close it, or use it in a `with`."""

    def __init__(self, path: Path, disk: Disk, fd: int) -> None:
        self.path = path
        self.disk = disk
        self.fd = fd

    @classmethod
    def open(cls, path: Path, disk: Disk | None = None, *, create: bool = False) -> Folder:
        """The folder a person named. Symlinks on the way to it are theirs and are followed; below it none are."""
        try:
            if create:
                path.mkdir(parents=True, exist_ok=True)
            fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            raise translated(error, f"can't open the folder {path}") from error
        return cls(path.absolute(), disk or Disk(), fd)

    def __enter__(self) -> Folder:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1

    # -- looking

    def names(self) -> list[str]:
        with _reported("can't list", self.path):
            return sorted(os.listdir(self.fd))

    def entries(self) -> list[tuple[str, bool]]:
        """Each name, and whether it is a folder's."""
        with _reported("can't list", self.path), os.scandir(self.fd) as found:
            return sorted((one.name, one.is_dir(follow_symlinks=False)) for one in found)

    def exists(self, name: str) -> bool:
        try:
            os.close(self.open_fd(name, os.O_RDONLY))
        except FileNotFoundError:
            return False
        return True

    def is_folder(self, name: str) -> bool:
        try:
            return stat.S_ISDIR(os.stat(name, dir_fd=self.fd, follow_symlinks=False).st_mode)
        except OSError:
            return False

    def is_file(self, name: str) -> bool:
        """A regular file directly in this folder."""
        try:
            return stat.S_ISREG(os.stat(name, dir_fd=self.fd, follow_symlinks=False).st_mode)
        except OSError:
            return False

    def read(self, name: str, limit: int = READ_LIMIT) -> bytes:
        """A regular file's bytes. Raises FileNotFoundError when it is not there: callers decide what that means."""
        fd = self.open_fd(name, os.O_RDONLY)
        try:
            with _reported("can't read", self.path, name):
                size = os.fstat(fd).st_size
                if size > limit:
                    raise UserError(f"{self.path / name} has {size:,} bytes; the limit is {limit:,}")
                chunks = []
                while chunk := os.read(fd, 1 << 20):
                    chunks.append(chunk)
                return b"".join(chunks)
        finally:
            os.close(fd)

    def read_or_none(self, name: str, limit: int = READ_LIMIT) -> bytes | None:
        try:
            return self.read(name, limit)
        except FileNotFoundError:
            return None

    # -- opening

    def open_fd(self, name: str, flags: int) -> int:
        """A handle on a regular file below this folder. The caller closes it."""
        parts = split_name(name)
        with self._parent(parts, name) as parent:
            try:
                if flags & os.O_CREAT:
                    fd = self.disk.create(parts[-1], _safe(flags) & ~os.O_CREAT, parent)
                else:
                    fd = os.open(parts[-1], _safe(flags), dir_fd=parent)
            except FileNotFoundError:
                raise
            except OSError as error:
                self._refuse(error, name)
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                os.close(fd)
                raise UserError(f"{self.path / name} is not a regular file")
            return fd

    @contextmanager
    def locked(self, name: str) -> Iterator[int]:
        """While this is open, whoever else wants the same file this way waits. Gives a handle on it."""
        fd = self.open_fd(name, os.O_RDWR | os.O_CREAT)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            yield fd
        finally:
            os.close(fd)

    def folder(self, name: str, *, create: bool = False) -> Folder:
        """A folder directly or deeper below this one; `create` makes what is missing and makes that durable."""
        first, *rest = split_name(name)
        current = self._enter(self.fd, first, name, create=create)
        try:
            for part in rest:
                step = self._enter(current, part, name, create=create)
                os.close(current)
                current = step
        except BaseException:
            os.close(current)
            raise
        return Folder(self.path / name, self.disk, current)

    # -- changing

    def replace(self, name: str, data: bytes, *, sync: bool = True, mode: int | None = None) -> None:
        """Write a temporary file, sync it, rename it into place, sync the folder. Readers see the old or the new.

        `mode`: the rights the file gets; without it only its owner may read it.
        """
        with self.replacing(name, sync=sync, mode=mode) as fd:
            self.disk.write(fd, data)

    def put(self, name: str, data: bytes, *, sync: bool = True, mode: int | None = None) -> None:
        """As `replace`, with the folders above it, which are made when they are missing."""
        above, _, _ = name.rpartition("/")
        if above:
            self.folder(above, create=True).close()
        self.replace(name, data, sync=sync, mode=mode)

    @contextmanager
    def replacing(self, name: str, *, sync: bool = True, mode: int | None = None) -> Iterator[int]:
        """`replace` for what is written bit by bit: a handle to write to (`disk.write`), in place when all is well."""
        parts = split_name(name)
        temporary = f".{parts[-1][:60]}.{secrets.token_hex(4)}.tmp"
        with self._parent(parts, name) as parent, _reported("can't write", self.path, name):
            self._refuse_odd_target(parts[-1], parent, name)
            fd = self.disk.create(temporary, os.O_WRONLY | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, parent)
            try:
                try:
                    if mode is not None:
                        os.fchmod(fd, mode)
                    yield fd
                    if sync:
                        self.disk.fsync(fd)
                finally:
                    os.close(fd)
                self.disk.replace(temporary, parts[-1], parent)
            except BaseException:
                _remove_quietly(temporary, parent)
                raise
            if sync:
                self.disk.fsync(parent)

    def make(self, name: str) -> None:
        """A folder directly below this one, if it is not there. Durable only after `sync`."""
        (part,) = split_name(name)
        with _reported("can't create", self.path, name, passing=(FileExistsError,)):
            try:
                self.disk.mkdir(part, self.fd)
            except FileExistsError:
                return

    @contextmanager
    def laying(self, name: str, way: str) -> Iterator[Folder]:
        """A new folder that has its name when it is whole. Until then it is `.WAY-NAME-…`, which no listing shows and
        nobody else lays: an error takes it away again, and what a crash leaves is in nobody's way."""
        unfinished = f".{way}-{name}-{secrets.token_hex(4)}"
        self.make(unfinished)
        try:
            with self.folder(unfinished) as folder:
                yield folder
                folder.sync()
            self.move(unfinished, self, name)
        except BaseException:
            shutil.rmtree(self.path / unfinished, ignore_errors=True)
            raise
        self.sync()

    def move(self, name: str, target: Folder, new_name: str) -> None:
        """Move a file or folder; never onto something that is there."""
        (source,), (destination,) = split_name(name), split_name(new_name)
        with _reported("can't move", self.path, name, f" to {target.path / new_name}"):
            if _present(destination, target.fd):
                raise UserError(f"{target.path / new_name} is already there")
            self.disk.move(source, self.fd, destination, target.fd)
            self.disk.fsync(target.fd)
            self.disk.fsync(self.fd)

    def remove_temporaries(self) -> None:
        """Remove what a killed `replace` left behind. Only for the one writer of this folder."""
        for name in self.names():
            if TEMPORARY.fullmatch(name):
                _remove_quietly(name, self.fd)

    def sync_file(self, name: str) -> None:
        fd = self.open_fd(name, os.O_RDONLY)
        try:
            with _reported("can't sync", self.path, name):
                self.disk.fsync(fd)
        finally:
            os.close(fd)

    def sync_files(self, names: Iterable[str]) -> None:
        """Make these files and this folder's entries durable; a name that is not there is passed over."""
        with ExitStack() as stack:
            handles: list[int] = []
            for name in names:
                try:
                    handles.append(self.open_fd(name, os.O_RDONLY))
                except FileNotFoundError:
                    continue
                stack.callback(os.close, handles[-1])
            with _reported("can't sync the files in", self.path):
                for handle in handles[1:]:
                    _begin_writing(handle)  # then one commit of the file system's journal serves all of them
                for handle in handles:
                    self.disk.fsync(handle)
                self.disk.fsync(self.fd)

    def sync_all(self) -> bool:
        """Make all below this folder durable, with whatever else its file system has; False where that can't be had."""
        with _reported("can't sync the files in", self.path):
            return self.disk.syncfs(self.fd)

    def sync(self) -> None:
        """Make this folder's own entries durable."""
        with _reported("can't sync", self.path):
            self.disk.fsync(self.fd)

    # -- inside

    def _parent(self, parts: tuple[str, ...], name: str) -> AbstractContextManager[int]:
        return nullcontext(self.fd) if len(parts) == 1 else self._deeper(parts, name)

    @contextmanager
    def _deeper(self, parts: tuple[str, ...], name: str) -> Iterator[int]:
        current = os.dup(self.fd)
        try:
            for part in parts[:-1]:
                step = self._enter(current, part, name, create=False)
                os.close(current)
                current = step
            yield current
        finally:
            os.close(current)

    def _enter(self, parent: int, part: str, name: str, *, create: bool) -> int:
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            return os.open(part, flags, dir_fd=parent)
        except FileNotFoundError:
            if not create:
                raise
        except OSError as error:
            self._refuse(error, name)
        with _reported("can't create", self.path, name):
            try:
                self.disk.mkdir(part, parent)
            except FileExistsError:
                pass  # another process made it between the two calls: just as good
            self.disk.fsync(parent)
            return os.open(part, flags, dir_fd=parent)

    def _refuse_odd_target(self, last: str, parent: int, name: str) -> None:
        try:
            mode = os.stat(last, dir_fd=parent, follow_symlinks=False).st_mode
        except FileNotFoundError:
            return
        if not stat.S_ISREG(mode):
            raise UserError(f"{self.path / name} is not a regular file; it is left alone")

    def _refuse(self, error: OSError, name: str) -> NoReturn:
        if error.errno in (errno.ELOOP, errno.ENOTDIR, errno.EMLINK, errno.ENXIO, errno.EISDIR):
            what = f"{self.path / name} goes through a link or is not a regular file: refused"
            hint = "put the file itself there; a link could lead anywhere, and change what it leads to unseen"
            raise UserError(what, hint=hint) from error
        raise translated(error, f"can't open {self.path / name}") from error


def _begin_writing(handle: int) -> None:
    """Ask the system to write a file's bytes out soon; what counts is the sync that follows."""
    if hasattr(os, "posix_fadvise"):
        os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)


def _safe(flags: int) -> int:
    # O_NONBLOCK: opening a pipe must not hang; it has no effect on regular files.
    return flags | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY


def _present(name: str, dir_fd: int) -> bool:
    try:
        os.stat(name, dir_fd=dir_fd, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _remove_quietly(name: str, dir_fd: int) -> None:
    try:
        os.unlink(name, dir_fd=dir_fd)
    except OSError:
        return  # an own temporary file that stays behind harms nobody; the error that led here matters more


class _reported:  # noqa: N801  a context manager, read as a word
    """Errors of the operating system become words; the words are made only then."""

    __slots__ = ("_folder", "_name", "_passing", "_tail", "_verb")

    def __init__(
        self, verb: str, folder: Path, name: str = "", tail: str = "", *, passing: tuple[type[OSError], ...] = ()
    ) -> None:
        self._verb, self._folder, self._name, self._tail, self._passing = verb, folder, name, tail, passing

    def __enter__(self) -> None:
        """Nothing to prepare."""

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if isinstance(error, OSError) and not isinstance(error, self._passing):
            raise translated(error, f"{self._verb} {self._folder / self._name}{self._tail}") from error


_HINTS: Final = {
    errno.ENOSPC: "the disk is full: free some space and run the same command again; what was finished is kept",
    errno.EDQUOT: "your quota is used up: free some space and run the same command again; what was finished is kept",
    errno.EROFS: "the file system is read-only: make it writable and run the same command again",
    errno.EACCES: "you lack the permission: change it, or choose another workspace with --workspace",
    errno.EPERM: "you lack the permission: change it, or choose another workspace with --workspace",
    errno.EIO: "the disk reported a fault: check it before you go on",
}


def translated(error: OSError, what: str) -> ExternalError:
    """An operating-system error as the person should see it."""
    reason = os.strerror(error.errno) if error.errno else str(error)
    return ExternalError(f"{what}: {reason}", hint=_HINTS.get(error.errno or 0, ""), retryable=True)
