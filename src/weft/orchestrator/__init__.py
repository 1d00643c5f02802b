"""One pipeline run: what is to be done and why (plan), what happens next (machine), and doing it (runner)."""
