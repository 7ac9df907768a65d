"""Serves the pack to the Pulumi engine: `pulumi preview --policy-pack` with this folder. `PolicyPack` never returns."""

from pulumi_policy import PolicyPack

from trainyard.policies.pack import DESCRIPTION, LEVEL, NAME, POLICIES

PolicyPack(name=NAME, policies=list(POLICIES), enforcement_level=LEVEL, description=DESCRIPTION)
