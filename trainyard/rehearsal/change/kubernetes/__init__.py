"""Change of what is on a cluster: what Kubernetes, and Pulumi's provider for it, do and refuse to do."""
