"""References between objects of a cluster."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from trainyard.rehearsal.context import Stack
from trainyard.rehearsal.works.references.kubernetes import (
    addresses,
    admission,
    admitted,
    admitted_pods,
    alert_labels,
    alert_routes,
    brought,
    chart_monitoring,
    chart_values,
    classes,
    customs,
    device_claims,
    entrances,
    failure_rules,
    files,
    gates,
    gateways,
    inits,
    keys,
    limits,
    loose,
    notebook_hub,
    pod_security,
    policy_ports,
    probes,
    roles,
    runtime_limits,
    runtimes,
    selectors,
    services,
    state_metrics,
    team_folders,
    times,
    told_paths,
    training,
    volumes,
)
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster

_CHECKS: Final[tuple[Callable[[Cluster], None], ...]] = (
    services.check,
    addresses.check,
    selectors.check,
    policy_ports.check,
    probes.check,
    gates.check,
    gateways.check,
    keys.check,
    chart_values.check,
    chart_monitoring.check,
    alert_routes.check,
    files.check,
    told_paths.check,
    volumes.check,
    team_folders.check,
    classes.check,
    entrances.check,
    times.check,
    roles.check,
    limits.check,
    runtime_limits.check,
    pod_security.check,
    admission.check,
    admitted.check,
    admitted_pods.check,
    training.check,
    failure_rules.check,
    device_claims.check,
    runtimes.check,
    alert_labels.check,
    inits.check,
    loose.check,
    customs.check,
    brought.check,
    notebook_hub.check,
    state_metrics.check,
)


def check_objects(stack: Stack) -> Cluster:
    """Every check of what a recording has of Kubernetes, and what was looked through for it.

    Raises `UnreadableInput` for what all of them read.
    """
    cluster = stack.once(Cluster)
    for one in _CHECKS if cluster.views else ():
        one(cluster)
    return cluster
