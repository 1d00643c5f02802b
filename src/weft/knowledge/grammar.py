"""How a collection's documents refer to each other, declared as templates and compiled to one finder.

    ISA {document}[.{paragraph}][({item})][({subitem})][.{application}]
    Section {paragraph} of RFC {document}

Text stands for itself (any white space for a space), `{field}` for a field's pattern, `[…]` for what may be missing.
`{paragraph+}` reads a list too: `paragraphs 12(a), 14 and 16-18` is six places. A template without `{document}` means
the document it stands in, or the one that is declared for it. The longest match at a place wins; matches never overlap.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from weft.knowledge.place import CitedPlace, same_key
from weft.protocol.values import dataclass

FIELDS: Final[dict[str, str]] = {
    "document": r"[A-Za-z]{0,8}\d{1,5}",
    "paragraph": r"\d{1,4}(?:\.\d{1,4}){0,5}",
    "item": r"[a-z]{1,2}|\d{1,3}",
    "subitem": r"[ivxl]{1,6}|[a-z]|\d{1,3}",
    "application": r"A\d{1,4}",
}
"""What each field matches unless the collection says otherwise. Bounded, so that no text takes long to search."""

_PIECE: Final = re.compile(r"\{([a-z]+)(\+?)\}|(\[)|(\])|(\s+)|(.)", re.DOTALL)
_MORE: Final = re.compile(r"\s*(?:,\s*(?:and\s+|or\s+)?|\s(?:and|or|und|et)\s+|(?P<range>\s*[-–—]\s*|\s+to\s+))")
_ITEM: Final = r"(?:\((?P<item>{item})\))?(?:\((?P<subitem>{subitem})\))?"
RANGE_LIMIT: Final = 30
"""A range that names more paragraphs than this is rather a span of something else."""


class TemplateError(ValueError):
    """A template that can't be read, in words."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A place named in a text, with the words that name it."""

    text: str
    start: int
    end: int
    place: CitedPlace


@dataclass(frozen=True, slots=True)
class _Form:
    pattern: re.Pattern[str]
    document: str
    listing: bool


class Grammar:
    """The references of one collection. `aliases` are other names of documents, each with the key it stands for."""

    def __init__(
        self,
        templates: Iterable[tuple[str, str]],
        fields: Mapping[str, str] | None = None,
        aliases: Mapping[str, str] | None = None,
        *,
        ignore_case: bool = False,
    ) -> None:
        templates = list(templates)
        self._fields = {**FIELDS, **(fields or {})}
        self._forms = [_compiled(template, self._fields, document, ignore_case) for template, document in templates]
        self._loose = [
            _Form(compile_template(template, self._fields, ignore_case=True, space=r"\s*"), document, listing=False)
            for template, document in templates
        ]
        self._aliases = {same_key(name): key for name, key in (aliases or {}).items()}
        self._named = _alternatives(aliases or {})
        bare = "{document}[.{paragraph}][({item})][({subitem})][.{application}]"
        self._bare = [_compiled(bare, {**self._fields, "document": key}, "", True) for key in (_ANY_KEY, _DASHED_KEY)]
        self._more = re.compile(rf"(?P<paragraph>{self._fields['paragraph']})" + _ITEM.format(**self._fields))

    def find(self, text: str, own: str = "") -> list[Reference]:
        """Every reference in `text`, in order; `own` is the key of the document the text stands in."""
        found: dict[int, tuple[re.Match[str], _Form]] = {}
        for form in self._forms:
            for match in form.pattern.finditer(text):
                best = found.get(match.start())
                if best is None or match.end() > best[0].end():
                    found[match.start()] = (match, form)
        references: list[Reference] = []
        end = 0
        for start in sorted(found):
            if start < end:
                continue
            match, form = found[start]
            place = self._place(match, form.document or own)
            if place is None:
                continue
            references.append(Reference(match[0], match.start(), match.end(), place))
            if form.listing:
                references += self._listed(text, match.end(), place)
            end = references[-1].end
        return references + [reference for reference in self._by_name(text) if not _covered(reference, references)]

    def parse(self, text: str) -> list[CitedPlace]:
        """What a person or a model may mean by a reference standing alone: the collection's forms, or the bare one."""
        wanted = " ".join(text.split())
        places = list(self._whole(wanted, self._loose))
        tail = re.search(r"[.,(§]", wanted)
        head = wanted[: tail.start()] if tail else wanted
        if alias := self._aliases.get(same_key(head)):
            wanted = alias + wanted[len(head) :]
        return list(dict.fromkeys([*places, *self._whole(wanted.replace("..", "."), self._bare)]))

    def _whole(self, text: str, forms: Iterable[_Form]) -> Iterator[CitedPlace]:
        for form in forms:
            if (match := form.pattern.fullmatch(text)) and (place := self._place(match, form.document)):
                yield place

    def _place(self, match: re.Match[str], document: str) -> CitedPlace | None:
        given = {name: value for name, value in match.groupdict().items() if value}
        key = given.pop("document", document)
        key = self._aliases.get(same_key(key), key)
        return CitedPlace(document=key, **given) if key else None

    def _listed(self, text: str, position: int, first: CitedPlace) -> Iterator[Reference]:
        last = first
        while (joint := _MORE.match(text, position)) and (match := self._more.match(text, joint.end())):
            place = replace(last, item="", subitem="", **{n: v for n, v in match.groupdict().items() if v})
            if joint["range"]:
                yield from self._between(last, place, match)
            yield Reference(match[0], match.start(), match.end(), place)
            position, last = match.end(), place

    def _between(self, first: CitedPlace, last: CitedPlace, match: re.Match[str]) -> Iterator[Reference]:
        *head, low = first.paragraph.split(".")
        *other, high = last.paragraph.split(".")
        if head == other and low.isdigit() and high.isdigit() and 1 < int(high) - int(low) <= RANGE_LIMIT:
            for number in range(int(low) + 1, int(high)):
                place = CitedPlace(document=first.document, paragraph=".".join([*head, str(number)]))
                yield Reference(match[0], match.start(), match.end(), place)

    def _by_name(self, text: str) -> Iterator[Reference]:
        if self._named:
            for match in self._named.finditer(text):
                place = CitedPlace(document=self._aliases[same_key(match[0])])
                yield Reference(match[0], match.start(), match.end(), place)


