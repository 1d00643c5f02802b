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
MANUALS = Path("/usr/share/doc/debian-policy")
POLICY = MANUALS / "policy.txt.gz"
NOT_THERE = "the manuals of Debian are not here: `apt-get install debian-policy` puts them into /usr/share/doc"


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
@pytest.mark.skipif(not POLICY.exists(), reason=NOT_THERE)
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


@pytest.mark.slow
@pytest.mark.skipif(not POLICY.exists(), reason=NOT_THERE)
def test_a_set_of_manuals_with_its_references_resolved(tmp_path: Path) -> None:
    declaration = (
        "title: Manuals\nignore_case: true\n"
        "references: [{form: 'Section {paragraph}'}, {form: 'Policy {paragraph}', document: policy}]\n"
    )
    (tmp_path / "documents").mkdir()
    for name in ("policy", "perl-policy", "debconf_specification"):
        text = gzip.decompress((MANUALS / f"{name}.txt.gz").read_bytes())
        (tmp_path / "documents" / f"{name}.txt").write_bytes(text)
    store = Store(tmp_path / "index.db")
    with Folder.open(tmp_path) as place:
        assert update(store, place, parse_collection(declaration)).counts["added"] == 3
    refs = [row["ref"] for row in store.rows("SELECT ref FROM passages")]
    assert len(set(refs)) == len(refs), "no two passages go by the same name"
    led = {
        (row["s"], row["t"])
        for row in store.rows(
            "SELECT s.ref AS s, t.ref AS t FROM edges AS e JOIN passages AS s ON s.number = e.source"
            " JOIN passages AS t ON t.number = e.target"
        )
    }
    inside = {(source.partition(".")[0], target) for source, target in led if source.startswith("perl-policy")}
    assert {("perl-policy", "perl-policy.2.2"), ("perl-policy", "perl-policy.2.3")} <= inside
    named = {row["paragraph"] for row in store.rows("SELECT paragraph FROM mentions WHERE document = 'perl-policy'")}
    reached = {target.removeprefix("perl-policy.") for _, target in inside}
    there = {ref.removeprefix("perl-policy.") for ref in refs if ref.startswith("perl-policy.")}
    assert len(named) >= 5
    assert named & there <= reached, "what is named and is there is reached"
    assert len(named & there) >= 0.7 * len(named), "most of what is named is there"
