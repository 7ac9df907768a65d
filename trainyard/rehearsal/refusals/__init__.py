"""Knows what the clouds know: values that AWS, Kubernetes, Kueue or a chart would refuse, found without any of them."""
