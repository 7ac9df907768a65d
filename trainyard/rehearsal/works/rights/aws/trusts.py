"""Who may come in that need not, and who has to and may not: trust of roles of pods, and access to the cluster.

Sources: IAM User Guide, "Access to AWS accounts owned by third parties" (a condition on an external id or on the
organisation); EKS User Guide, "Grant IAM users access to Kubernetes with EKS access entries", read 2026-11.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from trainyard.recorded.policy_documents import statements
from trainyard.recorded.read import UnreadableInput, list_at
from trainyard.recorded.types import ACCESS_ENTRY, ACCESS_POLICY_ASSOCIATION, EKS_CLUSTER, ROLE
from trainyard.rehearsal.context import Stack, View

_ACCOUNT: Final = re.compile(r"(?:arn:aws[\w-]*:(?:iam|sts)::)?(?P<account>\d{12})(?::.*)?")
_OF_PODS: Final = "pods.eks.amazonaws.com"
_ADMIN: Final = ("AmazonEKSClusterAdminPolicy", "AmazonEKSAdminPolicy")


def check(stack: Stack, account: str) -> None:
    """Every role of pods, and every cluster whose objects the program makes. `account`: the stack's own."""
    for role in stack.of_type(ROLE):
        try:
            trusted = list(statements(role.inputs, "assumeRolePolicy"))
        except UnreadableInput:
            continue
        if any(_is_of_pods(statement) for statement in trusted):
            _foreign(role, trusted, account)
    for cluster in stack.of_type(EKS_CLUSTER):
        _deployers(stack, cluster)


def _is_of_pods(statement: Mapping[str, Any]) -> bool:
    principal = statement.get("Principal")
    if not isinstance(principal, Mapping):
        return False
    providers = list_at(statement, "Principal", "Federated")
    return _OF_PODS in list_at(statement, "Principal", "Service") or any(
        "oidc.eks" in str(provider) for provider in providers
    )


def _foreign(role: View, trusted: list[Mapping[str, Any]], account: str) -> None:
    for other in (one for statement in trusted for one in _others(statement, account)):
        role.error(
            "rights-foreign-trust",
            "assumeRolePolicy",
            f"role {role.name} is for pods of the cluster, and {other} may take it too, on no condition",
            allowed="a Condition on sts:ExternalId or aws:PrincipalOrgID, or no such statement",
        )


def _others(statement: Mapping[str, Any], account: str) -> Iterator[str]:
    if statement.get("Effect") != "Allow" or statement.get("Condition"):
        return
    principal = statement.get("Principal")
    if principal == "*":
        yield "anybody"
    for named in list_at(statement, "Principal", "AWS") if isinstance(principal, Mapping) else ():
        found = _ACCOUNT.fullmatch(str(named))
        if named == "*":
            yield "anybody"
        elif found is not None and found["account"] != account:
            yield f"account {found['account']}"


def _deployers(stack: Stack, cluster: View) -> None:
    """Who makes objects on a cluster that lets its maker in by entries alone has an entry with a policy for that."""
    maker = "accessConfig.bootstrapClusterCreatorAdminPermissions"
    entries, policies = stack.of_type(ACCESS_ENTRY), stack.of_type(ACCESS_POLICY_ASSOCIATION)
    if cluster.flag(maker) is not False or cluster.text("accessConfig.authenticationMode") != "API":
        return
    if not any(view.type.startswith("kubernetes:") for view in stack.views) or not policies:
        return
    unknown = any(view.is_unknown(key) for view in policies for key in ("policyArn", "accessScope", "accessScope.type"))
    if unknown or any(view.entries("kubernetesGroups") or view.is_unknown("kubernetesGroups") for view in entries):
        return
    if not any(_is_admin(view) for view in policies):
        policies[0].error(
            "rights-nobody-deploys",
            "policyArn",
            f"nobody who may sign in to {cluster.text('name') or cluster.name} may make objects all over it, and the "
            "program makes some",
            allowed=f"{' or '.join(_ADMIN)}, of scope cluster, for whoever deploys",
        )


def _is_admin(view: View) -> bool:
    return (view.text("policyArn") or "").endswith(_ADMIN) and view.text("accessScope.type") == "cluster"
