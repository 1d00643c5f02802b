"""Any document goes in: read by its content, normalised into content.md, its own bytes kept beside it."""

from __future__ import annotations

import asyncio
import json
import subprocess
from pathlib import Path

import pytest

from tests.documents.made_pdf import column, pdf, with_password
from tests.documents.made_zip import archive, docx, paragraph
from tests.made import Weft
from tests.tools.served import names, redirect, reply, sends, serving
from weft.app import App, SessionRequest
from weft.documents import from_content_md
from weft.protocol.commands import StartRun
from weft.protocol.errors import WeftError
from weft.protocol.hashes import hash_bytes
from weft.tools.fetch import Fetched, fetch

SAID = "so much depends upon a red wheel barrow"
VTT = f"WEBVTT\n\n00:00:01.000 --> 00:00:04.000\n<v Ann>{SAID}\n"
SRT = f"1\n00:00:01,000 --> 00:00:04,000\n{SAID}\n"
WHISPER = {"text": SAID, "segments": [{"id": 0, "start": 1.0, "end": 4.0, "text": f"<|0.00|> {SAID}<|4.00|>"}]}
KINDS = {
    "a.md": ("markdown", f"---\ntitle: The barrow\nauthor: W. C. W.\n---\n{SAID}\n".encode()),
    "a.txt": ("text", SAID.encode("utf-16")),
    "a.html": ("html", f"<html><title>T</title><nav>Home</nav><article><p>{SAID}</p></article></html>".encode()),
    "a.pdf": ("pdf", pdf([column(72, 700, [SAID])])),
    "a.docx": ("docx", docx(paragraph(SAID))),
    "a.vtt": ("webvtt", VTT.encode()),
    "a.srt": ("srt", SRT.encode()),
    "a.json": ("whisper", json.dumps(WHISPER).encode()),
    "no-ending": ("pdf", pdf([column(72, 700, [SAID])])),
}


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_of_document_is_read_by_its_content(weft: Weft, tmp_path: Path, name: str) -> None:
    kind, data = KINDS[name]
    (tmp_path / name).write_bytes(data)
    ran = weft("run", tmp_path / name, "--session-id", "one")
    assert ran.code == 0, ran.err
    folder = weft.session("one")
    document = from_content_md((folder / "content.md").read_bytes())
    assert document.kind == kind
    assert SAID in document.text
    (original,) = folder.glob("original.*")
    assert original.read_bytes() == data
    recorded = next(event for event in weft.log("one") if event["type"] == "input_recorded")
    assert recorded["originals"] == {original.name: hash_bytes(data)}
    assert weft("run", tmp_path / name, "--session-id", "one", "--plain").err.count("up to date") == 3
    assert weft("sessions", "verify", "one").code == 0


def test_steps_see_what_the_document_says_of_itself(weft: Weft, tmp_path: Path) -> None:
    code = weft.workspace / "code/letters.py"
    code.write_text(code.read_text() + "\ndef about(step):\n    return dict(step.document)\n")
    pipeline = weft.workspace / "pipelines/about.yaml"
    pipeline.write_text(
        "name: about\ndescription: d\nsteps: {about: {artifact: about.json, code: 'letters.py:about'}}\n"
    )
    (tmp_path / "talk.vtt").write_text(VTT)
    made = weft("run", "about", tmp_path / "talk.vtt")
    assert made.code == 0, made.err
    about = json.loads(Path(made.out.strip()).read_text())
    assert about["kind"] == "webvtt"
    assert [(cue["start"], cue["speaker"]) for cue in about["cues"]] == [(1.0, "Ann")]


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("empty.md", b"", "empty.md is empty"),
        ("blank.txt", b" \n\t \n", "blank.txt"),
        ("locked.pdf", with_password(pdf([column(72, 700, [SAID])]), "secret"), "password"),
        ("cut.pdf", pdf([column(72, 700, [SAID])])[:200], "cut.pdf"),
        ("bomb.docx", archive({"[Content_Types].xml": "x", "word/document.xml": b"<a>" * 40_000_000}), "bomb.docx"),
        ("noise.dat", bytes(range(256)) * 40, "noise.dat"),
    ],
)
def test_what_is_no_document_is_a_clear_error_and_leaves_nothing(
    weft: Weft, tmp_path: Path, name: str, data: bytes, said: str
) -> None:
    (tmp_path / name).write_bytes(data)
    ran = weft("run", tmp_path / name)
    assert ran.code == 2
    assert said in ran.err
    assert "Traceback" not in ran.err
    assert not (weft.workspace / "sessions").exists()


