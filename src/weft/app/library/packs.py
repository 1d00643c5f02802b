"""Packs, as faces offer them: found by name or folder, laid into a workspace, compared with what is there."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from weft.consent import ConsentRequest, Consents
from weft.protocol.errors import ExternalError, UsageError
from weft.workspace.pack import FileDifference, LaidFile, code_of, compare_pack, lay_pack
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


def lay(name: str, workspace: Path, consents: Consents) -> tuple[Pack, list[LaidFile]]:
    """Lay a pack into a workspace, which is made when it is not there. What a person changed is kept. NotAgreedError,
    before anything is laid, when it brings code that nobody agreed to."""
    pack = find_pack(name)
    place = os.path.realpath(pack.path)
    request = ConsentRequest(kind="pack", subject=pack.name, folder=place, parts=code_of(pack))
    if request.parts:
        consents.check(request)
        if request.parts not in [one.parts for one in consents.book().consents]:
            with suppress(ExternalError):  # it only spares a question when a later Weft ships another version
                consents.agree(request, "by command")
    return pack, lay_pack(pack, workspace)


def lay_missing(workspace: Path, consents: Consents, name: str = "") -> str:
    """The first command on a fresh machine works: a workspace that is not there is made, and the pack that is needed
    laid when it has no pipeline of its name. So does the first one after a newer Weft: what is still as an older one
    laid it is brought up to date. Says what was done; "" when all was there."""
    told = []
    if not workspace.exists():
        lay(DEFAULT_PACK, workspace, consents)
        told.append(f"made the workspace {workspace} with the pack {DEFAULT_PACK}")
    if name and not (workspace / "pipelines" / f"{name}.yaml").exists():
        lay(name, workspace, consents)
        told.append(f"laid the pack {name} into {workspace}")
    elif name and any(one.state == "new version" for one in pack_differences(name, workspace)):
        pack, laid = lay(name, workspace, consents)
        told.append(f"brought the pack {name} in {workspace} up to date")
        kept = [one for one in laid if one.action == "kept" and one.path in pack.files]
        told += [f"  {one.path} was left as it is: {one.note}" for one in kept]
    return "\n".join(told)


async def fetch_bytes(address: str) -> bytes:
    """An archive of the web: only what is public is reached, within limits of size and time."""
    from weft.tools.fetch import fetch

    return (await fetch(address)).good().data


def pack_differences(name: str, workspace: Path) -> list[FileDifference]:
    return compare_pack(find_pack(name), workspace)
