"""The disks that disturb: each does what it says, at the call it was told, and at no other."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import cast

import pytest

from weft.files import Disk, Folder
from weft.protocol.errors import ExternalError
from weft.testing import KINDS, CountingDisk, FailingDisk, KillingDisk, Moment

REPLACING = ["create", "write", "fsync", "replace", "fsync"]
"""What `Folder.replace` does."""


KILLED = [sys.executable, "-m", "tests.crash.test_disks"]
"""This file as a program: it replaces a file below FOLDER and is killed at a call of the disk."""


def replace(folder: Path, disk: Disk, data: bytes = b"new bytes") -> None:
    with Folder.open(folder, disk) as opened:
        opened.replace("file.txt", data)


def test_every_call_that_changes_something_is_counted(tmp_path: Path) -> None:
    disk = CountingDisk()
    with Folder.open(tmp_path, disk) as folder, folder.folder("below", create=True) as below:
        folder.replace("file.txt", b"bytes")
        folder.move("file.txt", below, "moved.txt")
        fd = below.open_fd("moved.txt", os.O_WRONLY)
        disk.truncate(fd, 2)
        disk.fdatasync(fd)
        disk.syncfs(fd)
        os.close(fd)
    assert {call.kind for call in disk.calls} == set(KINDS)
    assert [call.number for call in disk.calls] == list(range(1, len(disk.calls) + 1))
    assert [call.of_kind for call in disk.calls if call.kind == "fsync"] == [1, 2, 3, 4, 5]
    assert (tmp_path / "below" / "moved.txt").read_bytes() == b"by"


def test_the_calls_are_those_of_the_disk_that_is_stood_in_for() -> None:
    """A new changing call of the product must be counted too."""
    assert set(KINDS) == {name for name in vars(Disk) if not name.startswith("_")}


@pytest.mark.parametrize(
    ("number", "moment", "left"),
    [(2, "before", [0]), (2, "half", [5_000]), (2, "after", [10_000]), (4, "before", [10_000]), (4, "after", [])],
)
def test_a_process_is_killed_at_the_call(tmp_path: Path, number: int, moment: Moment, left: list[int]) -> None:
    command = [*KILLED, str(tmp_path), str(number), moment]
    done = subprocess.run(command, cwd=Path(__file__).parent.parent.parent, check=False)
    assert done.returncode == -signal.SIGKILL
    assert [path.stat().st_size for path in tmp_path.glob(".*.tmp")] == left
    assert (tmp_path / "file.txt").exists() == (not left)


def test_only_a_write_has_a_half_of_another_call_nothing_is_done(tmp_path: Path) -> None:
    command = [*KILLED, str(tmp_path), "1", "half"]
    done = subprocess.run(command, cwd=Path(__file__).parent.parent.parent, check=False)
    assert done.returncode == -signal.SIGKILL
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("number", range(1, len(REPLACING) + 1))
def test_a_call_fails_with_the_error_that_was_asked_for(tmp_path: Path, number: int) -> None:
    disk = FailingDisk(number, errno.EROFS)
    with pytest.raises(ExternalError, match="Read-only"):
        replace(tmp_path, disk)
    assert [(call.number, call.kind) for call in disk.failed] == [(number, REPLACING[number - 1])]
    replace(tmp_path, disk, b"once only")
    assert (tmp_path / "file.txt").read_bytes() == b"once only"


def test_a_disk_can_stay_full(tmp_path: Path) -> None:
    disk = FailingDisk(2, errno.ENOSPC, kind="write", lasting=True)
    replace(tmp_path, disk, b"still fits")
    for _ in range(2):
        with pytest.raises(ExternalError, match="No space"):
            replace(tmp_path, disk)
    assert (tmp_path / "file.txt").read_bytes() == b"still fits"


def test_a_full_disk_takes_the_first_half(tmp_path: Path) -> None:
    disk = FailingDisk(1, errno.ENOSPC, kind="write", partial=True)
    fd = os.open(tmp_path / "file.txt", os.O_WRONLY | os.O_CREAT)
    with pytest.raises(OSError, match="No space"):
        disk.write(fd, b"123456")
    os.close(fd)
    assert (tmp_path / "file.txt").read_bytes() == b"123"


@pytest.mark.parametrize("number", [0, -1])
def test_calls_are_counted_from_one(number: int) -> None:
    with pytest.raises(ValueError, match="from 1"):
        KillingDisk(number, "before")
    with pytest.raises(ValueError, match="from 1"):
        FailingDisk(number, errno.EIO)


if __name__ == "__main__":
    place, number, moment = sys.argv[1:]
    replace(Path(place), KillingDisk(int(number), cast(Moment, moment)), b"x" * 10_000)
