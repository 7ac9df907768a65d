"""The rehearsal of change: what an engine would make of what is there, and what that does to whoever works with it."""
