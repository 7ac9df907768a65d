"""Kueue's own rules: quotas in a tree, flavors, preemption, admission; as release 0.19.2 has them."""
