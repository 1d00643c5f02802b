"""The tools over a collection, as plain functions: arguments in, a JSON value out. Engine and MCP offer the same.

    call(knowledge, "kb_search", {"query": "…"})

Arguments are pydantic models, whose JSON Schemas are what a model is shown. A collection with a `tool_prefix` has every
tool under the reference's name too (`isa_hybrid_search`), with that name's words in arguments and results
(`isa_number` for `document`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from pydantic import BaseModel, ValidationError

from weft.knowledge import answers
from weft.knowledge import arguments as given
from weft.knowledge.knowledge_base import KnowledgeBase
from weft.protocol.errors import UserError
from weft.protocol.values import dataclass
from weft.workspace.spelling import suggest


@dataclass(frozen=True, slots=True)
class KnowledgeTool:
    name: str
    alias: str
    """What the reference calls it, without its prefix."""
    description: str
    arguments: type[BaseModel]
    answer: Callable[[KnowledgeBase, Any], dict[str, Any]]

    @property
    def schema(self) -> dict[str, Any]:
        return self.arguments.model_json_schema()


TOOLS: Final = {
    tool.name: tool
    for tool in (
        KnowledgeTool(
            "kb_search",
            "hybrid_search",
            "Search the standards by words and by meaning. Returns passages with their references, best first.",
            given.SearchArguments,
            answers.search,
        ),
        KnowledgeTool(
            "kb_hops",
            "hop_retrieve",
            "Follow references from a passage (by id or reference) to what it refers to, and on from there.",
            given.HopArguments,
            answers.hops,
        ),
        KnowledgeTool(
            "kb_list_standards",
            "list_standards",
            "List the standards with their titles and sizes.",
            given.NoArguments,
            answers.list_standards,
        ),
        KnowledgeTool(
            "kb_get",
            "get_paragraph",
            "Get one passage by its id or reference, with the passages it refers to and that refer to it.",
            given.GetArguments,
            answers.get,
        ),
        KnowledgeTool(
            "kb_search_guides",
            "guide_search",
            "Search the guides by words and by meaning.",
            given.GuideSearchArguments,
            answers.search_guides,
        ),
        KnowledgeTool(
            "kb_guide_hops",
            "guide_to_isa_hop",
            "From a section of a guide to the passages of standards it refers to, and on from there.",
            given.GuideHopArguments,
            answers.guide_hops,
        ),
        KnowledgeTool(
            "kb_list_guides", "list_guides", "List the guides with their sizes.", given.NoArguments, answers.list_guides
        ),
        KnowledgeTool(
            "kb_search_all",
            "multi_tier_search",
            "Search standards and guides together; scores are comparable, guides count a little less.",
            given.TierSearchArguments,
            answers.search_all,
        ),
        KnowledgeTool(
            "kb_verify_entities",
            "entity_verify",
            "Check that names and terms occur in the source passages.",
            given.EntityArguments,
            answers.verify_entities,
        ),
        KnowledgeTool(
            "kb_verify_citations",
            "citation_verify",
            "Check that cited passages exist and say what is claimed: numbers, negation, obligation, dates and names.",
            given.CitationArguments,
            answers.verify_citations,
        ),
        KnowledgeTool(
            "kb_verify_relations",
            "relation_verify",
            "Check that passages said to be related are, in that direction.",
            given.RelationArguments,
            answers.verify_relations,
        ),
        KnowledgeTool(
            "kb_check_contradictions",
            "contradiction_check",
            "Find passages that contradict each other, and claims that contradict passages.",
            given.ContradictionArguments,
            answers.check_contradictions,
        ),
        KnowledgeTool(
            "kb_format_context",
            "format_context",
            "Lay out passages as XML within a budget of tokens, grouped by role.",
            given.ContextArguments,
            answers.lay_out,
        ),
        KnowledgeTool(
            "kb_web_search",
            "web_search",
            "Search the web through a connected source, if there is one.",
            given.WebArguments,
            answers.search_web,
        ),
        KnowledgeTool(
            "kb_status", "kb_status", "What the index holds and which parts work.", given.NoArguments, answers.status
        ),
        KnowledgeTool(
            "kb_trace_hops",
            "debug_hop_trace",
            "Every reference that is followed from a passage, step by step.",
            given.TraceArguments,
            answers.trace_hops,
        ),
        KnowledgeTool(
            "kb_explain_search",
            "debug_search",
            "How a search came to its result: the question as searched, each ranking, the fusion, the reranking.",
            given.ExplainArguments,
            answers.explain_search,
        ),
    )
}


def tools_of(knowledge: KnowledgeBase) -> dict[str, tuple[KnowledgeTool, dict[str, Any]]]:
    """Every name a collection's tools go by, with the schema of its arguments."""
    found = {name: (tool, tool.schema) for name, tool in TOOLS.items()}
    prefix = knowledge.collection.tool_prefix
    if prefix:
        for tool in TOOLS.values():
            schema = tool.schema
            words = {mine: theirs for theirs, mine in _argument_words(prefix).items()}
            schema["properties"] = {words.get(key, key): value for key, value in schema.get("properties", {}).items()}
            found[alias_of(tool, prefix)] = (tool, schema)
    return found


def alias_of(tool: KnowledgeTool, prefix: str) -> str:
    return f"{prefix}_{tool.alias}".replace("_isa_", f"_{prefix}_")


def call(knowledge: KnowledgeBase, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The tool's answer. UserError with every fault when the tool or its arguments are not right."""
    prefix = knowledge.collection.tool_prefix or ""
    aliases = {alias_of(tool, prefix): tool for tool in TOOLS.values()} if prefix else {}
    tool = TOOLS.get(name) or aliases.get(name)
    if tool is None:
        raise UserError(f"there is no tool {name!r}", hint=suggest(name, [*TOOLS, *aliases], "tools"))
    aliased = name in aliases and name not in TOOLS
    if aliased:
        arguments = _renamed(arguments, _argument_words(prefix))
    try:
        checked = tool.arguments.model_validate(dict(arguments))
    except ValidationError as error:
        raise UserError(f"{name}: {_faults(error)}") from error
    answer = tool.answer(knowledge, checked)
    return _renamed(answer, _result_words(prefix)) if aliased else answer


def _faults(error: ValidationError) -> str:
    return "; ".join(
        f"{'.'.join(map(str, fault['loc'])) or 'the arguments'}: {fault['msg'][:1].lower()}{fault['msg'][1:]}"
        for fault in error.errors(include_url=False)
    )


def _argument_words(prefix: str) -> dict[str, str]:
    return {f"{prefix}_filter": "document_filter", f"{prefix}_number": "document", f"{prefix}_references": "references"}


def _result_words(prefix: str) -> dict[str, str]:
    return {"document": f"{prefix}_number", "references": f"{prefix}_references"}


def _renamed(value: Any, words: Mapping[str, str]) -> Any:
    if isinstance(value, Mapping):
        return {words.get(key, key): _renamed(inner, words) for key, inner in value.items()}
    if isinstance(value, list):
        return [_renamed(inner, words) for inner in value]
    return value
