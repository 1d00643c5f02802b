"""MCP servers that others wrote, at pinned versions, installed once for a machine beside the tests' other downloads.

From npm, by the name of the package; where there is no node, or the packages can't be had, the tests that need them say
so in one line. Nothing of them is in this repository.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

from tests.lanes import program

VERSION = "2026.8.31"
PACKAGES = ("@modelcontextprotocol/server-everything", "@modelcontextprotocol/server-filesystem")
PLACE = Path(os.environ.get("WEFT_TEST_CACHE") or "/var/tmp/weft-tests") / f"mcp-servers-{VERSION}"


@cache
def server(package: str) -> Path:
    """The program of a package; skips the test when it can't be had."""
    if program("node") is None or shutil.which("npm") is None:
        pytest.skip("needs node and npm, which are not here: apt-get install nodejs npm")
    found = PLACE / "node_modules" / package / "dist" / "index.js"
    if not found.is_file():
        PLACE.mkdir(parents=True, exist_ok=True)
        wanted = {"private": True, "dependencies": dict.fromkeys(PACKAGES, VERSION)}
        (PLACE / "package.json").write_text(json.dumps(wanted))
        install = ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts"]
        ran = subprocess.run(install, cwd=PLACE, capture_output=True, text=True, timeout=300, check=False)
        if ran.returncode or not found.is_file():
            pytest.skip(f"needs {package} {VERSION} from npm, which can't be had: {ran.stderr.strip()[-200:]}")
    return found
