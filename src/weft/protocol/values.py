"""`dataclass` as in the standard library, with what is not needed for a class to stand there made on first use.

A program of many small values spends a third of its start on methods that it never calls: the standard decorator writes
and compiles six functions for every class and looks at every field. Here a class gets its slots at once, and stand-ins
that all classes share; when one is first used, the real method, or the list of fields, is made and put in its place.
The first few instances are filled in without an `__init__`: most classes have no more of them in the life of a command,
and to compile one takes as long as to fill in a hundred. From then on a frozen class of slots is filled in faster, and
nothing else differs. Type checkers see the standard
decorator. A class that inherits, is ordered or has fields of a special kind is made at once.
"""

from __future__ import annotations

import dataclasses
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
    _FEW = 16

    def dataclass(cls=None, /, **options):
        if cls is None:
            return lambda cls: dataclass(cls, **options)
        if cls.__bases__ != (object,) or not _LATER.issuperset(options):
            return dataclasses.dataclass(cls, **options)
        annotations = cls.__annotations__
        kinds = " ".join(map(str, annotations.values()))
        if any(mark in kinds for mark in _AT_ONCE):
            return dataclasses.dataclass(cls, **options)
        names = tuple(annotations)
        if "ClassVar" in kinds:
            names = tuple(name for name in names if "ClassVar" not in str(annotations[name]))
        own = dict(cls.__dict__)
        frozen, slots = options.get("frozen", False), options.get("slots", False)
        twin = _Twin(cls, own, names, frozen, options.get("kw_only", False))
        added = {name: first for name, first in _STAND_INS.items() if own.get(name) is None}
        added.update(_LISTS, __twin__=twin)
        if frozen:
            added.update(_REFUSALS)
            if slots:
                added.update(_STATE)
        else:
            added["__hash__"] = own.get("__hash__")
        if not own.get("__doc__"):
            added["__doc__"] = f"{cls.__name__}(…)"  # the standard decorator would look up the signature of every class
        twin.made = _with_slots(cls, own, names, added) if slots else _with_defaults(cls, own, names, added)
        return twin.made

    def _with_slots(cls, own, names, added):
        for name in (*names, "__dict__", "__weakref__"):
            own.pop(name, None)
        own.update(added, __slots__=names, __qualname__=cls.__qualname__)
        return type(cls)(cls.__name__, cls.__bases__, own)

    def _with_defaults(cls, own, names, added):
        for name in names:
            if isinstance(default := own.get(name), dataclasses.Field):
                if default.default is dataclasses.MISSING:
                    delattr(cls, name)
                else:
                    setattr(cls, name, default.default)
        for name, value in added.items():
            setattr(cls, name, value)
        return cls

    class _Twin:
        """A class with the same fields, for which the standard library makes what is asked for."""

        def __init__(self, cls, own, names, frozen, kw_only):
            self.made, self.name, self.module, self.annotations = cls, cls.__name__, cls.__module__, cls.__annotations__
            self.defaults = {name: own[name] for name in self.annotations if name in own}
            self.after = own.get("__post_init__")
            self.names, self.frozen, self.kw_only = names, frozen, kw_only
            self.inits = own.get("__init__") is None
            """Whether its `__init__` is made here."""
            self.left = None
            """How many instances may still be filled in without an `__init__`; None before the first."""

        def get(self, name):
            """Made, and put in the place of what stood in for it."""
            quick = name == "__init__" and self.frozen and "__slots__" in self.made.__dict__ and not self.is_special
            real = self.quick_init() if quick else self.standard(name)
            if name in _STAND_INS:
                real.__qualname__ = f"{self.made.__qualname__}.{name}"
            setattr(self.made, name, real)
            return real

        @property
        def is_special(self):
            return any(_is_special(default, self.kw_only) for default in self.defaults.values())

        def standard(self, name):
            wanted = {"init": name == "__init__", "repr": name == "__repr__", "eq": name in ("__eq__", "__hash__")}
            if any(wanted.values()):
                wanted["frozen"] = self.frozen
            elif name == "__dataclass_params__":
                wanted = {"frozen": self.frozen}
            body = {"__annotations__": self.annotations, "__module__": self.module, "__doc__": "a twin"}
            body.update(self.defaults)
            if self.after is not None:
                body["__post_init__"] = self.after
            return getattr(dataclasses.dataclass(type(self.name, (), body), kw_only=self.kw_only, **wanted), name)

        def quick_init(self):
            """What a frozen class of slots is filled in by, straight into the slots: the standard library goes through
            `object.__setattr__` for each field, which takes nearly twice as long."""
            known, heads, lines = {"_missing": dataclasses.MISSING}, [], []
            for number, name in enumerate(self.names):
                known[f"_put{number}"] = getattr(self.made, name).__set__
                default, head, value = self.defaults.get(name, dataclasses.MISSING), name, name
                if isinstance(default, dataclasses.Field) and default.default_factory is not dataclasses.MISSING:
                    known[f"_make{number}"] = default.default_factory
                    head, value = f"{name}=_missing", f"_make{number}() if {name} is _missing else {name}"
                elif (default := _made_of(default)) is not dataclasses.MISSING:
                    known[f"_default{number}"] = default
                    head = f"{name}=_default{number}"
                heads.append(head)
                lines.append(f"    _put{number}(self, {value})")
            lines += ["    self.__post_init__()"] if self.after is not None else []
            head = ", ".join(["self", *(["*"] if self.kw_only and heads else []), *heads])
            exec("\n".join([f"def __init__({head}):", *lines, "    return None"]), known)
            return known["__init__"]

        def fill(self, one, given, named):
            """Whether it could be: what is special, and what is wrong, is left to the standard library."""
            if self.left is None:
                self.left = 0 if self.is_special else _FEW
            self.left -= 1
            if self.left < 0 or (given and self.kw_only) or len(given) > len(self.names):
                return False
            values, unused = list(given), len(named)
            if unused and not named.keys().isdisjoint(self.names[: len(given)]):
                return False
            for name in self.names[len(given) :]:
                if name in named:
                    values.append(named[name])
                    unused -= 1
                elif (default := _made_of(self.defaults.get(name, dataclasses.MISSING))) is dataclasses.MISSING:
                    return False
                else:
                    values.append(default)
            if unused:
                return False
            put = object.__setattr__ if self.frozen else setattr
            for name, value in zip(self.names, values, strict=True):
                put(one, name, value)
            if self.after is not None:
                one.__post_init__()
            return True

    def _is_special(default, kw_only):
        if isinstance(default, dataclasses.Field):  # the standard library notes in it what its class is
            own = default.kw_only not in (dataclasses.MISSING, kw_only)
            return not default.init or own or _is_special(default.default, kw_only)
        return type(default).__hash__ is None  # the standard library refuses it: all instances would share it

    def _made_of(default):
        if not isinstance(default, dataclasses.Field):
            return default
        factory = default.default_factory
        return default.default if factory is dataclasses.MISSING else factory()

    class _Later:
        """An attribute of a class that is made when it is first read."""

        def __init__(self, name):
            self.name = name

        def __get__(self, _, made):
            return made.__twin__.get(self.name)

    class _Signature:
        """What `help` and editors ask for; a class that inherits has one of its own."""

        def __get__(self, one, made):
            twin = made.__twin__
            if one is not None or made is not twin.made:
                raise AttributeError("__signature__")
            from inspect import signature

            whole = signature(twin.standard("__init__") if twin.inits else made.__init__)
            return whole.replace(parameters=[*whole.parameters.values()][1:])

    def _stand_in(name):
        def first(self, /, *given, **named):
            return type(self).__twin__.get(name)(self, *given, **named)

        return _named(first, name)

    def _init(self, /, *given, **named):
        twin = type(self).__twin__
        if not twin.fill(self, given, named):
            twin.get("__init__")(self, *given, **named)

    def _named(first, name):
        first.stands_in = True
        first.__name__ = first.__qualname__ = name
        return first

    def _refuse_setting(self, name, value):
        raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")

    def _refuse_deleting(self, name):
        raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")

    def _state(self):
        return [getattr(self, name) for name in _names(self)]

    def _set_state(self, state):
        for name, value in zip(_names(self), state, strict=True):
            object.__setattr__(self, name, value)

    def _names(one):
        twin = type(one).__twin__
        return twin.names if type(one) is twin.made else [each.name for each in dataclasses.fields(one)]

    _STAND_INS = {name: _stand_in(name) for name in ("__repr__", "__eq__", "__hash__")}
    _STAND_INS["__init__"] = _named(_init, "__init__")
    _LISTS = {name: _Later(name) for name in ("__match_args__", "__dataclass_fields__", "__dataclass_params__")}
    _LISTS["__signature__"] = _Signature()
    _REFUSALS = {"__setattr__": _refuse_setting, "__delattr__": _refuse_deleting}
    _STATE = {"__getstate__": _state, "__setstate__": _set_state}
