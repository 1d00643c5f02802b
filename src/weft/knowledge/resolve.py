"""The one answer to "which passage do you mean": an id, a ref as the index writes it, or a reference as people do."""

from __future__ import annotations

from weft.knowledge.grammar import Grammar
from weft.knowledge.place import CitedPlace, same_key
from weft.knowledge.store import Store, StoredPassage
from weft.protocol.values import dataclass


@dataclass(frozen=True, slots=True)
class Resolution:
    passages: tuple[StoredPassage, ...]
    """What was meant, in the order of the document; several when a document uses a number twice or has parts."""
    around: tuple[StoredPassage, ...] = ()
    """When the place itself is not there: the passages of the place around it."""
    place: CitedPlace | None = None

    @property
    def passage(self) -> StoredPassage | None:
        return self.passages[0] if self.passages else None


def resolve(store: Store, grammar: Grammar, identifier: str) -> Resolution:
    wanted = " ".join(identifier.split())
    if not wanted:
        return Resolution(())
    by_id = store.passage(wanted)
    if by_id is not None:
        return Resolution((by_id,), place=by_id.place)
    if exact := store.by_ref(wanted):
        return Resolution(tuple(exact), place=exact[0].place)
    places = [*grammar.parse(wanted), *_without_document(store, grammar, wanted)]
    for place in places:
        if numbers := store.numbers_at(place):
            return Resolution(tuple(store.passages(numbers)), place=place)
    for place in places:
        around = place.parent()
        while around is not None:
            if numbers := store.numbers_at(around):
                return Resolution((), tuple(store.passages(numbers)), place)
            around = around.parent()
    return Resolution((), place=places[0] if places else None)


def _without_document(store: Store, grammar: Grammar, wanted: str) -> list[CitedPlace]:
    """`7.2` alone is the one document's that has such a paragraph; when several have, it is nobody's."""
    found = [
        place
        for key in {document.key for document in store.documents()}
        for place in grammar.parse(f"{key}.{wanted}")
        if same_key(place.document) == same_key(key) and place.paragraph and store.numbers_at(place)
    ]
    return found if len({place.document for place in found}) == 1 else []
