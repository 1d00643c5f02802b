"""Ask your documents: passages, the references between them, search, and the verification of what is said of them.

collection.py   what a person declares: tiers, how references are written, other names     (grammar.py)
cutting.py      a document to passages that follow its own structure (numbered.py, sections.py, splitting.py)
place.py        where a passage stands in a document's numbering; refs, ids, weights
"""

from __future__ import annotations
