"""How the drill ends, apart from its program: who makes the job has no torch."""

RESTORED, FIRST, FAILED = 0, 3, 10
"""Restored; there was nothing to restore, and a checkpoint was written; it could not be restored, or not written."""
