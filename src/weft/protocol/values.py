"""`dataclass` as in the standard library, with methods that are made when they are first used.

A program of many small values spends a third of its start on methods that it never calls: the standard decorator writes
and compiles six functions for every class. Here a class gets its fields and its slots at once, and stand-ins that make
the real methods on the first call and put them in their place; from then on nothing differs. Type checkers see the
standard decorator. A class with a base that is a dataclass, or that is ordered, is made at once.
"""

from __future__ import annotations

import dataclasses
import inspect
from typing import TYPE_CHECKING

__all__ = ["dataclass", "field", "fields", "replace"]

from dataclasses import field, fields, replace

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(cls=None, /, **options):
        if cls is None:
            return lambda cls: dataclass(cls, **options)
        if any(dataclasses.is_dataclass(base) for base in cls.__mro__) or not _LATER.issuperset(options):
            return dataclasses.dataclass(cls, **options)
        frozen = options.get("frozen", False)
        if not cls.__doc__:
            cls.__doc__ = f"{cls.__name__}(…)"  # the standard decorator would look up the signature of every class
        made = dataclasses.dataclass(cls, **{**options, "init": False, "repr": False, "eq": False, "frozen": False})
        params = made.__dataclass_params__
        params.init, params.repr, params.eq, params.frozen = True, True, True, frozen
        own = made.__dict__
        methods = ["__init__", "__repr__", "__eq__"]
        if frozen:
            methods.append("__hash__")
            made.__setattr__, made.__delattr__ = _refuse_setting, _refuse_deleting
            if options.get("slots"):
                made.__getstate__, made.__setstate__ = _state, _set_state
        for name in methods:
            if (name == "__hash__" and own.get(name) is None) or name not in own:
                setattr(made, name, _stand_in(made, name))
        if not frozen and "__hash__" not in own:
            made.__hash__ = None
        return made

    _LATER = frozenset({"frozen", "slots", "kw_only"})

    def _stand_in(made, name):
        def first(self, *given, **named):
            _finish(made)
            return getattr(made, name)(self, *given, **named)

        first.stands_in = True
        first.__name__, first.__qualname__ = name, f"{made.__qualname__}.{name}"
        return first

    def _finish(made):
        """The standard library makes the methods for a twin with the same fields, and they are taken over."""
        names = list(made.__dataclass_fields__)
        body = {"__annotations__": inspect.get_annotations(made), "__module__": made.__module__}
        for name in names:
            one = made.__dataclass_fields__[name]
            if one._field_type is dataclasses._FIELD:
                given = {part: getattr(one, part) for part in _PARTS}
                body[name] = dataclasses.field(default=one.default, default_factory=one.default_factory, **given)
            elif one.default is not dataclasses.MISSING:
                body[name] = one.default
        if hasattr(made, "__post_init__"):
            body["__post_init__"] = made.__post_init__
        frozen = made.__dataclass_params__.frozen
        twin = dataclasses.dataclass(frozen=frozen)(type(made.__name__, (), body))
        for name in ("__init__", "__repr__", "__eq__", "__hash__"):
            if getattr(made.__dict__.get(name), "stands_in", False):
                real = getattr(twin, name)
                real.__qualname__ = f"{made.__qualname__}.{name}"
                setattr(made, name, real)

    _PARTS = ("init", "repr", "hash", "compare", "metadata", "kw_only")

    def _refuse_setting(self, name, value):
        raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")

    def _refuse_deleting(self, name):
        raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")

    def _state(self):
        return [getattr(self, one.name) for one in dataclasses.fields(self)]

    def _set_state(self, state):
        for one, value in zip(dataclasses.fields(self), state, strict=True):
            object.__setattr__(self, one.name, value)
