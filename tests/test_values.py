"""Values whose methods are made on first use are the standard ones in every way that a program can see."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError
from typing import Any, ClassVar

import pytest

from weft.protocol import values


@values.dataclass(frozen=True, slots=True, kw_only=True)
class Lean:
    name: str
    count: int = 1
    tags: list[str] = values.field(default_factory=list, compare=False)
    kind: ClassVar[str] = "lean"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Standard:
    name: str
    count: int = 1
    tags: list[str] = dataclasses.field(default_factory=list, compare=False)
    kind: ClassVar[str] = "lean"


@values.dataclass
class Open:
    name: str
    size: int = values.field(default=0, repr=False)

    def __post_init__(self) -> None:
        self.size += len(self.name)


LOOKS: dict[str, Callable[[Any], Any]] = {
    "repr": lambda made: repr(made(name="a")).replace(made.__name__, "X"),
    "equal": lambda made: (made(name="a") == made(name="a", tags=["x"]), made(name="a") == made(name="b")),
    "hash": lambda made: hash(made(name="a", count=2)) == hash(("a", 2)),
    "fields": lambda made: [(one.name, one.kw_only, one.compare) for one in dataclasses.fields(made)],
    "replace": lambda made: dataclasses.asdict(dataclasses.replace(made(name="a"), count=5)),
    "pickle": lambda made: dataclasses.astuple(pickle.loads(pickle.dumps(made(name="a", tags=["x"])))),
    "copy": lambda made: dataclasses.astuple(copy.deepcopy(made(name="a", tags=["x"]))),
    "slots": lambda made: made.__slots__,
    "class variable": lambda made: made.kind,
}


@pytest.mark.parametrize("look", LOOKS)
def test_it_looks_the_same_as_the_standard_one(look: str) -> None:
    assert LOOKS[look](Lean) == LOOKS[look](Standard)


@pytest.mark.parametrize("made", [Lean, Standard])
def test_it_refuses_the_same(made: Any) -> None:
    one = made(name="a")
    for given, named in (((), {}), (("a",), {}), ((), {"name": "a", "odd": 1})):
        with pytest.raises(TypeError):
            made(*given, **named)
    with pytest.raises(FrozenInstanceError):
        one.name = "b"
    with pytest.raises(FrozenInstanceError):
        del one.name


def test_methods_are_made_once_and_only_when_they_are_used() -> None:
    @values.dataclass(frozen=True, slots=True)
    class Fresh:
        name: str

    assert hasattr(Fresh.__init__, "stands_in")
    one = Fresh("a")
    assert not hasattr(Fresh.__init__, "stands_in")
    assert hasattr(Fresh.__eq__, "stands_in")
    assert one == Fresh("a")
    assert not hasattr(Fresh.__eq__, "stands_in")
    assert one == Fresh("a")


def test_one_that_is_not_frozen_has_its_own_methods_called() -> None:
    one = Open("abc")
    one.size += 1
    assert (one.size, repr(one)) == (4, "Open(name='abc')")
    with pytest.raises(TypeError):
        hash(one)


@values.dataclass(frozen=True, slots=True)
class Checked:
    name: str

    def __post_init__(self) -> None:
        if not self.name:
            raise ValueError("a name is needed")


@pytest.mark.parametrize("one", [Lean(name="a", tags=["x"]), Standard(name="a"), Open("abc"), Checked("a")])
def test_a_value_with_other_fields_is_the_one_that_the_standard_library_makes(one: Any) -> None:
    before = repr(one)
    for changes in ({}, {"name": "b"}):
        mine, standard = values.replace(one, **changes), dataclasses.replace(one, **changes)
        assert (type(mine), repr(mine), mine == standard) == (type(one), repr(standard), True)
    assert repr(one) == before, "what it was made from stays"
    with pytest.raises(TypeError):
        values.replace(one, odd=1)


def test_one_that_checks_itself_is_checked_again() -> None:
    with pytest.raises(ValueError, match="a name is needed"):
        values.replace(Checked("a"), name="")
