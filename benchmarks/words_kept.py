"""How many words of pages are in the index that is made of them?

    python -m benchmarks.words_kept FOLDER...

Each folder holds the HTML of one manual. What a page says is read with Python's own parser: the element with the role
`main`, or `main`, or the body, without scripts; its words are held against all that the index keeps of the page, the
texts of its passages with their headings and leads. A word that stands there once too few is lost, wherever it went:
by finding the article, or by cutting it into passages. Links are most of what leads around a site, so words outside
of links are counted too.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

from weft.documents import DocumentError, read_document
from weft.documents.markup import BLOCKS
from weft.knowledge.collection import parse_collection
from weft.knowledge.cutting import cut_document
from weft.knowledge.ingest import SIGNPOST

UNSEEN = ("script", "style", "head", "noscript", "template")
VOID = ("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr")


class Page(HTMLParser):
    """The words of a page by where they stand: in its main element or not, in a link or not."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.said: list[tuple[str, bool, bool]] = []
        self._open: list[tuple[str, bool]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in BLOCKS or tag in ("br", "img"):
            self.handle_data(" ")
        if tag not in VOID:
            self._open.append((tag, tag == "main" or ("role", "main") in attrs))

    def handle_endtag(self, tag: str) -> None:
        if tag in BLOCKS:
            self.handle_data(" ")
        if any(tag == name for name, _ in self._open):
            while self._open.pop()[0] != tag:
                pass

    def handle_data(self, data: str) -> None:
        names = [name for name, _ in self._open]
        if not any(name in UNSEEN for name in names):
            self.said.append((data, any(main for _, main in self._open), "a" in names))

    def words(self, *, links: bool) -> Counter[str]:
        main = any(inside for _, inside, _ in self.said)
        shown = (text if links or not linked else " " for text, inside, linked in self.said if inside or not main)
        return words("".join(shown))


def words(text: str) -> Counter[str]:
    return Counter(re.findall(r"\w+", text.lower()))


def compared(page: Path) -> Iterator[Counter[str]]:
    """What the page says, what it says outside of links, what the index keeps; nothing of what is no document."""
    data = page.read_bytes()
    try:
        document = read_document(data, page.name)
    except DocumentError:
        return
    if document.extra.get("leads_to") and document.words < SIGNPOST:
        return
    cut = cut_document(document, page.name, "", parse_collection("title: measured"))
    headings = {heading for passage in cut.passages for heading in passage.heading.split(" › ")}
    texts = [cut.title, *headings, *(f"{passage.lead} {passage.content}" for passage in cut.passages)]
    read = Page(data.decode("utf-8", "replace"))
    yield read.words(links=True)
    yield read.words(links=False)
    yield words(" ".join(texts))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    print("| | pages | words | kept | outside of links kept |\n| --- | --- | --- | --- | --- |")
    for folder in parser.parse_args().folders:
        pages = {page.read_bytes(): page for page in sorted(folder.rglob("*.htm*"))}.values()
        found = [(*one,) for page in pages if (one := list(compared(page)))]
        rows = [(said.total(), (said - kept).total(), own.total(), (own - kept).total()) for said, own, kept in found]
        said, lost, own, own_lost = map(sum, zip(*rows, strict=True))
        print(
            f"| {folder.name} | {len(found)} | {said:,} | {1 - lost / said:.2%} | {1 - own_lost / own:.2%} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
