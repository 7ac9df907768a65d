"""Small clusters of queues, in a line each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from trainyard.rehearsal.works.queues.kubernetes.admit import Cluster
from trainyard.rehearsal.works.queues.kubernetes.fair import FINAL_SHARE, INITIAL_SHARE
from trainyard.rehearsal.works.queues.kubernetes.model import (
    ClusterQueue,
    Cohort,
    Configuration,
    Flavor,
    Fungibility,
    Group,
    LocalQueue,
    Manager,
    Node,
    PodSet,
    Preemption,
    Quota,
    Workload,
)

GPU = "nvidia.com/gpu"
BACK = Preemption(within_queue="LowerPriority", reclaim="Any")
"""A queue gets back what it lent."""
PRIORITIES = {"development": 100, "standard": 500, "production": 1000}
FINAL = (FINAL_SHARE,)
BOTH = (FINAL_SHARE, INITIAL_SHARE)
NEXT = Fungibility("TryNextFlavor", "TryNextFlavor")
TAINT = {"key": GPU, "value": "true", "effect": "NoSchedule"}
TOLERATION = {"key": GPU, "operator": "Exists", "effect": "NoSchedule"}


def queue(name: str, quotas: Mapping[str, float | Quota], **more: Any) -> ClusterQueue:
    """A team's queue of GPUs, by flavor; in the cohort `all`, for its own namespace."""
    resource = more.pop("resource", GPU)
    return ClusterQueue(
        name,
        (Group((resource,), tuple(quotas)),),
        {(flavor, resource): one if isinstance(one, Quota) else Quota(one) for flavor, one in quotas.items()},
        **{"cohort": "all", "namespace_selector": {"matchLabels": {"team": name}}, "preemption": BACK, **more},
    )


def configured(
    *queues: ClusterQueue, flavors: tuple[Flavor, ...] = (), cohorts: tuple[Cohort, ...] = (), **more: Any
) -> Configuration:
    """The queues with a LocalQueue `default` each in the team's namespace, and a flavor for each that they name."""
    made = {name: Flavor(name) for one in queues for name in one.flavors}
    made |= {flavor.name: flavor for flavor in flavors}
    return Configuration(
        queues={one.name: one for one in queues},
        cohorts={one.name: one for one in cohorts},
        locals={(one.name, "default"): LocalQueue(one.name, "default", one.name) for one in queues},
        flavors=made,
        priorities=PRIORITIES,
        namespaces={one.name: {"team": one.name} for one in queues},
        **{"manager": Manager(), **more},
    )


def fair(configuration: Configuration, strategies: tuple[str, ...] = FINAL) -> Configuration:
    """The same, shared by weight."""
    return replace(configuration, manager=replace(configuration.manager, strategies=strategies))


def cluster(*queues: ClusterQueue, nodes: tuple[Node, ...] = (), **more: Any) -> Cluster:
    return Cluster(configured(*queues, **more), nodes)


def job(name: str, team: str, gpus: float, *, pods: int = 1, priority: str = "standard", **more: Any) -> Workload:
    """A job of some pods with so many GPUs each, in the team's queue `default`."""
    requests = {**({GPU: gpus} if gpus else {}), **more.pop("requests", {})}
    queue_name = more.pop("queue", "default")
    return Workload(name, team, queue_name, (PodSet("main", pods, requests, **more),), priority)
