"""Errors, sorted by who must act. No other kind reaches a face.

    WeftError
    ├── UserError        the person: a bad argument, a missing file, a session somebody else holds
    ├── WorkspaceError   the author of a file: carries file, line, column, key and a suggestion
    ├── ModelFeedback    whoever made an artifact: the exact problems, handed to the next attempt
    └── ExternalError    the world: disk, network, a source; says whether trying again can help

Everything else is a bug and keeps its traceback. A message says what happened and where; `hint` says what to do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from weft.protocol.values import dataclass, field

EXIT_DONE: Final = 0
EXIT_FAILED: Final = 1
EXIT_USAGE: Final = 2
EXIT_WAITING: Final = 3
EXIT_OVER_BUDGET: Final = 4
EXIT_NOT_AGREED: Final = 5
EXIT_INTERRUPTED: Final = 130


class WeftError(Exception):
    """What happened, what to do about it, and the exit code a command line ends with."""

    exit_code: int = EXIT_FAILED

    def __init__(self, message: str, *, hint: str = "", exit_code: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        if exit_code is not None:
            self.exit_code = exit_code

    def __str__(self) -> str:
        return f"{self.message}\n  {self.hint}" if self.hint else self.message


class UserError(WeftError):
    """The person can put this right at the prompt."""


class EditConflictError(UserError):
    """What a person changed is not what stands there any more."""


class UsageError(UserError):
    """The command line itself was wrong; the message lists what is right."""

    exit_code = EXIT_USAGE


@dataclass(frozen=True)
class Problem:
    """One fault in a file that a person wrote."""

    file: str
    message: str
    line: int = 0
    column: int = 0
    key: str = ""
    hint: str = ""

    def __str__(self) -> str:
        place = self.file + (f":{self.line}:{self.column}" if self.line else "")
        text = f"{place}: {self.key + ': ' if self.key else ''}{self.message}"
        return f"{text}\n    {self.hint}" if self.hint else text


class WorkspaceError(WeftError):
    """The author of a file in the workspace must change it. Carries every problem found, not only the first."""

    def __init__(self, problems: Sequence[Problem], *, hint: str = "") -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems), hint=hint)


@dataclass(frozen=True)
class Finding:
    """One fault in an artifact: where in it (a JSON pointer, "" for the whole), what, and how to put it right."""

    artifact: str
    at: str
    message: str
    hint: str = ""
    kind: str = field(default="", compare=False)
    """What found it: `schema`, or the name of a check; "" when nothing says it."""

    def __str__(self) -> str:
        return f"{self.artifact}{' at ' + self.at if self.at else ''}: {self.message}"

    @property
    def with_hint(self) -> str:
        return f"{self} ({self.hint})" if self.hint else str(self)


class ModelFeedback(WeftError):
    """An attempt's result was not acceptable; the findings go back to whoever makes the next one."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        self.findings = tuple(findings)
        super().__init__("\n".join(str(finding) for finding in self.findings))


class ExternalError(WeftError):
    """The world did not cooperate: disk, network, a process. `retryable` says whether trying again can help."""

    def __init__(self, message: str, *, hint: str = "", retryable: bool = False) -> None:
        super().__init__(message, hint=hint)
        self.retryable = retryable
