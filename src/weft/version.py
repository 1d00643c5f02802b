"""Which Weft this is and where it lies: below every room, so that none has to import the front above it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

__version__ = "0.1.0"
INSTALLED: Final = Path(__file__).parent
