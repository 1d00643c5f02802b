"""The version of the embedded engine's results, apart from the engine: what depends on it must not load it."""

from __future__ import annotations

from typing import Final

VERSION: Final = "31"
"""Whoever changes what a kit says changes this: steps that the engine made are then made again."""
