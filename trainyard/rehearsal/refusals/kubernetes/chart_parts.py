"""Values that charts write out whole into a pod: tolerations, affinity, resources, labels and annotations.

What the API server refuses of them fails the release.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final, TypeGuard

from trainyard.problems import nearest
from trainyard.recorded.read import follow
from trainyard.rehearsal.context import View, show
from trainyard.rehearsal.refusals.kubernetes.index import Objects
from trainyard.rehearsal.refusals.kubernetes.pod_parts import (
    BUILT_IN_CLASSES,
    PARTS,
    check_expressions,
    check_resources,
    check_security,
)
from trainyard.rehearsal.refusals.kubernetes.schema import Checker

OPEN: Final = "\0open"
"""Mark of a value of a chart below which anything may stand."""
_PARTS: Final[dict[str, tuple[tuple[str, ...], bool]]] = {
    "tolerations": (("core.v1.Toleration",), True),
    "topologySpreadConstraints": (("core.v1.TopologySpreadConstraint",), True),
    "affinity": (("core.v1.Affinity",), False),
    "resources": (("core.v1.ResourceRequirements",), False),
    "securityContext": (("core.v1.SecurityContext", "core.v1.PodSecurityContext"), False),
    "podSecurityContext": (("core.v1.PodSecurityContext",), False),
    "containerSecurityContext": (("core.v1.SecurityContext",), False),
}
"""Values that charts write out whole into a pod, by name: the definition, and whether it is a list of them."""
_BESIDE: Final = {("kube-prometheus-stack", "topologySpreadConstraints"): ("additionalLabelSelectors",)}
"""Fields that a part has besides, by chart and name: those of the operator's own kinds (CRD of Prometheus, v0.92)."""
_TEXTS: Final = ("nodeselector", "annotations", "labels")
"""Ends of names of values that charts write out whole, in small letters: the API takes a map of texts."""
_OF_OBJECTS: Final = ("podLabels", "commonLabels", "customLabels", "additionalLabels")
"""Values that become labels of objects. Others, such as `externalLabels`, are those of figures and take any text."""


def check_parts(
    view: View,
    values: Mapping[str, Any],
    nodes: list[dict[str, Any]],
    path: tuple[str, ...],
    checker: Checker,
    chart: str,
) -> None:
    """What lies below an open path and goes into a pod as it is."""
    for name, value in values.items():
        here = (*path, str(name))
        found = [node[key] for node in nodes for key in (str(name), "*") if key in node]
        if name in _PARTS and any(node.get(OPEN) for node in found):
            definitions, listed = _PARTS[name]
            known = _without(value, _BESIDE.get((chart, str(name)), ()))
            checker.check_part(view, known, "values." + spell(here), definitions, listed=listed)
            _together(view, "values." + spell(here), str(name), value)
        elif isinstance(value, Mapping) and str(name).lower().endswith(_TEXTS) and any(map(_is_open, found)):
            checker.check_texts(view, value, "values." + spell(here))
            _together(view, "values." + spell(here), "nodeSelector" if name in _OF_OBJECTS else str(name), value)
        elif isinstance(value, Mapping):
            check_parts(view, value, found, here, checker, chart)


def _without(value: Any, keys: Collection[str]) -> Any:
    """The mappings of a list without some of their keys."""
    if not keys or not isinstance(value, list):
        return value
    return [
        {key: part for key, part in item.items() if key not in keys} if isinstance(item, Mapping) else item
        for item in value
    ]


def check_classes(view: View, objects: Objects) -> None:
    """Priority classes that the values name: without the class no pod of the chart is made."""
    _classes(view, view.mapping("values"), "values", objects)


def _classes(view: View, values: Any, path: str, objects: Objects) -> None:
    for key, value in values.items() if isinstance(values, Mapping) else ():
        here = f"{path}.{spell((str(key),))}"
        if key != "priorityClassName":
            if follow(value, "enabled") is not False:  # a component that is switched off has no pods
                _classes(view, value, here, objects)
        elif _is_own_class(value) and objects.lacks("PriorityClass", "", value):
            known = [*objects.names("PriorityClass", ""), *BUILT_IN_CLASSES]
            view.error("k8s-reference", here, f"no priority class {show(value)}", hint=nearest(value, known))


def _is_own_class(value: Any) -> TypeGuard[str]:
    return isinstance(value, str) and bool(value) and "{{" not in value and value not in BUILT_IN_CLASSES


def _is_open(node: Mapping[str, Any]) -> bool:
    return bool(node.get(OPEN))


def _together(view: View, path: str, name: str, value: Any) -> None:
    """What the API server refuses of parts that are each of the right kind."""
    if "{{" in repr(value):  # a template of the chart's writes it anew
        return
    check_expressions(view, path, value)
    if name in PARTS:
        PARTS[name](view, path, value)
    elif name == "resources":
        check_resources(view, path, value)
    elif name.endswith("ecurityContext"):
        check_security(view, path, value)


def spell(path: tuple[str, ...]) -> str:
    """A path as it is told."""
    return ".".join(name.replace(".", "\\.") for name in path)
