"""The policy pack: rules that a stack must keep, offline in CI and in Pulumi.

`policies.pack.POLICIES` is the list. `__main__.py` serves it to the Pulumi engine; `stacks.policy_check` runs it over
a rehearsal. A policy's id says what it forbids. Modules here import `stacks.sizing` and one another, nothing else of
ours.
"""
