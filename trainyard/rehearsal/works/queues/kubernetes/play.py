"""A cluster over time: several workloads in the order in which their queues take them, and objects that change."""

from __future__ import annotations

from collections.abc import Iterable

from trainyard.rehearsal.works.queues.kubernetes.admit import Cluster
from trainyard.rehearsal.works.queues.kubernetes.model import (
    Admitted,
    Configuration,
    NoWorkload,
    Pending,
    Verdict,
    Workload,
)
from trainyard.rehearsal.works.queues.kubernetes.preempt import Running


def play(cluster: Cluster, workloads: Iterable[Workload]) -> dict[str, Verdict]:
    """What became of each workload in the end: the last verdict on it, that of its eviction where it was evicted.

    Of two waiting jobs of a queue the one of the higher priority goes first, then the older. A `StrictFIFO` queue waits
    for its head; a `BestEffortFIFO` one lets others pass.
    """
    known = {workload.name: workload for workload in workloads}
    waiting = list(known)
    verdicts: dict[str, Verdict] = {}
    for _ in range(2 * len(known) + 1):  # two that evict each other would go on for ever
        moved = False
        held: set[str] = set()
        for name in sorted(waiting, key=lambda one: (-_priority(cluster, known[one]), list(known).index(one))):
            workload = known[name]
            queue = _queue(cluster, workload)
            if queue in held:
                verdicts.setdefault(name, Pending(""))
                continue
            verdict = verdicts[name] = cluster.admit(workload)
            if isinstance(verdict, Admitted):
                moved = True
                waiting.remove(name)
                for gone in verdict.preempted:
                    verdicts[gone.workload] = Pending(f"Preempted: {gone.reason}")
                    waiting.append(gone.workload)
            elif isinstance(verdict, Pending) and verdict.reserved:
                waiting.remove(name)
            elif not isinstance(verdict, NoWorkload) and _strict(cluster, queue):
                held.add(queue)
        if not moved:
            break
    return verdicts


def change(cluster: Cluster, configuration: Configuration) -> tuple[str, ...]:
    """Gives a running cluster other objects. Returns whom that evicts: those of what is held and drained, and those of
    what is held that wait for an admission check, which lose what they reserved."""

    def leaves(one: Running) -> bool:
        stops = [
            found.stop for found in (configuration.queues.get(one.queue), configuration.locals.get(one.local)) if found
        ]
        return "HoldAndDrain" in stops or (one.waits and "Hold" in stops)

    gone = tuple(name for name, one in cluster.running.items() if leaves(one))
    cluster.reconfigure(configuration)
    for name in gone:
        cluster.finish(name)
    return gone


def _priority(cluster: Cluster, workload: Workload) -> int:
    return cluster.configuration.priorities.get(workload.priority_class, 0)


def _queue(cluster: Cluster, workload: Workload) -> str:
    local = cluster.configuration.locals.get((workload.namespace, workload.queue))
    return local.cluster_queue if local else ""


def _strict(cluster: Cluster, name: str) -> bool:
    queue = cluster.configuration.queues.get(name)
    return queue is not None and queue.strategy == "StrictFIFO"
