"""Pulumi components: they read no configuration and know nothing of stacks."""
