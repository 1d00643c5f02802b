"""Declarations: what is accepted, what is refused and how, and which documents a check asks for."""

from __future__ import annotations

import datetime
import json
from typing import Any

import pytest

from weft.checks import CHECKS, CheckCall, CheckInput, CheckProblem, parse_check, run_check

GOOD: list[tuple[str, dict[str, Any], tuple[str, ...]]] = [
    ("verbatim", {"at": "quotes[*].text", "in": "source"}, ("source",)),
    ("verbatim", {"in": ["source", "notes.md", "source"]}, ("source", "notes.md")),
    ("count", {"at": "bullets", "min": 3, "max": 7}, ()),
    ("unique", {"at": "ideas[*].title"}, ()),
    ("same", {"at": "contentId", "as": "summary.json", "as_at": "contentId"}, ("summary.json",)),
    ("same", {"at": "contentId", "value": "x"}, ()),
    ("matches", {"at": "quotes[*].timestamp", "pattern": r"\d{1,2}:\d{2}"}, ()),
    ("sum_near", {"at": "sections[*].words", "target": 1000, "within": 0.1}, ()),
    ("sum_near", {"at": "sections[*].words", "target": {"parameter": "words"}}, ()),
    ("sum_near", {"at": "sections[*].words", "target": {"document": "x.json", "at": "total"}}, ("x.json",)),
    ("numbers_from", {"at": ["tldr", "bullets[*]"], "in": "source", "ignore": [1, 2.5], "words": True}, ("source",)),
    ("words.py:polite", {"at": 5, "anything": {"goes": [1, None]}}, ()),
    ("words.py:polite", {"in": "source"}, ("source",)),
    ("checks/words.py:polite", {"in": ["source", "a.json"]}, ("source", "a.json")),
]


@pytest.mark.parametrize(("name", "options", "documents"), GOOD)
def test_a_good_declaration_keeps_its_options_and_names_its_documents(
    name: str, options: dict[str, Any], documents: tuple[str, ...]
) -> None:
    call = parse_check(name, options)
    assert call == CheckCall(name, options)
    assert call.reads == documents


BAD: list[tuple[str, Any, str, str]] = [
    ("verbatm", {"in": "source"}, "", "did you mean 'verbatim'?"),
    ("xyzzy", {}, "", "count, matches, numbers_from, same, sum_near, supported, unique, verbatim"),
    ("xyzzy", {}, "", "file.py:function"),
    ("words.py", {}, "", "file.py:function"),
    ("words.py:", {}, "", "name of a function"),
    ("words.py:not-a-name", {}, "", "name of a function"),
    ("words.py:polite", {"in": 5}, "in", "not 5"),
    ("words.py:polite", {"in": []}, "in", "list of names"),
    ("words.py:polite", {"when": datetime.date(2024, 1, 2)}, "when", "2024-01-02"),
    ("words.py:polite", {"deep": [{"x": float("nan")}]}, "deep", "JSON can't hold"),
    ("verbatim", None, "", "mapping of options"),
    ("verbatim", ["source"], "", "mapping of options"),
    ("verbatim", {1: "source"}, "", "mapping of options"),
    ("verbatim", {"at": "quotes"}, "in", "needs the option `in`"),
    ("verbatim", {"At": "quotes", "in": "source"}, "At", "did you mean 'at'?"),
    ("verbatim", {"inn": "source"}, "inn", "did you mean 'in'? there are: at, in, required"),
    ("verbatim", {"sources": "source"}, "sources", "there are: at, in, required"),
    ("verbatim", {"in": ""}, "in", "the name of an input or artifact"),
    ("verbatim", {"in": ["source", 5]}, "in", "the name of an input or artifact"),
    ("verbatim", {"in": "source", "at": "quotes[*"}, "at", "'quotes[*' is not a path"),
    ("verbatim", {"in": "source", "at": ["ok", "a..b"]}, "at", "'a..b' is not a path"),
    ("verbatim", {"in": "source", "at": []}, "at", "a list of paths"),
    ("verbatim", {"in": "source", "at": 5}, "at", "a path"),
    ("verbatim", {"in": "source", "required": "yes"}, "required", "boolean"),
    ("count", {"at": "a"}, "", "at least one of min, max and exactly"),
    ("count", {"min": 5, "max": 3}, "min", "at least 5 and at most 3"),
    ("count", {"min": 5, "exactly": 3}, "exactly", "one or the other"),
    ("count", {"min": -1}, "min", "greater than or equal to 0"),
    ("count", {"min": "3"}, "min", "(it is “3”)"),
    ("count", {"min": True}, "min", "valid integer"),
    ("count", {"min": 1, "of": "lines"}, "of", "'elements', 'words' or 'characters'"),
    ("unique", {"at": "tags"}, "at", "write tags[*]"),
    ("unique", {}, "at", "write [*]"),
    ("same", {"at": "a"}, "", "either `as`"),
    ("same", {"at": "a", "as": "b.json", "value": None}, "", "either `as`"),
    ("same", {"at": "a", "value": 1, "as_at": "b"}, "as_at", "there is no `as`"),
    ("same", {"at": "a", "as": "b.json", "as_at": "b[*]"}, "as_at", "without [*]"),
    ("same", {"at": "a", "as": "b.json", "as_at": ["b"]}, "as_at", "one path"),
    ("same", {"at": "a", "as": ""}, "as", "at least 1 character"),
    ("matches", {"at": "a"}, "pattern", "needs the option `pattern`"),
    ("matches", {"pattern": "(a"}, "pattern", "unclosed group"),
    ("matches", {"pattern": "a)(b"}, "pattern", "unopened group"),
    ("matches", {"pattern": "*"}, "pattern", "'*' is not a regular expression"),
    ("matches", {"pattern": "(?=a)b"}, "pattern", "look-around"),
    ("matches", {"pattern": r"(a)\1"}, "pattern", "backreferences"),
    ("matches", {"pattern": r"(\w{1000}){1000}"}, "pattern", "size limit"),
    ("sum_near", {"at": "a"}, "target", "needs the option `target`"),
    ("sum_near", {"target": "many"}, "target", "a target is a number"),
    ("sum_near", {"target": True}, "target", "a target is a number"),
    ("sum_near", {"target": {"param": "words"}}, "target", "{parameter: name}"),
    ("sum_near", {"target": {"parameter": ""}}, "target", "a target is a number"),
    ("sum_near", {"target": {"document": "x.json"}}, "target", "a target is a number"),
    ("sum_near", {"target": {"document": "x.json", "at": "a[*]"}}, "target", "path to one number"),
    ("sum_near", {"target": {"document": "x.json", "at": "a["}}, "target", "'a[' is not a path"),
    ("sum_near", {"target": 1, "within": 1.5}, "within", "less than or equal to 1"),
    ("sum_near", {"target": 1, "within": -0.1}, "within", "greater than or equal to 0"),
    ("numbers_from", {"in": "source", "ignore": ["1"]}, "ignore", "valid"),
    ("numbers_from", {"in": "source", "ignore": [True]}, "ignore", "valid"),
    ("numbers_from", {"in": "source", "ignore": 1}, "ignore", "list"),
]


