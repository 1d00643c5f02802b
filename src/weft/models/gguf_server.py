"""The process in which a GGUF file is run: `python -m weft.models.gguf_server`, told what to do on standard input.

A process of its own, because native code may crash, writes where it likes and can't be cancelled. It ends when its
standard input does, so it never outlives whoever started it. The key that guards its port comes on standard input too,
not on the command line, which others could read.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from typing import Any


def main() -> int:
    told = json.loads(sys.stdin.readline())
    answer = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # native code that prints would otherwise write into the answer
    try:
        xllamacpp: Any = importlib.import_module("xllamacpp")
    except ImportError:
        return _say(answer, {"error": "xllamacpp is not installed", "hint": "pip install 'weft[llm]'"})
    given = xllamacpp.CommonParams()
    given.model.path = told["file"]
    given.n_ctx = told["window"]
    given.hostnames = ["127.0.0.1"]
    given.port = 0
    given.api_keys = [told["key"]]
    given.use_jinja = True
    given.n_parallel = 1
    if told["threads"]:
        given.cpuparams.n_threads = told["threads"]
    try:
        server = xllamacpp.Server(given)
    except (RuntimeError, ValueError, OSError) as error:
        return _say(answer, {"error": f"the file can't be run: {error}", "hint": "is it a GGUF file that is complete?"})
    _say(answer, {"url": f"{server.listening_address}/v1"})
    sys.stdin.read()
    # Its threads may be in the middle of a token; nothing of theirs is worth waiting for.
    os._exit(0)


def _say(answer: Any, value: dict[str, str]) -> int:
    answer.write(json.dumps(value) + "\n")
    answer.flush()
    return 1 if "error" in value else 0


if __name__ == "__main__":
    sys.exit(main())
