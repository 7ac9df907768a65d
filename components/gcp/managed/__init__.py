"""Managed training on Vertex AI, in place of a cluster."""
