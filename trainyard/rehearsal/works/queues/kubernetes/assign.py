"""Which flavor each resource of a workload gets, as quotas stand: it fits, it would with preemption, or it does not.

Flavors are tried in the queue's order. All pods of a set get one flavor for all resources of a group, so a job never
spans two. Source: pkg/scheduler/flavorassigner of Kueue 0.19.2 (read 2026-11-22).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from trainyard.recorded.tolerations import tolerates
from trainyard.rehearsal.works.queues.kubernetes.model import (
    Amounts,
    ClusterQueue,
    Configuration,
    Flavor,
    FlavorResource,
    Fungibility,
    PodSet,
    Preemption,
)
from trainyard.rehearsal.works.queues.kubernetes.tree import TreeNode

NO_FIT: Final = 0
NO_CANDIDATES: Final = 1
PREEMPT: Final = 2
RECLAIM: Final = 3
FIT: Final = 4

Mode = tuple[int, int]
"""How it fits, and from how far up the quota is borrowed."""

Oracle = Callable[[FlavorResource, float], Mode]
"""Whether evictions would make room for an amount: `NO_CANDIDATES`, `PREEMPT` or `RECLAIM`, and the borrowing then."""


@dataclass(slots=True)
class Assignment:
    """What came of it: flavors by pod set and resource, with the mode of each, what they use, and why not."""

    flavors: dict[str, dict[str, str]] = field(default_factory=dict)
    usage: Amounts = field(default_factory=dict)
    contested: set[FlavorResource] = field(default_factory=set)  # what only preemption gives
    reasons: list[str] = field(default_factory=list)
    mode: int = FIT

    @property
    def message(self) -> str:
        """The reasons as a workload shows them."""
        return ", ".join(dict.fromkeys(self.reasons))


@dataclass(frozen=True, slots=True)
class Assigner:
    """Assigns flavors in one queue."""

    configuration: Configuration
    queue: ClusterQueue
    node: TreeNode
    oracle: Oracle

    def assign(self, pod_sets: tuple[PodSet, ...], counts: Mapping[str, int]) -> Assignment:
        """Flavors for every pod set with so many pods each."""
        found = Assignment()
        for pod_set in pod_sets:
            count = counts[pod_set.name]
            requests = {name: amount * count for name, amount in self.counted(pod_set).items()}
            if self.queue.group_of("pods") is not None:
                requests["pods"] = float(count)
            given: dict[str, str] = {}
            for resource, amount in requests.items():
                group = self.queue.group_of(resource)
                if group is None and (amount == 0 or self.configuration.manager.ignores_undeclared):
                    continue
                if resource in given:
                    continue
                if group is None:
                    found.reasons.append(f"resource {resource} unavailable in ClusterQueue")
                    found.mode = NO_FIT
                    return found
                of_group = {name: requests[name] for name in requests if name in group.covered}
                chosen, mode, reasons, contested = self._flavor(group.flavors, pod_set, of_group, found.usage)
                found.reasons += reasons if mode != FIT else []
                found.mode = min(found.mode, mode)
                if chosen is None:
                    found.mode = NO_FIT
                    return found
                given |= dict.fromkeys(of_group, chosen)
                found.contested |= contested
            found.flavors[pod_set.name] = given
            for resource, flavor in given.items():
                key = (flavor, resource)
                found.usage[key] = found.usage.get(key, 0.0) + requests[resource]
        return found

    def counted(self, pod_set: PodSet) -> Mapping[str, float]:
        """What a pod asks for, without what the manager leaves out."""
        excluded = self.configuration.manager.excluded
        return {name: amount for name, amount in pod_set.requests.items() if not name.startswith(excluded)}

    def _flavor(
        self, flavors: tuple[str, ...], pod_set: PodSet, requests: Mapping[str, float], assumed: Amounts
    ) -> tuple[str | None, int, list[str], set[FlavorResource]]:
        best: str | None = None
        best_mode: Mode = (NO_FIT, 10**9)
        best_contested: set[FlavorResource] = set()
        reasons: list[str] = []
        rules = self.queue.fungibility
        for name in flavors:
            flavor = self.configuration.flavors.get(name)
            unfit = f"flavor {name} not found" if flavor is None else self._unfit(flavor, pod_set)
            if unfit:
                reasons.append(unfit)
                continue
            worst: Mode = (FIT, 0)
            contested = set()
            for resource, amount in requests.items():
                key = (name, resource)
                mode = self._fits(key, assumed.get(key, 0.0), amount, reasons)
                if mode[0] != FIT:
                    contested.add(key)
                if _preferred(worst, mode, rules):
                    worst = mode
                if worst[0] == NO_FIT:
                    break
            if not _looks_further(worst, rules):
                best, best_mode, best_contested = name, worst, contested
                break
            if _preferred(worst, best_mode, rules):
                best, best_mode, best_contested = name, worst, contested
        return best, best_mode[0], reasons, best_contested

    def _fits(self, key: FlavorResource, assumed: float, asked: float, reasons: list[str]) -> Mode:
        flavor, resource = key
        available, most, amount = self.node.available(key), self.node.most(key), assumed + asked
        if amount > most:
            reasons.append(
                f"insufficient quota for {resource} in flavor {flavor}, previously considered podsets requests "
                f"({assumed:g}) + current podset request ({asked:g}) > maximum capacity ({most:g})"
            )
            return NO_FIT, 0
        borrow, may_reclaim = self.node.lowest_that_fits(key, amount)
        if amount <= available:
            return FIT, borrow
        reasons.append(
            f"insufficient unused quota for {resource} in flavor {flavor}, {amount - available:g} more needed"
        )
        quota = self.queue.quotas.get(key)
        owned = quota.nominal if quota else 0.0
        fair = bool(self.configuration.manager.strategies)
        if owned >= amount or may_reclaim or may_preempt_while_borrowing(self.queue.preemption, fair=fair):
            return self.oracle(key, amount)
        return NO_FIT, borrow

    def _unfit(self, flavor: Flavor, pod_set: PodSet) -> str:
        aware = [name for name in self.queue.flavors if self._topology(name) is not None]
        implied = len(aware) == len(self.queue.flavors) and pod_set.topology is None
        if pod_set.topology is not None and not implied:
            if flavor.topology is None:
                return f'Flavor "{flavor.name}" does not support TopologyAwareScheduling'
            level = pod_set.topology[1]
            if level and level not in self.configuration.topologies.get(flavor.topology, (level,)):
                return f'Flavor "{flavor.name}" does not contain the requested level'
        elif flavor.topology is not None and not implied:
            return f'Flavor "{flavor.name}" supports only TopologyAwareScheduling'
        for taint in flavor.node_taints:
            if taint.get("effect") in ("NoSchedule", "NoExecute") and not any(
                tolerates(toleration, taint) for toleration in (*pod_set.tolerations, *flavor.tolerations)
            ):
                told = f"{taint.get('key', '')} {taint.get('value', '')} {taint.get('effect')} <nil>"
                return f"untolerated taint {{{told}}} in flavor {flavor.name}"
        return "" if allows(flavor.node_labels, pod_set) else f"flavor {flavor.name} doesn't match node affinity"

    def _topology(self, flavor: str) -> str | None:
        found = self.configuration.flavors.get(flavor)
        return found.topology if found else None


def may_preempt_while_borrowing(rules: Preemption, *, fair: bool) -> bool:
    """Whether a job beyond its queue's own quota may evict anybody."""
    return rules.borrow != "Never" or (fair and rules.reclaim != "Never")


