"""What differs in number, denial, obligation, date or name is contradicted, with the sentence that says so."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.knowledge.made import fixture_store, isa, vector
from weft.knowledge.resolve import Resolution, resolve
from weft.knowledge.store import Store
from weft.knowledge.verify import (
    check_citations,
    check_contradictions,
    check_entities,
    check_relations,
    compare,
    compat,
)

STORE = fixture_store(vector("kb_verify_citation")["fixture"])


def meant(identifier: str) -> Resolution:
    return resolve(STORE, isa().grammar, identifier)


def passages(ids: list[str], store: Store = STORE) -> list[Any]:
    return [found for found in (store.passage(name) for name in ids) if found]


# -- as the reference scores


@pytest.mark.parametrize("case", vector("kb_verify_citation")["cases"], ids=lambda case: str(case["citations"])[:40])
def test_citations_in_compat_mode(case: dict[str, Any]) -> None:
    found = compat.citations(case["citations"], meant)
    for detail in case["expect"]["details"]:
        detail.pop("source_ref", None)  # the reference doubles the document's number in it
    assert found == case["expect"]


@pytest.mark.parametrize("case", vector("kb_verify_entity")["cases"], ids=lambda case: str(case["entities"])[:40])
def test_entities_in_compat_mode(case: dict[str, Any]) -> None:
    asked = case["source_paragraph_ids"]
    assert compat.entities(case["entities"], passages(asked), len(asked)) == case["expect"]


@pytest.mark.parametrize("case", vector("kb_verify_relation")["cases"], ids=lambda case: str(case["relations"])[:60])
def test_relations_in_compat_mode(case: dict[str, Any]) -> None:
    assert compat.relations(case["relations"], meant, STORE) == case["expect"]


@pytest.mark.parametrize(
    "case", vector("kb_verify_contradiction")["cases"], ids=lambda case: str(case["paragraph_ids"])
)
def test_contradictions_in_compat_mode(case: dict[str, Any]) -> None:
    assert compat.contradictions(passages(case["paragraph_ids"])) == case["expect"]


# -- one claim against one passage

RULE = (
    "The holder of a licence must inform the Agency within 30 days of any change of address. "
    "Fees paid before 1 March 2020 are not refunded. A transfer may be refused by the Ministry of Transport."
)


@pytest.mark.parametrize(
    ("claim", "state", "kind"),
    [
        ("A licence holder must inform the Agency within 30 days of a change of address.", "verified", ""),
        ("The Agency must be informed of any change of address within thirty days.", "verified", ""),
        ("The holder must inform the Agency within 45 days of any change of address.", "contradicted", "number"),
        ("The holder must inform the Agency within 30 months of any change of address.", "contradicted", "unit"),
        ("The holder must not inform the Agency of any change of address.", "contradicted", "negation"),
        ("The holder may inform the Agency within 30 days of any change of address.", "contradicted", "modality"),
        ("Fees paid before 1 March 2020 are refunded.", "contradicted", "negation"),
        ("Fees paid before 1 March 2021 are not refunded.", "contradicted", "date"),
        ("Fees paid after 1 March 2020 are not refunded.", "contradicted", "opposite"),
        ("A transfer may be refused by the Ministry of Finance.", "contradicted", "name"),
        ("Applicants are examined in writing by a panel of experts.", "not_verified", "overlap"),
        ("It is so.", "not_checked", "overlap"),
        ("", "not_checked", "overlap"),
    ],
)
def test_what_differs_is_told(claim: str, state: str, kind: str) -> None:
    verdict = compare(claim, RULE)
    assert verdict.state == state, verdict
    against = [item for item in verdict.evidence if not item.agrees]
    if kind:
        assert kind in {item.kind for item in against}
        assert all(item.reason for item in against)
    if state == "contradicted":
        assert verdict.sentence in RULE
        assert verdict.reason


def test_a_number_from_nowhere_is_not_verified() -> None:
    verdict = compare(
        "The auditor shall assess the risks of all 14 subsidiaries.", "The auditor shall assess the risks."
    )
    assert verdict.state == "not_verified"


def test_what_stands_around_may_name_but_not_prove() -> None:
    text = "It must be kept for ten years."
    assert compare("The Register must be kept for ten years.", text, context="The Register").state == "verified"
    assert compare("Fees are due in advance.", text, context="Fees are due in advance").state == "not_verified"


@settings(deadline=None)
@given(st.text(max_size=200), st.text(max_size=200))
def test_any_text_has_a_verdict(claim: str, passage: str) -> None:
    assert compare(claim, passage).state in ("verified", "contradicted", "not_verified", "not_checked")


@settings(deadline=None)
@given(st.sampled_from(RULE.split(". ")))
def test_a_sentence_of_the_passage_is_verified(sentence: str) -> None:
    assert compare(sentence, RULE).state == "verified"


# -- the axes


def test_citations_carry_their_evidence() -> None:
    found = check_citations(
        [
            {"paragraph_id": "ip_a", "claim": "The auditor shall assess the risks of material misstatement"},
            {"paragraph_ref": "ISA 315.13", "claim": "The auditor shall rely solely on inquiry for an understanding"},
            {"paragraph_ref": "315.12(z)", "claim": "anything goes here"},
            {"paragraph_ref": "999.1", "claim": "x"},
            {"paragraph_id": "ip_a", "claim": "the and for"},
        ],
        meant,
    )
    assert [detail["state"] for detail in found["details"]] == [
        "verified", "contradicted", "not_verified", "not_verified", "not_checked"
    ]  # fmt: skip
    assert [detail.get("error_category") for detail in found["details"]] == [
        None, "CONTRADICTED", "SUB_PARA_NOT_FOUND", "NOT_FOUND", None
    ]  # fmt: skip
    assert found["details"][0]["source_ref"] == "315.12"
    assert "denies" in found["details"][1]["reason"]
    assert (found["score"], found["passed"], found["not_checked_count"]) == (0.25, False, 1)


def test_nothing_to_check_is_not_passed() -> None:
    for found in (
        check_citations([], meant),
        check_citations([{"paragraph_id": "ip_a", "claim": "the and for"}], meant),
        check_entities([], passages(["ip_a"])),
        check_entities(["risk assessment"], []),
        check_relations([], meant, STORE),
    ):
        assert (found["state"], found["passed"], found["score"]) == ("not_checked", False, None)
    assert check_contradictions([])["state"] == "not_checked"


def test_entities_are_whole_words() -> None:
    found = check_entities(["a", "risk assessment", "sess", "ISA 500.6", "ISA 315"], passages(["ip_a"]))
    assert [detail["state"] for detail in found["details"]] == [
        "not_checked", "verified", "not_verified", "verified", "verified"
    ]  # fmt: skip


def test_relations_have_a_direction() -> None:
    cites = {"source_paragraph": "ip_a", "target_paragraph": "ISA 500.6", "relation_type": "cites"}
    back = {"source_paragraph": "ISA 500.6", "target_paragraph": "ip_a", "relation_type": "cites"}
    cited = {**back, "relation_type": "cited_by"}
    near = {"source_paragraph": "315.12", "target_paragraph": "315.A2", "relation_type": "requires"}
    found = check_relations([cites, back, cited, near], meant, STORE)
    assert [detail["preserved"] for detail in found["details"]] == [True, False, True, True]
    assert "goes the other way" in found["details"][1]["reason"]


def test_rules_that_both_say_shall_do_not_contradict() -> None:
    """One `shall not` clashes with every `shall` in the reference."""
    assert check_contradictions(passages(["ip_a", "ip_c", "ip_f", "ip_g"]))["contradiction_count"] == 0


def test_claims_are_held_against_the_passages() -> None:
    found = check_contradictions(passages(["ip_c"]), ["The auditor shall rely solely on inquiry for an understanding"])
    assert found["contradiction_count"] == 1
    assert found["details"][0]["pattern"] == "negation"
