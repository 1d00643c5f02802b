"""Calibration, retrieval, the embedded draft, verification, repair and follow-up, on a small body of standards."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.knowledge.research.desk import DOCUMENTS, Made, knowledge_of
from weft.knowledge.embedding import Unavailable
from weft.knowledge.knowledge_base import KnowledgeBase
from weft.knowledge.research.answer import build_answer
from weft.knowledge.research.answering import appraised
from weft.knowledge.research.calibrate import pages_text, read_pages
from weft.knowledge.research.depth import DEPTHS
from weft.knowledge.research.earlier import known_passages, read_earlier
from weft.knowledge.research.labels import settle
from weft.knowledge.research.retrieve import retrieve
from weft.knowledge.research.review import rejected_by, review
from weft.protocol.errors import UserError

KEPT = "How long is the retention period of audit documentation, and when must the audit file be assembled?"


@pytest.fixture(scope="module")
def audit(tmp_path_factory: pytest.TempPathFactory) -> KnowledgeBase:
    """Looked into by many, changed by none."""
    return knowledge_of(tmp_path_factory.mktemp("audit"))


def answer_of(made: Made, knowledge: KnowledgeBase, earlier: dict[str, Any] | None = None) -> dict[str, Any]:
    return build_answer(
        session="s",
        question=made.question,
        plan=made.plan,
        calibration=made.calibration,
        retrieval=made.retrieval,
        synthesis=made.synthesis,
        verification=review(made.synthesis, knowledge),
        collection={"name": "audit", "title": "Audit"},
        earlier=earlier,
    )


# -- calibration and retrieval


def test_what_finds_nothing_is_demoted_and_never_deleted(audit: KnowledgeBase) -> None:
    made = Made(audit, "When must the audit file be assembled and how are volcanoes insured?")
    changes = {one["change"]: one["id"] for one in made.calibration["changes"]}
    demoted = next(one for one in made.calibration["sub_queries"] if one["id"] == changes["demoted"])
    assert demoted["text"] == "How are volcanoes insured"
    assert len(made.calibration["sub_queries"]) >= len(made.plan["sub_queries"])
    assert made.draft["not_answered"] == ["How are volcanoes insured"]


def test_references_are_followed_to_what_no_word_of_the_question_finds(audit: KnowledgeBase) -> None:
    made = Made(audit, "What must be documented about risk assessment procedures?")
    by_ref = {row["ref"]: row for row in made.retrieval["passages"]}
    assert "230.2" in by_ref, "315.2 refers to it"
    assert any("hop" in row["path"] for row in made.retrieval["passages"]) or by_ref["230.2"]["path"]


@pytest.mark.parametrize("depth", ["quick", "standard", "deep"])
def test_the_depth_is_really_applied(tmp_path: Path, depth: str) -> None:
    many = {
        f"isa-{100 + number}.txt": "\n\n".join(
            f"{at}. The auditor shall keep record number {number}-{at} of the inventory count. " + "It is long. " * 60
            for at in range(1, 6)
        )
        for number in range(40)
    }
    knowledge = knowledge_of(tmp_path, many, Unavailable("so many would take long"))
    bounds = DEPTHS[depth]
    made = Made(knowledge, "Which records of the inventory count shall the auditor keep?", depth)
    found = made.retrieval
    assert found["tokens"] <= bounds.context_tokens == found["token_budget"]
    assert found["tokens"] > 0.7 * bounds.context_tokens or not found["left_out"], "what there is room for is used"
    assert all(one["found"] <= bounds.passages for one in found["by_query"])
    assert len(made.calibration["sub_queries"]) <= bounds.sub_queries
    assert all(len(section["sentences"]) <= bounds.sentences for section in made.draft["sections"])
    assert sum(len(text) for text in made.texts) <= 4 * bounds.answer_tokens


def test_a_label_is_given_once_in_the_order_of_worth(audit: KnowledgeBase) -> None:
    rows = Made(audit, KEPT).retrieval["passages"]
    assert [row["label"] for row in rows] == [str(number) for number in range(1, len(rows) + 1)]
    assert len({row["id"] for row in rows}) == len(rows)
    assert [row["score"] for row in rows] == sorted((row["score"] for row in rows), reverse=True)


def test_two_questions_give_the_same_passage_once(audit: KnowledgeBase) -> None:
    queries = [
        {"id": "q1", "text": "audit file", "role": "primary", "why": ""},
        {"id": "q2", "text": "audit file within 60 days", "role": "context", "why": ""},
    ]
    found = retrieve(audit, queries, DEPTHS["standard"])
    row = next(row for row in found["passages"] if row["ref"] == "230.2")
    assert row["queries"][0] in ("q1", "q2")
    assert set(row["queries"]) == {"q1", "q2"}


# -- the draft


def test_an_answer_is_made_of_sentences_of_the_passages_each_with_its_label(audit: KnowledgeBase) -> None:
    made = Made(audit, KEPT)
    assert "The retention period of audit documentation is at least five years." in made.texts
    assert "The auditor shall assemble the audit documentation in an audit file within 60 days after the report." in (
        made.texts
    )
    rows = {row["label"]: row for row in made.retrieval["passages"]}
    for sentence in made.sentences:
        assert sentence["labels"]
        assert sentence["text"] in " ".join(rows[sentence["labels"][0]]["content"].split())


def test_what_two_documents_say_in_the_same_words_is_said_once(audit: KnowledgeBase) -> None:
    texts = Made(audit, "When must the audit file be assembled?").texts
    assert sum("audit file within 60 days" in text for text in texts) == 1


def test_what_differs_in_a_number_or_a_negation_is_not_the_same(tmp_path: Path) -> None:
    knowledge = knowledge_of(
        tmp_path,
        {
            "isa-100.txt": "1. The auditor shall keep the inventory records for 5 years after the audit report.\n"
            "\n2. The end of this short document of nothing.",
            "isa-200.txt": "1. The auditor shall keep the inventory records for 7 years after the audit report.\n"
            "\n2. The end of this other document of nothing.",
        },
    )
    texts = Made(knowledge, "How long shall the auditor keep inventory records after the audit report?").texts
    assert {"5 years", "7 years"} <= {" ".join(text.split()[8:10]) for text in texts} | {
        word for text in texts for word in ("5 years", "7 years") if word in text
    }
    assert sum("inventory" in text for text in texts) == 2


def test_nothing_found_is_said_and_nothing_is_claimed(audit: KnowledgeBase) -> None:
    made = Made(audit, "How do I bake sourdough bread?")
    answer = answer_of(made, audit)
    assert made.draft["sections"] == []
    assert answer["nothing_found"] is True
    assert answer["outcome"] == "not_said"
    assert answer["level"] == "low"
    assert answer["answer"].startswith("Nothing was found that answers: How do I bake")
    assert answer["verification"]["state"] == "not_checked", "nothing was checked, so nothing passed"
    assert answer["not_answered"] == ["How do I bake sourdough bread"]


# -- verification and repair


def test_what_comes_nearest_is_shown_where_nothing_is_about_the_question(audit: KnowledgeBase) -> None:
    answer = answer_of(Made(audit, "Which oven does a baker of sourdough bread inspect before the audit?"), audit)
    assert answer["outcome"] != "answered"
    assert answer["level"] == "low"
    assert answer["nearest"]


def rewritten(made: Made, old: str, new: str) -> Made:
    """The draft as a model might have written it, with one slip."""
    for section in made.draft["sections"]:
        for sentence in section["sentences"]:
            sentence["text"] = sentence["text"].replace(old, new)
    made.synthesis = settle(made.draft, made.sources)
    return made


def test_a_true_draft_needs_no_repair(audit: KnowledgeBase) -> None:
    found = review(Made(audit, KEPT).synthesis, audit)
    assert found["states"]["citations"] == "passed"
    assert found["needs_repair"] is False
    assert found["feedback"] == []
    assert {one["state"] for one in found["sentences"]} == {"quoted"}


def test_a_changed_number_is_named_with_its_sentence_and_the_reason(audit: KnowledgeBase) -> None:
    made = rewritten(Made(audit, KEPT), "60 days", "90 days")
    found = review(made.synthesis, audit)
    assert found["needs_repair"] is True
    assert found["states"]["contradictions"] == "failed"
    assert found["state"] == "failed"
    (fault,) = [one for one in found["sentences"] if one["state"] == "contradicted"]
    assert "90 days" in fault["text"]
    (line,) = [line for line in found["feedback"] if line.startswith(f"{fault['id']}:")]
    assert "“90” where the passage has “60”" in line
    assert rejected_by(found["feedback"]) == {fault["id"]}


def test_a_sentence_without_a_source_is_not_checked_and_one_with_an_invented_label_is_told(
    audit: KnowledgeBase,
) -> None:
    made = Made(audit, KEPT)
    made.draft["sections"][0]["sentences"] += [
        {"text": "Auditors are always careful people in every country.", "cites": []},
        {"text": "The retention period can be shortened by the client [99].", "cites": ["99", "W7"]},
    ]
    made.synthesis = settle({**made.draft, "made_by": "model"}, made.sources)
    found = review(made.synthesis, audit)
    assert [one["label"] for one in made.synthesis["labels_removed"]] == ["99", "W7"]
    states = {one["text"]: (one["state"], one["reason"]) for one in found["sentences"]}
    assert states["Auditors are always careful people in every country."] == ("not_checked", "it cites no source")
    assert states["The retention period can be shortened by the client."][0] == "not_checked"
    assert any("[99] names no source" in line for line in found["feedback"])


def test_the_embedded_repair_uses_the_feedback(audit: KnowledgeBase) -> None:
    first = Made(audit, KEPT)
    rejected = first.sentences[0]
    second = Made(audit, KEPT, rejected=rejected_by([f"{rejected['id']}: “…” is contradicted by [1]: because"]))
    assert rejected["text"] not in second.texts
    assert second.texts, "another sentence takes its place"


def test_an_axis_with_nothing_to_look_at_has_not_passed(audit: KnowledgeBase) -> None:
    made = Made(audit, "How long is the retention period?")
    made.synthesis["entities_referenced"] = []
    made.synthesis["relations_claimed"] = []
    found = review(made.synthesis, audit)
    assert found["states"]["relations"] == "not_checked"
    assert found["all_passed"] is False
    assert found["state"] == "passed", "it is of the sentences: the axes have states of their own"
    assert {"what": "axis", "text": "relations", "state": "not_checked", "reason": "there was nothing to check"} in (
        answer_of(made, audit)["open_ends"]
    )


def test_a_reference_in_a_quoted_sentence_is_checked_to_lead_there(audit: KnowledgeBase) -> None:
    made = Made(audit, "Where is documentation of the risk assessment procedures described?")
    assert any(one["target_paragraph"] == "230.2" for one in made.draft["relations_claimed"])
    assert review(made.synthesis, audit)["states"]["relations"] == "passed"


# -- confidence


def test_a_contradicted_sentence_takes_the_confidence_away(audit: KnowledgeBase) -> None:
    made = rewritten(Made(audit, KEPT), "five years", "nine years")
    section = next(one for one in answer_of(made, audit)["sections"] if "nine years" in str(one["sentences"]))
    assert section["confidence"] <= 0.3
    assert section["level"] == "low"


def test_below_what_is_not_sure_stand_the_passages_that_come_nearest(audit: KnowledgeBase) -> None:
    made = Made(audit, KEPT)

    def told(confidence: float) -> dict[str, Any]:
        for section in made.synthesis["sections"]:
            section["confidence"] = confidence
        return answer_of(made, audit)

    cited = {source["label"] for source in told(0.7)["sources"]}
    assert told(0.95)["nearest"] == []
    medium = [source["label"] for source in told(0.7)["nearest"]]
    assert medium
    assert not cited.intersection(medium)
    assert all(source["glimpse"] for source in told(0.7)["nearest"])
    assert cited.intersection(source["label"] for source in told(0.3)["nearest"])


def test_what_a_model_wrote_is_shown_with_the_nearest_passages_and_without_what_is_contradicted(
    audit: KnowledgeBase,
) -> None:
    made = rewritten(Made(audit, KEPT), "five years", "nine years")
    made.synthesis = {**made.synthesis, "made_by": "model", "nearest": [], "glimpses": {}}
    made.synthesis = appraised(made.synthesis, made.calibration["sub_queries"], made.retrieval, audit)
    answer = answer_of(made, audit)
    assert len(answer["nearest"]) == 3
    assert all(source["glimpse"] for source in answer["nearest"])
    assert "nine years" not in answer["answer"]
    assert "nine years" in str(answer["open_ends"])


# -- pages of the web


PAGES = [
    {"url": "https://example.org/a", "title": "A guide", "text": "The audit file should be indexed by subject matter."},
    {"url": "https://example.org/b", "title": "", "text": "The retention period may be longer in some countries."},
]


def test_a_page_keeps_the_label_of_its_place_and_stands_in_a_section_of_its_own(audit: KnowledgeBase) -> None:
    made = Made(audit, KEPT, pages=PAGES)
    assert [(one["label"], one["url"]) for one in made.calibration["web"]["sources"]] == [
        ("W1", "https://example.org/a"),
        ("W2", "https://example.org/b"),
    ]
    assert made.calibration["web"]["sources"][1]["title"] == "example.org"
    beyond = [one for one in made.synthesis["sections"] if one["heading"] == "Beyond the collection"]
    assert [one["labels"] for section in beyond for one in section["sentences"]] == [["W1"], ["W2"]]
    assert {one["label"]: one.get("url") for one in made.synthesis["sources"] if one["kind"] == "web"} == {
        "W1": "https://example.org/a",
        "W2": "https://example.org/b",
    }


def test_of_a_long_page_what_is_nearest_to_the_question_is_kept(audit: KnowledgeBase) -> None:
    filler = "\n\n".join(f"Paragraph {number} tells of gardens and rivers. " * 10 for number in range(200))
    page = {"url": "https://example.org/long", "title": "Long", "text": f"{filler}\n\n{PAGES[1]['text']}\n\n{filler}"}
    web = Made(audit, KEPT, pages=[page]).calibration["web"]
    assert len(web["sources"][0]["text"]) <= DEPTHS["standard"].context_tokens
    assert PAGES[1]["text"] in web["sources"][0]["text"]
    assert web["note"] == "of W1 only the paragraphs nearest to the question were read"


def test_quick_research_does_not_use_pages_and_says_so(audit: KnowledgeBase) -> None:
    made = Made(audit, KEPT, "quick", pages=PAGES)
    assert made.calibration["web"]["status"] == "off"
    assert "does not use pages of the web" in answer_of(made, audit)["notes"][-1]
    assert not any(label.startswith("W") for one in made.sentences for label in one["labels"])


def test_pages_are_read_once_each_and_what_is_no_list_is_told() -> None:
    assert [page["url"] for page in read_pages(pages_text([*PAGES, PAGES[0]]))] == [page["url"] for page in PAGES]
    assert read_pages(" ") == []
    with pytest.raises(UserError, match="not a list of pages"):
        read_pages('{"url": 1}')


# -- follow-ups


def test_a_follow_up_looks_only_for_what_is_new(audit: KnowledgeBase) -> None:
    first = Made(audit, "How long is the retention period of audit documentation?")
    earlier = answer_of(first, audit)
    used = known_passages(earlier)
    second = Made(audit, "What else is said about audit documentation?", earlier=earlier, known=used)
    found = {row["id"] for row in second.retrieval["passages"]}
    assert found
    assert not found & used
    assert set(second.retrieval["known_before"]) & used
    assert not set(first.texts) & {one["text"] for one in second.sentences if one["labels"][0].isdigit()}
    answer = answer_of(second, audit, earlier)
    assert answer["followup_number"] == 1
    assert answer["follows"]["question"] == first.question
    third = known_passages(answer)
    assert used <= third, "what was used before the one before is known too"


def test_an_earlier_section_keeps_its_label(audit: KnowledgeBase) -> None:
    earlier = answer_of(Made(audit, KEPT), audit)
    one = Made(audit, "And how long must documentation be retained?", earlier=earlier)
    two = Made(audit, "How long is the retention period?", earlier=earlier, known=known_passages(earlier))
    for made in (one, two):
        prior = {source["label"]: source["title"] for source in made.sources.values() if source["kind"] == "earlier"}
        assert prior == {f"P{n}": section["heading"] for n, section in enumerate(earlier["sections"], start=1)}
    cited = [label for sentence in two.sentences for label in sentence["labels"]]
    assert any(label.startswith("P") for label in cited)
    found = review(two.synthesis, audit)
    assert all(v["state"] == "quoted" for v in found["sentences"])


@pytest.mark.parametrize(
    ("text", "fault"),
    [("{", "not JSON"), ("[]", "not an object"), ('{"version": 2, "answer": "x"}', "version"), ("{}", "no answer")],
)
def test_what_can_not_be_followed_is_told(text: str, fault: str) -> None:
    with pytest.raises(UserError, match=fault):
        read_earlier(text)


def test_documents_are_what_the_tests_think() -> None:
    assert len(DOCUMENTS) == 3


def test_code_that_its_passage_does_not_have_is_not_quoted(audit: KnowledgeBase) -> None:
    made = Made(audit, KEPT)
    sentence = made.draft["sections"][0]["sentences"][0]
    sentence["code"] = "audit --keep five"
    found = review(settle(made.draft, made.sources), audit)["sentences"][0]
    assert (found["state"], found["reason"]) == (
        "not_checked",
        "the passage has no such line of code: audit --keep five",
    )
    assert "code" not in settle({**made.draft, "made_by": "model"}, made.sources)["sections"][0]["sentences"][0]


def test_a_number_in_brackets_of_a_passage_is_no_label(tmp_path: Path) -> None:
    text = "1. The harbour lantern lights lamp[1] of the pier where a ! is typed at night.\n"
    made = Made(knowledge_of(tmp_path, {"lamp.txt": text}), "Which harbour lantern lamp is lit at night?")
    (sentence,) = made.draft["sections"][0]["sentences"] if made.draft["sections"] else [{"text": "", "cites": []}]
    assert "lamp[1]" in sentence["text"]
    assert made.texts == [text[3:].strip()]
