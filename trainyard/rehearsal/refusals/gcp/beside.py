"""Inputs of one resource that may not stand beside each other, or that need each other.

Source: `data/gcp_values.json`, which `generate` writes from the provider's own description (`conflicts`,
`required_with`, `exactly_one_of`); what the provider's code asks of upgrades and versions (magic-modules, 2026-08-21,
`resource_container_node_pool` and `resource_container_cluster`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from trainyard.recorded.types import FILESTORE, GCP_BUCKET, GKE_CLUSTER, GKE_NODE_POOL
from trainyard.rehearsal.context import View, show
from trainyard.rehearsal.refusals.gcp.values import together
from trainyard.rehearsal.refusals.rules import EVERY_TYPE, Rules

_RULE: Final = "gcp-beside"
_ELSEWHERE: Final = frozenset({(FILESTORE, "location"), (GCP_BUCKET, "ipFilter")})
"""Inputs that the provider fills by itself, or whose rule is about another."""


def beside(view: View) -> None:
    """What conflicts, what is missing beside what is given, and of what there is exactly one."""
    if not view.type.startswith("gcp:"):
        return
    told: set[frozenset[str]] = set()
    for path, said in together(view.type).items():
        if (view.type, path) in _ELSEWHERE:
            continue
        given = _is_given(view, path)
        for other in said.get("not_with", ()) if given else ():
            if _is_given(view, other) and frozenset((path, other)) not in told:
                told.add(frozenset((path, other)))
                view.error(_RULE, path, f"beside {other}", allowed="one of both")
        for other in said.get("with", ()) if given else ():
            if view.lacks(other) and not _is_hidden(view, other):
                view.error(_RULE, other, f"is missing beside {path}", allowed=f"a value, or no {path}")
        if "one_of" in said:
            _one_of(view, (path, *said["one_of"]), told)


def _one_of(view: View, paths: tuple[str, ...], told: set[frozenset[str]]) -> None:
    if frozenset(paths) in told:
        return
    told.add(frozenset(paths))
    given = [path for path in paths if _is_given(view, path)]
    if len(given) > 1:
        view.error(_RULE, given[1], f"beside {given[0]}", allowed=f"exactly one of {', '.join(sorted(paths))}")
    above = {path.rpartition(".")[0] for path in paths}
    said = (view.has(path) or view.has(f"{path}Wo") or _is_hidden(view, path) for path in paths)
    if given or len(above) != 1 or any(said):
        return
    (block,) = above
    if not block or isinstance(view.value(block), Mapping):
        where = block or sorted(paths)[0]
        words = "has none of what it takes one of" if block else "is missing"
        view.error(_RULE, where, words, allowed=f"exactly one of {', '.join(sorted(paths))}")


def _is_given(view: View, path: str) -> bool:
    """Whether an input says something: `false`, an empty text or list is how some leave an input out."""
    return view.has(path) and (view.is_unknown(path) or view.value(path) not in (False, "", [], {}))


def _is_hidden(view: View, path: str) -> bool:
    """Whether something above the input is not known yet."""
    parts = path.split(".")
    return any(view.is_unknown(".".join(parts[:length])) for length in range(1, len(parts) + 1))


_BLUE_GREEN: Final = ("standardRolloutPolicy", "autoscaledRolloutPolicy")


def pool(view: View) -> None:
    """How a pool's nodes are exchanged is said in the words of its strategy; its size, once."""
    strategy, base = view.text("upgradeSettings.strategy"), "upgradeSettings"
    if strategy == "BLUE_GREEN":
        for key in ("maxSurge", "maxUnavailable"):
            if view.number(f"{base}.{key}"):
                words = f"{show(view.value(f'{base}.{key}'))} beside strategy BLUE_GREEN"
                view.error("gke-upgrade", f"{base}.{key}", words, allowed="nothing, or strategy SURGE")
    elif not view.is_unknown(f"{base}.strategy") and view.mapping(f"{base}.blueGreenSettings"):
        words = f"beside strategy {strategy or 'SURGE'}"
        view.error("gke-upgrade", f"{base}.blueGreenSettings", words, allowed="strategy BLUE_GREEN")
    both = [key for key in _BLUE_GREEN if view.mapping(f"{base}.blueGreenSettings.{key}")]
    if len(both) > 1:
        path = f"{base}.blueGreenSettings.{both[1]}"
        view.error("gke-upgrade", path, f"beside {both[0]}", allowed="one of both")
    rollout = f"{base}.blueGreenSettings.standardRolloutPolicy"
    if view.number(f"{rollout}.batchNodeCount") and view.number(f"{rollout}.batchPercentage"):
        view.error("gke-upgrade", f"{rollout}.batchPercentage", "beside batchNodeCount", allowed="one of both")
    if view.number("nodeCount") and view.number("initialNodeCount"):
        view.error("gke-counts", "initialNodeCount", "beside nodeCount", allowed="one of both")


def cluster(view: View) -> None:
    """Versions that are one when a cluster is made, and a zone that is said once."""
    _versions(view)
    location = view.text("location")
    zones: list[Any] = view.entries("nodeLocations")
    if location in zones:
        path = f"nodeLocations[{zones.index(location)}]"
        view.error("gke-zone", path, f"{location} is the cluster's own", allowed="its further zones")
    tags = view.has("nodePoolAutoConfig.networkTags")
    if tags and not view.flag("enableAutopilot") and view.flag("clusterAutoscaling.enabled") is False:
        path, allowed = "nodePoolAutoConfig.networkTags", "clusterAutoscaling.enabled, or enableAutopilot"
        view.error("gke-autoscaling", path, "without pools that GKE makes", allowed=allowed)


def _versions(view: View) -> None:
    """Nodes of a version of their own: the provider refuses it when a cluster is made, without what follows a '-'; of a
    cluster that there is, nodes may be older than its control plane and never newer.
    """
    node, control = view.text("nodeVersion"), view.text("minMasterVersion")
    if node is None or control is None:
        return
    first, second = node.partition("-")[0], control.partition("-")[0]
    if first == second or _prefixed(first, second):
        return
    numbers = [[int(part) for part in each.split(".") if part.isdigit()] for each in (first, second)]
    note = view.error if all(numbers) and numbers[0] > numbers[1] else view.warning
    words = f"{show(node)}; minMasterVersion is {show(control)}"
    note("gke-version", "nodeVersion", words, allowed="nothing, or the same")


def _prefixed(first: str, second: str) -> bool:
    return first.startswith(f"{second}.") or second.startswith(f"{first}.")


RULES: Rules = {beside: (EVERY_TYPE,), pool: (GKE_NODE_POOL,), cluster: (GKE_CLUSTER,)}
