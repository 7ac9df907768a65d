"""What Kueue decides over: queues, quotas, flavors and workloads, as plain values.

Rules: kubernetes-sigs/kueue, release 0.19.2 (read 2026-11-22), and what a live one of that version did.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

FlavorResource = tuple[str, str]
"""Flavor and resource: what a quota is of."""

Amounts = dict[FlavorResource, float]


@dataclass(frozen=True, slots=True)
class Quota:
    """What a queue or cohort owns of one resource of one flavor; a limit of None is none."""

    nominal: float
    borrowing_limit: float | None = None
    lending_limit: float | None = None


@dataclass(frozen=True, slots=True)
class Flavor:
    """Nodes of one kind, as Kueue sees them: by labels."""

    name: str
    node_labels: Mapping[str, str] = field(default_factory=dict)
    node_taints: tuple[Mapping[str, Any], ...] = ()
    tolerations: tuple[Mapping[str, Any], ...] = ()
    topology: str | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """Resources that a queue counts together, and the flavors in which it looks for them, in their order."""

    covered: tuple[str, ...]
    flavors: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Preemption:
    """Whom a queue's job may evict; by default nobody."""

    within_queue: str = "Never"
    reclaim: str = "Never"
    borrow: str = "Never"
    borrow_threshold: int | None = None


@dataclass(frozen=True, slots=True)
class Fungibility:
    """When a queue's job looks at the next flavor, though this one would do."""

    when_can_borrow: str = "MayStopSearch"
    when_can_preempt: str = "TryNextFlavor"
    preference: str = "BorrowingOverPreemption"


@dataclass(frozen=True, slots=True)
class ClusterQueue:
    """One ClusterQueue. Without a selector nobody may use it."""

    name: str
    groups: tuple[Group, ...] = ()
    quotas: Mapping[FlavorResource, Quota] = field(default_factory=dict)
    cohort: str | None = None
    namespace_selector: Any = None
    preemption: Preemption = Preemption()
    fungibility: Fungibility = Fungibility()
    strategy: str = "BestEffortFIFO"
    stop: str = "None"
    checks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # by name, the flavors; none: all
    weight: float = 1.0

    def group_of(self, resource: str) -> Group | None:
        """The group that counts a resource."""
        return next((group for group in self.groups if resource in group.covered), None)

    @property
    def flavors(self) -> tuple[str, ...]:
        """Every flavor that it has a quota of, in its order."""
        return tuple(dict.fromkeys(name for group in self.groups for name in group.flavors))


@dataclass(frozen=True, slots=True)
class Cohort:
    """A cohort that is an object of its own; one that only queues name has no parent and no quota."""

    name: str
    parent: str | None = None
    quotas: Mapping[FlavorResource, Quota] = field(default_factory=dict)
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class LocalQueue:
    """Where a namespace's jobs are put."""

    namespace: str
    name: str
    cluster_queue: str
    stop: str = "None"


PROVISIONING: Final = "kueue.x-k8s.io/provisioning-request"
MULTIKUEUE: Final = "kueue.x-k8s.io/multikueue"


@dataclass(frozen=True, slots=True)
class Retry:
    """How often nodes are asked for again that did not come, and after which pauses (ProvisioningRequestConfig)."""

    limit: int = 3
    base_seconds: float = 60
    most_seconds: float = 1800

    @property
    def holds_seconds(self) -> float:
        """How long the pauses are in all: a workload keeps its quota through each, and is given up after the last."""
        seconds, pause = 0.0, self.base_seconds
        for again in range(self.limit):
            if pause >= self.most_seconds:
                return seconds + (self.limit - again) * self.most_seconds
            seconds, pause = seconds + pause, 2 * pause
            if not pause:
                break
        return seconds


@dataclass(frozen=True, slots=True)
class Check:
    """An admission check and what answers it. `active` is whether the controller has what it needs."""

    name: str
    controller: str
    active: bool = True
    retry: Retry | None = None  # of requests for nodes, where it is known


