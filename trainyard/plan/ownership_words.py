"""What a team owns, may borrow and gets back, in words that need no knowledge of queues."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from trainyard.conventions import Capacity
from trainyard.plan.parts import PoolPlan, QuotaPlan

_BORROWED = (
    "what the owners leave idle, evened out by weight between those who want it; a job on it stops, and is queued "
    "again, when an owner's job wants what is its own"
)
_RETURNED = (
    "at once, whatever runs there, to a job that fits what its team owns of one capacity; no job spans two capacities, "
    "and what a job takes beyond that it waits for"
)


def in_words(
    quotas: Sequence[QuotaPlan], pools: Sequence[PoolPlan], source: str, by_setting: frozenset[str], teams: int
) -> Iterator[tuple[str, str, str]]:
    """Three decisions of a team: key, value and source.

    Args:
        quotas: the team's, of all flavors.
        pools: of the cluster.
        source: where the teams' shares come from.
        by_setting: pools whose owners the stack file names.
        teams: how many teams there are.
    """
    mine = {quota.flavor: quota for quota in quotas}
    owns, borrows, returned, sources = [], [], [], []
    for pool in pools:
        unit, size = ("node", 1) if pool.is_shared_out_in_nodes else ("GPU", pool.node.gpus)
        held = {group.capacity: group.max_nodes * size for group in pool.node_groups}
        own = {
            group.capacity: quota.gpus if (quota := mine[group.name]).nodes is None else quota.nodes
            for group in pool.node_groups
        }
        others = {capacity: count - own[capacity] for capacity, count in held.items()}
        total, owned = sum(held.values()), sum(own.values())
        if owned:
            owns.append(f"{pool.name}: {owned} of {_count(total, unit)} ({_each(own)})")
            whole = [_count(count, f"{capacity} {unit}") for capacity, count in own.items() if count]
            returned.append(f"{pool.name}: {' or '.join(whole)}")
        else:
            few = f", fewer than the {teams} teams" if total < teams else ""
            why = "by the stack file" if pool.name in by_setting else f"its share is under one{few}"
            owns.append(f"{pool.name}: none of {_count(total, unit)} ({why})")
            returned.append(f"{pool.name}: nothing")
        rest = total - owned
        borrows.append(f"{pool.name}: the other {rest} ({_each(others)})" if rest else f"{pool.name}: nothing more")
        if pool.name in by_setting:
            sources.append(f"setting gpuPools.{pool.name}.owners")
    how = (
        "whole nodes where jobs take nodes whole (several GPUs a node and a fabric, or a whole machine), GPUs "
        "elsewhere; largest remainder"
    )
    yield "owns", "; ".join(owns), "; ".join((*sources, source, how))
    yield "may_borrow", "; ".join(borrows), _BORROWED
    yield "gets_back", "; ".join(returned), _RETURNED


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _each(counts: Mapping[Capacity, int]) -> str:
    return ", ".join(f"{count} {capacity}" for capacity, count in counts.items() if count)
