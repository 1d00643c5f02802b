"""Where the secrets of sources come from: `env:NAME` or `secret:NAME` in a value of a config, never the value itself. A
secret is one of the person's (`weft secrets`). What is taken out of its place is known to the redactor from then on.

Also inside a longer text, as other programs write it: `${NAME}`, `${NAME:-default}`, `${env:NAME}`, `${secret:NAME}`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Final

from weft.protocol.errors import UserError
from weft.protocol.values import dataclass
from weft.redaction import REDACTOR

_WHOLE: Final = re.compile(r"(env|secret):(\S+)\Z")
_INSIDE: Final = re.compile(r"\$\{(?:(env|secret):)?([A-Za-z_][A-Za-z0-9_./-]*)(?::-([^}]*))?\}")


@dataclass(frozen=True, slots=True)
class Secrets:
    """A person's environment and credential store, for the values of sources."""

    variables: Mapping[str, str] = field(repr=False)
    stored: Callable[[str], str | None] = field(repr=False, default=lambda _: None)

    def value(self, text: str) -> str:
        """The text with what it refers to in place. UserError says what is missing and how to give it."""
        if whole := _WHOLE.match(text):
            return self._found(whole[1], whole[2])

        def put(match: re.Match[str]) -> str:
            kind, name, default = match[1] or "env", match[2], match[3]
            if default is not None and kind == "env" and not self.variables.get(name):
                return default
            return self._found(kind, name)

        return _INSIDE.sub(put, text)

    def values(self, texts: Mapping[str, str]) -> dict[str, str]:
        return {name: self.value(text) for name, text in texts.items()}

    def _found(self, kind: str, name: str) -> str:
        found = self.variables.get(name) if kind == "env" else self.stored(name)
        if found:
            if kind == "secret" or names_secret(name):
                REDACTOR.learn(name, found)
            return found
        if kind == "env":
            raise UserError(f"the variable {name} is not set", hint=f"set {name}, and try again")
        raise UserError(f"there is no secret '{name}'", hint=f"keep it first: weft secrets set {name}")


def names_secret(name: str) -> bool:
    """Whether a variable or header of this name usually holds a secret."""
    return bool(re.search(r"key|token|secret|passw|credential|authorization|bearer|cookie", name, re.IGNORECASE))


def refers(text: str) -> bool:
    """Whether a value says where a secret is, and is none itself."""
    return bool(_WHOLE.match(text) or _INSIDE.search(text))
