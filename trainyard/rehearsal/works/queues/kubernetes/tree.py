"""Quotas and use in the tree of cohorts: what a queue has, may borrow and has lent.

A node keeps for itself what its lending limit holds back; all else is its parent's to give, to it first of all like to
its brothers. Source: pkg/cache/scheduler/resource_node.go and fair_sharing.go of Kueue 0.19.2 (read 2026-11-22).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from trainyard.rehearsal.works.queues.kubernetes.model import Amounts, Configuration, FlavorResource, Quota


@dataclass(slots=True, eq=False)
class TreeNode:
    """A queue or a cohort."""

    name: str
    is_queue: bool
    quotas: Mapping[FlavorResource, Quota]
    weight: float
    parent: TreeNode | None = None
    children: list[TreeNode] = field(default_factory=list)
    subtree: Amounts = field(default_factory=dict)
    usage: Amounts = field(default_factory=dict)

    def path(self) -> Iterator[TreeNode]:
        """Its parent, its parent's parent, up to the top."""
        node = self.parent
        while node is not None:
            yield node
            node = node.parent

    @property
    def top(self) -> TreeNode:
        """The top of its tree."""
        *_, last = (self, *self.path())
        return last

    def queues(self) -> Iterator[TreeNode]:
        """Every queue below it."""
        for child in self.children:
            if child.is_queue:
                yield child
            else:
                yield from child.queues()

    def owns(self, key: FlavorResource) -> float:
        """What it and all below it have, as far as it is lent upwards or is its own."""
        return self.subtree.get(key, 0.0)

    def used(self, key: FlavorResource) -> float:
        """What is used of it."""
        return self.usage.get(key, 0.0)

    def kept(self, key: FlavorResource) -> float:
        """What its lending limit keeps from everybody else."""
        quota = self.quotas.get(key)
        if quota is None or quota.lending_limit is None:
            return 0.0
        return max(0.0, self.owns(key) - quota.lending_limit)

    def kept_free(self, key: FlavorResource) -> float:
        """What is left of what it keeps."""
        return max(0.0, self.kept(key) - self.used(key))

    def available(self, key: FlavorResource) -> float:
        """What it may still take now; below zero where quota was taken away under running jobs."""
        if self.parent is None:
            return self.owns(key) - self.used(key)
        above = self.parent.available(key)
        limit = self._borrowing_limit(key)
        if limit is not None:
            lent = self.owns(key) - self.kept(key)
            taken = max(0.0, self.used(key) - self.kept(key))
            above = min(lent - taken + limit, above)
        return self.kept_free(key) + above

    def most(self, key: FlavorResource) -> float:
        """What it may take if nobody else takes anything."""
        if self.parent is None:
            return self.owns(key)
        found = self.kept(key) + self.parent.most(key)
        limit = self._borrowing_limit(key)
        return found if limit is None else min(self.owns(key) + limit, found)

    def borrows(self, key: FlavorResource, more: float = 0.0) -> bool:
        """Whether it uses, with so much more, what is not its own."""
        return self.used(key) + more > self.owns(key)

    def within_nominal(self, keys: Iterable[FlavorResource]) -> bool:
        """Whether it uses no more of any of these than is its own."""
        return not any(self.borrows(key) for key in keys)

    def add(self, key: FlavorResource, amount: float) -> None:
        """Takes an amount, from the parent what it does not keep itself."""
        free = self.kept_free(key)
        self.usage[key] = self.used(key) + amount
        if self.parent is not None and amount > free:
            self.parent.add(key, amount - free)

    def remove(self, key: FlavorResource, amount: float) -> None:
        """Gives an amount back, to the parent first what is the parent's."""
        of_parent = self.used(key) - self.kept(key)
        self.usage[key] = self.used(key) - amount
        if of_parent > 0 and self.parent is not None:
            self.parent.remove(key, min(amount, of_parent))

    def lowest_that_fits(self, key: FlavorResource, amount: float) -> tuple[int, bool]:
        """How far above it the quota for an amount is, 0 for its own; and whether something is above that still."""
        if not self.borrows(key, amount) or self.parent is None:
            return 0, self.parent is not None
        rest = amount - self.kept_free(key)
        for node in self.path():
            if not node.borrows(key, rest):
                return node.height, node.parent is not None
            rest -= node.kept_free(key)
        return self.top.height, False

    def fits_quota(self, amounts: Amounts) -> tuple[bool, Amounts]:
        """Whether amounts fit what it owns, and what its parent is asked for if not."""
        fits = all(self.owns(key) >= self.used(key) + amount for key, amount in amounts.items())
        return fits, {key: max(0.0, amount - self.kept_free(key)) for key, amount in amounts.items()}

    @property
    def height(self) -> int:
        """Steps to the farthest leaf below it."""
        deepest = min(len(self.children), 1)
        return max([deepest, *(child.height + 1 for child in self.children if not child.is_queue)])

    def share(self) -> tuple[bool, float]:
        """How much more than its own it uses, to compare with others: infinite for weight 0 first, then the ratio.

        The ratio is of what it borrows, over all flavors, to what its parent could give of the resource, in
        thousandths, by its weight; of several resources the largest.
        """
        if self.parent is None:
            return False, 0.0
        borrowed: dict[str, float] = {}
        for key, own in self.subtree.items():
            if (over := self.used(key) - own) > 0:
                borrowed[key[1]] = borrowed.get(key[1], 0.0) + over
        if not borrowed:
            return False, 0.0
        lendable: dict[str, float] = {}
        for key in self.top.subtree:
            if key[1] in borrowed:
                lendable[key[1]] = lendable.get(key[1], 0.0) + self.parent.most(key)
        ratio = max(
            (amount * 1000 / lendable[name] for name, amount in borrowed.items() if lendable.get(name, 0.0) > 0),
            default=0.0,
        )
        if self.weight == 0:
            return ratio > 0, ratio
        return False, ratio / self.weight

    @property
    def borrows_anything(self) -> bool:
        """Whether it uses more than its own of anything."""
        return self.parent is not None and any(self.borrows(key) for key in self.subtree)

    def _borrowing_limit(self, key: FlavorResource) -> float | None:
        quota = self.quotas.get(key)
        return None if quota is None else quota.borrowing_limit


