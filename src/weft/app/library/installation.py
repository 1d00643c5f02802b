"""What others made, brought into a workspace: packs and skills from a folder, an archive or a git address.

Everything is looked at before it is laid: each file with its hash, what would change, and the person's consent to
exactly that. `.weft/origins.json` keeps where it came from and the hash of the whole, so that `update` can say what is
new. What a person changed is kept; what is removed is moved aside. Git runs no hooks, no submodules and asks nobody.
"""

from __future__ import annotations

import io
import json
import lzma
import os
import shutil
import subprocess
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any, Final, Literal

from weft.consent import ConsentRequest, Consents
from weft.files import Folder
from weft.protocol.commands import is_address
from weft.protocol.errors import ExternalError, UsageError, UserError
from weft.protocol.hashes import combine, hash_bytes
from weft.protocol.json_text import json_value
from weft.protocol.values import dataclass
from weft.workspace import skill
from weft.workspace.pack import Action, FileDifference, LaidFile, compare_pack, forget_pack, lay_pack
from weft.workspace.pack_file import Pack, load_pack
from weft.workspace.pack_folder import FILE as PACK_FILE
from weft.workspace.skill_file import read_skill
from weft.workspace.workspace import Workspace

ORIGINS: Final = ".weft/origins.json"
REMOVED: Final = ".weft/removed"
MOST_BYTES: Final = 64 * 2**20
"""Of everything in an archive or a folder that is brought."""
MOST_FILES: Final = 5000
GIT_SECONDS: Final = 120.0
_ARCHIVES: Final = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.xz", ".tar.bz2")
UNPACK_FAULTS: Final = (
    *(tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError),
    RuntimeError,  # a zip that is encrypted, or packed in a way nobody knows
)
"""What archives that are spoilt, or made to be trouble, come to."""
BroughtKind = Literal["pack", "skill"]
FetchBytes = Callable[[str], bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where something came from, and what it was."""

    kind: BroughtKind
    name: str
    origin: str
    hash: str
    commit: str = ""
    at: str = ""


@dataclass(frozen=True, slots=True)
class Installation:
    """What came of bringing something."""

    origin: Origin
    laid: tuple[LaidFile, ...]


def bring_pack(address: str, workspace: Path, consents: Consents, fetch: FetchBytes) -> Installation:
    """NotAgreedError before anything is laid, unless the person agreed to every file as it is."""
    with brought(address, fetch) as (folder, commit):
        pack = load_pack(_with(folder, PACK_FILE))
        parts = _hashes(pack.path, pack.files)
        consents.check(ConsentRequest(kind="pack", subject=pack.name, folder=_origin(address), parts=parts))
        laid = lay_pack(pack, workspace)
        origin = _noted(workspace, "pack", pack.name, address, combine(parts), commit)
    return Installation(origin, tuple(laid))


def pack_changes(address: str, workspace: Path, fetch: FetchBytes) -> tuple[Pack, list[FileDifference]]:
    """What bringing it would change. Nothing is laid."""
    with brought(address, fetch) as (folder, _):
        pack = load_pack(_with(folder, PACK_FILE))
        return pack, compare_pack(pack, workspace)


def remove_pack(name: str, workspace: Path) -> list[LaidFile]:
    """Every file that is still as it was laid is moved aside; what a person changed stays."""
    with Folder.open(workspace) as folder:
        mine, changed = forget_pack(folder, name)
        aside = _aside(folder, name)
        for path in mine:
            _move_aside(folder, path, aside)
        _forget(folder, "pack", name)
    return [
        *(LaidFile(path, "removed", f"it is in {REMOVED}") for path in mine),
        *(LaidFile(path, "kept", "you changed it") for path in changed),
    ]


def bring_skills(address: str, workspace: Path, consents: Consents, fetch: FetchBytes) -> list[Installation]:
    """A skill, or every skill of a folder of skills."""
    with brought(address, fetch) as (folder, commit):
        return [_bring_skill(one, address, commit, workspace, consents) for one in _skill_folders(folder)]


def _bring_skill(place: Path, address: str, commit: str, workspace: Path, consents: Consents) -> Installation:
    files = _files(place)
    contents = {name: (place / name).read_bytes() for name in files}
    parts = {name: hash_bytes(data) for name, data in contents.items()}
    name = _skill_name(contents[skill.FILE], place.name)
    consents.check(ConsentRequest(kind="skill", subject=name, folder=_origin(address), parts=parts))
    laid: list[LaidFile] = []
    known = origin_of(workspace, "skill", name)
    with Folder.open(workspace) as folder:
        base = f"{skill.FOLDER}/{name}"
        before = _contents_of(folder, base)
        if before and (known is None or combine({n: hash_bytes(d) for n, d in before.items()}) != known.hash):
            raise UserError(
                f"the skill {name} is there already and is yours" if known is None else f"you changed the skill {name}",
                hint=f"move it away first: weft skills rm {name}",
            )
        for file, data in contents.items():
            action: Action = "same" if before.get(file) == data else "updated" if file in before else "created"
            folder.put(f"{base}/{file}", data)
            laid.append(LaidFile(f"{base}/{file}", action))
        aside = _aside(folder, name)
        for file in before.keys() - contents.keys():
            _move_aside(folder, f"{base}/{file}", aside)
            laid.append(LaidFile(f"{base}/{file}", "removed", f"it is in {REMOVED}"))
        read_skill(folder, name)  # what can't be read is said now
    return Installation(_noted(workspace, "skill", name, address, combine(parts), commit), tuple(laid))


def remove_skill(name: str, workspace: Workspace) -> str:
    """Moved aside as it is; where to."""
    if name not in workspace.skill_names():
        workspace.skill(name)  # says which there are
    folder = workspace.folder
    target = _move_aside(folder, f"{skill.FOLDER}/{name}", _aside(folder, name))
    _forget(folder, "skill", name)
    return target


# -- where it comes from


@contextmanager
def brought(address: str, fetch: FetchBytes) -> Iterator[tuple[Path, str]]:
    """A folder with what stands at an address, and the commit when that is of git; gone again afterwards."""
    place = Path(address).expanduser()
    if _is_git(address):
        with tempfile.TemporaryDirectory(prefix="weft-") as into:
            yield Path(into) / "clone", _cloned(address, Path(into) / "clone")
    elif is_address(address) or address.endswith(_ARCHIVES):
        data = fetch(address) if is_address(address) else _read(place)
        with tempfile.TemporaryDirectory(prefix="weft-") as into:
            _unpack(data, address, Path(into))
            yield _inner(Path(into)), ""
    elif place.is_dir():
        yield place, ""
    else:
        hint = "name a folder, an archive (.zip, .tar.gz) or a git address (git+https://…, or one that ends in .git)"
        raise UsageError(f"there is nothing at {address}", hint=hint)


def _is_git(address: str) -> bool:
    plain = address.partition("#")[0]
    return plain.startswith(("git+", "git@", "ssh://", "git://")) or plain.endswith(".git")


def _cloned(address: str, into: Path) -> str:
    plain, _, ref = address.removeprefix("git+").partition("#")
    if plain.startswith("-") or ref.startswith("-"):
        raise UsageError(f"{address} is no git address")
    safe = ["-c", "core.hooksPath=/dev/null", "-c", "protocol.ext.allow=never", "-c", "core.symlinks=false"]
    safe += ["-c", "filter.lfs.smudge=", "-c", "filter.lfs.process=", "-c", "filter.lfs.required=false"]
    ask = ["--branch", ref] if ref else []
    command = ["git", *safe, "clone", "--quiet", "--depth", "1", "--no-tags", *ask, "--", plain, str(into)]
    quiet = {**os.environ, "GIT_TERMINAL_PROMPT": "0", "GIT_SSH_COMMAND": "ssh -oBatchMode=yes"}
    try:
        subprocess.run(command, env=quiet, check=True, capture_output=True, timeout=GIT_SECONDS)
        told = subprocess.run(["git", "-C", str(into), "rev-parse", "HEAD"], env=quiet, check=True, capture_output=True)
    except FileNotFoundError as error:
        raise ExternalError("git is not installed", hint="install it, or bring an archive") from error
    except subprocess.TimeoutExpired as error:
        raise ExternalError(f"git took longer than {GIT_SECONDS:.0f} s for {plain}", retryable=True) from error
    except subprocess.CalledProcessError as error:
        said = error.stderr.decode("utf-8", "replace").strip().splitlines()
        raise ExternalError(f"git can't clone {plain}: {said[-1] if said else error.returncode}") from error
    shutil.rmtree(into / ".git")
    return told.stdout.decode().strip()


def _unpack(data: bytes, name: str, into: Path) -> None:
    try:
        if zipfile.is_zipfile(io.BytesIO(data)):
            with zipfile.ZipFile(io.BytesIO(data)) as packed:
                _check_size((one.file_size for one in packed.infolist()), name)
                for one in packed.infolist():
                    _check_name(one.filename, name)
                    packed.extract(one, into)
            return
        with tarfile.open(fileobj=io.BytesIO(data)) as tar:
            _check_size((one.size for one in tar), name)  # before what is packed in it is gone through
            inside = [one for one in tar.getmembers() if one.isreg() or one.isdir()]
            tar.extractall(into, members=inside, filter="data")
    except UNPACK_FAULTS as error:
        raise UserError(f"{name} can't be unpacked: {error}", hint="it must be a .zip or a .tar archive") from error


def _check_size(sizes: Iterator[int], name: str) -> None:
    total = count = 0
    for size in sizes:
        total, count = total + size, count + 1
        if total > MOST_BYTES or count > MOST_FILES:
            raise UserError(f"{name} is too large: at most {MOST_FILES:,} files and {MOST_BYTES // 2**20} MB")


def _check_name(inner: str, name: str) -> None:
    path = PurePosixPath(inner)
    if path.is_absolute() or ".." in path.parts or "\\" in inner:
        raise UserError(f"{name} wants to write to {inner}", hint="nothing of it was kept")


def _inner(folder: Path) -> Path:
    """Archives often hold one folder with everything in it."""
    inside = [one for one in folder.iterdir() if not one.name.startswith("__MACOSX")]
    return inside[0] if len(inside) == 1 and inside[0].is_dir() else folder


def _with(folder: Path, file: str) -> Path:
    return folder if (folder / file).exists() else _inner(folder)


def _skill_folders(folder: Path) -> list[Path]:
    if (folder / skill.FILE).is_file():
        return [folder]
    found = sorted(one.parent for one in folder.glob(f"**/{skill.FILE}") if len(one.relative_to(folder).parts) <= 4)
    if not found:
        raise UserError(f"there is no {skill.FILE} in it", hint="a skill is a folder with one")
    return found


def _skill_name(data: bytes, folder: str) -> str:
    for line in data.decode("utf-8", "replace").splitlines():
        if line.startswith("name:"):
            return PurePosixPath(line.partition(":")[2].strip().strip("'\"")).name
    return folder


def _files(folder: Path) -> list[str]:
    found = [one.relative_to(folder) for one in sorted(folder.rglob("*")) if one.is_file() and not one.is_symlink()]
    shown = [one.as_posix() for one in found if not any(part.startswith(".") for part in one.parts)]
    _check_size(iter([(folder / name).stat().st_size for name in shown]), folder.name)
    return shown


def _hashes(folder: Path, files: Mapping[str, str]) -> dict[str, str]:
    with Folder.open(folder) as opened:
        return {path: hash_bytes(opened.read(source)) for path, source in files.items()}


def _contents_of(folder: Folder, base: str) -> dict[str, bytes]:
    place = folder.path / base
    return {name: (place / name).read_bytes() for name in _files(place)} if place.is_dir() else {}


def _read(path: Path) -> bytes:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UserError(f"can't read {path}: {error.strerror or error}") from error
    _check_size(iter([len(data)]), str(path))
    return data


# -- where it came from


def origins(workspace: Path) -> list[Origin]:
    try:
        data = (workspace / ORIGINS).read_bytes()
    except FileNotFoundError:
        return []
    try:
        return [Origin(**one) for one in json_value(data)["origins"]]
    except (ValueError, KeyError, TypeError) as error:
        raise UserError(
            f"{ORIGINS} can't be read: {error}", hint="move it away: nothing but origins is lost"
        ) from error


def origin_of(workspace: Path, kind: BroughtKind, name: str) -> Origin | None:
    return next((one for one in origins(workspace) if (one.kind, one.name) == (kind, name)), None)


def _origin(address: str) -> str:
    return address if is_address(address) or _is_git(address) else os.path.realpath(Path(address).expanduser())


def _noted(workspace: Path, kind: BroughtKind, name: str, address: str, digest: str, commit: str) -> Origin:
    at = datetime.now(UTC).isoformat(timespec="seconds")
    origin = Origin(kind=kind, name=name, origin=_origin(address), hash=digest, commit=commit, at=at)
    with Folder.open(workspace) as folder:
        others = [one for one in origins(workspace) if (one.kind, one.name) != (kind, name)]
        _write_origins(folder, [*others, origin])
    return origin


def _forget(folder: Folder, kind: BroughtKind, name: str) -> None:
    _write_origins(folder, [one for one in origins(folder.path) if (one.kind, one.name) != (kind, name)])


def _write_origins(folder: Folder, found: list[Origin]) -> None:
    plain: list[dict[str, Any]] = [{name: getattr(one, name) for name in Origin.__slots__} for one in found]
    folder.put(".weft/origins.json", json.dumps({"origins": plain}, indent=1).encode() + b"\n")


def _aside(folder: Folder, name: str) -> str:
    """A place of its own, under the moment: nothing is deleted."""
    place = number = f"{REMOVED}/{name}-{datetime.now(UTC):%Y%m%d-%H%M%S}"
    count = 1
    while (folder.path / number).exists():
        count += 1
        number = f"{place}-{count}"
    return number


def _move_aside(folder: Folder, path: str, aside: str) -> str:
    target = f"{aside}/{path.rpartition('/')[0]}".rstrip("/")
    parent, _, last = path.rpartition("/")
    with folder.folder(target, create=True) as into:
        if parent:
            with folder.folder(parent) as source:
                source.move(last, into, last)
        else:
            folder.move(last, into, last)
    return f"{target}/{last}"
