"""What belongs to the person who runs this, in every workspace: where it lies, what they agreed to, who may come in."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from weft.access import Access
    from weft.consent import Consents


def own_folder(variables: Mapping[str, str]) -> Path:
    """Where a person's own files are, for all their workspaces."""
    folder = variables.get("XDG_CONFIG_HOME") or str(Path(variables.get("HOME", "~")).expanduser() / ".config")
    return Path(folder) / "weft"


def parsed_folder(variables: Mapping[str, str]) -> Path:
    """Where what was made of the files of workspaces is kept."""
    return own_folder(variables) / "parsed"


def person_consents(variables: Mapping[str, str]) -> Consents:
    """What the person who runs this agreed to."""
    from weft.consent import Consents
    from weft.workspace.pack_folder import shipped_code

    return Consents(own_folder(variables), shipped=shipped_code)


def person_access() -> Access:
    """Who may come into the servers of the person who runs this."""
    from weft.access import Access

    surroundings = {**os.environ}
    return Access(own_folder(surroundings))
