"""Bringing one environment to another version of Kubernetes or image of its nodes, while people work with it."""
