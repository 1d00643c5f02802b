"""What decides what is run or obeyed here, was made behind the words that anybody agreed to, and gets another name."""

from __future__ import annotations

import itertools
import os
import stat
from collections.abc import Iterable
from contextlib import nullcontext

from weft.files import Folder
from weft.protocol.errors import WeftError


def put_away(working: Folder, names: Iterable[str]) -> str:
    """What was made under a name that is obeyed, and that nobody was asked about, is kept under another, so that
    nothing obeys it. What became of it, in words; "" when there is nothing."""
    found: list[str] = []
    for name in names:
        folder, _, last = name.rpartition("/")
        try:
            with working.folder(folder) if folder else nullcontext(working) as place:
                free = (f"{last}.stopped{f'-{n}' if n > 1 else ''}" for n in itertools.count(1))
                new = next(one for one in free if not os.path.lexists(place.path / one))
                mode = os.fstat(place.fd).st_mode
                if mode & stat.S_IRWXU != stat.S_IRWXU:  # it was shut for that
                    os.fchmod(place.fd, stat.S_IMODE(mode) | stat.S_IRWXU)
                place.move(last, place, new)
            found.append(f"{name} (kept as {f'{folder}/{new}'.lstrip('/')})")
        except (OSError, WeftError) as error:  # the others are put away all the same
            found.append(f"{name} (still there: {error})")
    if not found:
        return ""
    return f"it made {', '.join(found)}, which decides what is run here: only the person gives it its name back"
