"""Pods against the Pod Security level of their namespace: a Deployment or a Job is taken, and its pods are refused.

Source: Kubernetes documentation, "Pod Security Standards" (v1.35) and "Pod Security Admission", as generally known
(2026-11). Only a level that the namespace's own label enforces, and only what is known to break it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from trainyard.recorded.model import UNKNOWN
from trainyard.recorded.read import as_number, follow
from trainyard.rehearsal.context import listed
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster
from trainyard.rehearsal.works.workloads.model import Workload
from trainyard.rehearsal.works.workloads.read import workloads

ENFORCE: Final = "pod-security.kubernetes.io/enforce"
_ALLOWED_CAPABILITIES: Final = frozenset({
    "AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE", "SETFCAP",
    "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT",
})  # fmt: skip
_SAFE_VOLUMES: Final = frozenset({
    "configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "image", "persistentVolumeClaim", "projected", "secret",
})  # fmt: skip
_HOST: Final = ("hostNetwork", "hostPID", "hostIPC")

Broken = tuple[str, str]
"""Where in the pod's specification, and what the level asks for there."""


def check(cluster: Cluster) -> None:
    """Every recorded pod whose namespace enforces a level."""
    levels = {
        name: level
        for name, labels in cluster.labels_of_namespaces.items()
        if (level := labels.get(ENFORCE)) in ("baseline", "restricted")
    }
    if not levels:
        return
    views = {view.resource.urn: view for view in cluster.views}
    for workload in workloads(cluster.stack.resources):
        level, view = levels.get(workload.namespace), views.get(workload.resource.urn)
        if level is None or view is None or workload.is_template:
            continue
        if workload.origin != "object":  # of a chart's pods only what their table says is known
            broken = next(_of_host(workload), None)
        else:
            broken = next(iter([*_baseline(workload), *(_restricted(workload) if level == "restricted" else ())]), None)
        if broken is not None:
            view.error(
                "reference-pod-security",
                workload.at(broken[0]),
                f"namespace {workload.namespace} enforces {level}: {workload.told()} is taken, its pods are refused",
                allowed=broken[1],
            )


def _of_host(workload: Workload) -> Iterator[Broken]:
    for key in _HOST:
        if workload.spec.get(key) is True:
            yield key, f"no {key}"


def _baseline(workload: Workload) -> Iterator[Broken]:
    spec = workload.spec
    yield from _of_host(workload)
    for index, volume in enumerate(listed(spec.get("volumes"))):
        if follow(volume, "hostPath") not in (None, UNKNOWN):
            yield f"volumes[{index}].hostPath", "no hostPath"
    if follow(spec, "securityContext", "seccompProfile", "type") == "Unconfined":
        yield "securityContext.seccompProfile.type", "RuntimeDefault"
    for path, container in workload.containers():
        context = container.get("securityContext")
        if follow(context, "privileged") is True:
            yield f"{path}.securityContext.privileged", "no privileged container"
        added = listed(follow(context, "capabilities", "add"))
        if any(isinstance(name, str) and name not in _ALLOWED_CAPABILITIES for name in added):
            yield f"{path}.securityContext.capabilities.add", "none beyond those of the container runtime"
        if follow(context, "seccompProfile", "type") == "Unconfined":
            yield f"{path}.securityContext.seccompProfile.type", "RuntimeDefault"
        for index, port in enumerate(listed(container.get("ports"))):
            if as_number(follow(port, "hostPort")):
                yield f"{path}.ports[{index}].hostPort", "no hostPort"


def _restricted(workload: Workload) -> Iterator[Broken]:
    spec = workload.spec
    for index, volume in enumerate(listed(spec.get("volumes"))):
        sources = [key for key in volume if key != "name"] if isinstance(volume, Mapping) else []
        if any(key not in _SAFE_VOLUMES and volume[key] is not None for key in sources):
            yield f"volumes[{index}]", f"one of {', '.join(sorted(_SAFE_VOLUMES))}"
    pod = spec.get("securityContext")
    if pod is UNKNOWN:
        return
    for path, container in workload.containers():
        own = container.get("securityContext")
        if own is UNKNOWN:
            continue
        if _said(own, "allowPrivilegeEscalation") not in (False, UNKNOWN):
            yield f"{path}.securityContext.allowPrivilegeEscalation", "false"
        dropped = _said(own, "capabilities", "drop")
        if dropped is not UNKNOWN and not {"ALL", UNKNOWN} & set(listed(dropped)):
            yield f"{path}.securityContext.capabilities.drop", "ALL"
        added = listed(_said(own, "capabilities", "add"))
        if any(isinstance(name, str) and name != "NET_BIND_SERVICE" for name in added):
            yield f"{path}.securityContext.capabilities.add", "NET_BIND_SERVICE at most"
        is_user = _said(own, "runAsNonRoot")
        if (_said(pod, "runAsNonRoot") if is_user is None else is_user) not in (True, UNKNOWN):
            yield f"{path}.securityContext.runAsNonRoot", "true, here or for the pod"
        profile = _said(own, "seccompProfile", "type")
        profile = _said(pod, "seccompProfile", "type") if profile is None else profile
        if profile not in ("RuntimeDefault", "Localhost", UNKNOWN):
            yield f"{path}.securityContext.seccompProfile.type", "RuntimeDefault or Localhost, here or for the pod"
        if any(as_number(_said(part, "runAsUser")) == 0 for part in (own, pod)):
            yield f"{path}.securityContext.runAsUser", "another user than 0"


def _said(context: Any, *path: str) -> Any:
    """What a context says; UNKNOWN where a part of the way is not known."""
    for key in path:
        if context is UNKNOWN:
            return UNKNOWN
        context = context.get(key) if isinstance(context, Mapping) else None
    return context
