"""collection.yaml: what a person says about a body of documents. Everything has a default but the title.

The file stands in `knowledge/<name>/`; its documents stand in `documents/` beside it, or in the `folders` it names.
"""

from __future__ import annotations

import fnmatch
import re
from functools import cached_property
from pathlib import PurePosixPath
from typing import Annotated, Any, Final, Literal

from pydantic import ConfigDict, Field, PlainValidator, WithJsonSchema

from weft.files import Folder
from weft.knowledge.grammar import FIELDS, Grammar, TemplateError, compile_template
from weft.protocol.errors import Problem, WorkspaceError
from weft.protocol.hashes import hash_value
from weft.workspace.document import in_order, read_source
from weft.workspace.explain import check
from weft.workspace.fields import Given, Strict, Text, fault
from weft.workspace.yaml_document import parse_yaml

FILE: Final = "collection.yaml"
DOCUMENTS: Final = "documents"
Tier = Literal["standards", "guides"]
Structure = Literal["auto", "paragraphs", "articles", "sections", "headings"]
TIER_NUMBERS: Final[dict[Tier, int]] = {"guides": 1, "standards": 2}


def _pattern(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise fault("must be a regular expression, as text")
    try:
        re.compile(value)
    except re.error as error:
        raise fault(f"is not a regular expression: {error}") from error
    return value


Pattern = Annotated[str, PlainValidator(_pattern), WithJsonSchema({"type": "string"})]
OptionalWeight = Annotated[Annotated[float, Field(ge=0.01, le=1)] | None, Given]


class TierEntry(Strict):
    files: list[Text] = Field(default=[], description="Which documents belong to it: file names with * and ?")
    structure: Structure = Field(
        default="auto", description="How a document is cut: paragraphs, articles, sections, headings, or auto"
    )
    key: str = Field(
        default="", description="What references call all of its documents, when they are parts of one (chapters)"
    )
    weight: OptionalWeight = Field(
        default=None, description="What its results count beside the other tier's: 1 for standards, 0.85 for guides"
    )


class ReferenceEntry(Strict):
    form: Text = Field(description="How a reference is written, such as 'ISA {document}[.{paragraph}][({item})]'")
    document: str = Field(default="", description="The document it means when the form has no {document}")


class DocumentEntry(Strict):
    key: str = Field(default="", description="What references call the document")
    title: str = Field(default="", description="Its title, when the file's own is not right")
    version: str = Field(default="", description="Its edition")
    effective_date: str = Field(default="", description="From when it applies")


class Collection(Strict):
    model_config = ConfigDict(**Strict.model_config, ignored_types=(cached_property,))

    title: Text = Field(description="What the collection is called")
    description: str = Field(default="", description="What it holds, for whoever chooses among collections")
    folders: list[Text] = Field(default=[], description="Folders elsewhere whose documents are read in place")
    tiers: dict[Tier, TierEntry] = Field(
        default={}, description="standards (what binds) and guides (what explains), each with its documents"
    )
    key_from_name: Pattern | None = Field(
        default=None, description="A regular expression; its first group, found in a file's name, is the document's key"
    )
    documents: dict[str, DocumentEntry] = Field(default={}, description="What is known of single files, by name")
    references: list[ReferenceEntry] = Field(default=[], description="How the documents refer to each other")
    fields: dict[Literal["document", "paragraph", "item", "subitem", "application"], Pattern] = Field(
        default={}, description="What {document}, {paragraph} … look like, when not as usual"
    )
    ignore_case: bool = Field(default=False, description="Whether references may be written in any case")
    aliases: dict[str, Text] = Field(default={}, description="Other names of documents, each with the key it means")
    acronyms: dict[str, Text] = Field(default={}, description="Short forms, each with the words a search adds for it")
    ignore_lines: list[Pattern] = Field(default=[], description="Lines to leave out, such as running headers")
    tool_prefix: Text | None = Field(
        default=None, description="A second name for the tools: isa gives isa_hybrid_search"
    )

    @cached_property
    def grammar(self) -> Grammar:
        forms = [(entry.form, entry.document) for entry in self.references]
        fields = {str(name): pattern for name, pattern in self.fields.items()}
        return Grammar(forms, fields, self.aliases, ignore_case=self.ignore_case)

    @cached_property
    def shape(self) -> str:
        """A hash of all that decides how a document is cut and filed: when it changes, every document is read anew."""
        return hash_value(
            [CUTTING, self.model_dump(mode="json", exclude={"title", "description", "acronyms", "folders"})]
        )

    def tier_of(self, file: str) -> Tier:
        """The first tier that names the file; else standards, unless only guides name theirs."""
        for tier, entry in self.tiers.items():
            if any(_matches(file, pattern) for pattern in entry.files):
                return tier
        open_tiers = [tier for tier, entry in self.tiers.items() if not entry.files]
        return open_tiers[0] if open_tiers else "standards"

    def structure_of(self, tier: Tier) -> Structure:
        return self.tiers[tier].structure if tier in self.tiers else "auto"

    def weight_of(self, tier: Tier) -> float:
        declared = self.tiers[tier].weight if tier in self.tiers else None
        return {"guides": 0.85, "standards": 1.0}[tier] if declared is None else declared

    def entry_of(self, file: str) -> DocumentEntry:
        entry = self.documents.get(file) or self.documents.get(PurePosixPath(file).name) or DocumentEntry()
        if entry.key:
            return entry
        tier = self.tiers.get(self.tier_of(file))
        return entry.model_copy(update={"key": (tier.key if tier else "") or self._key(PurePosixPath(file))})

    def _key(self, file: PurePosixPath) -> str:
        found = re.search(self.key_from_name, file.name) if self.key_from_name else None
        if found:
            return str(found[found.re.groups and 1])
        return file.stem


CUTTING: Final = 2
"""Raised when passages are cut in a new way, so that existing indexes are made anew."""


def _matches(file: str, pattern: str) -> bool:
    return fnmatch.fnmatchcase(file, pattern) or fnmatch.fnmatchcase(PurePosixPath(file).name, pattern)


def parse_collection(text: str, file: str = FILE) -> Collection:
    """WorkspaceError with every fault, each with its line."""
    document = parse_yaml(file, text)
    checked = check(Collection, document, {"title": "Untitled"})
    problems = [*document.problems, *checked.problems]
    if checked.model is not None:
        fields = {**FIELDS, **{str(name): pattern for name, pattern in checked.model.fields.items()}}
        for index, entry in enumerate(checked.model.references):
            try:
                compile_template(entry.form, fields)
            except TemplateError as error:
                problems.append(document.at_value(("references", index, "form"), str(error)))
    if problems or checked.model is None:
        raise WorkspaceError(in_order(problems or [Problem(file, "this can't be read")], file))
    return checked.model


def read_collection(folder: Folder) -> Collection:
    """The collection declared in this folder. FileNotFoundError passes: callers know the collection's name."""
    return parse_collection(read_source(folder, FILE).text, f"{folder.path.parent.name}/{folder.path.name}/{FILE}")
