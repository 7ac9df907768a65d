"""References between objects of a Kubernetes cluster."""
