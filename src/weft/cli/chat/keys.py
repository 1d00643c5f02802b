"""The keys of the interactive face, and what each calls."""

from __future__ import annotations

from typing import Protocol

from prompt_toolkit.buffer import Buffer
from prompt_toolkit.filters import Condition
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys


class Chat(Protocol):
    """What can be done with keys."""

    def submit(self) -> None: ...

    def press_ctrl_c(self) -> None: ...

    def press_escape(self) -> None: ...

    def cycle_mode(self) -> None: ...

    def unfold(self) -> None: ...

    def complete(self) -> None: ...

    @property
    def offering(self) -> bool:
        """Something is offered for what is being typed."""
        ...

    def pick(self, step: int) -> None:
        """The next or the one before of what is offered."""
        ...

    def search_history(self) -> None: ...

    def paste(self, text: str) -> None: ...

    def leave(self, code: int = 0) -> None: ...


def bindings(chat: Chat, buffer: Buffer) -> KeyBindings:
    keys = KeyBindings()
    empty = Condition(lambda: not buffer.text)

    @keys.add("c-c")
    @keys.add("<sigint>")
    def _interrupt(event: KeyPressEvent) -> None:
        chat.press_ctrl_c()

    @keys.add("escape")
    def _escape(event: KeyPressEvent) -> None:
        chat.press_escape()

    @keys.add("c-d", filter=empty)
    def _leave(event: KeyPressEvent) -> None:
        chat.leave()

    @keys.add("enter")
    @keys.add("c-j")  # what Enter was when it was pressed before the program had the terminal
    def _submit(event: KeyPressEvent) -> None:
        chat.submit()

    @keys.add("escape", "enter")
    @keys.add("escape", "c-j")
    def _break(event: KeyPressEvent) -> None:
        buffer.insert_text("\n")

    _of_the_line(keys, chat, buffer)
    return keys


def _of_the_line(keys: KeyBindings, chat: Chat, buffer: Buffer) -> None:
    """What is done with what is typed, and with what is shown."""

    @keys.add("s-tab")
    def _mode(event: KeyPressEvent) -> None:
        chat.cycle_mode()

    @keys.add("tab")
    def _complete(event: KeyPressEvent) -> None:
        chat.complete()

    offering = Condition(lambda: chat.offering)

    @keys.add("down", filter=offering)
    def _down(event: KeyPressEvent) -> None:
        chat.pick(1)

    @keys.add("up", filter=offering)
    def _up(event: KeyPressEvent) -> None:
        chat.pick(-1)

    @keys.add(Keys.BracketedPaste)
    def _paste(event: KeyPressEvent) -> None:
        chat.paste(event.data.replace("\r\n", "\n").replace("\r", "\n"))

    @keys.add("c-r")
    def _search(event: KeyPressEvent) -> None:
        chat.search_history()

    @keys.add("c-x", "c-e")
    def _editor(event: KeyPressEvent) -> None:
        buffer.open_in_editor()

    @keys.add("c-z")
    def _nothing(event: KeyPressEvent) -> None:
        """Stopping the process would stop what runs in the middle; and it must not become part of a message."""

    @keys.add("c-o")
    def _unfold(event: KeyPressEvent) -> None:
        chat.unfold()
