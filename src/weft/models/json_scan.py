"""One JSON value from text that is nearly JSON, beginning at a given bracket.

An explicit stack and one walk to the right: no recursion, no going back, so time grows with the text and depth is
bounded. What is put right is written down as a `Correction`; what would have to be made up (a missing value, NaN, a
number with a unit) is a fault, and the value is not read. A value that ends before its last bracket is kept as far as
it goes and called incomplete.
"""

from __future__ import annotations

import math
import re
from typing import Any, Final, Literal

from weft.protocol.values import dataclass

CorrectionKind = Literal[
    "around",
    "bracket",
    "character",
    "comma",
    "comment",
    "cut off",
    "escape",
    "left out",
    "literal",
    "number",
    "quotes",
    "repeated key",
    "skipped",
    "several values",
    "unwrapped",
]
DEPTH_LIMIT: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """One thing that was not JSON and was read all the same: what it was, and where (offset in the text)."""

    kind: CorrectionKind
    at: int
    note: str


class NotJsonError(ValueError):
    """The value can't be read: why, where, and how many brackets were open there."""

    def __init__(self, why: str, at: int, depth: int) -> None:
        super().__init__(why)
        self.why = why
        self.at = at
        self.depth = depth


@dataclass(frozen=True, slots=True)
class Scanned:
    value: Any
    end: int
    corrections: tuple[Correction, ...]
    complete: bool


_SPACE: Final = re.compile(r"[\s\ufeff\u200b]*")
_NUMBER: Final = re.compile(r"[-+]?(?:\d[\d_]*)?(?:\.\d*)?(?:[eE][-+]?\d+)?")
_STRICT_NUMBER: Final = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?\Z")
_WORD: Final = re.compile(r"[A-Za-z_$][\w$-]*")
_CLOSERS: Final = {'"': '"', "'": "'", "`": "`", "“": '”“"', "„": '“”"', "‘": "’‘'", "«": "»"}
_BODIES: Final = {quote: re.compile(rf"[^{ends}\\\x00-\x1f]+") for quote, ends in _CLOSERS.items()}
_ANY_QUOTE: Final = re.escape("".join(_CLOSERS))
_KEY_AHEAD: Final = re.compile(
    r"""["'](?:(?<=")(?:[^"\\]|\\.){0,200}(?:"\s*:|\Z)|(?<=')(?:[^'\\]|\\.){0,200}(?:'\s*:|\Z)|(?:[^"'\\]|\\.){200})"""
    r"""|[`“„‘«][^`”“’»\n]{0,200}(?:[`”“’»]\s*:|\Z)|[\w$-]{1,80}\s*:""",
    re.DOTALL,
)
_VALUE_AHEAD: Final = re.compile(rf"[{_ANY_QUOTE}{{\[\d.…+-]|(?:true|false|null|True|False|None)\b")
_JOINS: Final = 1000
"""Each joining copies what was joined before."""
_LONG: Final = '"' * 3
_LONG_SINGLE: Final = "'" * 3
_CUT_ESCAPE: Final = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?\Z")
_ESCAPES: Final = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_HEX: Final = re.compile(r"[0-9a-fA-F]{4}")
_HEX_BYTE: Final = re.compile(r"[0-9a-fA-F]{2}")
_HEX_NUMBER: Final = re.compile(r"-?0[xX][0-9a-fA-F]{1,16}(?![\w.])")
_COLON: Final = re.compile(r"[:：]|=>?")
_BARE_KEY: Final = re.compile(r"([A-Za-z_$][\w$-]*|\d{1,18}(?=\s*:))(\"(?=\s*:))?")
_NEXT_KEY: Final = re.compile(r"\"[\w $-]{1,60}\"\s*:\s*[\"\[{\dtfn-]")
_PREFIXES: Final = frozenset({"b", "f", "r", "u", "B", "F", "R", "U"})
_LITERALS: Final = {"true": True, "false": False, "null": None}
_OTHER_LITERALS: Final = {"True": True, "False": False, "None": None, "TRUE": True, "FALSE": False, "NULL": None}
_NO_VALUES: Final = {"NaN", "nan", "Infinity", "inf", "undefined", "NA"}
_HALVES: Final = re.compile("[\ud800-\udfff]")


def whole_text(text: str) -> str:
    """Halves of surrogate pairs are no text; JSON can spell them, files can't hold them."""
    return _HALVES.sub("\ufffd", text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))


