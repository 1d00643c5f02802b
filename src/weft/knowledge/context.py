"""Passages laid out for a model to read, within a budget: what matters most first, each with where it is from.

Four characters count as a token. With roles the budget is shared out: 60 % for what answers the question (primary),
30 % for what supports it, 10 % for what surrounds it; each role that has passages gets at least one in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, get_args
from xml.sax.saxutils import escape

from weft.knowledge.grammar import Grammar
from weft.protocol.values import dataclass

Role = Literal["primary", "supporting", "context"]
ROLES: Final[tuple[Role, ...]] = get_args(Role)
CHARACTERS_PER_TOKEN: Final = 4
CAPS: Final[dict[Role, int]] = {"primary": 999, "supporting": 15, "context": 5}
SHARES: Final[dict[Role, int]] = {"primary": 60, "supporting": 30, "context": 10}
OVERHEAD: Final = 200
GROUPED_HEADER: Final = 300
FLAT_HEADER: Final = 200


@dataclass(frozen=True, slots=True)
class Wording:
    """How the layout names things: `ISA 315.12` and `primary_isa`, or `315.12` and `primary`."""

    label: str = ""
    suffix: str = ""


def format_context(
    rows: Sequence[Mapping[str, Any]],
    query: str,
    grammar: Grammar,
    *,
    max_tokens: int = 8000,
    roles: Mapping[str, str] | None = None,
    group_by_role: bool = True,
    wording: Wording = Wording(),  # noqa: B008  a frozen value
) -> dict[str, Any]:
    by_role: dict[Role, list[Mapping[str, Any]]] = {role: [] for role in ROLES}
    for row in rows:
        by_role[_role(row, roles or {})].append(row)
    by_role = {role: found[: CAPS[role]] for role, found in by_role.items()}
    offered = sum(len(found) for found in by_role.values())
    if not offered:
        xml = f"{_head(query, 0, 0, max_tokens)}\n  <no_results/>\n</search_results>"
        return _result(xml, 0, 0, dict.fromkeys(ROLES, 0), tokens=0)
    if group_by_role:
        return _grouped(by_role, offered, query, grammar, max_tokens, wording)
    kept = {id(row) for found in by_role.values() for row in found}
    return _flat(by_role, [row for row in rows if id(row) in kept], query, grammar, max_tokens, wording)


def _role(row: Mapping[str, Any], roles: Mapping[str, str]) -> Role:
    wanted = roles.get(str(row.get("id")), row.get("role"))
    return next((role for role in ROLES if role == wanted), "primary")


def _grouped(
    by_role: Mapping[Role, list[Mapping[str, Any]]],
    offered: int,
    query: str,
    grammar: Grammar,
    max_tokens: int,
    wording: Wording,
) -> dict[str, Any]:
    budget = max_tokens * CHARACTERS_PER_TOKEN - GROUPED_HEADER
    chosen = {role: _within(found, budget * SHARES[role] / 100, keep_one=True) for role, found in by_role.items()}
    included = sum(len(found) for found in chosen.values())
    lines = [_head(query, offered, included, max_tokens, ' format="role_grouped"')]
    rank = 0
    for role in ROLES:
        name = f"{role}{wording.suffix}"
        lines.append(f'  <{name} count="{len(chosen[role])}" budget_pct="{SHARES[role]}">')
        for row in chosen[role]:
            rank += 1
            lines += [f"    {line}" for line in _row(row, rank, role, grammar, wording)]
        lines.append(f"  </{name}>")
    if offered > included:
        lines.append(f'  <excluded_by_budget count="{offered - included}"/>')
    counts = {role: len(found) for role, found in chosen.items()}
    return _result("\n".join([*lines, "</search_results>"]), included, offered - included, counts)


def _flat(
    by_role: Mapping[Role, list[Mapping[str, Any]]],
    rows: Sequence[Mapping[str, Any]],
    query: str,
    grammar: Grammar,
    max_tokens: int,
    wording: Wording,
) -> dict[str, Any]:
    chosen = _within(rows, max_tokens * CHARACTERS_PER_TOKEN - FLAT_HEADER, keep_one=False)
    role_of = {id(row): role for role in ROLES for row in by_role[role]}
    lines = [_head(query, len(rows), len(chosen), max_tokens)]
    for rank, row in enumerate(chosen, start=1):
        lines += [f"  {line}" for line in _row(row, rank, role_of[id(row)], grammar, wording)]
    left = len(rows) - len(chosen)
    if left:
        lines.append(f'  <out_of_scope_segments count="{left}"/>')
    counts = {role: sum(role_of[id(row)] == role for row in chosen) for role in ROLES}
    return _result("\n".join([*lines, "</search_results>"]), len(chosen), left, counts)


def _within(rows: Sequence[Mapping[str, Any]], budget: float, *, keep_one: bool) -> list[Mapping[str, Any]]:
    """What fits; a smaller one may still fit after one that did not."""
    chosen: list[Mapping[str, Any]] = []
    for row in rows:
        cost = len(str(row.get("content", ""))) + OVERHEAD
        if cost <= budget or (keep_one and not chosen):
            chosen.append(row)
            budget -= cost
    return chosen


def _head(query: str, total: int, included: int, tokens: int, more: str = "") -> str:
    return (
        f'<search_results query="{_quoted(query)}" total_results="{total}" included_results="{included}"'
        f' token_budget="{tokens}"{more}>'
    )


def _row(row: Mapping[str, Any], rank: int, role: Role, grammar: Grammar, wording: Wording) -> list[str]:
    guide = row.get("tier") == 1
    document = str(row.get("document", ""))
    ref = str(row.get("paragraph_ref") or "")
    source = f"Guide: {row.get('heading', '')}" if guide else f"{wording.label}{ref or document}"
    score = row.get("rrf_score", row.get("confidence", 0))
    path = row.get("retrieval_path", "unknown")
    given = f'confidence="{score}" retrieval_path="{_quoted(path)}" role="{role}" tier="{row.get("tier", 2)}"'
    if guide:
        place = f'guide="{_quoted(row.get("source_doc", ""))}" section="{_quoted(row.get("heading", ""))}"'
        more = {f"{wording.suffix[1:] or 'other'}_references": ", ".join(row.get("references") or [])}
    else:
        page = row.get("page_number") or 0
        place = f'standard="{_quoted(wording.label + document)}" paragraph="{_quoted(ref)}" page="{page}"'
        found = grammar.find(str(row.get("content", "")), document)
        others = dict.fromkeys(f"{wording.label}{at.place.ref}" for at in found if at.place.document != document)
        more = {
            "cross_references": ", ".join(others),
            "sub_paragraph": row.get("sub_paragraph") or "",
            "application_ref": row.get("application_ref") or "",
        }
    told = [f"    <{name}>{escape(value)}</{name}>" for name, value in more.items() if value]
    return [
        f'<result rank="{rank}" source="{_quoted(source)}" {given}>',
        f"  <content>{escape(str(row.get('content', '')))}</content>",
        f"  <source_text {place}/>",
        *(["  <metadata>", *told, "  </metadata>"] if told else []),
        "</result>",
    ]


def _quoted(value: Any) -> str:
    return escape(str(value), {'"': "&quot;"})


def _result(
    xml: str, included: int, excluded: int, counts: Mapping[Role, int], tokens: int | None = None
) -> dict[str, Any]:
    return {
        "xml": xml,
        "included_count": included,
        "excluded_count": excluded,
        "total_tokens_estimated": len(xml) // CHARACTERS_PER_TOKEN if tokens is None else tokens,
        "role_counts": dict(counts),
    }