_ANY_KEY: Final = r"[^\s.(),§]+(?: [^\s.(),§]+){0,3}?"
_DASHED_KEY: Final = r"[^\s(),§]+"


def _covered(reference: Reference, others: list[Reference]) -> bool:
    return any(other.start < reference.end and reference.start < other.end for other in others)


def _alternatives(aliases: Mapping[str, str]) -> re.Pattern[str] | None:
    names = sorted(aliases, key=len, reverse=True)
    words = "|".join(r"\s+".join(map(re.escape, name.split())) for name in names)
    return re.compile(rf"(?<!\w)(?:{words})(?!\w)") if words else None


def _compiled(template: str, fields: Mapping[str, str], document: str, ignore_case: bool) -> _Form:
    return _Form(compile_template(template, fields, ignore_case=ignore_case), document, "+}" in template)


def compile_template(
    template: str, fields: Mapping[str, str], *, ignore_case: bool = False, space: str = r"\s+"
) -> re.Pattern[str]:
    parts: list[str] = []
    seen: set[str] = set()
    depth = 0
    for name, _, opening, closing, blank, sign in _PIECE.findall(template):
        if name:
            if name not in fields:
                raise TemplateError(f"there is no field {{{name}}}; the fields are: {', '.join(fields)}")
            if name in seen:
                raise TemplateError(f"{{{name}}} stands here twice")
            seen.add(name)
            parts.append(f"(?P<{name}>{fields[name]})")
        elif opening or closing:
            depth += 1 if opening else -1
            if depth < 0:
                raise TemplateError("a ] stands here that closes nothing")
            parts.append("(?:" if opening else ")?")
        else:
            parts.append(space if blank else re.escape(sign))
    if depth:
        raise TemplateError("a [ is not closed")
    if not seen:
        raise TemplateError("a template needs at least one {field}, such as {paragraph}")
    try:
        return re.compile(rf"(?<!\w){''.join(parts)}(?!\w)", re.IGNORECASE if ignore_case else 0)
    except re.error as error:
        raise TemplateError(f"a field's pattern is not valid: {error}") from error
