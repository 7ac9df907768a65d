"""Security: who may do what. No administrators by wildcard, no keys that live for ever."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pulumi_policy import Severity

from trainyard.policies import pods
from trainyard.policies.each import of_each
from trainyard.policies.grants import PROJECT_GRANTS, grants
from trainyard.policies.privileges import ADMINISTRATIVE
from trainyard.policies.rules import Config, StackViolation, resource_rule, stack_rule
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.policy_documents import GRANTING, but_boundaries, called, statements
from trainyard.recorded.read import is_on, is_set, list_at, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import (
    ACCESS_KEY,
    AWS_PROVIDER,
    GCP_HMAC_KEY,
    GCP_KEY,
    GCP_PROVIDER,
    GKE_CLUSTER,
    IAM_POLICY,
    IAM_USER,
    LOGIN_PROFILE,
    RBAC_CLUSTER_ROLE,
    RBAC_CLUSTER_ROLE_BINDING,
    RBAC_ROLE,
    RBAC_ROLE_BINDING,
    ROLE,
    ROLE_POLICY,
    ROLE_POLICY_ATTACHMENT,
    SECRET,
)

ADMINISTRATORS = ("AdministratorAccess", "PowerUserAccess", "IAMFullAccess")
ADMIN_ROLES = ("roles/owner", "roles/editor")
LONG_LIVED = (
    ACCESS_KEY,
    IAM_USER,
    LOGIN_PROFILE,
    GCP_KEY,
    GCP_HMAC_KEY,
)
STATIC_KEYS = {AWS_PROVIDER: ("accessKey", "secretKey"), GCP_PROVIDER: ("credentials",)}
"""What providers take in place of whoever deploys."""
KEY_VARIABLES = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "GOOGLE_APPLICATION_CREDENTIALS")


_HOLDERS = (
    ROLE_POLICY,
    ROLE_POLICY_ATTACHMENT,
    IAM_POLICY,
    ROLE,
    RBAC_ROLE,
    RBAC_CLUSTER_ROLE,
    RBAC_ROLE_BINDING,
    RBAC_CLUSTER_ROLE_BINDING,
    *PROJECT_GRANTS,
)


@stack_rule(
    "wildcard-admin",
    "No policy makes an administrator by wildcard.",
    types=(*_HOLDERS, *GRANTING),
    severity=Severity.CRITICAL,
    controls=("CIS AWS 3.0.0 1.16", "CIS EKS 1.5.0 4.1.1", "NIST 800-53r5 AC-6", "ISO 27001:2022 A.8.2"),
    fix="Name the actions and the resources that are needed.",
)
def wildcard_admin(resources: Resources, _: Config) -> Iterator[StackViolation]:
    """IAM statements, attached policies, Kubernetes roles and bindings, project roles; a boundary gives nothing."""
    yield from of_each(but_boundaries(resources, *_HOLDERS), _administers)


def _administers(resource: RecordedResource) -> Iterator[str]:
    props = resource.inputs
    for document in (props, *list_at(props, "inlinePolicies")):
        for statement in statements(document, "policy"):
            yield from _powers(statement)
    for arn in (value_at(props, "policyArn"), *list_at(props, "managedPolicyArns")):
        name = str(arn).rsplit("/", 1)[-1] if arn else ""
        if name in ADMINISTRATORS or name.endswith("FullAccess"):
            yield f"{name} is attached"
    for rule in list_at(props, "rules"):
        if "*" in list_at(rule, "verbs") and "*" in list_at(rule, "resources"):
            groups = [str(group) or "core" for group in list_at(rule, "apiGroups")]
            of = "" if "*" in groups or not groups else f" of {', '.join(groups)}"
            yield f"a rule allows every verb on every resource{of}"
    if value_at(props, "roleRef", "name") == "cluster-admin":
        yield "binds cluster-admin"
    if resource.type.startswith("gcp:"):
        yield from (f"{grant.role} on a project" for grant in grants(resource) if grant.role in ADMIN_ROLES)


def _powers(statement: Any) -> Iterator[str]:
    if value_at(statement, "Effect") != "Allow":
        return
    actions = [str(action) for action in list_at(statement, "Action")]
    everywhere = "*" in list_at(statement, "Resource") and not is_set(statement, "Condition")
    if is_set(statement, "NotAction"):
        yield f"{called(statement)} allows everything but some actions"
    for action in actions:
        if action.lower() in ADMINISTRATIVE or (
            everywhere and (action.endswith(":*") or action.lower() == "iam:passrole")
        ):
            yield f"{called(statement)} allows {action}{' on every resource' if everywhere else ''}"


@resource_rule(
    "long-lived-credentials",
    "Nothing uses keys that live until somebody remembers them.",
    types=(*LONG_LIVED, *STATIC_KEYS, SECRET, GKE_CLUSTER, *pods.TYPES),
    severity=Severity.CRITICAL,
    controls=("CIS AWS 3.0.0 1.14", "NIST 800-53r5 IA-5", "ISO 27001:2022 A.5.17"),
    fix="Give the service account a role (Pod Identity, Workload Identity); let people sign in by federation.",
)
def long_lived_credentials(resource: RecordedResource, _: Config) -> Iterator[str]:
    """Users and keys of a cloud, a provider's too, service account tokens in secrets, keys in a pod's environment."""
    if resource.type in LONG_LIVED:
        yield "a user or a key of the cloud"
    elif resource.type in STATIC_KEYS:
        for key in STATIC_KEYS[resource.type]:
            if is_set(resource.inputs, key):
                yield f"the provider is given {key}"
    elif resource.type == GKE_CLUSTER:
        if is_on(resource.inputs, "masterAuth", "clientCertificateConfig", "issueClientCertificate"):
            yield "masterAuth has a client certificate issued, which nobody can take back"
    elif resource.type == SECRET:
        if value_at(resource.inputs, "type") == "kubernetes.io/service-account-token":
            yield "a service account token that never expires"
    else:
        for where, container in pods.containers(resource):
            for variable in list_at(container, "env"):
                if value_at(variable, "name") in KEY_VARIABLES:
                    yield f"{where}: environment variable {value_at(variable, 'name')}"
