"""Flows that pods need of each other, of the names and of the API, wherever the cluster is."""
