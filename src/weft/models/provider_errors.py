"""Whatever a provider's client raises, as one `ModelError`: its kind, what the person can do, and no secret in it.

The provider's own words are kept, shortened and redacted. The original is not chained: its headers and body may hold
the key, and a traceback is often pasted where others read it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, Final

from weft.models.model import ErrorKind, ModelError

_LONGEST: Final = 400
_KEY_LIKE: Final = re.compile(r"\b(?:sk|pk|rk|key|AIza|ghp|xai|gsk)[-_]?[A-Za-z0-9*_-]{12,}", re.ASCII)
_BEARER: Final = re.compile(r"(?i)(bearer\s+|x-api-key\W+)[^\s\"',}]+")
_TOO_LONG: Final = re.compile(
    r"(?i)context[ _]?(?:length|window|size)|prompt is too long|too many (?:input )?tokens"
    r"|exceeds? the (?:available|model'?s) context|input is too long"
)
_MALFORMED: Final = re.compile(r"(?i)model produced output that does not match")
"""What llama.cpp says when what a small model wrote is not what it was held to."""
_HINTS: Final[dict[ErrorKind, str]] = {
    "auth": "check the key with `weft models test`, or give a new one with `weft models add`",
    "rate_limited": "wait, or use another model for now",
    "overloaded": "try again in a minute, or use another model for now",
    "context_too_long": "give less text, or use a model with a larger window",
    "refused": "put the task in other words, or use another model",
    "invalid_request": "check the model's name and what it can take with `weft models test`",
    "network": "check the connection and the address of the model",
    "malformed": "try again; if it stays, the server does not speak the protocol it is configured for",
}


def redactor(*secrets: str) -> Callable[[str], str]:
    """Takes the given secrets, and whatever looks like one, out of a text."""
    known = [secret for secret in secrets if len(secret) >= 4]

    def redact(text: str) -> str:
        for secret in known:
            text = text.replace(secret, "[key]")
        return _BEARER.sub(r"\1[key]", _KEY_LIKE.sub("[key]", text))

    return redact


def sorted_error(error: Exception, name: str, redact: Callable[[str], str]) -> ModelError:
    """A ModelError for what pydantic-ai or a transport raised; a bug is raised again as it is."""
    from pydantic_ai import exceptions as raised

    said = redact(_words(error))[:_LONGEST]
    wait = getattr(error, "retry_after", None)
    if isinstance(error, raised.ModelAPIError):
        kind, retryable = _kind(error, said)
        hint = _HINTS[kind]
        if isinstance(error, raised.ModelQuotaExceededError):
            hint = "the account's credit or quota is used up: add to it, or use another model"
        elif isinstance(error, raised.ModelNotFoundError):
            hint = "the server does not know this model: check its name and the address"
        return ModelError(kind, f"{name}: {said}", hint=hint, retryable=retryable, wait=wait)
    if isinstance(error, raised.ContentFilterError):
        return ModelError("refused", f"{name}: {said}", hint=_HINTS["refused"])
    if isinstance(error, raised.UnexpectedModelBehavior):
        return ModelError("malformed", f"{name}: {said}", hint=_HINTS["malformed"], retryable=True)
    if isinstance(error, raised.UserError | raised.AgentRunError):
        return ModelError("invalid_request", f"{name}: {said}", hint=_HINTS["invalid_request"])
    if type(error).__module__.split(".")[0] in ("httpx", "httpx2", "httpcore2", "anyio", "ssl") or isinstance(
        error, OSError
    ):
        return ModelError("network", f"{name}: {said}", hint=_HINTS["network"], retryable=True)
    if type(error).__module__.split(".")[0] in ("anthropic", "openai", "google", "json", "pydantic_core"):
        return ModelError("malformed", f"{name}: {said}", hint=_HINTS["malformed"], retryable=True)
    raise error


def ended_early(name: str) -> ModelError:
    what = f"{name}: the answer broke off before its end"
    return ModelError("network", what, hint=_HINTS["network"], retryable=True)


def _kind(error: Any, said: str) -> tuple[ErrorKind, bool]:
    from pydantic_ai import exceptions as raised

    status = getattr(error, "status_code", 0)
    if isinstance(error, raised.ModelContextWindowExceededError) or (status in (400, 413) and _TOO_LONG.search(said)):
        return "context_too_long", False
    if _MALFORMED.search(said):
        return "malformed", False
    kinds: list[tuple[type[Exception], ErrorKind, bool]] = [
        (raised.ModelQuotaExceededError, "rate_limited", False),
        (raised.ModelRateLimitError, "rate_limited", True),
        (raised.ModelAuthenticationError, "auth", False),
        (raised.ModelRequestRejectedError, "invalid_request", False),
        (raised.ModelUnavailableError, "overloaded", True),
        (raised.ModelServerError, "overloaded", True),
        (raised.ModelConnectionError, "network", True),
        (raised.ModelRequestTimeout, "network", True),
    ]
    for cause, kind, retryable in kinds:
        if isinstance(error, cause):
            return kind, retryable
    if 400 <= status < 500:
        return "invalid_request", False
    return ("overloaded", True) if status >= 500 else ("malformed", True)


def _words(error: Exception) -> str:
    """What the provider said, without the wrapping: the innermost message of the body, else the exception's."""
    body = getattr(error, "body", None)
    for _ in range(3):
        if isinstance(body, dict):
            body = body.get("error") or body.get("message") or body.get("detail") or body
    status = getattr(error, "status_code", None)
    if isinstance(body, dict):
        body = json.dumps(body, ensure_ascii=False)
    said = body if isinstance(body, str) and body.strip() else str(error) or type(error).__name__
    said = " ".join(said.split())
    if not status and (cause := _innermost(error)):
        said = f"{said.rstrip('.')} ({cause})"
    return f"{said} (HTTP {status})" if status else said


def _innermost(error: BaseException) -> str:
    """What the transport said: "connection error" alone helps nobody."""
    seen = 0
    while (cause := error.__cause__ or error.__context__) is not None and seen < 10:
        error, seen = cause, seen + 1
    return " ".join((str(error) or type(error).__name__).split()) if seen else ""
