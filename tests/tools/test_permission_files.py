"""permissions.yaml and permissions.json: read, added up, and every fault told with its place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from weft.files import Folder
from weft.protocol.errors import UserError, WorkspaceError
from weft.tools.permission_file import Rules, app_rules, read_rules, with_allowed
from weft.workspace.rule_entry import RuleEntry


def read(workspace: Path) -> Rules:
    with Folder.open(workspace) as folder:
        return read_rules(folder)


def faults(workspace: Path) -> list[str]:
    with pytest.raises(WorkspaceError) as caught:
        read(workspace)
    return [str(problem) for problem in caught.value.problems]


def source(workspace: Path, slug: str, value: object) -> None:
    folder = workspace / "sources" / slug
    folder.mkdir(parents=True)
    (folder / "permissions.json").write_text(value if isinstance(value, str) else json.dumps(value, indent=1))


def test_without_files_the_apps_own_rules_hold(workspace: Path) -> None:
    assert read(workspace) == app_rules()
    (workspace / "permissions.yaml").write_text("# nothing yet\n\n")
    assert read(workspace) == app_rules()


def test_rules_add_up_over_the_files(workspace: Path) -> None:
    (workspace / "permissions.yaml").write_text(
        "allow:\n"
        "  - tool: Shell\n"
        "    command: npm test *\n"
        "  - {tool: WebFetch, host: Docs.Python.org, when_tainted: true}\n"
        "deny:\n"
        "  - {tool: Shell, command: git push, why: not from here}\n"
    )
    source(workspace, "notes", {"allow": [{"tool": "search", "read_only": True}], "deny": [{"tool": "delete_*"}]})
    found = [each for each in read(workspace).rules if each not in app_rules().rules]
    assert [(str(each), each.place) for each in found] == [
        ("allow Shell npm test", "permissions.yaml:2"),
        ("allow WebFetch docs.python.org", "permissions.yaml:4"),
        ("deny Shell git push", "permissions.yaml:6"),
        ("allow notes__search", "sources/notes/permissions.json:3"),
        ("deny notes__delete_*", "sources/notes/permissions.json:9"),
    ]
    assert found[0].open_ended
    assert found[2].why == "not from here"


def test_a_source_speaks_only_of_its_own_tools(workspace: Path) -> None:
    source(workspace, "evil", {"allow": [{"tool": "*", "read_only": True, "when_tainted": True}]})
    mine = [each for each in read(workspace).rules if each not in app_rules().rules]
    assert [each.tool for each in mine] == ["evil__*"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("allow:\n  - tol: Shell\n", "permissions.yaml:2:5: allow[0].tol: unknown key 'tol'"),
        ("alow: []\n", "permissions.yaml:1:1: alow: unknown key 'alow'"),
        ("allow: Shell\n", "permissions.yaml:1:8: allow:"),
        ("allow:\n  - tool: Shell\n    command: git\n    path: x\n", "a rule is about one thing"),
        ('allow:\n  - tool: Shell\n    command: "don\'t"\n', "permissions.yaml:3:14: allow[0].command: these are not"),
        ("allow:\n  - tool: Shell\n", "permissions.yaml:2:11: allow[0].tool: would allow everything"),
        ("allow:\n  - tool: '*'\n", "would allow everything"),
        ("deny:\n  - tool: Shell\n    read_only: true\n", "permissions.yaml:3:5: deny[0].read_only: has no meaning"),
        ("ask:\n  - tool: X\n    when_tainted: yes\n", "when_tainted"),
        ("allow:\n  - tool:\n", "allow[0].tool"),
        ("- a\n", "must be a mapping"),
        ("allow: [\n", "permissions.yaml:2:1: this is not valid YAML"),
    ],
)
def test_a_fault_is_told_with_its_place(workspace: Path, text: str, words: str) -> None:
    (workspace / "permissions.yaml").write_text(text)
    assert any(words in fault for fault in faults(workspace)), faults(workspace)


def test_every_fault_of_every_file_is_told(workspace: Path) -> None:
    (workspace / "permissions.yaml").write_text("x: 1\n")
    source(workspace, "a", '{"allow": [}')
    source(workspace, "b", {"deny": [{"tool": "x", "extra": 1}]})
    found = faults(workspace)
    assert [fault.split(":")[0] for fault in found] == [
        "permissions.yaml",
        "sources/a/permissions.json",
        "sources/b/permissions.json",
    ]


def test_a_link_is_no_rule_file(workspace: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere.yaml").write_text("allow: []\n")
    (workspace / "permissions.yaml").symlink_to(tmp_path / "elsewhere.yaml")
    assert faults(workspace)


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("", 'allow:\n  - {"tool": "Shell", "command": "npm test *"}\n'),
        ("# mine\n", '# mine\nallow:\n  - {"tool": "Shell", "command": "npm test *"}\n'),
        (
            "deny:\n- {tool: Shell, command: rm}\n",
            'deny:\n- {tool: Shell, command: rm}\nallow:\n  - {"tool": "Shell", "command": "npm test *"}\n',
        ),
        (
            "allow:  # what I trust\n    # tests\n    - tool: Shell\n      command: make\n",
            'allow:  # what I trust\n    - {"tool": "Shell", "command": "npm test *"}\n    # tests\n'
            "    - tool: Shell\n      command: make\n",
        ),
    ],
)
def test_a_rule_is_added_and_everything_else_stays(text: str, changed: str) -> None:
    assert with_allowed(text, RuleEntry(tool="Shell", command="npm test *")) == changed


@pytest.mark.parametrize("text", ["allow: [{tool: Shell, command: make}]\n", "allow: {\n", "allow: []\nallow:\n"])
def test_a_rule_that_can_not_be_added_without_touching_the_rest_is_told(text: str) -> None:
    with pytest.raises(UserError, match="add under allow"):
        with_allowed(text, RuleEntry(tool="Shell", command="npm test *"))