def scan(text: str, start: int) -> Scanned:
    """The value that begins with the bracket at `start`; NotJsonError when it can't be read as it stands."""
    return _Scan(text, start).run()


class _Scan:
    def __init__(self, text: str, start: int) -> None:
        self.text = text
        self.at = start
        self.stack: list[dict[str, Any] | list[Any]] = []
        self.keys: list[str] = []
        self.corrections: dict[CorrectionKind, Correction] = {}
        self.complete = True
        self.after_value = False
        self.after_line = False
        self.quoted_key = False
        self.joins = 0
        self.rounds = 0
        """Lists in round brackets that are open."""
        self.root: dict[str, Any] | list[Any] | None = None

    def run(self) -> Scanned:
        self.open()
        while self.stack:
            self.skip()
            if self.at_end():
                self.cut("the text ends before the value does")
                break
            self.step()
        return Scanned(self.root, self.at, tuple(self.corrections.values()), self.complete)

    def step(self) -> None:
        character = self.text[self.at]
        if character in "}]" or (character == ")" and self.rounds):
            self.close(character)
        elif character in ",，" or (character == ";" and self.after_value):
            if character != ",":
                self.correct("character", f"a comma must be , and not {character}")
            if not self.after_value:
                self.correct("comma", "a comma with nothing before it")
            self.after_value = False
            self.at += 1
        elif character == "…" or self.text.startswith("...", self.at):
            self.correct("left out", "an ellipsis stands for something left out")
            self.complete = False
            self.after_value = True
            self.at += 1 if character == "…" else 3
        elif character == "+" and self.after_value:
            self.joined()
        else:
            if self.after_value:
                self.missing_comma(character)
            if isinstance(self.stack[-1], dict):
                self.member()
            else:
                self.value(character)

    def joined(self) -> None:
        """`"one" + "two"`: a string in two pieces."""
        top = self.stack[-1]
        before = top.get(self.keys[-1]) if isinstance(top, dict) else top[-1]
        self.at += 1
        self.skip()
        self.joins += 1
        if not isinstance(before, str) or self.at_end() or self.text[self.at] not in _CLOSERS or self.joins > _JOINS:
            raise self.fault("a comma or a closing bracket must stand here")
        self.correct("quotes", "a string in pieces joined by +")
        whole = before + self.string(self.text[self.at], is_key=False)
        if isinstance(top, dict):
            top[self.keys[-1]] = whole
        else:
            top[-1] = whole

    def missing_comma(self, character: str) -> None:
        if not (self.after_line or character in "{[" or character in _CLOSERS):
            raise self.fault("a comma or a closing bracket must stand here")
        self.correct("comma", "a comma was missing")
        self.after_value = False

    def member(self) -> None:
        began = self.at
        key = self.key()
        self.skip()
        if self.at_end():
            self.cut(f"the text ends after the key {key!r}; the key was left out")
            return
        colon = _COLON.match(self.text, self.at)
        if colon is None:
            self.at = began
            raise self.fault("a key must be followed by a colon")
        if colon[0] != ":":
            self.correct("character", f"a colon must be : and not {colon[0]}")
        self.at = colon.end()
        self.skip()
        if self.at_end():
            self.cut(f"the text ends before the value of {key!r}; the key was left out")
            return
        if key in self.stack[-1]:
            self.correct("repeated key", f"the key {key!r} stands there twice; the last one counts")
        self.keys[-1] = key
        self.value(self.text[self.at])

    def key(self) -> str:
        character = self.text[self.at]
        if character in _CLOSERS:
            self.quoted_key = True
            if character != '"':
                self.correct("quotes", f'quotes must be ", not {character}')
            return self.string(character, is_key=True)
        found = _BARE_KEY.match(self.text, self.at)
        if not found:
            raise self.fault("a key must stand here")
        self.quoted_key = bool(found[2])
        self.at = found.end()
        self.correct("quotes", "a key without its first quote" if found[2] else "a key without quotes")
        return found[1]

    def value(self, character: str) -> None:
        if character in "{[(":
            self.open()
        elif character in _CLOSERS:
            if character != '"':
                self.correct("quotes", f'quotes must be ", not {character}')
            self.put(self.string(character, is_key=False))
        elif character in "0123456789-+.":
            self.put(self.number())
        else:
            self.word()

    def put(self, value: Any) -> None:
        top = self.stack[-1]
        if isinstance(top, dict):
            top[self.keys[-1]] = value
        else:
            top.append(value)
        self.after_value = True

    def open(self) -> None:
        if len(self.stack) == DEPTH_LIMIT:
            raise self.fault(f"nested more than {DEPTH_LIMIT} deep")
        if self.text[self.at] == "(":
            self.correct("bracket", "round brackets around a list")
            self.rounds += 1
        made: dict[str, Any] | list[Any] = {} if self.text[self.at] == "{" else []
        if self.stack:
            self.put(made)
        else:
            self.root = made
        self.stack.append(made)
        self.keys.append("")
        self.after_value = False
        self.at += 1

    def close(self, bracket: str) -> None:
        kind: type = dict if bracket == "}" else list
        if not self.after_value and self.stack[-1]:
            self.correct("comma", "a comma before a closing bracket")
        if not any(isinstance(open_one, kind) for open_one in self.stack):
            self.correct("bracket", f"a {bracket} that closes nothing")
            self.at += 1
            return
        while not isinstance(self.stack[-1], kind):
            self.correct("bracket", f"a bracket was missing before {bracket}")
            self.stack.pop()
            self.keys.pop()
        self.stack.pop()
        self.keys.pop()
        self.rounds -= bracket == ")"
        self.after_value = True
        self.at += 1

    def cut(self, note: str) -> None:
        self.correct("cut off", note)
        self.complete = False
        self.stack.clear()
        self.at = len(self.text) if self.at >= len(self.text) else self.at

    def number(self) -> int | float:
        if (hexadecimal := _HEX_NUMBER.match(self.text, self.at)) is not None:
            self.correct("number", f"the number {hexadecimal[0][:40]} is not written as JSON")
            self.at = hexadecimal.end()
            return int(hexadecimal[0], 16)
        found = _NUMBER.match(self.text, self.at)
        written = found[0] if found else ""
        if _STRICT_NUMBER.match(written):
            plain = written
        else:
            plain = written.replace("_", "").removeprefix("+")
            digits = plain.removeprefix("-")
            if not any(digit.isdigit() for digit in digits) or re.match(r"0\d", digits):
                raise self.fault("this is not a number")
            self.correct("number", f"the number {written[:40]} is not written as JSON")
        after = self.at + len(written)
        if after < len(self.text) and (self.text[after].isalnum() or self.text[after] in "._%$€"):
            raise self.fault("a number with something else behind it")
        if after == len(self.text):
            self.correct("cut off", f"the text ends inside or right after the number {written[:40]}")
        try:
            value = float(plain) if re.search(r"[.eE]", plain) else int(plain)
        except ValueError as error:
            raise self.fault("a number that is too long") from error
        if isinstance(value, float) and math.isinf(value):
            raise self.fault("a number that is too large")
        self.at = after
        return value

    def word(self) -> None:
        found = _WORD.match(self.text, self.at)
        if not found:
            raise self.fault("a value must stand here")
        word, after = found[0], found.end()
        if self.text[after : after + 1] in ("'", '"') and self.beside_a_quote(word, after):
            return
        if word in _LITERALS:
            self.at = after
            self.put(_LITERALS[word])
            return
        if word in _OTHER_LITERALS:
            self.correct("literal", f"{word} is not JSON")
            self.at = after
            self.put(_OTHER_LITERALS[word])
            return
        if word in _NO_VALUES:
            raise self.fault(f"{word} is not a JSON value")
        if after == len(self.text):
            meant = [literal for literal in _LITERALS if literal.startswith(word)]
            self.at = after
            if meant:
                self.put(_LITERALS[meant[0]])
            return
        ends = _SPACE.match(self.text, after)
        follows = self.text[ends.end() : ends.end() + 1] if ends else ""
        if not (self.quoted_key and isinstance(self.stack[-1], dict) and follows in (",", "}")):
            raise self.fault(f"{word[:40]} is not a JSON value")
        self.correct("quotes", f"the text {word[:40]} without quotes")
        self.at = after
        self.put(word)

    def beside_a_quote(self, word: str, after: int) -> bool:
        """`b"x"` as programs write it, or `x"` whose first quote was forgotten."""
        follows = _next(self.text, after + 1)
        if self.text[follows : follows + 1] in (",", "}", "]"):
            self.correct("quotes", "a string without its first quote")
            self.at = after + 1
            self.put(word)
        elif word in _PREFIXES:
            self.correct("quotes", f"a {word} before a string")
            self.at = after
            self.put(self.string(self.text[after], is_key=False))
        else:
            return False
        return True

    def string(self, quote: str, *, is_key: bool) -> str:
        if self.text.startswith((_LONG, _LONG_SINGLE), self.at):
            return self.long_string(quote * 3)
        ends, body = _CLOSERS[quote], _BODIES[quote]
        text, pieces = self.text, list[str]()
        self.at += 1
        while True:
            found = body.match(text, self.at)
            if found:
                pieces.append(found[0])
                self.at = found.end()
            if self.at >= len(text):
                self.complete = False
                self.correct("cut off", "the text ends inside a string")
                break
            character = text[self.at]
            if character == "\\":
                pieces.append(self.escape())
            elif character < " ":
                self.correct("character", "a line break or control character inside a string")
                pieces.append(character)
                self.at += 1
            elif is_key or self.ends_string(ends):
                self.at += 1
                break
            elif (kept := self.lost_quote(pieces)) is not None:
                return whole_text(kept)
            else:
                self.correct("quotes", "a quote inside a string without a backslash")
                pieces.append(character)
                self.at += 1
        return whole_text("".join(pieces))

    def lost_quote(self, pieces: list[str]) -> str | None:
        """A string whose last quote was forgotten: a comma, then the next key. What it said until there; else None."""
        if not isinstance(self.stack[-1], dict) or not _NEXT_KEY.match(self.text, self.at):
            return None
        said = "".join(pieces[-2:]).rstrip()
        if not said.endswith(","):
            return None
        self.correct("quotes", "a string without its last quote")
        return ("".join(pieces[:-2]) + said).removesuffix(",").rstrip()

    def long_string(self, quotes: str) -> str:
        self.correct("quotes", "three quotes around a string")
        begin = self.at + 3
        end = self.text.find(quotes, begin)
        if end < 0:
            self.complete = False
            self.correct("cut off", "the text ends inside a string")
            end = len(self.text)
        self.at = min(end + 3, len(self.text))
        return whole_text(self.text[begin:end])

    def escape(self) -> str:
        text, at = self.text, self.at
        following = text[at + 1 : at + 2]
        if following == "u" and _HEX.match(text, at + 2):
            self.at += 6
            return chr(int(text[at + 2 : at + 6], 16))
        if following == "x" and (byte := _HEX_BYTE.match(text, at + 2)):
            self.correct("escape", "\\x is not an escape")
            self.at += 4
            return chr(int(byte[0], 16))
        if _CUT_ESCAPE.match(text, at):
            self.at = len(text)
            return ""
        self.at += 2
        if following in _ESCAPES and following:
            return _ESCAPES[following]
        self.correct("escape", f"\\{following} is not an escape")
        if following in ("'", "\n", "`"):
            return following
        self.at = at + 1
        return "\\"

    def ends_string(self, ends: str) -> bool:
        """Whether the quote here closes a value's string: what follows must be what may follow a value."""
        text = self.text
        at = _next(text, self.at + 1)
        if at >= len(text) or text[at] in ("}]/#)" if self.rounds else "}]/#") or text.startswith("```", at):
            return True
        in_object = isinstance(self.stack[-1], dict)
        if text[at] == "+":
            return text[(after := _next(text, at + 1)) : after + 1] in _CLOSERS
        if text[at] in ",，":
            at = _next(text, at + 1)
            if at >= len(text) or text[at] in "}]/#,…." or text.startswith("```", at):
                return True
            return bool((_KEY_AHEAD if in_object else _VALUE_AHEAD).match(text, at))
        if text[at] in _CLOSERS:
            return bool(_KEY_AHEAD.match(text, at)) if in_object else at > self.at + 1
        return False

    def skip(self) -> None:
        """Over space and comments."""
        text = self.text
        began = self.at
        while True:
            self.at = _next(text, self.at)
            if text.startswith(("//", "#"), self.at):
                end = text.find("\n", self.at)
            elif text.startswith("/*", self.at):
                end = text.find("*/", self.at + 2)
                end = end + 2 if end >= 0 else end
            else:
                break
            self.correct("comment", "a comment")
            self.at = end if end >= 0 else len(text)
        self.after_line = "\n" in text[began : self.at]

    def at_end(self) -> bool:
        return self.at >= len(self.text) or self.text.startswith("```", self.at)

    def correct(self, kind: CorrectionKind, note: str) -> None:
        """Each kind is told once, at its first place: the point is that it happened."""
        self.corrections.setdefault(kind, Correction(kind=kind, at=self.at, note=note))

    def fault(self, why: str) -> NotJsonError:
        return NotJsonError(why, self.at, len(self.stack))


def _next(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at
