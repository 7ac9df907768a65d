"""Knows what the clouds know: values that AWS, Kubernetes, Kueue or a chart would refuse, found without any of them."""

from stacks.rehearsal.values.check import check_values
from stacks.rehearsal.values.context import ValueContext

__all__ = ["ValueContext", "check_values"]
