"""Settings: every key that a stack file may hold, read and checked."""
