"""An answer as people read it: plain text, Markdown, and one self-contained HTML page. Pure: a value in, text out.

    answer_text(answer)       for a terminal: the answer, its labels, its sources in one line each
    answer_markdown(answer)   for an editor: all of it
    answer_page(answer)       for a browser and for paper: the answer first, everything else one click below it

`answer` is an `answer.json`. What it says is data: it is escaped, and characters that would change how the rest reads
are made visible. The page looks like that of a writing kit: it is built of the same elements and the same style.
"""

from __future__ import annotations

from weft.render.answer.markdown import answer_markdown
from weft.render.answer.page import answer_page
from weft.render.answer.plain import answer_text

__all__ = ["answer_markdown", "answer_page", "answer_text"]
