"""The documentation that a server shows: built, searchable, with exactly its own scripts allowed."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from weft.web.documentation import _pages, site_routes

ROOT = Path(__file__).parent.parent.parent

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def client() -> TestClient:
    built = ROOT / "src/weft/web/site/index.html"
    written = max(path.stat().st_mtime for path in (ROOT / "docs").rglob("*.md"))
    if not built.exists() or built.stat().st_mtime < written:
        subprocess.run([sys.executable, str(ROOT / "docs/build_site.py")], check=True)
    _pages.cache_clear()
    app = FastAPI(docs_url=None)
    app.include_router(site_routes)
    return TestClient(app)


def test_the_site_is_served_with_its_own_scripts_alone(client: TestClient) -> None:
    front = client.get("/docs")
    assert (front.status_code, str(front.url)) == (200, "http://testserver/docs/index.html")
    policy = front.headers["content-security-policy"]
    inside = re.findall(r"<script>(.*?)</script>", front.text, re.DOTALL)
    assert inside
    for script in inside:
        assert base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() in policy
    assert "unsafe-inline" not in policy.split("style-src")[0]
    assert "fonts.g" not in front.text, "nothing is fetched from elsewhere"
    for address in re.findall(r'(?:href|src)="(assets/[^"]+)"', front.text):
        assert client.get(f"/docs/{address}").status_code == 200, address


def test_it_can_be_searched_and_has_every_page(client: TestClient) -> None:
    found = json.loads(client.get("/docs/search/search_index.json").text)
    places = {one["location"].partition("#")[0] for one in found["docs"]}
    written = {str(path.relative_to(ROOT / "docs").with_suffix(".html")) for path in (ROOT / "docs").rglob("*.md")}
    written = {
        re.sub(r"README\.html$", "index.html", name) for name in written if not name.startswith(("gallery", "screens"))
    }
    assert written <= places | {""} | {"index.html"}, written - places


def test_every_picture_of_a_page_is_shown(client: TestClient) -> None:
    pictures = re.findall(r'<img[^>]*src="([^"]+)"', client.get("/docs/page.html").text)
    assert len(pictures) > 10
    for address in pictures:
        assert client.get(f"/docs/{address}").status_code == 200, address


def test_nothing_else_is_reached_through_it(client: TestClient) -> None:
    for name in ("../guard.py", "%2e%2e/guard.py", "/etc/passwd", "no-such-page.html"):
        assert client.get(f"/docs/{name}").status_code == 404


def test_the_licences_name_every_package_we_ask_for() -> None:
    asked = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [*asked["dependencies"], *asked["optional-dependencies"]["postgres"]]
    page = (ROOT / "docs/reference/licences.md").read_text()
    names = [re.sub(r"[-_.]+", "-", re.split(r"[\[<>=]", one)[0]).lower() for one in wanted]
    assert [name for name in names if f"| {name} |" not in page] == []
    assert "GPL" not in page.replace("LGPL", "").replace("MPL", "")
