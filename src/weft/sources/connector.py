"""The contract of a source of any kind, once it is reached.

listing = await connector.listing()                        # what it offers now
outcome = await connector.call("search", {...}, asked)     # settles with words, whatever the source does
await connector.close()                                    # nothing of it is left
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from weft.protocol.errors import ExternalError, UserError
from weft.sources.listing import Listing
from weft.tools.tool import Context, Outcome


class SourceDownError(ExternalError):
    """It can't be reached now. `sent` says whether something was asked of it before that was known."""

    def __init__(self, message: str, *, hint: str = "", sent: bool = False) -> None:
        super().__init__(message, hint=hint, retryable=True)
        self.sent = sent


class NeedsSignInError(UserError):
    """Somebody must sign in to it first."""

    def __init__(self, slug: str, why: str = "") -> None:
        said = f"the source {slug} needs sign-in" + (f": {why}" if why else "")
        super().__init__(said, hint=f"weft sources sign-in {slug}")


class Connector(Protocol):
    async def listing(self) -> Listing: ...

    async def call(self, tool: str, given: Mapping[str, Any], context: Context) -> Outcome: ...

    async def close(self) -> None: ...
