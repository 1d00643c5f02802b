"""The command line. `--version` and the front page of `--help` answer before anything heavy is imported."""

from __future__ import annotations

import gc
import os
import sys

from weft.version import __version__

__all__ = ["main"]


def unsupported(system: str) -> str:
    """Why Weft does not run on a system (as `os.name` has it); "" where it does."""
    if system == "posix":
        return ""
    return (
        "weft: it runs on Linux and macOS. On Windows, in the Windows Subsystem for Linux:\n"
        "  wsl --install, then in its terminal: pip install weft"
    )


def main() -> int:
    _open_streams()
    try:
        return _main()
    except KeyboardInterrupt:  # before a command had begun, or after its end
        print("interrupted", file=sys.stderr)
        return 130


def _open_streams() -> None:
    """A stream that was closed for this process (`>&-`) leads nowhere. Its number must not go to the next file that is
    opened, the log for instance: what a program that we start prints would stand in it."""
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(number, True)
    os.close(number)
    sys.stdin = sys.stdin or open(0, encoding="utf-8", closefd=False)  # noqa: SIM115  open for good
    sys.stdout = sys.stdout or open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = sys.stderr or open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115


def _main() -> int:
    if told := unsupported(os.name):
        print(told, file=sys.stderr)
        return 1
    words = sys.argv[1:]
    completing = os.environ.get("_WEFT_COMPLETE")
    if words in (["--version"], ["-V"]):
        return _print(f"weft {__version__}")
    if words in ([], ["--help"], ["-h"]) and not completing:
        from weft.cli.front_page import front_page

        return _print(front_page())
    # A command lives for moments and loads much: collecting late, and no plugins of other libraries, spares it.
    _collect_late()
    os.environ["PYDANTIC_DISABLE_PLUGINS"] = os.environ.get("PYDANTIC_DISABLE_PLUGINS", "__all__")
    from weft.cli.commands import let_go, run_command_line

    code = run_command_line(words)
    let_go()
    gc.freeze()  # what is left goes with the process: Python would look through all of it once more
    return code


def _print(text: str) -> int:
    try:
        print(text, flush=True)
    except OSError as error:  # Python would complain again when it closes standard output
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        if not isinstance(error, BrokenPipeError):  # as if whoever read it had gone
            print(f"weft: standard output can't be written: {error.strerror}", file=sys.stderr)
            return 1
    return 0


def _collect_late() -> None:
    """What is loaded lives as long as the command. The collector begins when much more than that was made, and leaves
    what it has looked at once alone from then on."""

    def begun(phase: str, _: dict[str, int]) -> None:
        if phase == "stop":
            gc.callbacks.remove(begun)
            gc.freeze()
            gc.set_threshold(20_000, 20, 20)

    gc.callbacks.append(begun)
    gc.set_threshold(100_000, 20, 20)
