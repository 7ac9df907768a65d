"""Every node of a pool, accepted or sent back: which jobs a sweep runs, and which node or link its results accuse.

One-node jobs come first: who fails there is bad alone. The others are paired, and paired again the other way round;
pairs that fail then share a node, or they are one link. Nothing here starts a job: nodes and results in, names out.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

Nodes = tuple[str, ...]
"""The nodes of one job, by name: one or two."""

OUTLIER: Final = 0.9
"""The share of the pool's median below which a node or a pair counts as slow, as in the burn-in's gate."""


@dataclass(frozen=True, slots=True)
class Ran:
    """What one job of the sweep found. `passed` None: it left no verdict, because it had no nodes or was reclaimed."""

    nodes: Nodes
    passed: bool | None
    reason: str = ""
    figures: Mapping[str, float] = field(default_factory=dict)  # higher is better


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a sweep accuses, and why; `unknown` are nodes and pairs of which it can say nothing."""

    bad_nodes: Mapping[str, str]
    bad_links: Mapping[Nodes, str]
    unknown: tuple[Nodes, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether every node and link was seen, and nothing was wrong."""
        return not (self.bad_nodes or self.bad_links or self.unknown)


def rounds(nodes: Sequence[str]) -> tuple[tuple[Nodes, ...], ...]:
    """Two rounds of pairs in which no two nodes meet twice and, from three on, every node is in both.

    Of an odd number the last node is paired with one that is busy: that pair is a round of its own.
    """
    names = list(dict.fromkeys(nodes))
    if len(names) < 2:
        return ()
    ring = [(names[at], names[(at + 1) % len(names)]) for at in range(len(names))]
    if len(names) == 2:
        return ((ring[0],),)
    found = [tuple(ring[at] for at in range(start, len(names) - len(names) % 2, 2)) for start in (0, 1)]
    if len(names) % 2:
        found.append((ring[-1],))
    return tuple(found)


def isolate(results: Sequence[Ran]) -> Verdict:
    """Which nodes and links the results accuse.

    A node is bad that fails alone, or that fails in every pair with a node that is not itself accused by that; a link
    is bad where both of its nodes pass with others. A node that fails in its only pair shares the doubt with its peer:
    then the pair is named, as a link, and a swap has to tell more.
    """
    slow = _slow(results)
    failed = {run.nodes: run.reason or slow.get(run.nodes, "") for run in results if run.passed is False}
    failed |= {nodes: text for nodes, text in slow.items() if nodes not in failed}
    seen: set[Nodes] = {run.nodes for run in results if run.passed is not None}
    bad = {nodes[0]: text for nodes, text in failed.items() if len(nodes) == 1}
    pairs: set[Nodes] = {nodes for nodes in seen if len(nodes) == 2 and not set(nodes) & bad.keys()}
    wrong = {nodes for nodes in pairs if nodes in failed}
    while wrong:  # the node first that most failed pairs share, and no sound one speaks for
        counts = {
            name: sum(name in nodes for nodes in wrong)
            for nodes in wrong
            for name in nodes
            if not any(name in sound for sound in pairs - wrong)
        }
        name = max(counts, key=lambda each: (counts[each], each), default="")
        if counts.get(name, 0) < 2:
            break
        shared = sorted(nodes for nodes in wrong if name in nodes)
        bad[name] = (
            f"fails with every peer ({', '.join(_other(nodes, name) for nodes in shared)}): " + failed[shared[0]]
        )
        wrong -= set(shared)
        pairs -= set(shared)
    links: dict[Nodes, str] = {nodes: failed[nodes] for nodes in sorted(wrong)}
    unseen = tuple(sorted(run.nodes for run in results if run.passed is None and run.nodes not in seen))
    return Verdict(dict(sorted(bad.items())), links, unseen)


def _other(nodes: Nodes, name: str) -> str:
    return nodes[1] if nodes[0] == name else nodes[0]


def _slow(results: Sequence[Ran]) -> dict[Nodes, str]:
    """Jobs with a figure far below the median of those of their size."""
    found: dict[Nodes, str] = {}
    for run in results:
        for name, value in run.figures.items():
            median = medians(results, len(run.nodes)).get(name, 0.0)
            if value < OUTLIER * median:
                found.setdefault(run.nodes, f"{name} is {value:.4g}, the median of the pool is {median:.4g}")
    return found


def medians(results: Sequence[Ran], size: int) -> dict[str, float]:
    """The pool's median of each figure, of jobs of one size; of three and more, for two do not say who is slow."""
    values: dict[str, list[float]] = {}
    for run in results:
        if len(run.nodes) == size:
            for name, value in run.figures.items():
                values.setdefault(name, []).append(value)
    return {name: statistics.median(each) for name, each in values.items() if len(each) >= 3}


def table(results: Sequence[Ran]) -> str:
    """One line a job: its nodes, its verdict, each figure and its share of the pool's median."""
    lines = []
    for run in sorted(results, key=lambda each: (len(each.nodes), each.nodes)):
        middle = medians(results, len(run.nodes))
        figures = ", ".join(
            f"{name} {value:.4g}" + (f" ({value / middle[name]:.0%} of the median)" if middle.get(name) else "")
            for name, value in run.figures.items()
        )
        word = {True: "pass", False: "fail", None: "no verdict"}[run.passed]
        lines.append(f"{' + '.join(run.nodes)}  {word}  {figures or run.reason}".rstrip())
    return "\n".join(lines)
