"""A stack's pods and nodes together: which pods which nodes take, and why not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from trainyard.conventions import GPU_RESOURCE, TPU_RESOURCE
from trainyard.recorded.model import UNKNOWN, RecordedResource, bare
from trainyard.recorded.read import follow
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import EKS_CLUSTER, GKE_CLUSTER, HELM_RELEASE
from trainyard.rehearsal.works.placement.aws.nodes import nodes_of as nodes_of_eks
from trainyard.rehearsal.works.placement.gcp.nodes import nodes_of as nodes_of_gke
from trainyard.rehearsal.works.placement.kubernetes.flavors import PLAIN, Flavors, Way
from trainyard.rehearsal.works.placement.kubernetes.images import architectures
from trainyard.rehearsal.works.placement.kubernetes.mounts import NO_MOUNTS, Mounts, mounts_of
from trainyard.rehearsal.works.placement.kubernetes.nodes import Nodes
from trainyard.rehearsal.works.placement.kubernetes.requests import requested
from trainyard.rehearsal.works.placement.kubernetes.scheduler import Ask, Miss, Offer, keeps_off, misses
from trainyard.rehearsal.works.placement.kubernetes.volumes import Terms, Volumes
from trainyard.rehearsal.works.workloads.charts import is_known
from trainyard.rehearsal.works.workloads.model import Workload
from trainyard.rehearsal.works.workloads.read import workloads

_OF_DAEMONS: Final = tuple(
    {"key": f"node.kubernetes.io/{name}", "operator": "Exists"}
    for name in ("not-ready", "unreachable", "disk-pressure", "memory-pressure", "pid-pressure", "unschedulable")
)
"""Tolerations that the DaemonSet controller adds (kubernetes.io, "DaemonSet", 2026-11)."""

_PLUGINS: Final = "device-plugins"
"""In the path of the kubelet's socket that every device plugin mounts."""

_KNOWN_DOMAINS: Final = ("nvidia.com/", "vpc.amazonaws.com/", TPU_RESOURCE)
"""Beginnings of extended resources whose plugins are in the table of charts, or the cloud's own."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A group that does not take a pod, in the way that comes nearest."""

    nodes: Nodes
    way: Way
    misses: tuple[Miss, ...]

    @property
    def farness(self) -> int:
        """A group whose labels are what a pod wants is nearer than one that it does not mean."""
        return sum(miss.key in ("nodeSelector", "affinity", "volumes") for miss in self.misses)


@dataclass(frozen=True, slots=True)
class Verdict:
    """Where a workload's pods may run."""

    workload: Workload
    requests: Mapping[str, float]
    fits: tuple[tuple[Nodes, Way], ...]
    refusals: tuple[Refusal, ...]  # nearest first
    drivers: frozenset[str]
    mounts: Mounts = NO_MOUNTS  # that come beside each pod; `requests` holds what is requested for them

    @property
    def places(self) -> int:
        """How many of a node's pods one of them takes, with those that mount its volumes."""
        return 1 + self.mounts.pods

    @property
    def groups(self) -> tuple[Nodes, ...]:
        """The groups that take them, each once."""
        return tuple({nodes.name: nodes for nodes, _ in self.fits}.values())


