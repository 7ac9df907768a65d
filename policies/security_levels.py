"""Security: the pod security level of namespaces, and what holds it where a namespace enforces none."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pulumi_policy import Severity

from trainyard.conventions import TEAM_LABEL
from trainyard.policies import node_daemons, pods
from trainyard.policies.guards import GUARD_TYPES, Guards
from trainyard.policies.level_attacks import LEVEL_WALLS, daemon_walls
from trainyard.policies.rules import Config, StackViolation, stack_rule
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import is_set, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import NAMESPACE

ENFORCE = "pod-security.kubernetes.io/enforce"
_VERSION = re.compile(r"v1\.(?P<minor>[0-9]+)")
_FIRST_WHOLE = 25
"""The minor version of Kubernetes whose pod security is the first that is not a preview (Kubernetes 1.25)."""


@stack_rule(
    "namespace-without-pod-security",
    "Every namespace enforces a pod security standard, or its guards hold one.",
    types=(NAMESPACE, *GUARD_TYPES, *pods.TYPES),
    severity=Severity.HIGH,
    controls=("CIS EKS 1.5.0 4.2.1", "NIST 800-53r5 CM-7", "ISO 27001:2022 A.8.9"),
    fix=f"Give the namespace the label {ENFORCE}: restricted, or baseline where training needs it.",
    config={
        "privileged": {
            "type": "array",
            "items": {"type": "string"},
            "default": [],
            "description": "Names of namespaces whose agents need the host.",
        }
    },
)
def namespace_without_pod_security(resources: Resources, config: Config) -> Iterator[StackViolation]:
    """kube-system, which holds the node agents, is not made by a stack and stays outside.

    A team's namespace that enforces none, for the sake of a daemon of the nodes' network, is as good where the
    admission policies refuse all that `baseline` does, and any other use of that daemon.
    """
    opened = []
    for namespace in resources.of(NAMESPACE):
        enforced = value_at(namespace.inputs, "metadata", "labels", ENFORCE)
        if enforced in ("restricted", "baseline"):
            version = str(value_at(namespace.inputs, "metadata", "labels", f"{ENFORCE}-version", default="latest"))
            if (found := _VERSION.fullmatch(version)) and int(found["minor"]) < _FIRST_WHOLE:
                yield namespace, f"{ENFORCE}-version is {version}, which asks for less than today's"
        elif value_at(namespace.inputs, "metadata", "name") in config["privileged"]:
            continue
        elif enforced == "privileged" and is_set(namespace.inputs, "metadata", "labels", TEAM_LABEL):
            opened.append(namespace)
        else:
            yield namespace, f"{ENFORCE} is {enforced or 'not set'}"
    yield from _unheld(opened, resources)


def _unheld(opened: list[RecordedResource], resources: Resources) -> Iterator[StackViolation]:
    """Namespaces that enforce no level, with what their guards let by."""
    guards, walls = Guards(resources), [*LEVEL_WALLS]
    for daemon, spec in node_daemons.daemons([one for type_ in pods.TYPES for one in resources.of(type_)]):
        walls += daemon_walls(daemon, spec)
    for namespace in opened:
        for wall in walls:
            if (hole := guards.hole(wall, namespace)) is not None:
                yield namespace, f"{ENFORCE} is privileged, and nothing keeps out {wall.what}: {hole[1]}"
                break
