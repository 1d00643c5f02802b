"""An agent's file as people write it: the keys of its front matter, and what they must fit."""

from __future__ import annotations

from functools import lru_cache

from pydantic import Field

from weft.files import Folder
from weft.protocol.errors import Problem, WorkspaceError
from weft.workspace.agent import FOLDER, Agent
from weft.workspace.code_file import function_fault
from weft.workspace.document import MarkedDocument, SourceFile, in_order, read_source
from weft.workspace.fields import NameList, OptionalText, Strict, Text
from weft.workspace.front_matter import FrontMatter, parse_front_matter, read_front
from weft.workspace.names import has_skill, skill_names
from weft.workspace.skill_file import read_skill
from weft.workspace.spelling import suggest


class AgentFront(Strict):
    name: Text = Field(description="The agent's name: the same as the file's name without .md")
    description: Text = Field(description="What the agent does, in one sentence")
    model: OptionalText = Field(default=None, description="The model it works with; else the workspace's")
    tools: NameList = Field(default=[], description="The tools it may use: a list, or names with commas between them")
    sources: NameList = Field(
        default=[], description="The sources whose tools it may use: a list, or slugs with commas between them"
    )
    skills: NameList = Field(
        default=[], description="The skills it is given: a list, or names with commas between them"
    )
    embedded: OptionalText = Field(
        default=None, description="What runs when no model is connected: file.py:function in code/"
    )
    profile: NameList = Field(default=[], description="Parts of profile.json that its steps read, such as topics")
    artifacts: NameList = Field(
        default=[],
        description="Artifacts of earlier steps that its steps read, also where they require those by way of others",
    )
    makes: NameList = Field(
        default=[], description="Artifacts that its steps make too, unless another step of the pipeline does"
    )
    color: OptionalText = Field(default=None, description="The colour other tools show it in")


def read_agent(folder: Folder, name: str) -> Agent:
    """FileNotFoundError when it is not there, WorkspaceError when it is broken or names what is not there."""
    source = read_source(folder, f"{FOLDER}/{name}.md")
    found, front, wrong = _parsed(source, name)
    problems = list(wrong)
    if front is not None:
        problems += _references(folder, front, found.document)
    if problems or front is None:
        raise WorkspaceError(in_order(problems, source.file))
    return Agent(
        name=front.name,
        description=front.description,
        text=found.body,
        file=source.file,
        skills=tuple(front.skills),
        tools=tuple(front.tools),
        sources=tuple(dict.fromkeys([*front.sources, *_required(folder, front)])),
        model=front.model,
        embedded=front.embedded,
        hash=source.hash,
        profile=tuple(front.profile),
        artifacts=tuple(front.artifacts),
        makes=tuple(front.makes),
    )


@lru_cache(maxsize=256)
def _parsed(source: SourceFile, name: str) -> tuple[FrontMatter, AgentFront | None, tuple[Problem, ...]]:
    """What its file says by itself: an agent is asked for by every step that it makes, and parsed once."""
    found = parse_front_matter(source)
    front, problems = read_front(AgentFront, source, name, found)
    return found, front, tuple(problems)


def _required(folder: Folder, front: AgentFront) -> list[str]:
    """The sources that its skills need; what is wrong with a skill is told of the skill."""
    found: list[str] = []
    for skill in front.skills:
        try:
            found += read_skill(folder, skill).sources
        except (FileNotFoundError, WorkspaceError):
            continue
    return found


def _references(folder: Folder, front: AgentFront, document: MarkedDocument) -> list[Problem]:
    problems = []
    for index, skill in enumerate(front.skills):
        if not has_skill(folder, skill):
            hint = suggest(skill, skill_names(folder), "skills")
            problems.append(document.at_value(("skills", index), f"unknown skill '{skill}'", hint))
    if front.embedded is not None:
        try:
            if fault := function_fault(folder, front.embedded):
                problems.append(document.at_value(("embedded",), *fault))
        except WorkspaceError as error:
            problems.extend(error.problems)
    return problems
