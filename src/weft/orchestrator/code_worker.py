"""The process that runs the code of a workspace, so that it can be ended whatever it does.

Requests come in on the original standard input and answers go out on the original standard output, one JSON object a
line; the code has neither. What it prints goes to standard error and is shown as progress, what it reads is empty. When
the engine goes away, the requests end, and this process ends its whole group at once, also in the middle of a call.
"""

from __future__ import annotations

import asyncio
import errno
import importlib.util
import inspect
import json
import math
import os
import queue
import signal
import socket
import sys
import threading
import traceback
from collections.abc import Callable
from importlib.machinery import (
    EXTENSION_SUFFIXES,
    SOURCE_SUFFIXES,
    ExtensionFileLoader,
    FileFinder,
    ModuleSpec,
    SourceFileLoader,
)
from pathlib import Path
from types import ModuleType
from typing import Any, BinaryIO, Final

from weft.protocol.hashes import hash_bytes
from weft.protocol.steps import MISTAKES, StepInput

MOST_SAID = 4_000
"""Characters of an error that are kept."""
MOST_CALLS = 8
"""Calls that led to it, the last ones."""
MOST_DEEP = 200


def main() -> None:
    code_folder = Path(sys.argv[1])
    sys.path_hooks.insert(0, _source_finder(str(code_folder)))
    sys.path.insert(0, str(code_folder))
    answers = os.dup(1)
    os.dup2(2, 1)
    asked = os.fdopen(os.dup(0), "rb")
    nobody = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nobody, 0)  # code that asks at a keyboard is told at once that nobody is there
    os.close(nobody)
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    requests: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(asked, requests), daemon=True).start()
    modules: dict[str, ModuleType] = {}
    while True:
        request = json.loads(requests.get())
        agreed.update(request.pop("agreed", {}))
        answer = _answer(code_folder, modules, request)
        sys.stdout.flush()
        sys.stderr.flush()
        with os.fdopen(os.dup(answers), "wb") as out:
            out.write(json.dumps(answer).encode() + b"\n")


def _read(asked: BinaryIO, requests: queue.SimpleQueue[bytes]) -> None:
    for line in asked:
        requests.put(line)
    # Only in a group of its own (it is always started so): never end the group of whoever started it by hand.
    if os.getpgid(0) == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(0)


class _SourceOnly(SourceFileLoader):
    """Loads the source that was agreed to, never what stands compiled beside it."""

    def path_stats(self, path: str) -> dict[str, Any]:
        raise OSError("what is compiled is not looked at")

    def get_data(self, path: str) -> bytes:
        data = super().get_data(path)
        check_agreed(path, data)
        return data


class _Extension(ExtensionFileLoader):
    def create_module(self, spec: ModuleSpec) -> ModuleType:
        check_agreed(self.path, Path(self.path).read_bytes())
        return super().create_module(spec)


agreed: dict[str, str] = {}
"""By file, the hash of what somebody agreed to; nothing where that was held against the folder alone."""


def check_agreed(path: str, data: bytes) -> None:
    """What is loaded is what was looked at, whoever writes into the folder meanwhile."""
    name = "/".join(Path(path).parts[len(Path(sys.argv[1]).parent.parts) :])
    if agreed and agreed.get(name) != hash_bytes(data):
        raise ImportError(f"{name} was changed after it was looked at, and was not loaded")


def _source_finder(top: str) -> Callable[[str], FileFinder]:
    def finder(path: str) -> FileFinder:
        if path != top and not path.startswith(top + os.sep):
            raise ImportError("not below the code of the workspace")
        return FileFinder(path, (_SourceOnly, SOURCE_SUFFIXES), (_Extension, EXTENSION_SUFFIXES))

    return finder


def _answer(folder: Path, modules: dict[str, ModuleType], request: dict[str, Any]) -> dict[str, Any]:
    file, _, name = request["code"].partition(":")
    try:
        function = getattr(_load(folder, modules, file), name)
        if "check" in request:
            result = function(**request["check"])
        else:
            result = function(_given(request["step"]))
        if inspect.isawaitable(result):
            result = asyncio.run(_awaited(result))
        if fault := _no_json(result):
            return {"error": f"{request['code']} returned {fault}, which JSON can't hold", "trace": "", "fixed": True}
        return {"result": result}
    except Exception as error:  # noqa: BLE001  the code's faults are the step's result, whatever they are
        return {**_told(error, folder), "fixed": isinstance(error, MISTAKES), "held": _held(error)}
    except SystemExit as error:
        return {"error": f"the code called exit({error.code})", "trace": ""}


