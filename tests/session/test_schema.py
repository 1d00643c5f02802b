"""The JSON Schemas say what events and commands are: everything that is written fits, what is not so does not."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args

import jsonschema_rs
import pytest

from tests.session.test_log import SAMPLES
from weft.protocol import events as e
from weft.protocol.commands import Command, SessionCommand
from weft.protocol.conversation_commands import ConversationCommand
from weft.protocol.envelope import Actor, Envelope, Parent
from weft.protocol.events import Record
from weft.protocol.schema import command_schema, event_schema
from weft.session.codec import encode, record_json

CORPUS = Path(__file__).parent.parent / "corpus"
SCHEMA = event_schema()
EVENTS = jsonschema_rs.validator_for(SCHEMA)


def faults(line: bytes | str) -> list[str]:
    return [error.message for error in EVENTS.iter_errors(json.loads(line))]


@pytest.mark.parametrize("name", sorted(path.name for path in CORPUS.iterdir() if path.is_dir()))
def test_every_line_of_the_corpus_fits(name: str) -> None:
    for number, line in enumerate((CORPUS / name / "log.jsonl").read_bytes().splitlines(), 1):
        assert faults(line) == [], f"line {number}"


def full(cls: Any) -> Any:
    names = [field.name for field in fields(cls) if field.name != "type"]
    types = {field.name: str(field.type) for field in fields(cls)}
    made = {
        name: SAMPLES.get(f"{cls.__name__}.{name}") or SAMPLES.get(name, SAMPLES.get(types[name])) for name in names
    }
    return cls(**made)


@pytest.mark.parametrize("cls", get_args(e.DurableEvent), ids=lambda cls: cls.__name__)
def test_every_event_with_all_its_fields_fits_and_nothing_besides(cls: Any) -> None:
    envelope = Envelope("", "ab" * 16, 3, Actor("person", "ada", "web"), "k", Parent("other", 4, "cd" * 16))
    record = Record(3, "2026-01-02T03:04:05.678Z", full(cls), envelope)
    for line in (encode(record, 1, 2, 2), encode(record), record_json(record)):
        assert faults(line) == []
        raw = json.loads(line)
        assert not EVENTS.is_valid({**raw, "besides": 1})
        assert not EVENTS.is_valid({**raw, "seq": "3"})
        assert not EVENTS.is_valid({**raw, "envelope": {**raw["envelope"], "by": {"kind": "ghost"}}})
        needed = SCHEMA["$defs"][record.event.type]["required"]
        for name in needed:
            assert not EVENTS.is_valid({key: value for key, value in raw.items() if key != name}), name


def test_every_command_has_a_schema() -> None:
    jsonschema_rs.validator_for(command_schema())
    kinds = {*get_args(SessionCommand), *get_args(Command), *get_args(ConversationCommand)}
    assert len(command_schema()["oneOf"]) == len(kinds)
    assert jsonschema_rs.is_valid(
        command_schema(), {"type": "say", "text": "hello"}
    )  # what the door of a session takes
    send = {"type": "send_message", "conversation": "main", "message": "m1", "text": "hello"}
    assert jsonschema_rs.is_valid(command_schema(), send)
    assert not jsonschema_rs.is_valid(command_schema(), {**send, "text": 7})
