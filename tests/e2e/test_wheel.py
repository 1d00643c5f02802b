"""Installed from the built wheel, with nothing of the checkout and no Node: it runs, and it serves its page."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import urllib.request
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.process
ROOT = Path(__file__).parent.parent.parent
MOST_MEGABYTES = 340
"""Of an environment with the default install, pip in it; it was 316 when this was written."""


def called(*words: object, home: Path, folder: Path) -> str:
    environment = {"HOME": str(home), "PATH": os.defpath, "LANG": "C.UTF-8"}
    kept = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "UV_", "XDG_CONFIG"))}
    done = subprocess.run(
        [str(word) for word in words],
        env={**environment, **kept},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def megabytes(folder: Path) -> float:
    return sum(file.lstat().st_size for file in folder.rglob("*") if file.is_file()) / 1e6


@pytest.mark.timeout(1200)
def test_a_fresh_environment_runs_and_serves(tmp_path: Path) -> None:
    home, place = tmp_path / "home", tmp_path / "env"
    home.mkdir()
    build = (sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", tmp_path, ROOT)
    called(*build, home=home, folder=tmp_path)
    (wheel,) = tmp_path.glob("weft-*.whl")
    called(sys.executable, "-m", "venv", place, home=home, folder=tmp_path)
    called(place / "bin/pip", "install", "-q", wheel, home=home, folder=tmp_path)
    assert megabytes(place) < MOST_MEGABYTES
    source = tmp_path / "note.md"
    source.write_text("# Tides\n\nThe tide rises twice a day. The moon pulls the water; the sun helps it.\n")
    weft = (place / "bin/weft", "--workspace", tmp_path / "ws")
    made = called(*weft, "run", source, home=home, folder=tmp_path).split()
    assert all(Path(name).is_file() for name in made)
    assert "intact" in called(*weft, "doctor", home=home, folder=tmp_path)
    serving = subprocess.Popen(
        [str(word) for word in (*weft, "serve", "--port", "0", "--no-open")],
        env={"HOME": str(home), "PATH": os.defpath},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        assert serving.stdout is not None
        found = re.search(r"http://127\.0\.0\.1:\d+", next(iter(serving.stdout)))
        assert found is not None
        with urllib.request.urlopen(f"{found[0]}/", timeout=30) as answer:
            assert b"<html" in answer.read()
    finally:
        serving.terminate()
        serving.communicate(timeout=30)


@pytest.mark.campaign
@pytest.mark.timeout(1200)
def test_a_checkout_that_was_never_set_up_gives_the_whole_wheel(tmp_path: Path) -> None:
    """As from a git address: nothing is built in it, and pip brings what is needed for that."""
    home, clone = tmp_path / "home", tmp_path / "clone"
    home.mkdir()
    called("git", "clone", "-q", "--no-hardlinks", ROOT, clone, home=home, folder=tmp_path)
    called(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", tmp_path, clone, home=home, folder=tmp_path)
    (wheel,) = tmp_path.glob("weft-*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert "weft/web/static/index.html" in names
    assert "weft/web/site/index.html" in names
