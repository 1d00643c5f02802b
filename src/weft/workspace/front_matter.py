"""Markdown files that begin with a block of YAML between two lines of `---`: agents and skills."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, TypeVar

from pydantic import BaseModel

from weft.protocol.errors import Problem, WorkspaceError
from weft.protocol.patterns import pattern
from weft.protocol.values import dataclass
from weft.workspace.document import MarkedDocument, SourceFile, in_order, mark_of
from weft.workspace.explain import check
from weft.workspace.yaml_document import parse_yaml

Model = TypeVar("Model", bound=BaseModel)
_OPENING: Final = pattern(r"---[ \t]*\r?\n")
_CLOSING: Final = pattern(r"^---[ \t]*\r?$", re.MULTILINE)


@dataclass(frozen=True)
class FrontMatter:
    document: MarkedDocument
    body: str


def parse_front_matter(source: SourceFile) -> FrontMatter:
    opening = _OPENING.match(source.text)
    if not opening:
        hint = "begin with a line ---, then name: and description:, then a line ---"
        raise WorkspaceError([Problem(source.file, "the file does not begin with front matter", 1, 1, hint=hint)])
    closing = _CLOSING.search(source.text, opening.end())
    if not closing:
        hint = "end it with a line of its own that holds only ---"
        raise WorkspaceError([Problem(source.file, "the front matter is never closed", 1, 1, hint=hint)])
    body = source.text[closing.end() :].replace("\r\n", "\n").strip()
    return FrontMatter(parse_yaml(source.file, source.text[opening.end() : closing.start()], first_line=2), body)


def body_of(text: str) -> str:
    """What stands below the front matter, whatever that says; all of it where there is none."""
    opening = _OPENING.match(text)
    closing = _CLOSING.search(text, opening.end()) if opening else None
    return (text[closing.end() :] if closing else text).replace("\r\n", "\n").strip()


def read_front(
    model: type[Model], source: SourceFile, name: str, found: FrontMatter
) -> tuple[Model | None, list[Problem]]:
    """The keys as a model, and what is wrong with them; `name` is what the file's place says it must be called."""
    document = found.document
    checked = check(model, document, fillers={"name": name, "description": "-"})
    problems = [*document.problems, *checked.problems]
    written: Mapping[str, Any] = document.value if isinstance(document.value, dict) else {}
    if ("name",) not in checked.dropped and written.get("name") != name and checked.model is not None:
        message = f"the name is '{written.get('name')}', but its place says '{name}'"
        problems.append(document.at_value(("name",), message, f"write 'name: {name}', or rename the file or folder"))
    if not found.body:
        mark = mark_of(source.text, len(source.text))
        problems.append(Problem(source.file, "there is no text below the front matter", *mark, hint="write what to do"))
    return checked.model, in_order(problems, source.file)
