"""Who gives way to a workload, by priority and by who owns the quota.

Candidates are taken in order until the workload fits, then given back from the last on while it still does. Source:
pkg/scheduler/preemption of Kueue 0.19.2, the classical algorithm (read 2026-11-22).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from trainyard.rehearsal.works.queues.kubernetes.model import Amounts, ClusterQueue, Eviction, FlavorResource
from trainyard.rehearsal.works.queues.kubernetes.tree import TreeNode

IN_QUEUE: Final = "InClusterQueue"
RECLAMATION: Final = "InCohortReclamation"
WHILE_BORROWING: Final = "InCohortReclaimWhileBorrowing"
FAIR: Final = "InCohortFairSharing"


@dataclass(frozen=True, slots=True)
class Running:
    """A workload that has its quota."""

    name: str
    queue: str
    priority: int
    admitted: int  # the later, the larger
    made: int  # likewise
    usage: Amounts
    local: tuple[str, str] = ("", "")  # its LocalQueue's namespace and name
    waits: bool = False  # for an admission check; it does not run yet


@dataclass(frozen=True, slots=True)
class Case:
    """A workload that wants room, and all that runs."""

    queue: ClusterQueue
    nodes: dict[str, TreeNode]
    running: tuple[Running, ...]  # in queues that are active: others are out of the scheduler's sight
    priority: int
    made: int
    usage: Amounts
    contested: frozenset[FlavorResource]
    has_room: Callable[[tuple[Running, ...]], bool]  # on nodes, once these are gone; where topology decides

    @property
    def node(self) -> TreeNode:
        """The queue's own node."""
        return self.nodes[self.queue.name]

    def fits(self, gone: list[Running], *, borrowing: bool = True) -> bool:
        """Whether the workload has quota now."""
        for key, amount in self.usage.items():
            if (not borrowing and self.node.borrows(key, amount)) or amount > self.node.available(key):
                return False
        return self.has_room(tuple(gone))

    def gives_way(self, other: Running, policy: str) -> bool:
        """Whether a policy lets this workload evict another, which uses what is contested."""
        if not any(key in self.contested for key in other.usage):
            return False
        if policy == "LowerPriority":
            return other.priority < self.priority
        if policy == "LowerOrNewerEqualPriority":
            return other.priority < self.priority or (other.priority == self.priority and self.made < other.made)
        return policy == "Any"

    def order(self, other: Running) -> tuple[bool, int, int, str]:
        """Others' before one's own, low priority first, the newest first."""
        return other.queue == self.queue.name, other.priority, -other.admitted, other.name

    def take(self, other: Running) -> None:
        """Frees what a workload uses."""
        for key, amount in other.usage.items():
            self.nodes[other.queue].remove(key, amount)

    def give_back(self, other: Running) -> None:
        """Has it use it again."""
        for key, amount in other.usage.items():
            self.nodes[other.queue].add(key, amount)

    def spare(self, taken: list[tuple[Running, str]], *, borrowing: bool) -> list[tuple[Running, str]]:
        """Those without whose eviction the workload would not fit, of those that were taken; the last one is."""
        left = list(taken)
        for index in range(len(left) - 2, -1, -1):
            other = left[index]
            self.give_back(other[0])
            if self.fits([one for one, _ in left if one is not other[0]], borrowing=borrowing):
                left[index] = left[-1]
                left.pop()
            else:
                self.take(other[0])
        return left


def evictions(taken: list[tuple[Running, str]]) -> tuple[Eviction, ...]:
    """As a verdict names them."""
    return tuple(Eviction(other.name, reason) for other, reason in taken)


@dataclass(frozen=True, slots=True)
class _Candidate:
    running: Running
    reason: str
    ancestor: TreeNode | None  # the lowest cohort that both are in; None in the queue itself
    only_without_borrowing: bool = False


def classical(case: Case) -> list[tuple[Running, str]]:
    """Who gives way, with the reason; nobody where that would not be enough."""
    own = [
        _Candidate(other, IN_QUEUE, None)
        for other in case.running
        if other.queue == case.queue.name and case.gives_way(other, case.queue.preemption.within_queue)
    ]
    above, beside = _in_cohort(case)
    candidates = [
        candidate
        for candidates in (above, beside, own)
        for candidate in sorted(candidates, key=lambda one: case.order(one.running))
    ]
    forbidden = case.queue.preemption.borrow == "Never"
    under = all(case.node.used(key) < case.node.owns(key) for key in case.contested)
    if not (above or beside) or (forbidden and not under):
        attempts = [True]
    elif forbidden and not above:
        attempts = [False, True]
    else:
        attempts = [True, False]
    for borrowing in attempts:
        taken: list[tuple[Running, str]] = []
        for candidate in candidates:
            if not _still(case, candidate, borrowing=borrowing):
                continue
            case.take(candidate.running)
            taken.append((candidate.running, candidate.reason))
            if case.fits([one for one, _ in taken], borrowing=borrowing):
                taken = case.spare(taken, borrowing=borrowing)
                for other, _ in taken:
                    case.give_back(other)
                return taken
        for other, _ in taken:
            case.give_back(other)
    return []


def _still(case: Case, candidate: _Candidate, *, borrowing: bool) -> bool:
    if candidate.ancestor is None:
        return True
    if borrowing and candidate.only_without_borrowing:
        return False
    node = case.nodes[candidate.running.queue]
    if node.within_nominal(case.contested):
        return False
    for above in node.path():
        if above is candidate.ancestor:
            break
        if above.within_nominal(case.contested):
            return False
    return True


def _in_cohort(case: Case) -> tuple[list[_Candidate], list[_Candidate]]:
    """Those over whom the workload stands, because its own part of the tree has the quota, and the others."""
    above: list[_Candidate] = []
    beside: list[_Candidate] = []
    rules = case.queue.preemption
    if case.node.parent is None or rules.reclaim == "Never":
        return above, beside
    advantage, rest = case.node.fits_quota(case.usage)
    before: TreeNode | None = None
    for cohort in case.node.path():
        for queue in _borrowers(case, cohort, before):
            for other in case.running:
                if other.queue != queue.name or not case.gives_way(other, rules.reclaim):
                    continue
                if advantage:
                    above.append(_Candidate(other, RECLAMATION, cohort))
                elif rules.borrow == "Never" or _above_threshold(case, other):
                    beside.append(_Candidate(other, RECLAMATION, cohort, only_without_borrowing=True))
                else:
                    beside.append(_Candidate(other, WHILE_BORROWING, cohort))
        fits, rest = cohort.fits_quota(rest)
        advantage = advantage or fits
        before = cohort
    return above, beside


def _above_threshold(case: Case, other: Running) -> bool:
    threshold = case.queue.preemption.borrow_threshold
    return other.priority >= case.priority or (threshold is not None and other.priority > threshold)


def _borrowers(case: Case, cohort: TreeNode, skipped: TreeNode | None) -> Iterator[TreeNode]:
    for child in cohort.children:
        if child is skipped or child is case.node or child.within_nominal(case.contested):
            continue
        if child.is_queue:
            yield child
        else:
            yield from _borrowers(case, child, skipped)