class World:
    """All pods and nodes of a stack. `nodes` is None where it may have more nodes than it says of."""

    def __init__(
        self,
        resources: Resources,
        region: str = "",
        providers: Resources | None = None,
        components: Sequence[RecordedResource] = (),
    ) -> None:
        """Reads a stack; `providers` and `components` are the recorded ones, where they are not among its resources."""
        self._resources = resources
        self._renders = any(one.type.startswith("kubernetes:") for one in components)
        self.recorded = list(workloads(resources))  # those of a cluster of somebody else's too
        self.workloads = [one for one in self.recorded if _is_here(one, resources, providers or resources)]
        self.nodes = (nodes_of_gke if resources.of(GKE_CLUSTER) else nodes_of_eks)(resources, region)
        self._flavors = Flavors(resources)
        self._volumes = Volumes(resources)
        self._meant: dict[tuple[str, str], bool] = {}
        self._requests = {id(one): requested(one.spec) for one in self.workloads}

    @cached_property
    def verdicts(self) -> list[Verdict]:
        """A verdict for each workload whose way to its nodes is known, in the order of the workloads."""
        found = (self._verdict(one) for one in self.workloads)
        return [verdict for verdict in found if verdict is not None]

    @cached_property
    def daemons(self) -> dict[str, list[Workload]]:
        """What runs on every node of a group, by group."""
        everywhere = [one for one in self.workloads if one.every_node]
        asks = [(one, _ask(one, PLAIN, {})) for one in everywhere]
        return {nodes.name: [one for one, ask in asks if not keeps_off(ask, nodes)] for nodes in self.nodes or ()}

    @cached_property
    def taken(self) -> dict[str, dict[str, float]]:
        """What the daemons of a group request together, by group."""
        found: dict[str, dict[str, float]] = {}
        for name, daemons in self.daemons.items():
            total = found.setdefault(name, {"pods": float(len(daemons))})
            for one in daemons:
                for key, amount in self._requests[id(one)].items():
                    total[key] = total.get(key, 0) + amount
        return found

    @cached_property
    def installs_unknown(self) -> bool:
        """Whether the stack installs something of which nobody here knows what it runs."""
        return self._renders or any(not is_known(one) for one in self._resources.of(HELM_RELEASE))

    @cached_property
    def _plugins_unknown(self) -> bool:
        """Whether something that is installed may offer extended resources, and nobody can say which."""
        own = any(_mounts_plugins(one.spec) for one in self.workloads if one.origin == "object" and one.every_node)
        return own or self.installs_unknown

    @cached_property
    def offering(self) -> dict[str, list[Workload]]:
        """The workloads that offer an extended resource on the nodes that they run on."""
        found: dict[str, list[Workload]] = {}
        for one in self.workloads:
            for name in one.offers:
                found.setdefault(name, []).append(one)
        return found

    @cached_property
    def _divided(self) -> bool:
        return any(_divides(one) for one in self.offering.get(GPU_RESOURCE, ()))

    def _has(self, nodes: Nodes, way: Way) -> bool:
        """Whether a group may have the labels of a flavor; asked of every job, so it is remembered."""
        key = nodes.name, way.flavor
        if key not in self._meant:
            held = ((nodes.values(str(label)), value) for label, value in way.labels.items())
            self._meant[key] = all(values is None or value is UNKNOWN or str(value) in values for values, value in held)
        return self._meant[key]

    def offer(self, nodes: Nodes) -> Offer:
        """How much of an extended resource a group's nodes have."""
        here = {name for one in self.daemons[nodes.name] for name in one.offers} | set(nodes.built_in)

        def amount(name: str) -> float | None:
            if self._plugins_unknown or not name.startswith(_KNOWN_DOMAINS):
                return None
            if self._divided and name.startswith("nvidia.com/"):
                return None
            if name not in nodes.hardware:
                return 0.0 if name in self.offering or nodes.machines or not nodes.open_labels else None
            if name in here:
                return nodes.hardware[name]
            return 0.0 if name in self.offering else None

        return amount

    def _verdict(self, workload: Workload) -> Verdict | None:
        requests = self._requests[id(workload)]
        ways: Iterable[Way] | None = [PLAIN]
        if workload.is_template:
            ways = self._flavors.any()
        elif workload.queue:
            ways = self._flavors.ways(workload.namespace, workload.queue, requests)
        if ways is None or self.nodes is None:
            return None
        terms, drivers = self._volumes.of(workload)
        mounts = mounts_of(workload, self._volumes.mounted(workload))
        needs = mounts.with_pod(requests)
        images = architectures(workload.spec)
        asks = [(way, _ask(workload, way, needs, terms, images, mounts)) for way in ways]
        fits: list[tuple[Nodes, Way]] = []
        refused: list[Refusal] = []
        for nodes in self.nodes:
            taken = {} if workload.every_node else self.taken[nodes.name]
            offer, best, taker = self.offer(nodes), None, False
            meant = [(way, ask) for way, ask in asks if self._has(nodes, way)]
            for way, ask in meant or asks[:1]:
                missed = tuple(misses(ask, nodes, taken, offer))
                if not missed:
                    fits.append((nodes, way))
                    taker = True
                elif best is None or len(missed) < len(best.misses):
                    best = Refusal(nodes, way, missed)
            if best is not None and not taker:
                refused.append(best)
        refused.sort(key=lambda one: (one.farness, len(one.misses)))
        return Verdict(workload, needs, tuple(fits), tuple(refused), drivers, mounts)


def _ask(
    workload: Workload,
    way: Way,
    requests: Mapping[str, float],
    terms: tuple[Terms, ...] = (),
    images: Mapping[str, str] | None = None,
    mounts: Mounts = NO_MOUNTS,
) -> Ask:
    tolerations = (*way.tolerations, *(_OF_DAEMONS if workload.every_node else ()))
    return Ask(
        workload.spec,
        requests,
        way.labels,
        tolerations,
        terms,
        workload.only_values,
        images or {},
        mounts,
        workload.is_template,
    )


def _is_here(workload: Workload, resources: Resources, providers: Resources) -> bool:
    """Whether pods go to the cluster of the stack: their provider's settings are made of it, or say of no cluster."""
    provider = providers.provider_of(workload.resource)
    if provider is None or workload.resource.package != "kubernetes" or not provider.inputs.get("kubeconfig"):
        return True
    made_of = {urn for urns in provider.property_dependencies.values() for urn in urns}
    return any(cluster.urn in made_of for cluster in resources.of(EKS_CLUSTER, GKE_CLUSTER))


def _mounts_plugins(spec: Mapping[str, Any]) -> bool:
    volumes = spec.get("volumes")
    paths = (follow(one, "hostPath", "path") for one in volumes) if isinstance(volumes, list) else ()
    return any(path is UNKNOWN or (isinstance(path, str) and _PLUGINS in path) for path in paths)


def _divides(plugin: Workload) -> bool:
    """Whether a device plugin may offer parts of GPUs, or several of one."""
    values = bare(plugin.resource.inputs.get("values"))
    if values is UNKNOWN:
        return True
    strategy = follow(values, "migStrategy")
    given = any(follow(values, "config", key) not in (None, "", {}) for key in ("map", "name"))
    return given or strategy not in (None, "none")
