"""Several small words that are one: `in spite of` is `despite`, `has to` is `must`."""

from __future__ import annotations

from typing import Final

_SAID: Final = """
before: prior to
after: subsequent to
because of: because of, due to, owing to, as a result of, on account of, thanks to
to: in order to, so as to
for: in order for, for the purpose of
despite: in spite of
with: by using, by use of, by the use of, by means of, with the help of, with the aid of, with the use of
through: through the use of
where: in which, at which, on which, upon which
whose: of which
from: out of
without: with no, without any
during: in the course of
once: as soon as
beside: next to
inside: inside of
outside: outside of
besides: in addition to
about: as to, with regard to, with respect to, in regard to, as regards
like: as if, as though, such as
except: other than, except for, apart from, aside from, with the exception of
all except: all but, all except
if: in the event that
whether: whether or not
as well as: as well as
must: has to, have to, had to, need to, needs to, needed to, will have to, will need to
may: is allowed to, are allowed to, is permitted to, are permitted to
can: able to
no longer: no longer
nobody: no one
each other: each other, one another
percent: per cent
"""
_PHRASES: Final = sorted(
    (
        (phrase.split(), key)
        for key, _, phrases in (line.partition(": ") for line in _SAID.strip().splitlines())
        for phrase in phrases.split(", ")
    ),
    key=lambda said: -len(said[0]),
)
PHRASES: Final = {first[0]: [said for said in _PHRASES if said[0][0] == first[0]] for first, _ in _PHRASES}
"""By their first word, the longest first."""
