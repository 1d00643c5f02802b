"""The command line. `--version` and the front page of `--help` answer before anything heavy is imported."""

from __future__ import annotations

import os
import sys

from weft import __version__

__all__ = ["main"]


def main() -> int:
    words = sys.argv[1:]
    completing = os.environ.get("_WEFT_COMPLETE")
    if words in (["--version"], ["-V"]):
        print(f"weft {__version__}")
        return 0
    if words in ([], ["--help"], ["-h"]) and not completing:
        from weft.cli.front_page import FRONT_PAGE

        print(FRONT_PAGE)
        return 0
    from weft.cli.commands import let_go, run_command_line

    code = run_command_line(words)
    let_go()
    return code
