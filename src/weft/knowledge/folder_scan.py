"""Which files of a folder are documents, and why the others are not: nothing is passed over without a word.

Hidden files, links, what an ignore file names (`.gitignore`, `.ignore`, `.weftignore`, as git reads them, each for its
own folder), folders that can't be listed and kinds that can't be read are left out, and counted by the reason.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from weft.documents.kinds import OTHER_MARKUPS
from weft.knowledge.code_and_tables import CODE, DATA, TABLES, WORKBOOKS
from weft.protocol.errors import ExternalError
from weft.protocol.values import dataclass

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

DOCUMENT_ENDINGS: Final = frozenset(
    ".md .markdown .mdown .mkd .txt .text .html .htm .xhtml .pdf .docx .epub .vtt .srt .rst .log .info".split()  # noqa: SIM905
).union(OTHER_MARKUPS)
ENDINGS: Final = DOCUMENT_ENDINGS | CODE | TABLES | DATA | WORKBOOKS
IGNORE_FILES: Final = (".gitignore", ".ignore", ".weftignore")


@dataclass(slots=True)
class FolderScan:
    """What was found below a folder: the documents, by their path inside it, and what was left out, by the reason."""

    documents: dict[str, Path] = field(default_factory=dict)
    skipped: dict[str, list[str]] = field(default_factory=dict)
    unknown: list[str] = field(default_factory=list)
    """Files and folders (with a slash behind) that could not be looked into: what was known of them is not gone."""

    def lost(self, name: str) -> bool:
        """Whether it may still be there, where nobody could look."""
        return any(name == one or (one.endswith("/") and name.startswith(one)) for one in self.unknown)

    def skip(self, reason: str, name: str) -> None:
        self.skipped.setdefault(reason, []).append(name)


def gather(root: Path, collections: Path | None = None) -> FolderScan:
    """A folder that is not there has nothing in it; one that can't be listed is an error, one inside it passed over.
    `collections` are the
    workspace's own: in a folder that has them too, copies of documents would be copied with every update."""
    found = FolderScan()
    for name, path in _walk(root, found, collections):
        if path.suffix.lower() in ENDINGS:
            found.documents[name] = path
        else:
            found.skip(f"{path.suffix.lower() or 'no ending'}: of no kind that is read", name)
    return found


def _walk(root: Path, found: FolderScan, collections: Path | None) -> Iterator[tuple[str, Path]]:
    def refuse(error: OSError) -> None:
        if Path(error.filename) != root:
            name = f"{Path(error.filename).relative_to(root).as_posix()}/"
            found.unknown.append(name)
            found.skip(f"can't be listed: {error.strerror}", name)
        elif not isinstance(error, FileNotFoundError):
            hint = "give yourself the right to read it, or name another folder"
            raise ExternalError(f"can't list {error.filename}: {error.strerror}", hint=hint) from error

    rules: dict[str, list[tuple[str, GitIgnoreSpec]]] = {}
    for place, folders, files in os.walk(root, onerror=refuse):
        inside = Path(place).relative_to(root).as_posix()
        inside = "" if inside == "." else f"{inside}/"
        above = rules.get(os.path.dirname(place), []) if inside else []
        rules[place] = [*above, *_rules(Path(place), inside, files)]
        kept = []
        for name in sorted(folders):
            if reason := _left_out(name, f"{inside}{name}/", rules[place]):
                found.skip(reason, f"{inside}{name}/")
            elif collections is not None and name == collections.name and collections.samefile(Path(place, name)):
                found.skip("the workspace's collections themselves", f"{inside}{name}/")
            else:
                kept.append(name)
        folders[:] = kept
        for name in sorted(files):
            path = Path(place, name)
            if name in IGNORE_FILES:
                continue
            reason = _left_out(name, f"{inside}{name}", rules[place])
            if not reason and not stat.S_ISREG(path.lstat().st_mode):
                reason = "a link or no plain file"
            if reason:
                found.skip(reason, f"{inside}{name}")
            else:
                yield f"{inside}{name}", path


def _left_out(name: str, below: str, rules: list[tuple[str, GitIgnoreSpec]]) -> str:
    """By its name, and why; "" when it is not."""
    if name.startswith("."):
        return "hidden"
    ignored = _ignored(below, rules)
    return "" if ignored is None else f"ignored by {ignored}"


def _rules(place: Path, inside: str, files: list[str]) -> Iterator[tuple[str, GitIgnoreSpec]]:
    for name in IGNORE_FILES:
        if name in files:
            from pathspec import GitIgnoreSpec

            try:
                lines = Path(place, name).read_text("utf-8", "replace").splitlines()
            except OSError as error:
                raise ExternalError(f"can't read {place / name}: {error.strerror}") from error
            yield f"{inside}{name}", GitIgnoreSpec.from_lines(lines)


def _ignored(name: str, rules: list[tuple[str, GitIgnoreSpec]]) -> str | None:
    """The ignore file that decides against it; the nearest one that says anything decides."""
    for file, spec in reversed(rules):
        at = file.rpartition("/")[0]
        below = name[len(at) + 1 :] if at else name
        decided = spec.check_file(below).include
        if decided is not None:
            return file if decided else None
    return None
