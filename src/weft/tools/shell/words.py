"""A strict reader of the small part of the shell's language in which a command can be proved harmless.

It knows words (bare, 'single', "double" without expansion), `|`, `&&`, `||`, `;`, new lines, `{ …; }`, `( … )`, and
redirections that write nowhere. Everything else of the language (variables, substitutions, here-documents, background,
control flow, braces, tildes, assignments before a command, comments) is refused by name: this reader never guesses.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

from weft.protocol.values import dataclass

LENGTH_LIMIT: Final = 8192
DEPTH_LIMIT: Final = 20
_BARE_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*\Z")
_REDIRECTION: Final = re.compile(
    r"""(?: (?P<dup> [12]?>&[12](?![0-9-]) )
          | (?P<null> (?: [12]?>>? | &> ) [ \t]* /dev/null (?=[\s;|&)]|\Z) )
          | (?P<read> 0?<(?![<&>(]) [ \t]* ) )""",
    re.VERBOSE,
)
_UNQUOTED_REFUSED: Final = {
    "$": "an expansion ($)",
    "`": "a command substitution (`)",
    "{": "a brace",
    "}": "a brace",
    "(": "a parenthesis inside a word",
}
_ESCAPABLE: Final = frozenset("!\"#%&'()*+,-./:;<=>?@[\\]^_{|}~$`")


class UnreadableError(Exception):
    """The text is outside the part of the language that can be judged; the words say which construct it is."""


@dataclass(frozen=True, slots=True)
class Word:
    text: str
    """What the program is given, quotes removed."""
    source: str
    """As it was written."""
    pattern: bool
    """Whether the shell would replace it with the names of files."""

    @property
    def bare(self) -> bool:
        return self.text == self.source and not self.pattern


@dataclass(frozen=True, slots=True)
class Simple:
    """One program with its words."""

    words: tuple[Word, ...]
    reads: tuple[Word, ...] = ()
    """The files its input is redirected from."""

    @property
    def program(self) -> str:
        return self.words[0].text

    @property
    def arguments(self) -> tuple[Word, ...]:
        return self.words[1:]


def read_commands(text: str) -> list[Simple]:
    """Every simple command of `text` in order; UnreadableError when one character of it is not understood."""
    if len(text) > LENGTH_LIMIT:
        raise UnreadableError(f"a command of more than {LENGTH_LIMIT:,} characters")
    for character in text:
        if character not in "\n\t" and unicodedata.category(character) in ("Cc", "Cf", "Co", "Cs", "Cn", "Zl", "Zp"):
            raise UnreadableError(f"the character U+{ord(character):04X}, which can't be seen")
        if character != " " and unicodedata.category(character) == "Zs":
            raise UnreadableError(f"the character U+{ord(character):04X}, which looks like a space")
    reader = _Reader(text)
    found = list(reader.list_of_commands(0, None))
    if not found:
        raise UnreadableError("an empty command")
    return found


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    # -- structure

    def list_of_commands(self, depth: int, closing: str | None) -> Iterator[Simple]:
        """Commands up to the end of the text or the closing sign, with the operators between them."""
        if depth > DEPTH_LIMIT:
            raise UnreadableError("groups nested too deeply")
        self._skip(" \t\n")
        if self._closes(closing):
            raise UnreadableError("an empty group")
        while self.at < len(self.text):
            yield from self._command(depth)
            operator = self._operator()
            ended = self.at >= len(self.text) or self._closes(closing)
            if operator in ("|", "&&", "||"):
                if ended:
                    raise UnreadableError(f"nothing after {operator}")
            elif operator is None and not (ended and closing != "}"):
                raise UnreadableError(f"{self.text[self.at :][:12]!r} where a command should end")
            if self._closes(closing):
                return
        if closing is not None:
            raise UnreadableError(f"a group without its {closing}")

    def _closes(self, closing: str | None) -> bool:
        return closing is not None and self.text.startswith(closing, self.at)

    def _command(self, depth: int) -> Iterator[Simple]:
        rest = self.text[self.at :]
        if rest.startswith("(("):
            raise UnreadableError("arithmetic")
        if rest.startswith("("):
            self.at += 1
            yield from self.list_of_commands(depth + 1, ")")
            self.at += 1
            self._group_redirections()
        elif re.match(r"\{[ \t\n]", rest):
            self.at += 1
            yield from self.list_of_commands(depth + 1, "}")
            self.at += 1
            if self.at < len(self.text) and self.text[self.at] not in " \t\n;|&)":
                raise UnreadableError("a brace")
            self._group_redirections()
        else:
            yield self._simple()

    def _operator(self) -> str | None:
        self._skip(" \t")
        rest = self.text[self.at :]
        if rest.startswith("|&"):
            raise UnreadableError("|&")
        for operator in ("&&", "||", "|"):
            if rest.startswith(operator):
                self.at += len(operator)
                self._skip(" \t\n")
                return operator
        if rest.startswith("&"):
            raise UnreadableError("a command in the background (&)")
        if rest.startswith(";;"):
            raise UnreadableError(";;")
        if rest.startswith((";", "\n")):
            self.at += 1
            self._skip(" \t\n")
            return ";"
        return None

    # -- one command

    def _simple(self) -> Simple:
        words: list[Word] = []
        reads: list[Word] = []
        while True:
            if self._redirections(reads):
                break
            if self.at >= len(self.text) or self.text[self.at] in "\n;|&)":
                break
            words.append(self._word())
        if not words:
            raise UnreadableError(f"{self.text[self.at : self.at + 12]!r} where a command should be")
        if not words[0].bare or not _BARE_NAME.match(words[0].text):
            raise UnreadableError(f"{words[0].source[:40]!r} in the place of a program's plain name")
        return Simple(tuple(words), tuple(reads))

    def _group_redirections(self) -> None:
        reads: list[Word] = []
        self._redirections(reads)
        if reads:
            raise UnreadableError("a redirection into a group")

    def _redirections(self, reads: list[Word]) -> bool:
        """Those that write nowhere; after one no more words may come."""
        seen = False
        while True:
            self._skip(" \t")
            found = _REDIRECTION.match(self.text, self.at)
            if not found:
                break
            seen = True
            self.at = found.end()
            if found["read"]:
                reads.append(self._word())
                if reads[-1].pattern or reads[-1].text.startswith("-"):
                    raise UnreadableError(f"a redirection from {reads[-1].source[:40]!r}")
        rest = self.text[self.at :]
        if re.match(r"[0-9]*[<>]|&>", rest):
            raise UnreadableError(f"the redirection {rest[:20]!r}")
        if seen and rest and rest[0] not in "\n;|&)":
            raise UnreadableError("words after a redirection")
        return seen

    def _word(self) -> Word:
        start, pattern = self.at, False
        parts: list[str] = []
        while self.at < len(self.text):
            character = self.text[self.at]
            if character in " \t\n;|&<>)":
                break
            if character == "'":
                parts.append(self._single())
            elif character == '"':
                parts.append(self._double())
            elif character == "\\":
                parts.append(self._escaped())
            else:
                self._refuse_unquoted(character, first=self.at == start)
                pattern = pattern or character in "*?["
                parts.append(character)
                self.at += 1
        if self.at == start:
            raise UnreadableError(f"{self.text[start : start + 12]!r} where a word should be")
        return Word("".join(parts), self.text[start : self.at], pattern)

    def _refuse_unquoted(self, character: str, *, first: bool) -> None:
        if character in _UNQUOTED_REFUSED:
            raise UnreadableError(_UNQUOTED_REFUSED[character])
        if character == "~" and (first or self.text[self.at - 1] in "=:"):
            raise UnreadableError("a tilde (~)")
        if character == "#" and first:
            raise UnreadableError("a comment")
        if character == "!" and first:
            raise UnreadableError("an exclamation mark")

    def _single(self) -> str:
        end = self.text.find("'", self.at + 1)
        if end < 0:
            raise UnreadableError("a quote that is never closed")
        inside = self.text[self.at + 1 : end]
        self.at = end + 1
        return inside

    def _double(self) -> str:
        parts: list[str] = []
        self.at += 1
        while self.at < len(self.text):
            character, following = self.text[self.at], self.text[self.at + 1 : self.at + 2]
            if character == '"':
                self.at += 1
                return "".join(parts)
            if character == "`":
                raise UnreadableError("a command substitution (`)")
            if character == "$" and following != '"':
                raise UnreadableError("an expansion ($)")
            if character == "\\":
                if following == "\n":
                    raise UnreadableError("a line that goes on (\\)")
                if following and following in '"\\$`':
                    parts.append(following)
                    self.at += 2
                    continue
            parts.append(character)
            self.at += 1
        raise UnreadableError("a quote that is never closed")

    def _escaped(self) -> str:
        following = self.text[self.at + 1 : self.at + 2]
        if not following or following not in _ESCAPABLE:
            raise UnreadableError("a backslash before " + (repr(following) if following else "nothing"))
        self.at += 2
        return following

    def _skip(self, characters: str) -> None:
        while self.at < len(self.text) and self.text[self.at] in characters:
            self.at += 1
