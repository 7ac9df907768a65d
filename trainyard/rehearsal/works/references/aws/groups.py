"""Groups that bindings name: on EKS a person is in the groups of the access entry, and in no others.

But for those that an OpenID Connect provider of the cluster's tells, and those of the config map `aws-auth` where the
cluster still reads it (Amazon EKS User Guide, "Grant IAM users and roles access to Kubernetes APIs" and "Grant users
access to Kubernetes with an external OIDC provider", 2026-11).
"""

from __future__ import annotations

from typing import Final

from trainyard.recorded.types import ACCESS_ENTRY, EKS_CLUSTER
from trainyard.rehearsal.context import Stack, show
from trainyard.rehearsal.near import nearest_of

IDENTITY_PROVIDER: Final = "aws:eks/identityProviderConfig:IdentityProviderConfig"


def check(stack: Stack) -> None:
    """A group that is nearly one that somebody is in."""
    entries = stack.of_type(ACCESS_ENTRY)
    known = {group for entry in entries for group in entry.texts("kubernetesGroups")}
    if not known or any(entry.blurred("kubernetesGroups") for entry in entries) or _are_told_elsewhere(stack):
        return
    for view in stack.views:
        if view.type.endswith((":RoleBinding", ":ClusterRoleBinding")):
            for path, entry in view.items("subjects"):
                name = entry.get("name")
                if entry.get("kind") not in ("Group", "User") or not isinstance(name, str):
                    continue
                if entry.get("kind") == "User" and name in known:
                    view.error(
                        "reference-subject",
                        f"{path}.kind",
                        f"{show(name)} is a group of an access entry",
                        allowed="Group",
                    )
                near = nearest_of(name, known) if name not in known and not name.startswith("system:") else ""
                if near:
                    view.error(
                        "reference-subject",
                        f"{path}.name",
                        f"nobody is in group {show(name)}: no access entry has it",
                        hint=f"did you mean {near}?",
                    )


def _are_told_elsewhere(stack: Stack) -> bool:
    """Whether somebody may be in a group without an access entry. A cluster that says nothing reads `aws-auth`."""
    return bool(stack.of_type(IDENTITY_PROVIDER)) or any(
        cluster.text("accessConfig.authenticationMode") != "API" for cluster in stack.of_type(EKS_CLUSTER)
    )
