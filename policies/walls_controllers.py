"""Walls in the cluster's network: the platform's controllers and its monitoring are out of teams' reach."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Any, Final

from pulumi_policy import Severity

from trainyard.conventions.monitoring import MONITORING_NAMESPACE
from trainyard.policies.network_peers import from_anywhere, names_only
from trainyard.policies.rules import Config, StackViolation, stack_rule
from trainyard.policies.teams import labels_of, team_namespaces
from trainyard.recorded.read import list_at, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.selectors import NAME_LABEL, selects
from trainyard.recorded.types import (
    NAMESPACE,
    NETWORK_POLICY,
)

_NAMES: Final = ("kube-dns", "coredns", "node-local-dns")
"""Label `k8s-app` of pods that answer names alone."""


@stack_rule(
    "team-reaches-controllers",
    "No network policy opens a way, or half of one, between teams' pods and the platform's controllers or monitoring.",
    types=(NAMESPACE, NETWORK_POLICY),
    severity=Severity.HIGH,
    controls=("CIS EKS 1.5.0 4.3.2", "NIST 800-53r5 SC-7", "ISO 27001:2022 A.8.22"),
    fix="Take the peer out; teams reach the tracking server and the proxy, and have names looked up.",
    config={
        "namespaces": {
            "type": "array",
            "items": {"type": "string"},
            "default": ["*-system", MONITORING_NAMESPACE],
            "description": "Namespaces of controllers and of what watches, where nothing is for teams (globs).",
        }
    },
)
def team_reaches_controllers(resources: Resources, config: Config) -> Iterator[StackViolation]:
    """A controller has rights in every team's namespace, and Prometheus knows what every team does: who may talk to
    them looks for what they do not ask. Names are asked of kube-dns by everybody."""
    teams = {str(value_at(found.inputs, "metadata", "name")): labels_of(found) for found in team_namespaces(resources)}
    theirs = {
        str(value_at(found.inputs, "metadata", "name")): labels_of(found) for found in resources.of(NAMESPACE)
    } | {"kube-system": {NAME_LABEL: "kube-system"}}
    closed = {
        name: labels
        for name, labels in theirs.items()
        if name not in teams and any(fnmatchcase(name, glob) for glob in config["namespaces"])
    }
    ways = {
        **dict.fromkeys(teams, ("egress", "to", closed, "out to")),
        **dict.fromkeys(closed, ("ingress", "from", teams, "in from")),
    }
    meant: dict[str, list[str]] = {}
    for policy in resources.of(NETWORK_POLICY):
        own = str(value_at(policy.inputs, "metadata", "namespace"))
        if own not in ways:
            continue
        direction, key, others, words = ways[own]
        for rule in list_at(policy.inputs, "spec", direction):
            for peer in list_at(rule, key) if not names_only(rule) else ():
                selector = value_at(peer, "namespaceSelector")
                if selector is None or from_anywhere({key: [peer]}, key):  # everybody: platform-namespace-open
                    continue
                asked = f"{direction} {selector!r}"
                if asked not in meant:
                    meant[asked] = sorted(name for name, labels in others.items() if selects(selector, labels))
                if meant[asked] and not (meant[asked] == ["kube-system"] and _answers_names(peer)):
                    yield policy, f"lets pods {words} {meant[asked][0]}"


def _answers_names(peer: Any) -> bool:
    """Whether a peer is those pods alone that answer names: then no port has to say so."""
    return value_at(peer, "podSelector", "matchLabels", "k8s-app") in _NAMES
