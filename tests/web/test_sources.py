"""Sources over the API: the same list, tested and switched by who may, after consent."""

from __future__ import annotations

import json
import os
from pathlib import Path

from tests.web.served import Client
from weft.consent import ConsentRequest, Consents


def test_sources_are_listed_tested_and_switched(browser: Client, home: Path, desk: Path, tmp_path: Path) -> None:
    folder = desk / "sources" / "notes"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps({"kind": "folder", "path": str(tmp_path)}))
    row = browser.get("/api/w/desk/sources").json[0]
    assert (row["slug"], row["state"], row["tools"]) == ("notes", "untested", 0)
    refused = browser.post("/api/w/desk/sources/notes/test", {}).json
    assert "nobody has agreed to the source notes" in refused["why"]
    parts = {"reads the folder": str(tmp_path)}
    request = ConsentRequest(kind="source", subject="notes", folder=os.path.realpath(desk), parts=parts)
    Consents(home / "config" / "weft").agree(request, "asked")
    tested = browser.post("/api/w/desk/sources/notes/test", {}).json
    assert (tested["state"], tested["tools"]) == ("ready", 3), tested
    tools = browser.get("/api/w/desk/sources/notes/tools").json
    assert [tool["name"] for tool in tools] == ["notes__read", "notes__glob", "notes__grep"]
    off = browser.ask(
        "PUT", "/api/w/desk/sources/notes/enabled", b'{"enabled": false}', Content_Type="application/json"
    )
    assert off.json["enabled"] is False
    assert browser.get("/api/w/desk/sources/none/tools").status in (400, 404)
