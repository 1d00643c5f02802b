"""Where documents come from: what is read and what is passed over, and an index that follows its folder."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest

from tests.documents.test_spreadsheet import workbook
from weft.files import Folder
from weft.knowledge.embedding import Unavailable
from weft.knowledge.folder_scan import gather
from weft.knowledge.ingest import IngestProgress
from weft.knowledge.knowledge_base import (
    KnowledgeBase,
    add_files,
    create_collection,
    open_collection,
    remove_documents,
)
from weft.protocol.errors import ExternalError


@pytest.fixture
def followed(tmp_path: Path) -> Iterator[tuple[KnowledgeBase, Path]]:
    source = tmp_path / "manual"
    (source / "build").mkdir(parents=True)
    (source / "use.md").write_text("# Use\n\nTurn the handle slowly.\n")
    (source / "old.md").write_text("# Old\n\nPull the lever.\n")
    (source / "copy.md").write_text("# Use\n\nTurn the handle slowly.\n")
    (source / "build/made.md").write_text("# Made\n\nNever to be read.\n")
    (source / "draft.md").write_text("# Draft\n\nNot yet.\n")
    (source / "photo.png").write_bytes(b"x")
    (source / ".gitignore").write_text("build/\ndraft*\n")
    with Folder.open(tmp_path) as workspace:
        create_collection(workspace, "manual")
        with open_collection(workspace, "manual", Unavailable("none")) as knowledge:
            add_files(knowledge, [source])
            yield knowledge, source


def test_what_is_passed_over_is_said_with_the_reason(followed: tuple[KnowledgeBase, Path]) -> None:
    report = followed[0].update()
    assert list(followed[0].store.hashes()) == ["manual/copy.md", "manual/old.md"]
    assert report.skipped == {
        "the same as manual/copy.md": ["manual/use.md"],
        "ignored by .gitignore": ["manual/build/", "manual/draft.md"],
        ".png: of no kind that is read": ["manual/photo.png"],
    }
    assert report.counts["identical"] == 1


def test_an_info_file_is_a_document_by_its_ending(tmp_path: Path) -> None:
    (tmp_path / "lamp.info").write_text("File: lamp.info,  Node: Top,  Up: (dir)\n")
    assert list(gather(tmp_path).documents) == ["lamp.info"]


def test_an_update_follows_the_folder(followed: tuple[KnowledgeBase, Path]) -> None:
    knowledge, source = followed
    knowledge.update()
    (source / "old.md").unlink()
    (source / "copy.md").unlink()
    (source / "use.md").write_text("# Use\n\nTurn the handle twice.\n")
    (source / "new.md").write_text("# New\n\nPush the button.\n")
    report = knowledge.update()
    assert list(knowledge.store.hashes()) == ["manual/new.md", "manual/use.md"]
    assert (report.counts["added"], report.counts["removed"]) == (2, 2)
    assert [hit.passage.content for hit in knowledge.search.find("handle").hits] == ["Turn the handle twice."]
    shutil.rmtree(source)
    report = knowledge.update()
    assert list(knowledge.store.hashes()) == ["manual/new.md", "manual/use.md"], "a folder that is gone takes nothing"
    assert report.notes == [f"{source} is not there any more; what was copied from it stays"]


def test_what_was_removed_does_not_come_back(followed: tuple[KnowledgeBase, Path]) -> None:
    knowledge, _ = followed
    knowledge.update()
    remove_documents(knowledge, ["manual/old.md"])
    knowledge.update()
    assert list(knowledge.store.hashes()) == ["manual/copy.md"]


def test_a_folder_that_has_the_workspace_in_it_does_not_copy_the_copies(tmp_path: Path) -> None:
    (tmp_path / "use.md").write_text("# Use\n\nTurn the handle slowly.\n")
    (tmp_path / "desk").mkdir()
    (tmp_path / "desk/notes.md").write_text("# Notes\n\nThe handle is red.\n")
    with Folder.open(tmp_path / "desk") as workspace:
        create_collection(workspace, "manual")
        with open_collection(workspace, "manual", Unavailable("none")) as knowledge:
            add_files(knowledge, [tmp_path])
            for _ in range(3):
                report = knowledge.update()
                top = tmp_path.name
                assert list(knowledge.store.hashes()) == [f"{top}/desk/notes.md", f"{top}/use.md"]
                assert report.skipped == {"the workspace's collections themselves": [f"{top}/desk/knowledge/"]}
            assert len([path for path in (tmp_path / "desk/knowledge").rglob("*.md")]) == 2
        (tmp_path / "desk/knowledge/manual/documents").rename(tmp_path / "desk/away")
        (tmp_path / "desk/knowledge/manual/collection.yaml").write_text("title: manual\nfolders: ['../..']\n")
        (tmp_path / "desk/knowledge/manual/origins.json").unlink(missing_ok=True)
        with open_collection(workspace, "manual", Unavailable("none")) as knowledge:
            assert "../../knowledge/" in knowledge.update().skipped["the workspace's collections themselves"]


def test_the_nearest_ignore_file_decides(tmp_path: Path) -> None:
    for name in ("a.md", "b.md", "in/a.md", "in/b.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    (tmp_path / ".gitignore").write_text("*.md\n!b.md\n")
    (tmp_path / "in/.ignore").write_text("!a.md\nb.md\n")
    assert list(gather(tmp_path).documents) == ["b.md", "in/a.md"]


def test_code_tables_and_data_are_indexed(tmp_path: Path) -> None:
    files = {
        "tide.py": "import sea\n\nLIMIT = 3\n\n\ndef height(hour):\n    return sea.level(hour)\n\n\n"
        "class Moon:\n    phase = 1\n",
        "ports.csv": 'port,depth\nHarwich,"9.5"\nDover,12\n',
        "ports.json": '{"ports": [{"name": "Calais", "depth": 8}], "note": "at low tide"}',
    }
    with Folder.open(tmp_path) as workspace:
        folder = create_collection(workspace, "sea") / "documents"
        for name, text in files.items():
            (folder / name).write_text(text)
        with open_collection(workspace, "sea", Unavailable("none")) as knowledge:
            assert knowledge.update().problems == []
            found = knowledge.store.passages(range(1, 20))
    assert [(one.file, one.heading, one.content) for one in found] == [
        ("ports.csv", "ports.csv", "- port: Harwich; depth: 9.5\n- port: Dover; depth: 12"),
        ("ports.json", "ports.json", "ports.0.name: Calais\nports.0.depth: 8\nnote: at low tide"),
        ("tide.py", "tide.py", "import sea\n\nLIMIT = 3"),
        ("tide.py", "tide.py › height", "def height(hour):\n    return sea.level(hour)"),
        ("tide.py", "tide.py › Moon", "class Moon:\n    phase = 1"),
    ]


def test_a_workbook_is_read_sheet_by_sheet_and_what_is_left_out_of_a_table_is_said(
    followed: tuple[KnowledgeBase, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    knowledge, source = followed
    cells = [f"<c r='{place}' t='inlineStr'><is><t>{text}</t></is></c>" for place, text in
             (("A1", "port"), ("B1", "height"), ("A2", "Brisk"))]  # fmt: skip
    rows = f"<row r='1'>{cells[0]}{cells[1]}</row><row r='2'>{cells[2]}<c r='B2'><v>6.4</v></c></row>"
    (source / "tides.xlsx").write_bytes(workbook(rows))
    (source / "many.csv").write_text("port,height\nLoam,1\nEbb,2\nMarl,3\n")
    (source / "broken.xlsx").write_bytes(b"PK nothing")
    monkeypatch.setattr("weft.knowledge.code_and_tables.ROW_LIMIT", 2)
    report = knowledge.update()
    found = knowledge.search.find("Brisk height", mode="keyword").hits[0].passage
    assert found.file == "manual/tides.xlsx"
    assert "port: Brisk; height: 6.4" in found.content
    notes = {document.file: document.notes for document in knowledge.store.documents()}
    assert "1 rows left out" in notes["manual/many.csv"][0]
    assert [problem for problem in report.problems if "broken.xlsx" in problem]


def test_a_page_that_only_leads_to_another_is_no_document(followed: tuple[KnowledgeBase, Path]) -> None:
    knowledge, source = followed
    refresh = '<meta http-equiv="Refresh" content="0; url=use.html#when">'
    (source / "here.html").write_text(
        f"<html><head>{refresh}</head><body><p>It is <a href='use.html'>there</a>.</p></body>"
    )
    (source / "full.html").write_text(f"<html><head>{refresh}</head><body><p>{'A page of its own. ' * 30}</p></body>")
    report = knowledge.update()
    assert report.skipped["only leads to another page"] == ["manual/here.html"]
    assert report.counts["signposts"] == 1
    assert "manual/full.html" in knowledge.store.hashes()
    assert "manual/here.html" not in knowledge.store.hashes()


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ("", "empty"),
        (" \n\n", "empty"),
        ("# Old\n\nPull the lever.\n", "identical"),
        (
            '<html><head><meta http-equiv="Refresh" content="0; url=use.html"></head><body>Go on</body></html>',
            "signposts",
        ),
    ],
)
def test_a_document_that_becomes_none_is_counted_as_removed(
    followed: tuple[KnowledgeBase, Path], text: str, state: Literal["empty", "identical", "signposts"]
) -> None:
    knowledge, source = followed
    (source / "page.html").write_text("<html><body><p>Oil the wheel in spring and in autumn.</p></body></html>")
    assert knowledge.update().counts["removed"] == 0
    (source / "page.html").write_text(text)
    told: list[IngestProgress] = []
    report = knowledge.update(told.append)
    assert "manual/page.html" not in knowledge.store.hashes()
    assert (report.counts["removed"], report.counts[state] >= 1) == (1, True)
    assert told[-1].done == told[-1].total
    assert knowledge.update().counts["removed"] == 0


def test_an_empty_file_is_passed_over(followed: tuple[KnowledgeBase, Path]) -> None:
    knowledge, source = followed
    (source / "__init__.py").write_text("")
    (source / "blank.md").write_text(" \n\n")
    (source / "other.py").write_text("")
    knowledge.update()
    (source / "old.md").write_text("")
    report = knowledge.update()
    assert report.skipped["empty"] == [f"manual/{name}" for name in ("__init__.py", "blank.md", "old.md", "other.py")]
    assert (report.problems, report.counts["empty"], report.counts["failed"]) == ([], 4, 0)
    assert list(knowledge.store.hashes()) == ["manual/copy.md"], "it is empty now"


def test_what_nobody_may_look_into_is_passed_over_and_not_taken_for_gone(
    followed: tuple[KnowledgeBase, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    knowledge, source = followed
    (source / "locked").mkdir()
    (source / "locked/key.md").write_text("# Key\n\nUnder the mat.\n")
    knowledge.update()
    assert "manual/locked/key.md" in knowledge.store.hashes()
    closed, old = {str(source / "locked")}, source / "old.md"
    listed, read = os.scandir, Path.read_bytes

    def scandir(path: str) -> Any:
        if str(path) in closed:
            raise PermissionError(13, "Permission denied", str(path))
        return listed(path)

    def read_bytes(path: Path) -> bytes:
        if path == old:
            raise PermissionError(13, "Permission denied", str(path))
        return read(path)

    monkeypatch.setattr(os, "scandir", scandir)
    monkeypatch.setattr(Path, "read_bytes", read_bytes)
    (source / "new.md").write_text("# New\n\nPush the button.\n")
    report = knowledge.update()
    assert report.skipped["can't be listed: Permission denied"] == ["manual/locked/"]
    assert report.skipped["can't be read: Permission denied"] == ["manual/old.md"]
    assert {"manual/locked/key.md", "manual/old.md", "manual/new.md"} <= set(knowledge.store.hashes())
    declared = knowledge.folder.path / "collection.yaml"
    declared.write_text(f"title: manual\nfolders: ['{source}']\n")
    with Folder.open(source.parent) as workspace:
        closed.clear()
        with open_collection(workspace, "manual", Unavailable("none")) as other:
            other.update()
            closed.add(str(source / "locked"))
            other.update()
            assert f"{source}/locked/key.md" in other.store.hashes()
        closed.add(str(source))
        with (
            open_collection(workspace, "manual", Unavailable("none")) as other,
            pytest.raises(ExternalError, match="can't list"),
        ):
            other.update()
