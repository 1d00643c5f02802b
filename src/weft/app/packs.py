"""Packs, as faces offer them: found by name or folder, laid into a workspace, compared with what is there."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from weft.protocol.errors import UsageError
from weft.workspace.pack import FileDifference, LaidFile, compare_pack, lay_pack
from weft.workspace.pack_file import Pack, find_packs, load_pack
from weft.workspace.spelling import suggest

DEFAULT_PACK: Final = "writing"


def shipped_packs() -> list[Pack]:
    """Those that come with Weft."""
    return list(find_packs().values())


def find_pack(name: str) -> Pack:
    """A pack that comes with Weft by its name, or a folder with a pack.yaml."""
    if "/" in name or Path(name).is_dir():
        return load_pack(Path(name))
    shipped = find_packs()
    if name not in shipped:
        raise UsageError(f"there is no pack {name!r}", hint=suggest(name, shipped, "packs"))
    return shipped[name]


def lay(name: str, workspace: Path) -> tuple[Pack, list[LaidFile]]:
    """Lay a pack into a workspace, which is made when it is not there. What a person changed is kept."""
    pack = find_pack(name)
    return pack, lay_pack(pack, workspace)


def lay_missing(workspace: Path, name: str = "") -> str:
    """The first command on a fresh machine works: a workspace that is not there is made, and the pack that is needed
    laid when it has no pipeline of its name. Says what was done; "" when all was there."""
    told = []
    if not workspace.exists():
        lay(DEFAULT_PACK, workspace)
        told.append(f"made the workspace {workspace} with the pack {DEFAULT_PACK}")
    if name and not (workspace / "pipelines" / f"{name}.yaml").exists():
        lay(name, workspace)
        told.append(f"laid the pack {name} into {workspace}")
    return "\n".join(told)


def pack_differences(name: str, workspace: Path) -> list[FileDifference]:
    return compare_pack(find_pack(name), workspace)
