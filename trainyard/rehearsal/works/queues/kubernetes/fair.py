"""Who gives way where queues share by weight: who has most beyond its own, as long as that evens things out.

Source: pkg/scheduler/preemption/fairsharing of Kueue 0.19.2 (read 2026-11-22).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from trainyard.rehearsal.works.queues.kubernetes.preempt import FAIR, IN_QUEUE, RECLAMATION, Case, Running
from trainyard.rehearsal.works.queues.kubernetes.tree import TreeNode

FINAL_SHARE: Final = "LessThanOrEqualToFinalShare"
INITIAL_SHARE: Final = "LessThanInitialShare"

Taken = list[tuple[Running, str]]


def fair(case: Case, strategies: tuple[str, ...]) -> Taken:
    """Who gives way, with the reason; nobody where that would not be enough."""
    candidates = sorted(_candidates(case), key=case.order)
    if not candidates:
        return []
    mine = Running("", case.queue.name, case.priority, 0, 0, case.usage)
    case.give_back(mine)  # shares are compared as they are with the workload
    taken, left, enough = _first(case, mine, candidates, strategies[0])
    if not enough and len(strategies) > 1:
        enough = _second(case, mine, left, taken)
    case.take(mine)
    if enough:
        taken = case.spare(taken, borrowing=True)
    for other, _ in taken:
        case.give_back(other)
    return taken if enough else []


def _candidates(case: Case) -> Iterator[Running]:
    rules = case.queue.preemption
    tree = {node.name for node in case.node.top.queues()} if case.node.parent is not None else set()
    for other in case.running:
        if other.queue == case.queue.name:
            if case.gives_way(other, rules.within_queue):
                yield other
        elif (
            other.queue in tree
            and any(case.nodes[other.queue].borrows(key) for key in case.contested)
            and case.gives_way(other, rules.reclaim)
        ):
            yield other


def _first(case: Case, mine: Running, candidates: list[Running], strategy: str) -> tuple[Taken, list[Running], bool]:
    taken: Taken = []
    left: list[Running] = []
    waiting = _by_queue(candidates)
    order = _Order(case, waiting)
    own = all(case.node.used(key) <= case.node.owns(key) for key in case.contested)
    while (queue := order.following()) is not None:
        if queue is case.node or own:
            reason = IN_QUEUE if queue is case.node else RECLAMATION
            if _evict(case, mine, taken, waiting[queue.name].pop(0), reason):
                return taken, left, True
            continue
        mine_at, theirs_at = _apart(case.node, queue)
        while waiting[queue.name]:
            other = waiting[queue.name].pop(0)
            if strategy == INITIAL_SHARE:
                passed = mine_at.share() < theirs_at.share()
            else:
                case.take(other)
                after = theirs_at.share()
                case.give_back(other)
                passed = mine_at.share() <= after
            if not passed:
                left.append(other)
                continue
            if _evict(case, mine, taken, other, FAIR):
                return taken, left, True
            break  # shares have changed: another queue may have the most now
    return taken, left, False


def _second(case: Case, mine: Running, candidates: list[Running], taken: Taken) -> bool:
    waiting = _by_queue(candidates)
    order = _Order(case, waiting)
    while (queue := order.following()) is not None:
        mine_at, theirs_at = _apart(case.node, queue)
        other = waiting[queue.name].pop(0)
        if mine_at.share() < theirs_at.share() and _evict(case, mine, taken, other, FAIR):
            return True
        waiting[queue.name].clear()  # once a queue
    return False


def _evict(case: Case, mine: Running, taken: Taken, other: Running, reason: str) -> bool:
    """Takes one, and says whether the workload fits then."""
    case.take(other)
    taken.append((other, reason))
    case.take(mine)
    fits = case.fits([one for one, _ in taken])
    case.give_back(mine)
    return fits


def _by_queue(candidates: list[Running]) -> dict[str, list[Running]]:
    found: dict[str, list[Running]] = {}
    for other in candidates:
        found.setdefault(other.queue, []).append(other)
    return found


class _Order:
    """From the top of the tree down: always the child that has most beyond its own and still has candidates."""

    def __init__(self, case: Case, waiting: dict[str, list[Running]]) -> None:
        self._case = case
        self._waiting = waiting
        self._ancestors = list(case.node.path())

    def following(self) -> TreeNode | None:
        """The queue whose workload is looked at next."""
        node = self._case.node
        if node.parent is None:
            return node if self._waiting.get(node.name) else None
        return self._below(node.top)

    def _below(self, cohort: TreeNode) -> TreeNode | None:
        queues, cohorts = [], []
        for child in cohort.children:
            if child.is_queue:
                if self._waiting.get(child.name) and (child is self._case.node or child.borrows_anything):
                    queues.append(child)
            elif child.borrows_anything or child in self._ancestors:
                cohorts.append(child)
        queues.sort(key=lambda one: (_descending(one), self._case.order(self._waiting[one.name][0])))
        for child in sorted(cohorts, key=_descending):
            if queues and child.share() < queues[0].share():
                return queues[0]
            found = self._below(child)
            if found is not None:
                return found
        return queues[0] if queues else None


def _descending(node: TreeNode) -> tuple[bool, float]:
    infinite, ratio = node.share()
    return not infinite, -ratio


def _apart(one: TreeNode, other: TreeNode) -> tuple[TreeNode, TreeNode]:
    """The two nodes, each an ancestor or the queue itself, below the lowest cohort that both are in."""
    shared = next(node for node in other.path() if node in list(one.path()))
    return _under(one, shared), _under(other, shared)


def _under(node: TreeNode, ancestor: TreeNode) -> TreeNode:
    for above in node.path():
        if above is ancestor:
            break
        node = above
    return node
