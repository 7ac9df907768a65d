"""Security: who is asked what may be created in the cluster. A webhook sees every object, and may change it."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from typing import Any, Final

from pulumi_policy import Severity

from trainyard.policies.rules import Config, StackViolation, stack_rule
from trainyard.policies.teams import team_namespaces
from trainyard.recorded.read import list_at, mappings_at, split_url, texts_at, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import MUTATING_WEBHOOKS, NAMESPACE, VALIDATING_WEBHOOKS

_OF_EVERYBODY: Final = frozenset({"", "*", "apps", "batch", "rbac.authorization.k8s.io", "networking.k8s.io"})
"""Groups of what every namespace has: pods and secrets, jobs, rights, network policies."""


@stack_rule(
    "admission-by-outsiders",
    "No webhook outside of the cluster, or in a team's namespace, is asked about pods, secrets, jobs or rights.",
    types=(MUTATING_WEBHOOKS, VALIDATING_WEBHOOKS, NAMESPACE),
    severity=Severity.CRITICAL,
    controls=("NIST 800-53r5 AC-4", "NIST 800-53r5 CM-5", "ISO 27001:2022 A.8.22"),
    fix="Run the webhook in a namespace of the platform's, or name its host in hosts.",
    config={
        "hosts": {
            "type": "array",
            "items": {"type": "string"},
            "default": [],
            "description": "Hosts outside of the cluster that may see, and change, what is created.",
        }
    },
)
def admission_by_outsiders(resources: Resources, config: Config) -> Iterator[StackViolation]:
    """Whoever answers gives a pod another image, another account, another node; or reads every secret that is made."""
    teams = {value_at(found.inputs, "metadata", "name") for found in team_namespaces(resources)}
    for found in resources.of(MUTATING_WEBHOOKS, VALIDATING_WEBHOOKS):
        for webhook in mappings_at(found.inputs, "webhooks"):
            if not _about_everybody(webhook):
                continue
            name, url = value_at(webhook, "name"), str(value_at(webhook, "clientConfig", "url", default=""))
            host = _host(url)
            if url and not _inside(host) and host not in config["hosts"]:
                yield found, f"{name} asks {host or 'nobody that its address tells'}, which is outside of the cluster"
            place = value_at(webhook, "clientConfig", "service", "namespace")
            if place in teams:
                yield found, f"{name} asks pods of {place}: the team decides for everybody"


def _about_everybody(webhook: Any) -> bool:
    return any(_OF_EVERYBODY & set(texts_at(rule, "apiGroups")) for rule in list_at(webhook, "rules"))


def _host(url: str) -> str:
    parts = split_url(url)
    return (parts.hostname if parts is not None else None) or ""


def _inside(host: str) -> bool:
    """Whether a host is the API server's own machine, or a service of the cluster by its name."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith((".svc", ".svc.cluster.local"))
