"""The Python files of a workspace, looked at and never imported: is a function there, what does a result depend on.

The version of a file covers every file in code/ that it imports, directly or not, so that a change in a shared module
re-runs the steps that use it.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from weft.files import Folder
from weft.protocol.errors import Problem, UserError, WorkspaceError
from weft.protocol.hashes import combine, hash_bytes
from weft.protocol.patterns import pattern
from weft.protocol.values import dataclass
from weft.workspace.document import SIZE_LIMIT
from weft.workspace.spelling import suggest

FOLDER: Final = "code"
REFERENCE: Final = pattern(r"([A-Za-z0-9_][A-Za-z0-9_-]*\.py):([A-Za-z_][A-Za-z0-9_]*)\Z")


@dataclass(frozen=True)
class _Import:
    level: int
    """How many dots; 0 for an absolute import."""
    module: tuple[str, ...]
    names: tuple[str, ...]


@dataclass(frozen=True)
class _Outline:
    functions: tuple[str, ...] = ()
    imports: tuple[_Import, ...] = ()
    fault: tuple[str, int, int] | None = None
    """Message, line and column when it is not Python."""


def function_fault(folder: Folder, reference: str) -> tuple[str, str] | None:
    """Why `file.py:function` can't be called, with a hint; None when it can. WorkspaceError when the file is broken."""
    found = REFERENCE.match(reference)
    if not found:
        return f"'{reference}' is not a file and a function", "write file.py:function, with the file in code/"
    file, function = found[1], found[2]
    data = _read(folder, file)
    if data is None:
        return f"there is no {FOLDER}/{file}", suggest(file, _files(folder), f"files in {FOLDER}/")
    outline = _outlined(data)
    if outline.fault:
        message, line, column = outline.fault
        raise WorkspaceError([Problem(f"{FOLDER}/{file}", message, line, column)])
    if function in outline.functions:
        return None
    return f"{FOLDER}/{file} has no function '{function}'", suggest(function, outline.functions, f"functions of {file}")


def code_version(folder: Folder, file: str) -> str:
    """One hash for code/FILE and all in code/ that it imports."""
    hashes: dict[str, str] = {}
    ahead, there = [file], {name.removesuffix(".py") for name in _names(folder)}
    while ahead:
        name = ahead.pop()
        data = None if name in hashes else _read(folder, name)
        if data is None:
            continue
        hashes[name] = hash_bytes(data)
        for imported in _outlined(data).imports:
            candidates = _candidates(name, imported)
            ahead.extend(one for one in candidates if one.partition("/")[0].removesuffix(".py") in there)
    if file not in hashes:
        raise WorkspaceError([Problem(f"{FOLDER}/{file}", "this file is not there")])
    return combine(hashes)


def code_files(folder: Folder) -> dict[str, str]:
    """Every file below code/ with its hash: all that the code of steps may load. What stands compiled is not loaded."""
    try:
        with folder.folder(FOLDER) as code:
            found = dict(_hashed(code, FOLDER))
    except FileNotFoundError:
        return {}
    return found


def _hashed(folder: Folder, under: str) -> Iterator[tuple[str, str]]:
    for name in folder.names():
        if folder.is_folder(name):
            if name != "__pycache__":
                with folder.folder(name) as inner:
                    yield from _hashed(inner, f"{under}/{name}")
        else:
            yield f"{under}/{name}", hash_bytes(folder.read(name))


def _candidates(importer: str, imported: _Import) -> Iterator[str]:
    """The files an import may read: the packages on the way, the module, and each name as a module of its own."""
    package = importer.split("/")[:-1]
    if imported.level > len(package) + 1:
        return
    base = package[: len(package) - imported.level + 1] if imported.level else []
    module = [*base, *imported.module]
    modules = [module[:length] for length in range(1, len(module) + 1)] + [[*module, name] for name in imported.names]
    for parts in modules:
        yield "/".join(parts) + ".py"
        yield "/".join([*parts, "__init__.py"])


def _read(folder: Folder, file: str) -> bytes | None:
    try:
        return folder.read_or_none(f"{FOLDER}/{file}", SIZE_LIMIT)
    except UserError as error:
        raise WorkspaceError([Problem(f"{FOLDER}/{file}", error.message, hint=error.hint)]) from error


def _files(folder: Folder) -> list[str]:
    return [name for name in _names(folder) if name.endswith(".py")]


def _names(folder: Folder) -> list[str]:
    try:
        with folder.folder(FOLDER) as code:
            return code.names()
    except FileNotFoundError:
        return []


@lru_cache(maxsize=256)
def _outlined(data: bytes) -> _Outline:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an odd escape in a person's file is not ours to complain about
            tree = ast.parse(data)
    except SyntaxError as error:
        return _Outline(fault=(f"this is not valid Python: {error.msg}", error.lineno or 1, error.offset or 1))
    except (ValueError, RecursionError, MemoryError) as error:
        return _Outline(fault=(f"this can't be read as Python: {error}", 1, 1))
    functions = [node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    imports = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imports += [_Import(0, tuple(alias.name.split(".")), ()) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            module = tuple(node.module.split(".")) if node.module else ()
            imports.append(_Import(node.level, module, tuple(alias.name for alias in node.names)))
    return _Outline(tuple(functions), tuple(imports))
