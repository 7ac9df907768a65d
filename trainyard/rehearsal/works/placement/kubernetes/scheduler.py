"""Whether a node takes a pod, as the default scheduler's filters say (Kubernetes 1.35: NodeAffinity, TaintToleration,
NodeResourcesFit; kubernetes.io, "Assigning Pods to Nodes", "Taints and Tolerations", 2026-11).

What is not known holds: a pod is kept off a group only by what is certain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from trainyard.conventions import HOSTNAME_LABEL
from trainyard.recorded.model import UNKNOWN
from trainyard.recorded.read import as_number, follow
from trainyard.recorded.selectors import selects
from trainyard.recorded.tolerations import may_tolerate
from trainyard.rehearsal.works.placement.kubernetes.mounts import NO_MOUNTS, Mounts
from trainyard.rehearsal.works.placement.kubernetes.nodes import ARCHITECTURE, Machine, Nodes
from trainyard.rehearsal.works.placement.kubernetes.said import amount_text

_KEEPING_OFF: Final = ("NoSchedule", "NoExecute")
_CLOSE: Final = 1e-9


Offer = Callable[[str], float | None]
"""How much of an extended resource a node offers; None where nobody can say."""


@dataclass(frozen=True, slots=True)
class Ask:
    """What a pod asks of a node."""

    spec: Mapping[str, Any]
    requests: Mapping[str, float]
    labels: Mapping[str, Any] = field(default_factory=dict)  # that a queue's flavor adds to its selector
    tolerations: Sequence[Any] = ()  # that a flavor or a controller adds
    terms: tuple[Sequence[Any], ...] = ()  # node selector terms besides, of its volumes: one of each has to hold
    only: Mapping[str, Sequence[str]] = field(default_factory=dict)  # values of labels, one of which a node has
    images: Mapping[str, str] = field(default_factory=dict)  # images that are there for one architecture only
    mounts: Mounts = NO_MOUNTS  # what mounts its volumes; `requests` holds what is requested for it
    is_template: bool = False  # whoever fills it in may request devices that it does not name


@dataclass(frozen=True, slots=True)
class Miss:
    """Why a group does not take a pod."""

    key: str  # of the pod's specification: "nodeSelector", "affinity", "tolerations", "containers", "volumes"
    words: str
    cure: str


def misses(ask: Ask, nodes: Nodes, taken: Mapping[str, float], offer: Offer) -> list[Miss]:
    """Everything that certainly keeps a pod off a group; nothing where it may run there.

    Args:
        ask: the pod.
        nodes: the group.
        taken: what the pods that run on every node of the group request.
        offer: extended resources of its nodes.
    """
    return [*_labels(ask, nodes), *_taints(ask, nodes), *_images(ask, nodes), *_fit(ask, nodes, taken, offer)]


def keeps_off(ask: Ask, nodes: Nodes) -> list[Miss]:
    """What of labels and taints keeps a pod off a group."""
    return [*_labels(ask, nodes), *_taints(ask, nodes)]


def _labels(ask: Ask, nodes: Nodes) -> Iterator[Miss]:
    selector = ask.spec.get("nodeSelector")
    own = selector.items() if isinstance(selector, Mapping) else ()
    asked = [(str(key), value) for key, value in (*own, *ask.labels.items()) if isinstance(value, str | int | float)]
    for key, value in dict.fromkeys(asked):
        held = nodes.values(key)
        if held is not None and str(value) not in held:
            yield Miss("nodeSelector", f"{_held(key, held)}, it wants {value}", f"a node with {key}={value}")
    for key, allowed in ask.only.items():
        held = nodes.values(key)
        if held is not None and held.isdisjoint(allowed):
            yield Miss("affinity", f"{_held(key, held)}, which its chart does not list", f"list it for {key}")
    required = follow(ask.spec, "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
    terms = follow(required, "nodeSelectorTerms")
    if isinstance(terms, list) and terms:
        yield from _terms(terms, nodes, "affinity")
    for of_volumes in ask.terms:
        yield from _terms(of_volumes, nodes, "volumes")


def _terms(terms: Sequence[Any], nodes: Nodes, key: str) -> Iterator[Miss]:
    """One term has to hold; where none does, the one that comes nearest is told."""
    failed = [list(_term(term, nodes, key)) for term in terms if isinstance(term, Mapping)]
    if failed and len(failed) == len(terms) and all(failed):
        yield from min(failed, key=len)


def _term(term: Mapping[str, Any], nodes: Nodes, key: str) -> Iterator[Miss]:
    expressions = term.get("matchExpressions")
    for expression in expressions if isinstance(expressions, list) else ():
        if isinstance(expression, Mapping) and not _holds(expression, nodes):
            label, values = str(expression.get("key")), expression.get("values")
            held = nodes.values(label)
            listed = ", ".join(map(str, values)) if isinstance(values, list) else ""
            wanted = f"{label} {expression.get('operator')} {listed}".strip()
            yield Miss(key, f"{_held(label, held or frozenset())}, it wants {wanted}", f"a node with {wanted}")


def _holds(expression: Mapping[str, Any], nodes: Nodes) -> bool:
    label, values, operator = expression.get("key"), expression.get("values"), expression.get("operator")
    if not isinstance(label, str) or (isinstance(values, list) and UNKNOWN in values):
        return True
    held, wanted = nodes.values(label), {str(value) for value in values or ()} if isinstance(values, list) else set()
    if held is None:
        return True
    if operator == "In":
        return not held.isdisjoint(wanted)
    if operator == "NotIn":
        return not held or not held <= wanted
    if operator == "Exists":
        return bool(held)
    if operator == "DoesNotExist":
        return not held
    if operator in ("Gt", "Lt"):
        bound = as_number(next(iter(wanted), None))
        numbers = [number for value in held if (number := as_number(value)) is not None]
        return bound is None or any((n > bound) if operator == "Gt" else (n < bound) for n in numbers)
    return True  # no operator of the API: the schema tells it


def _images(ask: Ask, nodes: Nodes) -> Iterator[Miss]:
    """The scheduler knows nothing of images: a pod of the wrong one starts, and ends with `exec format error`."""
    held = nodes.values(ARCHITECTURE)
    for image, architecture in ask.images.items():
        if held is not None and architecture not in held:
            words = f"its machines are {' or '.join(sorted(held))}, image {image} is for {architecture} only"
            yield Miss("containers", words, f"nodes of {architecture}, or an image for {' or '.join(sorted(held))}")


def _held(key: str, values: frozenset[str]) -> str:
    return f"{key} is {' or '.join(sorted(values)[:3])}" if values else f"it has no label {key}"


def _taints(ask: Ask, nodes: Nodes) -> Iterator[Miss]:
    given = ask.spec.get("tolerations")
    if given is UNKNOWN:
        return
    wanted = [name for name in nodes.tolerated if ask.is_template or ask.requests.get(name)]
    asked = [{"key": name, "operator": "Exists"} for name in wanted]
    tolerations = [*(given if isinstance(given, list) else ()), *ask.tolerations, *asked]
    for taint in nodes.taints:
        if taint.effect in _KEEPING_OFF and not any(may_tolerate(one, taint.as_recorded()) for one in tolerations):
            yield Miss("tolerations", f"taint {taint} is not tolerated", f"tolerate {taint}")


def _fit(ask: Ask, nodes: Nodes, taken: Mapping[str, float], offer: Offer) -> Iterator[Miss]:
    for name, amount in ask.requests.items():
        if not amount or name == "pods":
            continue
        most = offer(name) if "/" in name else most_of(nodes.machines, name, taken)
        if most is not None and amount > most * (1 + _CLOSE) + _CLOSE:
            has = f"{amount_text(name, most)} {name}" if most > 0 else f"no {name}"
            mounting = ask.mounts.requests.get(name, 0.0)
            own = f", {amount_text(name, mounting)} of it for what mounts its volumes" if mounting else ""
            cure = f"request at most {amount_text(name, most)} of {name}" if most > 0 else f"nodes that offer {name}"
            yield Miss("containers", f"a node has {has} for it, it requests {amount_text(name, amount)}{own}", cure)


def most_of(machines: Sequence[Machine], name: str, taken: Mapping[str, float]) -> float | None:
    """What a pod can have of a resource on the largest machine of a group, beside those that run everywhere."""
    held = [machine.most.get(name) for machine in machines]
    if not held or None in held:
        return None
    return max(value for value in held if value is not None) - taken.get(name, 0.0)


def per_node(
    requests: Mapping[str, float], machine: Machine, taken: Mapping[str, float], offer: Offer, places: int = 1
) -> int | None:
    """How many pods of these requests a machine holds at once; None where nothing that is known limits them.

    Each takes so many `places` of the node's pods: its own, and those of the pods that mount its volumes.
    """
    counts = []
    for name, amount in requests.items():
        most = offer(name) if "/" in name else machine.most.get(name)
        if amount > 0 and most is not None:
            counts.append(int((most - taken.get(name, 0.0)) / amount * (1 + _CLOSE) + _CLOSE))
    if machine.pods is not None:
        counts.append(machine.pods // places)
    return max(0, min(counts)) if counts else None


def alone_on_a_node(spec: Mapping[str, Any], labels: Mapping[str, str], key: str = HOSTNAME_LABEL) -> bool:
    """Whether a pod keeps pods like itself off its node, or off all nodes with one value of another label.

    `mismatchLabelKeys` keeps off those alone whose label has another value than its own, so none like itself.
    """
    terms = follow(spec, "affinity", "podAntiAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
    for term in terms if isinstance(terms, list) else ():
        selector = follow(term, "labelSelector")
        if follow(term, "topologyKey") != key or follow(term, "mismatchLabelKeys"):
            continue
        if isinstance(selector, Mapping) and selects(selector, labels):
            return True
    return False
