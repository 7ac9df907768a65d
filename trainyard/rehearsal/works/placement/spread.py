"""Pods that keep apart, or want others near: topology spread, pod affinity and anti-affinity that has to hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainyard.conventions import HOSTNAME_LABEL
from trainyard.recorded.read import UnreadableInput, as_number, follow
from trainyard.recorded.selectors import selects
from trainyard.rehearsal.context import View, listed
from trainyard.rehearsal.works.placement.kubernetes.nodes import Nodes
from trainyard.rehearsal.works.placement.kubernetes.scheduler import alone_on_a_node
from trainyard.rehearsal.works.placement.world import Verdict, World


def check_spread(verdict: Verdict, world: World, view: View) -> None:
    """Notes what cannot be kept apart as far as it asks, and whose company is nowhere."""
    workload = verdict.workload
    if workload.every_node or workload.is_template or workload.labels is None:
        return
    for index, constraint in enumerate(listed(workload.spec.get("topologySpreadConstraints"))):
        if isinstance(constraint, Mapping) and constraint.get("whenUnsatisfiable", "DoNotSchedule") == "DoNotSchedule":
            _constraint(verdict, view, index, constraint)
    _apart(verdict, view)
    _near(verdict, world, view)


def _constraint(verdict: Verdict, view: View, index: int, constraint: Mapping[str, Any]) -> None:
    workload, key = verdict.workload, constraint.get("topologyKey")
    path = workload.at(f"topologySpreadConstraints[{index}]")
    if not isinstance(key, str):
        return
    if all(nodes.values(key) == frozenset() for nodes in verdict.groups):
        words = f"no node that takes {workload.told()} has the label {key}, which its pods are spread over"
        view.error("placement-spread", path, words, hint="a label that nodes have, such as topology.kubernetes.io/zone")
        return
    fewest, skew = as_number(constraint.get("minDomains")), as_number(constraint.get("maxSkew")) or 1
    domains = _domains(verdict.groups, key)
    if fewest is None or domains is None or domains >= fewest or workload.replicas is None:
        return
    if workload.replicas > skew * domains and _selects_itself(constraint, workload.labels or {}):
        words = f"{workload.told()} has to spread over {fewest:g} values of {key} and there are {domains}: "
        words += f"{skew * domains:g} of its {workload.replicas} pods run"
        view.error("placement-spread", path, words, allowed=f"minDomains of at most {domains}")


def _apart(verdict: Verdict, view: View) -> None:
    workload = verdict.workload
    terms = follow(workload.spec, "affinity", "podAntiAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
    for key in dict.fromkeys(str(follow(term, "topologyKey")) for term in listed(terms)):
        try:
            alone = alone_on_a_node(workload.spec, workload.labels or {}, key)
        except UnreadableInput:
            return
        domains = _domains(verdict.groups, key)
        if alone and domains is not None and workload.replicas is not None and workload.replicas > domains:
            what = "nodes that take them" if key == HOSTNAME_LABEL else f"values of {key}"
            words = f"{workload.replicas} pods of {workload.told()} keep each other off, and there are {domains} {what}"
            hint = f"at most {domains} replicas, or preferredDuringSchedulingIgnoredDuringExecution"
            view.error("placement-spread", workload.at("affinity"), words, hint=hint)
        elif (
            alone
            and domains == workload.replicas
            and not any(follow(term, "matchLabelKeys") for term in listed(terms))  # old and new pods share a node then
            and _comes_first(workload.resource.inputs)
        ):
            where = "nodes" if key == HOSTNAME_LABEL else f"values of {key}"
            words = f"{workload.replicas} pods of {workload.told()} keep each other off {domains} {where}, and of a "
            words += "new version one pod has to be ready before an old one goes: no rollout ends"
            view.error("placement-spread", workload.at("affinity"), words, hint="maxUnavailable of 1 and maxSurge of 0")


def _comes_first(inputs: Mapping[str, Any]) -> bool:
    """Whether a Deployment takes no pod away before a new one is ready (`maxUnavailable` is rounded down)."""
    strategy = follow(inputs, "spec", "strategy")
    if inputs.get("kind") != "Deployment" or follow(strategy, "type") not in (None, "RollingUpdate"):
        return False
    gone, replicas = follow(strategy, "rollingUpdate", "maxUnavailable"), as_number(follow(inputs, "spec", "replicas"))
    share = as_number(gone[:-1]) if isinstance(gone, str) and gone.endswith("%") else None
    if gone is None:
        share = 25  # the default
    if share is not None and replicas is not None:
        return int(replicas * share / 100) == 0
    return as_number(gone) == 0


def _near(verdict: Verdict, world: World, view: View) -> None:
    """Company that has to be there: pods of a namespace of the stack, none of which has such labels."""
    workload = verdict.workload
    terms = follow(workload.spec, "affinity", "podAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
    for term in listed(terms):
        selector = follow(term, "labelSelector")
        if not isinstance(selector, Mapping) or follow(term, "namespaces") or follow(term, "namespaceSelector"):
            continue
        others = [one for one in world.workloads if one.namespace == workload.namespace]
        try:
            found = any(one.labels is None or selects(selector, one.labels) for one in others)
        except UnreadableInput:
            continue
        if not found:
            words = f"{workload.told()} only runs beside pods with labels that nothing in {workload.namespace} has here"
            view.warning("placement-company", workload.at("affinity"), words)


def _selects_itself(constraint: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    selector = constraint.get("labelSelector")
    try:
        return isinstance(selector, Mapping) and selects(selector, labels)
    except UnreadableInput:
        return False


def _domains(groups: tuple[Nodes, ...], key: str) -> int | None:
    """Values of a label over the nodes of these groups at most; nodes where the label is their name."""
    if key == HOSTNAME_LABEL:
        sizes = [nodes.most for nodes in groups]
        return None if None in sizes else sum(size for size in sizes if size is not None)
    values: set[str] = set()
    for nodes in groups:
        held = nodes.values(key)
        if held is None:
            return None
        values |= held
    return len(values)
