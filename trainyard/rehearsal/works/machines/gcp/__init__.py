"""Machines of Google Cloud: pools of GKE."""
