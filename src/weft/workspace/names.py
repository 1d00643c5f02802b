"""What a workspace has, by name, without reading any of it."""

from __future__ import annotations

from weft.files import Folder
from weft.workspace import agent, skill


def file_names(folder: Folder, under: str, ending: str) -> list[str]:
    """The names of the files below a folder that end so, without the ending; [] when there is no such folder."""
    try:
        with folder.folder(under) as inner:
            found = inner.names()
    except FileNotFoundError:
        return []
    return [name.removesuffix(ending) for name in found if name.endswith(ending) and not name.startswith(".")]


def agent_names(folder: Folder) -> list[str]:
    return file_names(folder, agent.FOLDER, ".md")


def skill_names(folder: Folder) -> list[str]:
    """Folders with a SKILL.md in them, whether or not that can be read."""
    try:
        with folder.folder(skill.FOLDER) as skills:
            return [name for name in skills.names() if not name.startswith(".") and _has_entry(skills, name)]
    except FileNotFoundError:
        return []


def has_skill(folder: Folder, name: str) -> bool:
    """Whether `skill_names` has it, without a look at the others."""
    if not name or name.startswith(".") or "/" in name or "\0" in name:
        return False
    try:
        with folder.folder(skill.FOLDER) as skills:
            return _has_entry(skills, name)
    except FileNotFoundError:
        return False


def _has_entry(skills: Folder, name: str) -> bool:
    if not skills.is_folder(name):
        return False
    with skills.folder(name) as inner:
        return skill.FILE in inner.names()
