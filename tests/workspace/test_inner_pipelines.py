"""A step that is another pipeline: what is wrong with it in words, and the one graph that comes of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pytest
from tests.workspace.conftest import AROUND, MakeWorkspace

from weft.protocol.errors import Problem, UsageError

CHILD: Final = """\
name: child
description: d
inputs: {text: {}, extra: {required: false}}
parameters: {n: {type: integer, default: 1, minimum: 0}, tone: {type: string, default: plain}}
depth: {quick: {n: 0}, standard: {}}
repair: [{steps: [x, y], rounds: n}]
steps:
  x: {artifact: x.json, code: 'make.py:a', checks: [{verbatim: {at: q, in: text}}]}
  y: {artifact: y.json, code: 'make.py:b', requires: [x], inputs: [], when: {parameter: tone, is: plain}}
  z: {artifact: z.json, code: 'make.py:a', requires: [y], inputs: [], final: true}
"""
HEAD: Final = """\
name: p
description: d
inputs: {source: {}}
parameters: {m: {type: integer, default: 3}, word: {type: string, default: plain}}
steps:
  a: {artifact: a.json, code: 'make.py:a'}
"""
FAULTS: Final[Mapping[str, tuple[str, str, str]]] = {
    "pipeline: chidl": ("pipeline", "unknown pipeline 'chidl'", "did you mean 'child'?"),
    "pipeline: draft": ("pipeline", "unknown pipeline 'draft'", "weft init --pack writing"),
    "pipeline: p": ("pipeline", "a step of itself: p -> p", "take one"),
    "pipeline: child": ("with", "needs the input 'text'", "{input: …}"),
    "pipeline: child, with: {text: {input: sauce}}": ("with.text.input", "unknown input 'sauce'", "source"),
    "pipeline: child, with: {text: hello}": ("with.text", "comes from an input or an artifact", "source"),
    "pipeline: child, with: {text: {artifact: a.json}}": (
        "with.text.artifact",
        "can't look at 'a.json'",
        "add that to 'requires'",
    ),
    "pipeline: child, with: {text: {input: source}, m: 1}": ("with.m", "no input or parameter 'm'", "n"),
    "pipeline: child, with: {text: {input: source}, n: -1}": ("with.n", "must be a whole number, at least 0", ""),
    "pipeline: child, with: {text: {input: source}, n: {parameter: word}}": (
        "with.n.parameter",
        "'n' is a integer, and the parameter 'word' a string",
        "types",
    ),
    "pipeline: child, with: {text: {input: source}, n: {parameter: k}}": ("parameter", "unknown parameter 'k'", ""),
    "pipeline: child, with: {text: {input: source}, n: {input: source}}": (
        "with.n",
        "is known before the run",
        "{parameter: …}",
    ),
    "pipeline: child, with: {text: {input: source}}, artifact: b.json": (
        "artifact",
        "nothing reads 'artifact'",
        "folder",
    ),
    "pipeline: child, requires: [a], with: {text: {input: source}}, map: {artifact: a.json, at: 'x[*]'}": (
        "map",
        "nothing in 'child' is given the item 'item'",
        "write with: {text: {input: item}}",
    ),
    "pipeline: child, requires: [a], map: {artifact: a.json, at: 'x[*]', as: text}, gate: {before: true}": (
        "gate.before",
        "one gate can't stand before all of them",
        "behind the step",
    ),
    "pipeline: child, requires: [a], map: {artifact: a.json, at: 'x[*]'}, with: {text: {input: item, at: 'y[*]'}}": (
        "with.text.at",
        "several values",
        "one of them",
    ),
    "pipeline: child, requires: [a], map: {artifact: a.json, at: 'x[*]', as: text}, finally: true": (
        "finally",
        "nothing reads 'finally'",
        "in the pipeline",
    ),
    "pipeline: child, requires: [a], map: {artifact: a.json, at: 'x[*]', as: text}, attempts: 2": (
        "attempts",
        "nothing reads 'attempts'",
        "own file",
    ),
    "pipeline: child, with: {text: {input: source}}, code: 'make.py:a'": ("pipeline", "not both", "remove one"),
}


def problems(make: MakeWorkspace, text: str, **others: str) -> list[Problem]:
    files = {f"pipelines/{name}.yaml": one for name, one in {"child": CHILD, **others, "p": text}.items()}
    return make({**AROUND, **files}).check_pipeline("p")


@pytest.mark.parametrize("written", FAULTS)
def test_a_fault_is_told_at_its_key_with_the_way_out(written: str, make_workspace: MakeWorkspace) -> None:
    key, message, hint = FAULTS[written]
    found = problems(make_workspace, f"{HEAD}  b: {{{written}, final: true}}\n")
    (problem,) = [one for one in found if message in one.message]
    assert hint in problem.hint
    assert problem.key.startswith("steps.b")
    assert problem.key.endswith(key)


def test_pipelines_that_hold_each_other_are_refused(make_workspace: MakeWorkspace) -> None:
    inner = "name: other\ndescription: d\nsteps: {s: {pipeline: p, final: true}}\n"
    found = problems(make_workspace, f"{HEAD}  b: {{pipeline: other, final: true}}\n", other=inner)
    assert [one.message for one in found] == ["these pipelines hold each other: p -> other -> p"]
    assert found[0].file == "pipelines/other.yaml"


def test_what_is_wrong_with_the_inner_one_is_told_once_and_alone(make_workspace: MakeWorkspace) -> None:
    text = HEAD + "  b: {pipeline: child, with: {text: {input: source}}}\n  c: {pipeline: child, final: true}\n"
    found = problems(make_workspace, text, child=CHILD.replace("tone, is", "tune, is"))
    assert [(one.file, one.message) for one in found] == [("pipelines/child.yaml", "unknown parameter 'tune'")]


def test_a_gate_stands_once(make_workspace: MakeWorkspace) -> None:
    gated = CHILD.replace("inputs: [], final: true", "inputs: [], gate: {}, final: true")
    text = HEAD + "  b: {pipeline: child, with: {text: {input: source}}, gate: {}, final: true}\n"
    (problem,) = problems(make_workspace, text, child=gated)
    assert problem.message == "the step 'z' of 'child' has a gate already"


OUTER: Final = (
    HEAD
    + """\
  b:
    pipeline: child
    requires: [a]
    with: {text: {artifact: a.json, at: text}, n: {parameter: m}}
    when: {artifact: a.json, at: good, is: true}
    budget: {usd: 1}
  c:
    artifact: c.json
    code: 'make.py:b'
    requires: [b]
    inputs: []
    parameters: [word]
    loop: {to: b, when: {artifact: c.json, at: again, is: true}, at_most: 1}
    final: true
