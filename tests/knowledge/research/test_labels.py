"""Labels: given once, never invented, never doubled, whoever wrote the draft and in whatever form."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.lanes import lives
from weft.knowledge.research.earlier import EXCERPT, excerpt, fault_of, prior_sections, read_earlier
from weft.knowledge.research.labels import _INLINE, _ONE, marked, sentence_id, settle

VECTORS = Path(__file__).parent.parent.parent / "vectors"
LABEL = re.compile(r"\[([WP]?\d+)\]")


def cases(name: str, *functions: str) -> list[Any]:
    found = json.loads((VECTORS / f"{name}.json").read_text())["cases"]
    return [pytest.param(case, id=case["name"][:80]) for case in found if case["fn"] in functions]


_WEB_MARK = re.compile(r"WEB_REF\|([^|\s]+)(?:\|([^\n]*))?")
_PRIOR_MARK = re.compile(r"PRIOR_REF\|(P\d{1,4})\|[^\n]*")
_SOURCES = re.compile(r"^\s*>?\s*\*{0,2}(?:Sources|References|Quellen)\*{0,2}:?\s*$", re.I)


def draft_from_markdown(text: str, sources: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """A draft that came as one markdown text: sections by `##`, a sentence per line of prose, marks of sources
    (`WEB_REF|address|…`, `PRIOR_REF|P1|…`, a quoted block) as labels of the lines before them."""
    by_url = {str(source["url"]): label for label, source in sources.items() if source.get("url")}
    sections: list[dict[str, Any]] = [{"heading": "", "query": "", "sentences": []}]
    unknown: list[str] = []
    for line in text.splitlines():
        if line.startswith("## "):
            sections.append({"heading": line[3:].strip(), "query": "", "sentences": []})
            continue
        bare = line.strip().lstrip("> ").strip("* ")
        web, prior = _WEB_MARK.search(bare), _PRIOR_MARK.search(bare)
        if web or prior:
            label = by_url.get(web[1], "") if web else prior[1] if prior else ""
            if not label and web:
                unknown.append(web[1])
            elif sections[-1]["sentences"] and label:
                _cite(sections[-1]["sentences"], label)
        elif bare and not line.lstrip().startswith((">", "#", "|", "---")) and not _SOURCES.match(line):
            cites = [label for group in _INLINE.findall(bare) for label in _ONE.findall(group)]
            sections[-1]["sentences"].append({"text": bare, "cites": cites})
    return {
        "sections": [section for section in sections if section["sentences"]],
        "not_answered": [],
        "entities_referenced": [],
        "relations_claimed": [],
        "unknown_addresses": unknown,
    }


def _cite(sentences: Sequence[dict[str, Any]], label: str) -> None:
    """A source of a section that no sentence of it names is its last sentence's."""
    if not any(label in sentence["cites"] for sentence in sentences):
        sentences[-1]["cites"].append(label)


def sources_of(web: list[dict[str, Any]], prior: list[dict[str, Any]], passages: int = 0) -> dict[str, dict[str, Any]]:
    """A source's label is its place: that is what makes W1 the first page everywhere."""
    found = {str(n): {"label": str(n), "kind": "passage", "id": f"p{n}"} for n in range(1, passages + 1)}
    found |= {f"W{n}": {"label": f"W{n}", "kind": "web", "url": one["url"]} for n, one in enumerate(web, start=1)}
    return found | {f"P{n}": {"label": f"P{n}", "kind": "earlier"} for n, _ in enumerate(prior, start=1)}


def check(settled: dict[str, Any], sources: dict[str, dict[str, Any]]) -> None:
    sentences = [one for section in settled["sections"] for one in section["sentences"]]
    cited = [label for one in sentences for label in one["labels"]]
    listed = [source["label"] for source in settled["sources"]]
    assert len({one["id"] for one in sentences}) == len(sentences)
    assert all(len(set(one["labels"])) == len(one["labels"]) for one in sentences), "no label twice on a sentence"
    assert set(cited) == set(listed) <= set(sources), "every label has a source, and every source a sentence"
    assert len(set(listed)) == len(listed), "one row for each source"
    assert all(settled_source.items() >= sources[label].items() for label, settled_source in zip(
        listed, settled["sources"], strict=True)), "a label means the source it was given to"  # fmt: skip
    for one in sentences:
        assert not LABEL.search(one["text"]), "labels are beside the words, not in them"
        assert "WEB_REF" not in one["text"]
        assert "PRIOR_REF" not in one["text"]
        assert LABEL.findall(marked({**one, "lead": ""})) == one["labels"]


@pytest.mark.parametrize("case", cases("orch_synthesis_post_processor", "postProcessSynthesis"))
def test_drafts_of_the_reference_keep_our_invariants(case: dict[str, Any]) -> None:
    text, web, prior = case["args"]
    sources = sources_of(web, prior)
    settled = settle(draft_from_markdown(text, sources), sources)
    check(settled, sources)
    assert settle({"sections": [
        {**section, "sentences": [{"text": one["text"], "cites": one["labels"]} for one in section["sentences"]]}
        for section in settled["sections"]
    ]}, sources)["sections"] == settled["sections"], "settling again changes nothing"  # fmt: skip
    said = {label for label in LABEL.findall(text) if label in sources}
    assert said <= {source["label"] for source in settled["sources"]}, "no good label of the text is lost"


def test_a_finished_text_of_the_reference_is_read_back_with_our_numbers() -> None:
    (case,) = [
        case.values[0]
        for case in cases("orch_synthesis_post_processor", "postProcessSynthesis")
        if "does NOT double-inject" in case.values[0]["name"]
    ]
    text, web, prior = case["args"]
    sources = sources_of(web, prior)
    settled = settle(draft_from_markdown(text, sources), sources)
    for source in settled["sources"]:
        if source["kind"] == "web":
            assert web[int(source["label"][1:]) - 1]["url"] == source["url"]


