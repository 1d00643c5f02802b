"""An answer as text, Markdown and a page: complete, safe, and every label leads to its source."""

from __future__ import annotations

import copy
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from tests.knowledge.research.desk import Made, knowledge_of
from tests.knowledge.research.test_pipeline import KEPT, PAGES, answer_of, rewritten
from weft.render.answer import answer_markdown, answer_page, answer_text

HOSTILE = '<script>alert("x")</script> & [link](javascript:x) `code` | pipe \u202e'


class Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.tags: list[str] = []
        self.stack: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.tags.append(tag)
        if tag not in ("meta", "rect", "br"):
            self.stack.append(tag)
        self.ids += [value for value in [given.get("id")] if value]
        self.links += [value for value in [given.get("href")] if value]

    def handle_endtag(self, tag: str) -> None:
        if tag not in ("meta", "rect", "br"):
            assert self.stack.pop() == tag


@pytest.fixture(scope="module")
def made_answer(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    knowledge = knowledge_of(tmp_path_factory.mktemp("audit"))
    return answer_of(rewritten(Made(knowledge, KEPT, pages=PAGES), "five years", "nine years"), knowledge)


@pytest.fixture
def answer(made_answer: dict[str, Any]) -> dict[str, Any]:
    return copy.deepcopy(made_answer)


def test_the_page_is_whole_and_needs_nothing_else(answer: dict[str, Any]) -> None:
    text = answer_page(answer)
    page = Page(text)
    assert page.stack == []
    assert len(set(page.ids)) == len(page.ids)
    inner = [link[1:] for link in page.links if link.startswith("#")]
    assert set(inner) <= set(page.ids), "every link of the page leads somewhere in it"
    assert {f"source-{source['label']}" for source in answer["sources"]} <= set(inner) & set(page.ids)
    assert not {"script", "img", "link", "iframe"} & set(page.tags)
    assert "default-src &#x27;none&#x27;" in text
    assert answer_page(answer) == text


def test_everything_an_answer_has_is_on_the_page_and_in_the_markdown(answer: dict[str, Any]) -> None:
    markdown, page = answer_markdown(answer), answer_page(answer)
    for wanted in ("Verification", "What was not checked", "Sources", "How it was found", "contradicted"):
        assert wanted in markdown
        assert wanted in page
    for query in answer["sub_queries"]:
        assert query["text"] in markdown
        assert query["text"] in page
    assert "No model was called" in page
    assert "https://example.org/a" in page


def test_what_was_quoted_is_marked_in_its_passage(answer: dict[str, Any]) -> None:
    marks = re.findall(r"<mark>(.*?)</mark>", answer_page(answer), re.S)
    texts = {one["text"] for section in answer["sections"] for one in section["sentences"]}
    assert marks
    assert all(" ".join(mark.split()) in texts for mark in marks)


def test_what_failed_is_never_shown_as_quoted(answer: dict[str, Any]) -> None:
    lines = [line for line in answer_text(answer).splitlines() if "nine years" in line]
    assert [line.startswith("Sentence contradicted: ") for line in lines] == [True]
    for text in (answer_markdown(answer), answer_page(answer)):
        assert text.index("no part of it") < text.index("nine years")
    assert "not checked" in answer_markdown(answer)
    row = next(line for line in answer_markdown(answer).splitlines() if line.startswith("| References lead"))
    assert "passed" not in row


def test_a_terminal_sees_the_answer_and_its_sources(answer: dict[str, Any]) -> None:
    text = answer_text(answer)
    for source in answer["sources"]:
        assert f"[{source['label']}] " in text
    assert "quoted" in text


def test_hostile_words_stay_words(answer: dict[str, Any]) -> None:
    answer["original_query"] = HOSTILE
    answer["sections"][0]["heading"] = HOSTILE
    answer["sections"][0]["sentences"][0]["text"] = HOSTILE
    answer["sources"][0]["text"] = HOSTILE
    answer["sources"][-1]["url"] = "javascript:alert(1)"
    answer["notes"].append(HOSTILE)
    page = answer_page(answer)
    assert Page(page).stack == []
    assert "script" not in Page(page).tags
    assert not any(link.startswith("javascript") for link in Page(page).links)
    assert "\u202e" not in page
    assert not re.search(r"(?<!\\)<script", answer_markdown(answer))


def test_nothing_found_has_a_page_that_says_so(tmp_path: Path) -> None:
    knowledge = knowledge_of(tmp_path)
    answer = answer_of(Made(knowledge, "How do I bake sourdough bread?"), knowledge)
    for text in (answer_page(answer), answer_markdown(answer), answer_text(answer)):
        assert "The documents do not say" in text
    assert Page(answer_page(answer)).stack == []
    assert "100" not in answer_text(answer)


def test_passages_that_come_nearest_are_shown_in_a_terminal_without_mark_up() -> None:
    text = "Set it:\n\n```sh\ntide --high 2\n```\n\n| Key | Meaning |\n| --- | --- |\n| H | high water |\n"
    source = {"label": "1", "title": "Manual", "ref": "m.1", "file": "m.md", "page": 0, "text": text, "kind": "passage"}
    answer = {"nothing_found": True, "outcome": "unsure", "nearest": [source], "notes": []}
    shown = answer_text(answer)
    assert "  Set it:\n      tide --high 2\n  Key: Meaning\n  H: high water\n" in shown
    assert "|" not in shown


def test_lines_of_code_of_a_passage_stay_lines_and_its_signs_stay() -> None:
    text = "Light it with `*` and a ``\\``:\n\n- so:\n\n  ```\n  if dark:\n      light `all`\n  ```\n"
    source = {"label": "1", "title": "Manual", "ref": "m.1", "file": "m.md", "page": 0, "text": text, "kind": "passage"}
    answer = {"nothing_found": True, "outcome": "unsure", "nearest": [source], "notes": []}
    shown = answer_text(answer)
    assert "  Light it with * and a ``\\``:\n  - so:\n      if dark:\n          light `all`\n" in shown
