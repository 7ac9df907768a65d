"""Pods: containers, volumes, resources, probes, and what they refer to.

Source: validation of Kubernetes 1.35 as generally known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Final

from trainyard.problems import nearest
from trainyard.recorded.alike import Sound
from trainyard.recorded.model import UNKNOWN
from trainyard.recorded.quantities import quantity
from trainyard.recorded.read import as_number, follow
from trainyard.rehearsal.context import View, show
from trainyard.rehearsal.refusals.kubernetes import pod_rules
from trainyard.rehearsal.refusals.kubernetes.dns import DNS_LABEL
from trainyard.rehearsal.refusals.kubernetes.index import Objects, object_namespace
from trainyard.rehearsal.refusals.kubernetes.pod_parts import BUILT_IN_CLASSES

_BY_RULES: Final = Sound(4096)


def check_pod(view: View, path: str, spec: Mapping[str, Any], objects: Objects) -> None:
    """Notes what is wrong with a pod specification at `path`."""
    volumes: dict[str, str] = {}
    named = [follow(volume, "name") for volume in view.entries(f"{path}.volumes")]
    for here, volume in view.items(f"{path}.volumes"):
        name = volume.get("name")
        if isinstance(name, str):
            if not DNS_LABEL.fullmatch(name):
                view.error("k8s-volume", f"{here}.name", f"got {show(name)}", allowed="must be a DNS label")
            volumes[name] = here
        _volume_sources(view, here, volume, objects)
    seen: set[str] = set()
    every_volume_known = not view.is_unknown(f"{path}.volumes") and UNKNOWN not in view.entries(f"{path}.volumes")
    for key in ("initContainers", "containers"):
        for here, container in view.items(f"{path}.{key}"):
            _container(view, here, container, seen, objects)
            for mount, entry in view.items(f"{here}.volumeMounts"):
                name = entry.get("name")
                templates = {str(follow(claim, "metadata", "name")) for claim in _claims(view)}
                if (
                    isinstance(name, str)
                    and every_volume_known
                    and UNKNOWN not in named
                    and name not in volumes
                    and name not in templates
                ):
                    view.error(
                        "k8s-volume-mount",
                        f"{mount}.name",
                        f"the pod has no volume {show(name)}",
                        hint=nearest(name, volumes),
                    )
    account, namespace = spec.get("serviceAccountName"), object_namespace(view)
    cluster_wide = view.text("kind") == "ClusterTrainingRuntime"
    if (
        isinstance(account, str)
        and namespace is not None
        and not cluster_wide
        and objects.lacks("ServiceAccount", namespace, account)
    ):
        view.error(
            "k8s-reference",
            f"{path}.serviceAccountName",
            f"no service account {show(account)} in namespace {show(namespace)}",
            hint=nearest(account, objects.names("ServiceAccount", namespace)),
        )
    priority = spec.get("priorityClassName")
    if isinstance(priority, str) and priority not in BUILT_IN_CLASSES and objects.lacks("PriorityClass", "", priority):
        view.error(
            "k8s-reference",
            f"{path}.priorityClassName",
            f"no priority class {show(priority)}",
            hint=nearest(priority, [*objects.names("PriorityClass", ""), *BUILT_IN_CLASSES]),
        )
    version = view.stack.context.kubernetes_version
    view.unless_sound(_BY_RULES, partial(pod_rules.check, view, path, spec), path, version)


def _claims(view: View) -> Iterator[Mapping[str, Any]]:
    """Templates of claims, by whose names pods mount them: of a stateful set, and of a JobSet."""
    for path in ("spec", *(path for path, _ in view.items("spec.volumeClaimPolicies"))):
        for key in ("volumeClaimTemplates", "templates"):
            yield from (claim for _, claim in view.items(f"{path}.{key}"))


def _container(view: View, path: str, container: Mapping[str, Any], seen: set[str], objects: Objects) -> None:
    name = container.get("name")
    if isinstance(name, str):
        if not DNS_LABEL.fullmatch(name):
            view.error("k8s-container-name", f"{path}.name", f"got {show(name)}", allowed="must be a DNS label")
        if name in seen:
            view.error(
                "k8s-container-name", f"{path}.name", f"{show(name)} is given twice", allowed="each name once in a pod"
            )
        seen.add(name)
    for here, port in view.items(f"{path}.ports"):
        check_port(view, f"{here}.containerPort", port.get("containerPort"))
        own, outer = as_number(port.get("containerPort")), as_number(port.get("hostPort"))
        if view.flag(f"{path.rpartition('.')[0]}.hostNetwork") and own and outer and own != outer:
            view.error(
                "k8s-port", f"{here}.hostPort", f"got {outer:g}", allowed=f"{own:g}: the pod is in the node's network"
            )  # fmt: skip
        label = port.get("name")
        if isinstance(label, str) and not re.fullmatch(r"(?=.*[a-z])(?!.*--)[a-z0-9]([a-z0-9-]{0,13}[a-z0-9])?", label):
            view.error(
                "k8s-port-name",
                f"{here}.name",
                f"got {show(label)}",
                allowed="at most 15 lower-case letters, digits and '-'",
            )
    names: set[str] = set()
    for here, entry in view.items(f"{path}.env"):
        label = entry.get("name")
        if isinstance(label, str):
            if label in names:
                view.error(
                    "k8s-duplicate", here, f"{show(label)} is given twice", allowed="each environment variable once"
                )
            names.add(label)
        if entry.get("value") not in (None, "") and entry.get("valueFrom") is not None:
            view.error("k8s-env", here, "has both value and valueFrom", allowed="one of them")
        for key, kind in (("configMapKeyRef", "ConfigMap"), ("secretKeyRef", "Secret")):
            _refer(view, f"{here}.valueFrom.{key}", kind, "name", objects)
    for here, _ in view.items(f"{path}.envFrom"):
        for key, kind in (("configMapRef", "ConfigMap"), ("secretRef", "Secret")):
            _refer(view, f"{here}.{key}", kind, "name", objects)
    requests, limits = view.mapping(f"{path}.resources.requests"), view.mapping(f"{path}.resources.limits")
    for key, value in requests.items():
        wanted, most = quantity(value), quantity(limits.get(key))
        here = f"{path}.resources.requests.{key}"
        if wanted is not None and most is not None and wanted > most:
            view.error("k8s-resources", here, f"{value} is above the limit {limits[key]}", allowed="requests <= limits")
        known = (
            value is not UNKNOWN and limits.get(key) is not UNKNOWN and not view.is_unknown(f"{path}.resources.limits")
        )
        if "/" in key and known and wanted != most:
            view.error(
                "k8s-resources",
                here,
                f"{value}, and the limit is {limits.get(key)}",
                allowed="requests equal to limits for an extended resource",
            )
    for probe in ("livenessProbe", "readinessProbe", "startupProbe"):
        found = view.mapping(f"{path}.{probe}")
        handlers = [key for key in ("exec", "httpGet", "tcpSocket", "grpc") if found.get(key) is not None]
        if found and len(handlers) != 1:
            view.error(
                "k8s-probe",
                f"{path}.{probe}",
                f"has {len(handlers)} handlers",
                allowed="one of exec, httpGet, tcpSocket, grpc",
            )
        success = as_number(found.get("successThreshold"))
        if probe != "readinessProbe" and success is not None and success != 1:
            view.error("k8s-probe", f"{path}.{probe}.successThreshold", f"got {success:g}", allowed="1")


def _volume_sources(view: View, path: str, volume: Mapping[str, Any], objects: Objects) -> None:
    sources = [key for key, value in volume.items() if key != "name" and value is not None]
    if len(sources) > 1:
        view.error("k8s-volume", path, f"has {' and '.join(sources)}", allowed="one source a volume")
    _refer(view, f"{path}.configMap", "ConfigMap", "name", objects)
    _refer(view, f"{path}.secret", "Secret", "secretName", objects)
    _refer(view, f"{path}.persistentVolumeClaim", "PersistentVolumeClaim", "claimName", objects)
    for here, _ in view.items(f"{path}.projected.sources"):
        _refer(view, f"{here}.configMap", "ConfigMap", "name", objects)
        _refer(view, f"{here}.secret", "Secret", "name", objects)


def _refer(view: View, path: str, kind: str, key: str, objects: Objects) -> None:
    reference, namespace = view.mapping(path), object_namespace(view)
    name = reference.get(key)
    if not isinstance(name, str) or namespace is None or reference.get("optional") is True:
        return
    if view.text("kind") == "ClusterTrainingRuntime":
        return  # it is used in the namespace of each job
    if objects.lacks(kind, namespace, name):
        view.error(
            "k8s-reference",
            f"{path}.{key}",
            f"no {kind} {show(name)} in namespace {show(namespace)}",
            hint=nearest(name, objects.names(kind, namespace)),
        )


def check_port(view: View, path: str, value: Any) -> None:
    """Notes a port number that does not exist."""
    number = as_number(value) if not isinstance(value, str) else None
    if number is not None and not 1 <= number <= 65535:
        view.error("k8s-port", path, f"got {number:g}", allowed="must be 1 to 65535")
