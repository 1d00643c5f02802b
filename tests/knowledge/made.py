"""What the tests of knowledge are made of: small collections, and the vectors of the reference."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from weft.files import Folder
from weft.knowledge.collection import Collection, parse_collection
from weft.knowledge.passage import CutDocument, Passage
from weft.knowledge.place import CitedPlace
from weft.knowledge.store import Store

VECTORS = Path(__file__).parent.parent / "vectors"

ISA = """\
title: Auditing standards
key_from_name: '(\\d{3})'
tiers:
  standards: {files: ["isa-*"]}
  guides: {files: ["guide*"], weight: 0.85}
references:
  - form: "ISA {document}[.{paragraph}][({item})][({subitem})][.{application}]"
  - form: "ISA {document} (Revised), paragraph {paragraph}[({item})]"
  - form: "ISA {document}, paragraph {paragraph}[({item})]"
  - form: "ISA {document}, paragraph {application}"
  - form: "paragraph {paragraph}[({item})][({subitem})]"
  - form: "paragraphs {paragraph+}[({item})]"
fields: {document: '\\d{3}'}
ignore_lines: ['^ISA \\d{3} \\(REVISED', '^\\d{3}$']
acronyms: {RA: risk assessment, TCWG: those charged with governance, IT: information technology}
"""


def vector(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((VECTORS / f"{name}.json").read_text())
    return found


def isa() -> Collection:
    return parse_collection(ISA)


def write_documents(folder: Path, documents: Mapping[str, str], collection: str = ISA) -> Folder:
    (folder / "documents").mkdir(parents=True, exist_ok=True)
    (folder / "collection.yaml").write_text(collection)
    for name, text in documents.items():
        target = folder / "documents" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    return Folder.open(folder)


def fixture_store(fixture: Mapping[str, Any]) -> Store:
    """The paragraphs and edges that a vector of the reference describes, in an index of ours."""
    store = Store(Path(":memory:"))
    documents: dict[str, list[Passage]] = {}
    for row in fixture["paragraphs"]:
        place = CitedPlace(
            document=row["isa_number"],
            paragraph=row["para_num"],
            item=row["sub_paragraph"],
            application=row["application_ref"],
        )
        passage = Passage(id=row["id"], ref=place.ref, place=place, content=row["content"])
        documents.setdefault(row["isa_number"], []).append(passage)
    for key, passages in documents.items():
        store.put(_document(key, passages))
    for source, target in fixture["cites"]:
        _add_edge(store, source, target, 0.9)
    for source, target, weight in fixture["hop_edge"]:
        _add_edge(store, source, target, weight)
    return store


def _add_edge(store: Store, source: str, target: str, weight: float) -> None:
    """One that no text states, between passages by id."""
    with store.change() as connection:
        connection.execute(
            "INSERT OR REPLACE INTO edges SELECT s.number, t.number, ?, 'cross_ref', '' FROM passages AS s,"
            " passages AS t WHERE s.id = ? AND t.id = ?",
            (weight, source, target),
        )


def _document(key: str, passages: Iterable[Passage]) -> CutDocument:
    return CutDocument(
        file=f"isa-{key}.md", hash=key, key=key, title=f"ISA {key}", tier="standards", passages=tuple(passages)
    )
