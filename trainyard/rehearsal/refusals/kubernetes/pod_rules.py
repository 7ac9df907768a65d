"""Pods: inputs that the API server weighs together, beyond names and references.

Source: pkg/apis/core/validation of Kubernetes 1.35 as generally known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from trainyard.recorded.read import as_number
from trainyard.rehearsal.context import View, show
from trainyard.rehearsal.refusals.kubernetes import container_inputs, pod_inputs, volume_inputs
from trainyard.rehearsal.refusals.kubernetes.pod_parts import PARTS, check_expressions, check_resources, check_security

_PROBES: Final = ("livenessProbe", "readinessProbe", "startupProbe")
_PULL_BESIDE: Final = re.compile(r"\s")


def check(view: View, path: str, spec: Mapping[str, Any]) -> None:
    """Notes what the API server refuses of the pod specification at `path`."""
    check_expressions(view, path, spec)
    for key, check_part in PARTS.items():
        check_part(view, f"{path}.{key}", spec.get(key))
    _volumes(view, path)
    _pod(view, path, spec)
    pod_inputs.check(view, path, spec)
    container_inputs.check(view, path, spec)
    volume_inputs.check_volumes(view, path)
    for here, container in view.items(f"{path}.containers"):
        _container(view, here, container)
        if container.get("restartPolicy") is not None and view.stack.context.kubernetes_version in _ONE_POLICY_A_POD:
            view.error("k8s-container", f"{here}.restartPolicy", "given", allowed="none outside initContainers")
    for here, container in view.items(f"{path}.initContainers"):
        _container(view, here, container)
        if container.get("restartPolicy") in (None, "Never", "OnFailure"):
            for key in (*_PROBES, "lifecycle"):
                if container.get(key) is not None:
                    view.error("k8s-container", f"{here}.{key}", "given for an init container that ends",
                               allowed="restartPolicy Always")  # fmt: skip


_ONE_POLICY_A_POD: Final = ("1.30", "1.31", "1.32", "1.33", "1.34")
"""Versions in which only init containers have a restart policy of their own (KEP-5307, beta and on in 1.35)."""


def _volumes(view: View, path: str) -> None:
    seen: set[str] = set()
    for here, entry in view.items(f"{path}.volumes"):
        name = entry.get("name")
        if isinstance(name, str):
            if name in seen:
                view.error("k8s-volume", f"{here}.name", f"{show(name)} is given twice", allowed="each name once")
            seen.add(name)
        for source in ("configMap", "secret", "projected", "downwardAPI"):
            mode = as_number(view.value(f"{here}.{source}.defaultMode"))
            if mode is not None and not 0 <= mode <= 0o777:
                view.error("k8s-file-mode", f"{here}.{source}.defaultMode", f"got {mode:g}",
                           allowed="0 to 511: octal 0777, as a decimal number or 0o777")  # fmt: skip
            for item, found in view.items(f"{here}.{source}.items"):
                _inside(view, f"{item}.path", found.get("path"))
                own = as_number(found.get("mode"))
                if own is not None and not 0 <= own <= 0o777:
                    view.error("k8s-file-mode", f"{item}.mode", f"got {own:g}", allowed="0 to 511: octal 0777")
        medium = view.text(f"{here}.emptyDir.medium")
        if medium not in (None, "", "Memory") and not medium.startswith("HugePages"):
            view.error("k8s-volume", f"{here}.emptyDir.medium", f"got {show(medium)}", allowed="Memory, HugePages-2Mi")
        host = view.text(f"{here}.hostPath.path")
        if host is not None and ".." in host.split("/"):
            view.error("k8s-volume", f"{here}.hostPath.path", f"got {show(host)}", allowed="a path without '..'")


def _inside(view: View, path: str, value: Any) -> None:
    if isinstance(value, str) and (value.startswith("/") or ".." in value.split("/") or not value):
        view.error("k8s-volume", path, f"got {show(value)}", allowed="a path inside the volume, without '..'")


def _pod(view: View, path: str, spec: Mapping[str, Any]) -> None:
    for key, least in (("terminationGracePeriodSeconds", 0), ("activeDeadlineSeconds", 1)):
        number = view.number(f"{path}.{key}")
        if number is not None and number < least:
            view.error("k8s-number", f"{path}.{key}", f"got {number:g}", allowed=f"at least {least}")
    servers = f"{path}.dnsConfig.nameservers"
    if spec.get("dnsPolicy") == "None" and (view.lacks(servers) or view.value(servers) == []):
        view.error("k8s-dns", servers, "is missing with dnsPolicy None", allowed="a server")
    for key in ("hostname", "subdomain"):
        name = spec.get(key)
        if isinstance(name, str) and name and not re.fullmatch(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?", name):
            view.error("k8s-name", f"{path}.{key}", f"got {show(name)}", allowed="must be a DNS label")
    profiles = [f"{path}.securityContext"]
    profiles += [f"{here}.securityContext" for here, _ in _every_container(view, path)]
    for profile in profiles:
        kind, file = view.text(f"{profile}.seccompProfile.type"), f"{profile}.seccompProfile.localhostProfile"
        if kind == "Localhost" and view.lacks(file):
            view.error("k8s-security", file, "is missing with type Localhost", allowed="a profile on the node")
        elif kind in ("RuntimeDefault", "Unconfined") and view.has(file):
            view.error("k8s-security", file, f"given with type {kind}", allowed="type Localhost")
    if spec.get("hostPID") is True and spec.get("shareProcessNamespace") is True:
        view.error("k8s-security", f"{path}.shareProcessNamespace", "given beside hostPID", allowed="one of them")


def _every_container(view: View, path: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for key in ("initContainers", "containers"):
        yield from view.items(f"{path}.{key}")


def _container(view: View, path: str, container: Mapping[str, Any]) -> None:
    image = container.get("image")
    if isinstance(image, str) and image and _PULL_BESIDE.search(image):
        view.error("k8s-image", f"{path}.image", f"got {show(image)}", allowed="no blanks")
    places: set[str] = set()
    for here, mount in view.items(f"{path}.volumeMounts"):
        place, below = mount.get("mountPath"), mount.get("subPath")
        if isinstance(place, str):
            if place in places:
                view.error("k8s-volume-mount", f"{here}.mountPath", f"{show(place)} is taken", allowed="each path once")
            places.add(place)
        if below not in (None, ""):
            _inside(view, f"{here}.subPath", below)
            if mount.get("subPathExpr") not in (None, ""):
                view.error("k8s-volume-mount", f"{here}.subPathExpr", "given beside subPath", allowed="one of them")
    check_security(view, f"{path}.securityContext", container.get("securityContext"))
    for probe in _PROBES:
        _probe(view, f"{path}.{probe}", probe)
    check_resources(view, f"{path}.resources", container.get("resources"))


def _probe(view: View, path: str, probe: str) -> None:
    for key, least in (
        ("initialDelaySeconds", 0),
        ("timeoutSeconds", 0),
        ("periodSeconds", 0),
        ("failureThreshold", 0),
    ):
        number = view.number(f"{path}.{key}")
        if number is not None and number < least:
            view.error("k8s-probe", f"{path}.{key}", f"got {number:g}", allowed=f"at least {least}")
    if probe == "readinessProbe" and view.has(f"{path}.terminationGracePeriodSeconds"):
        here = f"{path}.terminationGracePeriodSeconds"
        view.error("k8s-probe", here, "given for a readiness probe", allowed="a liveness or startup probe")
    for kind in ("httpGet", "tcpSocket", "grpc"):
        port = view.number(f"{path}.{kind}.port") if not isinstance(view.value(f"{path}.{kind}.port"), str) else None
        if port is not None and not 1 <= port <= 65535:
            view.error("k8s-port", f"{path}.{kind}.port", f"got {port:g}", allowed="must be 1 to 65535")
