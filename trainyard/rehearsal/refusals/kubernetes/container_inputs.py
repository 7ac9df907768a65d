"""Containers: inputs that the API server weighs together, beyond names, probes' handlers and amounts.

Source: `validateContainerCommon`, `validateHandler`, `ValidateVolumeMounts` and `validateContainerResourceClaims` of
pkg/apis/core/validation of Kubernetes 1.35, as generally known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from trainyard.problems import nearest
from trainyard.recorded.model import UNKNOWN
from trainyard.recorded.read import as_number
from trainyard.rehearsal.context import View, show

_SOURCES: Final = ("fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef")
_BULK: Final = ("configMapRef", "secretRef")
_ENV_NAME: Final = re.compile(r"[ -<>-~]+")
"""Printable ASCII without `=` (relaxed names, general since 1.34)."""
_HANDLERS: Final = ("exec", "httpGet", "tcpSocket", "sleep")
_DEVICE_VOLUMES: Final = ("persistentVolumeClaim", "ephemeral")
_LARGEST_ID: Final = 2**31 - 1
_RESOURCE_FIELDS: Final = re.compile(r"(limits|requests)\.(cpu|memory|ephemeral-storage|hugepages-\S+)")
_DEFAULT_GRACE_S: Final = 30


def check(view: View, path: str, spec: Mapping[str, Any]) -> None:
    """Notes what the API server refuses of the containers of the pod specification at `path`."""
    ports: dict[tuple[object, object, object], str] = {}
    for here, container in containers(view, path):
        _environment(view, here)
        _mounts(view, path, here)
        _lifecycle(view, path, here)
        _probes(view, here)
        _ids(view, f"{here}.securityContext")
        _profile(view, f"{here}.securityContext.appArmorProfile")
        _claims(view, path, here)
        _resizing(view, here, spec)
        own = () if ".initContainers[" in here and container.get("restartPolicy") != "Always" else ("ports",)
        for key in own:
            _host_ports(view, f"{here}.{key}", ports, is_host=view.flag(f"{path}.hostNetwork") is True)
    _ids(view, f"{path}.securityContext")
    _profile(view, f"{path}.securityContext.appArmorProfile")


def containers(view: View, path: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every container of a pod specification, with its path."""
    for key in ("initContainers", "containers"):
        yield from view.items(f"{path}.{key}")


def _environment(view: View, path: str) -> None:
    for here, entry in view.items(f"{path}.env"):
        name = entry.get("name")
        if isinstance(name, str) and not _ENV_NAME.fullmatch(name):
            view.error("k8s-env", f"{here}.name", f"got {show(name)}", allowed="printable characters without '='")
        source = entry.get("valueFrom")
        if isinstance(source, Mapping):
            given = [key for key in _SOURCES if source.get(key) is not None]
            if len(given) != 1 and UNKNOWN not in source.values():
                told = " and ".join(given) or "no source"
                view.error("k8s-env", f"{here}.valueFrom", f"has {told}", allowed=f"one of {', '.join(_SOURCES)}")
        field = view.text(f"{here}.valueFrom.resourceFieldRef.resource")
        if field is not None and not _RESOURCE_FIELDS.fullmatch(field):
            view.error(
                "k8s-env", f"{here}.valueFrom.resourceFieldRef.resource", f"got {show(field)}",
                allowed="limits or requests of cpu, memory, ephemeral-storage or hugepages, such as limits.cpu",
            )  # fmt: skip
    for here, entry in view.items(f"{path}.envFrom"):
        given = [key for key in _BULK if entry.get(key) is not None]
        if len(given) != 1 and UNKNOWN not in entry.values():
            told = " and ".join(given) or "neither"
            view.error("k8s-env", here, f"has {told}", allowed="one of configMapRef, secretRef")
        prefix = entry.get("prefix")
        if isinstance(prefix, str) and prefix and not _ENV_NAME.fullmatch(prefix):
            view.error("k8s-env", f"{here}.prefix", f"got {show(prefix)}", allowed="printable characters without '='")


