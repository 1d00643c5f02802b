"""What a line of a program, a shell session, a log or a data file looks like, and what is said in its comments."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

_CODE: Final = re.compile(
    r"^\s*(?:[$>%]\s+\S|>>>\s|\.\.\.\s|#include\b|#!|#define\b|import\s+[\w.{*]+|from\s+[\w.]+\s+import\b"
    r"|(?:async\s+)?def\s+\w+\(|class\s+\w+[(:]|(?:public|private|protected|static|const|let|var|fn|func"
    r"|function)\s+\w"
    r"|return\b[^.]*;?$|(?:if|for|while|switch|elif|else if)\s*\(.*\)?\s*\{?$|(?:if|for|while|with)\b.*:$|else:?$"
    r"|@\w+|</?\w+[^>]*>\s*$|SELECT\s.+\sFROM\s|INSERT\s+INTO\b|[\w.-]+\s*=\s*\S+$"
    r"|(?:# ?)?(?:sudo|apt|apt-get|pip|npm|git|make|cd|bash|curl|wget|docker|cargo|\./\w+)\s+[-\w./])"
    r"|[{};]\s*$|^\s*[\]})]+[,;]?\s*$|=>|->|::|&&|\|\||[!=]==?\s|\+=|\w\(\)|^\s*\"[\w -]+\"\s*:"
    r"|^\s*[a-z_][\w-]*:\s*[\[{|>]?\s*$"
)
_SIGN: Final = re.compile(r"[=(){}\[\]<>_|\\/'\"`;:,]")
_TIMING: Final = re.compile(r"\d:\d\d[.,]?\d* *--> *\d")
_COMMENT: Final = re.compile(r"^\s*(?:#(?![!\w])|//|/\*|\*(?=[\s/])|--\s|;;|\"\"\"|''')\s*")
_WORDY: Final = re.compile(r"[^\W\d_]{2,}[,.]?(?:\s+[^\W\d_]{2,}[,.;:]?){4,}")
_LEAST: Final = 0.35
_FEWEST: Final = 3
_FENCES: Final = ("```", "~~~")
_MOST_TOLD: Final = 0.6
"""Of all letters, those that are neither code nor a comment in a program."""


def is_code(line: str) -> bool:
    return (
        bool(_CODE.search(line))
        and not _TIMING.search(line)
        and not (_WORDY.search(line) and line.rstrip().endswith((".", "?", "!", ",", ";", ":")))
    )


def is_dense(line: str) -> bool:
    """More signs than a sentence has: `snicaddr(family=<AddressFamily.AF_INET: 2>, address='127.0.0.1')`."""
    said = line.strip()
    return len(said) > 20 and len(_SIGN.findall(said)) > 0.16 * len(said) and said.count(" ") < 0.12 * len(said)


def is_comment(line: str) -> bool:
    return bool(_COMMENT.match(line))


def comment_mark(line: str) -> int:
    """How many characters at the beginning of a comment say only that it is one."""
    mark = _COMMENT.match(line)
    return mark.end() if mark else 0


def without_fences(lines: Sequence[str]) -> list[str]:
    """The lines, without the fences where a whole text stands between them: a page that shows a standard or a letter
    as it was typed."""
    fences = [at for at, line in enumerate(lines) if line.startswith(_FENCES)]
    inside = [line for low, high in zip(fences[::2], fences[1::2], strict=False) for line in lines[low + 1 : high]]
    said = [line for line in inside if line.strip()]
    wordy = sum(1 for line in said if _WORDY.search(line))
    code = sum(1 for line in said if is_code(line))
    if sum(map(len, inside)) < _MOST_TOLD * sum(map(len, lines)) or wordy < _LEAST * len(said) or 5 * code > len(said):
        return list(lines)
    return [" " * len(line) if line.startswith(_FENCES) else line for line in lines]


def looks_like_program(lines: Sequence[str]) -> bool:
    """A file of code as a whole: there a line that begins with # is a comment, not a heading. An article with listings
    has more lines of them than paragraphs, and says more in its paragraphs; or it fences them."""
    said = [line.strip() for line in lines if line.strip()]
    if len(said) < _FEWEST or sum(1 for line in said if line.startswith(_FENCES)) > 1:
        return False
    comments = [line for line in said if is_comment(line)]
    code = [line for line in said if is_code(line) and not is_comment(line)]
    rest = sum(map(len, said)) - sum(map(len, code)) - sum(map(len, comments))
    few = len(code) < _LEAST * len(said) or len(code) + len(comments) < 0.5 * len(said)
    return not few and rest < _MOST_TOLD * sum(map(len, said))
