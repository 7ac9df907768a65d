"""How pods are placed, and what else stands in a pod or, whole, in the values of a chart and the settings of an add-on.

Source: pkg/apis/core/validation of Kubernetes 1.35 as generally known.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from trainyard.recorded.model import UNKNOWN
from trainyard.recorded.quantities import quantity
from trainyard.recorded.read import as_number, follow
from trainyard.rehearsal.context import View, listed, show
from trainyard.rehearsal.refusals.labels import LABEL_KEY, check_label, is_label_key

BUILT_IN_CLASSES: Final = frozenset({"system-cluster-critical", "system-node-critical"})
"""Priority classes that every cluster has."""
_BARE: Final = ("Exists", "DoesNotExist")
_COMPARING: Final = ("Gt", "Lt")


def _expressions(value: Any, path: str) -> Iterator[tuple[str, list[Any], bool]]:
    """Every list of expressions below a value, with its path and whether it chooses nodes."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            here = f"{path}.{key}"
            if key == "matchExpressions":
                nodes = ".nodeAffinity." in here or ".nodeSelectorTerms" in here
                yield here, listed(item), nodes
            else:
                yield from _expressions(item, here)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _expressions(item, f"{path}[{index}]")


def check_selectors(view: View, path: str) -> None:
    """Notes label selectors that the API server refuses, anywhere below `path`."""
    check_expressions(view, path, view.value(path))


def check_expressions(view: View, path: str, value: Any) -> None:
    """Notes selectors that the API server refuses, anywhere in a value that stands at `path`."""
    for here, entries, on_nodes in _expressions(value, path):
        _selector(view, here, entries, on_nodes)


def _selector(view: View, path: str, entries: list[Any], on_nodes: bool) -> None:
    for index, entry in enumerate(entries):
        if not isinstance(entry, Mapping):
            continue
        here, key, operator, values = f"{path}[{index}]", entry.get("key"), entry.get("operator"), entry.get("values")
        if isinstance(key, str) and not is_label_key(key):
            view.error("label-key", f"{here}.key", f"key {show(key)}", allowed=LABEL_KEY)
        if operator in ("In", "NotIn") and values in (None, []):
            view.error("k8s-selector", f"{here}.values", f"is missing with operator {operator}", allowed="values")
        elif operator in _BARE and values not in (None, [], UNKNOWN):
            view.error("k8s-selector", f"{here}.values", f"given with operator {operator}", allowed="none")
        elif operator in _COMPARING and not on_nodes:
            view.error(
                "k8s-selector", f"{here}.operator", f"{operator} for labels of pods", allowed="In, NotIn, Exists"
            )
        elif operator in _COMPARING and isinstance(values, list) and UNKNOWN not in values:
            if len(values) != 1 or not re.fullmatch(r"-?\d+", str(values[0])):
                view.error("k8s-selector", f"{here}.values", f"got {show(values)}", allowed="one whole number, as text")
        elif operator in ("In", "NotIn") and isinstance(key, str) and is_label_key(key) and not on_nodes:
            for place, value in enumerate(listed(values)):
                check_label(view, f"{here}.values[{place}]", key, value)


def _spreads(view: View, path: str, value: Any) -> None:
    for index, entry in enumerate(listed(value)):
        if isinstance(entry, Mapping):
            _spread(view, f"{path}[{index}]", entry)


def _spread(view: View, path: str, entry: Mapping[str, Any]) -> None:
    skew, domains = as_number(entry.get("maxSkew")), as_number(entry.get("minDomains"))
    if skew is not None and skew < 1:
        view.error("k8s-spread", f"{path}.maxSkew", f"got {skew:g}", allowed="at least 1")
    if domains is not None and (domains < 1 or entry.get("whenUnsatisfiable") == "ScheduleAnyway"):
        view.error("k8s-spread", f"{path}.minDomains", f"got {domains:g}", allowed="with DoNotSchedule, at least 1")
    labels = follow(entry, "labelSelector", "matchLabels")
    for index, key in enumerate(listed(entry.get("matchLabelKeys"))):
        if entry.get("labelSelector") is None:
            view.error("k8s-spread", f"{path}.matchLabelKeys", "given without labelSelector", allowed="labelSelector")
        elif isinstance(labels, Mapping) and key in labels:
            where = f"{path}.matchLabelKeys[{index}]"
            view.error("k8s-spread", where, f"{show(key)} is in labelSelector too", allowed="in one of them")


