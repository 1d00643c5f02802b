"""Lines of a log that somebody has changed and given a checksum that fits."""

from __future__ import annotations

import json
import zlib
from typing import Any


def resealed(line: bytes, **changed: Any) -> bytes:
    """The line with other values, sealed as a writer would: only the chain can tell."""
    fields = {**json.loads(line), **changed}
    del fields["crc"]
    body = json.dumps(fields, separators=(",", ":"), ensure_ascii=False).encode()[:-1]
    return body + b',"crc":"%08x"}\n' % zlib.crc32(body)
