"""Who administers a cluster of EKS: whether anybody who did is left out by a change, be it who deploys.

Making a cluster gives no right to it where bootstrap is off; a right is an access entry with a policy (EKS user guide,
"Grant IAM users access to Kubernetes with EKS access entries", 2026-11).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from trainyard.recorded.model import Finding, RecordedResource
from trainyard.recorded.read import value_at
from trainyard.recorded.types import ACCESS_POLICY_ASSOCIATION
from trainyard.rehearsal.change.model import Change

_ADMIN: Final = "AmazonEKSClusterAdminPolicy"
_OF_DEPLOYER: Final = "-deployer"
"""Ends the name of the entry that follows whoever deploys (`components/aws/cluster.py`)."""


def check(change: Change) -> Iterator[Finding]:
    """The entry that followed whoever deploys goes, because others are named now: is he one of them?"""
    after = _administrators(change.after)
    for step in change.of_type(ACCESS_POLICY_ASSOCIATION):
        was = step.was
        if was is None or step.now is not None or not was.name.endswith(_OF_DEPLOYER) or not _administers(was):
            continue
        principal = value_at(was.inputs, "principalArn", unknown=None)
        others = sorted(after)
        if not others or principal in others:
            continue  # the cluster goes too, or he is named
        known = change.deployed and isinstance(principal, str)
        who = str(principal) if known else "whoever runs `pulumi up`"
        hint = f"name {'it' if known else 'him'} in aws.adminPrincipals or aws.deployers, unless it is one of them"
        yield Finding.of(
            was,
            "change-deployer-shut-out",
            f"{who} loses the entry that lets him in, and the cluster admits {', '.join(others)} alone:"
            " the next `pulumi up` by anybody else reaches it and may do nothing there",
            hint=hint,
            level="warning",
        )


def _administrators(resources: Mapping[str, RecordedResource]) -> set[str]:
    """Who administers a cluster, as far as they are known."""
    found = (
        value_at(each.inputs, "principalArn", unknown=None)
        for each in resources.values()
        if each.type == ACCESS_POLICY_ASSOCIATION and _administers(each)
    )
    return {each for each in found if isinstance(each, str)}


def _administers(resource: RecordedResource) -> bool:
    return str(value_at(resource.inputs, "policyArn", unknown="")).endswith(f"/{_ADMIN}")
