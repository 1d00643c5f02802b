"""From what a check yields to findings: a bounded number of them, each naming the value and the way out.

A fault's hint may be a function: the nearest passage of a large document is looked for only for faults that are shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any, Final

from weft.protocol.errors import Finding
from weft.protocol.hashes import canonical
from weft.protocol.values import dataclass

FINDINGS_LIMIT: Final = 20
SHOWN_LIMIT: Final = 80
# Findings reach terminals and logs: control characters would act there and lone surrogates can't be encoded.
_UNSHOWABLE: Final = dict.fromkeys([*range(32), *range(127, 160), *range(0xD800, 0xE000)], "\ufffd")


@dataclass(frozen=True, slots=True)
class Fault:
    at: str
    message: str
    hint: str | Callable[[], str]


def collect(artifact: str, faults: Iterable[Fault]) -> tuple[Finding, ...]:
    remaining = iter(faults)
    shown = list(islice(remaining, FINDINGS_LIMIT))
    more = sum(1 for _ in remaining)
    findings = [
        Finding(artifact, fault.at, fault.message, fault.hint if isinstance(fault.hint, str) else fault.hint())
        for fault in shown
    ]
    if more:
        last = findings[-1]
        message = f"{last.message} ({more} more like this {'is' if more == 1 else 'are'} not listed)"
        findings[-1] = Finding(artifact, last.at, message, last.hint)
    return tuple(findings)


def shown(value: Any, limit: int = SHOWN_LIMIT) -> str:
    """A JSON value on one line for a message: texts in quotation marks, cut to about `limit` characters."""
    if isinstance(value, str):
        return f"“{cut(' '.join(value[: 50 * limit].split()), limit)}”"
    try:
        return cut(canonical(value), limit)
    except (RecursionError, ValueError):
        return cut(repr(value) if isinstance(value, float) else "a value too deep to show", limit)


def cut(text: str, limit: int) -> str:
    return showable(text if len(text) <= limit else text[: limit - 1].rstrip() + "…")


def showable(text: str) -> str:
    return text.translate(_UNSHOWABLE)
