"""What each tool is given. Bounds are part of the contract: a model that asks for a million rows is told so."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

SearchType = Literal["hybrid", "keyword", "vector"]
Count = Annotated[int, Field(ge=1, le=200)]
Depth = Annotated[int, Field(ge=1, le=10)]


class Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class NoArguments(Arguments):
    """Nothing."""


class SearchArguments(Arguments):
    query: str = Field(description='What to look for: a question, words, a "phrase", begin* of a word, a reference')
    max_results: Count = Field(default=20, description="How many passages at most")
    document_filter: str = Field(default="", description="Only this document: its key, title or file")
    search_type: SearchType = Field(default="hybrid", description="By words, by meaning, or both")


class GuideSearchArguments(Arguments):
    query: str = Field(description="What to look for")
    max_results: Count = Field(default=10, description="How many sections at most")
    guide_filter: str = Field(default="", description="Only this guide: its key, title or file")
    search_type: SearchType = Field(default="hybrid", description="By words, by meaning, or both")


class TierSearchArguments(Arguments):
    query: str = Field(description="What to look for")
    max_results: Count = Field(default=20, description="How many passages at most")
    tiers: list[Literal[1, 2]] | None = Field(default=None, description="1 for guides, 2 for standards; both when null")
    search_type: SearchType = Field(default="hybrid", description="By words, by meaning, or both")


class HopArguments(Arguments):
    paragraph_id: str = Field(description="Where to begin: an id, or a reference such as 315.12(a)")
    max_hops: Depth = Field(default=3, description="How many references in a row are followed")
    decay: float = Field(default=0.7, gt=0, le=1, description="What every further hop is worth of the one before")
    min_score: float = Field(default=0.01, ge=0, le=1, description="Where following ends")
    max_results: Count = Field(default=30, description="How many passages at most")


class GuideHopArguments(Arguments):
    guide_section_id: str = Field(description="The id or reference of a guide's section")
    max_hops: Depth = Field(default=2, description="How many references in a row are followed")


class TraceArguments(Arguments):
    start_id: str = Field(description="Where to begin: an id or a reference")
    max_hops: Depth = Field(default=3, description="How many references in a row are followed")


class GetArguments(Arguments):
    identifier: str = Field(description="An id, or a reference as people write it")


class EntityArguments(Arguments):
    entities: list[str] = Field(description="Names and terms")
    source_paragraph_ids: list[str] = Field(description="The passages they should occur in: ids or references")
    scoring: Literal["weft", "compat"] = Field(default="weft", description="compat scores as the reference does")


class Citation(Arguments):
    paragraph_id: str = Field(default="", description="The passage's id")
    paragraph_ref: str = Field(
        default="", description="Its reference, when there is no id; with neither, it is looked for"
    )
    claim: str = Field(default="", description="What is said of it")


class CitationArguments(Arguments):
    citations: list[Citation] = Field(description="Claims with the passages they cite")
    scoring: Literal["weft", "compat"] = Field(default="weft", description="compat scores as the reference does")


class Relation(Arguments):
    source_paragraph: str = Field(description="An id or a reference")
    target_paragraph: str = Field(description="An id or a reference")
    relation_type: str = Field(default="", description="cites, cited_by, or any other word")


class RelationArguments(Arguments):
    relations: list[Relation] = Field(description="Pairs of passages said to be related")
    scoring: Literal["weft", "compat"] = Field(default="weft", description="compat scores as the reference does")


class ContradictionArguments(Arguments):
    paragraph_ids: list[str] = Field(description="Passages: ids or references")
    synthesis_claims: list[str] | None = Field(default=None, description="Claims to hold against them")
    scoring: Literal["weft", "compat"] = Field(default="weft", description="compat scores as the reference does")


class ContextArguments(Arguments):
    paragraphs: list[dict[str, Any]] = Field(description="Rows as the searches return them")
    query: str = Field(description="The question they answer")
    max_tokens: int = Field(default=8000, ge=1, le=1_000_000, description="The budget; four characters are a token")
    roles: dict[str, str] | None = Field(default=None, description="By id: primary, supporting or context")
    group_by_role: bool = Field(default=True, description="False for one list in the order given")


class WebArguments(Arguments):
    queries: list[str] = Field(description="What to look for")
    max_results_per_query: int = Field(default=5, ge=1, le=20, description="How many results of each at most")


class ExplainArguments(Arguments):
    query: str = Field(description="What to look for")
    max_results: Count = Field(default=10, description="How many of each ranking at most")