def grow(configuration: Configuration) -> dict[str, TreeNode]:
    """The queues' nodes by name, each in the tree of its cohorts. A circle of cohorts is a tree that gives nothing."""
    cohorts: dict[str, TreeNode] = {}

    def cohort(name: str) -> TreeNode:
        if name not in cohorts:
            given = configuration.cohorts.get(name)
            node = TreeNode(name, False, given.quotas if given else {}, given.weight if given else 1.0)
            cohorts[name] = node
        return cohorts[name]

    queues = {}
    for name, queue in configuration.queues.items():
        node = TreeNode(name, True, queue.quotas, queue.weight)
        queues[name] = node
        if queue.cohort is not None:
            _hang(node, cohort(queue.cohort))
    circular = in_circles(configuration)
    waiting = list(cohorts)
    while waiting:
        name = waiting.pop()
        given = configuration.cohorts.get(name)
        if given is None or given.parent is None or name in circular:
            continue
        if given.parent not in cohorts:
            waiting.append(given.parent)
        _hang(cohorts[name], cohort(given.parent))
    for node in [*cohorts.values(), *queues.values()]:
        if node.parent is None:
            _sum(node)
    return queues


def in_circles(configuration: Configuration) -> frozenset[str]:
    """The cohorts that are their own ancestors, or are below such."""
    found, safe = set[str](), set[str]()
    for name in configuration.cohorts:
        way: dict[str, None] = {}
        at: str | None = name
        while at is not None and at not in way and at not in safe and at not in found:
            way[at] = None
            given = configuration.cohorts.get(at)
            at = given.parent if given else None
        (found if at is not None and (at in way or at in found) else safe).update(way)
    return frozenset(found)


def _hang(node: TreeNode, parent: TreeNode) -> None:
    node.parent = parent
    parent.children.append(node)


def _sum(node: TreeNode) -> None:
    node.subtree = {key: quota.nominal for key, quota in node.quotas.items()}
    for child in node.children:
        _sum(child)
        for key, amount in child.subtree.items():
            node.subtree[key] = node.subtree.get(key, 0.0) + amount - child.kept(key)