def _given(step: dict[str, Any]) -> StepInput:
    replies = {name: tuple(texts) for name, texts in step["replies"].items()}
    prior = {name: tuple(values) for name, values in step["prior"].items()}
    lists = {"feedback": tuple(step["feedback"]), "makes": tuple(step["makes"])}
    return StepInput(**{**step, **lists, "replies": replies, "prior": prior})


async def _awaited(result: Any) -> Any:
    return await result


def _load(folder: Path, modules: dict[str, ModuleType], file: str) -> ModuleType:
    if file not in modules:
        name = file.removesuffix(".py").replace("/", ".")
        loader = _SourceOnly(name, str(folder / file))
        spec = importlib.util.spec_from_file_location(name, folder / file, loader=loader)
        if spec is None or spec.loader is None:
            raise ImportError(f"code/{file} can't be loaded")
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        modules[file] = module
    return modules[file]


def _told(error: Exception, folder: Path) -> dict[str, str]:
    """The error with the place in the person's own code where it came from, and the calls from their code on."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [number for number, frame in enumerate(frames) if Path(frame.filename).is_relative_to(folder)]
    last = frames[own[-1]] if own else None
    where = f" (code/{Path(last.filename).relative_to(folder)}, line {last.lineno})" if last else ""
    said = str(error)
    if len(said) > MOST_SAID:
        # Between words: the first half of a secret would be known to nobody.
        said = f"{said[:MOST_SAID].rsplit(maxsplit=1)[0]}… ({len(said):,} characters)"
    way = traceback.format_list(frames[own[0] :][-MOST_CALLS:]) if own else []
    return {"error": f"{type(error).__name__}: {said}{where}", "trace": "".join(way)}


def _held(error: BaseException) -> str:
    """What a boundary would refuse with this error: `network`, `files`, or nothing of the kind."""
    seen: list[object] = []
    waiting: list[object] = [error]
    while waiting and len(seen) < MOST_DEEP:
        one = waiting.pop()
        if not isinstance(one, BaseException) or one in seen:
            continue
        seen.append(one)
        if isinstance(one, socket.gaierror) or (isinstance(one, OSError) and one.errno in _UNREACHED):
            return "network"
        if isinstance(one, OSError) and one.errno == errno.EROFS:
            return "files"
        waiting += [one.__cause__, one.__context__, getattr(one, "reason", None)]
    return ""


_UNREACHED: Final = frozenset({errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN})


def _no_json(result: Any) -> str:
    """What in a result is no JSON, and where; "" when all of it is."""
    try:
        json.dumps(result, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        return _found(result, "", set()) or f"a value ({error})"
    return "" if _all_named(result) else _found(result, "", set())


def _all_named(result: Any) -> bool:
    """Whether every key is text. What writes JSON makes text of a number: 1 and "1" would be one key, and a value of
    theirs would be lost."""
    todo = [result]
    while todo:
        value = todo.pop()
        if isinstance(value, dict):
            if not all(isinstance(key, str) for key in value):
                return False
            todo += [one for one in value.values() if isinstance(one, dict | list | tuple)]
        elif isinstance(value, list | tuple):
            todo += [one for one in value if isinstance(one, dict | list | tuple)]
    return True


def _found(value: Any, place: str, above: set[int]) -> str:
    at = f" at {place}" if place else ""
    if isinstance(value, dict | list | tuple):
        if id(value) in above:
            return f"a value{at} that holds itself"
        if len(above) == MOST_DEEP:
            return f"a value that is nested more than {MOST_DEEP} deep"
        inside = above | {id(value)}
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for name, inner in pairs:
            if isinstance(value, dict) and not isinstance(name, str):
                return f"{_shown(name)} as a key{at}"
            if told := _found(inner, f"{place}/{name}", inside):
                return told
        return ""
    if isinstance(value, float) and not math.isfinite(value):
        return f"{value}{at}"
    return "" if isinstance(value, str | int | float | bool | None) else f"{_a(value)}{at}"


def _shown(key: object) -> str:
    """Numbers as they are written; of anything else only what it is."""
    return f"{key} ({_a(key)})" if isinstance(key, int | float) else _a(key) if key is not None else "None"


def _a(value: object) -> str:
    name = type(value).__name__
    return f"an {name}" if name[0] in "aeiouAEIOU" else f"a {name}"


if __name__ == "__main__":
    main()
