"""Tells a person who is not looking that they are needed, or that what they wait for is done.

    WEFT_NOTIFY="bell title desktop https://ntfy.sh/my-topic"

`bell` and `title` are the terminal's, and its face does them; `desktop` is a notification of the machine; an address
gets the words by POST: as text, as ntfy takes it, or as `{"text": …}` where the address is one of Slack's kind (a path
with `/services/` or `/hooks/`). It comes from the person's surroundings and never from a workspace, which may be
somebody else's. What can't be told is passed over: the work does not wait for it.
"""

from __future__ import annotations

import asyncio
import json
import logging
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import urlsplit

from weft.conversation.projections import ANSWERED
from weft.protocol.conversation_events import MessageAccepted
from weft.protocol.events import GateOpened, RunEnded, RunStarted
from weft.protocol.values import dataclass
from weft.redaction import REDACTOR

VARIABLE: Final = "WEFT_NOTIFY"
USUAL: Final = ("bell", "title")
SECONDS: Final = 10.0
LONGEST: Final = 500
LONG_SECONDS: Final = 15.0
"""Of work, after which an answer or the end of a run is worth telling."""


@dataclass(frozen=True, slots=True)
class NotifyWishes:
    bell: bool = False
    title: bool = False
    desktop: bool = False
    addresses: tuple[str, ...] = ()


def notify_wishes(said: str) -> NotifyWishes:
    """Bell and title unless the person says otherwise; `none` is nothing."""
    words = said.split() or list(USUAL)
    addresses = tuple(word for word in words if urlsplit(word).scheme in ("http", "https"))
    return NotifyWishes("bell" in words, "title" in words, "desktop" in words, addresses)


def tell(wishes: NotifyWishes, session: str, text: str) -> None:
    """To the desktop and to addresses. For a thread: it waits for others."""
    words = REDACTOR.text(f"{session}: {text}")[:LONGEST]
    if wishes.desktop and (command := _desktop(words)):
        subprocess.run(command, check=False, timeout=SECONDS, capture_output=True)
    for address in wishes.addresses:
        try:
            with urllib.request.urlopen(posted(address, words), timeout=SECONDS) as reply:
                reply.read(1024)
        except (OSError, ValueError) as error:
            logging.getLogger("weft").info("%s could not be told: %s", urlsplit(address).hostname, error)


class Notifier:
    """Of one session: each cause is told once, and an answer only when it was long in coming."""

    def __init__(self, session: str, surroundings: Mapping[str, str]) -> None:
        self._session = session
        self._wishes = notify_wishes(surroundings.get(VARIABLE, ""))
        self._told: set[str] = set()
        self._began = time.monotonic()
        self._telling: set[asyncio.Task[None]] = set()

    def take(self, event: object) -> None:
        """What happens in the log: words and runs begin what is waited for, gates and ends are told."""
        match event:
            case MessageAccepted() | RunStarted():
                self._began = time.monotonic()
            case GateOpened():
                self.notify(f"gate:{event.gate}", f"the run waits for you: {event.message}")
            case RunEnded() if event.outcome in ("failed", "over_budget"):
                self.notify(f"run:{event.run}:{self._began}", f"the run is {event.outcome.replace('_', ' ')}")
            case RunEnded() if event.outcome == "done" and self._long:
                self.notify(f"run:{event.run}:{self._began}", "the run is done")
            case _:
                pass

    @property
    def _long(self) -> bool:
        return time.monotonic() - self._began >= LONG_SECONDS

    def notify(self, key: str, text: str) -> None:
        """The port of conversations."""
        if key in self._told or (text == ANSWERED and not self._long):
            return
        self._told.add(key)
        if self._wishes.desktop or self._wishes.addresses:
            work = asyncio.to_thread(tell, self._wishes, self._session, text)
            task = asyncio.get_running_loop().create_task(work, name="tells the person")
            self._telling.add(task)
            task.add_done_callback(self._telling.discard)

    async def close(self) -> None:
        """What is being told has its moment."""
        if self._telling:
            await asyncio.wait({*self._telling}, timeout=SECONDS)


def posted(address: str, words: str) -> urllib.request.Request:
    path = urlsplit(address).path
    if "/services/" in path or "/hooks/" in path:
        body, kind = json.dumps({"text": words}).encode(), "application/json"
    else:
        body, kind = words.encode(), "text/plain; charset=utf-8"
    return urllib.request.Request(address, body, {"Content-Type": kind}, method="POST")


def _desktop(words: str) -> Sequence[str]:
    if sys.platform == "darwin":
        return ("osascript", "-e", f'display notification {json.dumps(words)} with title "Weft"')
    return ("notify-send", "Weft", words) if shutil.which("notify-send") else ()
