"""The model of what a power cut leaves: what is sure, what is not, and that it agrees with a real disk."""

from __future__ import annotations

import os
import re
from functools import partial
from pathlib import Path

import pytest

from tests.crash.conftest import Scene
from tests.crash.harness import Harness
from weft.files import Folder
from weft.testing import DiskState, Recording, RecordingDisk, Variant, kernel_view, materialise, power_cuts


def last(recording: Recording) -> dict[Variant, DiskState]:
    """The states after the last change."""
    cuts = range(len(recording.changes), len(recording.changes) + 1)
    return {state.variant: state for state in power_cuts(recording, cuts=cuts, mixtures=1)}


def mixtures(recording: Recording, count: int) -> list[DiskState]:
    cuts = range(len(recording.changes), len(recording.changes) + 1)
    return [state for state in power_cuts(recording, cuts=cuts, mixtures=count) if state.variant == "mixed"]


def append(disk: RecordingDisk, path: Path, *pieces: bytes, sync: bool = False) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_APPEND)
    for piece in pieces:
        disk.write(fd, piece)
    if sync:
        disk.fdatasync(fd)
    os.close(fd)


def test_what_was_there_is_durable(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "old.txt").write_bytes(b"old")
    (state,) = {s.fingerprint: s for s in power_cuts(RecordingDisk(tmp_path).recording, mixtures=3)}.values()
    assert (state.files, state.folders) == ({"below/old.txt": b"old"}, ("below",))


def test_a_synced_file_still_needs_its_name(tmp_path: Path) -> None:
    disk = RecordingDisk(tmp_path)
    with Folder.open(tmp_path, disk) as folder:
        fd = folder.open_fd("new.txt", os.O_WRONLY | os.O_CREAT)
        disk.write(fd, b"bytes")
        disk.fsync(fd)
        os.close(fd)
        unnamed = last(disk.recording)
        folder.sync()
    assert unnamed["synced"].files == unnamed["bytes"].files == {}
    assert unnamed["names"].files == unnamed["zeros"].files == {"new.txt": b"bytes"}
    assert all(state.files == {"new.txt": b"bytes"} for state in last(disk.recording).values())


def test_a_name_may_arrive_without_its_bytes(tmp_path: Path) -> None:
    (tmp_path / "file.txt").write_bytes(b"old")
    disk = RecordingDisk(tmp_path)
    with Folder.open(tmp_path, disk) as folder:
        folder.replace("file.txt", b"new bytes!", sync=False)
    found = {variant: state.files["file.txt"] for variant, state in last(disk.recording).items()}
    found.pop("mixed")
    assert found == {
        "all": b"new bytes!",
        "synced": b"old",
        "names": b"",
        "zeros": bytes(10),
        "torn": b"new b",
        "bytes": b"old",
    }


def test_an_atomic_replacement_is_always_the_old_or_the_new(tmp_path: Path) -> None:
    (tmp_path / "file.txt").write_bytes(b"old")
    disk = RecordingDisk(tmp_path)
    with Folder.open(tmp_path, disk) as folder:
        folder.replace("file.txt", b"new")
    assert {state.files["file.txt"] for state in power_cuts(disk.recording, mixtures=50)} == {b"old", b"new"}
    assert {state.files["file.txt"] for state in last(disk.recording).values()} == {b"new"}


def test_what_was_appended_and_synced_is_never_lost(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"")
    disk = RecordingDisk(tmp_path)
    append(disk, log, b"sure " * 1000, sync=True)
    append(disk, log, b"maybe" * 1000, b"perhaps" * 1000)
    found = [state.files["log"] for state in [*last(disk.recording).values(), *mixtures(disk.recording, 200)]]
    assert all(data.startswith(b"sure " * 1000) for data in found)
    assert len(set(found)) > 100
    out_of_order = re.compile(rb"(?:sure )+[a-z]*\0{400,}[a-z]+", re.DOTALL)
    assert any(out_of_order.match(data) for data in found), "no later page arrives before an earlier one"


