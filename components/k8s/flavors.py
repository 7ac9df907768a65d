"""The keeper of flavors: capacity that has run dry is taken out of the queues for a while, and tried again.

Kueue gives a flavor with quota to job after job, whether there are nodes or not; each holds its quota until its time to
start is over. The keeper reads what the autoscaler says of its groups and sets a taint in the flavor's `nodeTaints`,
which the program of an environment does not name: neither a change nor drift to it (`keepers/flavors.py`).
"""

from collections.abc import Mapping, Sequence
from typing import TypedDict

import pulumi
import pulumi_kubernetes.rbac.v1 as rbac

from trainyard.components.k8s.keeper_pod import keeper_account, keeper_cluster_role, keeper_deployment, keeper_role
from trainyard.conventions.monitoring import FLAVOR_KEEPER

AUTOSCALER_NAMESPACE, AUTOSCALER_STATUS = "kube-system", "cluster-autoscaler-status"
"""The ConfigMap in which the Cluster Autoscaler tells of its groups, from 1.30 on as YAML."""
READS_STATUS: rbac.PolicyRuleArgsDict = {
    "api_groups": [""],
    "resources": ["configmaps"],
    "resource_names": [AUTOSCALER_STATUS],
    "verbs": ["get"],
}
"""The right to read it and nothing else, in its namespace."""


class FlavorKeeperArgs(TypedDict):
    """What the keeper watches."""

    image: str
    """Image with Python, `image:tag@sha256:...`."""
    groups: Mapping[str, pulumi.Input[str]]
    """By flavor, how the autoscaler's name of the flavor's group begins."""
    spans: Mapping[str, Sequence[int]]
    """By flavor whose nodes are bought for a time, the seconds since the epoch from which on, and up to which, the
    queue may send jobs there."""
    retry_minutes: int
    """How long a flavor without nodes stays out, at least 1."""


def flavor_keeper(
    name: str,
    args: FlavorKeeperArgs,
    namespace: pulumi.Input[str],
    node_selector: Mapping[str, str],
    parent: pulumi.Resource,
    depends_on: Sequence[pulumi.Resource],
) -> None:
    """Makes the keeper, with the right to change these flavors and to read that one status."""
    opts = pulumi.ResourceOptions(parent=parent, depends_on=list(depends_on))
    subject = keeper_account(f"{name}-keeper", FLAVOR_KEEPER, namespace, opts)
    flavors = sorted(args["groups"])
    rule: rbac.PolicyRuleArgsDict = {
        "api_groups": ["kueue.x-k8s.io"],
        "resources": ["resourceflavors"],
        "resource_names": flavors,
        "verbs": ["get", "patch"],
    }
    keeper_cluster_role(f"{name}-keeper-{{}}", FLAVOR_KEEPER, [rule], subject, opts)
    keeper_role(f"{name}-keeper-status-{{}}", FLAVOR_KEEPER, AUTOSCALER_NAMESPACE, [READS_STATUS], subject, opts)
    configuration = pulumi.Output.json_dumps(
        {
            "flavors": dict(args["groups"]),
            "spans": {flavor: list(span) for flavor, span in args["spans"].items()},
            "retry_seconds": args["retry_minutes"] * 60,
        }
    )
    keeper_deployment(
        f"{name}-keeper", FLAVOR_KEEPER, "flavors", args["image"], configuration, subject, node_selector, opts
    )
