"""The confined opener: what must be refused is, and replacement is all or nothing."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from weft.files import Disk, Folder
from weft.protocol.errors import ExternalError, UserError


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    (tmp_path / "outside.txt").write_text("secret")
    inside = tmp_path / "inside"
    (inside / "sub").mkdir(parents=True)
    (inside / "file.txt").write_text("text")
    (inside / "sub" / "deep.txt").write_text("deep")
    (inside / "link.txt").symlink_to(tmp_path / "outside.txt")
    (inside / "own-link.txt").symlink_to(inside / "file.txt")
    (inside / "link-folder").symlink_to(tmp_path)
    (inside / "dangling").symlink_to(tmp_path / "made-by-link.txt")
    os.mkfifo(inside / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(inside / "socket"))
    return Folder.open(inside)


ESCAPES = [
    "../outside.txt",
    "sub/../../outside.txt",
    "sub/../file.txt",
    "/etc/passwd",
    "//etc/passwd",
    "./file.txt",
    "sub//deep.txt",
    "",
    ".",
    "..",
    "file.txt\0.json",
    "link.txt",
    "own-link.txt",
    "link-folder/outside.txt",
    "dangling",
    "pipe",
    "socket",
    "sub",
    "a" * 256,
    "/".join(["a" * 100] * 12),
]


@pytest.mark.parametrize("name", ESCAPES)
def test_reading_is_refused(folder: Folder, name: str) -> None:
    with pytest.raises(UserError):
        folder.read(name)


@pytest.mark.parametrize("name", ESCAPES)
def test_writing_is_refused_and_harms_nothing(folder: Folder, tmp_path: Path, name: str) -> None:
    for write in (folder.replace, folder.put):
        with pytest.raises(UserError):
            write(name, b"overwritten")
    assert (tmp_path / "outside.txt").read_text() == "secret"
    assert not (tmp_path / "made-by-link.txt").exists()
    assert not list(folder.path.rglob("*.tmp"))


@pytest.mark.parametrize("name", ["../x", "/tmp/x", "link-folder", "link-folder/x", "file.txt"])
def test_entering_is_refused(folder: Folder, name: str) -> None:
    with pytest.raises((UserError, FileNotFoundError)):
        folder.folder(name, create=name != "../x").close()
    assert not (folder.path.parent / "x").exists()


def test_a_device_is_refused() -> None:
    with Folder.open(Path("/dev")) as devices, pytest.raises(UserError):
        devices.read("zero")


def test_the_good_ways(folder: Folder) -> None:
    assert folder.read("file.txt") == b"text"
    assert folder.read("sub/deep.txt") == b"deep"
    assert folder.read_or_none("not-there") is None
    with pytest.raises(FileNotFoundError):
        folder.read("not-there")
    folder.replace("sub/new.txt", b"new")
    assert (folder.path / "sub/new.txt").read_bytes() == b"new"
    assert (folder.path / "sub/new.txt").stat().st_mode & 0o777 == 0o600
    with folder.folder("a/b/c", create=True) as deep:
        deep.replace("x", b"1")
    assert folder.read("a/b/c/x") == b"1"
    folder.put("a/d/x", b"2")
    folder.put("a/d/x", b"3")
    assert folder.read("a/d/x") == b"3"


def test_a_file_over_the_limit_is_refused_by_name(folder: Folder) -> None:
    with pytest.raises(UserError, match=r"file\.txt has 4 bytes; the limit is 3"):
        folder.read("file.txt", limit=3)


def test_move_never_lands_on_something(folder: Folder) -> None:
    with folder.folder("sub") as sub:
        with pytest.raises(UserError, match="already there"):
            folder.move("file.txt", sub, "deep.txt")
        folder.move("file.txt", sub, "file.txt")
    assert (folder.path / "sub/file.txt").read_text() == "text"


class FullDisk(Disk):
    def write(self, fd: int, data: bytes) -> None:
        os.write(fd, data[: len(data) // 2])
        raise OSError(28, "No space left on device")


def test_a_replacement_that_fails_leaves_the_old_file_and_no_rubbish(folder: Folder) -> None:
    full = Folder.open(folder.path, FullDisk())
    with pytest.raises(ExternalError, match="No space left on device") as caught:
        full.replace("file.txt", b"new text")
    assert "free some space" in caught.value.hint
    assert folder.read("file.txt") == b"text"
    assert not list(folder.path.glob(".*.tmp"))


def test_only_our_own_leftovers_are_removed(folder: Folder) -> None:
    (folder.path / ".note.json.0123abcd.tmp").write_text("ours")
    (folder.path / "theirs.tmp").write_text("theirs")
    (folder.path / ".hidden").write_text("theirs")
    folder.remove_temporaries()
    assert {".hidden", "theirs.tmp"} <= set(folder.names())
    assert ".note.json.0123abcd.tmp" not in folder.names()
