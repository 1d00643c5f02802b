"""The four axes: what is quoted, what is contradicted, and what was not checked and has not passed."""

from __future__ import annotations

from typing import Any

import pytest

from tests.knowledge.made import fixture_store, isa, vector
from weft.knowledge.resolve import Resolution, resolve
from weft.knowledge.store import Store
from weft.knowledge.verify import (
    check_citations,
    check_contradictions,
    check_entities,
    check_relations,
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


# -- the axes


def test_citations_carry_their_evidence() -> None:
    found = check_citations(
        [
            {"paragraph_id": "ip_g", "claim": "Tests of control are required."},
            {"paragraph_id": "ip_d", "claim": "The auditor shall design and perform audit procedures to obtain "
             "sufficient appropriate audit evidence"},
            {"paragraph_ref": "ISA 315.13", "claim": "The auditor shall rely solely on inquiry when obtaining an "
             "understanding of the entity."},
            {"paragraph_ref": "315.12(z)", "claim": "anything goes here"},
            {"paragraph_ref": "999.1", "claim": "x"},
            {"paragraph_id": "ip_a", "claim": "the and for"},
        ],
        meant,
    )  # fmt: skip
    assert [detail["state"] for detail in found["details"]] == [
        "quoted", "quoted", "contradicted", "not_checked", "not_checked", "not_checked"
    ]  # fmt: skip
    assert [detail.get("error_category") for detail in found["details"]] == [
        None, None, "CONTRADICTED", "SUB_PARA_NOT_FOUND", "NOT_FOUND", None
    ]  # fmt: skip
    assert found["details"][1]["source_ref"] == "500.6"
    assert "negation" in found["details"][2]["reason"]
    assert (found["state"], found["quoted_count"], found["contradicted_count"], found["not_checked_count"]) == (
        "failed", 2, 1, 3
    )  # fmt: skip


def test_a_claim_that_cites_no_passage_is_looked_for() -> None:
    said = "The auditor shall design and perform audit procedures to obtain sufficient appropriate audit evidence"
    near = [meant(name).passages[0] for name in ("ip_a", "ip_d", "ip_g")]
    claims = [said, said.replace("shall", "may"), "Tests of control are forbidden by the council."]
    found = check_citations([{"claim": claim} for claim in claims], meant, lambda claim: near)
    assert [detail["state"] for detail in found["details"]] == ["quoted", "contradicted", "not_checked"]
    assert [detail["paragraph_id"] for detail in found["details"][:2]] == ["ip_d", "ip_d"]
    assert check_citations([{"claim": said}], meant, lambda claim: [])["details"][0]["state"] == "not_checked"


def test_what_was_not_checked_is_never_counted_as_passed() -> None:
    said = "The auditor shall design and perform audit procedures to obtain sufficient appropriate audit evidence"
    quoted = {"paragraph_id": "ip_d", "claim": said}
    assert check_citations([quoted], meant)["state"] == "passed"
    both = check_citations([quoted, {"paragraph_id": "ip_a", "claim": "Risk is everywhere."}], meant)
    assert (both["state"], both["passed"], both["score"]) == ("partly_checked", False, 0.5)


def test_nothing_to_check_is_not_passed() -> None:
    for found in (
        check_citations([], meant),
        check_citations([{"paragraph_id": "ip_a", "claim": "the and for"}], meant),
        check_entities([], passages(["ip_a"])),
        check_entities(["risk assessment"], []),
        check_relations([], meant, STORE),
    ):
        assert (found["state"], found["passed"]) == ("not_checked", False)
        assert not found["score"]
    assert check_contradictions([])["state"] == "not_checked"


def test_entities_are_whole_words() -> None:
    found = check_entities(["a", "risk assessment", "sess", "ISA 500.6", "ISA 315"], passages(["ip_a"]))
    assert [detail["state"] for detail in found["details"]] == [
        "not_checked", "quoted", "not_checked", "quoted", "quoted"
    ]  # fmt: skip


def test_relations_have_a_direction() -> None:
    cites = {"source_paragraph": "ip_a", "target_paragraph": "ISA 500.6", "relation_type": "cites"}
    back = {"source_paragraph": "ISA 500.6", "target_paragraph": "ip_a", "relation_type": "cites"}
    cited = {**back, "relation_type": "cited_by"}
    near = {"source_paragraph": "315.12", "target_paragraph": "315.A2", "relation_type": "requires"}
    found = check_relations([cites, back, cited, near], meant, STORE)
    assert [detail["preserved"] for detail in found["details"]] == [True, False, True, True]
    assert "goes the other way" in found["details"][1]["reason"]
    assert [detail["state"] for detail in found["details"]] == ["quoted", "contradicted", "quoted", "quoted"]


def test_rules_that_both_say_shall_do_not_contradict() -> None:
    """One `shall not` clashes with every `shall` in the reference."""
    assert check_contradictions(passages(["ip_a", "ip_c", "ip_f", "ip_g"]))["contradiction_count"] == 0


def test_claims_are_held_against_the_passages() -> None:
    found = check_contradictions(
        passages(["ip_c"]), ["The auditor shall rely solely on inquiry when obtaining an understanding of the entity"]
    )
    assert found["contradiction_count"] == 1
    assert found["details"][0]["pattern"] == "negation"
