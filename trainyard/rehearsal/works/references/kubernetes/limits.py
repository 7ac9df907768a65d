"""Pods and claims against the limit ranges and quotas of their namespace: a Job is taken, and its pods are refused.

Source: Kubernetes documentation, "Limit Ranges" and "Resource Quotas", and the admission plugins LimitRanger and
ResourceQuota of 1.35, as generally known (2026-11).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, Final

from trainyard.conventions.quantities import GIBIBYTE, MEBIBYTE
from trainyard.recorded.model import UNKNOWN
from trainyard.recorded.quantities import quantity
from trainyard.recorded.read import follow
from trainyard.rehearsal.context import View, show
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster
from trainyard.rehearsal.works.workloads.model import Workload
from trainyard.rehearsal.works.workloads.read import workloads

_COUNTED: Final = {
    "persistentvolumeclaims": ("PersistentVolumeClaim", ""),
    "services": ("Service", ""),
    "services.loadbalancers": ("Service", "LoadBalancer"),
    "services.nodeports": ("Service", "NodePort"),
    "configmaps": ("ConfigMap", ""),
    "secrets": ("Secret", ""),
    "count/jobs.batch": ("Job", ""),
    "count/deployments.apps": ("Deployment", ""),
    "count/configmaps": ("ConfigMap", ""),
    "count/secrets": ("Secret", ""),
}
"""Kinds that a quota counts, and the type of a Service that it means."""
_STANDARD: Final = ("cpu", "memory")


def _devices(cluster: Cluster) -> None:
    """What containers have that say nothing: with a GPU among it, each first container and helper has one."""
    for view in cluster.of("LimitRange"):
        for path, entry in view.items("spec.limits"):
            given = {
                key
                for part in ("default", "defaultRequest")
                for key, amount in view.mapping(f"{path}.{part}").items()
                if quantity(amount) != 0
            }
            devices = sorted(key for key in given if "/" in key)
            if entry.get("type") == "Container" and devices:
                # A device that many share, such as /dev/fuse, each may have.
                view.warning(
                    "reference-limits", f"{path}.default",
                    f"gives {', '.join(devices)} to every container that says nothing, helpers and first ones too: "
                    "pods ask for more than a node has, or take what they do not use", allowed="cpu and memory",
                )  # fmt: skip


def check(cluster: Cluster) -> None:
    """Every limit range and quota of the stack against what it makes in the same namespace."""
    _devices(cluster)
    ranges, quotas = by_namespace(cluster, "LimitRange"), by_namespace(cluster, "ResourceQuota")
    if not ranges and not quotas:
        return
    if cluster.stack.context.ours:
        _defaults([view for found in ranges.values() for view in found])
    views = {view.resource.urn: view for view in cluster.views}
    for workload in workloads(cluster.stack.resources):
        view = views.get(workload.resource.urn)
        if view is None or workload.origin != "object" or workload.is_template or not workload.namespace:
            continue
        limits = ranges.get(workload.namespace, [])
        _in_range(view, workload, limits)
        for quota in quotas.get(workload.namespace, ()):
            _in_quota(view, workload, quota, limits)
    made = _made(cluster)
    for namespace, found in quotas.items():
        for quota in found:
            _count(quota, namespace, made)
    for view in cluster.views:
        if view.type.endswith(":PersistentVolumeClaim"):
            _claim(view, ranges.get(view.text("metadata.namespace") or "default", []))


def by_namespace(cluster: Cluster, kind: str) -> dict[str, list[View]]:
    """Objects of a kind whose namespace is known, by that."""
    found: dict[str, list[View]] = defaultdict(list)
    for view in cluster.views:
        if view.type.endswith(f":{kind}") and (name := view.text("metadata.namespace")) is not None:
            found[name].append(view)
    return found


_LEAST: Final = {"cpu": (0.005, "cores"), "memory": (4 * MEBIBYTE, "bytes")}
"""Below these no container of a program runs: a unit is mistaken (`m` is a thousandth, no unit is cores and bytes)."""


def _defaults(ranges: list[View]) -> None:
    """What a container that says nothing is given."""
    for view in ranges:
        for path, entry in view.items("spec.limits"):
            for key in ("default", "defaultRequest"):
                for name, (least, unit) in _LEAST.items():
                    given = part_of(entry, key).get(name)
                    number = quantity(given) if given is not None else None
                    if entry.get("type") == "Container" and number is not None and number < least:
                        view.error(
                            "reference-limit-range", f"{path}.{key}.{name}",
                            f"gives a container that says nothing {show(given)}, which is {number:g} {unit}",
                            allowed="500m or 1 for cores, 512Mi or 4Gi for memory",
                        )  # fmt: skip


def entries(ranges: list[View], kind: str) -> Iterator[tuple[View, Mapping[str, Any]]]:
    """What limit ranges say of a kind: of `Container`, of `PersistentVolumeClaim`."""
    for view in ranges:
        for _, entry in view.items("spec.limits"):
            if entry.get("type") == kind:
                yield view, entry


def _in_range(view: View, workload: Workload, ranges: list[View]) -> None:
    for limits, entry in entries(ranges, "Container"):
        for path, container in workload.containers():
            resources = container.get("resources")
            if resources is UNKNOWN:
                continue
            for name in {**part_of(entry, "min"), **part_of(entry, "max"), **part_of(entry, "default")}:
                why = wrong(resources, entry, name)
                if why:
                    view.error(
                        "reference-limit-range", workload.at(f"{path}.resources"),
                        f"{why} by LimitRange {limits.name}: {workload.told()} is taken, and its pods are refused",
                        allowed="requests and limits within the range, or another range",
                    )  # fmt: skip


def part_of(entry: object, key: str) -> Mapping[str, Any]:
    """A mapping in an entry; empty where there is none."""
    found = follow(entry, key)
    return found if isinstance(found, Mapping) else {}


def wrong(resources: object, entry: Mapping[str, Any], name: str) -> str:
    """Why the range keeps a container out, once what it lacks has its default."""
    limits, requests = part_of(resources, "limits"), part_of(resources, "requests")
    if UNKNOWN in (limits.get(name), requests.get(name)) or UNKNOWN in (
        follow(resources, "limits"),
        follow(resources, "requests"),
    ):
        return ""
    highest = quantity(part_of(entry, "max").get(name))
    default = quantity(part_of(entry, "default").get(name))
    given, asked = quantity(limits.get(name)), quantity(requests.get(name))
    limit = given if given is not None else default if default is not None else highest
    request = asked if asked is not None else given
    lowest = quantity(part_of(entry, "min").get(name))
    if highest is not None and limit is not None and max(limit, request or 0) > highest:
        most = limits.get(name) if given is not None else requests.get(name)
        return f"{name} of {show(most)} is above the most, {part_of(entry, 'max')[name]},"
    if lowest is not None and request is not None and request < lowest:
        return (
            f"a request of {show(requests.get(name, limits.get(name)))} {name} is below {part_of(entry, 'min')[name]}"
        )
    if limit is not None and request is not None and request > limit:
        return f"a request of {show(requests[name])} {name} is above the limit that it is given"
    return ""


def _claim(view: View, ranges: list[View]) -> None:
    size = quantity(view.value("spec.resources.requests.storage"))
    for limits, entry in entries(ranges, "PersistentVolumeClaim"):
        most, least = (quantity(part_of(entry, key).get("storage")) for key in ("max", "min"))
        if size is not None and ((most is not None and size > most) or (least is not None and size < least)):
            view.error(
                "reference-limit-range", "spec.resources.requests.storage",
                f"{view.value('spec.resources.requests.storage')} is outside LimitRange {limits.name}",
                allowed=", ".join(
                    f"{key} {part_of(entry, key)['storage']}" for key in ("min", "max") if part_of(entry, key)
                ),
            )  # fmt: skip


def _in_quota(view: View, workload: Workload, quota: View, ranges: list[View]) -> None:
    if not _holds_for(quota, workload):
        return
    for name, hard in quota.mapping("spec.hard").items():
        most = quantity(hard)
        if name in ("pods", "count/pods") and most is not None and most == 0:
            view.error(
                "reference-quota", workload.at("containers"), f"ResourceQuota {quota.name} lets no such pod in",
                allowed="another priority class, or a quota of more",
            )  # fmt: skip
            continue
        side, _, resource = name.partition(".") if name.startswith(("requests.", "limits.")) else ("requests", "", name)
        if resource in ("storage",) or (side == "requests" and name == resource and resource not in _STANDARD):
            continue
        asked = _asked(workload, side, resource, ranges)
        if asked is None:
            continue
        total, path = asked
        if total < 0 and resource in _STANDARD:
            view.error(
                "reference-quota", workload.at(f"{path}.resources"),
                f"says no {side[:-1]} of {resource}, which ResourceQuota {quota.name} counts: its pods are refused",
                allowed=f"resources.{side}.{resource}, or a LimitRange with a default",
            )  # fmt: skip
        elif most is not None and total > most:
            view.error(
                "reference-quota", workload.at(f"{path}.resources"),
                f"one pod asks for more {resource} than ResourceQuota {quota.name} has in all, {show(hard)}",
                allowed="a smaller pod, or a larger quota",
            )  # fmt: skip


def _asked(workload: Workload, side: str, resource: str, ranges: list[View]) -> tuple[float, str] | None:
    """What a pod asks for, with the first container that asks; below 0 where a container says nothing."""
    total, first = 0.0, "containers[0]"
    defaults = [
        part_of(entry, key) for _, entry in entries(ranges, "Container") for key in ("default", "defaultRequest")
    ]
    defaults += [part_of(entry, "max") for _, entry in entries(ranges, "Container")]
    for path, container in workload.containers():
        found = follow(container, "resources")
        given = part_of(found, side).get(resource)
        if given is None and side == "requests":
            given = part_of(found, "limits").get(resource)
        if given is UNKNOWN or found is UNKNOWN or UNKNOWN in (follow(found, "requests"), follow(found, "limits")):
            return None
        number = quantity(given)
        if given is None:
            if resource in _STANDARD and not any(resource in default for default in defaults):
                return -1.0, path
            continue
        if number is None:
            return None
        if path.startswith("containers"):
            total += number
    return total, first


def _holds_for(quota: View, workload: Workload) -> bool:
    """Whether a quota counts a workload's pods for certain."""
    if quota.has("spec.scopes"):
        return False
    for _, entry in quota.items("spec.scopeSelector.matchExpressions"):
        name, values = workload.spec.get("priorityClassName"), entry.get("values")
        if entry.get("scopeName") != "PriorityClass" or name is UNKNOWN or not isinstance(values, list):
            return False
        if entry.get("operator") != "In" or name not in values:
            return False
    return True


