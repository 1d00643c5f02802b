"""Real documents: the licence of this package, always; the Debian policy manual, where it is installed."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from weft.files import Folder
from weft.knowledge.collection import parse_collection
from weft.knowledge.ingest import update
from weft.knowledge.resolve import resolve
from weft.knowledge.store import Store

LICENCE = Path(__file__).parent.parent.parent / "LICENSE"
POLICY = Path("/usr/share/doc/debian-policy/policy.txt.gz")


def index(folder: Path, name: str, data: bytes, declaration: str) -> tuple[Store, object]:
    (folder / "documents").mkdir()
    (folder / "documents" / name).write_bytes(data)
    collection = parse_collection(declaration)
    store = Store(folder / "index.db")
    with Folder.open(folder) as place:
        assert update(store, place, collection).counts["added"] == 1
    return store, collection


def test_a_licence(tmp_path: Path) -> None:
    declaration = (
        "title: Licence\nreferences: [{form: 'Section {paragraph}'}, {form: 'Section {paragraph}[({item})]'}]\n"
    )
    store, _ = index(tmp_path, "apache.txt", LICENCE.read_bytes(), declaration)
    refs = [row["ref"] for row in store.rows("SELECT ref FROM passages ORDER BY number")]
    assert [ref for ref in refs if ref in {f"apache.{number}" for number in range(1, 10)}] == [
        f"apache.{number}" for number in range(1, 10)
    ]
    assert {"apache.4(a)", "apache.4(b)", "apache.4(c)", "apache.4(d)"} <= set(refs)
    assert len(set(refs)) == len(refs)
    grammar = parse_collection(declaration).grammar
    found = resolve(store, grammar, "apache.4(d)").passage
    assert found is not None
    assert "NOTICE" in found.content
    text = LICENCE.read_text()
    kept = " ".join(row["content"] for row in store.rows("SELECT content FROM passages"))
    assert len(kept.split()) >= 0.98 * len(text.split()), "next to nothing of the document is lost"


@pytest.mark.slow
@pytest.mark.skipif(not POLICY.exists(), reason="the package debian-policy is not installed")
def test_a_policy_manual(tmp_path: Path) -> None:
    declaration = (
        "title: Policy\nreferences: [{form: 'section {paragraph}'}, {form: 'Policy {paragraph}', document: policy}]\n"
    )
    store, collection = index(tmp_path, "policy.txt", gzip.decompress(POLICY.read_bytes()), declaration)
    refs = [row["ref"] for row in store.rows("SELECT ref FROM passages")]
    assert len(refs) > 300
    assert len(set(refs)) == len(refs)
    found = resolve(store, parse_collection(declaration).grammar, "Policy 7.2").passage
    assert found is not None
    assert found.heading.endswith('"Depends", "Recommends", "Suggests", "Enhances", "Pre-Depends"')
    assert collection