def _mounts(view: View, pod: str, path: str) -> None:
    names = set()
    for here, mount in view.items(f"{path}.volumeMounts"):
        names.add(mount.get("name"))
        privileged = f"{path}.securityContext.privileged"
        if mount.get("mountPropagation") == "Bidirectional" and (
            view.lacks(privileged) or view.flag(privileged) is False
        ):
            view.error(
                "k8s-volume-mount", f"{here}.mountPropagation", "Bidirectional", allowed="a privileged container"
            )
        if mount.get("recursiveReadOnly") in ("IfPossible", "Enabled"):
            if mount.get("readOnly") is not True and mount.get("readOnly") is not UNKNOWN:
                view.error(
                    "k8s-volume-mount", f"{here}.recursiveReadOnly", "given without readOnly", allowed="readOnly"
                )
            elif mount.get("mountPropagation") not in (None, "None", UNKNOWN):
                view.error("k8s-volume-mount", f"{here}.recursiveReadOnly", "with mountPropagation", allowed="None")
    volumes = {entry.get("name"): entry for _, entry in view.items(f"{pod}.volumes")}
    templates = [entry for _, entry in view.items("spec.volumeClaimTemplates")]
    paths: set[str] = set()
    for here, device in view.items(f"{path}.volumeDevices"):
        name, place = device.get("name"), device.get("devicePath")
        held = volumes.get(name)
        if isinstance(name, str) and name in names:
            view.error("k8s-volume-mount", f"{here}.name", f"{show(name)} is mounted too", allowed="one of both")
        if held is not None and UNKNOWN not in held.values() and not any(held.get(key) for key in _DEVICE_VOLUMES):
            view.error("k8s-volume-mount", f"{here}.name", f"{show(name)} is no claim", allowed="a claim's volume")
        elif held is None and isinstance(name, str) and not templates and not view.blurred(f"{pod}.volumes"):
            hint = nearest(name, [str(one) for one in volumes])
            view.error("k8s-volume-mount", f"{here}.name", f"the pod has no volume {show(name)}", hint=hint)
        if isinstance(place, str) and place in paths:
            view.error("k8s-volume-mount", f"{here}.devicePath", f"{show(place)} is taken", allowed="each path once")
        paths.add(str(place))


def _lifecycle(view: View, pod: str, path: str) -> None:
    for hook in ("postStart", "preStop"):
        here = f"{path}.lifecycle.{hook}"
        found = view.mapping(here)
        given = [key for key in _HANDLERS if found.get(key) is not None]
        if found and len(given) != 1 and UNKNOWN not in found.values():
            told = " and ".join(given) or "no handler"
            view.error("k8s-lifecycle", here, f"has {told}", allowed=f"one of {', '.join(_HANDLERS)}")
        if "exec" in found and not view.blurred(f"{here}.exec") and not view.entries(f"{here}.exec.command"):
            view.error("k8s-lifecycle", f"{here}.exec.command", "is missing", allowed="a command")
        seconds, grace = view.number(f"{here}.sleep.seconds"), view.number(f"{pod}.terminationGracePeriodSeconds")
        if view.lacks(f"{pod}.terminationGracePeriodSeconds"):
            grace = _DEFAULT_GRACE_S
        if seconds is not None and grace is not None and not 0 <= seconds <= grace:
            allowed = f"0 to {grace:g}, the pod's terminationGracePeriodSeconds"
            view.error("k8s-lifecycle", f"{here}.sleep.seconds", f"got {seconds:g}", allowed=allowed)
    if view.has(f"{path}.lifecycle.stopSignal") and view.lacks(f"{pod}.os.name"):
        view.error("k8s-lifecycle", f"{path}.lifecycle.stopSignal", "given without os.name", allowed="os.name linux")


