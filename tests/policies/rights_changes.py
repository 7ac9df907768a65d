"""Changes of a recorded stack that break a wall of rights: bindings, rules, policies and trust."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tests.policies.mutants import Change, Resources, edit
from trainyard.recorded.model import UNKNOWN, RecordedResource

GROUP = "rbac.authorization.k8s.io"
ROLE, CLUSTER_ROLE = f"kubernetes:{GROUP}/v1:Role", f"kubernetes:{GROUP}/v1:ClusterRole"
BINDING, CLUSTER_BINDING = f"kubernetes:{GROUP}/v1:RoleBinding", f"kubernetes:{GROUP}/v1:ClusterRoleBinding"
IAM_ROLE, INLINE = "aws:iam/role:Role", "aws:iam/rolePolicy:RolePolicy"
ENTRY, ASSOCIATION = "aws:eks/accessEntry:AccessEntry", "aws:eks/accessPolicyAssociation:AccessPolicyAssociation"
POD_IDENTITY = "aws:eks/podIdentityAssociation:PodIdentityAssociation"
ANN = "arn:aws:iam::123456789012:role/ann"
TEAM = {"kind": "Group", "name": "team:vision"}


def rule(verbs: str, resources: str, group: str = "", **more: Any) -> dict[str, Any]:
    """A rule of RBAC; verbs and resources with spaces between."""
    return {"apiGroups": [group], "resources": resources.split(), "verbs": verbs.split(), **more}


def both(*changes: Change) -> Change:
    """One change after the other."""

    def change(resources: Resources) -> list[RecordedResource]:
        found = list(resources)
        for one in changes:
            found = one(found)
        return found

    return change


def added(type_: str, name: str, inputs: dict[str, Any]) -> Change:
    """A resource more; an object of Kubernetes beside the team's role, with its provider, else beside the team's role
    in the cloud."""
    beside_type, beside_name = (
        (ROLE, "teams-vision-member") if type_.startswith("kubernetes") else (INLINE, "mlflow-role-policy")
    )

    def change(resources: Resources) -> list[RecordedResource]:
        beside = next(found for found in resources if (found.type, found.name) == (beside_type, beside_name))
        urn = f"{beside.urn.rsplit('::', 2)[0]}::{type_}::{name}"
        return [
            *resources,
            replace(beside, type=type_, name=name, urn=urn, inputs=inputs, property_dependencies={}, outputs={}),
        ]

    return change


def team_rule(*rules: dict[str, Any]) -> Change:
    """Further rules in the role of team vision's members."""
    return edit(ROLE, "teams-vision-member", lambda inputs: inputs["rules"].extend(rules))


def everyones_rule(*rules: dict[str, Any]) -> Change:
    """Further rules in the cluster role of all teams."""
    return edit(CLUSTER_ROLE, "teams-reader", lambda inputs: inputs["rules"].extend(rules))


def bound(
    subject: dict[str, str], *rules: dict[str, Any], namespace: str = "", to: str = "", kind: str = "ClusterRole"
) -> Change:
    """A subject bound to a new cluster role of these rules, or to one that is there."""
    metadata = {"name": "extra", **({"namespace": namespace} if namespace else {})}
    reference = {"apiGroup": GROUP, "kind": kind, "name": to or "extra"}
    binding = added(
        BINDING if namespace else CLUSTER_BINDING,
        "extra-binding",
        {"metadata": metadata, "roleRef": reference, "subjects": [subject]},
    )
    if to:
        return binding
    return both(added(CLUSTER_ROLE, "extra-role", {"metadata": {"name": "extra"}, "rules": list(rules)}), binding)


def account(name: str, namespace: str) -> dict[str, str]:
    """A service account as a subject."""
    return {"kind": "ServiceAccount", "name": name, "namespace": namespace}


def access(policy: str, groups: list[str] | None = None, **scope: Any) -> Change:
    """Ann of team vision, with an access policy."""
    arn = f"arn:aws:eks::aws:cluster-access-policy/{policy}"
    return both(
        added(ENTRY, "ann", {"principalArn": ANN, "kubernetesGroups": groups or ["team:vision"]}),
        added(ASSOCIATION, "ann", {"principalArn": ANN, "policyArn": arn, "accessScope": scope or {"type": "cluster"}}),
    )


def statement(name: str, *statements: dict[str, Any]) -> Change:
    """Further statements in an inline policy."""

    def into(inputs: dict[str, Any]) -> None:
        if inputs["policy"] is UNKNOWN:
            return
        document = json.loads(inputs["policy"])
        document["Statement"] += [{"Effect": "Allow", "Resource": "*", **one} for one in statements]
        inputs["policy"] = json.dumps(document)

    return _known(INLINE, name, into)


def replaced(name: str, old: str, new: str) -> Change:
    """Another text in an inline policy."""

    def into(inputs: dict[str, Any]) -> None:
        if inputs["policy"] is UNKNOWN:
            return
        assert old in inputs["policy"], f"no {old} in {name}"
        inputs["policy"] = inputs["policy"].replace(old, new)

    return _known(INLINE, name, into)


def trust(name: str, into: Callable[[dict[str, Any]], None]) -> Change:
    """Another first statement in a trust policy."""

    def change(inputs: dict[str, Any]) -> None:
        document = json.loads(inputs["assumeRolePolicy"])
        into(document["Statement"][0])
        inputs["assumeRolePolicy"] = json.dumps(document)

    return edit(IAM_ROLE, name, change)


def _known(type_: str, name: str, into: Callable[[dict[str, Any]], None]) -> Change:
    """A change that a first preview cannot show: what it changes is made of outputs."""

    def change(resources: Resources) -> list[RecordedResource]:
        if any(found.inputs["policy"] is UNKNOWN for found in resources if (found.type, found.name) == (type_, name)):
            return list(resources)
        return edit(type_, name, into)(resources)

    return change
