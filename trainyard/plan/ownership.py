"""Who owns which nodes of a pool that jobs take whole, and who owns how many GPUs of any other.

A queue gives a team back what it lent, at once and whatever the borrower's priority, but only to a job that fits what
the team owns of one capacity (Kueue 0.19.2, 34 scenarios on a live cluster, 2026-11-22). A part of a node gives no
whole-node job anything back. So where jobs take nodes whole, each node is wholly one team's.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction


def largest_remainder(total: int, weights: Sequence[Fraction]) -> list[int]:
    """Whole parts of `total` in proportion to the weights, which add up to `total` exactly.

    Each part is its exact share rounded down or up; who comes first in the list wins a tie. Weights are positive.
    """
    whole = sum(weights, Fraction(0))
    exact = [total * weight / whole for weight in weights]
    parts = [math.floor(share) for share in exact]
    by_remainder = sorted(range(len(weights)), key=lambda i: (parts[i] - exact[i], i))
    for i in by_remainder[: total - sum(parts)]:
        parts[i] += 1
    return parts


def node_totals(nodes: int, weights: Sequence[Fraction], given: Sequence[int | None]) -> list[int]:
    """How many of a pool's nodes each team owns: as many as it was given, and the rest by the others' weights.

    `given` has None for a team that nothing is said of; together they are at most `nodes`, and exactly as many where
    something is said of every team.
    """
    rest = nodes - sum(count for count in given if count is not None)
    open_ = [index for index, count in enumerate(given) if count is None]
    totals = [count or 0 for count in given]
    if open_:
        for index, part in zip(open_, largest_remainder(rest, [weights[i] for i in open_]), strict=True):
            totals[index] = part
    return totals


def hand_out(capacities: Sequence[int], totals: Sequence[int]) -> list[list[int]]:
    """Whose the nodes of each capacity are: a row a capacity, in it the nodes of each team.

    In the order of the capacities (reserved first), each team's nodes are spread evenly over the whole: of `n` nodes
    the first stands at 1/2n, the next at 3/2n, and so on; who comes first in the list wins a tie. So every team gets
    some of what is safe and some of what is cheap, as far as its nodes go. `capacities` and `totals` have the same sum.
    """
    places = [(Fraction(2 * place + 1, 2 * total), team) for team, total in enumerate(totals) for place in range(total)]
    owners = iter([team for _, team in sorted(places)])
    rows = []
    for count in capacities:
        row = [0] * len(totals)
        for _ in range(count):
            row[next(owners)] += 1
        rows.append(row)
    return rows
