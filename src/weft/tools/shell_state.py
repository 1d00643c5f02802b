"""What a command leaves behind for the next one: the folder it is in, and what it exported. For one conversation.

    text = state.wrapped("cd src && source .venv/bin/activate", mark)      bash tells both at its end, behind the mark
    output = state.taken(output, mark, working)                            the output without that

It is kept only inside a strong boundary, where the kernel and not the words of a command holds it to what it may do;
what was exported is not given to a command that gets more than the kernel holds (`builtin/shell.py`). Names by which a
program is made to run others are never kept, nor is a folder outside the working one.
"""

from __future__ import annotations

import base64
import binascii
import os
import re
import shlex
from collections.abc import Mapping
from dataclasses import field
from typing import Final

from weft.protocol.values import dataclass

MOST_BYTES: Final = 64 * 1024
_NEVER: Final = re.compile(
    r"(GIT_.*|LD_.*|DYLD_.*|BASH.*|ENV|IFS|PS\d|PROMPT_COMMAND|SHELLOPTS|PWD|OLDPWD|SHLVL|_|WEFT_.*|HOME|TMPDIR"
    r"|.*_PROXY|.*_proxy|PERL5.*|RUBYOPT|NODE_OPTIONS|PYTHONSTARTUP)\Z"
)


@dataclass(slots=True)
class ShellState:
    folder: str = ""
    """Below the working folder; "" is that itself."""
    environment: dict[str, str] = field(default_factory=dict)
    """What was exported beyond what every command gets."""

    def wrapped(self, command: str, mark: str) -> str:
        """The command in the folder of the one before; at its end it tells where it is and what it exported. On the
        first line, so that the lines of its errors are those of the command."""
        tell = f"{{ printf '\\n%s\\n' {mark}; pwd -P; env -0 | base64 -w0; echo; }} 2>/dev/null"
        go = f"cd -- {shlex.quote(self.folder)} 2>/dev/null; " if self.folder else ""
        return f"trap {shlex.quote(tell)} EXIT; {go}{command}"

    def moved(self, command: str) -> str:
        """The command in the folder of the one before, and no more."""
        return f"cd -- {shlex.quote(self.folder)} 2>/dev/null; {command}" if self.folder else command

    def taken(self, output: bytes, mark: str, working: str, plain: Mapping[str, str] | None) -> bytes:
        """The output of the command alone. `plain` is the environment that every command begins with; None: what it
        exported is not kept."""
        told = f"\n{mark}\n".encode()
        at = output.rfind(told)
        if at < 0:
            return output
        where, _, listed = output[at + len(told) :].decode("utf-8", "surrogateescape").partition("\n")
        root = os.path.realpath(working)
        if where == root or where.startswith(root + "/"):
            self.folder = where[len(root) :].strip("/")
        if plain is None:
            return output[:at]
        try:
            pairs = base64.b64decode(listed.strip(), validate=True).decode("utf-8", "replace").split("\0")
        except (binascii.Error, ValueError):
            return output[:at]
        found = dict(pair.split("=", 1) for pair in pairs if "=" in pair)
        kept = {name: value for name, value in found.items() if not _NEVER.match(name) and plain.get(name) != value}
        if sum(len(name) + len(value) for name, value in kept.items()) <= MOST_BYTES:
            self.environment = kept
        return output[:at]
