"""Values whose methods are made on first use are the standard ones in every way that a program can see."""

from __future__ import annotations

import copy
import dataclasses
import inspect
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


@values.dataclass(frozen=True, kw_only=True)
class Heir(Lean):
    more: int = 0


@values.dataclass
class Open:
    name: str
    size: int = values.field(default=0, repr=False)

    def __post_init__(self) -> None:
        self.size += len(self.name)


def shown(made: Any) -> str:
    return str(inspect.signature(made))


LOOKS: dict[str, Callable[[Any], Any]] = {
    "repr": lambda made: repr(made(name="a")).replace(made.__name__, "X"),
    "equal": lambda made: (made(name="a") == made(name="a", tags=["x"]), made(name="a") == made(name="b")),
    "hash": lambda made: hash(made(name="a", count=2)) == hash(("a", 2)),
    "fields": lambda made: [(one.name, one.kw_only, one.compare) for one in dataclasses.fields(made)],
    "replace": lambda made: dataclasses.asdict(dataclasses.replace(made(name="a"), count=5)),
    "pickle": lambda made: dataclasses.astuple(pickle.loads(pickle.dumps(made(name="a", tags=["x"])))),
    "copy": lambda made: dataclasses.astuple(copy.deepcopy(made(name="a", tags=["x"]))),
    "slots": lambda made: made.__slots__,
    "signature": lambda made: shown(made).replace("<factory>", "…"),
    "class variable": lambda made: made.kind,
}


def test_a_signature_is_that_of_the_class_that_is_asked() -> None:
    assert shown(Heir) == "(*, name: 'str', count: 'int' = 1, tags: 'list[str]' = <factory>, more: 'int' = 0) -> None"
    assert shown(Open) == "(name: 'str', size: 'int' = 0) -> None"
    assert Open("ab").size == 2, "as before it was asked"


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

    one = Fresh("a")
    assert hasattr(Fresh.__init__, "stands_in"), "the first few are filled in without one"
    many = [Fresh(str(number)) for number in range(100)]
    assert not hasattr(Fresh.__init__, "stands_in")
    assert [each.name for each in many] == [str(number) for number in range(100)]
    assert hasattr(Fresh.__eq__, "stands_in")
    assert one == Fresh("a")
    assert not hasattr(Fresh.__eq__, "stands_in")
    assert one == Fresh("a")


LEAN_AND_STANDARD = pytest.mark.parametrize(
    "decorate", [values.dataclass, dataclasses.dataclass], ids=["lean", "standard"]
)


class Filled:
    name: str = dataclasses.field(repr=False)
    size: int = 1
    tags: list[str] = dataclasses.field(default_factory=list)
    seen: str = dataclasses.field(default="no", compare=False)

    def __post_init__(self) -> None:
        self.tags.append(self.name)


class Given:
    name: str
    kind: str = dataclasses.field()
    size: int = 1


class Special:
    name: str
    late: str = dataclasses.field(init=False, default="late")
    only: int = dataclasses.field(kw_only=True, default=1)


class Shared:
    tags: Any = []  # noqa: RUF012  what is wrong with it is the test


def made_anew(decorate: Any, given: type, **options: bool) -> Any:
    """A class of its own for each test: what it has made already is not another's."""
    return decorate(type(given.__name__, (), dict(given.__dict__)), **options)


SLOTTED = pytest.mark.parametrize("options", [{}, {"frozen": True, "slots": True}], ids=["open", "slots"])


@LEAN_AND_STANDARD
@SLOTTED
def test_the_first_instance_and_the_hundredth_are_filled_in_alike(decorate: Any, options: dict[str, bool]) -> None:
    made = made_anew(decorate, Filled, **options)
    every = [made("a", tags=["x"], seen="yes") if number % 2 else made("b", 2) for number in range(100)]
    assert [dataclasses.astuple(one) for one in every] == [("b", 2, ["b"], "no"), ("a", 1, ["x", "a"], "yes")] * 50


@LEAN_AND_STANDARD
@SLOTTED
@pytest.mark.parametrize("before", [0, 100], ids=["the first", "later"])
def test_what_is_given_wrongly_is_refused(decorate: Any, before: int, options: dict[str, bool]) -> None:
    made = made_anew(decorate, Given, **options)
    for number in range(before):
        assert made("a", "b", number).size == number
    wrong: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
        ((), {}),
        (("a",), {}),
        (("a", "b", 1, 2), {}),
        (("a", "b"), {"name": "c"}),
        (("a", "b"), {"odd": 1}),
        ((), {"name": "a", "size": 1}),
    ]
    for given, named in wrong:
        with pytest.raises(TypeError):
            made(*given, **named)


@LEAN_AND_STANDARD
def test_what_is_given_by_name_alone_is_so_for_the_hundredth_too(decorate: Any) -> None:
    @decorate(frozen=True, slots=True, kw_only=True)
    class Named:
        name: str
        size: int = 1
        tags: list[str] = dataclasses.field(default_factory=list)

    made: Any = Named
    assert all(one.kw_only for one in dataclasses.fields(made)), (
        "asked before there is one: its fields say so from then"
    )
    for number in range(100):
        assert dataclasses.astuple(made(name="a", size=number)) == ("a", number, [])
        with pytest.raises(TypeError):
            made("a")
    assert made(name="a").tags is not made(name="a").tags


@LEAN_AND_STANDARD
def test_fields_of_a_special_kind_are_filled_in_as_ever(decorate: Any) -> None:
    made = made_anew(decorate, Special)
    assert dataclasses.astuple(made("a", only=2)) == ("a", "late", 2)
    with pytest.raises(TypeError):
        made("a", "b", 2)
    with pytest.raises(ValueError, match="mutable default"):
        made_anew(decorate, Shared)()


def test_one_that_inherits_from_it_keeps_all_of_its_fields() -> None:
    assert dataclasses.astuple(pickle.loads(pickle.dumps(Heir(name="a", more=2)))) == ("a", 1, [], 2)
    assert Heir(name="a") == Heir(name="a")
    assert Heir(name="a") != Lean(name="a")


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
