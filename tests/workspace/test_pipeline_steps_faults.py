"""Faults of steps, what makes them and how they depend on each other: one case each, with place, key and hint."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest

from weft.protocol.errors import Problem

HEAD: Final = "name: p\ndescription: d\n"
STEP: Final = "steps:\n  a:\n    artifact: a.json\n    code: make.py:a\n"
TWO: Final = STEP + "  b:\n    artifact: b.json\n    code: make.py:b\n    final: true\n"


def at(line: int, column: int, key: str, message: str, hint: str = "", file: str = "pipelines/p.yaml") -> Problem:
    return Problem(file, message, line, column, key, hint)


CASES: Final = {
    "steps and outputs": (
        HEAD + STEP + "outputs: {}\n",
        [
            at(
                7,
                1,
                "outputs",
                "'outputs' is the older word for 'steps'; a file has one of them",
                "move what is in 'outputs' to 'steps'",
            )
        ],
    ),
    "older word": (
        HEAD + STEP.replace("steps", "outputs") + "    requires: [x]\n",
        [at(7, 16, "outputs.a.requires[0]", "unknown step 'x'", "the steps are: a")],
    ),
    "bad step name": (
        HEAD + "steps:\n  A b:\n    artifact: a.json\n    code: make.py:a\n",
        [
            at(
                4,
                3,
                "steps.A b",
                "'A b' is not a good name",
                "a name is small letters, digits, _ and -, at most 64, beginning with a letter or digit",
            )
        ],
    ),
    "bad artifact name": (
        HEAD + STEP.replace("a.json", "../a.json"),
        [
            at(
                5,
                15,
                "steps.a.artifact",
                "'../a.json' can't be an artifact's name",
                "an artifact is a plain file name with an ending, such as summary.json (no folders, no leading dot)",
            )
        ],
    ),
    "machine artifact": (
        HEAD + STEP.replace("a.json", "session.json"),
        [
            at(
                5,
                15,
                "steps.a.artifact",
                "'session.json' can't be an artifact's name",
                "session.json is a file the session keeps for itself",
            )
        ],
    ),
    "neither artifact": (
        HEAD + "steps:\n  a:\n    code: make.py:a\n",
        [at(4, 3, "steps.a", "this step makes nothing: 'artifact' is missing", "add 'artifact: a.json'")],
    ),
    "both artifacts": (
        HEAD + STEP + "    artifacts: [b.json]\n",
        [at(7, 5, "steps.a.artifacts", "a step has 'artifact' or 'artifacts', not both", "remove one of them")],
    ),
    "no artifacts": (
        HEAD + "steps:\n  a:\n    artifacts: []\n    code: make.py:a\n",
        [at(5, 16, "steps.a.artifacts", "may not be empty", "name what the step makes")],
    ),
    "artifact twice in a step": (
        HEAD + "steps:\n  a:\n    artifacts: [a.json, a.json]\n    code: make.py:a\n",
        [at(5, 25, "steps.a.artifacts[1]", "'a.json' is named twice", "remove one of them")],
    ),
    "two steps, one artifact": (
        HEAD + TWO.replace("b.json", "a.json"),
        [at(8, 15, "steps.b.artifact", "the step 'a' makes 'a.json' already", "give one of them another name")],
    ),
    "two steps, one artifact but for case": (
        HEAD + TWO.replace("b.json", "A.json"),
        [at(8, 15, "steps.b.artifact", "the step 'a' makes 'A.json' already", "give one of them another name")],
    ),
    "neither code nor agent": (
        HEAD + "steps:\n  a:\n    artifact: a.json\n",
        [
            at(
                4,
                3,
                "steps.a",
                "nothing makes this step's artifact: it has neither 'code' nor 'agent' nor 'tool' nor 'pipeline'",
                "add 'code: file.py:function', 'agent: name', 'tool: Name' or 'pipeline: name'",
            )
        ],
    ),
    "code and agent": (
        HEAD + STEP + "    agent: writer\n",
        [at(7, 5, "steps.a.agent", "a step has 'code' or 'agent', not both", "remove one of them")],
    ),
    "code is no reference": (
        HEAD + STEP.replace("make.py:a", "make"),
        [
            at(
                6,
                11,
                "steps.a.code",
                "'make' is not a file and a function",
                "write file.py:function, with the file in code/",
            )
        ],
    ),
    "missing code file": (
        HEAD + STEP.replace("make.py", "mak.py"),
        [at(6, 11, "steps.a.code", "there is no code/mak.py", "did you mean 'make.py'?")],
    ),
    "missing function": (
        HEAD + STEP.replace("make.py:a", "make.py:summarise"),
        [at(6, 11, "steps.a.code", "code/make.py has no function 'summarise'", "the functions of make.py are: a, b")],
    ),
    "a method is no function": (
        HEAD + STEP.replace("make.py:a", "make.py:method"),
        [at(6, 11, "steps.a.code", "code/make.py has no function 'method'", "the functions of make.py are: a, b")],
    ),
    "broken code file": (
        HEAD + STEP.replace("make.py", "torn.py"),
        [at(2, 12, "", "this is not valid Python: '(' was never closed", file="code/torn.py")],
    ),
    "model of a code step": (
        HEAD + STEP + "    model: big\n",
        [
            at(
                7,
                5,
                "steps.a.model",
                "nothing reads 'model' in a step with 'code'",
                "remove it, or give the step an agent",
            )
        ],
    ),
    "unknown agent": (
        HEAD + STEP.replace("code: make.py:a", "agent: writr"),
        [at(6, 12, "steps.a.agent", "unknown agent 'writr'", "did you mean 'writer'?")],
    ),
    "broken agent": (
        HEAD + STEP.replace("code: make.py:a", "agent: odd"),
        [at(4, 1, "tolls", "unknown key 'tolls'", "did you mean 'tools'?", file=".claude/agents/odd.md")],
    ),
    "unknown skill": (
        HEAD + STEP + "    skills: [tones]\n",
        [at(7, 14, "steps.a.skills[0]", "unknown skill 'tones'", "did you mean 'tone'?")],
    ),
    "broken skill": (
        HEAD + STEP + "    skills: [torn]\n",
        [
            at(
                1,
                1,
                "",
                "the front matter is never closed",
                "end it with a line of its own that holds only ---",
                file=".claude/skills/torn/SKILL.md",
            )
        ],
    ),
    "skill twice": (
        HEAD + STEP + "    skills: [tone, tone]\n",
        [at(7, 20, "steps.a.skills[1]", "'tone' is named twice", "remove one of them")],
    ),
    "odd profile part": (
        HEAD + STEP + "    profile: [topics, style..tone]\n",
        [at(7, 23, "steps.a.profile[1]", "'style..tone' is not a part of the profile", "write topics, or style.tone")],
    ),
    "unknown requirement": (
        HEAD + TWO + "    requires: [aa]\n",
        [at(11, 16, "steps.b.requires[0]", "unknown step 'aa'", "did you mean 'a'?")],
    ),
    "requires an artifact": (
        HEAD + TWO + "    requires: [a.json]\n",
        [at(11, 16, "steps.b.requires[0]", "unknown step 'a.json'", "it is made by the step 'a': write that")],
    ),
    "requires twice": (
        HEAD + TWO + "    requires: [a, a]\n",
        [at(11, 19, "steps.b.requires[1]", "'a' is named twice", "remove one of them")],
    ),
    "requires itself": (
        HEAD + STEP + "    requires: [a]\n",
        [
            at(
                7,
                16,
                "steps.a.requires[0]",
                "this step requires itself: a -> a",
                "take 'a' out of the 'requires' of 'a', or break it elsewhere",
            )
        ],
    ),
    "circle": (
        HEAD + TWO.replace("make.py:a\n", "make.py:a\n    requires: [b]\n") + "    requires: [a]\n",
        [
            at(
                7,
                16,
                "steps.a.requires[0]",
                "these steps require each other in a circle: a -> b -> a",
                "take 'b' out of the 'requires' of 'a', or break it elsewhere",
            )
        ],
    ),
    "no final, one end": (
        HEAD + TWO.replace("final: true", "requires: [a]"),
        [at(3, 1, "steps", "no step is final", "add 'final: true' to 'b', which no other step requires")],
    ),
    "no final, two ends": (
        HEAD + TWO.replace("    final: true\n", ""),
        [at(3, 1, "steps", "no step is final", "add 'final: true' to one of: a, b")],
    ),
    "two finals": (
        HEAD + TWO.replace("make.py:a\n", "make.py:a\n    final: true\n"),
        [
            at(
                11,
                12,
                "steps.b.final",
                "'b' is final, but so is 'a' on line 7",
                "a pipeline has one final step: remove one 'final: true'",
            )
        ],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_fault_is_told_with_its_place_and_the_way_out(case: str, problems_of: Callable[[str], list[Problem]]) -> None:
    text, expected = CASES[case]
    assert problems_of(text) == expected
