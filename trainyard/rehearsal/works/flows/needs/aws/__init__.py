"""Flows that a cluster of EKS needs: between its control plane, its nodes, databases and file systems."""
