"""YAML and JSON with places: the core schema of YAML 1.2, limits, and a place that always points at the value."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.protocol.errors import Problem, WorkspaceError
from weft.workspace.document import SourceFile, SourceMark, dotted
from weft.workspace.json_document import locate_json, parse_json
from weft.workspace.yaml_document import DEPTH_LIMIT, VALUE_LIMIT, parse_yaml

YAML_PARTS = [
    "a", "b: ", "- ", "\n", "  ", "&x ", "*x ", "!t ", "!!int ", "%YAML 1.1\n", "---\n", "...\n", "'", '"', "\\U",
    "FFFFFFFF", "[", "]", "{", "}", ",", "? ", ": ", "| ", "|9", "#", "\t", "\x85", "\u2028", "1e999", "0x", "<<: ",
    "~", "\ufeff", "\r", "@", "!<x> ",
]  # fmt: skip


def problem_of(text: str) -> Problem:
    with pytest.raises(WorkspaceError) as caught:
        parse_yaml("f.yaml", text)
    (problem,) = caught.value.problems
    return problem


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("on", "on"),
        ("yes", "yes"),
        ("true", True),
        ("FALSE", False),
        ("~", None),
        ("", None),
        ("12", 12),
        ("-7", -7),
        ("0o17", 15),
        ("0x1F", 31),
        ("1_000", "1_000"),
        ("1.50", 1.5),
        ("1e3", 1000.0),
        ("2024-01-01", "2024-01-01"),
        ("12:30", "12:30"),
        ("'12'", "12"),
        ("!!str 12", "12"),
        ("1.2.3", "1.2.3"),
        ("|\n  two\n  lines\n", "two\nlines\n"),
    ],
)
def test_plain_values_follow_the_core_schema(written: str, value: Any) -> None:
    found = parse_yaml("f.yaml", f"key: {written}").value["key"]
    assert (found, type(found)) == (value, type(value))


def test_every_key_and_value_has_its_place() -> None:
    document = parse_yaml("f.yaml", "a:\n  b: [x, {c: 1}]\n", first_line=5)
    assert document.value == {"a": {"b": ["x", {"c": 1}]}}
    assert document.keys == {
        ("a",): SourceMark(5, 1),
        ("a", "b"): SourceMark(6, 3),
        ("a", "b", 1, "c"): SourceMark(6, 11),
    }
    assert document.values[("a", "b", 0)] == SourceMark(6, 7)
    assert document.values[("a", "b", 1, "c")] == SourceMark(6, 14)
    assert document.value_mark(("a", "b", 1, "gone")) == SourceMark(6, 10)
    assert document.key_mark(("a", "b", 0)) == SourceMark(6, 7)
    assert document.key_mark(("a", "gone")) == SourceMark(5, 1)


def test_aliases_are_followed_and_a_bomb_of_them_is_refused() -> None:
    assert parse_yaml("f.yaml", "a: &x [1]\nb: *x\n").value == {"a": [1], "b": [1]}
    levels = "".join(f"l{level}: &l{level} [{', '.join([f'*l{level - 1}'] * 9)}]\n" for level in range(1, 9))
    problem = problem_of("l0: &l0 [x]\n" + levels)
    assert problem.message == f"the file holds more than {VALUE_LIMIT:,} values once its aliases are followed"


def test_an_anchor_may_be_defined_again_without_a_word() -> None:
    assert parse_yaml("f.yaml", "a: &x 1\nb: &x 2\nc: *x\n").value == {"a": 1, "b": 2, "c": 2}


def test_depth_is_bounded_with_and_without_aliases() -> None:
    deep = "a: " + "[" * (DEPTH_LIMIT + 1) + "]" * (DEPTH_LIMIT + 1)
    assert problem_of(deep).message == f"this is nested more than {DEPTH_LIMIT} levels deep"
    assert problem_of("a: " + "[" * 1000).message == "this is nested too deeply"


def test_a_character_that_does_not_exist_is_told() -> None:
    problem = problem_of('a: 1\nb: "\\UFFFFFFFF"\n')
    assert (problem.message, problem.line, problem.column) == ("this names a character that does not exist", 2, 5)


@given(st.lists(st.sampled_from(YAML_PARTS), max_size=12).map("".join))
def test_any_text_is_a_document_or_a_problem_with_a_place(text: str) -> None:
    try:
        document = parse_yaml("f.yaml", text)
    except WorkspaceError as error:
        problems = list(error.problems)
        assert problems
    else:
        problems = document.problems
    assert all(problem.line >= 1 and problem.column >= 1 for problem in problems)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ((), ""),
        (("a",), "a"),
        (("steps", "facts", "requires", 0), "steps.facts.requires[0]"),
        (("a", 1, "b"), "a[1].b"),
    ],
)
def test_a_path_is_shown_with_dots_and_brackets(path: tuple[str | int, ...], text: str) -> None:
    assert dotted(path) == text


# -- JSON

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(JSON_VALUES, st.sampled_from([None, 0, 2, "\t"]), st.booleans())
def test_a_place_in_json_is_where_the_value_begins(value: Any, indent: int | str | None, ascii_only: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    document = locate_json(SourceFile("f.json", b"", text), value)
    decoder = json.JSONDecoder()
    lines = text.split("\n")

    def visit(part: Any, path: tuple[str | int, ...]) -> int:
        line, column = document.values[path]
        offset = sum(len(before) + 1 for before in lines[: line - 1]) + column - 1
        assert decoder.raw_decode(text, offset)[0] == part
        if isinstance(part, list):
            return 1 + sum(visit(child, (*path, index)) for index, child in enumerate(part))
        if not isinstance(part, dict):
            return 1
        for key in part:
            line, column = document.keys[(*path, key)]
            assert lines[line - 1][column - 1 :].startswith(json.dumps(key, ensure_ascii=ascii_only))
        return 1 + sum(visit(child, (*path, key)) for key, child in part.items())

    assert visit(value, ()) == len(document.values)


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ('{\n  "a": 1,\n}', 3, 1, "this is not valid JSON: expecting property name enclosed in double quotes"),
        ("", 1, 1, "this is not valid JSON: expecting value"),
        ('{"a": NaN}', 1, 1, "this is not valid JSON: NaN is not a number of JSON"),
        ("[" * 100_000, 1, 1, "this is nested too deeply"),
    ],
)
def test_broken_json_is_told_with_its_line(text: str, line: int, column: int, message: str) -> None:
    with pytest.raises(WorkspaceError) as caught:
        parse_json(SourceFile("f.json", b"", text))
    (problem,) = caught.value.problems
    assert (problem.file, problem.line, problem.column, problem.message) == ("f.json", line, column, message)
