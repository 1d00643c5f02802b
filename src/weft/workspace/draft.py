"""A pipeline file on its way to being a pipeline: what it says, where it says it, and what is wrong so far.

The rules in step_rules.py and pipeline_rules.py read a draft and report into it. They ask `lost` before they conclude
anything from a part that was already reported as unreadable: one mistake is one problem.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING

from weft.protocol.errors import Problem
from weft.protocol.values import dataclass
from weft.workspace.document import MarkedDocument, Path, SourceFile
from weft.workspace.explain import check
from weft.workspace.library import Library
from weft.workspace.pipeline_file import PipelineFile, StepEntry
from weft.workspace.yaml_document import parse_yaml

if TYPE_CHECKING:
    from weft.workspace.pipeline import Pipeline


@dataclass
class PipelineDraft:
    source: SourceFile
    document: MarkedDocument
    file: PipelineFile
    dropped: frozenset[Path]
    library: Library
    problems: list[Problem]
    warnings: list[Problem] = field(default_factory=list)
    inner: Mapping[str, Pipeline] = field(default_factory=dict)
    """By step, the pipeline that it is."""

    @property
    def steps(self) -> Mapping[str, StepEntry]:
        """The steps that could be read; `names("steps")` has all."""
        return self.file.steps

    def names(self, section: str) -> list[str]:
        """Every name a section of the file declares, good or not; the default's when it is not in the file."""
        if section in self.document.value:
            written = self.document.value[section]
            return list(written) if isinstance(written, dict) else []
        return list(getattr(self.file, section))

    def lost(self, *path: str) -> bool:
        """Whether something at, around or below this place could not be read."""
        return any(part[: len(path)] == path or path[: len(part)] == part for part in self.dropped)

    def lost_in_steps(self, *keys: str) -> bool:
        """Whether a whole step, or one of these keys of any step, could not be read."""
        return any(part[:1] == ("steps",) and (len(part) < 3 or part[2] in keys) for part in self.dropped)

    def report(self, path: Path, message: str, hint: str = "") -> None:
        """A problem with the value at `path`."""
        self.problems.append(self.document.at_value(path, message, hint))

    def report_key(self, path: Path, message: str, hint: str = "") -> None:
        """A problem with the key at `path`, or with its absence."""
        self.problems.append(self.document.at_key(path, message, hint))


def draft_pipeline(library: Library, name: str, source: SourceFile) -> tuple[PipelineDraft | None, list[Problem]]:
    """The draft of a file, or what makes it unreadable. In a draft the older word `outputs` is already `steps`."""
    document = _with_steps(parse_yaml(source.file, source.text))
    checked = check(PipelineFile, document, fillers={"name": name, "description": "-", "steps": {}})
    problems = [*document.problems, *checked.problems]
    if checked.model is None:
        return None, problems
    return PipelineDraft(source, document, checked.model, checked.dropped, library, problems), problems


def _with_steps(document: MarkedDocument) -> MarkedDocument:
    value = document.value
    if not isinstance(value, dict) or "outputs" not in value:
        return document
    if "steps" in value:
        message = "'outputs' is the older word for 'steps'; a file has one of them"
        problem = document.at_key(("outputs",), message, "move what is in 'outputs' to 'steps'")
        rest = {key: part for key, part in value.items() if key != "outputs"}
        return replace(document, value=rest, problems=[*document.problems, problem])
    return replace(
        document,
        value={"steps" if key == "outputs" else key: part for key, part in value.items()},
        keys={_renamed(path): mark for path, mark in document.keys.items()},
        values={_renamed(path): mark for path, mark in document.values.items()},
        unreadable=frozenset(map(_renamed, document.unreadable)),
        spelled={"steps": "outputs"},
    )


def _renamed(path: Path) -> Path:
    return ("steps", *path[1:]) if path[:1] == ("outputs",) else path