def _probes(view: View, path: str) -> None:
    for probe in ("livenessProbe", "readinessProbe", "startupProbe"):
        here = f"{path}.{probe}"
        found = view.mapping(here)
        if not found:
            continue
        seconds = view.number(f"{here}.terminationGracePeriodSeconds")
        if seconds is not None and seconds < 1 and probe != "readinessProbe":
            view.error("k8s-probe", f"{here}.terminationGracePeriodSeconds", f"got {seconds:g}", allowed="at least 1")
        if "exec" in found and not view.blurred(f"{here}.exec") and not view.entries(f"{here}.exec.command"):
            view.error("k8s-probe", f"{here}.exec.command", "is missing", allowed="a command")
        for kind in ("httpGet", "tcpSocket"):
            port = view.value(f"{here}.{kind}.port")
            if isinstance(port, str) and not re.fullmatch(
                r"(?=.*[a-z])(?!.*--)[a-z0-9]([a-z0-9-]{0,13}[a-z0-9])?", port
            ):
                allowed = "a number, or a port's name: at most 15 lower-case letters, digits and '-'"
                view.error("k8s-port-name", f"{here}.{kind}.port", f"got {show(port)}", allowed=allowed)


def _ids(view: View, path: str) -> None:
    for key in ("runAsUser", "runAsGroup", "fsGroup"):
        number = view.number(f"{path}.{key}")
        if number is not None and not 0 <= number <= _LARGEST_ID:
            view.error("k8s-security", f"{path}.{key}", f"got {number:g}", allowed=f"0 to {_LARGEST_ID}")
    for index, item in enumerate(view.entries(f"{path}.supplementalGroups")):
        number = as_number(item)
        if number is not None and not 0 <= number <= _LARGEST_ID:
            here = f"{path}.supplementalGroups[{index}]"
            view.error("k8s-security", here, f"got {number:g}", allowed=f"0 to {_LARGEST_ID}")


def _profile(view: View, path: str) -> None:
    kind, file = view.text(f"{path}.type"), f"{path}.localhostProfile"
    if kind == "Localhost" and view.lacks(file):
        view.error("k8s-security", file, "is missing with type Localhost", allowed="a profile on the node")
    elif kind in ("RuntimeDefault", "Unconfined") and view.has(file):
        view.error("k8s-security", file, f"given with type {kind}", allowed="type Localhost")


def _claims(view: View, pod: str, path: str) -> None:
    if view.blurred(f"{pod}.resourceClaims"):
        return
    known = [str(entry.get("name")) for _, entry in view.items(f"{pod}.resourceClaims")]
    seen: set[tuple[object, object]] = set()
    for here, entry in view.items(f"{path}.resources.claims"):
        name = entry.get("name")
        if isinstance(name, str) and name not in known:
            view.error(
                "k8s-device-claim", f"{here}.name", f"the pod has no resource claim {show(name)}",
                allowed="a name of spec.resourceClaims", hint=nearest(name, known),
            )  # fmt: skip
        identity = name, entry.get("request")
        if identity in seen and UNKNOWN not in identity:
            view.error("k8s-device-claim", here, f"{show(name)} is given twice", allowed="each claim once")
        seen.add(identity)


def _resizing(view: View, path: str, spec: Mapping[str, Any]) -> None:
    seen: set[object] = set()
    for here, entry in view.items(f"{path}.resizePolicy"):
        name = entry.get("resourceName")
        if name in seen and name is not UNKNOWN:
            view.error("k8s-container", f"{here}.resourceName", f"{show(name)} is given twice", allowed="each once")
        seen.add(name)
        if spec.get("restartPolicy") == "Never" and entry.get("restartPolicy") == "RestartContainer":
            view.error(
                "k8s-container", f"{here}.restartPolicy", "RestartContainer in a pod that restarts nothing",
                allowed="NotRequired",
            )  # fmt: skip


def _host_ports(view: View, path: str, taken: dict[tuple[object, object, object], str], *, is_host: bool) -> None:
    for here, entry in view.items(path):
        outer = as_number(entry.get("hostPort"))
        if outer is None and is_host:
            outer = as_number(entry.get("containerPort"))  # which is the default there
        if not outer:
            continue
        if not 1 <= outer <= 65535:
            view.error("k8s-port", f"{here}.hostPort", f"got {outer:g}", allowed="must be 1 to 65535")
        key = outer, entry.get("protocol") or "TCP", entry.get("hostIP") or ""
        if key in taken and UNKNOWN not in key and taken[key] != here:
            view.error("k8s-port", f"{here}.hostPort", f"{outer:g} is taken at {taken[key]}", allowed="each once a pod")
        taken[key] = here
