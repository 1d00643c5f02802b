"""A log from its end: with its pages put together it is the log, to the last envelope."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from typing import get_args

import pytest

from weft.files import Disk, Folder
from weft.protocol import conversation_events as t
from weft.protocol.events import DurableEvent, Record, SessionCreated, StepSkipped
from weft.session.log import LOG, LogHead, LogReader, LogWriter
from weft.session.log_tail import last_number, read_earlier, read_newest

CORPUS = sorted((Path(__file__).parent.parent / "corpus").rglob(LOG))


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Folder]:
    with Folder.open(tmp_path, Disk(sync=False)) as found:
        yield found


def exchange(number: int) -> list[list[DurableEvent]]:
    main, turn = "main", number
    return [
        [
            t.MessageAccepted(conversation=main, message=f"m{number}", text="and?", delivery="queued"),
            t.TurnStarted(conversation=main, turn=turn, messages=(f"m{number}",)),
            t.IntentRecorded(conversation=main, turn=turn, execution=f"t{turn}/model", kind="model"),
        ],
        [StepSkipped(run=1, step=f"step-{number}", reason='"type":"turn_started","conversation":"main"')],
        [t.TurnCompleted(conversation=main, turn=turn, disposition="final", key=None, results={})],
    ]


def write(folder: Folder, turns: int) -> None:
    writer = LogWriter(folder, lambda: datetime(2026, 1, 1, tzinfo=UTC), LogHead())
    writer.append([SessionCreated(session="s", pipeline="", weft="0"), t.ConversationOpened(conversation="main")])
    for number in range(1, turns + 1):
        for decision in exchange(number):
            writer.append(decision)
    writer.close()


def in_pages(folder: Folder, turns: int) -> list[Record] | None:
    """All of it, as a page has it that was scrolled to the beginning."""
    end = read_newest(folder, turns)
    if end is None:
        return None
    found = {record.seq: record for record in end.records}
    while end.begins:
        end = read_earlier(folder, turns, end.begins)
        assert end is not None
        assert not found.keys() & {record.seq for record in end.records}
        found.update({record.seq: record for record in end.records})
    return [found[seq] for seq in sorted(found)]


@pytest.mark.parametrize("turns", [1, 2, 3, 7, 8])
def test_pages_together_are_the_log(folder: Folder, turns: int) -> None:
    write(folder, 7)
    assert in_pages(folder, turns) == list(LogReader(folder).read())


def test_the_last_turns_come_with_their_words_and_with_what_is_not_talk(folder: Folder) -> None:
    write(folder, 5)
    end = read_newest(folder, 2)
    assert end is not None
    shown = [
        (type(one.event).__name__, getattr(one.event, "message", "")) for one in end.records if one.seq >= end.begins
    ]
    assert shown[0] == ("MessageAccepted", "m4")
    assert sum(isinstance(one.event, t.TurnStarted) for one in end.records) == 2
    assert sum(isinstance(one.event, StepSkipped) for one in end.records) == 5
    seen = read_newest(folder, 2, since=10)
    assert seen is not None
    assert 0 < seen.begins <= 10


def test_half_a_decision_at_the_end_is_not_there_and_a_strange_line_is_left_to_the_reader(folder: Folder) -> None:
    write(folder, 3)
    whole = folder.read(LOG)
    last = len(whole.splitlines())
    assert last_number(folder) == last
    half = b"".join(whole.splitlines(keepends=True)[2:3]).replace(b'"seq":3', b'"seq":%d' % (last + 1))
    assert b'"part":[1,3]' in half
    folder.replace(LOG, whole + half + b'{"seq":99')
    assert last_number(folder) == last
    assert in_pages(folder, 1) == list(LogReader(folder).read())
    folder.replace(LOG, whole.replace(b'"seq":4,', b'"seq": 4,'))
    assert read_newest(folder, 1) is None
    folder.replace(LOG, whole.replace(b"m2", b"m9", 1))
    assert read_newest(folder, 9) is None


@pytest.mark.parametrize("log", CORPUS, ids=lambda path: f"{path.parent.parent.name}/{path.parent.name}")
def test_logs_of_every_version_are_the_same_in_pages_or_read_whole(log: Path) -> None:
    with Folder.open(log.parent, Disk()) as folder:
        reader = LogReader(folder)
        whole = list(reader.read())
        found = in_pages(folder, 1)
        assert found is None or found == whole
        assert last_number(folder) in (None, reader.seq)


def test_an_event_of_a_conversation_names_it_first() -> None:
    """By which a line of it is known."""
    for kind in itertools.chain(get_args(t.ConversationEvent)):
        assert fields(kind)[0].name == "conversation", kind
