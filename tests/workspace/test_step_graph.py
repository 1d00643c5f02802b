"""Random graphs: the order is a running order as near to the file's as can be; a circle is always found, and is one."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from weft.workspace.graph import dependents, in_running_order, upstream

Graph = Mapping[str, list[str]]


@st.composite
def graphs(draw: st.DrawFn, *, circles: bool) -> Graph:
    names = [f"s{number}" for number in range(draw(st.integers(1, 9)))]
    hidden = draw(st.permutations(names))
    choices = {name: names if circles else hidden[: hidden.index(name)] for name in names}
    return {
        name: draw(st.lists(st.sampled_from(choices[name]), unique=True, max_size=3)) if choices[name] else []
        for name in names
    }


@given(graphs(circles=False))
def test_without_circles_every_step_comes_after_what_it_requires(graph: Graph) -> None:
    order, circles = in_running_order(graph)
    assert circles == []
    assert sorted(order) == sorted(graph)
    for step, required in graph.items():
        assert all(order.index(name) < order.index(step) for name in required)


@given(graphs(circles=False))
def test_the_order_takes_the_first_step_of_the_file_that_can_run(graph: Graph) -> None:
    order, _ = in_running_order(graph)
    for place, step in enumerate(order):
        done = set(order[:place])
        ready = [name for name in graph if name not in done and done.issuperset(graph[name])]
        assert step == ready[0]


@given(graphs(circles=True))
def test_circles_are_found_exactly_when_there_are_any_and_each_is_one(graph: Graph) -> None:
    order, circles = in_running_order(graph)
    assert sorted(order) == sorted(graph)
    assert bool(circles) == any(step in upstream(graph, step) for step in graph)
    for circle in circles:
        assert len(set(circle)) == len(circle)
        for step, required in pairwise((*circle, circle[0])):
            assert required in graph[step]
        assert circle[0] == min(circle, key=list(graph).index)
    shown = [step for circle in circles for step in circle]
    assert len(shown) == len(set(shown))


@given(graphs(circles=True))
def test_upstream_and_dependents_are_each_others_mirror(graph: Graph) -> None:
    for step in graph:
        assert upstream(graph, step) == {name for name in graph if step in dependents(graph, name)}
        assert set(graph[step]) <= upstream(graph, step)


def test_a_requirement_that_does_not_exist_is_no_step() -> None:
    assert in_running_order({"a": ["ghost"]}) == (("a",), [])
    assert upstream({"a": ["ghost"]}, "a") == set()


def test_a_long_chain_needs_no_recursion() -> None:
    chain = {f"s{number}": [f"s{number - 1}"] if number else [] for number in range(3000)}
    assert in_running_order(chain) == (tuple(chain), [])
    assert len(upstream(chain, "s2999")) == 2999


def test_two_circles_are_both_shown() -> None:
    graph = {"a": ["b"], "b": ["a"], "c": ["d", "a"], "d": ["c"]}
    assert in_running_order(graph)[1] == [("a", "b"), ("c", "d")]
