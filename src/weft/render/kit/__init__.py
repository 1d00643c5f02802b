"""A writing kit as people read it: Markdown, and one self-contained HTML page. Pure: values in, text out; no clock.

    kit_markdown(kit, source=...)   for an editor: the places in the source are footnotes
    kit_page(kit, source=...)       for a browser and for paper: the places are links into the source, and back

Both show every field of a kit, also one that they have never heard of. What a kit or a source says is data: it is
escaped, and characters that would change how the rest reads are made visible.

    source.py       what the kit was made from                 characters.py  what may be shown, and which way it runs
    contents.py     the kit as items, each with its spans      figures.py     numbers in the words of a reader
    passages.py     spans -> numbered passages that nest       leftovers.py   fields without a place of their own
    markdown.py     Markdown                                   page.py        HTML (elements.py, parts.py, style.css)
    source_text.py  the source on the page                     blocks.py      its blocks, marks and excerpts
"""

from __future__ import annotations

from weft.render.kit.markdown import kit_markdown
from weft.render.kit.page import kit_page
from weft.render.kit.source import KitCue, Source

__all__ = ["KitCue", "Source", "kit_markdown", "kit_page"]
