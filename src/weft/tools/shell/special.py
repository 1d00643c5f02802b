"""Programs whose words are a language of their own: find, awk, tar, ps, date, printf, command."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from weft.tools.shell.options import Parsed, RefusedOptionError, listed
from weft.tools.shell.words import Word

# -- find

_FIND_TESTS: Final = listed(
    """-empty -executable -false -nogroup -nouser -readable -true -writable -depth -d -daystart -follow -mount -noleaf
    -warn -nowarn -xdev -ls -print -print0 -prune -quit -not -a -and -o -or -H -L -P"""
)
_FIND_VALUED: Final = listed(
    """-amin -anewer -atime -cmin -cnewer -ctime -fstype -gid -group -ilname -iname -inum -ipath -iregex -iwholename
    -links -lname -mmin -mtime -name -newer -path -perm -regex -samefile -size -type -uid -used -user -wholename
    -xtype -maxdepth -mindepth -regextype -printf"""
)
_FIND_VALUE: Final = re.compile(r"[^-]|-[0-9]+[A-Za-z]?\Z|-[ugoa]*[=+]")
_FIND_SIGNS: Final = frozenset({"(", ")", "!", ","})


def judge_find(words: Sequence[Word]) -> None:
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word.text in _FIND_VALUED:
            if not rest or not _FIND_VALUE.match(rest[0].text):
                raise RefusedOptionError(f"find {word.text} without a plain value")
            if rest[0].pattern:
                raise RefusedOptionError(f"the pattern after find {word.text} has to be in quotes")
            rest.pop(0)
        elif word.text in _FIND_TESTS or word.text in _FIND_SIGNS:
            continue
        elif word.text.startswith(("-", "(", ")", "!", ",")):
            raise RefusedOptionError(f"find {word.source[:40]} is not known to be read only")


# -- awk

_AWK_REFUSED: Final = re.compile(
    r"[|>@`]|\\\n|\b(?:system|getline|close|fflush|function|func|extension|ARGV|ARGC|ARGIND|ENVIRON|PROCINFO|SYMTAB|FUNCTAB)\b"
)
_AWK_CALL: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)\s*\(")
_AWK_CALLS: Final = listed(
    """print printf length substr index split sub gsub match sprintf tolower toupper int sqrt exp log sin cos atan2
    if while for in gensub strftime and or"""
)


def judge_awk(words: Sequence[Word]) -> None:
    """Nothing but `-F x`, `-v a=b`, one program that calls no other and writes to no file, and files to read."""
    rest = list(words)
    while rest and rest[0].text.startswith("-"):
        option = rest.pop(0).text
        if option in ("-F", "-v"):
            if not rest or rest[0].text.startswith("-"):
                raise RefusedOptionError(f"awk {option} without its value")
            _plain_awk(rest.pop(0).text)
        elif re.match(r"-F[^-]", option):
            _plain_awk(option[2:])
        else:
            raise RefusedOptionError(f"the option {option[:40]} of awk is not known to be read only")
    if not rest:
        raise RefusedOptionError("awk without a program")
    program = rest.pop(0)
    if program.pattern:
        raise RefusedOptionError("the program of awk has to be in quotes")
    _plain_awk(program.text)
    for word in rest:
        if word.text.startswith("-") or "=" in word.text:
            raise RefusedOptionError(f"{word.source[:40]} after the program of awk")


def _plain_awk(text: str) -> None:
    if found := _AWK_REFUSED.search(text):
        raise RefusedOptionError(f"awk with {found[0]!r} may run a program or write a file")
    for call in _AWK_CALL.finditer(text):
        if call[1] not in _AWK_CALLS:
            raise RefusedOptionError(f"awk calls {call[1][:40]}, which is not known to be harmless")


# -- tar


def judge_tar(words: Sequence[Word]) -> None:
    """Only the listing of an archive."""
    if not words or not re.match(r"-?[tvzjJ]*t[tvzjJ]*f\Z", words[0].text):
        raise RefusedOptionError("tar is read only as tar -tf ARCHIVE")
    if len(words) < 2:
        raise RefusedOptionError("tar without an archive would read a tape")
    for word in words[1:]:
        if word.text.startswith("-"):
            raise RefusedOptionError(f"the option {word.source[:40]} of tar is not known to be read only")
    if ":" in words[1].text:
        raise RefusedOptionError("tar takes a name with a colon for another machine")


# -- others


def judge_ps(words: Sequence[Word]) -> None:
    """No `e` without a dash: it shows the environment of processes, and secrets with it."""
    rest = list(words)
    while rest:
        text = rest.pop(0).text
        if text in ("-o", "-u", "-p", "-C", "-t", "--ppid", "--pid", "--user", "--sort", "-U", "-g"):
            if not rest or rest[0].text.startswith("-") or "env" in rest[0].text.lower():
                raise RefusedOptionError(f"ps {text} without a value that is known to be harmless")
            rest.pop(0)
        elif re.match(r"-[AaefFjlMyHLTwx]+\Z", text) or re.match(r"[aufjlmrsvxwhH]+\Z", text):
            continue
        elif text not in ("--forest", "--no-headers", "--headers") and not re.match(r"--sort=[-+%a-z,]+\Z", text):
            raise RefusedOptionError(f"ps {text[:40]} is not known to be harmless")


def check_date(parsed: Parsed) -> None:
    for word in parsed.operands:
        if not word.text.startswith("+"):
            raise RefusedOptionError("date with an operand that is no format sets the clock")


def judge_printf(words: Sequence[Word]) -> None:
    if not words or words[0].text.startswith("-"):
        raise RefusedOptionError("printf with an option may set a variable")


def judge_command(words: Sequence[Word]) -> None:
    if len(words) != 2 or words[0].text not in ("-v", "-V") or not re.match(r"[A-Za-z0-9._+-]+\Z", words[1].text):
        raise RefusedOptionError("command is read only as command -v NAME")


def judge_cd(words: Sequence[Word]) -> None:
    text = words[0].text if len(words) == 1 and not words[0].pattern else "-"
    parts = [part for part in text.split("/") if part not in ("", ".")]
    if text.startswith("-") or ".." in parts or (text.startswith("/") and len(parts) < 2):
        raise RefusedOptionError("cd is taken only with one plain folder, not upwards and not to the top")


def anything(words: Sequence[Word]) -> None:
    """No word can do harm to this one."""
