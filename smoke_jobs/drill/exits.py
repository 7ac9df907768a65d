"""How the drill and the look at teams' checkpoints end, apart from the programs: who makes the jobs has no torch."""

RESTORED, FIRST, FAILED = 0, 3, 10
"""Restored; there was nothing to restore, and a checkpoint was written; it could not be restored, or not written."""
FOUND, DAMAGED, OLD = 0, 11, 12
"""The newest checkpoints are sound, or there are none; one cannot be read; the newest is older than was asked for, or
there is none."""
