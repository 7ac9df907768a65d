"""Managed training on Google Cloud."""
