"""Recorded resources: what a program asked for, as plain data, and the one way to read it."""
