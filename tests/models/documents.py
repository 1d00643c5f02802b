"""Documents that are there on the machine the tests run on: licences of Debian, readmes of installed packages, manuals.

The texts in `texts/` are always there; of these, whatever is installed is tried.
"""

from __future__ import annotations

import re
import sysconfig
from functools import cache
from pathlib import Path

_LICENCES = ("GPL-3", "GPL-2", "LGPL-2.1", "Apache-2.0", "Artistic", "MPL-2.0", "BSD", "GFDL-1.3", "CC0-1.0")
_PACKAGES = ("pydantic", "rich", "pathspec", "psutil", "annotated_types", "ruff", "pytest", "packaging", "hypothesis")
_MAIL_HEAD = re.compile(r"\A.*?\n\n", re.S)
_ENOUGH = 1200
"""A readme of a few lines proves nothing."""


@cache
def documents() -> dict[str, str]:
    found = {}
    for name in _LICENCES:
        path = Path("/usr/share/common-licenses") / name
        if path.is_file():
            found[name] = path.read_text("utf-8", "replace")
    for folder in sorted(Path(sysconfig.get_paths()["purelib"]).glob("*.dist-info")):
        name = folder.name.partition("-")[0]
        metadata = folder / "METADATA"
        if name in _PACKAGES and metadata.is_file():
            text = _MAIL_HEAD.sub("", metadata.read_text("utf-8", "replace"), count=1)
            if len(text) > _ENOUGH:
                found[f"{name} readme"] = text[:60_000]
    for path in (Path("/usr/share/doc/base-files/README"), Path("/usr/share/perl/5.36/pod/perldiag.pod")):
        if path.is_file() and path.stat().st_size < 60_000:
            found[path.name] = path.read_text("utf-8", "replace")
    return found
