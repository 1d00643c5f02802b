"""What a person declares about a body of documents, and what they are told when it is wrong."""

from __future__ import annotations

import pytest

from tests.knowledge.made import isa
from weft.knowledge.collection import parse_collection
from weft.protocol.errors import WorkspaceError


def problems(text: str) -> list[str]:
    with pytest.raises(WorkspaceError) as caught:
        parse_collection(text)
    return [str(problem) for problem in caught.value.problems]


def test_only_a_title_is_needed() -> None:
    collection = parse_collection("title: Notes\n")
    assert collection.tier_of("any.md") == "standards"
    assert collection.weight_of("guides") == 0.85
    assert collection.entry_of("folder/Handbook 2.pdf").key == "Handbook 2"


def test_every_fault_has_its_line_and_a_way_out() -> None:
    text = "titel: Notes\nreferences:\n  - form: 'ISA {dokument}'\n  - form: 'ISA [{document}'\nkey_from_name: '('\n"
    found = problems(text)
    assert found[0].startswith("collection.yaml:1:1: titel: unknown key 'titel'")
    assert "did you mean 'title'" in found[0]
    assert any(
        line.startswith("collection.yaml:3:11: references[0].form: there is no field {dokument}") for line in found
    )
    assert any(line.startswith("collection.yaml:4:11: references[1].form: a [ is not closed") for line in found)
    assert any(line.startswith("collection.yaml:5:16: key_from_name: is not a regular expression") for line in found)


def test_a_form_without_a_field_says_nothing() -> None:
    assert "needs at least one {field}" in problems("title: a\nreferences: [{form: ISA}]\n")[0]


def test_tiers_take_their_files_by_name() -> None:
    collection = isa()
    assert collection.tier_of("isa-315.pdf") == "standards"
    assert collection.tier_of("deep/guide to risk.md") == "guides"
    assert collection.entry_of("isa-315.pdf").key == "315"


def test_what_decides_the_cutting_is_hashed_and_nothing_else() -> None:
    same = parse_collection("title: a\nacronyms: {RA: risk assessment}\n").shape
    assert parse_collection("title: b\n").shape == same
    assert parse_collection("title: a\naliases: {GDPR: '2016/679'}\n").shape != same
