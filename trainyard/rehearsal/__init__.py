"""The rehearsal: runs a program in-process, records every resource, and says what would be refused, or not work."""
