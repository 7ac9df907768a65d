"""The `trainyard` command."""