def allows(labels: Mapping[str, str], pod_set: PodSet) -> bool:
    """Whether a pod's node selector and required affinity allow a flavor: only keys that it has labels of count."""
    if any(key in labels and labels[key] != value for key, value in pod_set.selector.items()):
        return False
    terms = [[one for one in term if one.get("key") in labels] for term in pod_set.terms]
    return not terms or any(all(_meets(one, labels) for one in term) for term in terms)


def _meets(expression: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    value, wanted = labels[str(expression.get("key"))], [str(one) for one in expression.get("values") or ()]
    match expression.get("operator"):
        case "In":
            return value in wanted
        case "NotIn":
            return value not in wanted
        case "Exists":
            return True
        case "DoesNotExist":
            return False
        case "Gt" | "Lt" as operator:
            if not (value.lstrip("-").isdigit() and wanted and wanted[0].lstrip("-").isdigit()):
                return False
            return int(value) > int(wanted[0]) if operator == "Gt" else int(value) < int(wanted[0])
    return True  # no operator of Kubernetes': the schema says so


def _looks_further(mode: Mode, rules: Fungibility) -> bool:
    if mode[0] in (NO_FIT, NO_CANDIDATES):
        return True
    if mode[0] in (PREEMPT, RECLAIM) and rules.when_can_preempt == "TryNextFlavor":
        return True
    return mode[1] > 0 and rules.when_can_borrow == "TryNextFlavor"


def _preferred(one: Mode, other: Mode, rules: Fungibility) -> bool:
    """Whether one mode is better than another; of two that only wait, less borrowing is."""
    if one[0] == NO_FIT or other[0] == NO_FIT:
        return one[0] != NO_FIT
    if (one[0] == NO_CANDIDATES) != (other[0] == NO_CANDIDATES):
        return other[0] == NO_CANDIDATES
    if rules.preference == "PreemptionOverBorrowing":
        return (-one[1], one[0]) > (-other[1], other[0])
    return (one[0], -one[1]) > (other[0], -other[1])
