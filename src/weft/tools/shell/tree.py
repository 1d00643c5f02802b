"""A second opinion on a command's structure, from a full parser of the language.

Our own reader accepts little and is strict; the full grammar knows what the shell makes of the rest. A command counts
as understood only if both see the same programs with the same words. Where they differ, one of them is wrong, and
nothing is to be built on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, Final

from weft.tools.shell.words import Simple, UnreadableError

_KNOWN: Final = frozenset(
    {
        *("program", "list", "pipeline", "command", "command_name", "word", "number", "string", "string_content"),
        *("raw_string", "concatenation", "redirected_statement", "file_redirect", "file_descriptor"),
        *("compound_statement", "subshell", "test_operator"),
        *("|", "||", "&&", ";", "\n", "{", "}", "(", ")", '"', ">", ">>", "<", ">&", "&>", "$"),
    }
)
_WORDS: Final = frozenset({"command_name", "word", "number", "string", "raw_string", "concatenation", "test_operator"})


@cache
def _language() -> Any:
    import tree_sitter
    import tree_sitter_bash

    return tree_sitter.Language(tree_sitter_bash.language())


def parser() -> Any:
    """One for each text: a parser has a state, and judgements may be made on several threads."""
    import tree_sitter

    return tree_sitter.Parser(_language())


def agree(text: str, commands: Sequence[Simple]) -> None:
    """UnreadableError when the full parser sees something else than these commands."""
    root = parser().parse(text.encode()).root_node
    if root.has_error:
        raise UnreadableError("something that is not a whole command")
    found: list[list[str]] = []
    _walk(root, found)
    if found != [[word.source for word in command.words] for command in commands]:
        raise UnreadableError("something that can be read in two ways")


def _walk(node: Any, found: list[list[str]]) -> None:
    if node.type not in _KNOWN:
        raise UnreadableError(f"a construct that is not judged ({node.type.replace('_', ' ')[:30]})")
    if node.type == "command":
        found.append([])
        for child in node.children:
            if child.type not in _WORDS:
                raise UnreadableError(f"a construct that is not judged ({child.type.replace('_', ' ')[:30]})")
            _walk(child, found)
            found[-1].append(child.text.decode())
        return
    for child in node.children:
        _walk(child, found)
