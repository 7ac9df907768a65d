"""Security: a node's role is the node's. What pods may do is in roles of their own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pulumi_policy import Severity

from trainyard.conventions.aws import SESSION_AGENT_ACTIONS
from trainyard.policies.grants import GRANTS
from trainyard.policies.node_accounts import NODE_ROLES, accounts_of_nodes, of_a_machine_alone
from trainyard.policies.rules import Config, StackViolation, stack_rule
from trainyard.recorded.machines import MACHINE_PARTS
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.node_groups import NODE_GROUP_PARTS
from trainyard.recorded.policy_documents import statements
from trainyard.recorded.read import list_at, value_at
from trainyard.recorded.resources import Resources, refers
from trainyard.recorded.types import (
    ACCESS_ENTRY,
    BATCH_ENVIRONMENT,
    IMAGE_BUILDER,
    INSTANCE_PROFILE,
    ROLE,
    ROLE_POLICY,
    ROLE_POLICY_ATTACHMENT,
)


def _allows_only(inline: RecordedResource, actions: Sequence[str]) -> bool:
    """Whether a policy allows these actions and nothing else, as far as it is known."""
    if value_at(inline.inputs, "policy", unknown=None) is None:
        return False
    allowing = [each for each in statements(inline.inputs, "policy") if each.get("Effect") == "Allow"]
    named = [action for each in allowing for action in list_at(each, "Action")]
    return bool(allowing) and all("Action" in each for each in allowing) and set(named) <= set(actions)


@stack_rule(
    "node-role-with-workload-rights",
    "What pods may do is in the roles of their service accounts, not in the role of the node.",
    types=(
        ROLE,
        ROLE_POLICY,
        ROLE_POLICY_ATTACHMENT,
        INSTANCE_PROFILE,
        *MACHINE_PARTS,
        IMAGE_BUILDER,
        BATCH_ENVIRONMENT,
        ACCESS_ENTRY,
        *NODE_GROUP_PARTS,
        *GRANTS,
    ),
    severity=Severity.HIGH,
    controls=("CIS EKS 1.5.0 5.2.1", "NIST 800-53r5 AC-6", "ISO 27001:2022 A.8.2"),
    fix="Use a PodRole for the service account that needs it.",
    config={
        "nodePolicies": {
            "type": "array",
            "items": {"type": "string"},
            "default": [
                "AmazonEKSWorkerNodePolicy",
                "AmazonEC2ContainerRegistryPullOnly",
                "AmazonSSMManagedInstanceCore",
            ],
        },
        "nodeActions": {
            "type": "array",
            "items": {"type": "string"},
            "default": list(SESSION_AGENT_ACTIONS),
            "description": "Actions that a policy of the node role itself may allow: those of Session Manager's agent.",
        },
        "nodeRoles": {
            "type": "array",
            "items": {"type": "string"},
            "default": list(NODE_ROLES),
            "description": "Roles of the account of GKE's nodes.",
        },
    },
)
def node_role_with_workload_rights(resources: Resources, config: Config) -> Iterator[StackViolation]:
    """A node's role is one that EC2 may assume. What stands in the role itself is unknown at a first preview."""
    roles = [
        role
        for role in resources.of(ROLE)
        if "ec2.amazonaws.com" in str(value_at(role.inputs, "assumeRolePolicy"))
        and not of_a_machine_alone(role, resources)
    ]
    for role in roles:
        for inline in resources.of(ROLE_POLICY):
            if refers(inline, "role", role) and not _allows_only(inline, config["nodeActions"]):
                yield inline, f"gives rights to the node role {role.name}"
        for attachment in resources.of(ROLE_POLICY_ATTACHMENT):
            name = str(value_at(attachment.inputs, "policyArn", default="")).rsplit("/", 1)[-1]
            if refers(attachment, "role", role) and name not in config["nodePolicies"]:
                yield attachment, f"gives {name} to the node role {role.name}"
    for role in roles:
        if list_at(role.inputs, "inlinePolicies"):
            yield role, "the node role has inline policies"
        for arn in list_at(role.inputs, "managedPolicyArns"):
            if str(arn).rsplit("/", 1)[-1] not in config["nodePolicies"]:
                yield role, f"gives {str(arn).rsplit('/', 1)[-1]} to the node role"
    yield from accounts_of_nodes(resources, config["nodeRoles"])