def _affinity(view: View, path: str, value: Any) -> None:
    for kind in ("podAffinity", "podAntiAffinity", "nodeAffinity"):
        preferred = follow(value, kind, "preferredDuringSchedulingIgnoredDuringExecution")
        for index, entry in enumerate(listed(preferred)):
            weight = as_number(follow(entry, "weight"))
            if weight is not None and not 1 <= weight <= 100:
                here = f"{path}.{kind}.preferredDuringSchedulingIgnoredDuringExecution[{index}].weight"
                view.error("k8s-affinity", here, f"got {weight:g}", allowed="must be 1 to 100")


def _tolerations(view: View, path: str, value: Any) -> None:
    for index, entry in enumerate(listed(value)):
        if not isinstance(entry, Mapping):
            continue
        here, key, operator = f"{path}[{index}]", entry.get("key"), entry.get("operator")
        if operator == "Exists" and entry.get("value") not in (None, ""):
            view.error("k8s-toleration", f"{here}.value", "given with operator Exists", allowed="no value")
        if key in (None, "") and operator not in ("Exists", UNKNOWN):
            view.error("k8s-toleration", f"{here}.operator", "no key", allowed="Exists tolerates every key")
        if entry.get("tolerationSeconds") is not None and entry.get("effect") not in ("NoExecute", UNKNOWN):
            view.error("k8s-toleration", f"{here}.tolerationSeconds", "without effect NoExecute", allowed="NoExecute")
        if isinstance(key, str) and key and not is_label_key(key):
            view.error("k8s-toleration", f"{here}.key", f"key {show(key)}", allowed=LABEL_KEY)


def _node_selector(view: View, path: str, value: Any) -> None:
    for key, label in value.items() if isinstance(value, Mapping) else ():
        check_label(view, f"{path}.{key}", str(key), label)


PARTS: Final[Mapping[str, Callable[[View, str, Any], None]]] = {
    "topologySpreadConstraints": _spreads,
    "affinity": _affinity,
    "tolerations": _tolerations,
    "nodeSelector": _node_selector,
}
"""What places a pod, by its key, and what is refused of it at a path; selectors within it are `check_expressions`'."""


def check_security(view: View, path: str, value: Any) -> None:
    """Notes parts of a container's security context that exclude each other."""
    privileged, added = follow(value, "privileged"), listed(follow(value, "capabilities", "add"))
    if follow(value, "allowPrivilegeEscalation") is False:
        if privileged is True:
            view.error("k8s-security", f"{path}.allowPrivilegeEscalation", "false with privileged", allowed="true")
        elif "CAP_SYS_ADMIN" in added:
            view.error("k8s-security", f"{path}.allowPrivilegeEscalation", "false with CAP_SYS_ADMIN", allowed="true")


def check_resources(view: View, path: str, value: Any) -> None:
    """Notes requests and limits of a container that the API server refuses."""
    requests, limits = _amounts(value, "requests"), _amounts(value, "limits")
    for part, given in (("requests", requests), ("limits", limits)):
        for name, amount in given.items():
            here, number = f"{path}.{part}.{name}", quantity(amount)
            if number is not None and number < 0:
                view.error("k8s-resources", here, f"got {show(amount)}", allowed="at least 0")
            elif number is not None and "/" in name and number % 1:
                view.error(
                    "k8s-resources", here, f"got {show(amount)}", allowed="a whole number of an extended resource"
                )
            elif "/" not in name and not _is_resource(name):
                view.error("k8s-resources", here, f"{show(name)} is no resource of a container",
                           allowed="cpu, memory, ephemeral-storage, hugepages-2Mi, or a name with a slash")  # fmt: skip
    huge = [name for name in {**requests, **limits} if name.startswith("hugepages-")]
    if huge and not {"cpu", "memory"} & {*requests, *limits}:
        view.error("k8s-resources", f"{path}.limits.{huge[0]}", "without cpu or memory", allowed="one of both")
    for name in huge:
        one, other = quantity(requests.get(name)), quantity(limits.get(name))
        if name not in limits and follow(value, "limits") is not UNKNOWN:
            here = f"{path}.requests.{name}"
            view.error("k8s-resources", here, "has no limit", allowed="requests equal to limits for huge pages")
        elif one is not None and other is not None and one != other:
            here = f"{path}.requests.{name}"
            view.error("k8s-resources", here, f"{requests[name]}, and the limit is {limits[name]}", allowed="the same")


def _amounts(value: Any, part: str) -> Mapping[str, Any]:
    found = follow(value, part)
    return found if isinstance(found, Mapping) else {}


def _is_resource(name: str) -> bool:
    return name in ("cpu", "memory", "ephemeral-storage") or name.startswith("hugepages-")
