"""What a job makes of a failed pod: rules about containers that are there, and none that one before it always takes.

Source: Kubernetes documentation, "Pod failure policy" (rules are gone through in order, and once one matches the others
are left out; without a container's name a rule is about all; exit code 0 matches none) (2026-11).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainyard.problems import nearest
from trainyard.recorded.model import has_unknown
from trainyard.recorded.read import as_number, follow
from trainyard.rehearsal.context import listed, show
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster, Pod


def check(cluster: Cluster) -> None:
    """Every job's rules."""
    for pod in cluster.pods:
        base = pod.path.removesuffix(".template.spec")
        if base != pod.path and pod.view.has(f"{base}.podFailurePolicy"):
            _containers(pod, f"{base}.podFailurePolicy.rules")
            _order(pod, f"{base}.podFailurePolicy.rules")


def _containers(pod: Pod, rules: str) -> None:
    """A rule about the exit code of a container that is not there never holds."""
    if not pod.containers_are_known:
        return
    names = [container.name for container in pod.containers]
    for path, rule in pod.view.items(rules):
        name = follow(rule, "onExitCodes", "containerName")
        if isinstance(name, str) and name not in names:
            pod.view.error(
                "reference-container",
                f"{path}.onExitCodes.containerName",
                f"the pod has no container {show(name)}",
                allowed=f"one of {', '.join(names)}",
                hint=nearest(name, names),
            )


def _order(pod: Pod, rules: str) -> None:
    """A rule that matches only what one before it matches is never gone to."""
    before: list[tuple[str, Mapping[str, Any]]] = []
    for path, rule in pod.view.items(rules):
        if has_unknown(rule):
            continue
        first = next((found for found in before if _covers(found[1], rule)), None)
        if first is not None:
            is_same = first[1].get("action") == rule.get("action")
            (pod.view.warning if is_same else pod.view.error)(
                "reference-failure-rule", path,
                f"{first[0].rpartition('.')[2]} comes first and matches all that it does: {show(rule.get('action'))} "
                "is never done",
                allowed=f"before {first[0].rpartition('.')[2]}",
            )  # fmt: skip
        before.append((path, rule))


def _covers(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    codes, others = one.get("onExitCodes"), other.get("onExitCodes")
    if isinstance(codes, Mapping) and isinstance(others, Mapping):
        name = codes.get("containerName")
        return name in (None, others.get("containerName")) and _codes_cover(codes, others)
    conditions = [_condition(item) for item in listed(one.get("onPodConditions"))]
    wanted = [_condition(item) for item in listed(other.get("onPodConditions"))]
    return bool(wanted) and codes is None and others is None and all(item in conditions for item in wanted)


def _condition(item: Any) -> tuple[Any, Any]:
    return follow(item, "type"), follow(item, "status") or "True"


def _codes_cover(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    mine, theirs = ({code for code in map(as_number, listed(given.get("values"))) if code is not None}
                    for given in (one, other))  # fmt: skip
    operators = one.get("operator"), other.get("operator")
    if operators == ("In", "In"):
        return bool(theirs) and theirs <= mine
    if operators == ("NotIn", "In"):
        return bool(theirs) and not theirs & mine
    return operators == ("NotIn", "NotIn") and mine - {0} <= theirs
