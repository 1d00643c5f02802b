"""Laying a pack into a workspace, and saying what differs. Never overwrites what a person changed, never deletes.

`.weft/packs.json` records the hash of every file as it was laid. A file that still has that hash is the pack's and may
be updated; any other is the person's and is kept. The record is written last: a process that ends before it leaves
files that the next `init` finds equal to the pack's. Two packs that bring different files of one name can't be laid
together: what the one needs would silently be the other's. Only what is the workspace's own (`AGENTS.md`, settings)
stays as the first laid it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Any, Final, Literal

from weft.files import Disk, Folder
from weft.language.line_difference import unified_lines
from weft.protocol.errors import Problem, UserError, WorkspaceError
from weft.protocol.hashes import hash_bytes
from weft.protocol.values import dataclass
from weft.version import __version__
from weft.workspace import profile
from weft.workspace.document import read_source
from weft.workspace.json_document import parse_json
from weft.workspace.pack_file import Pack, find_packs, load_pack
from weft.workspace.pack_folder import FILES, decides
from weft.workspace.spelling import suggest
from weft.workspace.versions import fits

__all__ = [
    "FileDifference",
    "LaidFile",
    "Pack",
    "code_of",
    "compare_pack",
    "find_packs",
    "forget_pack",
    "lay_pack",
    "load_pack",
]

RECORD: Final = ".weft/packs.json"
RECORD_VERSION: Final = 1
Action = Literal["created", "same", "updated", "kept", "removed"]
State = Literal["same", "changed by you", "new version", "both", "missing", "not laid", "another pack's"]


@dataclass(frozen=True)
class LaidFile:
    path: str
    action: Action
    note: str = ""


@dataclass(frozen=True)
class FileDifference:
    path: str
    state: State
    diff: str = ""
    """From the workspace's file to the pack's."""


@dataclass
class _Record:
    """What was laid: by pack, its version and the hash of each file."""

    versions: dict[str, str] = field(default_factory=dict)
    files: dict[str, dict[str, str]] = field(default_factory=dict)

    def owner(self, path: str, besides: str) -> str | None:
        return next((name for name, files in self.files.items() if name != besides and path in files), None)


def lay_pack(pack: Pack, target: Path, disk: Disk | None = None, *, engine: str = __version__) -> list[LaidFile]:
    """Lay every file of the pack that is not there or is still as it was laid; say what became of each."""
    if not fits(pack.weft, engine):
        raise UserError(
            f"the pack {pack.name} {pack.version} fits weft {pack.weft}, and this is weft {engine}",
            hint="use a version of the pack that fits, or another weft",
        )
    contents = _contents(pack)
    with Folder.open(target, disk, create=True) as folder:
        record = _read_record(folder)
        _check_names(folder, pack, contents, record)
        laid_before = record.files.get(pack.name, {})
        laid = []
        hashes: dict[str, str] = {}
        for path, data in contents.items():
            result = _lay_file(
                folder, path, data, laid_before.get(path), _Names(pack.name, record.owner(path, pack.name))
            )
            laid.append(result)
            if result.action != "kept":
                hashes[path] = hash_bytes(data)
            elif path in laid_before:
                hashes[path] = laid_before[path]
        for path in sorted(laid_before.keys() - contents.keys()):
            hashes[path] = laid_before[path]
            if _is_there(folder, path):
                laid.append(LaidFile(path, "kept", f"{pack.name} {pack.version} no longer has it"))
        record.versions[pack.name], record.files[pack.name] = pack.version, hashes
        _write_record(folder, record)
    return laid


def forget_pack(folder: Folder, name: str) -> tuple[list[str], list[str]]:
    """No file is the pack's any more: those that are still as they were laid, and those that a person changed.
    UserError when it was never laid."""
    record = _read_record(folder)
    if name not in record.files:
        raise UserError(f"no pack {name!r} was laid into this workspace", hint=suggest(name, record.files, "packs"))
    laid = record.files.pop(name)
    del record.versions[name]
    there = {path: data for path in laid if (data := folder.read_or_none(path)) is not None}
    mine = [path for path, data in there.items() if hash_bytes(data) == laid[path] and not record.owner(path, name)]
    _write_record(folder, record)
    return mine, [path for path in there if path not in mine]


def _check_names(folder: Folder, pack: Pack, contents: Mapping[str, bytes], record: _Record) -> None:
    """UserError, before anything is laid, when a file of another pack stands where the pack has one of its own."""
    for path, data in contents.items():
        other = None if path in FILES else record.owner(path, pack.name)
        if other is not None and _is_other(folder, path, data):
            raise UserError(
                f"the pack {pack.name} has a {path}, and the pack {other} has laid another there; nothing was laid",
                hint=f"take that pack out first (weft packs rm {other}), give the file another name in one of them, "
                "or move it away if nothing needs it any more",
            )


def _is_other(folder: Folder, path: str, data: bytes) -> bool:
    try:
        return folder.read_or_none(path) not in (None, data)
    except UserError:
        return False  # what is no file is told when it is its turn


@dataclass(frozen=True)
class _Names:
    pack: str
    owner: str | None
    """Another pack that laid this file."""


def _lay_file(folder: Folder, path: str, data: bytes, laid_hash: str | None, names: _Names) -> LaidFile:
    try:
        present = folder.read_or_none(path)
    except UserError as error:
        return LaidFile(path, "kept", error.message)
    if present == data:
        return LaidFile(path, "same")
    if present is None and path == profile.FILE and _is_there(folder, profile.OLDER):
        return LaidFile(path, "kept", f"yours is {profile.OLDER}")
    if present is None:
        folder.put(path, data)
        return LaidFile(path, "created", "it was gone" if laid_hash else "")
    if hash_bytes(present) == laid_hash:
        folder.put(path, data)
        return LaidFile(path, "updated")
    see = f"`weft packs diff {names.pack}` shows how it differs"
    if names.owner:
        return LaidFile(path, "kept", f"it came with the pack {names.owner}; {see}")
    if laid_hash is None:
        return LaidFile(path, "kept", f"it was there before; {see}")
    if laid_hash == hash_bytes(data):
        return LaidFile(path, "kept", f"you changed it; {see}")
    return LaidFile(path, "kept", f"you changed it, and the pack has a new version; {see}")


def _is_there(folder: Folder, path: str) -> bool:
    try:
        return folder.exists(path)
    except UserError:
        return True


def compare_pack(pack: Pack, target: Path) -> list[FileDifference]:
    """How each file of the pack stands to the workspace's. Changes nothing."""
    contents = _contents(pack)
    if not target.is_dir():
        return [FileDifference(path, "not laid") for path in contents]
    with Folder.open(target) as folder:
        record = _read_record(folder)
        laid = record.files.get(pack.name, {})
        return [
            _compare_file(folder, path, data, laid.get(path), record.owner(path, pack.name))
            for path, data in contents.items()
        ]


