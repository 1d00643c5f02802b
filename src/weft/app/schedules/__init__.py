"""What begins by itself: which schedules there are, what is due, and what became of it."""
