"""Security: who carries a token of the Kubernetes API. Whoever has rights there, and nobody else."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, Final

from pulumi_policy import Severity

from trainyard.policies import pods
from trainyard.policies.rules import Config, StackViolation, stack_rule
from trainyard.policies.teams import team_namespaces
from trainyard.recorded.read import list_at, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import (
    NAMESPACE,
    RBAC_CLUSTER_ROLE_BINDING,
    RBAC_ROLE_BINDING,
    SERVICE_ACCOUNT,
)

BINDINGS: Final = (RBAC_ROLE_BINDING, RBAC_CLUSTER_ROLE_BINDING)
_OF_THE_API: Final = (
    "",
    "api",
    "kubernetes",
    "https://kubernetes.default.svc",
    "https://kubernetes.default.svc.cluster.local",
)
"""Audiences that the API server takes; one that is not named is its own."""
Account = tuple[Any, Any]
"""Namespace and name."""


@stack_rule(
    "needless-api-token",
    "Only pods whose service account has rights in the Kubernetes API carry a token for it.",
    types=(*pods.TYPES, SERVICE_ACCOUNT, NAMESPACE, *BINDINGS),
    severity=Severity.MEDIUM,
    controls=("CIS EKS 1.5.0 4.1.6", "NIST 800-53r5 AC-6", "ISO 27001:2022 A.8.2"),
    fix="Set automountServiceAccountToken to false on the pod, or bind a role to its service account.",
)
def needless_api_token(resources: Resources, _: Config) -> Iterator[StackViolation]:
    """Rights are those that the stack binds. A role of the cloud comes by a token of its own, which stays.

    The pods of a team are not recorded: its service accounts are, and say what its pods carry.
    """
    accounts = {
        (value_at(found.inputs, "metadata", "namespace"), value_at(found.inputs, "metadata", "name")): found
        for found in resources.of(SERVICE_ACCOUNT)
    }
    bound = {
        (value_at(subject, "namespace"), value_at(subject, "name"))
        for binding in resources.of(*BINDINGS)
        for subject in list_at(binding.inputs, "subjects")
        if value_at(subject, "kind") == "ServiceAccount"
    }
    for workload in resources.of(*pods.TYPES):
        namespace = value_at(workload.inputs, "metadata", "namespace")  # a cluster's training runtime has none
        for where, spec in pods.pod_specs(workload):
            name = value_at(spec, "serviceAccountName") or value_at(spec, "serviceAccount", default="default")
            mounted = value_at(spec, "automountServiceAccountToken")
            if mounted is None and (namespace, name) in accounts:
                mounted = value_at(accounts[namespace, name].inputs, "automountServiceAccountToken")
            if (namespace, name) in bound:
                continue
            if mounted not in (False, "false"):
                yield workload, f"{where}: a token of the API for service account {name}, which has no rights there"
            elif _projected(spec):
                yield workload, f"{where}: a volume with a token of the API for {name}, which has no rights there"
    yield from _of_teams(resources, bound)


def _of_teams(resources: Resources, bound: Collection[Account]) -> Iterator[StackViolation]:
    teams = {value_at(found.inputs, "metadata", "name") for found in team_namespaces(resources)}
    for account in resources.of(SERVICE_ACCOUNT):
        metadata = value_at(account.inputs, "metadata")
        own = value_at(metadata, "namespace"), value_at(metadata, "name")
        carried = value_at(account.inputs, "automountServiceAccountToken") not in (False, "false")
        if own[0] in teams and own not in bound and carried:
            yield account, f"pods of {own[0]} that run as {own[1]} carry a token of the API, without rights there"


def _projected(spec: Any) -> bool:
    """Whether a volume of a pod is a token of its service account for the API."""
    return any(
        source is not None and str(value_at(source, "audience", default="")) in _OF_THE_API
        for volume in list_at(spec, "volumes")
        for part in list_at(volume, "projected", "sources")
        for source in [value_at(part, "serviceAccountToken")]
    )
