"""How a program's words are judged: by lists of what is allowed, never of what is forbidden.

An option that is not listed is refused, also an abbreviation of a listed one. A word after an option that takes a value
is that value only if it can't itself be an option, so that a mistake in a list can't hide anything.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Final

from weft.protocol.values import dataclass
from weft.tools.shell.words import Word

_NUMBER: Final = re.compile(r"[-+]?[0-9]+[A-Za-z]{0,3}\Z")
_DASH_NUMBER: Final = re.compile(r"-[0-9]+\Z")


class RefusedOptionError(Exception):
    """Why this is not known to be harmless, in words."""


@dataclass(frozen=True, slots=True)
class Parsed:
    options: tuple[tuple[str, str], ...]
    """Each option with its value, "" when it has none."""
    operands: tuple[Word, ...]

    def has(self, *names: str) -> bool:
        return any(name in names for name, _ in self.options)

    def values(self, *names: str) -> list[str]:
        return [value for name, value in self.options if name in names]


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    flags: frozenset[str] = frozenset()
    valued: frozenset[str] = frozenset()
    dash_number: bool = False
    """`-5` means a number."""
    operands: int | None = None
    """The most there may be."""
    inert: bool = False
    """No option of it, listed or not, does harm: then a pattern that becomes an option can't either."""
    offline: bool = True
    check: Callable[[Parsed], None] | None = None
    custom: Callable[[Sequence[Word]], None] | None = None
    """Judges the words alone, where options are not of the usual kind."""
    subcommands: Mapping[str, Program] = field(default_factory=dict)

    def judge(self, name: str, words: Sequence[Word]) -> None:
        """RefusedError unless these words are known to be harmless for this program."""
        if self.subcommands:
            self._judge_subcommand(name, words)
            return
        if " " not in name and len(words) == 1 and words[0].source in ("--help", "--version"):
            return  # alone, of a listed program that has no subcommands, it only tells
        if self.custom is not None:
            _refuse_patterns(name, words)
            self.custom(words)
            return
        parsed = self.parse(name, words)
        if self.operands is not None and len(parsed.operands) > self.operands:
            raise RefusedOptionError(f"{name} with more than {self.operands} operands may change something")
        if self.operands is not None and any(word.pattern for word in parsed.operands):
            raise RefusedOptionError(f"{name} with a pattern may get more operands than it should")
        if not self.inert:
            _refuse_patterns(name, words)
        if self.check is not None:
            self.check(parsed)

    def _judge_subcommand(self, name: str, words: Sequence[Word]) -> None:
        if not words:
            raise RefusedOptionError(f"{name} alone is not known to be read only")
        first = words[0]
        if first.bare and first.text in self.subcommands:
            self.subcommands[first.text].judge(f"{name} {first.text}", words[1:])
            return
        if first.bare and len(words) == 1 and first.text in self.flags:
            return
        if first.bare and first.text in self.flags and first.text.startswith("--no-"):
            self._judge_subcommand(name, words[1:])
            return
        raise RefusedOptionError(f"{name} {first.source[:40]} is not known to be read only")

    def parse(self, name: str, words: Sequence[Word]) -> Parsed:
        options: list[tuple[str, str]] = []
        operands: list[Word] = []
        rest = list(words)
        while rest:
            word = rest.pop(0)
            if word.text == "--":
                operands += rest
                break
            if not word.text.startswith("-") or word.text == "-":
                if word.text.startswith("+") and name not in _PLUS_WORDS:
                    raise RefusedOptionError(f"{name} {word.source[:20]}: a word that begins with + may be an option")
                operands.append(word)
            elif word.pattern:
                raise RefusedOptionError(f"{name} {word.source[:40]}: an option made of file names")
            elif self.dash_number and _DASH_NUMBER.match(word.text):
                options.append(("-number", word.text[1:]))
            elif word.text.startswith("--"):
                options.append(self._long(name, word.text, rest))
            else:
                options += self._short(name, word.text, rest)
        return Parsed(tuple(options), tuple(operands))

    def _long(self, name: str, text: str, rest: list[Word]) -> tuple[str, str]:
        option, equals, value = text.partition("=")
        if option in self.valued:
            return option, value if equals else _value(name, option, rest)
        if option in self.flags:
            return option, value
        raise RefusedOptionError(f"the option {option[:40]} of {name} is not known to be read only")

    def _short(self, name: str, text: str, rest: list[Word]) -> list[tuple[str, str]]:
        found = []
        for index, letter in enumerate(text[1:], 2):
            option = f"-{letter}"
            if option in self.valued:
                found.append((option, text[index:] or _value(name, option, rest)))
                return found
            if option not in self.flags:
                raise RefusedOptionError(f"the option {option} of {name} is not known to be read only")
            found.append((option, ""))
        return found


_PLUS_WORDS: Final = frozenset({"date", "echo", "grep", "egrep", "fgrep", "rg", "printf", "git grep"})


def _value(name: str, option: str, rest: list[Word]) -> str:
    if not rest:
        raise RefusedOptionError(f"the option {option} of {name} has no value")
    word = rest.pop(0)
    if word.pattern or (word.text.startswith("-") and not _NUMBER.match(word.text)):
        raise RefusedOptionError(f"{word.source[:40]} after {option} of {name} may be an option itself")
    return word.text


def _refuse_patterns(name: str, words: Sequence[Word]) -> None:
    for word in words:
        if word.pattern and word.source[:1] in "*?[":
            raise RefusedOptionError(f"{word.source[:40]} may become an option of {name}; write ./{word.source[:40]}")


def program(
    flags: str = "",
    valued: str = "",
    *,
    number: bool = False,
    operands: int | None = None,
    inert: bool = False,
    offline: bool = True,
    check: Callable[[Parsed], None] | None = None,
) -> Program:
    """A program from two lists of options in one text each; `-abc` stands for -a, -b and -c."""
    return Program(
        flags=frozenset(_spread(flags)),
        valued=frozenset(_spread(valued)),
        dash_number=number,
        operands=operands,
        inert=inert,
        offline=offline,
        check=check,
    )


def listed(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _spread(text: str) -> list[str]:
    found = []
    for word in text.split():
        found += [word] if word.startswith("--") else [f"-{letter}" for letter in word.removeprefix("-")]
    return found
