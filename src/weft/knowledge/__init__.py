"""Ask your documents: passages, the references between them, search, and the verification of what is said of them.

knowledge_base.py  the door to one collection, and the collections of a workspace
collection.py      what a person declares: tiers, how references are written, other names        (grammar.py)
cutting.py         a document to passages that follow its own structure  (numbered.py, sections.py, splitting.py)
place.py           where a passage stands in a document's numbering; refs, ids, weights
store.py           the index: documents, passages, edges, vectors in SQLite       (schema.py, resolve.py, hops.py)
ingest.py          bringing the index up to date, one whole document at a time
search.py          by words, by meaning, or both (keyword.py, vectors.py, embedding.py, pieces.py, fusion.py)
verify/            four axes over claims, with the evidence; one claim alone is `weft.checks.claims`
tools.py           all of it as tools: name and arguments in, a JSON value out    (arguments.py, answers.py)
serving.py         the same tools over MCP
"""

from __future__ import annotations
