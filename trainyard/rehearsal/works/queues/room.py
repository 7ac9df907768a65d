"""What the checks of queues share: Kueue's objects, the jobs, the nodes and an empty cluster, each read once."""

from __future__ import annotations

from dataclasses import dataclass, field

from trainyard.recorded.model import RecordedResource
from trainyard.recorded.node_groups import NodeGroup
from trainyard.recorded.node_labels import node_groups_of
from trainyard.recorded.read import UnreadableInput, mapping_at, mappings_at, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.selectors import NAME_LABEL, selects
from trainyard.recorded.types import LIMIT_RANGE
from trainyard.rehearsal.works.queues.kubernetes.admit import Cluster
from trainyard.rehearsal.works.queues.kubernetes.jobs import QueuedJob, queued_jobs
from trainyard.rehearsal.works.queues.kubernetes.model import ClusterQueue, Configuration, LocalQueue, Manager
from trainyard.rehearsal.works.queues.kubernetes.read import Recorded, read
from trainyard.rehearsal.works.queues.nodes import groups_by_flavor, nodes_of

ALWAYS_RESPECTED = (0, 15)
"""Since this version the manager leaves every job of a namespace alone that its selector does not select, also one that
names a queue (gate ManagedJobsNamespaceSelectorAlwaysRespected, kube_features.go of 0.19.2)."""


@dataclass(frozen=True, slots=True)
class Room:
    """A stack as its queues see it."""

    resources: Resources
    recorded: Recorded
    jobs: tuple[QueuedJob, ...]
    nodes: list[NodeGroup]  # all groups; none where they are not all known
    groups: dict[str, list[NodeGroup]]  # of each flavor of which they are known
    cluster: Cluster
    limits: dict[str, dict[str, str]]  # by namespace: what its LimitRanges give containers, and where that stands
    _sure: dict[str, bool] = field(default_factory=dict)
    _locals: dict[str, list[LocalQueue]] = field(default_factory=dict)  # by the queue that they lead to

    @classmethod
    def of(cls, resources: Resources) -> Room:
        """Reads everything."""
        recorded = read(resources)
        all_groups = node_groups_of(resources) or []
        groups = groups_by_flavor(all_groups, recorded.configuration)
        nodes = nodes_of(recorded.configuration.flavors, groups)
        cluster = Cluster(recorded.configuration, nodes)
        return cls(resources, recorded, tuple(queued_jobs(resources)), all_groups, groups, cluster, _limits(resources))

    @property
    def configuration(self) -> Configuration:
        """Kueue's objects."""
        return self.recorded.configuration

    @property
    def manager(self) -> Manager | None:
        """What the manager is told; None where that is not known."""
        return None if ("Manager", "") in self.recorded.unsure else self.configuration.manager

    def resource(self, kind: str, name: str) -> RecordedResource:
        """The resource of an object that was read."""
        return self.recorded.resources[kind, name]

    def is_sure(self, queue: ClusterQueue) -> bool:
        """Whether all that decides over a queue's quota is known and the stack's own."""
        if queue.name not in self._sure:
            known = self.recorded
            tree = self._cohorts(queue)
            kinds = ("ClusterQueue", "Cohort", "ResourceFlavor", "AdmissionCheck")
            self._sure[queue.name] = (
                not any((kind, "") in known.unsure for kind in kinds)
                and not any(known.is_unsure("ResourceFlavor", flavor) for flavor in queue.flavors)
                and not any(known.is_unsure("AdmissionCheck", check) for check in queue.checks)
                and not any(kind == "ClusterQueue" for kind, _ in known.unsure)
                and not any(("Cohort", name) in known.unsure for name in tree)
                and all(self._is_placed(name) for name in queue.flavors)
            )
        return self._sure[queue.name]

    def _is_placed(self, name: str) -> bool:
        """Whether a flavor is blind to topology, or its nodes and topology are known."""
        flavor = self.configuration.flavors.get(name)
        if flavor is None or flavor.topology is None:
            return True
        return name in self.groups and flavor.topology in self.configuration.topologies

    def locals_of(self, queue: str) -> list[LocalQueue]:
        """The LocalQueues that lead to a queue."""
        if not self._locals:
            for local in self.configuration.locals.values():
                self._locals.setdefault(local.cluster_queue, []).append(local)
        return self._locals.get(queue, [])

    def queue_of(self, local: LocalQueue) -> ClusterQueue | None:
        """The queue behind a LocalQueue, where it is the stack's own and known."""
        return self.configuration.queues.get(local.cluster_queue)

    def labels_of(self, namespace: str) -> dict[str, str] | None:
        """The labels of a namespace that the stack makes; None where it does not, or they are not known."""
        found = self.configuration.namespaces.get(namespace)
        return None if found is None else {NAME_LABEL: namespace, **found}

    def admits(self, queue: ClusterQueue, namespace: str) -> bool | None:
        """Whether a queue's selector means a namespace; None where that is not known."""
        return queue.namespace_selector is not None and self._selected(queue.namespace_selector, namespace)

    def is_managed(self, namespace: str) -> bool | None:
        """Whether the manager looks after the jobs of a namespace; None where that is not known."""
        manager = self.manager
        if manager is None or manager.namespaces is None:
            return None if manager is None else True
        return self._selected(manager.namespaces, namespace)

    def _selected(self, selector: object, namespace: str) -> bool | None:
        labels = self.labels_of(namespace)
        if labels is None:
            return None
        try:
            return selects(selector, labels)
        except UnreadableInput:
            return None

    def _cohorts(self, queue: ClusterQueue) -> list[str]:
        found: list[str] = []
        at = queue.cohort
        while at is not None and at not in found:
            found.append(at)
            cohort = self.configuration.cohorts.get(at)
            at = cohort.parent if cohort else None
        return found


def _limits(resources: Resources) -> dict[str, dict[str, str]]:
    """Kueue counts what a LimitRange gives a container that states nothing as if the job said it."""
    found: dict[str, dict[str, str]] = {}
    for limits in resources.of(LIMIT_RANGE):
        try:
            namespace = str(value_at(limits.inputs, "metadata", "namespace", default="default"))
            name = value_at(limits.inputs, "metadata", "name", default=limits.name)
            for entry in mappings_at(limits.inputs, "spec", "limits"):
                if value_at(entry, "type") == "Container":
                    for resource in (*mapping_at(entry, "default"), *mapping_at(entry, "defaultRequest")):
                        found.setdefault(namespace, {}).setdefault(resource, f"{namespace}/{name}")
        except UnreadableInput:
            continue
    return found
