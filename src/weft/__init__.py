"""Weft: agent work you can stop, inspect, resume and trust."""

__version__ = "0.1.0"