def _made(cluster: Cluster) -> dict[tuple[str, str], list[View]]:
    """What the stack makes, by kind and namespace."""
    found: dict[tuple[str, str], list[View]] = defaultdict(list)
    for view in cluster.objects:
        found[view.text("kind") or "", view.text("metadata.namespace") or "default"].append(view)
    return found


def _count(quota: View, namespace: str, made: Mapping[tuple[str, str], list[View]]) -> None:
    if quota.has("spec.scopes") or quota.has("spec.scopeSelector"):
        return
    for name, (kind, type_) in _COUNTED.items():
        most = quantity(quota.mapping("spec.hard").get(name))
        if most is None:
            continue
        found = [view for view in made.get((kind, namespace), ()) if not type_ or view.text("spec.type") == type_]
        if len(found) > most:
            quota.error(
                "reference-quota", f"spec.hard[{name!r}]",
                f"lets {most:g} in, and the stack makes {len(found)} in {namespace}: the last ones are refused",
                allowed=f"{len(found)} or more",
            )  # fmt: skip
    most = quantity(quota.mapping("spec.hard").get("requests.storage"))
    sizes = [
        quantity(view.value("spec.resources.requests.storage"))
        for view in made.get(("PersistentVolumeClaim", namespace), ())
    ]
    total = sum(size for size in sizes if size is not None)
    if most is not None and total > most:
        quota.error(
            "reference-quota", "spec.hard['requests.storage']",
            f"lets {quota.mapping('spec.hard')['requests.storage']} in, and the stack's claims in {namespace} ask for "
            f"{total / GIBIBYTE:.0f}Gi: the last ones are refused",
            allowed=f"{total / GIBIBYTE:.0f}Gi or more",
        )  # fmt: skip