@pytest.mark.parametrize("case", cases("orch_blockquote_normalization", "normalizeOrphanedMarkers"))
def test_marks_without_a_home_become_labels_of_their_section(case: dict[str, Any]) -> None:
    (text,) = case["args"]
    addresses = list(dict.fromkeys(re.findall(r"WEB_REF\|([^|\s]+)", text)))
    sources = sources_of([{"url": url} for url in addresses], [{}] * text.count("PRIOR_REF|P"))
    settled = settle(draft_from_markdown(text, sources), sources)
    check(settled, sources)
    for url in addresses:
        label = f"W{addresses.index(url) + 1}"
        before = text[: text.index(f"WEB_REF|{url}")]
        if any(line and not line.startswith((">", "#", "WEB_REF", "PRIOR_REF")) for line in before.splitlines()):
            assert label in {source["label"] for source in settled["sources"]}


@pytest.mark.parametrize("case", cases("orch_web_ref_rendering", "injectWebAndPriorMarkers"))
def test_a_mark_is_numbered_by_its_source_not_by_its_place_in_the_text(case: dict[str, Any]) -> None:
    text, web, prior, *_ = case["args"]
    body = "\n".join(["Something is said here that needs a source.", *reversed(text.splitlines())])
    sources = sources_of(web, prior)
    draft = draft_from_markdown(body, sources)
    settled = settle(draft, sources)
    check(settled, sources)
    for number, page in enumerate(web, start=1):
        if f"WEB_REF|{page['url']}|" in text:
            assert {s["url"] for s in settled["sources"] if s["label"] == f"W{number}"} == {page["url"]}
    unknown = [url for url in re.findall(r"WEB_REF\|([^|\s]+)", text) if url not in {page["url"] for page in web}]
    assert draft["unknown_addresses"] == unknown, "an address nobody gave is reported, not guessed"


def test_two_pages_of_one_host_are_two_sources() -> None:
    web = [{"url": "https://example.com/a"}, {"url": "https://example.com/b"}]
    sources = sources_of(web, [])
    text = "One.\nWEB_REF|https://example.com/b|x\n\nWEB_REF|https://example.com/a|y"
    settled = settle(draft_from_markdown(f"A sentence stands here.\n{text}", sources), sources)
    assert [source["label"] for source in settled["sources"]] == ["W1", "W2"]


def test_labels_in_any_writing_are_found_and_invented_ones_removed() -> None:
    sources = sources_of([{"url": "https://a.org"}], [{}], passages=3)
    draft = {
        "sections": [
            {
                "heading": "## One",
                "query": "q1",
                "sentences": [
                    {"text": "First [1, 2] and more [w1].", "cites": ["[3]", "p1", "17"]},
                    {"text": "First and more.", "cites": ["2"]},
                    {"text": "[9]", "cites": []},
                ],
            }
        ]
    }
    settled = settle(draft, sources)
    check(settled, sources)
    (section,) = settled["sections"]
    assert section["heading"] == "One"
    assert [one["labels"] for one in section["sentences"]] == [["3", "P1", "1", "2", "W1"]]
    assert section["sentences"][0]["text"] == "First and more."
    assert [one["label"] for one in settled["labels_removed"]] == ["17", "9"]


@pytest.mark.lives
@settings(deadline=None, max_examples=lives(200, 2000))
@given(
    st.lists(
        st.lists(
            st.tuples(st.text(max_size=60), st.lists(st.from_regex(r"[WP]?[0-9]{1,3}", fullmatch=True), max_size=4)),
            max_size=4,
        ),
        max_size=4,
    )
)
def test_any_draft_comes_out_with_good_labels(drafted: list[list[tuple[str, list[str]]]]) -> None:
    sources = sources_of([{"url": "https://a.org"}, {"url": "https://b.org"}], [{}, {}], passages=5)
    draft = {
        "sections": [
            {"heading": "", "query": "", "sentences": [{"text": text, "cites": cites} for text, cites in section]}
            for section in drafted
        ]
    }
    check(settle(draft, sources), sources)


def test_a_sentence_has_the_same_id_in_every_draft() -> None:
    assert sentence_id("One  thing.") == sentence_id("one thing.") != sentence_id("One thing!")


# -- earlier answers


@pytest.mark.parametrize("case", cases("orch_follow_up_context", "parseAnswerSections"))
def test_sections_of_an_earlier_answer_are_numbered_as_the_reference_does(case: dict[str, Any]) -> None:
    (text,) = case["args"]
    ours = [(one["label"], one["heading"]) for one in prior_sections(text)]
    assert ours == [(one["sectionId"], one["heading"]) for one in case["result"]]
    for mine, theirs in zip(prior_sections(text), case["result"], strict=True):
        assert excerpt(mine["text"])[:80] == " ".join(theirs["excerpt"].split())[:80]
        assert len(excerpt(mine["text"])) <= EXCERPT + 2


@pytest.mark.parametrize("case", cases("orch_follow_up_context", "validateAnswerJson"))
def test_what_the_reference_refuses_to_follow_we_refuse_too(case: dict[str, Any]) -> None:
    assert bool(fault_of(case["args"][0])) is bool(case["result"])


def test_an_older_answers_verified_is_read_as_not_checked() -> None:
    older = {"answer": "## A\n\nIt is so. [1]", "citations": [{"paragraph_id": "x", "state": "verified"}]}
    found = read_earlier(json.dumps(older))
    assert found is not None
    assert found["citations"] == [{"paragraph_id": "x", "state": "not_checked"}]
    assert [one["heading"] for one in prior_sections("## A\n\nSo.\n\n## What was not checked\n\n- it")] == ["A"]
