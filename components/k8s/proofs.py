"""The keeper of proofs: a smoke job that can get no nodes is ended early, with the reason.

What it decides, from what the queue, the flavors and the autoscaler say, stands in `keepers/proofs.py`. Its rights are
to read jobs, pods, events and Workloads of the teams' namespaces, to end Jobs there by their status, and to read the
flavors and the autoscaler's status.
"""

from collections.abc import Mapping, Sequence
from typing import TypedDict

import pulumi
import pulumi_kubernetes.rbac.v1 as rbac

from trainyard.components.k8s.flavors import AUTOSCALER_NAMESPACE, READS_STATUS
from trainyard.components.k8s.keeper_pod import keeper_account, keeper_cluster_role, keeper_deployment, keeper_role
from trainyard.conventions.monitoring import PROOF_KEEPER

RULES: Sequence[rbac.PolicyRuleArgsDict] = (
    {"api_groups": ["batch"], "resources": ["jobs"], "verbs": ["list"]},
    {"api_groups": ["batch"], "resources": ["jobs/status"], "verbs": ["patch"]},
    {"api_groups": ["kueue.x-k8s.io"], "resources": ["workloads"], "verbs": ["list"]},
    {"api_groups": [""], "resources": ["pods", "events"], "verbs": ["list"]},
    {"api_groups": ["events.k8s.io"], "resources": ["events"], "verbs": ["create"]},
)
"""What it may do in the namespace of a team."""


class ProofKeeperArgs(TypedDict):
    """What the keeper of proofs knows of capacity."""

    image: str
    """Image with Python, `image:tag@sha256:...`."""
    groups: Mapping[str, pulumi.Input[str]]
    """By flavor, how the autoscaler's name of the flavor's group begins; empty where its status has no such names."""


def proof_keeper(
    name: str,
    args: ProofKeeperArgs,
    flavors: Mapping[str, Mapping[str, str]],
    namespaces: Mapping[str, pulumi.Input[str]],
    namespace: pulumi.Input[str],
    node_selector: Mapping[str, str],
    parent: pulumi.Resource,
    depends_on: Sequence[pulumi.Resource],
) -> None:
    """Makes the keeper. `flavors` has the labels of each one's nodes, `namespaces` those of the teams."""
    opts = pulumi.ResourceOptions(parent=parent, depends_on=list(depends_on))
    subject = keeper_account(f"{name}-proofs", PROOF_KEEPER, namespace, opts)
    for team, own in namespaces.items():
        keeper_role(f"{name}-proofs-{{}}-{team}", PROOF_KEEPER, own, RULES, subject, opts)
    rule: rbac.PolicyRuleArgsDict = {
        "api_groups": ["kueue.x-k8s.io"],
        "resources": ["resourceflavors"],
        "resource_names": sorted(flavors),
        "verbs": ["get"],
    }
    keeper_cluster_role(f"{name}-proofs-{{}}", PROOF_KEEPER, [rule], subject, opts)
    if args["groups"]:
        keeper_role(f"{name}-proofs-status-{{}}", PROOF_KEEPER, AUTOSCALER_NAMESPACE, [READS_STATUS], subject, opts)
    configuration = pulumi.Output.json_dumps(
        {
            "namespaces": list(namespaces.values()),
            "flavors": {flavor: dict(own) for flavor, own in flavors.items()},
            "groups": dict(args["groups"]),
        }
    )
    keeper_deployment(
        f"{name}-proofs", PROOF_KEEPER, "proofs", args["image"], configuration, subject, node_selector, opts
    )
