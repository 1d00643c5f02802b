"""A pipeline with an input of the kind image: a model is shown the picture; others say that they take none."""

from __future__ import annotations

import base64
import importlib.util
import struct
import sys
import zlib
from pathlib import Path

import pytest

from tests.e2e.test_models_command import serving
from tests.made import Weft
from weft.documents.document import DocumentError
from weft.documents.pictures import picture_size, read_picture
from weft.models.media import within_limits
from weft.protocol.errors import UserError
from weft.protocol.messages import Media
from weft.testing.wire import Reply

PIPELINE = """name: describe
description: What is on a picture.
inputs:
  photo: {kind: image, description: The picture}
steps:
  words:
    artifact: words.md
    agent: looker
    final: true
"""


def png(red: int, *, width: int = 2, height: int = 3) -> bytes:
    def block(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = (b"\0" + bytes([red, 0, 0]) * width) * height
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + block(b"IHDR", head) + block(b"IDAT", zlib.compress(rows)) + block(b"IEND", b"")


@pytest.fixture
def looking(weft: Weft) -> Weft:
    (weft.workspace / "pipelines/describe.yaml").write_text(PIPELINE)
    agents = weft.workspace / ".claude/agents"
    agents.mkdir(parents=True, exist_ok=True)
    (agents / "looker.md").write_text("---\nname: looker\ndescription: Looks.\n---\nSay what you see.\n")
    return weft


def connect(weft: Weft, url: str, model: str) -> None:
    table = f'[models.desk]\nkind = "openai"\nbase_url = "{url}"\nkey = "none"\n'
    (weft.workspace / "config.toml").write_text(f'model = "desk/{model}"\n{table}')


def test_a_picture_is_shown_and_another_one_is_another_input(looking: Weft, tmp_path: Path) -> None:
    photo = tmp_path / "beach.png"
    photo.write_bytes(png(255))
    given = ("run", "describe", photo, "--session-id", "one", "--plain")
    with serving([Reply(text="Red."), Reply(text="Darker red.")]) as server:
        connect(looking, server.url, "gpt-4o")
        first = looking(*given)
        assert first.code == 0, first.err
        again = looking(*given)
        photo.write_bytes(png(128))
        changed = looking(*given)
        shown = [request.body["messages"][-1]["content"] for request in server.seen]
    assert "up to date" in again.err
    assert changed.code == 0, changed.err
    pictures = [[part["image_url"]["url"] for part in content if part["type"] == "image_url"] for content in shown]
    told = [f"data:image/png;base64,{base64.b64encode(png(red)).decode()}" for red in (255, 128)]
    assert pictures == [[told[0]], [told[1]]]
    assert "beach.png: PNG, 2 × 3 pixels" in str(shown[0])
    folder = looking.session("one")
    assert (folder / "words.md").read_text().strip() == "Darker red."
    assert (folder / "original.png").read_bytes() == png(128)


def test_a_model_that_takes_none_says_so_and_is_not_asked(looking: Weft, tmp_path: Path) -> None:
    photo = tmp_path / "beach.png"
    photo.write_bytes(png(255))
    with serving([]) as server:
        connect(looking, server.url, "some-small-model")
        ran = looking("run", "describe", photo, "--session-id", "one", "--plain")
        assert server.seen == []
    assert ran.code == 1
    assert "desk/some-small-model takes no pictures, and photo is one" in ran.err


def test_what_is_no_picture_is_refused_before_anything_is_made(looking: Weft, tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("words")
    ran = looking("run", "describe", text, "--session-id", "one")
    assert ran.code == 2
    assert "notes.txt is not a picture that a model can look at" in ran.err
    assert not looking.session("one").exists()


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"GIF89a" + struct.pack("<HH", 7, 9) + b"\0" * 8, "GIF, 7 × 9 pixels"),
        (
            b"\xff\xd8\xff\xe0\x00\x04ab\xff\xc0\x00\x11\x08" + struct.pack(">HH", 9, 7) + b"\x03" + b"\0" * 12,
            "JPEG, 7 × 9 pixels",
        ),
        (b"RIFF\x10\0\0\0WEBPVP8 ", "WebP, 16 bytes"),
        (b"%PDF-1.4\nrest", "PDF, 13 bytes"),
        (b"\x89PNG\r\n\x1a\n", "PNG, 8 bytes"),
    ],
)
def test_what_a_picture_is_stands_in_its_head(data: bytes, said: str) -> None:
    document = read_picture(data, "the one.bin")
    assert (document.kind, said in document.text) == ("image", True)


def test_a_picture_that_nobody_would_take_is_refused() -> None:
    with pytest.raises(DocumentError, match="the limit for a picture"):
        read_picture(png(1) + b"\0" * (17 * 2**20), "big.png")


@pytest.mark.skipif(importlib.util.find_spec("PIL") is None, reason="needs weft[pictures]")
def test_a_picture_that_is_larger_than_providers_take_is_made_smaller(monkeypatch: pytest.MonkeyPatch) -> None:
    small = Media(media_type="image/png", data=png(9), name="small.png")
    assert within_limits(small) is small
    wide = Media(media_type="image/png", data=png(9, width=3000, height=1500), name="wide.png")
    shown = within_limits(wide)
    assert (shown.media_type, picture_size(shown.data)) == ("image/png", (2000, 1000))
    with pytest.raises(UserError, match="can't be read as a picture"):
        within_limits(Media(media_type="image/png", data=wide.data[:200], name="cut.png"))
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(UserError, match=r"larger than models take\s+pip install .weft\[pictures\]"):
        within_limits(wide)


def test_what_a_model_takes_can_be_said_in_its_table(looking: Weft, tmp_path: Path) -> None:
    photo = tmp_path / "beach.png"
    photo.write_bytes(png(255))
    with serving([Reply(text="Red.")]) as server:
        connect(looking, server.url, "nobody-knows-me")
        assert "takes no pictures" in looking("run", "describe", photo, "--session-id", "one", "--plain").err
        config = looking.workspace / "config.toml"
        config.write_text(config.read_text() + 'media = ["image"]\n')
        ran = looking("run", "describe", photo, "--session-id", "two", "--plain")
        assert ran.code == 0, ran.err
        server.assert_done()
