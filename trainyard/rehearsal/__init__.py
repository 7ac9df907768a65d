"""The rehearsal: runs a stack's program in-process, records every resource, and says what a cloud would refuse."""
