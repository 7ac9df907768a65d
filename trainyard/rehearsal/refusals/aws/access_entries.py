"""Access entries of EKS: names that it keeps for itself, and what entries of nodes cannot have.

Source: EKS API reference, `CreateAccessEntry` (`type`, `principalArn`); EKS User Guide, "Create access entries"; and
what the service says, "The kubernetes group name system:masters is invalid, it cannot start with system:" and "The
username must not begin with system:" (read 2026-11).
"""

from __future__ import annotations

import re
from typing import Final

from trainyard.recorded.types import ACCESS_ENTRY, ACCESS_POLICY_ASSOCIATION
from trainyard.rehearsal.context import View, show
from trainyard.rehearsal.refusals.rules import Rules

_ALONE: Final = ("EC2_LINUX", "EC2_WINDOWS")
"""Types of entries that have their rights from EKS and may be given none."""
_OF_NODES: Final = (*_ALONE, "EC2", "FARGATE_LINUX", "HYBRID_LINUX", "HYPERPOD_LINUX")
_STANDARD: Final = "STANDARD"
_KEPT: Final = ("system:", "eks:", "aws:", "amazon:", "iam:")
"""How no name of a user begins that a standard entry gives; a group may not begin with the first of them."""
_NO_ROLE: Final = re.compile(r"arn:[\w-]+:iam::\d{12}:(?:user/|root$)")


def names(view: View) -> None:
    """Groups and the user's name of an entry for people and programs."""
    if view.is_unknown("type") or (view.text("type") or _STANDARD) != _STANDARD:
        return
    for index, group in enumerate(view.entries("kubernetesGroups")):
        if isinstance(group, str) and group.startswith(_KEPT[0]):
            view.error(
                "eks-access-name", f"kubernetesGroups[{index}]", f"got {show(group)}: Kubernetes keeps the prefix",
                allowed="a group of your own that a binding names, or an access policy such as "
                "AmazonEKSClusterAdminPolicy",
            )  # fmt: skip
    name = view.text("userName") or ""
    if name.startswith(_KEPT):
        view.error(
            "eks-access-name", "userName", f"got {show(name)}", allowed=f"none that begins with {', '.join(_KEPT)}"
        )


def nodes(view: View) -> None:
    """An entry of nodes is for a role, and the types that have their rights from EKS get no groups."""
    kind = view.text("type")
    if kind in _OF_NODES and _NO_ROLE.match(view.text("principalArn") or ""):
        view.error(
            "eks-access-nodes", "principalArn", f"is no role, beside type {kind}", allowed="the role of the nodes"
        )
    if kind in _ALONE and view.entries("kubernetesGroups"):
        view.error("eks-access-nodes", "kubernetesGroups", f"given beside type {kind}", allowed=f"none, or {_STANDARD}")


def policies(view: View) -> None:
    """An access policy goes with an entry that may have one."""
    cluster, principal = view.text("clusterName"), view.text("principalArn")
    if cluster is None or principal is None:
        return
    for entry in view.stack.of_type(ACCESS_ENTRY):
        if (entry.text("clusterName"), entry.text("principalArn")) == (cluster, principal):
            kind = entry.text("type")
            if kind in _ALONE:
                view.error(
                    "eks-access-nodes", "principalArn",
                    f"access entry {entry.name} is of type {kind}, which is given no access policy",
                    allowed=f"an entry of type {_STANDARD}",
                )  # fmt: skip


RULES: Final[Rules] = {
    names: (ACCESS_ENTRY,),
    nodes: (ACCESS_ENTRY,),
    policies: (ACCESS_POLICY_ASSOCIATION,),
}
