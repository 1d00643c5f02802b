"""What is known of a shell command before it runs: whether it only reads, whether it stays on this machine, and why.

Pure. The command is read by our own strict reader and by a full parser; only where both agree is each program judged.
"""

from __future__ import annotations

from functools import lru_cache

from weft.protocol.values import dataclass
from weft.tools.shell.options import RefusedOptionError
from weft.tools.shell.programs import judge_program
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
    except RefusedOptionError as error:
        return ShellReading(read_only=False, offline=False, reason=str(error), commands=commands)
    return ShellReading(
        read_only=True,
        offline=all(entry.offline for entry in known),
        reason="every program in it only reads",
        commands=commands,
    )
