"""The last step of every reader: a title that is never empty, the count of words, one form of text, notes once each."""

from __future__ import annotations

import re
from typing import Final

from weft.documents.characters import count_words, normalise, one_line
from weft.documents.document import MAX_TEXT, Document, Draft, RefusedError
from weft.protocol.patterns import pattern

_ENDINGS: Final = pattern(
    r"\.(?:md|markdown|mdown|mkd|txt|text|html?|xhtml|pdf|docx|epub|vtt|webvtt|srt|json|png|jpe?g|gif|webp|log|info|rst|org|adoc)\Z",
    re.IGNORECASE,
)
_LANGUAGE_ENDING: Final = pattern(r"\.[a-z]{2,3}(?:-[A-Za-z]{2,4})?\Z")
_HEADING: Final = pattern(r"^ {0,3}#{1,6} ([^\n]*)", re.MULTILINE)
_TOP_HEADING: Final = pattern(r"^ {0,3}# ([^\n]*)", re.MULTILINE)
_UNDERLINED: Final = pattern(r"^(?! {4}|[-=>#*+])([^\n]{1,200})\n(?:=+|-{3,}|\*{3,})$", re.MULTILINE)
_INLINE: Final = pattern(r"!?\[([^\]\n]{0,300})\]\([^()\n]{0,500}\)|(\*\*|__|\*|`)(?=\S)([^\n]{1,300}?)(?<=\S)\2")
_COMMENT: Final = pattern(r"<!--(?s:.*?)-->")
_EDITOR: Final = pattern(r"-\*-[^\n]{1,80}?-\*-")
"""What a first line says to an editor."""
_TO: Final = r"(?:\([^()\n]{0,500}\)|\[[^\]\n]{0,300}\])"
_PICTURE: Final = pattern(rf"\[!\[(?P<linked>[^\]\n]{{0,300}})\]{_TO}\]{_TO}|!\[(?P<alone>[^\]\n]{{0,300}})\]{_TO}")
_EMPTY: Final = pattern(r"<([a-z]{1,10})(?: [^<>\n]{0,300})?>\s*</\1>")
_SENTENCE_END: Final = pattern(r"[.!?…,;。！？、]\Z")
_BEFORE, _BEFORE_LESSER = 80, 20
"""Words that may stand before the title: before a heading of a lower rank, hardly more than a byline."""
_UNTITLED: Final = ("webvtt", "srt", "whisper", "image")
"""Kinds whose text has no heading."""


def finished(draft: Draft, name: str) -> Document:
    text = draft.text if draft.normal else normalise(draft.text)
    if not text:
        raise RefusedError("holds no text", "Look into it, and give a document that has words")
    if len(text) > MAX_TEXT:
        raise RefusedError(f"holds {len(text):,} characters of text; the limit is {MAX_TEXT:,}", "Split it into parts")
    heading = "" if draft.kind in _UNTITLED else heading_of(text)
    return Document(
        kind=draft.kind,
        title=one_line(draft.title) or heading or title_of_name(name) or one_line(text, 60) or "Untitled",
        text=text,
        words=count_words(text),
        author=one_line(draft.author),
        published=one_line(draft.published),
        language=one_line(draft.language, 40),
        url=one_line(draft.url, 2_000),
        cues=draft.cues,
        pages=draft.pages,
        notes=tuple(dict.fromkeys(one_line(note, 2_000) for note in draft.notes)),
        left_out=draft.left_out,
        links=draft.links,
        anchors=draft.anchors,
        extra={one_line(key, 100): one_line(value, 2_000) for key, value in draft.extra.items() if value.strip()},
    )


def heading_of(text: str) -> str:
    """The document's own title: its first top heading, else a short first line by itself, else any heading. What comes
    only behind text names a part of it, or is a comment in a listing."""
    head = _without_code(text[:20_000])
    tops = sorted(filter(None, (_TOP_HEADING.search(head), _UNDERLINED.search(head))), key=lambda found: found.start())
    if tops and _begins(head, tops[0]):
        return plain_heading(tops[0][1])
    first, _, rest = head.partition("\n")
    alone = not rest or rest.startswith("\n")
    if rest and alone and len(first) <= 100 and not _SENTENCE_END.search(first) and not _HEADING.match(first):
        title = plain_heading(first)
        if any(character.isalpha() for character in title) and not first.startswith(
            ("- ", "* ", "> ", "|", "<", "```")
        ):
            return title
    found = _HEADING.search(head)
    return plain_heading(found[1]) if found and _begins(head, found) else ""


def _begins(head: str, found: re.Match[str]) -> bool:
    """Whether no more than badges, a byline or a line of welcome stand before it."""
    top = not found.group().lstrip().startswith("##") and not found.group().endswith("-")
    return len(_COMMENT.sub("", head[: found.start()]).split()) <= (_BEFORE if top else _BEFORE_LESSER)


def plain_heading(text: str) -> str:
    """A heading without its markup, and without badges: a picture says what it is only where nothing else is said."""
    text = _EDITOR.sub("", text[:2_000])
    words = _EMPTY.sub("", _PICTURE.sub("", text))
    alone = not any(map(str.isalnum, words))
    text = _PICTURE.sub(lambda found: found["linked"] or found["alone"] or "", text) if alone else words
    return one_line(_INLINE.sub(lambda found: found[1] or found[3] or "", text.strip().rstrip("#")))


def title_of_name(name: str) -> str:
    """`notes/my-talk.en.vtt` -> `my talk`. Nothing for standard input."""
    last = re.split(r"[/\\]", name)[-1]
    stem = _ENDINGS.sub("", last)
    if stem != last:
        stem = _LANGUAGE_ENDING.sub("", stem) or stem
    title = one_line(re.sub(r"[_\s]+|(?<=\w)-(?=\w)", " ", stem))
    return title if any(character.isalnum() for character in title) else ""


def _without_code(text: str) -> str:
    """Without fenced blocks: a comment in a shell script is no heading."""
    if "```" not in text and "~~~" not in text:
        return text
    lines: list[str] = []
    fence = ""
    for line in text.split("\n"):
        mark = line.lstrip()[:3]
        if fence:
            fence = "" if mark == fence else fence
        elif mark in ("```", "~~~"):
            fence = mark
        else:
            lines.append(line)
    return "\n".join(lines)
