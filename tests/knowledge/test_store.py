"""The index: one resolver, edges that follow their documents, hops, and nothing left of what is removed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.knowledge.made import fixture_store, isa, vector, write_documents
from weft.documents import read_document
from weft.knowledge.collection import parse_collection
from weft.knowledge.hops import follow
from weft.knowledge.ingest import IngestProgress, find_documents, update
from weft.knowledge.resolve import resolve
from weft.knowledge.store import Edge, Store
from weft.protocol.errors import ExternalError, UserError

ISA_315 = (
    "1. The auditor shall plan.\n2. See ISA 500.2(b) and ISA 500.\n(a) paragraph 3.\n3. The end.\nA1. Application."
)
ISA_500 = "1. Evidence.\n2. The auditor shall:\n(a) inquire;\n(b) inspect, as in ISA 315.A1.\n3. Last, see ISA 999.4."


def edges(store: Store) -> set[tuple[str, str, float, str]]:
    names = {row["number"]: row["ref"] for row in store.rows("SELECT number, ref FROM passages")}
    found = store.rows("SELECT * FROM edges")
    return {(names[row["source"]], names[row["target"]], row["weight"], row["kind"]) for row in found}


BOTH = {
    ("315.2", "500.2(b)", 0.95, "sub_paragraph"),
    ("315.2", "500.1", 0.60, "standard_ref"),
    ("315.2(a)", "315.3", 0.90, "cross_ref"),
    ("500.2(b)", "315.A1", 0.85, "app_material"),
}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "index.db")


RESOLVED_BY_OURS = {"ISA 315.12(a).A2": "ip_e"}
"""Application text is numbered through the document, so its number alone is enough."""


@pytest.mark.parametrize("case", vector("kb_reference_lookup")["cases"], ids=lambda case: case["identifier"])
def test_one_resolver_for_everything(case: dict[str, Any]) -> None:
    found = resolve(fixture_store(vector("kb_reference_lookup")["fixture"]), isa().grammar, case["identifier"])
    expected = RESOLVED_BY_OURS.get(case["identifier"], case["id"])
    assert (found.passage.id if found.passage else None) == expected


def test_a_place_that_is_not_there_is_told_with_what_is_around_it() -> None:
    found = resolve(fixture_store(vector("kb_reference_lookup")["fixture"]), isa().grammar, "ISA 315.12(b)")
    assert found.passages == ()
    assert [passage.ref for passage in found.around] == ["315.12"]


@pytest.mark.parametrize(
    "case", vector("kb_hop_traversal")["cases"], ids=lambda case: f"{case['seed']}-{case['max_hops']}"
)
def test_hops_as_in_the_reference(case: dict[str, Any]) -> None:
    names = "abcde"
    stored: dict[int, list[Edge]] = {}
    for source, target, weight in vector("kb_hop_traversal")["edges"]:
        at = names.index(source)
        stored.setdefault(at, []).append(Edge(at, names.index(target), weight, "cross_ref", ""))
    found = follow(
        names.index(case["seed"]),
        lambda nodes: {node: stored.get(node, []) for node in nodes},
        depth=case["max_hops"],
        decay=case["decay"],
        floor=case.get("min_score", 0.01),
    )
    assert [
        {"id": names[hop.node], "hop_score": round(hop.score, 4), "hop_depth": hop.depth,
         "hop_path": [names[node] for node in hop.path]}
        for hop in found
    ] == case["expect"]  # fmt: skip


def test_references_become_edges_also_to_documents_that_come_later(store: Store, tmp_path: Path) -> None:
    folder = write_documents(tmp_path / "kb", {"isa-315.txt": ISA_315})
    update(store, folder, isa())
    assert edges(store) == {("315.2(a)", "315.3", 0.90, "cross_ref")}
    write_documents(tmp_path / "kb", {"isa-500.txt": ISA_500})
    update(store, folder, isa())
    assert edges(store) == BOTH


def test_a_changed_document_takes_its_references_along(store: Store, tmp_path: Path) -> None:
    folder = write_documents(tmp_path / "kb", {"isa-315.txt": ISA_315, "isa-500.txt": ISA_500})
    update(store, folder, isa())
    write_documents(tmp_path / "kb", {"isa-500.txt": "1. Evidence.\n2. Nothing here.\n3. Last."})
    report = update(store, folder, isa())
    assert {state: count for state, count in report.counts.items() if count} == {"unchanged": 1, "changed": 1}
    # (b) is gone, so that its reference leads to what is around it.
    assert edges(store) == {
        ("315.2", "500.2", 0.90, "cross_ref"),
        ("315.2", "500.1", 0.60, "standard_ref"),
        ("315.2(a)", "315.3", 0.90, "cross_ref"),
    }
    write_documents(tmp_path / "kb", {"isa-500.txt": ISA_500})
    update(store, folder, isa())
    assert edges(store) == BOTH


def test_nothing_is_done_twice(store: Store, tmp_path: Path) -> None:
    folder = write_documents(tmp_path / "kb", {"isa-315.txt": ISA_315, "isa-500.txt": ISA_500})
    update(store, folder, isa())
    before = store.rows("SELECT number, id FROM passages")
    seen: list[IngestProgress] = []
    report = update(store, folder, isa(), seen.append)
    assert report.counts["unchanged"] == 2
    assert [(step.state, step.done, step.total) for step in seen] == [("unchanged", 1, 2), ("unchanged", 2, 2)]
    assert [tuple(row) for row in store.rows("SELECT number, id FROM passages")] == [tuple(row) for row in before]


def test_another_declaration_reads_the_documents_anew(store: Store, tmp_path: Path) -> None:
    folder = write_documents(tmp_path / "kb", {"isa-315.txt": ISA_315})
    update(store, folder, isa())
    report = update(store, folder, isa().model_copy(update={"aliases": {"Risk standard": "315"}}))
    assert report.counts["changed"] == 0 or report.counts["unchanged"] == 0


def test_a_removed_file_leaves_no_trace(store: Store, tmp_path: Path) -> None:
    secret = "zymurgically"
    folder = write_documents(tmp_path / "kb", {"isa-315.txt": f"{ISA_315}\nA2. {secret} done.", "isa-500.txt": ISA_500})
    update(store, folder, isa())
    assert secret.encode() in (tmp_path / "index.db").read_bytes() + (tmp_path / "index.db-wal").read_bytes()
    (tmp_path / "kb/documents/isa-315.txt").unlink()
    report = update(store, folder, isa())
    assert report.counts["removed"] == 1
    assert edges(store) == set()
    assert {row["ref"].split(".")[0] for row in store.rows("SELECT ref FROM passages")} == {"500"}
    for stem in ("zymurg", "isa-315"):
        for file in tmp_path.glob("index.db*"):
            assert stem.encode() not in file.read_bytes()


def test_what_cannot_be_read_is_reported_and_the_rest_goes_on(store: Store, tmp_path: Path) -> None:
    folder = write_documents(tmp_path / "kb", {"isa-315.txt": ISA_315, "isa-500.txt": ISA_500})
    update(store, folder, isa())
    (tmp_path / "kb/documents/isa-315.txt").write_bytes(b"%PDF-1.7 cut off")
    report = update(store, folder, isa())
    assert report.counts["failed"] == 1
    assert "isa-315.txt is a damaged PDF" in report.problems[0]
    assert edges(store) == BOTH, "what the index had of it is kept until it can be read again"


def test_links_are_not_followed_and_other_files_are_passed_over(tmp_path: Path) -> None:
    folder = write_documents(tmp_path / "kb", {"isa-315.txt": ISA_315, ".hidden.md": "x", "picture.png": "x"})
    (tmp_path / "kb/documents/linked.txt").symlink_to(tmp_path / "kb/collection.yaml")
    found = find_documents(folder, isa())
    assert list(found.documents) == ["isa-315.txt"]
    assert found.skipped == {
        "hidden": [".hidden.md"],
        "a link or no plain file": ["linked.txt"],
        ".png: of no kind that is read": ["picture.png"],
    }


def test_folders_elsewhere_are_read_in_place(store: Store, tmp_path: Path) -> None:
    folder = write_documents(tmp_path / "kb", {})
    (tmp_path / "other").mkdir()
    (tmp_path / "other/isa-315.txt").write_text(ISA_315)
    collection = isa().model_copy(update={"folders": ["../other"]})
    update(store, folder, collection)
    assert list(store.hashes()) == ["../other/isa-315.txt"]
    with pytest.raises(UserError, match="is not there"):
        update(store, folder, isa().model_copy(update={"folders": ["../gone"]}))


def test_a_file_that_is_no_index_is_named_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "index.db").write_bytes(b"not a database at all, but a poem" * 100)
    with pytest.raises(UserError, match="damaged"):
        Store(tmp_path / "index.db")
    assert (tmp_path / "index.db").read_bytes().startswith(b"not a database")


def test_an_index_that_is_damaged_in_its_middle_says_what_to_do(tmp_path: Path) -> None:
    folder = write_documents(tmp_path / "kb", {"isa-315.txt": ISA_315})
    with Store(tmp_path / "index.db") as store:
        update(store, folder, isa())
        page = store.rows("SELECT rootpage FROM sqlite_master WHERE name = 'documents'")[0][0]
        size = store.rows("PRAGMA page_size")[0][0]
        store.rows("PRAGMA wal_checkpoint(TRUNCATE)")
    with (tmp_path / "index.db").open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xee" * size)
    with Store(tmp_path / "index.db") as store, pytest.raises(UserError, match="damaged") as caught:
        store.hashes()
    assert "move it away and run `weft kb update`" in str(caught.value.hint)


def test_of_a_full_disk_it_says_what_to_do_and_goes_on_when_there_is_room(store: Store) -> None:
    pages = store.rows("PRAGMA page_count")[0][0]
    store.rows(f"PRAGMA max_page_count = {pages + 2}")
    with pytest.raises(ExternalError, match="full") as caught, store.change() as connection:
        connection.execute("CREATE TABLE filling AS SELECT randomblob(1000000) AS text")
    assert "make room on the disk" in str(caught.value.hint)
    with store.change() as connection:
        connection.execute("SELECT 1")


def test_chapters_in_files_of_their_own_are_one_document_to_references(store: Store, tmp_path: Path) -> None:
    collection = parse_collection(
        "title: Policy\ntiers: {standards: {key: policy}}\n"
        "references: [{form: 'Policy {paragraph}', document: policy}]\n"
    )
    chapters = {
        "ch-6.md": "# 6 Scripts\n\n## 6.1 Intro\n\nSee Policy 7.2.\n\n## 6.2 More\n\nText.",
        "ch-7.md": "# 7 Relations\n\n## 7.1 Syntax\n\nLines.\n\n## 7.2 Depends\n\nAfter Policy 6.1.",
    }
    update(store, write_documents(tmp_path / "kb", chapters), collection)
    assert edges(store) == {
        ("policy.6.1", "policy.7.2", 0.9, "cross_ref"),
        ("policy.7.2", "policy.6.1", 0.9, "cross_ref"),
    }
    found = resolve(store, collection.grammar, "Policy 7.2").passage
    assert found is not None
    assert found.file == "ch-7.md"


PAGES = {
    "use.html": "<h1>Use</h1><p>Before all else read how it is set up, and then <a href='setup.html#first'>the first"
    " steps</a>, or see <a href='setup.html'>the rest</a> and <a href='#end'>the end</a>.</p>"
    "<h2 id=end>End</h2><p>That was all there is to say of it, and of <a href='gone.html'>what is gone</a>.</p>",
    "setup.html": "<h1>Setup</h1><p>Two things are needed before anything else is done here.</p>"
    "<h2 id=first>First steps</h2><p>Begin with the smallest part, and go on from there to the next.</p>",
}


def test_links_of_pages_are_edges(store: Store, tmp_path: Path) -> None:
    collection = parse_collection("title: Manual\n")
    expected = {
        ("use#use", "setup#first-steps", 0.8, "link"),
        ("use#use", "setup#setup", 0.5, "link"),
        ("use#use", "use#end", 0.8, "link"),
    }
    for order in (("use.html", "setup.html"), ("setup.html", "use.html")):
        for at, name in enumerate(order):  # whichever comes last, or comes again
            folder = write_documents(tmp_path / name / str(at), {name: PAGES[name] for name in order[: at + 1]})
            update(store, folder, collection)
        assert edges(store) == expected


NOTES = {
    "use.md": "# Use\n\nRead [the first steps](setup.md#first-steps) or [all](./setup.md), then [the end](#the-end)."
    " Not [the web](https://x.example/setup.md), nor `[code](setup.md)`.\n\n## The end!\n\nThat was all.\n",
    "setup.md": "# Setup\n\nTwo things are needed before anything else is done here.\n\n## First steps\n\n"
    "Begin with the smallest part.\n\n## First steps\n\nOr [again](#first-steps-1).\n",
}


def test_links_of_markdown_are_edges(store: Store, tmp_path: Path) -> None:
    update(store, write_documents(tmp_path / "notes", NOTES), parse_collection("title: Notes\n"))
    assert edges(store) == {
        ("use#use", "setup#first-steps", 0.8, "link"),
        ("use#use", "setup#setup", 0.5, "link"),
        ("use#use", "use#the-end", 0.8, "link"),
    }


def test_a_link_to_a_file_with_the_same_bytes_as_another_leads_there(store: Store, tmp_path: Path) -> None:
    collection = parse_collection("title: Notes\n")
    files = {"a.md": NOTES["setup.md"], **NOTES}
    update(store, write_documents(tmp_path / "notes", files), collection)
    twin = {("use#use", "a#first-steps", 0.8, "link"), ("use#use", "a#setup", 0.5, "link")}
    own = {("use#use", "use#the-end", 0.8, "link")}
    assert edges(store) == twin | own
    update(store, write_documents(tmp_path / "notes", {"setup.md": "# Other\n\nIt is another text now."}), collection)
    assert edges(store) == {("use#use", "setup#other", 0.5, "link")} | own


def test_a_page_keeps_its_place_for_links_through_all_that_is_done_to_its_text(store: Store, tmp_path: Path) -> None:
    page = "<p><a id=a></a> <a id=b></a> One  <a href='#d'> two </a> three is a line that is long enough for it.</p>"
    page += "<ul id=c><li>  <a id=d></a>four</li></ul><table id=e><tr><td>a</td><td>b</td></tr></table>"
    document = read_document(f"<html><body>{page}</body></html>".encode(), "x.html")
    assert document.text == "One two three is a line that is long enough for it.\n\n- four\n\na\n\nb"
    assert {name: document.text[at:][:4] for name, at in document.anchors.items()} == {
        "a": "One ", "b": "One ", "c": "four", "d": "four", "e": "a\n\nb",
    }  # fmt: skip
    assert [(link.text, document.text[link.start :][:3]) for link in document.links] == [("two", "two")]


def test_text_that_something_else_wrote_into_the_index_is_found(store: Store, tmp_path: Path) -> None:
    update(store, write_documents(tmp_path / "notes", NOTES), parse_collection("title: Notes\n"))
    assert store.altered() == []
    with store.change() as connection:
        connection.execute("UPDATE passages SET content = replace(content, 'all', 'nothing') WHERE ref = 'use#the-end'")
    assert store.altered() == [("use.md", "use#the-end")]
