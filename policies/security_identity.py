"""Security: who may do what. No administrators by wildcard, no keys that live for ever, no power in the node's role."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from pulumi_policy import ResourceValidationArgs, Severity

from trainyard.policies import pods
from trainyard.policies.reading import at, given, items, statements
from trainyard.policies.rules import Config, Resources, StackViolation, refers, resource_rule, stack_rule

ROLE = "aws:iam/role:Role"
INLINE = "aws:iam/rolePolicy:RolePolicy"
ATTACHMENT = "aws:iam/rolePolicyAttachment:RolePolicyAttachment"
RBAC = "kubernetes:rbac.authorization.k8s.io/v1:"
SECRET_OBJECT = "kubernetes:core/v1:Secret"  # noqa: S105 (a type)
ADMINISTRATORS = ("AdministratorAccess", "PowerUserAccess", "IAMFullAccess")
ADMIN_ROLES = ("roles/owner", "roles/editor")
LONG_LIVED = (
    "aws:iam/accessKey:AccessKey",
    "aws:iam/user:User",
    "aws:iam/userLoginProfile:UserLoginProfile",
    "gcp:serviceaccount/key:Key",
)
KEY_VARIABLES = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "GOOGLE_APPLICATION_CREDENTIALS")


@resource_rule(
    "wildcard-admin",
    "No policy makes an administrator by wildcard.",
    types=(
        INLINE,
        ATTACHMENT,
        "aws:iam/policy:Policy",
        ROLE,
        f"{RBAC}Role",
        f"{RBAC}ClusterRole",
        f"{RBAC}RoleBinding",
        f"{RBAC}ClusterRoleBinding",
        "gcp:projects/iAMMember:IAMMember",
    ),
    severity=Severity.CRITICAL,
    controls=("CIS AWS 3.0.0 1.16", "CIS EKS 1.5.0 4.1.1", "NIST 800-53r5 AC-6", "ISO 27001:2022 A.8.2"),
    fix="Name the actions and the resources that are needed.",
)
def wildcard_admin(resource: ResourceValidationArgs, _: Config) -> Iterator[str]:
    """IAM statements, attached policies, Kubernetes roles and bindings, project roles."""
    props = resource.props
    for document in (props, *items(props, "inlinePolicies")):
        for statement in statements(document, "policy"):
            yield from _powers(statement)
    for arn in (at(props, "policyArn"), *items(props, "managedPolicyArns")):
        name = str(arn).rsplit("/", 1)[-1] if arn else ""
        if name in ADMINISTRATORS or name.endswith("FullAccess"):
            yield f"{name} is attached"
    for rule in items(props, "rules"):
        if "*" in items(rule, "verbs") and "*" in items(rule, "resources"):
            yield "a rule allows every verb on every resource"
    if at(props, "roleRef", "name") == "cluster-admin":
        yield "binds cluster-admin"
    if at(props, "role") in ADMIN_ROLES:
        yield f"{at(props, 'role')} on a project"


def _powers(statement: Any) -> Iterator[str]:
    if at(statement, "Effect") != "Allow":
        return
    sid, actions = at(statement, "Sid", default=""), [str(action) for action in items(statement, "Action")]
    everywhere = "*" in items(statement, "Resource") and not given(statement, "Condition")
    if given(statement, "NotAction"):
        yield f"statement {sid} allows everything but some actions"
    for action in actions:
        # Who may do everything with identities can give himself the rest, whatever the resource says.
        if action.lower() in ("*", "*:*", "iam:*") or (
            everywhere and (action.endswith(":*") or action.lower() == "iam:passrole")
        ):
            yield f"statement {sid} allows {action}{' on every resource' if everywhere else ''}"


@resource_rule(
    "long-lived-credentials",
    "Nothing uses keys that live until somebody remembers them.",
    types=(*LONG_LIVED, SECRET_OBJECT, *pods.TYPES),
    severity=Severity.CRITICAL,
    controls=("CIS AWS 3.0.0 1.14", "NIST 800-53r5 IA-5", "ISO 27001:2022 A.5.17"),
    fix="Give the service account a role (Pod Identity, Workload Identity); let people sign in by federation.",
)
def long_lived_credentials(resource: ResourceValidationArgs, _: Config) -> Iterator[str]:
    """Users and keys of a cloud, service account tokens in secrets, and keys in a pod's environment."""
    if resource.resource_type in LONG_LIVED:
        yield "a user or a key of the cloud"
    elif resource.resource_type == SECRET_OBJECT:
        if at(resource.props, "type") == "kubernetes.io/service-account-token":
            yield "a service account token that never expires"
    else:
        for where, container in pods.containers(resource):
            for variable in items(container, "env"):
                if at(variable, "name") in KEY_VARIABLES:
                    yield f"{where}: environment variable {at(variable, 'name')}"


@stack_rule(
    "node-role-with-workload-rights",
    "What pods may do is in the roles of their service accounts, not in the role of the node.",
    types=(ROLE, INLINE, ATTACHMENT),
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
        }
    },
)
def node_role_with_workload_rights(resources: Resources, config: Config) -> Iterator[StackViolation]:
    """A node's role is one that EC2 may assume."""
    for role in resources.of(ROLE):
        trust = at(role.props, "assumeRolePolicy")
        if "ec2.amazonaws.com" not in (trust if isinstance(trust, str) else json.dumps(str(trust))):
            continue
        if given(role.props, "inlinePolicies"):
            yield role, "the node role has inline policies"
        for arn in items(role.props, "managedPolicyArns"):
            if str(arn).rsplit("/", 1)[-1] not in config["nodePolicies"]:
                yield role, f"gives {str(arn).rsplit('/', 1)[-1]} to the node role"
        for inline in resources.of(INLINE):
            if refers(inline, "role", role):
                yield inline, f"gives rights to the node role {role.name}"
        for attachment in resources.of(ATTACHMENT):
            name = str(at(attachment.props, "policyArn", default="")).rsplit("/", 1)[-1]
            if refers(attachment, "role", role) and name not in config["nodePolicies"]:
                yield attachment, f"gives {name} to the node role {role.name}"
