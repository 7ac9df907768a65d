"""The scheduler: what a pod asks of a node, and what a node has."""
