"""Questions that others wrote, each with its answer: the lists of frequent questions in manuals that Debian installs.

    apt-get install perl-doc python3.11-doc python-django-doc debian-faq git-doc libcurl4-doc zsh-common vim-doc
                    fetchmail apache2-doc

A question's own words are taken off its answer, so that nothing is found by its heading. What is under a question is
its right answer; with that taken out of the collection, the same question has none. Fitting reads the lists in `TUNE`
and nothing else reads them; what is reported comes from those in `TEST`.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from weft.documents import read_document

TUNE = ("python", "curl", "zsh", "fetchmail")
TEST = ("vim", "debian", "django", "git", "apache", "perl")
SHORTEST = 12
"""Words of an answer: what has fewer only points somewhere."""


@dataclass(frozen=True)
class Asked:
    list: str
    number: int
    question: str
    answer: str

    @property
    def file(self) -> str:
        return f"{self.number:03}.md"


def questions(name: str, root: Path) -> list[Asked]:
    found = [(one_line(question), answer.strip()) for question, answer in READERS[name](root)]
    kept = {question: answer for question, answer in found if len(answer.split()) >= SHORTEST and "?" in question}
    return [Asked(name, number, question, answer) for number, (question, answer) in enumerate(kept.items())]


def one_line(text: str) -> str:
    return re.sub(r"[`*\\]", "", " ".join(text.split()))


def _perl(root: Path) -> Iterator[tuple[str, str]]:
    for path in sorted(root.glob("perl/5.*/pod/perlfaq[1-9].pod")):
        parts = re.split(r"^=head2 (.+)$", path.read_text("utf-8", "replace"), flags=re.M)
        for question, text in zip(parts[1::2], parts[2::2], strict=True):
            text = re.split(r"^=head1", text, flags=re.M)[0]
            text = re.sub(r"^=\w+.*$", "", text, flags=re.M)
            text = re.sub(r"[A-Z]<<? ?([^<>]*) ?>?>", r"\1", text)
            yield re.sub(r"[A-Z]<([^<>]*)>", r"\1", question), text


def _pages(paths: list[Path]) -> Iterator[tuple[str, str]]:
    """The headings of pages that end in a question mark, with what stands under each."""
    for path in paths:
        text = read_document(path.read_bytes(), path.name).text
        parts = re.split(r"^#{1,6} (.+)$", text, flags=re.M)
        for question, under in zip(parts[1::2], parts[2::2], strict=True):
            if question.rstrip().endswith("?"):
                yield re.sub(r"^[A-Z]?\d+[.)]\s*", "", question), under


def _numbered(text: str, mark: str) -> Iterator[tuple[str, str]]:
    """A plain text whose questions are numbered lines, after its contents."""
    starts = list(re.finditer(mark, text, flags=re.M))
    ends = [*(mark.start() for mark in starts[1:]), len(text)]
    for here, end in zip(starts, ends, strict=False):
        whole = text[here.end() : end]
        question, ended, under = whole.partition("?")
        if ended and len(question) < 300 and "\n\n" not in question.strip("\n"):
            yield f"{question}?", "\n".join(line.strip() for line in under.splitlines())


def _plain(path: Path) -> str:
    return gzip.decompress(path.read_bytes()).decode("utf-8", "replace")


def _after(text: str, first: str) -> str:
    """What comes after the contents: the first chapter's title stands there, and again where it begins."""
    return first.join(text.split(first)[2:])


def _debian(root: Path) -> Iterator[tuple[str, str]]:
    text = _after(_plain(root / "doc/debian/FAQ/debian-faq.en.txt.gz"), "Definitions and overview")
    yield from _numbered(text, r"^\d+\.\d+\.\s")


def _git(root: Path) -> Iterator[tuple[str, str]]:
    text = (root / "doc/git-doc/gitfaq.txt").read_text()
    parts = re.split(r"^\[\[[\w-]+\]\]\n(.+(?:\n.+)?)::$", text, flags=re.M)
    for question, under in zip(parts[1::2], parts[2::2], strict=True):
        yield question, re.sub(r"^\+$", "", re.split(r"\n\n[A-Z].*\n-+\n", under)[0], flags=re.M)


READERS = {
    "perl": _perl,
    "python": lambda root: _pages(sorted(root.glob("doc/python3.[0-9]*/html/faq/*.html"))),
    "django": lambda root: _pages(sorted(root.glob("doc/python-django-doc/html/faq/*.html"))),
    "fetchmail": lambda root: _pages([root / "doc/fetchmail/fetchmail-FAQ.html"]),
    "apache": lambda root: _pages([root / "doc/apache2-doc/manual/en/ssl/ssl_faq.html"]),
    "curl": lambda root: _numbered(
        _after(_plain(root / "doc/libcurl4/FAQ.gz"), "1. Philosophy"), r"^ {2}\d+\.\d+ (?=.*\n\n)"
    ),
    "zsh": lambda root: _numbered(_after(_plain(root / "doc/zsh-common/FAQ.gz"), "Chapter 1"), r"^\d+\.\d+: "),
    "vim": lambda root: _numbered(_after(_plain(root / "doc/vim/FAQ.gz"), "SECTION 1 -"), r"^\d+\.\d+\.\s"),
    "debian": _debian,
    "git": _git,
}
