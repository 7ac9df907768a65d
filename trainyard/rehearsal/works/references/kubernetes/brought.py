"""What a chart's values take for granted: kinds that another chart brings, a class of disks that is the default.

Sources: Helm charts' values by convention (`serviceMonitor.enabled`, `certManager`); Kubernetes documentation, "Dynamic
Volume Provisioning" (`storageclass.kubernetes.io/is-default-class`); EKS user guide, "Amazon EKS Kubernetes versions"
(since 1.30 the class `gp2` is not the default any more); GKE, "Persistent volumes" (`standard-rwo` is) (2026-11).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from trainyard.recorded.model import UNKNOWN
from trainyard.recorded.types import ADD_ON, EKS_CLUSTER, GKE_CLUSTER
from trainyard.rehearsal.context import View, show
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster

_CERTIFICATES: Final = ("cert-manager.io", ("cert-manager",))
_MONITORING: Final = ("monitoring.coreos.com", ("kube-prometheus-stack", "prometheus-operator-crds"))
_SWITCHES: Final = (
    (re.compile(r"(^|\.)(enableCertManager|useCertManager)$|(^|\.)(certManager|cert-manager)\.(enable|enabled)$"),
     _CERTIFICATES),
    (re.compile(r"(^|\.)(serviceMonitor|podMonitor|prometheusRule|ServiceMonitor|PodMonitor)\.(enable|enabled|create)$"
                r"|(^|\.)(enablePrometheus|prometheus\.enable)$"), _MONITORING),
    (re.compile(r"(^|\.)(verticalPodAutoscaler|vpa)\.(enable|enabled)$"),
     ("autoscaling.k8s.io", ("vertical-pod-autoscaler", "vpa"))),
    (re.compile(r"(^|\.)keda\.(enable|enabled)$"), ("keda.sh", ("keda",))),
    (re.compile(r"(^|\.)externalSecrets?\.(enable|enabled)$"), ("external-secrets.io", ("external-secrets",))),
    (re.compile(r"(^|\.)httpRoute\.(enable|enabled)$"), ("gateway.networking.k8s.io", ("gateway-api",))),
)  # fmt: skip
"""Values by their end, the group of the kinds that a chart makes then, and the charts that bring them."""
_OF_GKE: Final = frozenset({"autoscaling.k8s.io", "gateway.networking.k8s.io"})
"""Groups that GKE brings itself (its documentation, "Vertical Pod autoscaling" and "Deploying Gateways")."""
_OWN: Final = frozenset({"kube-prometheus-stack", "cert-manager", "prometheus-operator-crds"})
"""Charts that bring their own kinds."""
_DEFAULT: Final = "storageclass.kubernetes.io/is-default-class"
_MAKES_DEFAULT: Final = re.compile(rf"{re.escape(_DEFAULT)}|\b(?:isDefaultClass|defaultClass|defaultStorageClass)\b")
"""What charts call it that a class of theirs is the default."""
_CLASS: Final = ("storageClass", "storageClassName")


def check(cluster: Cluster) -> None:
    """Switches in values, and claims of the class that is the default."""
    charts = {(one.text("chart") or "").rstrip("/").rpartition("/")[2] for one in cluster.releases}
    if cluster.makes_everything:
        defined = {view.text("spec.group") for view in cluster.of("CustomResourceDefinition")}
        for release in cluster.releases:
            _switched(release, charts, defined, cluster)
    if not _has_default(cluster) and not _has_unclassed(cluster):
        for release in cluster.releases:
            for path, said in _claimed(release.mapping("values"), "values"):
                _tell(release, path, said)
        for view in cluster.of("PersistentVolumeClaim"):
            _claim(view, "spec", view.is_unknown("spec"))
        for view in cluster.of("StatefulSet"):
            for path, _ in view.items("spec.volumeClaimTemplates"):
                _claim(view, f"{path}.spec", view.is_unknown(path))


def _switched(release: View, charts: set[str], defined: set[str | None], cluster: Cluster) -> None:
    own = (release.text("chart") or "").rstrip("/").rpartition("/")[2]
    for path, value in _leaves(release.mapping("values"), ""):
        for pattern, (group, bringers) in _SWITCHES if value is True and own not in _OWN else ():
            if pattern.search(path) and not charts & set(bringers) and group not in defined:
                if any(one.text("addonName") in bringers for one in cluster.stack.of_type(ADD_ON)):
                    continue
                if group in _OF_GKE and cluster.stack.of_type(GKE_CLUSTER):
                    continue
                release.error(
                    "reference-brought", f"values.{path}",
                    f"has the chart make kinds of {group}, and nothing of the stack brings them: the release fails",
                    allowed=f"false, or chart {' or '.join(bringers)}",
                )  # fmt: skip


def _leaves(values: Any, path: str) -> Iterator[tuple[str, Any]]:
    for key, value in values.items() if isinstance(values, Mapping) else ():
        below = f"{path}.{key}" if path else str(key)
        if isinstance(value, Mapping):
            if value.get("enabled") is not False:
                yield from _leaves(value, below)
        else:
            yield below, value


def _has_default(cluster: Cluster) -> bool:
    """Whether a class may be the default: one says so, or somebody else than the stack makes classes."""
    made = cluster.of("StorageClass")
    said = [view for view in made if str(view.mapping("metadata.annotations").get(_DEFAULT, "")).lower() == "true"]
    unknown = any(view.blurred("metadata.annotations") or view.is_unknown("metadata") for view in made)
    others = bool(cluster.stack.of_type(GKE_CLUSTER)) or not cluster.stack.of_type(EKS_CLUSTER)
    add_ons = any(
        "defaultStorageClass" in (one.text("configurationValues") or "") or one.is_unknown("configurationValues")
        for one in cluster.stack.of_type(ADD_ON)
    )
    patched = any(view.type.endswith(":StorageClassPatch") for view in cluster.views)
    charts = any(_MAKES_DEFAULT.search(str(release.mapping("values"))) for release in cluster.releases)
    return bool(said) or unknown or others or add_ons or patched or charts or not cluster.makes_everything


def _claimed(values: Any, path: str) -> Iterator[tuple[str, str]]:
    """Where a chart's values ask for a disk and name no class."""
    for key, value in values.items() if isinstance(values, Mapping) else ():
        below = f"{path}.{key}"
        if not isinstance(value, Mapping) or value.get("enabled") is False:
            continue
        held: Any = None
        if key in ("persistence", "persistentVolume") and value.get("enabled") is True:
            held = value if not value.get("existingClaim") else None
        elif key == "volumeClaimTemplate":
            held = value.get("spec")
        is_disk = isinstance(held, Mapping) and held.get("type", "pvc") in ("pvc", "statefulset")
        if is_disk and not any(held.get(name) is UNKNOWN or held.get(name) for name in _CLASS):
            yield below, key
        yield from _claimed(value, below)


def _claim(view: View, path: str, unknown: bool) -> None:
    spec = view.mapping(path)
    if (
        unknown
        or "storageClassName" in spec
        or not spec
        or spec.get("volumeName")
        or spec.get("selector")
        or view.is_unknown(path)
    ):
        return
    _tell(view, path, "a claim")


def _has_unclassed(cluster: Cluster) -> bool:
    """Whether there is a volume without a class, which a claim without one may take."""
    return any(
        not view.is_unknown("spec") and not view.value("spec.storageClassName") and not view.has("spec.claimRef")
        for view in cluster.of("PersistentVolume")
    )


def _tell(view: View, path: str, said: str) -> None:
    tell = view.error if view.stack.context.ours else view.warning  # elsewhere somebody may have made one by hand
    tell(
        "reference-default-class", path,
        f"{show(said)} names no class of disks, and none of the cluster's is the default: its pods wait for ever",
        allowed="a storageClassName, or a class that says it is the default",
    )  # fmt: skip
