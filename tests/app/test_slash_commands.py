"""What a person types with a slash: which command it is, what is offered on the way, what is never sent to a model."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import get_args

import pytest

from tests.app.conversing import say, talk
from tests.made import lay_out
from weft.app import (
    App,
    Export,
    KnownWords,
    Leave,
    OpenedSession,
    Overview,
    SessionRequest,
    complete,
    read_slash,
    read_slash_elsewhere,
)
from weft.app.live.slash_commands import SLASHES, OverviewName
from weft.protocol.commands import Accepted, Compact, Interrupt, Refused, Say, SetMode, SetModel, StartRun
from weft.protocol.conversation_commands import ClearTaint, SetLimits
from weft.protocol.conversation_events import ToolSettled
from weft.protocol.errors import UserError
from weft.protocol.events import RunStarted
from weft.testing.scripted import Turn, calls, says


@pytest.fixture
def known(tmp_path: Path) -> KnownWords:
    (tmp_path / "notes.md").write_text("# Notes\n")
    (tmp_path / "a b.md").write_text("# Two\n")
    return KnownWords(
        working=tmp_path,
        pipelines=("summarize", "writing"),
        models=("embedded", "work"),
        skills={"tone": "How to sound"},
        own={"review": "Review $1 for $ARGUMENTS", "plain": "Say it plainly."},
    )


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("/help", Overview("help")),
        ("  /stop ", Interrupt()),
        ("/model", Overview("models")),
        ("/model work/big", SetModel(model="work/big")),
        ("/mode auto", SetMode(mode="auto")),
        ("/limits", Overview("limits")),
        ("/limits none", SetLimits(conversation="main", limits={})),
        ("/limits turns=3 usd=0.5", SetLimits(conversation="main", limits={"turns": 3, "usd": 0.5})),
        ("/trust", ClearTaint(conversation="main")),
        ("/compact", Compact()),
        ("/exit", Leave()),
        ("/", Overview("help")),
        ("/export", Export()),
        ("/export bundle", Export("bundle")),
        ("/export notes/talk.md", Export("markdown", "notes/talk.md")),
        ("/tone be brief", Say(text="Use the skill tone. be brief")),
        ("/review x.py for speed", Say(text="Review x.py for x.py for speed")),
        ("/plain", Say(text="Say it plainly.")),
        ("/plain why?", Say(text="Say it plainly.\n\nwhy?")),
        ("/usr/bin is full", None),
        ("/ is a slash", None),
        ("see /help", None),
        ("", None),
    ],
)
def test_what_is_meant(text: str, wanted: object, known: KnownWords) -> None:
    assert read_slash(text, known) == wanted


def test_a_run_takes_files_words_and_parameters(known: KnownWords) -> None:
    wish = read_slash("/run writing notes.md length=3", known)
    assert isinstance(wish, StartRun)
    assert (wish.pipeline, wish.parameters) == ("writing", {"length": "3"})
    assert [(given.name, given.data) for given in wish.inputs[""]] == [("notes.md", b"# Notes\n")]
    wish = read_slash('/run writing @notes.md "a b.md"', known)
    assert isinstance(wish, StartRun)
    assert [given.name for given in wish.inputs[""]] == ["notes.md", "a b.md"]
    wish = read_slash("/run writing What is love?", known)
    assert isinstance(wish, StartRun)
    assert [given.data for given in wish.inputs[""]] == [b"What is love?"]
    wish = read_slash('/run writing length="3 pages" What\'s "Bob\'s" say\'s?', known)
    assert isinstance(wish, StartRun)
    assert wish.parameters == {"length": "3 pages"}
    assert [given.data for given in wish.inputs[""]] == [b"What's Bob's say's?"], "an apostrophe holds nothing together"
    wish = read_slash("/run summarize", known)
    assert isinstance(wish, StartRun)
    assert not wish.inputs


def test_a_run_from_elsewhere_takes_words_and_looks_for_no_file(known: KnownWords) -> None:
    wish = read_slash_elsewhere('/run writing length=3 "What is in notes.md?"', known)
    assert isinstance(wish, StartRun)
    assert (wish.pipeline, wish.parameters) == ("writing", {"length": "3"})
    assert [(given.name, given.data) for given in wish.inputs[""]] == [("standard input", b"What is in notes.md?")]
    (known.working / "length=3").write_text("a file")
    assert isinstance(read_slash("/run writing length=3", known), StartRun)
    wish = read_slash_elsewhere("/run writing length=3", known)
    assert isinstance(wish, StartRun)
    assert (wish.parameters, wish.inputs) == ({"length": "3"}, {})
    wish = read_slash_elsewhere("/run writing to=@ann", known)
    assert isinstance(wish, StartRun)
    assert wish.parameters == {"to": "@ann"}
    told = []
    for named in ("notes.md", "not/there.md", "@notes", 'notes.md "b.md"', "love style=@notes.md", "style=@gone.md"):
        with pytest.raises(UserError) as refused:
            read_slash_elsewhere(f"/run writing {named}", known)
        told.append(str(refused.value))
    assert all("names a file" in one and "under New" in one for one in told), "there or not is told alike"


def test_a_run_takes_further_inputs_by_name(known: KnownWords) -> None:
    wish = read_slash('/run writing What is love? style=@notes.md style="@a b.md" length=3 to=@ann', known)
    assert isinstance(wish, StartRun)
    assert wish.parameters == {"length": "3", "to": "@ann"}, "a word that names no file stays a word"
    assert {name: [one.data for one in files] for name, files in wish.inputs.items()} == {
        "": [b"What is love?"],
        "style": [b"# Notes\n", b"# Two\n"],
    }


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("/rnu x", "did you mean /run?"),
        ("/nonsense", "/help lists"),
        ("/run", "which pipeline?"),
        ("/run writin", "did you mean writing?"),
        ("/run writing not/there.md", "there is no file not/there.md"),
        ("/run writing notes.md style=@gone.md", "there is no file gone.md"),
        ("/mode", "which mode?"),
        ("/mode yolo", "there is no mode yolo"),
        ("/limits turns", "is no limit"),
        ("/limits turns=-1", "is no limit"),
        ("/limits turns=nan", "is no limit"),
        ("/limits wishes=3", "is no limit"),
        ("/help me", "stands alone"),
        ("/export pdf", "there is no form pdf"),
        ("/attach gone.md", "there is no file gone.md in"),
    ],
)
def test_what_is_not_whole_is_said_and_never_sent(text: str, says: str, known: KnownWords) -> None:
    with pytest.raises(UserError) as told:
        read_slash(text, known)
    assert says in str(told.value)


def test_what_is_offered_can_be_typed(known: KnownWords) -> None:
    assert [one.name for one in complete("/mod", known)] == ["model", "mode"]
    assert [one.name for one in complete("/run w", known)] == ["run writing"]
    assert [one.name for one in complete("/mode e", known)] == ["mode edits"]
    assert [one.name for one in complete("/to", known)] == ["tone"]
    assert complete("mod", known) == complete("/x", known) == []
    table = complete("/", known)
    assert {one.name for one in table} == {one.name for one in SLASHES} | {"tone", "review", "plain"}
    for one in table:
        with suppress(UserError):  # it wants more words
            assert read_slash(f"/{one.name}", known) is not None


@pytest.mark.process
def test_every_look_is_answered_and_a_run_begins_in_a_conversation(
    tmp_path: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Also for whoever is attached to it from elsewhere."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("r")))  # the path of a socket must be short
    lay_out(workspace)
    source = tmp_path / "poem.txt"
    source.write_text("so much depends upon a red wheel barrow\n")
    (workspace / ".claude/commands").mkdir(parents=True)
    (workspace / ".claude/commands/brief.md").write_text("---\ndescription: x\n---\nBe brief: $ARGUMENTS\n")
    request = SessionRequest(talk=True, session="talk", working=source.parent)

    async def go() -> None:
        with App.open(workspace) as app, App.open(workspace) as other:
            async with app.session(request) as session, other.session(request) as attached:
                known = await attached.known_words()
                assert await session.known_words() == known
                assert known.own == {"brief": "Be brief: $ARGUMENTS"}
                for one in (session, attached):
                    for what in get_args(OverviewName):
                        assert (await one.look(what)).strip(), what
                written = [Path(await attached.answered(Export())) for _ in range(2)]
                assert [path.name for path in written] == ["talk.html", "talk-2.html"], "nothing is written over"
                with pytest.raises(UserError, match="already"):
                    await session.answered(Export("html", "talk.html"))
                refused = await attached.submit(Compact())
                assert isinstance(refused, Refused)
                assert "nothing to shorten" in refused.reason
                pipeline = next(iter(known.pipelines))
                wish = read_slash(f"/run {pipeline} {source.name}", known)
                assert isinstance(wish, StartRun)
                assert isinstance(await attached.submit(wish), Accepted)
                assert await attached.run_at_rest() == "done"
                assert session.state.pipeline == pipeline
                assert "| the run in this session |" in await attached.look("context")

    asyncio.run(asyncio.wait_for(go(), 90))


@pytest.mark.process
def test_a_run_here_gets_its_second_input(tmp_path: Path, workspace: Path) -> None:
    """And whoever leaves it out, or names it as a parameter, is told the words that are good here."""
    lay_out(workspace)
    (workspace / "pipelines/both.yaml").write_text(
        "name: both\ndescription: x\ninputs: {source: {kind: text}, style: {kind: text}, more: {required: false}}\n"
        "steps:\n  both: {artifact: both.md, inputs: [source, style, more], code: 'both.py:both'}\n"
    )
    (workspace / "code/both.py").write_text(
        "def both(step):\n    return step.inputs['source'] + step.inputs['style']\n"
    )
    (tmp_path / "style.txt").write_text("plain")

    async def go() -> None:
        with App.open(workspace) as app:
            async with app.session(SessionRequest(talk=True, session="talk", working=tmp_path)) as session:

                async def typed(text: str) -> object:
                    wish = read_slash(text, await session.known_words())
                    assert isinstance(wish, StartRun)
                    return await session.submit(wish)

                for text, reason in (
                    ("/run both be", "needs the input 'style'"),
                    ("/run both be style=style.txt", "style is an input of the pipeline both, no parameter"),
                    ("/run both be style=@style.txt more=x", "more is an input of the pipeline both, no parameter"),
                ):
                    refused = await typed(text)
                    assert isinstance(refused, Refused)
                    assert reason in refused.reason
                    assert "=@FILE" in refused.hint
                assert isinstance(await typed("/run both be style=@style.txt"), Accepted)
                assert await session.run_at_rest() == "done"
        assert (workspace / "sessions/talk/both.md").read_text().split() == ["beplain"]

    asyncio.run(asyncio.wait_for(go(), 90))


@pytest.mark.process
def test_a_model_begins_a_run_where_it_speaks(tmp_path: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Asked about as whatever starts something; refused in words when there is no such pipeline, or for a key."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    key = tmp_path / "keyrings/login.keyring"
    key.parent.mkdir()
    key.write_text("a key\n")
    lay_out(workspace)
    (workspace / "config.toml").write_text('model = "scripted"\n')
    pipeline = workspace / "pipelines/letters.yaml"
    pipeline.write_text(pipeline.read_text().replace("agent: lister\n", "agent: lister\n    model: embedded\n"))
    brief = pipeline.read_text().replace("name: letters", "name: brief")
    brief = brief.replace("parameters:\n", "parameters:\n  brief: {type: file}\n", 1)
    (workspace / "pipelines/brief.yaml").write_text(brief)
    begun = calls("RunPipeline", {"pipeline": "letters", "text": "so much depends"})
    turns = [
        Turn(calls("RunPipeline", {"pipeline": "lettres", "text": "x"})),
        Turn(calls("RunPipeline", {"pipeline": "brief", "text": "x", "parameters": {"brief": str(key)}})),
        Turn(begun),
        Turn(says("It has begun.")),
    ]

    async def play(session: OpenedSession) -> None:
        await say(session, "count the words of: so much depends")
        assert await session.run_at_rest() == "done"

    records = talk(workspace, tmp_path, turns, play, mode="auto")
    settled = [one.event for one in records if isinstance(one.event, ToolSettled)]
    assert [(one.outcome, one.tainting) for one in settled] == [("failed", False)] * 2 + [("succeeded", True)]
    assert "letters" in settled[0].text
    assert "is where keys are kept" in settled[1].text
    (started,) = [one for one in records if isinstance(one.event, RunStarted)]
    assert started.envelope is not None
    assert started.envelope.by.kind == "model"
