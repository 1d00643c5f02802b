"""Conversations that can be stopped at any moment. Read `decide.py`, then `control.py`, then `conversation.py`."""
