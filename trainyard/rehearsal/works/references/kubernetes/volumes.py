"""Claims, volumes and classes: does a claim bind, and to what it is meant to?

Source: Kubernetes documentation, "Persistent Volumes", "Storage Classes", as generally known: a claim binds to a
volume of its class that is at least as large, has every access mode that it asks for and the same mode, is bound to
nobody else, and has the labels that it selects.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from trainyard.recorded.model import UNKNOWN, has_unknown
from trainyard.recorded.quantities import quantity
from trainyard.recorded.read import UnreadableInput, follow
from trainyard.recorded.selectors import selects
from trainyard.recorded.types import GKE_CLUSTER
from trainyard.rehearsal.context import View, show
from trainyard.rehearsal.near import nearest_of
from trainyard.rehearsal.works.references.kubernetes.chart_values import tell_class
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster, place

_DEFAULT: Final = "storageclass.kubernetes.io/is-default-class"


def check(cluster: Cluster) -> None:
    """Every check of a claim or a volume."""
    claims = cluster.of("PersistentVolumeClaim")
    for view in claims:
        _claim(view, cluster)
    for view in cluster.of("PersistentVolume"):
        _volume(view, cluster)
        if not view.mapping("spec.claimRef"):  # else both only have to say the same name
            _class(view, "spec.storageClassName", cluster)
    for view in cluster.of("StatefulSet"):
        for path, _ in view.items("spec.volumeClaimTemplates"):
            _class(view, f"{path}.spec.storageClassName", cluster)
    for pod in cluster.pods:
        for path, _ in pod.view.items(f"{pod.path}.volumes"):
            _class(pod.view, f"{path}.ephemeral.volumeClaimTemplate.spec.storageClassName", cluster)
    _shared(cluster)


def _claim(view: View, cluster: Cluster) -> None:
    if not _says_its_volumes(view, cluster):
        _class(view, "spec.storageClassName", cluster)
    name, namespace = view.text("spec.volumeName"), place(view)
    if name is None or namespace is None or cluster.is_blurred("PersistentVolume", ""):
        if view.lacks("spec.volumeName"):
            _static(view, cluster)
        return
    volume = cluster.find("PersistentVolume", "", name)
    if volume is None:
        near = cluster.lacks("PersistentVolume", "", name)
        if near is not None:
            view.error(
                "reference-claim",
                "spec.volumeName",
                f"no PersistentVolume {show(name)}, so the claim never binds",
                hint=f"did you mean {near}?" if near else "",
            )
        return
    _fits(view, volume, namespace, has_default=_has_default_class(cluster))


def _says_its_volumes(claim: View, cluster: Cluster) -> bool:
    """Whether a claim names its volume and the class that this says: none makes one, so nobody has to make the class.

    Of a volume that is not recorded the class is taken to be the same.
    """
    name, path = claim.text("spec.volumeName"), "spec.storageClassName"
    volume = cluster.find("PersistentVolume", "", name) if name is not None else None
    if volume is None:
        return not claim.lacks("spec.volumeName")
    return volume.is_unknown(path) or volume.text(path) == claim.text(path)


def _fits(claim: View, volume: View, namespace: str, *, has_default: bool) -> None:
    """Everything that has to agree between a claim and the volume that it names."""
    title = f"PersistentVolume {volume.text('metadata.name')}"
    asked, has = _size(claim.value("spec.resources.requests.storage")), _size(volume.value("spec.capacity.storage"))
    if asked is not None and has is not None and asked > has:
        claim.error(
            "reference-claim",
            "spec.resources.requests.storage",
            f"asks {claim.value('spec.resources.requests.storage')}, and {title} has "
            f"{volume.value('spec.capacity.storage')}: the claim never binds",
            allowed="at most the volume's size",
        )
    wanted, given = claim.texts("spec.accessModes"), volume.texts("spec.accessModes")
    unknown = claim.blurred("spec.accessModes") or volume.blurred("spec.accessModes")
    if not unknown and given and not set(wanted) <= set(given):
        claim.error(
            "reference-claim",
            "spec.accessModes",
            f"asks {', '.join(wanted)}, and {title} has {', '.join(given)}: the claim never binds",
            allowed=f"among {', '.join(given)}",
        )
    if not claim.is_unknown("spec.volumeMode") and not volume.is_unknown("spec.volumeMode"):
        mode, other = claim.text("spec.volumeMode") or "Filesystem", volume.text("spec.volumeMode") or "Filesystem"
        if mode != other:
            claim.error("reference-claim", "spec.volumeMode", f"is {mode}, and {title} is {other}", allowed=other)
    _same_class(claim, volume, title, has_default=has_default)
    _claimed(claim, volume, namespace, title)


def _has_default_class(cluster: Cluster) -> bool:
    """Whether a class is filled in where a claim names none: GKE has one, EKS has had none since 1.30."""
    marked = any(view.mapping("metadata.annotations").get(_DEFAULT) == "true" for view in cluster.of("StorageClass"))
    return marked or bool(cluster.stack.resources.of(GKE_CLUSTER))


def _same_class(claim: View, volume: View, title: str, *, has_default: bool) -> None:
    if claim.is_unknown("spec.storageClassName") or volume.is_unknown("spec.storageClassName"):
        return
    wanted, given = claim.text("spec.storageClassName"), volume.text("spec.storageClassName") or ""
    if wanted is None and not given and has_default:
        claim.error(
            "reference-claim",
            "spec.storageClassName",
            f"is missing, so the cluster's default class is filled in, and {title} has none: the claim never binds",
            allowed='"" for a volume without a class',
        )
    elif wanted is not None and wanted != given:
        claim.error(
            "reference-claim",
            "spec.storageClassName",
            f"is {show(wanted)}, and {title} has {show(given)}: the claim never binds",
            allowed=show(given),
        )


def _claimed(claim: View, volume: View, namespace: str, title: str) -> None:
    reference = volume.mapping("spec.claimRef")
    name, where = reference.get("name"), reference.get("namespace")
    own = claim.text("metadata.name")
    if not isinstance(name, str) or not isinstance(where, str) or own is None or not reference:
        return
    if (name, "" if where == "default" else where) != (own, namespace):
        claim.error(
            "reference-claim",
            "spec.volumeName",
            f"{title} is kept for claim {where}/{name}, so this one never binds",
        )


def _static(claim: View, cluster: Cluster) -> None:
    """A claim that selects volumes of its class, and names none, binds to a recorded one, or to none that is known: for
    one with a selector no volume is made."""
    name = claim.text("spec.storageClassName")
    if claim.is_unknown("spec.storageClassName") or name is None:
        return
    selector = claim.value("spec.selector")
    recorded = cluster.of("PersistentVolume")
    volumes = [one for one in recorded if not name or one.text("spec.storageClassName") == name]
    if not isinstance(selector, Mapping) or has_unknown(selector) or not volumes:
        return
    try:
        found = [one for one in volumes if selects(selector, one.mapping("metadata.labels"))]
    except UnreadableInput:
        return
    said = selector.get("matchLabels")
    wanted: Mapping[str, Any] = said if isinstance(said, Mapping) else {}
    for volume in volumes if not found else ():
        labels = volume.mapping("metadata.labels")
        near = [key for key in wanted if key in labels]
        if near:
            claim.error(
                "reference-claim",
                "spec.selector",
                f"selects no PersistentVolume: it says {near[0]}={wanted[near[0]]}, "
                f"{volume.text('metadata.name')} has {near[0]}={labels[near[0]]}",
            )
            return


def _volume(view: View, cluster: Cluster) -> None:
    """A volume that is kept for a claim which is not the one that names it is bound to nobody."""
    name, reference = view.text("metadata.name"), view.mapping("spec.claimRef")
    claim, where = reference.get("name"), reference.get("namespace")
    if not isinstance(claim, str) or not isinstance(where, str) or name is None:
        return
    near = cluster.lacks("PersistentVolumeClaim", where, claim)
    if near and cluster.find("Namespace", "", where) is not None:
        view.error(
            "reference-claim",
            "spec.claimRef.name",
            f"no PersistentVolumeClaim {show(claim)} in namespace {show(where)}",
            hint=f"did you mean {near}?",
        )
    near = nearest_of(where, cluster.names("Namespace", ""))
    if near and cluster.find("Namespace", "", where) is None:
        view.error(
            "reference-claim",
            "spec.claimRef.namespace",
            f"no namespace {show(where)} is made",
            hint=f"did you mean {near}?",
        )


def _class(view: View, path: str, cluster: Cluster) -> None:
    """A class that nobody makes."""
    name = view.text(path)
    if name:
        tell_class(view, path, name, cluster)


def _shared(cluster: Cluster) -> None:
    """Two volumes with one handle are one to the kubelet: a pod that mounts both waits for ever."""
    for pod in cluster.pods:
        seen: dict[tuple[str, str], str] = {}
        for path, body in pod.view.items(f"{pod.path}.volumes") if pod.namespace is not None else ():
            name = follow(body, "persistentVolumeClaim", "claimName")
            claim = cluster.find("PersistentVolumeClaim", pod.namespace or "", name) if isinstance(name, str) else None
            bound = cluster.find("PersistentVolume", "", claim.text("spec.volumeName") or "") if claim else None
            driver, handle = (bound.text("spec.csi.driver"), bound.text("spec.csi.volumeHandle")) if bound else ("", "")
            if not driver or not handle or bound is None:
                continue
            title = str(bound.text("metadata.name"))
            first = seen.setdefault((driver, handle), title)
            if first != title:
                pod.view.error(
                    "reference-volume-handle",
                    f"{path}.persistentVolumeClaim.claimName",
                    f"PersistentVolume {title} has the handle {show(handle)}, as {first} mounted too: to the "
                    "kubelet they are one, and the pod waits for ever",
                    allowed="a handle of its own for each volume",
                )
    names: dict[str, View] = {}
    for view in cluster.of("PersistentVolumeClaim"):
        wanted, where = view.text("spec.volumeName"), place(view)
        if wanted is None or where is None:
            continue
        other = names.setdefault(wanted, view)
        if other is not view:
            view.error(
                "reference-claim",
                "spec.volumeName",
                f"PersistentVolume {wanted} is claimed by {place(other)}/{other.text('metadata.name')} too; one binds",
                allowed="a volume of its own for each claim",
            )


def _size(value: Any) -> float | None:
    return None if value is UNKNOWN else quantity(value)
