"""What a wheel or a source archive needs besides the code: the page and the documentation's site, built where they
are missing.

So `pip install` from a checkout or a git address gives the whole of Weft, and not one whose `weft serve` has no page.
What that needs (Node, mkdocs) is asked for only where something is to be built. An installation for development (`-e`)
builds nothing: `make run` does.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

BUILDERS = {"src/weft/web/static/index.html": "page/build.py", "src/weft/web/site/index.html": "docs/build_site.py"}


class PageAndSite(BuildHookInterface):  # type: ignore[type-arg]
    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        if not self._missing():
            return []
        with Path(self.root, "pyproject.toml").open("rb") as file:
            needed: list[str] = tomllib.load(file)["dependency-groups"]["build"]
        return needed

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        for builder in self._missing():
            # Outside CI a builder that can't fetch what it needs leaves its part out; a wheel without it is none.
            subprocess.run([sys.executable, Path(self.root, builder)], check=True, env={**os.environ, "CI": "true"})

    def _missing(self) -> list[str]:
        return [builder for made, builder in BUILDERS.items() if not Path(self.root, made).is_file()]
