"""content.md of a session: what is written comes back, also after an edit; what others wrote is understood."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.documents.made_pdf import pdf
from tests.documents.test_pdf import body
from tests.documents.test_transcripts import srt_text
from weft.documents import Cue, Document, DocumentError, from_content_md, read_document, to_content_md

TALK = srt_text(
    (0, 2, "ANA RUIZ: We begin tonight with the old bridge."),
    (2, 4, "It was built in 1931 by Halloran and sons."),
    (4, 6, "BEN: And it still stands, more or less."),
    (9, 11, "It moved twice, they say."),
    (11, 13, "Nobody knows why it did."),
).encode()


def yaml_of(data: bytes) -> Any:
    from ruamel.yaml import YAML

    block = data.decode().split("---\n")[1]
    return YAML(typ="safe", pure=True).load(block)


def without_id(document: Document) -> Document:
    extra = {key: value for key, value in document.extra.items() if key != "id"}
    return Document(**{**vars(document), "extra": extra})


def test_what_is_written() -> None:
    found = read_document(b"---\ntitle: 'A: \"b\"'\nauthor: Ida\ntags: [x, y]\n---\nText.", "a.md")
    assert to_content_md(found, id="a-b").decode() == (
        '---\nid: "a-b"\ntitle: "A: \\"b\\""\nkind: "markdown"\nauthor: "Ida"\nwords: 1\n'
        'extra: {"tags": "x, y"}\n---\n\nText.\n'
    )


TITLES = [
    'A: "b" # c', "yes", "null", "- x", "{a}", "&a *b", "C:\\new", "it's", "a\u2028b", "\x85x", "1.0", "%x", "@x", "🎉",
]  # fmt: skip


@pytest.mark.parametrize("title", TITLES)
def test_the_front_matter_is_yaml_for_everybody(title: str) -> None:
    document = Document(kind="text", title=title, text="Text.", words=1)
    written = to_content_md(document, id="x")
    assert yaml_of(written)["title"] == title
    assert yaml_of(written)["id"] == "x"


def test_there_is_one_block_and_it_is_the_same_each_time() -> None:
    found = read_document(TALK, "talk.srt")
    first, second = to_content_md(found, id="talk"), to_content_md(found, id="talk")
    assert first == second
    assert first.decode().count("\n---\n") == 1


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (TALK, "talk.srt"),
        (pdf([body(1), [], body(2), body(3)], {"Title": "Birds"}), "birds.pdf"),
        (b"---\ntitle: x\nid: y\nmood: calm\n---\nText.", "a.md"),
        (
            b"<html lang=de><body><h1>A</h1><p>Some words, and then, after a while, some more.</p></body></html>",
            "a.html",
        ),
        (b"caf\xe9 \x00", "a.txt"),
    ],
)
def test_everything_comes_back(data: bytes, name: str) -> None:
    found = read_document(data, name)
    again = from_content_md(to_content_md(found, id="some-id"))
    assert again.extra["id"] == "some-id"
    assert without_id(again) == without_id(found)


def test_text_that_looks_like_front_matter_comes_back() -> None:
    text = "---\ntitle: not ours\n---\nText."
    document = Document(kind="text", title="Ours", text=text, words=6)
    again = from_content_md(to_content_md(document, id="x"))
    assert (again.title, again.text) == ("Ours", text)


texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)


@given(texts, texts, st.sampled_from(["a.txt", "a.md", "a.html", "-"]))
def test_text_and_title_come_back(text: str, title: str, name: str) -> None:
    try:
        found = read_document(f"---\ntitle: {json.dumps(title)}\n---\n{text}".encode(), name)
    except DocumentError:
        return
    again = from_content_md(to_content_md(found, id="x"))
    assert (again.text, again.title, again.kind, again.words) == (found.text, found.title, found.kind, found.words)


@given(
    st.lists(
        st.tuples(st.floats(0, 9999), st.floats(0, 30), texts, st.sampled_from(["", "Ana", "B*n: x"])),
        min_size=1,
        max_size=8,
    )
)
def test_cues_come_back(parts: list[tuple[float, float, str, str]]) -> None:
    pieces = [
        {"start": start, "end": start + lasting, "text": text, "speaker": speaker}
        for start, lasting, text, speaker in parts
    ]
    try:
        found = read_document(json.dumps(pieces).encode(), "x.json")
    except DocumentError:
        return
    again = from_content_md(to_content_md(found, id="x"))
    assert (again.text, again.cues) == (found.text, found.cues)


# -- edited by a person


def spoken(document: Document) -> list[tuple[float, str, str]]:
    return [(cue.start, cue.speaker, document.text[cue.offset : cue.offset + cue.length]) for cue in document.cues]


def edited(old: str, new: str) -> Document:
    written = to_content_md(read_document(TALK, "talk.srt"), id="talk").decode()
    assert written.count(old) == 1
    return from_content_md(written.replace(old, new).encode())


def test_times_outlive_a_correction() -> None:
    found = edited("Halloran and sons", "O’Halloran, Halloran & sons")
    assert spoken(found) == [
        (0.0, "ANA RUIZ", "We begin tonight with the old bridge."),
        (2.0, "ANA RUIZ", "It was built in 1931 by O’Halloran, Halloran & sons."),
        (4.0, "BEN", "And it still stands, more or less."),
        (9.0, "BEN", "It moved twice, they say."),
        (11.0, "BEN", "Nobody knows why it did."),
    ]
    assert found.notes == ()


def test_times_of_what_is_cut_are_cut() -> None:
    found = edited(" It was built in 1931 by Halloran and sons.", "")
    assert [start for start, _, _ in spoken(found)] == [0.0, 4.0, 9.0, 11.0]
    assert found.notes == ("1 cue no longer found in the text, which was edited",)


def test_a_text_that_was_replaced_has_no_times() -> None:
    written = to_content_md(read_document(TALK, "talk.srt"), id="talk").decode()
    head = written[: written.index("**ANA")]
    found = from_content_md((head + "Something else altogether. " * 200).encode())
    assert found.cues == ()
    assert found.notes == ("5 cues no longer found in the text, which was edited",)


def test_pages_move_with_the_text() -> None:
    found = read_document(pdf([body(1), body(2), body(3)]), "a.pdf")
    written = to_content_md(found, id="x").decode().replace("Page 1 tells", "An introduction. Page 1 tells", 1)
    again = from_content_md(written.encode())
    assert [again.text[page:][:12] for page in again.pages[1:]] == ["Page 2 tells", "Page 3 tells"]


@pytest.mark.parametrize(
    "marks", ["x", "1,2,3", "1,2,3,4,abcd,9", "a,b,c,d,e", "1,1,99999999999999999999,1,abcd", ";;;,"]
)
def test_marks_that_nobody_wrote_are_left_out(marks: str) -> None:
    data = (
        f'---\nid: "x"\ntitle: "T"\nkind: "srt"\nwords: 1\ncues: {json.dumps(marks)}\npages: "z"\n---\n\nText here.\n'
    )
    found = from_content_md(data.encode())
    assert (found.text, found.cues) == ("Text here.", ())
    assert found.notes == ("the times in the front matter can't be read; they were left out",)


def test_plain_yaml_by_hand_is_fine() -> None:
    written = to_content_md(read_document(TALK, "talk.srt"), id="talk").decode()
    found = from_content_md(written.replace('title: "talk"', "title: The Old Bridge\nmood: calm").encode())
    assert found.title == "The Old Bridge"
    assert len(found.cues) == 5
    assert found.extra == {"mood": "calm", "id": "talk"}


def test_windows_line_ends_and_a_mark_by_an_editor() -> None:
    found = read_document(TALK, "talk.srt")
    written = b"\xef\xbb\xbf" + to_content_md(found, id="talk").replace(b"\n", b"\r\n")
    assert without_id(from_content_md(written)) == found


# -- written by others


def test_an_older_system() -> None:
    found = from_content_md(
        b"---\nid: test-ai\ntitle: AI: the next step\nsource_type: custom\nsource_url: file:///x/a.md\n"
        b"published_at: 2025-01-02T03:04:05Z\n---\n\n# AI\n\nText.\n"
    )
    assert (found.kind, found.title, found.url, found.published) == (
        "markdown", "AI: the next step", "file:///x/a.md", "2025-01-02T03:04:05Z",
    )  # fmt: skip
    assert found.extra == {"id": "test-ai", "source_type": "custom"}
    assert found.text == "# AI\n\nText."


def test_two_blocks_the_outer_one_first() -> None:
    found = from_content_md(
        b"---\nid: outer\ntitle: Outer\nsource_url: ''\n---\n\n---\nid: inner\ntitle: Inner\nauthor: Ida\nurl: https://x.example\n---\n\nText.\n"
    )
    assert (found.title, found.author, found.url, found.extra["id"], found.text) == (
        "Outer",
        "Ida",
        "https://x.example",
        "outer",
        "Text.",
    )


def test_no_block_at_all() -> None:
    found = from_content_md(b"# The title\n\nText.\n")
    assert (found.kind, found.title, found.extra) == ("markdown", "The title", {})


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"  \n",
        b"---\nid: x\n---\n",
        b'---\nkind: "srt"\nid: "x"\n---\n\n',
        b"\x00\x01\x02\x03\x04\x05\x06\x07\x08" * 9,
    ],
)
def test_nothing_to_read_is_an_error_that_names_the_file(data: bytes) -> None:
    with pytest.raises(DocumentError, match=r"^content\.md "):
        from_content_md(data)


@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    for block in (data, b"---\n" + data, b'---\nkind: "srt"\ncues: ' + data + b"\n---\nText."):
        message = ""
        try:
            text = from_content_md(block).text
        except DocumentError as error:
            text, message = "", error.message
        assert bool(text) != message.startswith("content.md ")


def test_a_document_is_what_the_tests_of_others_can_build() -> None:
    cue = Cue(start=0.5, end=1.5, speaker="Ana", offset=0, length=5)
    document = Document(kind="whisper", title="T", text="Hello there.", words=2, cues=(cue,))
    assert from_content_md(to_content_md(document, id="x")).cues == (cue,)
