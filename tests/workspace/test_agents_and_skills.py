"""Agents and skills: what a good file gives, and every fault of a bad one with its place."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from weft.protocol.errors import Problem, UsageError, WorkspaceError
from weft.protocol.hashes import hash_bytes
from weft.workspace.agent import Agent
from weft.workspace.skill import Skill
from weft.workspace.workspace import Workspace

MakeWorkspace = Callable[[Mapping[str, str | bytes]], Workspace]

FILE = ".claude/agents/writer.md"
SKILL = ".claude/skills/tone/SKILL.md"
GOOD_SKILL = "---\nname: tone\ndescription: Tone\n---\nBe kind.\n"
FULL = """\
---
name: writer
description: Writes
model: big
tools: Read, Skill
sources: [notes, jira, notes]
skills: [tone]
embedded: make.py:a
color: green
---

Write well.
---
Not front matter.
"""
AROUND: Mapping[str, str] = {SKILL: GOOD_SKILL, "code/make.py": "def a(step): ...\n"}


def test_every_field_of_an_agent_arrives(make_workspace: MakeWorkspace) -> None:
    workspace = make_workspace({**AROUND, FILE: FULL})
    assert workspace.agent_names() == ["writer"]
    assert workspace.agent("writer") == Agent(
        name="writer",
        description="Writes",
        text="Write well.\n---\nNot front matter.",
        file=FILE,
        skills=("tone",),
        tools=("Read", "Skill"),
        sources=("notes", "jira"),
        model="big",
        embedded="make.py:a",
        hash=hash_bytes(FULL.encode()),
    )


def test_the_sources_that_a_skill_needs_are_those_of_whoever_has_it(make_workspace: MakeWorkspace) -> None:
    skill = "---\nname: tone\ndescription: Tone\nrequiredSources: [jira, notes]\n---\nBe kind.\n"
    agent = "---\nname: writer\ndescription: Writes\nsources: notes\nskills: [tone]\n---\nWrite.\n"
    assert make_workspace({SKILL: skill, FILE: agent}).agent("writer").sources == ("notes", "jira")


@pytest.mark.parametrize("tools", ["[Read, Skill]", "Read,Skill", "\n  - Read\n  - Skill"])
def test_a_list_may_be_written_in_three_ways(tools: str, make_workspace: MakeWorkspace) -> None:
    text = f"---\nname: writer\ndescription: Writes\ntools: {tools}\n---\nWrite.\n"
    assert make_workspace({FILE: text}).agent("writer").tools == ("Read", "Skill")


def test_a_byte_order_mark_and_windows_lines_are_forgiven(make_workspace: MakeWorkspace) -> None:
    text = b"\xef\xbb\xbf" + b"--- \r\nname: writer\r\ndescription: Writes\r\n---\r\n\r\nOne.\r\nTwo.\r\n"
    agent = make_workspace({FILE: text}).agent("writer")
    assert (agent.description, agent.text, agent.hash) == ("Writes", "One.\nTwo.", hash_bytes(text))


def test_a_minimal_agent_has_nothing_else(make_workspace: MakeWorkspace) -> None:
    agent = make_workspace({FILE: "---\nname: writer\ndescription: Writes\n---\nWrite."}).agent("writer")
    assert (agent.skills, agent.tools, agent.model, agent.embedded) == ((), (), None, None)


HEAD = "---\nname: writer\ndescription: Writes\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Write.\n",
            (1, 1, "", "the file does not begin with front matter"),
        ),
        (HEAD, (1, 1, "", "the front matter is never closed")),
        (HEAD + "tolls: Read\n---\nWrite.\n", (4, 1, "tolls", "unknown key 'tolls'")),
        (HEAD + "tools: 3\n---\nWrite.\n", (4, 8, "tools", "must be a list of names, not the number 3")),
        (HEAD + "model:\n---\nWrite.\n", (4, 1, "model", "has no value")),
        (HEAD + "skills: [tone, tine]\n---\nWrite.\n", (4, 16, "skills[1]", "unknown skill 'tine'")),
        (HEAD + "embedded: make.py:b\n---\nWrite.\n", (4, 11, "embedded", "code/make.py has no function 'b'")),
        (HEAD + "---\n\n", (6, 1, "", "there is no text below the front matter")),
        ("---\nname: writer\n---\nWrite.\n", (2, 1, "description", "'description' is missing")),
        (
            "---\nname: wroter\ndescription: Writes\n---\nWrite.\n",
            (2, 7, "name", "the name is 'wroter', but its place says 'writer'"),
        ),
        ("---\n- name\n---\nWrite.\n", (2, 1, "", "this must be a mapping of keys to values, not a list")),
        ("---\n\n---\nWrite.\n", (2, 1, "", "nothing is written here")),
        (
            "---\nname: writer\ndescription: Use it: often\n---\nWrite.\n",
            (3, 20, "", "a ': ' stands where no key can be"),
        ),
        (HEAD + "name: writer\n---\nWrite.\n", (4, 1, "name", "'name' stands here twice; the first is on line 2")),
    ],
)
def test_a_fault_of_an_agent_is_told_with_its_line(
    text: str, expected: tuple[int, int, str, str], make_workspace: MakeWorkspace
) -> None:
    with pytest.raises(WorkspaceError) as caught:
        make_workspace({**AROUND, FILE: text}).agent("writer")
    (problem,) = caught.value.problems
    assert problem.file == FILE
    assert (problem.line, problem.column, problem.key, problem.message) == expected


def test_hints_name_the_nearest_and_all_faults_come_at_once(make_workspace: MakeWorkspace) -> None:
    text = "---\nname: writer\ndescripton: Writes\nskills: [tine]\nembedded: mak.py:a\n---\n"
    with pytest.raises(WorkspaceError) as caught:
        make_workspace({**AROUND, FILE: text}).agent("writer")
    assert [(problem.key, problem.hint) for problem in caught.value.problems] == [
        ("descripton", "did you mean 'description'?"),
        ("skills[0]", "did you mean 'tone'?"),
        ("embedded", "did you mean 'make.py'?"),
        ("", "write what to do"),
    ]


def test_a_file_that_is_not_text_is_told_with_its_line(make_workspace: MakeWorkspace) -> None:
    with pytest.raises(WorkspaceError) as caught:
        make_workspace({FILE: b"---\nname: \xff\n"}).agent("writer")
    assert caught.value.problems == (Problem(FILE, "this is not UTF-8 text", 2, 7, hint="save the file as UTF-8"),)


def test_an_agent_that_uses_a_broken_skill_breaks_the_pipeline(make_workspace: MakeWorkspace) -> None:
    workspace = make_workspace(
        {
            FILE: HEAD + "skills: tone\n---\nWrite.\n",
            SKILL: "---\nname: tone\n---\nBe kind.\n",
            "pipelines/p.yaml": "name: p\ndescription: d\nsteps: {a: {artifact: a.md, agent: writer}}\n",
        }
    )
    (problem,) = workspace.check_pipeline("p")
    assert (problem.file, problem.key) == (SKILL, "description")


def test_an_unknown_agent_or_skill_is_answered_with_the_good_names(make_workspace: MakeWorkspace) -> None:
    workspace = make_workspace({**AROUND, FILE: FULL})
    with pytest.raises(UsageError) as agent:
        workspace.agent("writr")
    assert (agent.value.message, agent.value.hint) == (
        "unknown agent 'writr'; the agents are: writer",
        "did you mean 'writer'?",
    )
    with pytest.raises(UsageError, match=r"unknown skill '\.\./tone'; the skills are: tone"):
        workspace.skill("../tone")


# -- skills


def test_every_field_of_a_skill_arrives(make_workspace: MakeWorkspace) -> None:
    keys = "license: MIT\nmetadata: {by: us}\nallowed-tools: Read\nversion: 1\n"
    text = f"---\nname: tone\ndescription: Tone\n{keys}---\n\nHi.\n"
    assert make_workspace({SKILL: text}).skill("tone") == Skill("tone", "Tone", "Hi.", SKILL, hash_bytes(text.encode()))


def test_a_broken_skill_is_named_and_the_others_are_there(make_workspace: MakeWorkspace) -> None:
    workspace = make_workspace(
        {
            SKILL: GOOD_SKILL,
            ".claude/skills/torn/SKILL.md": "---\nname: torn\ndescriptio: x\n---\nHi.\n",
            ".claude/skills/empty/notes.md": "no skill in here",
            ".claude/skills/README.md": "not a folder",
        }
    )
    good, problems = workspace.skills()
    assert [skill.name for skill in good] == ["tone"]
    torn = ".claude/skills/torn/SKILL.md"
    assert problems == [
        Problem(torn, "unknown key 'descriptio'", 3, 1, "descriptio", "did you mean 'description'?"),
    ]


def test_a_link_in_place_of_a_skill_is_refused_not_followed(make_workspace: MakeWorkspace) -> None:
    workspace = make_workspace({SKILL: GOOD_SKILL, "outside.md": GOOD_SKILL.replace("tone", "linked")})
    folder = workspace.path / ".claude/skills/linked"
    folder.mkdir()
    (folder / "SKILL.md").symlink_to(workspace.path / "outside.md")
    good, (problem,) = workspace.skills()
    assert [skill.name for skill in good] == ["tone"]
    assert problem.file == ".claude/skills/linked/SKILL.md"
    assert "link" in problem.message
