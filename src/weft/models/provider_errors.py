"""Whatever goes wrong between us and a provider, as one `ModelError`: its kind, what the person can do, and no secret.

    reply_error       a status that is not 200, with what stands in the body
    no_stream         a 200 with a page or a value where a stream was asked for
    told_error        an error among the events of a stream
    transport_error   what the connection raised
    sorted_error      what pydantic-ai raised, for the wires that go through it

The provider's own words are kept, shortened and redacted. The original is not chained: its headers and body may hold
the key, and a traceback is often pasted where others read it.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime
from typing import Any, Final

from weft.models.model import ErrorKind, ModelError

_LONGEST: Final = 400
MOST_OF_AN_ERROR: Final = 64 * 1024
_TRANSPORTS: Final = ("httpx", "httpx2", "httpcore2", "h11", "anyio", "ssl")
_KEY_LIKE: Final = re.compile(r"\b(?:sk|pk|rk|key|AIza|ghp|xai|gsk)[-_]?[A-Za-z0-9*_-]{12,}", re.ASCII)
_BEARER: Final = re.compile(r"(?i)(bearer\s+|x-api-key[\"']?\s*[:=]\s*[\"']?)[^\s\"',}]+")
_TOO_LONG: Final = re.compile(
    r"(?i)context[ _]?(?:length|window|size)|prompt is too long|too many (?:input )?tokens"
    r"|exceeds? the (?:available|model'?s) context|input is too long"
)
_QUOTA: Final = re.compile(
    r"(?i)insufficient_quota|exceeded your current quota|credit balance|insufficient (?:credit|balance)"
)
_TAGS: Final = re.compile(r"(?is)<(script|style)\b.*?(?:</\1>|\Z)|<[^<>]*>")
"""No sign is looked at more than twice, also where one that opens is never closed."""
_STATUS_OF: Final = {
    "authentication_error": 401,
    "permission_error": 403,
    "not_found_error": 404,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "insufficient_quota": 429,
    "overloaded_error": 529,
    "api_error": 500,
    "server_error": 500,
    "invalid_request_error": 400,
    "context_length_exceeded": 400,
}
"""What the kinds of errors that come inside a stream would have been as a status."""
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


def reply_error(name: str, status: int, headers: Mapping[str, str], body: str) -> ModelError:
    """A reply that is a refusal."""
    said, kind = _in_body(body)
    words = f"{(said or 'the server gave no reason')[:_LONGEST]} (HTTP {status})"
    if 300 <= status < 400:
        there = headers.get("location", "elsewhere")
        words = f"the server sends us to {there} (HTTP {status})"
        return ModelError("invalid_request", f"{name}: {words}", hint="check the address of the model")
    return _by_status(name, status, words, kind, wait_of(headers))


def no_stream(name: str, said: str, value: Any) -> ModelError:
    """A reply that is none of a model's: a page, or a value that says what is wrong."""
    if value is None:
        words = " ".join(_TAGS.sub(" ", said).split())[:_LONGEST] or "an empty page"
        hint = "the address answers with a page, not as a model: check it (does it end in /v1?)"
        return ModelError("malformed", f"{name}: {words}", hint=hint)
    return told_error(name, value.get("error", value) if isinstance(value, dict) else value, retryable=False)


def told_error(name: str, error: Any, *, retryable: bool = True) -> ModelError:
    """An error that a server tells in a reply that had begun well. Without a number it is taken to pass."""
    said, kind = _in_body(json.dumps({"error": error}, ensure_ascii=False))
    code = error.get("code") if isinstance(error, dict) else None
    status = code if type(code) is int else _STATUS_OF.get(kind, 0)
    words = (said or str(error))[:_LONGEST]
    if status >= 400:
        return _by_status(name, status, f"{words} (HTTP {status})" if type(code) is int else words, kind, None)
    if _TOO_LONG.search(words):
        return ModelError("context_too_long", f"{name}: {words}", hint=_HINTS["context_too_long"])
    if not retryable:
        return ModelError("malformed", f"{name}: {words}", hint=_HINTS["invalid_request"])
    return ModelError("overloaded", f"{name}: {words}", hint=_HINTS["overloaded"], retryable=True)


