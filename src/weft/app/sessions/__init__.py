"""Sessions from outside: found, listed, looked at, offered as tools, exported, replayed, counted and priced."""
