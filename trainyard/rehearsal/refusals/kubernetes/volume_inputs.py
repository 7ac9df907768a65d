"""Volumes of pods, persistent volumes, claims, classes, secrets and quotas: further inputs that are weighed together.

Source: `validateVolumeSource`, `validateProjectionSources`, `ValidatePersistentVolumeSpec`,
`ValidatePersistentVolumeClaimSpec`, `ValidateResourceQuotaSpec`, `ValidateLimitRange` and `ValidateSecret` of
pkg/apis/core/validation of Kubernetes 1.35, as generally known.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any, Final

from trainyard.conventions.quantities import MEBIBYTE
from trainyard.recorded.model import UNKNOWN, has_unknown
from trainyard.recorded.quantities import quantity
from trainyard.rehearsal.context import View, listed, show
from trainyard.rehearsal.refusals.kubernetes.dns import DNS_NAME

_LEAST_TOKEN_S: Final = 600
_MOST_TOKEN_S: Final = 2**32
_MOST_BYTES: Final = MEBIBYTE
"""What the values of a ConfigMap or Secret may hold together."""
_PROJECTED: Final = (
    "secret", "configMap", "downwardAPI", "serviceAccountToken", "clusterTrustBundle", "podCertificate",
)  # fmt: skip
_NOT_CSI: Final = ("nfs", "hostPath", "local", "iscsi", "fc")
_OPPOSITE: Final = (("BestEffort", "NotBestEffort"), ("Terminating", "NotTerminating"))
_WHOLE: Final = ("pods", "services", "persistentvolumeclaims", "secrets", "configmaps", "resourcequotas")


def check(view: View, kind: str) -> None:
    """What the API server refuses of an object that stores or counts something."""
    rule = _RULES.get(kind)
    if rule is not None:
        rule(view)


def check_volumes(view: View, path: str) -> None:
    """Notes what the API server refuses of the volumes of the pod specification at `path`."""
    for here, entry in view.items(f"{path}.volumes"):
        _absolute(view, f"{here}.nfs.path")
        if isinstance(entry.get("ephemeral"), Mapping):
            _claim_of(view, f"{here}.ephemeral.volumeClaimTemplate.spec")
        size = quantity(view.value(f"{here}.emptyDir.sizeLimit"))
        if size is not None and size < 0:
            view.error("k8s-volume", f"{here}.emptyDir.sizeLimit", "is below 0", allowed="at least 0")
        _projected(view, here)


def _absolute(view: View, path: str) -> None:
    where = view.text(path)
    if where is not None and not where.startswith("/"):
        view.error("k8s-volume", path, f"got {show(where)}", allowed="a path that begins with /")


def _projected(view: View, path: str) -> None:
    places: dict[str, str] = {}
    for here, source in view.items(f"{path}.projected.sources"):
        given = [key for key in _PROJECTED if source.get(key) is not None]
        if len(given) != 1 and UNKNOWN not in source.values():
            told = " and ".join(given) or "no source"
            view.error("k8s-volume", here, f"has {told}", allowed=f"one of {', '.join(_PROJECTED)}")
        seconds = view.number(f"{here}.serviceAccountToken.expirationSeconds")
        if seconds is not None and not _LEAST_TOKEN_S <= seconds <= _MOST_TOKEN_S:
            view.error(
                "k8s-volume", f"{here}.serviceAccountToken.expirationSeconds", f"got {seconds:g}",
                allowed=f"{_LEAST_TOKEN_S} (ten minutes) to {_MOST_TOKEN_S}",
            )  # fmt: skip
        paths = [view.text(f"{here}.serviceAccountToken.path"), view.text(f"{here}.clusterTrustBundle.path")]
        for key in ("secret", "configMap", "downwardAPI"):
            paths += [view.text(f"{item}.path") for item, _ in view.items(f"{here}.{key}.items")]
        for where in paths:
            if where is not None and where in places:
                view.error("k8s-volume", here, f"puts {show(where)}, as {places[where]} does", allowed="each path once")
            if where is not None:
                places[where] = here


def _claim_of(view: View, path: str) -> None:
    """A claim's specification, of an object of its own or of a template."""
    for here in (f"{path}.accessModes", f"{path}.resources.requests.storage"):
        if view.lacks(here):
            view.error("k8s-claim", here, "is missing", allowed="a required field")
    name = view.text(f"{path}.storageClassName")
    if name and not DNS_NAME.fullmatch(name):
        view.error("k8s-claim", f"{path}.storageClassName", f"got {show(name)}", allowed="a class's name, or ''")


def _claim(view: View) -> None:
    name = view.text("spec.storageClassName")
    if name and not DNS_NAME.fullmatch(name):
        view.error("k8s-claim", "spec.storageClassName", f"got {show(name)}", allowed="a class's name, or ''")
    source, other = view.mapping("spec.dataSource"), view.mapping("spec.dataSourceRef")
    for path, given in (("spec.dataSource", source), ("spec.dataSourceRef", other)):
        if given and not given.get("apiGroup") and given.get("kind") not in ("PersistentVolumeClaim", UNKNOWN, None):
            view.error("k8s-claim", f"{path}.apiGroup", "is missing", allowed=f"the API group of {given.get('kind')}")
    common = [key for key in ("apiGroup", "kind", "name") if source.get(key) != other.get(key)]
    if source and other and common and UNKNOWN not in (*source.values(), *other.values()):
        view.error("k8s-claim", "spec.dataSourceRef", "is another than dataSource", allowed="one of them, or the same")


