"""Code is looked at, never run: its version covers what it imports. Schemas are checked without leaving their file."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from weft.protocol.errors import Problem, WorkspaceError
from weft.workspace.code_file import function_fault
from weft.workspace.schema_file import read_schema
from weft.workspace.workspace import Workspace

MakeWorkspace = Callable[[Mapping[str, str | bytes]], Workspace]

CODE: Mapping[str, str] = {
    "code/main.py": "import json\nimport words\nfrom kit.tools import cut\n\n\ndef make(step): ...\n",
    "code/words.py": "def count(text):\n    from . import late\n    return late\n",
    "code/late.py": "import main\n",
    "code/kit/__init__.py": "from .shared import *\n",
    "code/kit/tools.py": "from . import shared, edge\nfrom ..deep import name\n\n\ndef cut(text): ...\n",
    "code/kit/shared.py": "X = 1\n",
    "code/kit/edge.py": "from .... import nowhere\nimport space.inner.leaf\n",
    "code/deep.py": "name = 1\n",
    "code/space/inner/leaf.py": "Y = 1\n",
    "code/apart.py": "Z = 1\n",
    "code/json2.py": "Z = 1\n",
}


@pytest.mark.parametrize("file", [name for name in CODE if name not in ("code/apart.py", "code/json2.py")])
def test_a_change_in_anything_that_is_imported_changes_the_version(file: str, make_workspace: MakeWorkspace) -> None:
    before = make_workspace(CODE).code_version("main.py")
    assert before == make_workspace(CODE).code_version("main.py")
    assert before != make_workspace({file: CODE[file] + "# changed\n"}).code_version("main.py")


@pytest.mark.parametrize("file", ["code/apart.py", "code/json2.py", "code/notes.txt", "code/kit/other.py"])
def test_a_change_elsewhere_does_not(file: str, make_workspace: MakeWorkspace) -> None:
    before = make_workspace(CODE).code_version("main.py")
    assert before == make_workspace({file: "Z = 2\n"}).code_version("main.py")


def test_a_file_that_appears_where_an_import_looks_changes_the_version(make_workspace: MakeWorkspace) -> None:
    before = make_workspace(CODE).code_version("main.py")
    assert before != make_workspace({"code/json.py": ""}).code_version("main.py")


def test_files_of_equal_content_have_versions_of_their_own(make_workspace: MakeWorkspace) -> None:
    workspace = make_workspace(CODE)
    assert workspace.code_version("apart.py") != workspace.code_version("json2.py")


def test_code_that_is_no_python_still_has_a_version_and_missing_code_has_none(make_workspace: MakeWorkspace) -> None:
    workspace = make_workspace({"code/torn.py": "def (:\n", "code/zero.py": b"a\0b"})
    assert workspace.code_version("torn.py") != workspace.code_version("zero.py")
    with pytest.raises(WorkspaceError) as caught:
        workspace.code_version("gone.py")
    assert caught.value.problems == (Problem("code/gone.py", "this file is not there"),)


def test_looking_at_code_does_not_run_it(make_workspace: MakeWorkspace) -> None:
    workspace = make_workspace({"code/bomb.py": "raise SystemExit('run')\n\n\ndef make(step): ...\n"})
    assert function_fault(workspace.folder, "bomb.py:make") is None


@pytest.mark.parametrize(
    "reference", ["make", "make.py", "make.py:", "make.py:a-b", "../make.py:a", "sub/make.py:a", "make.txt:a", ":a"]
)
def test_what_is_no_reference_is_told(reference: str, make_workspace: MakeWorkspace) -> None:
    workspace = make_workspace({"code/make.py": "def a(step): ...\n"})
    assert function_fault(workspace.folder, reference) == (
        f"'{reference}' is not a file and a function",
        "write file.py:function, with the file in code/",
    )


def test_an_odd_escape_in_code_is_no_warning_of_ours(make_workspace: MakeWorkspace) -> None:
    workspace = make_workspace({"code/make.py": "def a(step):\n    return '\\d'\n"})
    assert function_fault(workspace.folder, "make.py:a") is None


def test_code_that_is_a_link_is_refused(make_workspace: MakeWorkspace) -> None:
    workspace = make_workspace({"code/make.py": "def a(step): ...\n"})
    (workspace.path / "code/link.py").symlink_to(workspace.path / "code/make.py")
    with pytest.raises(WorkspaceError) as caught:
        function_fault(workspace.folder, "link.py:a")
    assert caught.value.problems[0].file == "code/link.py"


# -- schemas


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            '{\n  "type": "objekt"\n}',
            Problem("schemas/s.json", "'objekt' is not a type of JSON", 2, 11, "type", "did you mean 'object'?"),
        ),
        (
            '{"items": {"type": "?"}}',
            Problem(
                "schemas/s.json",
                "'?' is not a type of JSON",
                1,
                20,
                "items.type",
                "the types are: array, boolean, integer, null, number, object, string",
            ),
        ),
        (
            '{"$ref": "#/$defs/gone"}',
            Problem(
                "schemas/s.json",
                "this refers to nothing in this file",
                1,
                10,
                "$ref",
                "refer to a part of the same file, such as #/$defs/name",
            ),
        ),
        (
            '{"allOf": [{}, {"$ref": "file:///etc/passwd"}]}',
            Problem(
                "schemas/s.json",
                "this refers to nothing in this file",
                1,
                25,
                "allOf[1].$ref",
                "refer to a part of the same file, such as #/$defs/name",
            ),
        ),
        (
            '{"$schema": "http://json-schema.org/draft-07/schema#", "type": "strin"}',
            Problem("schemas/s.json", "'strin' is not a type of JSON", 1, 64, "type", "did you mean 'string'?"),
        ),
        (
            '{\n "required": "a"}',
            Problem(
                "schemas/s.json",
                'this is not valid in a JSON Schema: "a" is not of type "array"',
                2,
                14,
                "required",
            ),
        ),
        (
            '{"properties": {"a": {"pattern": "("}}}',
            Problem("schemas/s.json", '"(" is not a "regex"', 1, 34, "properties.a.pattern"),
        ),
    ],
)
def test_a_fault_of_a_schema_is_told_in_its_own_file(
    text: str, expected: Problem, make_workspace: MakeWorkspace
) -> None:
    workspace = make_workspace({"schemas/s.json": text})
    with pytest.raises(WorkspaceError) as caught:
        read_schema(workspace.folder, "s.json")
    assert caught.value.problems == (expected,)


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        '{"$defs": {"a": {"type": "string"}}, "$ref": "#/$defs/a"}',
        '{"$schema": "http://json-schema.org/draft-07/schema#", "definitions": {"a": {}}}',
        '{"$id": "https://example.com/s.json", "$ref": "#/$defs/a", "$defs": {"a": {}}}',
        '{"version": "x", "title": "an unknown word is a note"}',
    ],
)
def test_good_schemas_are_good(text: str, make_workspace: MakeWorkspace) -> None:
    workspace = make_workspace({"schemas/s.json": text})
    assert read_schema(workspace.folder, "s.json").file == "schemas/s.json"
