"""What is known of a shell command before it runs: whether it only reads, whether it stays on this machine, and why.

Pure. The command is read by our own strict reader and by a full parser; only where both agree is each program judged.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from weft.protocol.values import dataclass
from weft.tools.shell.options import Program, RefusedOptionError, listed
from weft.tools.shell.programs import NAME_FOLDERS, judge_program
from weft.tools.shell.tree import agree
from weft.tools.shell.words import Simple, UnreadableError, read_commands


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellReading:
    read_only: bool
    offline: bool
    """Known to send nothing out; only ever true of what is read only."""
    reason: str
    commands: tuple[Simple, ...]
    """The programs with their words; () when the command could not be read."""


@lru_cache(maxsize=256)
def read_shell(command: str) -> ShellReading:
    try:
        commands = tuple(read_commands(command))
        agree(command, commands)
    except UnreadableError as error:
        return ShellReading(
            read_only=False, offline=False, reason=f"the command has {error}, which is not judged", commands=()
        )
    except (RecursionError, ImportError) as error:
        return ShellReading(
            read_only=False, offline=False, reason=f"the command could not be parsed ({error})", commands=()
        )
    names = {part.program for part in commands}
    try:
        known = [judge_program(part) for part in commands]
        if "cd" in names and "git" in names:
            raise RefusedOptionError("git after cd works in a folder whose settings nobody has looked at")
        _judge_together(commands, known)
    except RefusedOptionError as error:
        return ShellReading(read_only=False, offline=False, reason=str(error), commands=commands)
    return ShellReading(
        read_only=True,
        offline=all(entry.offline for entry in known),
        reason="every program in it only reads",
        commands=commands,
    )


_TELLS: Final = NAME_FOLDERS | listed("cd printf true false date uptime free uname hostname whoami nproc pwd")
"""They show nothing that is in a file."""
_FILTERS: Final = {
    **dict.fromkeys(("grep", "egrep", "fgrep", "jq", "awk", "gawk", "mawk", "nawk"), 1),
    **dict.fromkeys(("cat", "column", "cut", "head", "nl", "sort", "tac", "tail", "uniq", "wc"), 0),
    "tr": 2,
}
"""How many words they have that name no file."""


def _judge_together(commands: tuple[Simple, ...], known: list[Program]) -> None:
    """What looks at a service runs outside the boundary, with all that stands beside it: a link in the folder may lead
    that to keys, and git to programs."""
    going = next((part for part, entry in zip(commands, known, strict=True) if not entry.offline), None)
    for part, entry in zip(commands, known, strict=True):
        if going is not None and entry.offline and not _reads_no_file(part, entry):
            raise RefusedOptionError(f"{part.program} may read files, and beside {going.program} no boundary holds it")


def _reads_no_file(part: Simple, entry: Program) -> bool:
    """It takes what comes through the pipe, or tells of the machine."""
    words = [word.text for word in part.arguments]
    if part.reads or part.program not in _FILTERS:
        return part.program in _TELLS and not part.reads
    if part.program.endswith("awk"):
        while words and words[0].startswith("-"):
            words = words[2:] if words[0] in ("-F", "-v") else words[1:]
        return len(words) == 1
    if part.program == "jq" and re.search(r"\b(?:import|include)\b", " ".join(words)):
        return False
    parsed = entry.parse(part.program, part.arguments)
    most = _FILTERS[part.program]
    if part.program.endswith("grep"):
        if parsed.has("-f", "--file", "-r", "-R", "--recursive", "--dereference-recursive"):
            return False
        most -= parsed.has("-e", "--regexp")
    return len(parsed.operands) <= most