def test_a_file_above_the_limit_is_not_read(weft: Weft, tmp_path: Path) -> None:
    with open(tmp_path / "huge.txt", "wb") as file:
        file.truncate(200 * 2**20)
    ran = weft("run", tmp_path / "huge.txt")
    assert ran.code == 2
    assert "the limit is 134,217,728" in ran.err
    assert "device" in weft("run", "letters", "/dev/zero").err


def test_standard_input_comes_back_to_the_same_session(weft: Weft) -> None:
    def run(text: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            weft.command("run", "letters", "-"), input=text.encode(), env=weft.env, capture_output=True, check=False
        )

    first, again, other = run(SAID), run(SAID), run("another text")
    assert (first.returncode, again.returncode, other.returncode) == (0, 0, 0)
    assert first.stdout == again.stdout != other.stdout
    assert b"up to date" in again.stderr
    assert weft("run", "letters", "/dev/stdin").code == 2  # nothing on it


def test_together_is_one_document_in_one_session(weft: Weft, tmp_path: Path) -> None:
    first, second = tmp_path / "first.md", tmp_path / "second.vtt"
    first.write_text(f"# One\n\n{SAID}\n")
    second.write_text(VTT.replace(SAID, "glazed with rain water"))
    ran = weft("run", first, second, "--together", "--session-id", "both")
    assert ran.code == 0, ran.err
    folder = weft.session("both")
    document = from_content_md((folder / "content.md").read_bytes())
    assert document.title == "One · second"
    assert document.text.index(SAID) < document.text.index("glazed with rain")
    (cue,) = document.cues
    assert document.text[cue.offset :].startswith("glazed with rain water")
    assert (folder / "original-1.md").read_bytes() == first.read_bytes()
    assert (folder / "original-2.vtt").read_bytes() == second.read_bytes()
    assert "up to date" in weft("run", first, second, "--together", "--session-id", "both").err
    second.write_text(VTT.replace(SAID, "beside the white chickens"))
    assert "the source was changed" in weft("plan", first, second, "--together", "--session-id", "both").out
    assert "at least two files" in weft("run", first, "--together").err


def test_the_session_s_copy_and_the_file(weft: Weft, source: Path) -> None:
    assert weft("run", source, "--session-id", "poem").code == 0
    content = weft.session("poem") / "content.md"
    content.write_text(content.read_text().replace("barrow", "barrows"))
    edited = weft("plan", source, "--session-id", "poem")
    assert "the source was changed" in edited.out  # the file is as it was, so the person's edit of the copy counts
    assert weft("run", source, "--session-id", "poem").code == 0
    assert "barrows" in (weft.session("poem") / "report.md").read_text()
    source.write_text("glazed with rain water\n")
    ran = weft("run", source, "--session-id", "poem")
    assert ran.code == 0
    assert "glazed" in content.read_text()
    (kept,) = (weft.session("poem") / "aside").glob("content.md.*")
    assert "barrows" in kept.read_text()  # the edit was in use, and is still there
    assert weft("run", source, "--session-id", "poem").err.count("up to date") == 3
    assert [event["origin"] for event in weft.log("poem") if event["type"] == "input_recorded"] == [str(source)] * 3


def test_a_session_recorded_before_documents_were_read_goes_on(weft: Weft, source: Path) -> None:
    """Its content.md is the given file itself, and the log names no original."""
    pipeline = weft.workspace / "pipelines/letters.yaml"
    text = pipeline.read_text()
    pipeline.write_text(text.replace("steps:", "inputs: {source: {kind: text}}\nsteps:"))
    assert weft("run", source, "--session-id", "poem").code == 0
    assert (weft.session("poem") / "content.md").read_bytes() == source.read_bytes()
    pipeline.write_text(text)
    again = weft("run", source, "--session-id", "poem")
    assert again.err.count("up to date") == 3
    source.write_text("another text\n")
    assert weft("run", source, "--session-id", "poem").code == 0
    assert (weft.session("poem") / "original.txt").read_text() == "another text\n"


