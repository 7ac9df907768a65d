"""Values of Kubernetes objects, custom resources and Helm charts."""
