"""Where a model is reached and as whom, and what holds for every way to it."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from weft.models.model import ErrorKind, ThinkingLevel
from weft.models.provider_errors import redactor
from weft.models.structured import Way
from weft.protocol.values import dataclass
from weft.workspace.model_table import MediaKind

if TYPE_CHECKING:
    import httpx2

DEFAULT_WINDOW: Final = 128_000
CONNECT_SECONDS: Final = 15.0
QUIET_SECONDS: Final = 600.0
"""How long a server may be silent: a reasoning model may think for minutes before its first byte."""
UNPAID: Final[frozenset[ErrorKind]] = frozenset(
    {"auth", "rate_limited", "overloaded", "context_too_long", "invalid_request"}
)
"""What a provider turns away before it answers has used nothing; a connection that breaks may have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where a model is reached and as whom. The key shows in no representation."""

    name: str
    model: str
    base_url: str = ""
    key: str = field(default="", repr=False)
    window: int = 0
    thinking: ThinkingLevel = "off"
    """For requests that don't say."""
    media: frozenset[MediaKind] | None = None
    """What it takes besides text; None when nobody says."""
    quiet: float = QUIET_SECONDS
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)


class EndpointModel:
    """What is the same of every model that is reached at an endpoint, whatever speaks to it."""

    output_ways: tuple[Way, ...] = ("tool", "native", "prompted")

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._redact = redactor(endpoint.key, *endpoint.headers.values())

    @property
    def name(self) -> str:
        return self._endpoint.name

    @property
    def window(self) -> int:
        return self._endpoint.window or DEFAULT_WINDOW

    @property
    def media(self) -> frozenset[MediaKind] | None:
        return self._endpoint.media

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._endpoint.name!r})"


def is_loopback(url: str) -> bool:
    """A model on this machine is reached directly, whatever proxy the environment names."""
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def http_client(endpoint: Endpoint, **more: object) -> httpx2.AsyncClient:
    import httpx2

    return httpx2.AsyncClient(
        timeout=httpx2.Timeout(endpoint.quiet, connect=CONNECT_SECONDS),
        limits=httpx2.Limits(max_connections=1000, max_keepalive_connections=100),
        # What is compressed can grow beyond all bounds, and text this short gains nothing by it.
        headers={"accept-encoding": "identity", **endpoint.headers},
        trust_env=not is_loopback(endpoint.base_url),
        follow_redirects=False,
        **more,  # type: ignore[arg-type]
    )
