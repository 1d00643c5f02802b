"""What models really write in place of JSON: read where it is plain what is meant, refused where it is not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from weft.models.json_reader import look, read

ONE = {"a": 1}


def _is_json(text: str) -> bool:
    try:
        json.loads(text.strip())
    except ValueError:
        return False
    return True


READ: list[tuple[str, str, Any]] = [
    # fences
    ("tildes", '~~~\n{"a": 1}\n~~~', ONE),
    ("a fence in capitals, prose with braces behind", 'Sure!\n```JSON\n{"a": 1}\n```\nHope it helps {smile}', ONE),
    ("another dialect", '```jsonc\n{"a": 1, // one\n}\n```', ONE),
    ("a fence on one line", '```json {"a": 1}```', ONE),
    ("a longer fence around a shorter one", '````json\n{"a": "```x```"}\n````', {"a": "```x```"}),
    ("a fence in a string", '{"a": "use ```\\n{\\"x\\":1}\\n```", "b": 2}', {"a": 'use ```\n{"x":1}\n```', "b": 2}),
    ("the same with raw lines", '```json\n{"a": "```py\nx()\n```", "b": 2}\n```', {"a": "```py\nx()\n```", "b": 2}),
    ("marks of byte order", '\ufeff```json\n\ufeff{"a":1}\n```', ONE),
    ("spaces that don't break", '{\u00a0"a":\u00a01}', ONE),
    # other languages
    ("a statement", 'const answer = {"a": 1};', ONE),
    ("a return", "return {a: 1};", ONE),
    ("a call", 'callback({"a": 1});', ONE),
    ("python", "answer = {'a': True, 'b': None, 'c': [1, 2,],}", {"a": True, "b": None, "c": [1, 2]}),
    ("tuples", '{"a": (1, "x"), "b": ((1, 2), (3, 4))}', {"a": [1, "x"], "b": [[1, 2], [3, 4]]}),
    ("prefixes of strings", "{'a': b'x', 'b': u'y', 'c': r'\\d'}", {"a": "x", "b": "y", "c": "\\d"}),
    ("hexadecimal", '{"a": 0xFF, "b": -0x10}', {"a": 255, "b": -16}),
    ("equals signs", '{"a" = 1, "b" => 2}', {"a": 1, "b": 2}),
    ("semicolons", '{"a": 1; "b": [1; 2]}', {"a": 1, "b": [1, 2]}),
    ("numbers for keys", '{1: "x", 2: "y"}', {"1": "x", "2": "y"}),
    ("an escape of another language", '{"a": "\\x41\\x42"}', {"a": "AB"}),
    ("a template's doubled braces", '{{"a": {{"b": 1}}}}', {"a": {"b": 1}}),
    ("escaped lines outside", '{\\n  "a": 1\\n}', ONE),
    ("escaped quotes of one value", '{"a": \\"b\\", "c": 1}', {"a": "b", "c": 1}),
    ("a section of XML", '<json><![CDATA[{"a":1}]]></json>', ONE),
    ("colours of a terminal", '\x1b[32m{"a": 1}\x1b[0m', ONE),
    # quotes
    ("a key without its first quote", '{a": 1, b": "x"}', {"a": 1, "b": "x"}),
    ("a text without its first quote", '{"a": b", "c": 1}', {"a": "b", "c": 1}),
    ("a text without its last quote", '{"a": "b, "c": 1}', {"a": "b", "c": 1}),
    ("the same over lines", '{"a": "b, and more,\n"c": 1}', {"a": "b, and more", "c": 1}),
    ("curly and straight mixed", '{“a": "b”, "c”: 1}', {"a": "b", "c": 1}),
    ("curly ones that are meant", '{"a": "he said “hi”", \'b\': 1}', {"a": "he said “hi”", "b": 1}),
    ("curly outside, straight inside", '{"a": “he said "x"”}', {"a": 'he said "x"'}),
    ("an apostrophe in curly ones", "{‘a’: ‘it’s fine’}", {"a": "it’s fine"}),
    ("both kinds", "{'a': 'He said \"hi\"', 'b': \"it's\"}", {"a": 'He said "hi"', "b": "it's"}),
    ("a call inside a text", '{"a": "f("x") is x", "b": 1}', {"a": 'f("x") is x', "b": 1}),
    ("a comment inside a text", '{"a": "x // y /* z */ # w"}', {"a": "x // y /* z */ # w"}),
    ("an address", '{"a": "http://x.y/z#w", }', {"a": "http://x.y/z#w"}),
    ("a raw line break in a key", '{"a\nb": 1}', {"a\nb": 1}),
    # which of several
    ("thinking before", '<think>I should say {"a": 0} maybe</think>\n{"a": 1}', ONE),
    ("thinking behind", '{"a":1}\n<think>{"a":0}</think>', ONE),
    ("thinking that never ends", '<think>hmm {"a":0}, no:\n\n{"a": 1}', ONE),
    ("channels", '<|channel|>analysis<|message|>{"a":0}<|end|><|channel|>final<|message|>{"a":1}', ONE),
    ("a comment of a page", '<!-- for example {"a":0} -->{"a":1}', ONE),
    ("a comment of a program", '/* not {"a":0} */ {"a":1}', ONE),
    ("a heading with braces", "**Reasoning:** we pick {x}.\n\n**Answer:**\n{'a': 1}", ONE),
    ("a link before", '[see](http://x) {"a":1}', ONE),
    ("keys twice, deep", '{"a": {"b":1,"b":2}, "a": {"b":3}}', {"a": {"b": 3}}),
    ("one bracket too many", '{"a": [1]]}', {"a": [1]}),
    ("capitals", '{"a": NULL, "b": TRUE}', {"a": None, "b": True}),
]  # fmt: skip


@pytest.mark.parametrize(("text", "value"), [case[1:] for case in READ], ids=[case[0] for case in READ])
def test_it_is_read_and_what_was_put_right_is_said(text: str, value: Any) -> None:
    found = read(text)
    assert found is not None
    assert found.value == value
    assert found.complete
    assert found.corrections or _is_json(text.replace("\u00a0", " "))


@pytest.mark.parametrize(
    "text",
    [
        '{"a": NaN}', '{"a": [1, NaN]}', '{"a": -Infinity}', '{"a": undefined, "b": 1}', '{"a": 1,000}', '{"a": 1,5}',
        '{"a": 2024-01-01}', '{"a": 12:30}', '{"a": 1/2}', '{"a": hello world, "b": 1}', '{"a": {1, 2}}', '{"a" 1}',
        '{"a": 05}', '{"a": 0xZZ}', '{"a": [1, 2, etc.]}', "a: 1\nb:\n  - x", "The answer is 42.", '{"a: 1}',
    ],
)  # fmt: skip
def test_what_would_be_a_guess_is_not_read(text: str) -> None:
    found = look(text)
    assert found.readings == ()
    assert found.fault


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('```json\n{"a": [1, 2', {"a": [1, 2]}),
        ('{"a": "\\', {"a": ""}),
        ('{"a": 12', {"a": 12}),
        ('["a", "b', ["a", "b"]),
        ('{"a": {"b": 1}', {"a": {"b": 1}}),
        ("{'a': ('x', 'y", {"a": ["x", "y"]}),
    ],
)
def test_what_breaks_off_is_never_called_whole(text: str, value: Any) -> None:
    found = read(text)
    if found is not None:
        assert found.value == value
        assert not found.complete
