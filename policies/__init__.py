"""The policy pack: rules that a stack must keep, offline in CI and in Pulumi.

`pack.POLICIES` is the list. `__main__.py` serves it to the Pulumi engine; `trainyard.review.policy_check` runs it over
a rehearsal. A policy's id says what it forbids.
"""
