"""Several machines on one workspace: the shared store, the queue, and the workers that take from it."""