@dataclass(frozen=True, slots=True)
class Manager:
    """What the manager's configuration file decides."""

    version: tuple[int, int] | None = (0, 19)  # None: not known
    strategies: tuple[str, ...] = ()  # of fair sharing; empty: it is off
    ignores_undeclared: bool = False
    excluded: tuple[str, ...] = ()  # prefixes of resources that no quota counts
    frameworks: tuple[str, ...] | None = None  # None: those of the chart's default
    manages_unnamed: bool = False
    namespaces: Any = None  # selector of those whose unnamed jobs it holds; None: all but the system's
    waits_seconds: float | None = None  # for all pods to be ready; None: for ever
    requeue_limit: int | None = None
    keeps_claims_out: bool = False  # whether no job gets in whose pods claim devices
    is_elastic: bool | None = None  # whether jobs may grow and shrink while they run; None: not known
    sees_topology: bool | None = None  # whether it reads what pods ask of topology; None: not known

    @property
    def holds_seconds(self) -> float | None:
        """How long a job whose pods never get ready keeps its quota in all; None: for ever."""
        if self.waits_seconds is None or self.requeue_limit is None:
            return None
        return (self.requeue_limit + 1) * self.waits_seconds


@dataclass(frozen=True, slots=True)
class Node:
    """A node that exists, for flavors that are aware of topology."""

    name: str
    labels: Mapping[str, str]
    free: Mapping[str, float]
    taints: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Configuration:
    """All of Kueue's objects of a cluster, and the namespaces that its selectors select."""

    queues: Mapping[str, ClusterQueue] = field(default_factory=dict)
    cohorts: Mapping[str, Cohort] = field(default_factory=dict)
    locals: Mapping[tuple[str, str], LocalQueue] = field(default_factory=dict)  # by namespace and name
    flavors: Mapping[str, Flavor] = field(default_factory=dict)
    topologies: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # levels, outermost first
    checks: Mapping[str, Check] = field(default_factory=dict)
    priorities: Mapping[str, int] = field(default_factory=dict)
    namespaces: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # labels
    manager: Manager = Manager()


@dataclass(frozen=True, slots=True)
class PodSet:
    """Pods of one shape of a workload."""

    name: str
    count: int
    requests: Mapping[str, float]  # of one pod
    least: int | None = None  # with how many it may start; None: with all of them
    selector: Mapping[str, str] = field(default_factory=dict)
    terms: tuple[
        tuple[Mapping[str, Any], ...], ...
    ] = ()  # of required node affinity: one of them, all of its expressions
    tolerations: tuple[Mapping[str, Any], ...] = ()
    claims: tuple[str, ...] = ()  # what it calls the devices that it claims
    topology: tuple[str, str] | None = None  # ("required" or "preferred", level), ("unconstrained", "")


@dataclass(frozen=True, slots=True)
class Workload:
    """A job as the queue sees it."""

    name: str
    namespace: str
    queue: str
    pod_sets: tuple[PodSet, ...]
    priority_class: str = ""
    gated: bool = False  # held by an annotation until somebody takes it off


@dataclass(frozen=True, slots=True)
class Eviction:
    """A running workload that gives way."""

    workload: str
    reason: str


@dataclass(frozen=True, slots=True)
class Admitted:
    """Runs, on these flavors; what it had to borrow, who gave way, how many pods where fewer than asked for."""

    flavors: Mapping[str, Mapping[str, str]]  # pod set -> resource -> flavor
    borrowed: Amounts = field(default_factory=dict)
    preempted: tuple[Eviction, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    usage: Amounts = field(default_factory=dict)
    nodes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # where topology decided, by pod set


@dataclass(frozen=True, slots=True)
class Pending:
    """Waits, and why, in Kueue's words; `reserved` while it holds quota until a check answers."""

    reason: str
    reserved: bool = False


@dataclass(frozen=True, slots=True)
class NoWorkload:
    """The job stays suspended and Kueue says nothing at all."""

    reason: str  # in ours


Verdict = Admitted | Pending | NoWorkload
