"""The one redactor: a secret that this process has had in its hands stands in nothing that is kept, sent or shown.

Whoever takes a secret out of its place tells it to `REDACTOR`; what is written to a log, made an artifact, sent to a
model, given by a tool, shown by a face or said in an error goes through it. A secret is found as it is, as an address
or JSON has it, and in base64, also a line of it by itself, and its name stands in its place. What is shorter than eight
characters is no secret worth the name: it would be found everywhere.
"""

from __future__ import annotations

import base64
import dataclasses
import json
import re
from collections.abc import Mapping
from typing import Any, Final, TypeVar
from urllib.parse import quote, quote_plus

T = TypeVar("T")
SHORTEST: Final = 8
_ENVIRONMENT_SHORTEST: Final = 16
_LINE_SHORTEST: Final = 32
SECRET_NAME: Final = re.compile(
    r"(?i)(?:^|[_-])(?:token|secret|password|passwd|passphrase|credential|api[_-]?key|private[_-]?key|access[_-]?key)$"
)
"""What is called so is one."""


class Redactor:
    def __init__(self) -> None:
        self._known: dict[str, str] = {}
        self._pattern: re.Pattern[str] | None = None

    def learn(self, name: str, secret: str) -> None:
        if len(secret) < SHORTEST or secret in self._known:
            return
        forms = _forms(secret).union(*map(_forms, _lines(secret)))
        self._known |= dict.fromkeys(forms, name)
        longest_first = sorted(self._known, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, longest_first)))

    def learn_environment(self, variables: Mapping[str, str]) -> None:
        """What the environment has under the name of a secret."""
        for name, value in variables.items():
            if SECRET_NAME.search(name) and len(value) >= _ENVIRONMENT_SHORTEST and not value.startswith(("/", "http")):
                self.learn(name, value)

    def text(self, text: str) -> str:
        if self._pattern is None:
            return text
        return self._pattern.sub(lambda found: f"[secret {self._known[found[0]]}]", text)

    def value(self, value: T) -> T:
        """The same of anything made of mappings, sequences and dataclasses; the value itself when there is nothing."""
        if self._pattern is None:
            return value
        cleaned: T = self._cleaned(value)
        return cleaned

    def _cleaned(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            made: Any = {self._cleaned(key): self._cleaned(one) for key, one in value.items()}
            return made if made != value else value
        if isinstance(value, tuple | list | frozenset):
            parts = [self._cleaned(one) for one in value]
            return value if all(new is old for new, old in zip(parts, value, strict=True)) else type(value)(parts)
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            named = [(one.name, getattr(value, one.name)) for one in dataclasses.fields(value) if one.init]
            changed = {name: new for name, old in named if (new := self._cleaned(old)) is not old and new != old}
            return dataclasses.replace(value, **changed) if changed else value
        return value


def _lines(secret: str) -> list[str]:
    """Of a key in several lines, those that are of the key itself: what is printed or read is told line by line."""
    found = [line.strip() for line in secret.splitlines()]
    return [line for line in found if len(line) >= _LINE_SHORTEST and not re.search(r"\s", line)] if found[1:] else []


def _forms(secret: str) -> set[str]:
    """How it stands in addresses, in JSON, and in base64, there also between other bytes as in `name:secret`."""
    data = secret.encode("utf-8", "surrogatepass")
    addressed = {quote(data, safe=safe) for safe in ("", "/", "!'()*")}
    addressed |= {quote_plus(data)} | {re.sub("%..", lambda found: found[0].lower(), one) for one in addressed}
    told = {json.dumps(secret, ensure_ascii=strict)[1:-1] for strict in (True, False)}
    packed = {base64.b64encode(data).decode().rstrip("=")}
    for before, letters in ((0, 0), (1, 2), (2, 3)):  # the letters that bytes before it have a part in
        after = (before + len(data)) % 3 != 0
        whole = base64.b64encode(bytes(before) + data).decode().rstrip("=")
        packed.add(whole[letters : len(whole) - after])
    packed |= {one.replace("+", "-").replace("/", "_") for one in packed}
    return {secret} | addressed | told | packed


REDACTOR: Final = Redactor()
"""Of this process: what it has had in its hands, whoever gave it."""
