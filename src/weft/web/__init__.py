"""The face for browsers and scripts: one process, every session of a workspace. It shows events, sends commands, and
decides nothing."""
