"""What the machine writes: the log, the artifacts, the manifest, the lock; and how older folders are read."""
