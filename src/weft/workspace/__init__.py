"""What people write: paths, config, pipelines, agents, skills, profile, packs. Loaded, validated, explained.

`Workspace` (workspace.py) is the door. A fault in a file is a `Problem` with file, line, column, key and what to do;
all faults of a file are found in one go.
"""