def test_a_truncation_is_sure_only_after_a_sync(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(b"whole torn")
    disk = RecordingDisk(tmp_path)
    fd = os.open(tmp_path / "log", os.O_WRONLY)
    disk.truncate(fd, 6)
    unsure = {state.files["log"] for state in last(disk.recording).values()}
    disk.fdatasync(fd)
    os.close(fd)
    assert {b"whole torn", b"whole "} <= unsure
    assert {state.files["log"] for state in last(disk.recording).values()} == {b"whole "}


def test_a_move_between_folders_may_show_both_or_none(tmp_path: Path) -> None:
    (tmp_path / "from").mkdir()
    (tmp_path / "to").mkdir()
    (tmp_path / "from" / "file.txt").write_bytes(b"bytes")
    disk = RecordingDisk(tmp_path)
    with Folder.open(tmp_path / "from", disk) as source, Folder.open(tmp_path / "to", disk) as target:
        disk.move("file.txt", source.fd, "file.txt", target.fd)
    found = {tuple(sorted(state.files)) for state in mixtures(disk.recording, 50)}
    assert found == {(), ("from/file.txt",), ("to/file.txt",), ("from/file.txt", "to/file.txt")}


def test_what_is_in_a_lost_folder_is_lost(tmp_path: Path) -> None:
    disk = RecordingDisk(tmp_path)
    with Folder.open(tmp_path, disk) as folder:
        disk.mkdir("below", folder.fd)
        with folder.folder("below") as below:
            below.replace("file.txt", b"synced, and yet")
    assert (last(disk.recording)["synced"].files, last(disk.recording)["synced"].folders) == ({}, ())
    assert last(disk.recording)["names"].files == {"below/file.txt": b"synced, and yet"}


def test_a_second_process_inherits_what_the_first_did_not_sync(tmp_path: Path) -> None:
    first = RecordingDisk(tmp_path)
    with Folder.open(tmp_path, first) as folder:
        folder.replace("one.txt", b"one", sync=False)
    second = RecordingDisk(tmp_path, before=first.recording)
    with Folder.open(tmp_path, second) as folder:
        folder.sync()
        names_only = last(second.recording)["synced"].files
        folder.sync_file("one.txt")
        both = last(second.recording)["synced"].files
    assert (names_only, both) == ({"one.txt": b""}, {"one.txt": b"one"})


def test_a_mark_counts_from_the_change_it_follows(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(b"")
    disk = RecordingDisk(tmp_path)
    append(disk, tmp_path / "log", b"1", sync=True)
    disk.mark("one")
    append(disk, tmp_path / "log", b"2")
    assert [disk.recording.marked(cut) for cut in range(4)] == [[], [], ["one"], ["one"]]
    assert disk.recording.until(1).marks == []
    with pytest.raises(ValueError, match="not among them"):
        disk.recording.until(4)


def test_a_file_outside_is_refused(tmp_path: Path) -> None:
    (tmp_path / "inside").mkdir()
    disk = RecordingDisk(tmp_path / "inside")
    with Folder.open(tmp_path, disk) as folder, pytest.raises(AssertionError, match="not below"):
        folder.replace("outside.txt", b"bytes")


def test_a_removed_files_number_is_another_file(tmp_path: Path) -> None:
    disk = RecordingDisk(tmp_path)
    with Folder.open(tmp_path, disk) as folder:
        for number in range(20):
            folder.replace("same.txt", f"{number}".encode())
    assert kernel_view(disk.recording).files == {"same.txt": b"19"}


def test_the_record_of_a_whole_run_agrees_with_the_disk(harness: Harness, scene: Scene) -> None:
    place = scene.place()
    ended = harness(place, partial(RecordingDisk, place.workspace, sync=False))
    assert ended.recording is not None
    there = (path for path in place.workspace.rglob("*") if not path.name.startswith("index.db"))  # never the truth
    found = {str(path.relative_to(place.workspace)): path for path in there}
    state = kernel_view(ended.recording)
    assert {*state.files, *state.folders} == {*found}
    for name, data in state.files.items():
        if not name.endswith(".lock"):  # its text is only for people and goes past the disk
            assert data == found[name].read_bytes(), name


def test_a_state_can_be_laid_down(tmp_path: Path) -> None:
    state = DiskState(0, "all", None, {"a/b.txt": b"bytes"}, ("a", "a/c"))
    materialise(state, tmp_path / "new")
    assert (tmp_path / "new" / "a" / "b.txt").read_bytes() == b"bytes"
    assert (tmp_path / "new" / "a" / "c").is_dir()
    with pytest.raises(FileExistsError):
        materialise(state, tmp_path / "new")
