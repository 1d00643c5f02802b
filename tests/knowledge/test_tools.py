"""The tools: the reference's seventeen under neutral names, with its result keys, and its own names where asked for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import jsonschema_rs
import pytest

from tests.knowledge.made import ISA, isa, vector, write_documents
from tests.knowledge.test_search import Bag
from weft.files import Folder
from weft.knowledge.context import Wording, format_context
from weft.knowledge.embedding import Unavailable
from weft.knowledge.knowledge_base import (
    KnowledgeBase,
    add_files,
    collection_names,
    create_collection,
    open_collection,
    remove_collection,
)
from weft.knowledge.tools import TOOLS, alias_of, call, tools_of
from weft.protocol.errors import UsageError, UserError

DOCUMENTS = {
    "isa-315.txt": "1. Doctors prescribe drugs within 30 days.\n2. See ISA 500.2.\n(a) Inquiries.\n3. End.\n"
    "A1. Apply ISA 500.",
    "isa-500.txt": "1. Evidence is gathered.\n2. Physicians write on paper, see ISA 315.A1.\n3. The risk of an entity.",
    "guide.md": "# Drugs\n\nA guide for doctors, on ISA 315.1 and ISA 500.2.\n\n# Boats\n\nSailing in strong wind.",
}


@pytest.fixture
def knowledge(tmp_path: Path) -> KnowledgeBase:
    folder = write_documents(tmp_path / "kb", DOCUMENTS, f"{ISA}tool_prefix: isa\n")
    made = KnowledgeBase("kb", folder, Bag())
    made.update()
    made.fill()
    return made


def test_all_seventeen_are_there_with_the_reference_arguments(knowledge: KnowledgeBase) -> None:
    offered = tools_of(knowledge)
    for row in vector("kb_tools")["tools"]:
        tool, schema = offered[row["name"]]
        properties = dict(schema["properties"]) if "properties" in schema else {}
        extra = set(properties) - {argument["name"] for argument in row["args"]}
        assert extra <= {"scoring"}, row["name"]
        for argument in row["args"]:
            assert (argument["name"] in schema.get("required", [])) == argument["required"], (row["name"], argument)
            if not argument["required"]:
                assert properties[argument["name"]].get("default") == argument["default"]
        assert tool.description
    assert len(TOOLS) == vector("kb_tools")["count"] == 17
    assert {alias_of(tool, "isa") for tool in TOOLS.values()} == {row["name"] for row in vector("kb_tools")["tools"]}


@pytest.mark.parametrize("name", TOOLS)
def test_schemas_are_schemas(name: str) -> None:
    jsonschema_rs.validator_for(TOOLS[name].schema)
    assert TOOLS[name].schema["additionalProperties"] is False


EVERY_CALL: list[tuple[str, dict[str, Any], set[str]]] = [
    ("kb_search", {"query": "drugs"}, {"results", "total_results", "search_type_used", "warnings"}),
    ("kb_hops", {"paragraph_id": "315.2"},
     {"seed_id", "seed_paragraph", "connected", "total_found", "max_hops_used"}),
    ("kb_list_standards", {}, {"standards", "total_standards"}),
    ("kb_get", {"identifier": "ISA 315.2"}, {"paragraph", "related", "found"}),
    ("kb_search_guides", {"query": "doctors"}, {"results", "total_results", "search_type_used", "warnings"}),
    ("kb_guide_hops", {"guide_section_id": "guide#drugs"},
     {"seed_id", "guide_section", "direct_references", "connected", "total_found"}),
    ("kb_list_guides", {}, {"guides", "total_guides"}),
    ("kb_search_all", {"query": "doctors drugs"},
     {"results", "total_results", "search_type_used", "tier_counts", "warnings"}),
    ("kb_verify_entities", {"entities": ["drugs"], "source_paragraph_ids": ["315.1"]},
     {"score", "passed", "details", "total_entities", "grounded_count"}),
    ("kb_verify_citations", {"citations": [{"paragraph_ref": "315.1", "claim": "Doctors prescribe drugs in 30 days"}]},
     {"score", "passed", "details", "total_citations", "quoted_count"}),
    ("kb_verify_relations", {"relations": [{"source_paragraph": "315.2", "target_paragraph": "500.2"}]},
     {"score", "passed", "details", "total_relations", "preserved_count"}),
    ("kb_check_contradictions", {"paragraph_ids": ["315.1", "500.2"]},
     {"contradiction_count", "passed", "details", "total_pairs_checked"}),
    ("kb_format_context", {"paragraphs": [], "query": "q"},
     {"xml", "included_count", "excluded_count", "total_tokens_estimated", "role_counts"}),
    ("kb_web_search", {"queries": ["q"]}, {"results", "analysis_hints", "queries_executed", "warnings"}),
    ("kb_status", {}, {"index", "vectors", "model"}),
    ("kb_trace_hops", {"start_id": "315.2"}, {"start_node", "hops", "total_nodes_discovered", "max_depth_reached"}),
    ("kb_explain_search", {"query": "drugs"},
     {"query", "expanded_query", "keyword_results", "vector_results", "rrf_fused", "reranked", "final", "warnings"}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "arguments", "keys"), EVERY_CALL, ids=[row[0] for row in EVERY_CALL])
def test_every_tool_answers_with_its_keys(
    knowledge: KnowledgeBase, name: str, arguments: dict[str, Any], keys: set[str]
) -> None:
    answer = call(knowledge, name, arguments)
    assert keys <= set(answer)
    assert "error" not in answer
    json.dumps(answer, allow_nan=False)


def test_every_tool_is_tried() -> None:
    assert {row[0] for row in EVERY_CALL} == set(TOOLS)


def test_search_rows_say_where_they_are_from(knowledge: KnowledgeBase) -> None:
    row = call(knowledge, "kb_search", {"query": "prescribe drugs", "document_filter": "ISA 315"})["results"][0]
    assert {"id", "paragraph_ref", "content", "document", "sub_paragraph", "application_ref", "page_number",
            "source_doc", "confidence", "rrf_score", "retrieval_path"} <= set(row)  # fmt: skip
    assert (row["paragraph_ref"], row["source_doc"], row["tier"]) == ("315.1", "isa-315.txt", 2)


def test_the_other_name_has_the_other_words(knowledge: KnowledgeBase) -> None:
    found = call(knowledge, "isa_hybrid_search", {"query": "drugs", "isa_filter": "315"})
    assert {row["isa_number"] for row in found["results"]} == {"315"}
    with pytest.raises(UserError, match="isa_filter"):
        call(knowledge, "kb_search", {"query": "drugs", "isa_filter": "315"})


def test_a_passage_with_what_it_refers_to(knowledge: KnowledgeBase) -> None:
    found = call(knowledge, "kb_get", {"identifier": "500.2"})
    relations = [(row["relation"], row.get("paragraph_ref")) for row in found["related"]]
    assert set(relations) == {
        ("cites", "315.A1"), ("cited_by", "315.2"), ("cited_by", "guide#drugs"), ("belongs_to", None)
    }  # fmt: skip
    missing = call(knowledge, "kb_get", {"identifier": "ISA 315.2(b)"})
    assert (missing["found"], missing["paragraph"]) == (False, None)
    assert "315.2" in missing["hint"]


def test_following_references(knowledge: KnowledgeBase) -> None:
    found = call(knowledge, "kb_hops", {"paragraph_id": "ISA 315.2"})
    assert [(row["paragraph_ref"], row["hop_score"], row["hop_depth"]) for row in found["connected"]] == [
        ("500.2", 0.9, 1),
        ("315.A1", 0.5355, 2),
        ("500.1", 0.2249, 3),
    ]
    trace = call(knowledge, "kb_trace_hops", {"start_id": "315.2"})
    assert (trace["total_nodes_discovered"], trace["max_depth_reached"]) == (4, 3)
    guide = call(knowledge, "kb_guide_hops", {"guide_section_id": "guide#drugs"})
    assert {row["paragraph_ref"] for row in guide["direct_references"]} == {"315.1", "500.2"}
    assert call(knowledge, "kb_hops", {"paragraph_id": "999.9"})["error"] == "999.9 is not there"


def test_tiers_are_mixed_by_comparable_scores(knowledge: KnowledgeBase) -> None:
    found = call(knowledge, "kb_search_all", {"query": "doctors drugs"})
    assert {row["tier"] for row in found["results"]} == {1, 2}
    assert all(0 <= row["weighted_score"] <= 1 for row in found["results"])
    assert found["results"][0]["weighted_score"] > 0
    only = call(knowledge, "kb_search_all", {"query": "doctors drugs", "tiers": [1]})
    assert {row["tier"] for row in only["results"]} == {1}


def test_a_search_explains_itself(knowledge: KnowledgeBase) -> None:
    found = call(knowledge, "kb_explain_search", {"query": "RA of drugs"})
    assert found["expanded_query"] == "RA of drugs risk assessment"
    assert all(row["score"] is not None for row in found["keyword_results"])
    assert all(row["likeness"] is not None for row in found["vector_results"])


def test_verification_in_both_scorings(knowledge: KnowledgeBase) -> None:
    wrong = {"citations": [{"paragraph_ref": "315.1", "claim": "Doctors prescribe drugs within 90 days"}]}
    assert call(knowledge, "kb_verify_citations", wrong)["details"][0]["state"] == "contradicted"
    assert call(knowledge, "kb_verify_citations", {**wrong, "scoring": "compat"})["passed"] is True


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("kb_serch", {}, "there is no tool 'kb_serch'\n  did you mean 'kb_search'"),
        ("kb_search", {}, "query: field required"),
        ("kb_search", {"query": "x", "max_results": 10**6}, "max_results: input should be less than or equal to 200"),
        ("kb_search", {"query": "x", "search_type": "magic"}, "search_type: input should be 'hybrid'"),
    ],
)
def test_wrong_calls_are_told(knowledge: KnowledgeBase, name: str, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError) as caught:
        call(knowledge, name, arguments)
    assert message in str(caught.value)


# -- the layout for a model


@pytest.mark.parametrize("case", vector("kb_context_format")["cases"], ids=lambda case: case["name"])
def test_context_as_in_the_reference(case: dict[str, Any]) -> None:
    rows = [{**row} for row in case["paragraphs"]]
    for row in rows:
        row["document"] = row.pop("isa_number", "")
        row["references"] = row.pop("isa_references", [])
    found = format_context(rows, case["query"], isa().grammar, wording=Wording("ISA ", "_isa"), **case["options"])
    ET.fromstring(found["xml"])
    expected = case["expect"]
    if '"' in case["query"]:  # the reference's attribute breaks off at a quotation mark
        expected["xml"] = expected["xml"].replace('query="risk "assessment" &', 'query="risk &quot;assessment&quot; &')
        found.pop("total_tokens_estimated")
        expected.pop("total_tokens_estimated")
    assert found == expected


def test_caps_of_the_roles() -> None:
    rows = [{"id": f"s{n}", "content": "x", "role": "supporting"} for n in range(20)]
    rows += [{"id": f"c{n}", "content": "x", "role": "context"} for n in range(10)]
    found = format_context(rows, "q", isa().grammar, max_tokens=100_000)
    assert found["role_counts"] == vector("kb_context_format")["caps_case"]["role_counts"]


# -- the collections of a workspace


def test_collections_are_made_filled_and_removed(tmp_path: Path) -> None:
    with Folder.open(tmp_path) as workspace:
        assert collection_names(workspace) == []
        create_collection(workspace, "audit", "It's: a title")
        with pytest.raises(UserError, match="already"):
            create_collection(workspace, "audit")
        with pytest.raises(UsageError, match="not a name"):
            create_collection(workspace, "../audit")
        with pytest.raises(UsageError, match="did you mean 'audit'"):
            open_collection(workspace, "audits")
        (tmp_path / "in/deep").mkdir(parents=True)
        (tmp_path / "in/deep/a.md").write_text("# One\n\nText.")
        (tmp_path / "in/b.png").write_bytes(b"x")
        with open_collection(workspace, "audit", Unavailable("none")) as knowledge:
            assert knowledge.collection.title == "It's: a title"
            assert add_files(knowledge, [tmp_path / "in"]) == ["in/deep/a.md"]
            assert knowledge.update().counts["added"] == 1
            assert knowledge.fill() == 0
            with pytest.raises(UserError, match="of no kind"):
                add_files(knowledge, [tmp_path / "in/b.png"])
            (tmp_path / "a.md").write_text("another")
            with pytest.raises(UserError, match=r"two of the files are called a\.md"):
                add_files(knowledge, [tmp_path / "a.md", tmp_path / "in/deep/a.md"])
        assert collection_names(workspace) == ["audit"]
        remove_collection(workspace, "audit")
        assert collection_names(workspace) == []