def _volume(view: View) -> None:
    modes = view.entries("spec.accessModes")
    if "ReadWriteOncePod" in modes and any(view.has(f"spec.{key}") for key in _NOT_CSI):
        view.error("k8s-access-mode", "spec.accessModes", "ReadWriteOncePod", allowed="volumes of CSI drivers alone")
    sources = ("csi", *_NOT_CSI, "awsElasticBlockStore", "gcePersistentDisk", "cephfs", "rbd", "azureDisk", "azureFile")
    more = ("flexVolume", "portworxVolume", "quobyte", "scaleIO", "storageos", "vsphereVolume", "cinder", "flocker")
    known = (*sources, *more, "glusterfs", "photonPersistentDisk")
    if view.mapping("spec") and not any(not view.lacks(f"spec.{key}") for key in known):
        view.error("k8s-volume", "spec", "has no source", allowed="csi, nfs, local and the like")
    _absolute(view, "spec.nfs.path")
    if view.text("spec.hostPath.path") == "/" and view.text("spec.persistentVolumeReclaimPolicy") == "Recycle":
        view.error("k8s-volume", "spec.persistentVolumeReclaimPolicy", "Recycle of /", allowed="Retain")


def _quota(view: View) -> None:
    scopes = {*view.texts("spec.scopes")}
    scopes |= {str(entry.get("scopeName")) for _, entry in view.items("spec.scopeSelector.matchExpressions")}
    for one, other in _OPPOSITE:
        if {one, other} <= scopes:
            view.error("k8s-quota-scope", "spec.scopes", f"{one} and {other}", allowed="one of these two")
    for name, value in view.mapping("spec.hard").items():
        here, number = f"spec.hard[{name!r}]", quantity(value)
        if "BestEffort" in scopes and name != "pods":
            view.error("k8s-quota-scope", here, f"{name} of pods that ask for nothing", allowed="pods")
        if number is not None and number < 0:
            view.error("k8s-resources", here, f"got {show(value)}", allowed="at least 0")
        elif number is not None and number % 1 and (name in _WHOLE or name.startswith("count/")):
            view.error("k8s-resources", here, f"got {show(value)}", allowed="a whole number")


def _limit_range(view: View) -> None:
    kinds: set[object] = set()
    for path, entry in view.items("spec.limits"):
        kind = entry.get("type")
        if kind in kinds and kind is not UNKNOWN:
            view.error("k8s-limit-range", f"{path}.type", f"{show(kind)} is given twice", allowed="each type once")
        kinds.add(kind)
        low, high = view.mapping(f"{path}.min"), view.mapping(f"{path}.max")
        for name, value in view.mapping(f"{path}.maxLimitRequestRatio").items():
            here, ratio = f"{path}.maxLimitRequestRatio[{name!r}]", quantity(value)
            least, most = quantity(low.get(name)), quantity(high.get(name))
            if ratio is not None and ratio < 1:
                view.error("k8s-limit-range", here, f"got {show(value)}", allowed="at least 1")
            elif ratio and least and most and ratio > most / least and not math.isclose(ratio, most / least):
                view.error(
                    "k8s-limit-range", here, f"got {show(value)}", allowed=f"at most {most / least:g}: max / min"
                )


def _secret(view: View) -> None:
    kind = view.text("type")
    open_ = any(view.is_unknown(part) or view.is_secret(part) for part in ("data", "stringData"))
    held = {key for part in ("data", "stringData") for key in view.mapping(part)}
    if kind == "kubernetes.io/basic-auth" and not held & {"username", "password"} and not open_:
        view.error("k8s-secret", "data", f"a Secret of type {kind} holds a username or password", allowed="one")
    name = "kubernetes.io/service-account.name"
    if kind == "kubernetes.io/service-account-token" and not view.mapping("metadata.annotations").get(name):
        view.error("k8s-secret", "metadata.annotations", f"has no {name}", allowed="the account that the token is of")
    login = view.mapping("stringData").get(".dockerconfigjson")
    if kind == "kubernetes.io/dockerconfigjson" and isinstance(login, str) and not _is_json(login):
        view.error("k8s-secret", "stringData['.dockerconfigjson']", "is no JSON", allowed='{"auths": {...}}')
    _size(view)


def _is_json(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


def _size(view: View) -> None:
    parts = ("data", "binaryData", "stringData")
    held = sum(len(value.encode()) for part in parts for value in view.mapping(part).values() if isinstance(value, str))
    if held > _MOST_BYTES * (4 / 3 if view.text("kind") == "Secret" else 1):
        view.error("k8s-size", "data", f"holds {held} bytes", allowed=f"at most {_MOST_BYTES} together")


def _storage_class(view: View) -> None:
    seen: set[object] = set()
    for here, term in view.items("allowedTopologies"):
        for path, entry in view.items(f"{here}.matchLabelExpressions"):
            if entry.get("values") == []:
                view.error("k8s-selector", f"{path}.values", "is empty", allowed="values")
            values = [item for item in listed(entry.get("values")) if item is not UNKNOWN]
            if len({str(item) for item in values}) != len(values):
                view.error("k8s-selector", f"{path}.values", f"got {show(values)}", allowed="each value once")
        key = str(term)
        if key in seen and not has_unknown(term):
            view.error("k8s-duplicate", here, "is given twice", allowed="each topology once")
        seen.add(key)


def _templates(view: View) -> None:
    """Claims that a StatefulSet makes: its own validation leaves them alone, and the claims are refused."""
    for here, _ in view.items("spec.volumeClaimTemplates"):
        _claim_of(view, f"{here}.spec")


_RULES: Final[Mapping[str, Callable[[View], Any]]] = {
    "ConfigMap": _size,
    "LimitRange": _limit_range,
    "PersistentVolume": _volume,
    "PersistentVolumeClaim": _claim,
    "ResourceQuota": _quota,
    "Secret": _secret,
    "StatefulSet": _templates,
    "StorageClass": _storage_class,
}