def transport_error(error: Exception, name: str, redact: Callable[[str], str]) -> ModelError:
    """A ModelError for what the connection raised; a bug is raised again as it is."""
    if not _is_transport(error):
        raise error
    said = redact(_words(error))[:_LONGEST]
    return ModelError("network", f"{name}: {said}", hint=_HINTS["network"], retryable=True)


def malformed(name: str, what: str, *, retryable: bool = True) -> ModelError:
    return ModelError("malformed", f"{name}: {what[:_LONGEST]}", hint=_HINTS["malformed"], retryable=retryable)


def wait_of(headers: Mapping[str, str]) -> float | None:
    """The pause that a server asks for: seconds, milliseconds, or a date; None when it says nothing we understand."""
    try:
        if "retry-after-ms" in headers:
            return max(0.0, float(headers["retry-after-ms"]) / 1000)
        said = headers.get("retry-after", "")
        if re.fullmatch(r"\s*\d+(?:\.\d+)?\s*", said, re.ASCII):
            return float(said)
        then = parsedate_to_datetime(said) if said else None
    except (ValueError, OverflowError):
        return None
    return None if then is None else max(0.0, then.timestamp() - time.time())


def _in_body(body: str) -> tuple[str, str]:
    """What a body says in words, and the kind it gives: the innermost message, or the text without its tags."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return " ".join(_TAGS.sub(" ", body).split()), ""
    kind = ""
    for _ in range(3):
        if isinstance(value, list) and value:
            value = value[0]
        if isinstance(value, dict):
            kind = next((v for k in ("type", "code", "status") if isinstance(v := value.get(k), str)), kind)
            value = value.get("error") or value.get("message") or value.get("detail") or value.get("msg") or value
    said = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return " ".join(said.split()), kind


def _by_status(name: str, status: int, said: str, kind: str, wait: float | None) -> ModelError:
    def made(sort: ErrorKind, hint: str = "", *, retryable: bool = False) -> ModelError:
        return ModelError(sort, f"{name}: {said}", hint=hint or _HINTS[sort], retryable=retryable, wait=wait)

    if _MALFORMED.search(said):
        return made("malformed")
    if status in (402, 403, 400, 429) and (_QUOTA.search(kind) or _QUOTA.search(said)):
        return made("rate_limited", "the account's credit or quota is used up: add to it, or use another model")
    if status in (400, 413, 422) and _TOO_LONG.search(said):
        return made("context_too_long")
    if status in (401, 403, 407):
        return made("auth")
    if status == 404:
        return made("invalid_request", "the server does not know this model: check its name and the address")
    if status == 429:
        return made("rate_limited", retryable=True)
    if status == 408:
        return made("network", retryable=True)
    return made("overloaded", retryable=True) if status >= 500 else made("invalid_request")


def sorted_error(error: Exception, name: str, redact: Callable[[str], str]) -> ModelError:
    """A ModelError for what pydantic-ai or a transport raised; a bug is raised again as it is."""
    cause: BaseException | None = error
    while cause is not None:  # what was found out about a reply comes wrapped by the client that asked
        if isinstance(cause, ModelError):
            return ModelError(cause.kind, redact(cause.message), hint=cause.hint, retryable=cause.retryable)
        cause = cause.__cause__
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
    if _is_transport(error):
        return ModelError("network", f"{name}: {said}", hint=_HINTS["network"], retryable=True)
    if type(error).__module__.split(".")[0] in ("anthropic", "openai", "google", "json", "pydantic_core"):
        return ModelError("malformed", f"{name}: {said}", hint=_HINTS["malformed"], retryable=True)
    raise error


def _is_transport(error: Exception) -> bool:
    return isinstance(error, OSError) or type(error).__module__.split(".")[0] in _TRANSPORTS


def broken_off(name: str) -> ModelError:
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
    if not status and (cause := _innermost(error)) and cause not in said:
        said = f"{said.rstrip('.')} ({cause})"
    return f"{said} (HTTP {status})" if status else said


def _innermost(error: BaseException) -> str:
    """What the transport said: "connection error" alone helps nobody."""
    seen = 0
    while (cause := error.__cause__ or error.__context__) is not None and seen < 10:
        error, seen = cause, seen + 1
    return " ".join((str(error) or type(error).__name__).split()) if seen else ""
