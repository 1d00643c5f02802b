"""References in a text and standing alone: found, in the collection's own forms, and never half of a number."""

from __future__ import annotations

from typing import Any

import pytest

from tests.knowledge.made import isa, vector
from weft.knowledge.grammar import Grammar
from weft.knowledge.place import CitedPlace, passage_id

DIFFERENT = {
    "ISA 315 (Revised), paragraph 19(b)": ["315.19(b)"],  # the form is declared, so the paragraph is not lost
    "ISA 1234 four digits": [],  # the first three digits of a longer number are another document
}
"""Where ours is better on purpose."""


@pytest.mark.parametrize("case", vector("kb_isa_reference_extract")["cases"], ids=lambda case: case["text"][:30])
def test_references_as_in_the_reference(case: dict[str, Any]) -> None:
    found = [reference.place.ref for reference in isa().grammar.find(case["text"])]
    expected = [ref.removeprefix("ISA ").replace("  ", " ") for ref in case["refs"]]
    assert sorted(set(found)) == DIFFERENT.get(case["text"], sorted(expected))


@pytest.mark.parametrize("case", vector("kb_cross_reference_context")["cases"], ids=lambda case: case["content"][:30])
def test_references_to_other_documents(case: dict[str, Any]) -> None:
    """`isa 500` in small letters is no reference here: whether case counts is the collection's to say."""
    found = [reference.place for reference in isa().grammar.find(case["content"], case["current_isa"])]
    others = dict.fromkeys(f"ISA {place.ref}" for place in found if place.document != case["current_isa"])
    assert list(others) == case["refs"]


@pytest.mark.parametrize("case", vector("kb_hop_weight_type")["cases"], ids=lambda case: case["ref"] or "nothing")
def test_weight_and_kind_of_a_reference(case: dict[str, Any]) -> None:
    """With both a letter and an A part the reference disagrees with itself; ours means what it names, the A part."""
    places = isa().grammar.parse(case["ref"]) or [CitedPlace(document="")]
    if case["guide"] == case["standard"]:
        assert {"weight": places[0].weight, "type": places[0].kind} == case["guide"]
    else:
        assert (places[0].weight, places[0].kind) == (0.85, "app_material")


@pytest.mark.parametrize(
    ("form", "text", "refs"),
    [
        ("Policy {paragraph}", "see Policy 7.2 and Policy 10.", ["policy.7.2", "policy.10"]),
        ("RFC {document} §{paragraph}", "as RFC 9110 §15.5.1 says", ["9110.15.5.1"]),
        ("Art. {paragraph}[({item})][({subitem})]", "Art. 6(1)(f), and Art.\u00a09", ["policy.6(1)(f)", "policy.9"]),
        ("Section {paragraph} of RFC {document}", "Section 4.3 of\nRFC 7231;", ["7231.4.3"]),
        ("paragraphs {paragraph+}[({item})]", "paragraphs 12(a), 14 and 16–18.",
         ["policy.12(a)", "policy.14", "policy.16", "policy.17", "policy.18"]),
        ("ISA {document}", "ISAs 315, VISA 200, ISA 2000x", []),
    ],
)  # fmt: skip
def test_forms_that_people_declare(form: str, text: str, refs: list[str]) -> None:
    assert [reference.place.ref for reference in Grammar([(form, "policy")]).find(text)] == refs


def test_the_longest_form_wins_and_none_overlap() -> None:
    grammar = Grammar(
        [("ISA {document}", ""), ("ISA {document}, paragraph {paragraph}", ""), ("paragraph {paragraph}", "")]
    )
    found = grammar.find("ISA 315, paragraph 12 and paragraph 4", own="200")
    assert [(reference.text, reference.place.ref) for reference in found] == [
        ("ISA 315, paragraph 12", "315.12"),
        ("paragraph 4", "200.4"),
    ]


def test_other_names_of_documents() -> None:
    grammar = Grammar([("Art. {paragraph}", "gdpr")], aliases={"General Data Protection Regulation": "gdpr"})
    found = grammar.find("The General Data\nProtection Regulation, Art. 6, applies.")
    assert {reference.place.ref for reference in found} == {"gdpr", "gdpr.6"}
    assert grammar.parse("general data protection regulation.6")[0] == CitedPlace(document="gdpr", paragraph="6")


def test_a_long_text_without_references_is_searched_quickly() -> None:
    text = "ISA 31" * 20_000 + "(" * 20_000 + "1." * 20_000
    assert isa().grammar.find(text) == []


@pytest.mark.parametrize("case", vector("kb_ids")["paragraph_ref"], ids=lambda case: case["ref"])
def test_refs_of_the_reference_are_understood(case: dict[str, Any]) -> None:
    document, paragraph, item, application = case["parts"]
    place = CitedPlace(document=document, paragraph=paragraph, item=item, application=application)
    assert isa().grammar.parse(case["ref"])[0] == place
    assert place.ref == case["ref"].replace("..", ".")


def test_ids_are_long_enough_for_many_passages() -> None:
    ids = {passage_id("isa-315.md", f"315.{number}") for number in range(1000)}
    assert len(ids) == 1000
    assert all(len(name) == len("p_") + 16 for name in ids)
    assert passage_id("a.md", "1") != passage_id("b.md", "1")
