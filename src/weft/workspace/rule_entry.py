"""A permission rule as people write it: in `permissions.yaml`, in a source's file, and under `allow` of a step.

What a rule does to a call is judged in `weft.tools`; here is only its form, and what means nothing or too much.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from weft.workspace.fields import OptionalText, Strict, Text

Verb = Literal["allow", "ask", "deny"]


class RuleEntry(Strict):
    tool: Text = Field(
        description="The tool's name; * stands for any letters. In a source's file: its name in the source"
    )
    path: OptionalText = Field(
        default=None, description="For tools that take a path: a pattern such as notes/** or *.md"
    )
    host: OptionalText = Field(default=None, description="For WebFetch: the host, or *.example.org for those below it")
    command: OptionalText = Field(
        default=None,
        description="For Shell: the words of one program. To allow, all of them, or the first ones and then *; to ask "
        "or deny, the first ones, whatever options stand between",
    )
    read_only: bool = Field(
        default=False, description="Allow only: it changes nothing, so it is allowed in safe as well"
    )
    when_tainted: bool = Field(
        default=False, description="Allow only: it is allowed also when content from outside is in the conversation"
    )
    needs: list[Literal["write", "git", "network", "keys", "outside"]] = Field(
        default=[],
        description="Allow only, for Shell: what a call of this command may ask to be opened in the boundary",
    )
    why: OptionalText = Field(default=None, description="The reason, shown when the rule decides")

    @property
    def told(self) -> str:
        """As it stands under its verb in a permission file."""
        return json.dumps(self.model_dump(exclude_defaults=True), ensure_ascii=False)


class StepRuleEntry(RuleEntry):
    """A rule under `allow` of a step: as in a permission file, or with a command that the person chooses."""

    parameter: OptionalText = Field(
        default=None,
        description="In place of command: the parameter whose value may be run, in these very words",
    )


def command_words(command: str) -> tuple[str, ...]:
    """The words of one program; () when they can't be read."""
    try:
        return tuple(shlex.split(command))
    except ValueError:
        return ()


def rule_faults(verb: Verb, entry: RuleEntry, *, own_tools: bool) -> Iterator[tuple[str, bool, str, str]]:
    """What is well-formed but means nothing, or more than its author thinks: the key, whether the key itself is at
    fault (else its value), what is wrong, what to do. `own_tools`: the rule is about the tools of a source alone."""
    about = [key for key in ("path", "host", "command", "parameter") if getattr(entry, key, None) is not None]
    if len(about) > 1:
        yield about[1], True, "a rule is about one thing", "write two rules"
    if entry.command is not None and not command_words(entry.command):
        yield "command", False, "these are not the words of one program", ""
    if entry.needs and entry.command is None:
        yield "needs", True, "is about a command", "add 'command', or remove it"
    for key in ("read_only", "when_tainted", "needs"):
        if verb != "allow" and getattr(entry, key):
            yield key, True, f"has no meaning in a rule that {verb}s", "remove it"
    if verb == "allow" and not about and entry.tool in ("Shell", "*") and not own_tools:
        yield "tool", False, "would allow everything", "name the command, or use the mode auto"
