"""`dataclass` as in the standard library, with what is not needed for a class to stand there made on first use.

A program of many small values spends a third of its start on methods that it never calls: the standard decorator writes
and compiles six functions for every class and looks at every field. Here a class gets its slots at once, and stand-ins
that make the real method, or the list of fields, when it is first asked for and put it in their place; from then on
nothing differs. Type checkers see the standard decorator. A class that inherits, is ordered or has fields of a special
kind is made at once.
"""

from __future__ import annotations

import dataclasses
import inspect
from typing import TYPE_CHECKING

__all__ = ["dataclass", "field", "fields", "replace"]

from dataclasses import field, fields

if TYPE_CHECKING:
    from dataclasses import dataclass, replace
else:
    _COPIERS = {}

    def replace(value, /, **changes):
        """As in the standard library, in less than half the time for a class of slots: the copy takes over what is in
        the slots instead of being made from its fields one by one. A class that checks itself is made anew."""
        cls = type(value)
        if (found := _COPIERS.get(cls)) is None:
            found = _COPIERS[cls] = _copier(cls)
        copy, setters = found
        if copy is None or not setters.keys() >= changes.keys():
            return dataclasses.replace(value, **changes)
        made = copy(value)
        for name, one in changes.items():
            setters[name](made, one)
        return made

    def _copier(cls):
        names = cls.__dict__.get("__slots__")
        made = names is not None and cls.__bases__ == (object,) and not hasattr(cls, "__post_init__")
        if not made or [one.name for one in fields(cls) if one.init] != [*names]:
            return None, {}
        setters = {name: getattr(cls, name).__set__ for name in names}
        puts = "".join(f"    put{number}(made, old.{name})\n" for number, name in enumerate(names))
        known = {f"put{number}": setters[name] for number, name in enumerate(names)} | {
            "cls": cls,
            "new": object.__new__,
        }
        exec(f"def copy(old):\n    made = new(cls)\n{puts}    return made", known)
        return known["copy"], setters

    _LATER = frozenset({"frozen", "slots", "kw_only"})
    _AT_ONCE = ("InitVar", "KW_ONLY")

    def dataclass(cls=None, /, **options):
        if cls is None:
            return lambda cls: dataclass(cls, **options)
        annotations = inspect.get_annotations(cls)
        kinds = {name: str(kind) for name, kind in annotations.items()}
        special = any(mark in kind for kind in kinds.values() for mark in _AT_ONCE)
        if special or cls.__bases__ != (object,) or not _LATER.issuperset(options):
            return dataclasses.dataclass(cls, **options)
        frozen, slots = options.get("frozen", False), options.get("slots", False)
        names = [name for name, kind in kinds.items() if "ClassVar" not in kind]
        own = dict(cls.__dict__)
        body = {"__annotations__": annotations, "__module__": cls.__module__, "__doc__": "a twin"}
        body.update({name: own[name] for name in annotations if name in own})
        if "__post_init__" in own:
            body["__post_init__"] = own["__post_init__"]
        twin = _Twin(cls.__name__, body, frozen, options.get("kw_only", False))
        made = _with_slots(cls, own, names) if slots else _with_defaults(cls, own, names)
        if not made.__doc__:
            made.__doc__ = f"{cls.__name__}(…)"  # the standard decorator would look up the signature of every class
        made.__match_args__ = _Later("__match_args__", twin)
        made.__dataclass_fields__ = _Later("__dataclass_fields__", twin)
        made.__dataclass_params__ = _Later("__dataclass_params__", twin)
        methods = ["__init__", "__repr__", "__eq__"]
        if frozen:
            methods.append("__hash__")
            made.__setattr__, made.__delattr__ = _refuse_setting, _refuse_deleting
            if slots:
                made.__getstate__, made.__setstate__ = _state, _set_state
        for name in methods:
            if own.get(name) is None:
                setattr(made, name, _stand_in(made, name, twin))
        if not frozen and "__hash__" not in own:
            made.__hash__ = None
        return made

    def _with_slots(cls, own, names):
        for name in (*names, "__dict__", "__weakref__"):
            own.pop(name, None)
        made = type(cls)(cls.__name__, cls.__bases__, {**own, "__slots__": tuple(names)})
        made.__qualname__ = cls.__qualname__
        return made

    def _with_defaults(cls, own, names):
        for name in names:
            if isinstance(default := own.get(name), dataclasses.Field):
                if default.default is dataclasses.MISSING:
                    delattr(cls, name)
                else:
                    setattr(cls, name, default.default)
        return cls

    class _Twin:
        """A class with the same fields, for which the standard library makes what is asked for."""

        def __init__(self, name, body, frozen, kw_only):
            self.name, self.body, self.frozen, self.kw_only = name, body, frozen, kw_only

        def get(self, name):
            wanted = {"init": name == "__init__", "repr": name == "__repr__", "eq": name in ("__eq__", "__hash__")}
            if any(wanted.values()):
                wanted["frozen"] = self.frozen
            elif name == "__dataclass_params__":
                wanted = {"frozen": self.frozen}
            made = dataclasses.dataclass(type(self.name, (), dict(self.body)), kw_only=self.kw_only, **wanted)
            return getattr(made, name)

    class _Later:
        """An attribute of a class that is made when it is first read."""

        def __init__(self, name, twin):
            self.name, self.twin = name, twin

        def __get__(self, _, made):
            real = self.twin.get(self.name)
            setattr(made, self.name, real)
            return real

    def _stand_in(made, name, twin):
        def first(self, *given, **named):
            real = twin.get(name)
            real.__qualname__ = f"{made.__qualname__}.{name}"
            setattr(made, name, real)
            return real(self, *given, **named)

        first.stands_in = True
        first.__name__, first.__qualname__ = name, f"{made.__qualname__}.{name}"
        return first

    def _refuse_setting(self, name, value):
        raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")

    def _refuse_deleting(self, name):
        raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")

    def _state(self):
        return [getattr(self, one.name) for one in dataclasses.fields(self)]

    def _set_state(self, state):
        for one, value in zip(dataclasses.fields(self), state, strict=True):
            object.__setattr__(self, one.name, value)
