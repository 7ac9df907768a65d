"""How often Prometheus asks and for how long it waits, and the memory and disk that its series take.

Sources: Prometheus documentation, "Querying basics" (an answer takes the newest sample of the last five minutes,
`--query.lookback-delta`), "Configuration" (`scrape_timeout` may not be above `scrape_interval`: it does not load) and
"Storage" (1 to 2 bytes a sample); prometheus-operator, `Prometheus` (a monitor whose times cannot be is left out).
What series take of memory, `trainyard/conventions/series.py` says.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Final

from trainyard.conventions.quantities import GIBIBYTE, MEBIBYTE
from trainyard.conventions.series import SERIES_A_NODE, least_mib
from trainyard.recorded.monitoring import SCRAPED, SECONDS
from trainyard.recorded.node_groups import NODE_GROUP_TYPES, NodeGroup, node_group
from trainyard.recorded.quantities import quantity
from trainyard.recorded.read import UnreadableInput
from trainyard.rehearsal.context import Stack, View, listed
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster

_WHOLE: Final = (
    ("Probe.monitoring.coreos.com", ("interval", "scrapeTimeout")),
    ("ScrapeConfig.monitoring.coreos.com", ("scrapeInterval", "scrapeTimeout")),
)
"""Kinds that say their times once, and what they call them."""
_PARTS: Final = re.compile(r"(\d+)(ms|[smhdwy])")
_LOOKS_BACK_S: Final = 300
_SPEC: Final = "values.prometheus.prometheusSpec"
_INTERVAL_S: Final = 30.0
"""What the chart takes where nothing is said."""
_SIZES: Final = {"B": 1, "KB": 2**10, "MB": 2**20, "GB": 2**30, "TB": 2**40, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30,
                 "TIB": 2**40}  # fmt: skip


def check(stack: Stack, cluster: Cluster) -> None:
    """Every monitor, and what the chart of Prometheus is told of its times, its memory and its disk."""
    spec = next((one for one in cluster.releases if (one.text("chart") or "").endswith("kube-prometheus-stack")), None)
    interval = _said(spec, f"{_SPEC}.scrapeInterval", _INTERVAL_S)
    back = _said(spec, f"{_SPEC}.query.lookbackDelta", _LOOKS_BACK_S)
    others = bool(cluster.of("Prometheus.monitoring.coreos.com"))  # which have times of their own
    for view, path, names in _scraped(cluster):
        _times(view, path, None if others else interval, None if others else back, names)
    _recorded(cluster, back, _said(spec, f"{_SPEC}.evaluationInterval", _INTERVAL_S))
    if spec is not None and interval is not None:
        _times(spec, _SPEC, interval, back, ("scrapeInterval", "scrapeTimeout"))
        _holds(stack, spec, interval)


def _said(release: View | None, path: str, usual: float) -> float | None:
    """What the chart is told, or takes where it is told nothing; None where that is not known, or no chart is there."""
    if release is None:
        return None
    return usual if release.lacks(path) else _seconds(release.text(path))


def _scraped(cluster: Cluster) -> Iterator[tuple[View, str, tuple[str, str]]]:
    for kind, endpoints in SCRAPED:
        for view in cluster.of(kind):
            yield from ((view, path, ("interval", "scrapeTimeout")) for path, _ in view.items(endpoints))
    for kind, names in _WHOLE:
        yield from ((view, "spec", names) for view in cluster.of(kind))


def _times(
    view: View,
    path: str,
    interval: float | None,
    back: float | None,
    names: tuple[str, str],
) -> None:
    every, waits = (_seconds(view.text(f"{path}.{name}")) for name in names)
    asked = every or interval
    if waits is not None and asked is not None and waits > asked:
        view.error(
            "programs-scrape", f"{path}.{names[1]}",
            f"is {waits:g} s, and it is asked every {asked:g} s: the operator leaves it out, and no "
            "figure comes", allowed=f"{asked:g} s or less",
        )  # fmt: skip
    if every is not None and back is not None and every > back:
        view.warning(
            "programs-scrape", f"{path}.{names[0]}",
            f"is {every:g} s, and a sample counts for {back:g} s: between two of them there is no figure, and alerts "
            "begin anew each time", allowed=f"less than half of {back:g} s",
        )  # fmt: skip


def _recorded(cluster: Cluster, back: float | None, usual: float | None) -> None:
    """Figures that are recorded more seldom than a sample counts, and that others ask for as they are."""
    rules = [
        (view, f"{path}.interval", _seconds(str(group.get("interval") or "")) or usual, rule)
        for view in cluster.of("PrometheusRule.monitoring.coreos.com")
        for path, group in view.items("spec.groups")
        for rule in listed(group.get("rules"))
        if isinstance(rule, Mapping)
    ]
    told: set[tuple[str, str]] = set()
    for view, path, every, rule in rules:
        name = rule.get("record")
        if back is None or every is None or every <= back or not isinstance(name, str):
            continue
        own = view.resource.urn, path
        if own in told:
            continue
        # What is in braces is taken whole (`?+`): with part of it, a range behind it would not be seen.
        asked = re.compile(rf"(?<![\w:]){re.escape(name)}(?![\w:])(?:\{{[^}}]*\}})?+(?!\s*\[)")
        others = [
            other for of, at, _, other in rules if (of.resource.urn, at) != own and asked.search(str(other.get("expr")))
        ]
        if others:
            told.add(own)
            view.error(
                "programs-scrape", path,
                f"{name} is recorded every {every:g} s, and a sample counts for {back:g} s: "
                f"{others[0].get('alert') or others[0].get('record')} finds none most of the time",
                allowed=f"{back:g} s or less",
            )  # fmt: skip


def _holds(stack: Stack, release: View, interval: float) -> None:
    """What the series of the stack's nodes take at least, when all are there; that few stacks ever have them all, such
    as spot nodes beside others, makes it a warning."""
    try:
        groups = _groups(stack)
    except UnreadableInput:
        return  # how many nodes there are is not known yet; the room's other checks go on
    nodes = sum(group.max_nodes for group in groups)
    series = nodes * SERIES_A_NODE
    given = release.value(f"{_SPEC}.resources.limits.memory")
    limit = quantity(given) if isinstance(given, (str, int, float)) else None
    least = least_mib(nodes) * MEBIBYTE
    if limit is not None and limit < least:
        release.warning(
            "programs-prometheus-memory", f"{_SPEC}.resources.limits.memory",
            f"is {given}, and with every node group at its largest {nodes} nodes have {series:,} series and more, "
            f"which take {least / MEBIBYTE:.0f} MiB: Prometheus would be killed then, and read its log again each time",
            allowed=f"{math.ceil(2 * least / MEBIBYTE)}Mi or more, or as much for the nodes that there will be at once",
        )  # fmt: skip
    kept = _seconds(release.text(f"{_SPEC}.retention"))
    storage = f"{_SPEC}.storageSpec.volumeClaimTemplate.spec.resources.requests.storage"
    disk = quantity(release.text(storage) or "")
    size = _bytes(release.text(f"{_SPEC}.retentionSize"))
    smallest = sum(group.min_nodes for group in groups) * SERIES_A_NODE
    takes = (kept or 0) / interval * smallest
    if disk is not None and disk < takes:
        release.warning(
            "programs-prometheus-disk", storage,
            f"is {release.text(storage)}, and {smallest:,} series of {(kept or 0) / 86400:g} days take "
            f"{takes / GIBIBYTE:.0f} GiB: " + ("the oldest are not kept so long" if size else "the disk fills up"),
            allowed=f"{1.5 * takes / GIBIBYTE:.0f}Gi or more, or a shorter retention",
        )  # fmt: skip


def _groups(stack: Stack) -> list[NodeGroup]:
    found = stack.resources.of(*NODE_GROUP_TYPES)
    return [node_group(one, stack.resources) for one in found]


def _seconds(text: str | None) -> float | None:
    parts = _PARTS.findall(text or "")
    if not parts or "".join(number + unit for number, unit in parts) != text:
        return None
    return sum(int(number) * SECONDS[unit] for number, unit in parts)


def _bytes(text: str | None) -> float | None:
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?I?B)", (text or "").upper())
    return float(found[1]) * _SIZES[found[2]] if found else None
