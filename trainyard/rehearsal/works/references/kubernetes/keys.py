"""Config maps and secrets: the object, and the key in it, that a pod asks for.

Source: Kubernetes documentation, "ConfigMaps", "Secrets", "Projected Volumes", "Downward API", as generally known. A
pod whose key is missing does not start (`CreateContainerConfigError`, or its volume is never mounted), unless it is
optional.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from trainyard.conventions import FILLED_WITH_ANNOTATION
from trainyard.problems import nearest
from trainyard.recorded.model import UNKNOWN
from trainyard.recorded.read import follow, steps
from trainyard.rehearsal.context import View, listed, show
from trainyard.rehearsal.near import nearest_of
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster, Pod

_FIELDS: Final = frozenset(
    {
        "metadata.name", "metadata.namespace", "metadata.uid", "metadata.labels", "metadata.annotations",
        "spec.nodeName", "spec.serviceAccountName", "status.hostIP", "status.hostIPs", "status.podIP",
        "status.podIPs",
    }
)  # fmt: skip
_ONLY_ENV: Final = frozenset(
    {"spec.nodeName", "spec.serviceAccountName", "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"}
)
_ONLY_FILES: Final = frozenset({"metadata.labels", "metadata.annotations"})
_OF_SETS: Final = "jobset.sigs.k8s.io/"
"""How labels begin that the controller of JobSets alone puts on pods, each of which is known."""
_KEYED: Final = re.compile(r"metadata\.(labels|annotations)\['([^']+)'\]")
_RESOURCES: Final = re.compile(r"(limits|requests)\.(cpu|memory|ephemeral-storage|hugepages-.+)")


@dataclass(frozen=True, slots=True)
class Source:
    """Where a pod names a config map or a secret, and the keys that it asks for."""

    path: str
    kind: str
    name: str
    optional: bool
    keys: tuple[tuple[str, str], ...]  # path, key; empty: all of them


def check(cluster: Cluster) -> None:
    """Every check of a key."""
    for pod in cluster.pods:
        for source in sources(pod):
            _source(pod, source, cluster)
        _downward(pod)
        _pulling(pod, cluster)


def sources(pod: Pod) -> Iterator[Source]:
    """Everything of a pod that names a config map or a secret."""
    view = pod.view
    for container in pod.containers:
        for path, entry in view.items(f"{container.path}.env"):
            for key, kind in (("configMapKeyRef", "ConfigMap"), ("secretKeyRef", "Secret")):
                found = follow(entry, "valueFrom", key)
                if isinstance(found, Mapping) and isinstance(found.get("name"), str):
                    here = f"{path}.valueFrom.{key}"
                    wanted = found.get("key")
                    keys = ((f"{here}.key", wanted),) if isinstance(wanted, str) else ()
                    yield Source(here, kind, found["name"], found.get("optional") in (True, UNKNOWN), keys)
        for path, entry in view.items(f"{container.path}.envFrom"):
            for key, kind in (("configMapRef", "ConfigMap"), ("secretRef", "Secret")):
                found = entry.get(key)
                if isinstance(found, Mapping) and isinstance(found.get("name"), str):
                    yield Source(f"{path}.{key}", kind, found["name"], found.get("optional") in (True, UNKNOWN), ())
    for path, volume in view.items(f"{pod.path}.volumes"):
        yield from _of_volume(path, volume)


def _of_volume(path: str, volume: Mapping[str, Any]) -> Iterator[Source]:
    for key, kind, name in (("configMap", "ConfigMap", "name"), ("secret", "Secret", "secretName")):
        found = volume.get(key)
        if isinstance(found, Mapping) and isinstance(found.get(name), str):
            yield Source(
                f"{path}.{key}", kind, found[name], found.get("optional") in (True, UNKNOWN), _items(path, key, found)
            )
    projected = volume.get("projected")
    for index, part in enumerate(listed(projected.get("sources")) if isinstance(projected, Mapping) else []):
        for key, kind in (("configMap", "ConfigMap"), ("secret", "Secret")):
            found = part.get(key) if isinstance(part, Mapping) else None
            if isinstance(found, Mapping) and isinstance(found.get("name"), str):
                here = f"{path}.projected.sources[{index}]"
                yield Source(
                    f"{here}.{key}",
                    kind,
                    found["name"],
                    found.get("optional") in (True, UNKNOWN),
                    _items(here, key, found),
                )


def _items(path: str, key: str, found: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    return tuple(
        (f"{path}.{key}.items[{index}].key", item["key"])
        for index, item in enumerate(listed(found.get("items")))
        if isinstance(item, Mapping) and isinstance(item.get("key"), str)
    )


def keys_of(view: View) -> set[str] | None:
    """The keys of a config map or a secret; None where they are not known, or a controller fills them in."""
    found: set[str] = set()
    for path in ("data", "binaryData", "stringData"):
        at = follow(view.inputs, *steps(path))
        if at is UNKNOWN:
            return None
        found |= set(at) if isinstance(at, Mapping) else set()
    if view.text("type") == "kubernetes.io/service-account-token":
        return None
    # An empty one is there to be filled in by somebody, with what it says itself.
    promised = view.mapping("metadata.annotations").get(FILLED_WITH_ANNOTATION)
    return found or (set(promised.split(",")) if isinstance(promised, str) and promised else None)


def _source(pod: Pod, source: Source, cluster: Cluster) -> None:
    if pod.namespace is None or source.optional:
        return
    found = cluster.find(source.kind, pod.namespace, source.name)
    if found is None:
        return  # that the object itself is missing is told where the API's refusals are
    keys = keys_of(found)
    if keys is None:
        return
    for path, key in source.keys:
        if key not in keys:
            pod.view.error(
                "reference-key",
                path,
                f"{source.kind} {show(source.name)} has no key {show(key)}, so the pod does not start",
                allowed=f"one of {', '.join(sorted(keys)[:12])}" if keys else "",
                hint=nearest(key, keys),
            )


def _downward(pod: Pod) -> None:
    view = pod.view
    names = {container.name for container in pod.containers}
    for container in pod.containers:
        for path, entry in view.items(f"{container.path}.env"):
            _field(
                view, f"{path}.valueFrom.fieldRef.fieldPath", follow(entry, "valueFrom", "fieldRef", "fieldPath"), pod
            )
            _resource(view, f"{path}.valueFrom.resourceFieldRef", entry, names, pod, in_file=False)
    for path, volume in view.items(f"{pod.path}.volumes"):
        places = [f"{path}.downwardAPI"]
        projected = volume.get("projected")
        count = len(listed(projected.get("sources"))) if isinstance(projected, Mapping) else 0
        places += [f"{path}.projected.sources[{index}].downwardAPI" for index in range(count)]
        for place in places:
            for here, item in view.items(f"{place}.items"):
                _field(view, f"{here}.fieldRef.fieldPath", follow(item, "fieldRef", "fieldPath"), pod, in_file=True)
                _resource(view, f"{here}.resourceFieldRef", {"valueFrom": item}, names, pod, in_file=True)


def _field(view: View, path: str, found: Any, pod: Pod, *, in_file: bool = False) -> None:
    if not isinstance(found, str):
        return
    allowed = _FIELDS - (_ONLY_ENV if in_file else _ONLY_FILES)
    keyed = _KEYED.fullmatch(found)
    if keyed is None and found not in allowed:
        view.error(
            "reference-field-path",
            path,
            f"got {show(found)}",
            allowed=f"one of {', '.join(sorted(allowed))}, metadata.labels['KEY'] or metadata.annotations['KEY']",
            hint=nearest(found, allowed),
        )
    elif keyed is not None and keyed[1] == "labels" and pod.labels is not None and keyed[2] not in pod.labels:
        near = nearest_of(keyed[2], pod.labels)
        is_of_set = bool(pod.job) and keyed[2].startswith(_OF_SETS)
        if near or is_of_set:
            known = ", ".join(sorted(key for key in pod.labels if key.startswith(_OF_SETS)))
            view.error(
                "reference-field-path",
                path,
                f"the pods have no label {keyed[2]}",
                allowed=known if is_of_set else "",
                hint=f"did you mean {near}?" if near else "",
            )


def _resource(view: View, path: str, entry: Mapping[str, Any], names: set[str], pod: Pod, *, in_file: bool) -> None:
    found = follow(entry, "valueFrom", "resourceFieldRef")
    if not isinstance(found, Mapping):
        return
    name, resource = found.get("containerName"), found.get("resource")
    if isinstance(name, str) and name not in names and pod.containers_are_known:
        view.error(
            "reference-container",
            f"{path}.containerName",
            f"the pod has no container {show(name)}",
            allowed=f"one of {', '.join(sorted(names))}",
            hint=nearest(name, names),
        )
    elif name is None and in_file:
        view.error("reference-container", f"{path}.containerName", "is missing", allowed="needed in a volume")
    if isinstance(resource, str) and not _RESOURCES.fullmatch(resource):
        view.error(
            "reference-field-path",
            f"{path}.resource",
            f"got {show(resource)}",
            allowed="limits or requests of cpu, memory, ephemeral-storage or hugepages-SIZE, as limits.memory",
        )


def _pulling(pod: Pod, cluster: Cluster) -> None:
    if pod.namespace is None:
        return
    for path, entry in pod.view.items(f"{pod.path}.imagePullSecrets"):
        name = entry.get("name")
        if not isinstance(name, str):
            continue
        near = cluster.lacks("Secret", pod.namespace, name)
        if near is not None:
            pod.view.error(
                "reference-missing",
                f"{path}.name",
                f"no Secret {show(name)} in {show(pod.namespace or 'default')}, so a private image is not pulled",
                hint=f"did you mean {near}?" if near else "",
            )
        found = cluster.find("Secret", pod.namespace, name)
        if found is None or found.is_unknown("type"):
            continue
        kind = found.text("type") or "Opaque"
        if kind not in ("kubernetes.io/dockerconfigjson", "kubernetes.io/dockercfg"):
            pod.view.error(
                "reference-pull-secret",
                f"{path}.name",
                f"Secret {show(name)} is of type {show(kind)}, which the kubelet does not pull with",
                allowed="type kubernetes.io/dockerconfigjson",
            )
