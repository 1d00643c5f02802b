"""From a question to an answer whose every sentence has a passage, with no model: plain values in, plain values out.

depth.py      what quick, standard and deep mean: one table, applied everywhere
question.py   a question to sub-queries by its structure, and how clear it is
calibrate.py  what the collection, and pages that were given, say to the plan: promote, demote, add; never delete
retrieve.py   the passages of every sub-query, by search and by reference, within the depth's bounds
extract.py    a draft made of the passages' own sentences
labels.py     any draft, whoever wrote it, to sentences with labels that exist
review.py     the four axes over it, what failed and why, in words that the next draft can use
earlier.py    an earlier answer: its sections as [P1], [P2]; what need not be looked for again
answer.py     all of it as `answer.json`, with a confidence for every section
quick.py      the whole of it in one call
relevance.py  whether a find is about what was asked
state.py      what a collection was when it was asked
"""

from __future__ import annotations
