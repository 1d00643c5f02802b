"""Logs of every released version must open, without damage, and mean what they meant. A log is never rewritten here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import get_args

import pytest

from weft.files import Folder
from weft.protocol.events import LOG_VERSION, DurableEvent
from weft.session.log import LogReader
from weft.session.manifest import MANIFEST, manifest_bytes
from weft.session.recovery import accepted_contents
from weft.session.state import fold

CORPUS = Path(__file__).parent.parent / "corpus"


@pytest.mark.parametrize("name", sorted(path.name for path in CORPUS.iterdir() if path.is_dir()))
def test_a_log_of_a_released_version_opens_and_means_the_same(name: str) -> None:
    with Folder.open(CORPUS / name) as folder:
        reader = LogReader(folder)
        state = fold(reader.read())
        assert reader.damage == []
        assert reader.torn == b""
        kept = json.loads(folder.read(MANIFEST))
        now = json.loads(manifest_bytes(state))
        assert {key: now[key] for key in kept} == kept
        accepted_contents(folder, {artifact.seq for artifact in state.artifacts.values()})


def test_the_corpus_has_every_version_and_every_event() -> None:
    assert {int(path.name[1]) for path in CORPUS.iterdir() if path.is_dir()} == set(range(1, LOG_VERSION + 1))
    seen = set()
    for path in CORPUS.glob("v*"):
        with Folder.open(path) as folder:
            seen |= {type(record.event) for record in LogReader(folder).read()}
    assert seen == set(get_args(DurableEvent))
