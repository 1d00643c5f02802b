"""config.toml and profile.json: defaults without a file, every fault with its line, and the door itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from weft.protocol.errors import Problem, UsageError, UserError, WorkspaceError
from weft.workspace.config import Config
from weft.workspace.workspace import Workspace

MakeWorkspace = Callable[[Mapping[str, str | bytes]], Workspace]


def test_without_files_there_are_defaults(make_workspace: MakeWorkspace) -> None:
    workspace = make_workspace({})
    assert workspace.config() == Config(default_pipeline=None, concurrency=4, durable=True, model="embedded")
    assert workspace.profile() == {}
    assert workspace.pipeline_names() == workspace.agent_names() == []
    assert workspace.skills() == ([], [])
    with pytest.raises(UsageError) as caught:
        workspace.pipeline("digest")
    assert caught.value.message == "unknown pipeline 'digest': the workspace has none"
    assert caught.value.hint == "`weft init` lays some"


def test_every_setting_arrives(make_workspace: MakeWorkspace) -> None:
    text = 'default_pipeline = "kit"\nconcurrency = 9\ndurable = false\nmodel = "big"\n'
    expected = Config(default_pipeline="kit", concurrency=9, durable=False, model="big")
    assert make_workspace({"config.toml": text}).config() == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "# mine\nconcurency = 3\n",
            Problem("config.toml", "unknown key 'concurency'", 2, 1, "concurency", "did you mean 'concurrency'?"),
        ),
        (
            "concurrency = 65\n",
            Problem(
                "config.toml",
                "must be at most 64, not 65",
                1,
                15,
                "concurrency",
                "how many steps may run at the same time: 1 to 64",
            ),
        ),
        (
            'model = ""\n',
            Problem("config.toml", "may not be empty", 1, 9, "model", "the model of every step that names none"),
        ),
        (
            'model = """\ndurable = 1\n"""\n  durable = "no"\n',
            Problem(
                "config.toml",
                "must be true or false, not the text 'no'",
                4,
                13,
                "durable",
                "false: finished steps may be lost when the machine loses power; faster",
            ),
        ),
        (
            "[model]\nname = 1\n",
            Problem(
                "config.toml", "must be text, not a mapping", 1, 1, "model", "the model of every step that names none"
            ),
        ),
        ("durable = yes\n", Problem("config.toml", "this is not valid TOML: invalid value", 1, 11)),
        ('model = "big\n', Problem("config.toml", "this is not valid TOML: illegal character '\\n'", 1, 13)),
        ("durable =", Problem("config.toml", "this is not valid TOML: invalid value", 1, 10)),
    ],
)
def test_a_fault_of_the_settings_is_told_with_its_line(
    text: str, expected: Problem, make_workspace: MakeWorkspace
) -> None:
    with pytest.raises(WorkspaceError) as caught:
        make_workspace({"config.toml": text}).config()
    assert caught.value.problems == (expected,)


def test_the_profile_is_any_object(make_workspace: MakeWorkspace) -> None:
    workspace = make_workspace({"profile.json": '\ufeff{"topics": ["ai"], "style": {"tone": "expert"}}'})
    assert workspace.profile() == {"topics": ["ai"], "style": {"tone": "expert"}}


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ('{\n  "topics": [\n}', 3, 1, "this is not valid JSON: expecting value"),
        ("[]", 1, 1, "the profile is an object of names and values, not a list"),
    ],
)
def test_a_broken_profile_is_told_with_its_line(
    text: str, line: int, column: int, message: str, make_workspace: MakeWorkspace
) -> None:
    with pytest.raises(WorkspaceError) as caught:
        make_workspace({"profile.json": text}).profile()
    (problem,) = caught.value.problems
    assert (problem.file, problem.line, problem.column, problem.message) == ("profile.json", line, column, message)


# -- the door


def test_a_workspace_that_is_not_there_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(UserError) as missing:
        Workspace.open(tmp_path / "none")
    assert missing.value.message == f"the workspace {tmp_path / 'none'} is not there"
    assert "weft init" in missing.value.hint
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="is not a folder"):
        Workspace.open(tmp_path / "file")


def test_a_pipeline_that_is_a_link_or_too_large_is_a_problem_not_a_crash(make_workspace: MakeWorkspace) -> None:
    workspace = make_workspace({"elsewhere.yaml": "", "pipelines/large.yaml": "#" * (2**20 + 1)})
    (workspace.path / "pipelines/link.yaml").symlink_to(workspace.path / "elsewhere.yaml")
    (link,) = workspace.check_pipeline("link")
    assert (link.file, "link" in link.message) == ("pipelines/link.yaml", True)
    (large,) = workspace.check_pipeline("large")
    assert (large.file, "the limit is 1,048,576" in large.message) == ("pipelines/large.yaml", True)
