"""Knows what the clouds know: values that AWS, Kubernetes, Kueue or a chart would refuse, found without any of them."""

from trainyard.rehearsal.refusals.check import check_values

__all__ = ["check_values"]
