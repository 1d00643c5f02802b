"""A zip archive held in memory, looked at before anything is unpacked: how many entries, how large, how dense.

Nothing is written anywhere, so that a name with `..` in it can do no harm; entries are found by name and read one at
a time, never beyond the limits, whatever their headers promise.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from typing import Final

from weft.documents.document import RefusedError

ENTRY_LIMIT: Final = 32 * 2**20
"""The most bytes that one entry may unpack to when it is read."""
READ_LIMIT: Final = 64 * 2**20
"""The most bytes that are read from all entries together: the text of the longest book is a tenth of it."""
TOTAL_LIMIT: Final = 512 * 2**20
"""The most bytes that all entries may unpack to, pictures included, read or not."""
COUNT_LIMIT: Final = 10_000
RATIO_LIMIT: Final = 200
_SMALL: Final = 2**20
_BOMB: Final = "Nothing was unpacked: this is how a zip bomb looks. Save the document anew where it was made"
_DAMAGED: Final = "Get it again, or open it where it was made and save it anew"
_OFFICE: Final = (
    ("xl/workbook.xml", "is an Excel workbook", "Export the sheet you want as text or PDF"),
    ("ppt/presentation.xml", "is a PowerPoint presentation", "Export it as PDF"),
    ("content.xml", "is an OpenDocument file", "Save it as DOCX or PDF"),
    ("META-INF/MANIFEST.MF", "is a Java archive", "Give a document"),
    ("AndroidManifest.xml", "is an Android package", "Give a document"),
)


class Archive:
    def __init__(self, file: zipfile.ZipFile) -> None:
        self.file = file
        self.entries = {info.filename: info for info in file.infolist() if not info.is_dir()}
        self.unpacked = 0

    @classmethod
    def open(cls, data: bytes) -> Archive:
        try:
            archive = cls(zipfile.ZipFile(io.BytesIO(data)))
        except (
            zipfile.BadZipFile,
            ValueError,
            OSError,
            EOFError,
            LookupError,
            RuntimeError,
            OverflowError,
        ) as error:
            raise RefusedError("is a damaged zip archive, perhaps cut off", _DAMAGED) from error
        archive._refuse_bomb(len(data))
        return archive

    def _refuse_bomb(self, size: int) -> None:
        if len(self.entries) > COUNT_LIMIT:
            raise RefusedError(f"is an archive of {len(self.entries):,} files; the limit is {COUNT_LIMIT:,}", _BOMB)
        total = sum(info.file_size for info in self.entries.values())
        if total > TOTAL_LIMIT:
            raise RefusedError(f"would unpack to {total:,} bytes; the limit is {TOTAL_LIMIT:,}", _BOMB)
        for info in self.entries.values():
            if info.file_size > _SMALL and info.file_size > RATIO_LIMIT * max(1, info.compress_size):
                raise RefusedError(f"holds a part that unpacks to more than {RATIO_LIMIT} times its size", _BOMB)
        if total > _SMALL and total > RATIO_LIMIT * size:
            raise RefusedError(f"would unpack to more than {RATIO_LIMIT} times its size", _BOMB)

    def __contains__(self, name: str) -> bool:
        return name in self.entries

    def read(self, name: str) -> bytes:
        """The bytes of an entry; KeyError when there is none."""
        info = self.entries[name]
        if info.flag_bits & 1:
            raise RefusedError("is protected with a password", "Save it without one")
        if info.file_size > ENTRY_LIMIT:
            raise RefusedError(
                f"holds a part of {info.file_size:,} bytes; the limit is {ENTRY_LIMIT:,}", "Split it into parts"
            )
        try:
            with self.file.open(info) as stream:
                # never more than the directory promised, which was checked before
                data = stream.read(info.file_size)
        except (
            zipfile.BadZipFile,
            zlib.error,
            EOFError,
            OSError,
            ValueError,
            RuntimeError,
        ) as error:
            raise RefusedError(f"is damaged: its part {name[:80]} can't be unpacked", _DAMAGED) from error
        self.unpacked += len(data)
        if self.unpacked > READ_LIMIT:
            raise RefusedError(f"holds more than {READ_LIMIT:,} bytes of text and markup", "Split it into parts")
        return data

    def what_it_is(self) -> tuple[str, str]:
        for name, what, hint in _OFFICE:
            if name in self.entries:
                return what, hint
        return "is a zip archive, but no DOCX and no EPUB", "Unpack it, and give the documents inside"