def test_the_network_is_closed_unless_it_is_opened_and_private_places_stay_closed(weft: Weft) -> None:
    closed = weft("run", "letters", "https://example.org/a.html")
    assert closed.code == 2
    assert "add --allow-network" in closed.err
    private = weft("run", "letters", "http://127.0.0.1:9/a.html", "--allow-network")
    assert private.code != 0
    assert "127.0.0.1" in private.err
    assert "Traceback" not in private.err


def test_an_address_becomes_a_session(weft: Weft) -> None:
    page = f"<html><title>The barrow</title><article><p>{SAID}</p></article></html>".encode()

    async def play() -> None:
        async with serving(sends(reply(page, media="text/html"))) as served:

            async def open_fetch(url: str) -> Fetched:
                return await fetch(url, resolver=names(weft=["127.0.0.1"]), allow_loopback=True)

            with App.open(weft.workspace, fetch_page=open_fetch) as app:
                url = served.url("/poem.html", host="weft")
                given = await app.fetch_input(url)
                async with app.session(SessionRequest(pipeline="letters", file=given)) as session:
                    assert await session.run(StartRun()) == "done"
                    document = from_content_md((session.folder / "content.md").read_bytes())
                    assert (document.kind, document.title, document.url) == ("html", "The barrow", url)
                    assert (session.folder / "original.html").read_bytes() == page
                    assert session.id.startswith("poem-")

    asyncio.run(play())


def test_a_redirect_to_a_private_place_is_refused_and_nothing_is_made(weft: Weft) -> None:
    async def play() -> None:
        async with serving(sends(redirect("http://10.0.0.1/secret"))) as served:

            async def open_fetch(url: str) -> Fetched:
                return await fetch(url, resolver=names(weft=["127.0.0.1"]), allow_loopback=True)

            with (
                App.open(weft.workspace, fetch_page=open_fetch) as app,
                pytest.raises(WeftError, match=r"10\.0\.0\.1"),
            ):
                await app.fetch_input(served.url("/", host="weft"))

    asyncio.run(play())
    assert not (weft.workspace / "sessions").exists()


def test_the_title_of_a_document_is_its_own_word_too(weft: Weft, tmp_path: Path) -> None:
    """A page may be called by a number that its text never says."""
    code = weft.workspace / "code/letters.py"
    code.write_text(code.read_text() + "\ndef named(step):\n    return step.document['title']\n")
    (weft.workspace / "pipelines/named.yaml").write_text(
        "name: named\ndescription: d\nsteps:\n  named:\n    artifact: named.md\n    code: letters.py:named\n"
        "    checks:\n      - numbers_from: {in: source}\n      - verbatim: {in: source}\n"
    )
    (tmp_path / "manual.md").write_text("---\ntitle: Manual 20.4\n---\nNo number in here.\n")
    ran = weft("run", "named", tmp_path / "manual.md", "--output", "-")
    assert ran.code == 0, ran.err
    assert ran.out.strip() == "Manual 20.4"


def test_a_text_without_a_title_is_called_after_its_file(workspace: Path, tmp_path: Path) -> None:
    """Three tables with the same columns are told apart."""
    for name, text in {
        "pipelines/rows.yaml": "name: rows\ndescription: Rows.\ninputs:\n  table: {kind: text}\n"
        "steps:\n  rows: {artifact: rows.json, code: 'rows.py:rows'}\n",
        "code/rows.py": "def rows(step):\n    return step.text.splitlines()\n",
    }.items():
        (workspace / name).parent.mkdir(exist_ok=True)
        (workspace / name).write_text(text)
    weft = Weft(workspace)
    for name, text in {
        "March sales.csv": "id,sum\n1,2\n",
        "april.csv": "id,sum\n1,2\n",
        "may.md": "# In May\n\nid\n",
    }.items():
        (tmp_path / name).write_text(text)
        assert weft("run", "rows", tmp_path / name).code == 0
    listed = [json.loads(line)["title"] for line in weft("sessions", "list", "--json").out.splitlines()]
    assert sorted(listed) == ["In May", "March sales.csv", "april.csv"]