def _compare_file(folder: Folder, path: str, data: bytes, laid_hash: str | None, owner: str | None) -> FileDifference:
    try:
        present = folder.read_or_none(path)
    except UserError as error:
        return FileDifference(path, "changed by you", error.message)
    if present is None:
        return FileDifference(path, "missing" if laid_hash else "not laid")
    if present == data:
        return FileDifference(path, "same")
    diff = _diff(path, present, data)
    if owner is not None:
        return FileDifference(path, "another pack's", diff)
    if laid_hash == hash_bytes(present):
        return FileDifference(path, "new version", diff)
    if laid_hash is None or laid_hash == hash_bytes(data):
        return FileDifference(path, "changed by you", diff)
    return FileDifference(path, "both", diff)


def _diff(path: str, present: bytes, data: bytes) -> str:
    try:
        ours, theirs = present.decode().splitlines(), data.decode().splitlines()
    except UnicodeDecodeError:
        return f"{path}: not text, and the two differ"
    return "\n".join(unified_lines(ours, theirs, f"{path} (yours)", f"{path} (pack)"))


def _contents(pack: Pack) -> dict[str, bytes]:
    """Everything is read before anything is written: a pack that can't be read changes nothing."""
    with Folder.open(pack.path) as folder:
        return {path: folder.read(source) for path, source in sorted(pack.files.items())}


def code_of(pack: Pack) -> dict[str, str]:
    """Each file of the pack that would run, or allows tools something unasked, with its hash."""
    return {path: hash_bytes(data) for path, data in _contents(pack).items() if decides(path, data)}


# -- the record


def _read_record(folder: Folder) -> _Record:
    try:
        source = read_source(folder, RECORD)
    except FileNotFoundError:
        return _Record()
    value = parse_json(source)
    hint = "move it away: every file that differs from the pack's is then kept"
    if not isinstance(value, dict) or not isinstance(value.get("packs"), dict):
        raise WorkspaceError([Problem(RECORD, "this is not the record of laid packs", 1, 1, hint=hint)])
    if value.get("version") != RECORD_VERSION:
        message = f"this record has version {value.get('version')}, and only {RECORD_VERSION} is known here"
        raise WorkspaceError([Problem(RECORD, message, 1, 1, hint="use the weft that wrote it, or a newer one")])
    record = _Record()
    for name, entry in value["packs"].items():
        if not _is_entry(entry):
            raise WorkspaceError([Problem(RECORD, f"the record of the pack {name} is damaged", 1, 1, hint=hint)])
        record.versions[name], record.files[name] = entry["version"], entry["files"]
    return record


def _is_entry(entry: Any) -> bool:
    return (
        isinstance(entry, Mapping)
        and isinstance(entry.get("version"), str)
        and isinstance(entry.get("files"), dict)
        and all(isinstance(hash_, str) for hash_ in entry["files"].values())
    )


def _write_record(folder: Folder, record: _Record) -> None:
    packs = {name: {"version": record.versions[name], "files": files} for name, files in sorted(record.files.items())}
    text = json.dumps({"version": RECORD_VERSION, "packs": packs}, indent=2, sort_keys=True, ensure_ascii=False)
    folder.put(RECORD, text.encode() + b"\n")
