"""Which sources there are, and where each is declared.

    workspace   <workspace>/sources/<slug>/config.json
    person      <own folder>/sources/<slug>/config.json     under every workspace's own: nothing is set up twice
    project     <working folder>/.mcp.json                  may add, never replace

A broken one is named with its problems and takes nothing else with it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import field
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Final, Literal

from weft.files import Folder
from weft.protocol.errors import Problem, WorkspaceError
from weft.protocol.values import dataclass
from weft.sources.config import FILE, GUIDE, SourceConfig, check_config, slug_fault
from weft.sources.importing import imported
from weft.workspace.document import MarkedDocument, in_order, read_source
from weft.workspace.json_document import locate_json, parse_json

FOLDER: Final = "sources"
PROJECT_FILE: Final = ".mcp.json"
GUIDE_LIMIT: Final = 6_000
Declared = Literal["workspace", "person", "project"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    slug: str
    config: SourceConfig
    declared: Declared
    folder: Path
    """Its own folder; of a project's, the project."""
    guide: str = ""
    given: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Secrets that a project's file holds itself, by the names its config refers to them by."""

    @property
    def file(self) -> Path:
        return self.folder / (PROJECT_FILE if self.declared == "project" else FILE)

    @property
    def key(self) -> str:
        """By which what is known of it, and what it is let in with, is kept: where it is declared, and its address.
        Whoever changes either has another source, which nobody signed in to."""
        return _key(str(self.folder), self.slug, self.config.kind, self.config.address)

    @property
    def title(self) -> str:
        return self.config.name or self.slug

    @property
    def base(self) -> Path:
        """What paths in its config are relative to."""
        own = self.declared == "project" or self.config.kind == "api"
        return self.folder if own else self.folder.parent.parent

    def place(self, path: str) -> Path:
        found = Path(path).expanduser()
        return found if found.is_absolute() else self.base / found


@lru_cache(maxsize=1024)
def _key(folder: str, *told: str) -> str:
    return sha256("\0".join([os.path.realpath(folder), *told]).encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredSources:
    sources: Mapping[str, Source] = field(default_factory=dict)
    broken: Mapping[str, WorkspaceError] = field(default_factory=dict)


def declared_sources(workspace: Folder | None, own: Path, project: Path | None = None) -> DeclaredSources:
    found: dict[str, Source] = {}
    broken: dict[str, WorkspaceError] = {}
    if workspace is not None:
        _read_shelf(workspace, "workspace", found, broken)
    if (own / FOLDER).is_dir():
        with Folder.open(own) as folder:
            _read_shelf(folder, "person", found, broken)
    if project is not None and (project / PROJECT_FILE).is_file():
        _read_project(project, found, broken)
    return DeclaredSources(sources=dict(sorted(found.items())), broken=dict(sorted(broken.items())))


def _read_shelf(top: Folder, declared: Declared, found: dict[str, Source], broken: dict[str, WorkspaceError]) -> None:
    try:
        with top.folder(FOLDER) as shelf:
            slugs = [name for name in shelf.names() if not name.startswith(".") and shelf.is_folder(name)]
    except FileNotFoundError:
        return
    for slug in slugs:
        if slug in found or slug in broken:
            continue
        try:
            found[slug] = read_declared(top, slug, declared)
        except FileNotFoundError:
            continue  # a folder without a config declares nothing: permissions of a person's own source, say
        except WorkspaceError as error:
            broken[slug] = error


def read_declared(top: Folder, slug: str, declared: Declared) -> Source:
    """FileNotFoundError when it is not there, WorkspaceError with every problem of its file."""
    source = read_source(top, f"{FOLDER}/{slug}/{FILE}")
    if fault := slug_fault(slug):
        raise WorkspaceError([Problem(source.file, fault, hint="rename its folder")])
    document = locate_json(source, parse_json(source))
    checked = check_config(document)
    problems = [*document.problems, *checked.problems]
    if problems or checked.model is None:
        raise WorkspaceError(in_order(problems, source.file))
    try:
        guide = read_source(top, f"{FOLDER}/{slug}/{GUIDE}").text.strip()
    except FileNotFoundError:
        guide = ""
    return Source(
        slug=slug, config=checked.model, declared=declared, folder=top.path / FOLDER / slug, guide=guide[:GUIDE_LIMIT]
    )


def _read_project(project: Path, found: dict[str, Source], broken: dict[str, WorkspaceError]) -> None:
    with Folder.open(project) as folder:
        try:
            source = read_source(folder, PROJECT_FILE)
            value = parse_json(source)
        except WorkspaceError as error:
            broken[PROJECT_FILE] = error
            return
    for one in imported(value):
        if one.slug in found:
            continue
        checked = check_config(MarkedDocument(PROJECT_FILE, one.config))
        if checked.problems or checked.model is None:
            broken[one.slug] = WorkspaceError(checked.problems)
            continue
        found[one.slug] = Source(
            slug=one.slug, config=checked.model, declared="project", folder=project, given=one.secrets
        )
