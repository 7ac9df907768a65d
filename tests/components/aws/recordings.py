"""What the tests of network, cluster and nodes share: look-ups in a recording, and an IAM that refuses."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import boto3
from moto import mock_aws

from tests.components.aws.api_shape import REGION, inputs_of
from tests.pulumi_harness import Recorded, Recording, plain

ROLE = "aws:iam/role:Role"
ROLE_POLICY = "aws:iam/rolePolicy:RolePolicy"
ATTACHMENT = "aws:iam/rolePolicyAttachment:RolePolicyAttachment"
NODE_GROUP = "aws:eks/nodeGroup:NodeGroup"
TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"


def names(resources: Iterable[Recorded]) -> set[str]:
    return {resource.name for resource in resources}


def document(resource: Recorded, field: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(plain(resource.inputs)[field])
    return loaded


def waits_for(recording: Recording, resource: Recorded) -> set[str]:
    """Names, with their types, of everything that must stand before `resource`, at any distance."""
    by_urn = {recorded.urn: recorded for recorded in recording.resources}
    open_urns, seen = list(resource.dependencies), set[str]()
    while open_urns:
        urn = open_urns.pop()
        if urn in seen or urn not in by_urn:
            continue
        seen.add(urn)
        open_urns += by_urn[urn].dependencies
    return {f"{by_urn[urn].type.rsplit(':', 1)[-1]} {by_urn[urn].name}" for urn in seen}


def create_roles(recording: Recording) -> dict[str, set[str]]:
    """Creates every recorded role, policy and attachment in moto, which refuses bad grammar and managed policies
    that do not exist; returns each role's policies as IAM lists them."""
    with mock_aws(config={"iam": {"load_aws_managed_policies": True}}):
        client = boto3.client("iam", region_name=REGION)
        roles = {role.name: role.id for role in recording.of_type(ROLE)}
        for role in recording.of_type(ROLE):
            client.create_role(
                RoleName=role.id,
                AssumeRolePolicyDocument=inputs_of(role)["assumeRolePolicy"],
                Description=inputs_of(role)["description"],
            )
        for policy in recording.of_type(ROLE_POLICY):
            inputs = inputs_of(policy)
            client.put_role_policy(RoleName=inputs["role"], PolicyName=policy.name, PolicyDocument=inputs["policy"])
        for attachment in recording.of_type(ATTACHMENT):
            inputs = inputs_of(attachment)
            client.attach_role_policy(RoleName=inputs["role"], PolicyArn=inputs["policyArn"])
        found: dict[str, set[str]] = {}
        for name, role_name in roles.items():
            attached = client.list_attached_role_policies(RoleName=role_name)["AttachedPolicies"]
            inline = client.list_role_policies(RoleName=role_name)["PolicyNames"]
            found[name] = {policy["PolicyName"] for policy in attached} | set(inline)
        return found


def statements(recording: Recording) -> list[dict[str, Any]]:
    """Every statement of every role's own policy."""
    return [s for policy in recording.of_type(ROLE_POLICY) for s in document(policy, "policy")["Statement"]]