"""
)


def test_one_graph_comes_of_it(make_workspace: MakeWorkspace) -> None:
    files = {"pipelines/child.yaml": CHILD, "pipelines/p.yaml": OUTER}
    pipeline = make_workspace({**AROUND, **files}).pipeline("p")
    assert {name: (one.requires, one.after) for name, one in pipeline.steps.items()} == {
        "a": ((), ()),
        "b.x": (("a",), ()),
        "b.y": (("b.x",), ("a",)),
        "b.z": (("b.y",), ("a",)),
        "c": (("b.z",), ()),
    }
    x, y = pipeline.steps["b.x"], pipeline.steps["b.y"]
    assert x.artifacts == ("b/x.json",)
    assert x.own.artifacts == ("x.json",)
    assert x.local("b/x.json") == "x.json"
    assert x.inside is not None
    assert {name: place.key for name, place in x.inside.taken.items()} == {"text": "a.json#text"}
    assert str(y.when) == "good of a.json is true and b.tone is plain"
    assert [(unit.kind, unit.steps, unit.most) for unit in pipeline.units] == [
        ("repair", ("b.x", "b.y"), "b.n"),
        ("loop", ("b.x", "b.y", "b.z", "c"), 1),
    ]
    (inner,) = pipeline.inner
    assert inner.steps == ("b.x", "b.y", "b.z")
    assert [str(one) for one in inner.budgets] == ["$1"]


def test_parameters_come_from_a_person_else_from_around_else_from_the_depth_else_from_the_file(
    make_workspace: MakeWorkspace,
) -> None:
    files = {"pipelines/child.yaml": CHILD, "pipelines/p.yaml": OUTER}
    pipeline = make_workspace({**AROUND, **files}).pipeline("p")
    named = ("m", "b.n", "b.tone", "b.depth")

    def values(**given: object) -> list[object]:
        found = pipeline.parameter_values({name.replace("__", "."): value for name, value in given.items()})
        return [found[name] for name in named]

    assert values() == [3, 3, "plain", "standard"]
    assert values(m="7") == [7, 7, "plain", "standard"]
    assert values(m=7, b__n=2, b__tone="dry") == [7, 2, "dry", "standard"]
    assert "b.n" not in pipeline.offered
    with pytest.raises(UsageError, match=r"unknown parameter 'b\.m'"):
        values(b__m=1)
    with pytest.raises(UsageError, match=r"'b\.n' must be a whole number, at least 0"):
        values(m=-2)
    free = make_workspace(
        {"pipelines/p.yaml": OUTER.replace(", n: {parameter: m}", ", depth: quick").replace("word]", "word, m]")}
    )
    assert free.pipeline("p").parameter_values({})["b.n"] == 0
