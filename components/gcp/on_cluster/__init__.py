"""What only Google Cloud needs on its cluster: volumes. Drivers, autoscaler and GPU drivers are GKE's own."""
