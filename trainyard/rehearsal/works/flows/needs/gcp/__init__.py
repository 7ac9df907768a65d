"""Flows that a cluster of GKE needs of Google Cloud."""
