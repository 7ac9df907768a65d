"""Kueue's scheduler: what a workload gets now, and why it waits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from trainyard.recorded.selectors import NAME_LABEL, selects
from trainyard.rehearsal.works.queues.kubernetes import topology
from trainyard.rehearsal.works.queues.kubernetes.assign import (
    FIT,
    NO_CANDIDATES,
    NO_FIT,
    PREEMPT,
    RECLAIM,
    Assigner,
    Assignment,
    Mode,
)
from trainyard.rehearsal.works.queues.kubernetes.fair import fair
from trainyard.rehearsal.works.queues.kubernetes.model import (
    MULTIKUEUE,
    PROVISIONING,
    Admitted,
    Amounts,
    ClusterQueue,
    Configuration,
    FlavorResource,
    Node,
    NoWorkload,
    Pending,
    PodSet,
    Verdict,
    Workload,
)
from trainyard.rehearsal.works.queues.kubernetes.preempt import Case, Running, classical, evictions
from trainyard.rehearsal.works.queues.kubernetes.tree import grow, in_circles


class Cluster:
    """Kueue's objects and what runs. `admit` is one turn of the scheduler for one workload."""

    def __init__(self, configuration: Configuration, nodes: Iterable[Node] = ()) -> None:
        self.configuration = configuration
        self.tree = grow(configuration)
        self.running: dict[str, Running] = {}
        self._circular = in_circles(configuration)
        self._nodes = {node.name: node for node in nodes}
        self._placed: dict[str, tuple[tuple[str, Mapping[str, float]], ...]] = {}  # by workload: node, what a pod takes
        self._turn = 0

    def admit(self, workload: Workload) -> Verdict:
        """What a workload gets now. One that is admitted runs from then on, and those that it evicts do not."""
        self._turn += 1
        priority = self.configuration.priorities.get(workload.priority_class, 0)
        if workload.priority_class and workload.priority_class not in self.configuration.priorities:
            return NoWorkload(f"there is no WorkloadPriorityClass {workload.priority_class}: no Workload, no event")
        if workload.gated:
            return Pending("admission is gated by an annotation")
        queue = self._queue_of(workload)
        if isinstance(queue, Pending):
            return queue
        counts = {pod_set.name: pod_set.count for pod_set in workload.pod_sets}
        verdict = self._try(workload, queue, priority, counts)
        if isinstance(verdict, Pending) and not verdict.reserved:
            return self._with_fewer(workload, queue, priority) or verdict
        return verdict

    def finish(self, workload: str) -> None:
        """A workload is done: its quota is free."""
        done = self.running.pop(workload)
        self._placed.pop(workload, None)
        for key, amount in done.usage.items():
            self.tree[done.queue].remove(key, amount)

    def reconfigure(self, configuration: Configuration) -> None:
        """Other objects under what runs, which stays: less quota evicts nobody."""
        self.configuration = configuration
        self.tree = grow(configuration)
        self._circular = in_circles(configuration)
        for one in self.running.values():
            for key, amount in one.usage.items():
                self.tree[one.queue].add(key, amount)

    def fits_empty(self, workload: Workload) -> Verdict:
        """What a workload gets of what is free, without its running afterwards. Nobody is evicted for it."""
        verdict = self.admit(workload)
        if workload.name in self.running:
            self.finish(workload.name)
        return verdict

    def inactive(self, queue: ClusterQueue) -> str:
        """Why a queue admits nothing, in Kueue's words; empty where it is active."""
        known = self.configuration
        if queue.stop != "None":
            return "is stopped"
        if queue.cohort in self._circular:
            return f"cohort {queue.cohort} has a cycle"
        told = []
        if missing := [name for name in queue.flavors if name not in known.flavors]:
            told.append(f"references missing ResourceFlavor(s): {','.join(missing)}")
        if missing := [name for name in queue.checks if name not in known.checks]:
            told.append(f"references missing AdmissionCheck(s): {','.join(missing)}")
        given = [known.checks[name] for name in queue.checks if name in known.checks]
        if dead := [check.name for check in given if not check.active]:
            told.append(f"references inactive AdmissionCheck(s): {','.join(dead)}")
        remote = [check.name for check in given if check.controller == MULTIKUEUE]
        if len(remote) > 1:
            told.append(
                f"Cannot use multiple MultiKueue AdmissionChecks on the same ClusterQueue, found: {','.join(remote)}"
            )
        if by_flavor := [name for name in remote if queue.checks[name]]:
            told.append(f"Cannot specify MultiKueue AdmissionCheck per flavor, found: {','.join(by_flavor)}")
        if remote and any(check.controller == PROVISIONING for check in given):
            told.append("Cannot use both MultiKueue and ProvisioningRequest AdmissionChecks together")
        for name in queue.flavors:
            flavor = known.flavors.get(name)
            if flavor and flavor.topology is not None and flavor.topology not in known.topologies:
                told.append(f'there is no Topology "{flavor.topology}" for TAS flavor "{name}"')
        return f"Can't admit new workloads: {', '.join(told)}." if told else ""

    def _queue_of(self, workload: Workload) -> ClusterQueue | Pending:
        local = self.configuration.locals.get((workload.namespace, workload.queue))
        if local is None:
            return Pending(f"LocalQueue {workload.queue} doesn't exist")
        if local.stop != "None":
            return Pending(f"LocalQueue {local.name} is stopped")
        queue = self.configuration.queues.get(local.cluster_queue)
        if queue is None:
            return Pending(f"ClusterQueue {local.cluster_queue} doesn't exist")
        if queue.stop != "None":
            return Pending(f"ClusterQueue {queue.name} is stopped")
        if reason := self.inactive(queue):
            return Pending(f"ClusterQueue {queue.name} is inactive: {reason}")
        labels = self.configuration.namespaces.get(workload.namespace, {})
        labels = {NAME_LABEL: workload.namespace, **labels}
        if queue.namespace_selector is None or not selects(queue.namespace_selector, labels):
            return Pending("workload namespace doesn't match ClusterQueue selector")
        return queue

    def _with_fewer(self, workload: Workload, queue: ClusterQueue, priority: int) -> Admitted | None:
        """Partial admission: as many pods as fit, if that is no fewer than the job may start with."""
        flexible = [one for one in workload.pod_sets if one.least is not None and one.least < one.count]
        if not flexible:
            return None
        spare = sum(one.count - (one.least or 0) for one in flexible)
        least, most, best = 1, spare, None
        while least <= most:
            fewer = (least + most) // 2
            rest, counts = fewer, {one.name: one.count for one in workload.pod_sets}
            for one in flexible:
                away = min(rest, one.count - (one.least or 0))
                counts[one.name] -= away
                rest -= away
            verdict = self._try(workload, queue, priority, counts, keep=False)
            if isinstance(verdict, Admitted):
                best, most = counts, fewer - 1
            else:
                least = fewer + 1
        if best is None:
            return None
        verdict = self._try(workload, queue, priority, best)
        return replace(verdict, counts=best) if isinstance(verdict, Admitted) else None

    def _try(
        self, workload: Workload, queue: ClusterQueue, priority: int, counts: Mapping[str, int], *, keep: bool = True
    ) -> Verdict:
        def oracle(key: FlavorResource, amount: float) -> Mode:
            node = self.tree[queue.name]
            taken = self._targets(queue, priority, {key: amount}, frozenset([key]), {})
            if not taken:
                return NO_CANDIDATES, node.lowest_that_fits(key, amount)[0]
            case = self._case(queue, priority, {}, frozenset())
            for other, _ in taken:
                case.take(other)
            borrow = node.lowest_that_fits(key, amount)[0]
            for other, _ in taken:
                case.give_back(other)
            return (PREEMPT if any(other.queue == queue.name for other, _ in taken) else RECLAIM), borrow

        assigner = Assigner(self.configuration, queue, self.tree[queue.name], oracle)
        assigned = assigner.assign(workload.pod_sets, counts)
        if assigned.mode == NO_FIT:
            return Pending(assigned.message)
        pods = {one.name: (one, counts[one.name]) for one in workload.pod_sets}
        delayed = any(self.configuration.checks[name].controller == PROVISIONING for name in queue.checks)
        where = {} if delayed else self._places(assigned, pods, ())
        taken: list[tuple[Running, str]] = []
        if assigned.mode != FIT or isinstance(where, str):
            contested = assigned.contested if assigned.mode != FIT else set(assigned.usage)
            wanted = pods if not delayed else {}
            if isinstance(where, str) and isinstance(
                on_empty := self._places(assigned, pods, tuple(self.running)), str
            ):
                return Pending(", ".join(filter(None, [assigned.message, on_empty])))
            taken = self._targets(queue, priority, assigned.usage, frozenset(contested), wanted, assigned)
            if not taken:
                return Pending(", ".join(filter(None, [assigned.message, where if isinstance(where, str) else ""])))
            where = {} if delayed else self._places(assigned, pods, tuple(other.name for other, _ in taken))
        if isinstance(where, str):
            return Pending(where)
        verdict = self._admitted(queue, assigned, taken, where)
        waiting = self._checks(queue, assigned)
        if keep:
            for other, _ in taken:
                self.finish(other.name)
            for key, amount in assigned.usage.items():
                self.tree[queue.name].add(key, amount)
            self.running[workload.name] = Running(
                workload.name, queue.name, priority, self._turn, self._turn, assigned.usage,
                (workload.namespace, workload.queue), bool(waiting),
            )  # fmt: skip
            self._placed[workload.name] = tuple(
                (node, pods[name][0].requests) for name, names in where.items() for node in names
            )
        return Pending(f"waiting for admission check(s) {', '.join(waiting)}", reserved=True) if waiting else verdict

    def _checks(self, queue: ClusterQueue, assigned: Assignment) -> list[str]:
        """The checks that a workload waits for once it has its quota: those of its flavors."""
        flavors = {name for given in assigned.flavors.values() for name in given.values()}
        return [name for name, only in queue.checks.items() if not only or flavors & set(only)]

    def _admitted(
        self,
        queue: ClusterQueue,
        assigned: Assignment,
        taken: list[tuple[Running, str]],
        where: Mapping[str, tuple[str, ...]],
    ) -> Admitted:
        node = self.tree[queue.name]
        gone: Amounts = {}
        for other, _ in taken:
            if other.queue == queue.name:
                for key, amount in other.usage.items():
                    gone[key] = gone.get(key, 0.0) + amount
        borrowed = {}
        for key, amount in assigned.usage.items():
            used = node.used(key) - gone.get(key, 0.0)
            over = min(amount, used + amount - node.owns(key))
            if over > 0:
                borrowed[key] = over
        return Admitted(assigned.flavors, borrowed, evictions(taken), {}, dict(assigned.usage), dict(where))

    def _targets(
        self,
        queue: ClusterQueue,
        priority: int,
        usage: Amounts,
        contested: frozenset[FlavorResource],
        pods: Mapping[str, tuple[PodSet, int]],
        assigned: Assignment | None = None,
    ) -> list[tuple[Running, str]]:
        def has_room(gone: tuple[Running, ...]) -> bool:
            if assigned is None or not pods:
                return True
            return not isinstance(self._places(assigned, pods, tuple(one.name for one in gone)), str)

        case = replace(self._case(queue, priority, usage, contested), has_room=has_room)
        strategies = self.configuration.manager.strategies
        return fair(case, strategies) if strategies else classical(case)

    def _case(
        self,
        queue: ClusterQueue,
        priority: int,
        usage: Amounts,
        contested: frozenset[FlavorResource],
    ) -> Case:
        seen = tuple(one for one in self.running.values() if not self.inactive(self.configuration.queues[one.queue]))
        return Case(queue, self.tree, seen, priority, self._turn, usage, contested, _anywhere)

    def _places(
        self, assigned: Assignment, pods: Mapping[str, tuple[PodSet, int]], gone: tuple[str, ...]
    ) -> dict[str, tuple[str, ...]] | str:
        """Nodes of the pod sets whose flavors are aware of topology, once some workloads are gone."""
        used: dict[str, dict[str, float]] = {}
        found: dict[str, tuple[str, ...]] = {}

        def take(node: str, requests: Mapping[str, float]) -> None:
            there = used.setdefault(node, {})
            for name, amount in requests.items():
                there[name] = there.get(name, 0.0) + amount

        for workload, placed in self._placed.items():
            if workload not in gone:
                for node, requests in placed:
                    take(node, requests)
        for name, given in assigned.flavors.items():
            aware = [one for one in dict.fromkeys(given.values()) if self.configuration.flavors[one].topology]
            if not aware:
                continue
            flavor = self.configuration.flavors[aware[0]]
            levels = self.configuration.topologies.get(str(flavor.topology), ())
            where = topology.place(*pods[name], flavor, levels, self._nodes, used)
            if isinstance(where, str):
                return where
            found[name] = where
            for node in where:
                take(node, pods[name][0].requests)
        return found


def _anywhere(_: tuple[Running, ...]) -> bool:
    return True
