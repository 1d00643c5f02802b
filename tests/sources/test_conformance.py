"""The official conformance suite against our client, scenario by scenario."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.lanes import find_program
from tests.sources.others import PLACE

pytestmark = [pytest.mark.process, pytest.mark.campaign]
SUITE = "@modelcontextprotocol/conformance"
VERSION = "0.1.16"
ROOT = Path(__file__).parent.parent.parent
SCENARIOS = (
    *("initialize", "tools_call", "elicitation-sep1034-client-defaults", "sse-retry"),
    *("auth/metadata-default", "auth/metadata-var1", "auth/metadata-var2", "auth/metadata-var3"),
    *("auth/scope-from-www-authenticate", "auth/scope-from-scopes-supported", "auth/scope-omitted-when-undefined"),
    *("auth/scope-retry-limit", "auth/token-endpoint-auth-basic", "auth/token-endpoint-auth-post"),
    *("auth/token-endpoint-auth-none", "auth/pre-registration", "auth/2025-03-26-oauth-endpoint-fallback"),
    *("auth/resource-mismatch", "auth/offline-access-scope", "auth/offline-access-not-supported"),
)
"""Not among them: `basic-cimd` (Weft has no address of its own for a client's metadata), `scope-step-up` (a person
signs in anew) and `2025-03-26-oauth-metadata-backcompat` (the library holds the issuer against the server's origin)."""


@pytest.fixture(scope="module")
def suite() -> list[str]:
    node = os.environ.get("WEFT_NODE") or find_program("node")
    told = subprocess.run([node or "false", "--version"], capture_output=True, text=True, check=False).stdout
    if not told.startswith("v") or int(told[1:].split(".")[0]) < 22:
        pytest.skip("needs node 22 or newer, which is not here: name one with WEFT_NODE")
    place = PLACE.with_name(f"mcp-conformance-{VERSION}")
    program = place / "node_modules" / SUITE / "dist" / "index.js"
    if not program.is_file():
        place.mkdir(parents=True, exist_ok=True)
        install = ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", f"{SUITE}@{VERSION}"]
        ran = subprocess.run(install, cwd=place, capture_output=True, text=True, timeout=300, check=False)
        if not program.is_file():
            pytest.skip(f"needs {SUITE} {VERSION} from npm, which can't be had: {ran.stderr.strip()[-200:]}")
    return [str(node), str(program), "client", "--timeout", "60000"]


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_scenario_of_the_official_suite(suite: list[str], scenario: str) -> None:
    client = f"{sys.executable} -m tests.sources.conformance_client"
    words = [*suite, "--scenario", scenario, "--command", client]
    ran = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert ran.returncode == 0, (ran.stdout + ran.stderr)[-2000:]
