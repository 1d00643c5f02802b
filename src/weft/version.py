"""Which Weft this is and where it lies: below every room, so that none has to import the front above it."""

from __future__ import annotations

import os

__version__ = "0.1.0"
INSTALLED = os.path.dirname(__file__)
