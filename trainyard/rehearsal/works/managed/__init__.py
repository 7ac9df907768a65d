"""Managed training: editors, jobs and what brakes them."""