@pytest.mark.parametrize(("name", "options", "key", "message"), BAD)
def test_a_bad_declaration_is_refused_with_its_key_and_what_is_right(
    name: str, options: Any, key: str, message: str
) -> None:
    with pytest.raises(CheckProblem) as caught:
        parse_check(name, options)
    assert caught.value.key == key
    assert message in caught.value.message
    assert str(caught.value) == caught.value.message
    assert isinstance(caught.value, ValueError)


def test_a_path_into_a_text_artifact_is_refused_when_the_artifact_is_known() -> None:
    with pytest.raises(CheckProblem, match=r"notes\.md is text") as caught:
        parse_check("count", {"at": "a", "min": 1}, artifact="notes.md")
    assert caught.value.key == "at"
    assert parse_check("count", {"min": 1, "of": "words"}, artifact="notes.md").name == "count"
    assert parse_check("count", {"at": "a", "min": 1}, artifact="notes.json").name == "count"


def test_options_become_plain_json_values_of_their_own() -> None:
    class Text(str):
        """As a YAML reader has it, with a position."""

    names = [Text("source")]
    given = {Text("in"): names, "nested": {"t": (1, 2.5, None, True)}}
    call = parse_check("words.py:polite", given)
    assert json.dumps(call.options) == '{"in": ["source"], "nested": {"t": [1, 2.5, null, true]}}'
    assert all(type(key) is str for key in call.options)
    assert type(call.options["in"][0]) is str
    names.append(Text("later"))
    assert call.reads == ("source",)


def test_every_check_describes_itself() -> None:
    assert list(CHECKS) == ["count", "matches", "numbers_from", "same", "sum_near", "supported", "unique", "verbatim"]
    for name, definition in CHECKS.items():
        assert definition.name == name
        assert definition.summary.endswith(".")
        assert "\n" not in definition.summary
        assert definition.options.model_config.get("extra") == "forbid"
        schema = definition.options.model_json_schema()
        assert "at" in schema["properties"]
        assert [key for key, option in schema["properties"].items() if not option.get("description")] == []


def test_a_pack_check_is_not_run_here_and_a_missing_document_is_a_bug() -> None:
    with pytest.raises(KeyError):
        run_check(parse_check("words.py:polite", {}), CheckInput("a.json", {}, {}, {}))
    with pytest.raises(KeyError):
        run_check(parse_check("verbatim", {"in": "source"}), CheckInput("a.json", "x", {}, {}))


def test_running_twice_gives_the_same_findings_and_changes_nothing() -> None:
    value = {"quotes": ["not there", "there"], "n": [3, 4]}
    documents = {"source": "it is there"}
    given = CheckInput("a.json", value, documents, {})
    for name, options in (("verbatim", {"at": "quotes[*]", "in": "source"}), ("numbers_from", {"in": "source"})):
        call = parse_check(name, options)
        assert run_check(call, given) == run_check(call, given) != ()
    assert value == {"quotes": ["not there", "there"], "n": [3, 4]}
