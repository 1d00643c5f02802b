"""One session held open: its one door, its run and its conversation. Read `live_session.py`, then `runs.py`."""
