"""Ingresses: a class that some controller serves, and a certificate that somebody makes.

Source: Kubernetes documentation, "Ingress" (`ingressClassName`, `tls`); the default classes of the charts ingress-nginx
4, aws-load-balancer-controller 3 and traefik 37; GKE, "Configure Ingress" (its own controller goes by the annotation
`kubernetes.io/ingress.class` alone), as generally known (2026-11).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from trainyard.recorded.types import ADD_ON
from trainyard.rehearsal.context import View, show
from trainyard.rehearsal.near import nearest_of
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster, place
from trainyard.rehearsal.works.references.kubernetes.services import tell_missing
from trainyard.rehearsal.works.workloads.charts import is_known

_CLASSES: Final[Mapping[str, tuple[str, str]]] = {
    "ingress-nginx": ("values.controller.ingressClassResource.name", "nginx"),
    "aws-load-balancer-controller": ("values.ingressClass", "alb"),
    "traefik": ("values.ingressClass.name", "traefik"),
}
"""Charts of controllers: the value that names their class, and its default."""
_MAKERS: Final = ("cert-manager.io/", "kubernetes.io/tls-acme", "acme.cert-manager.io/", "certmanager.k8s.io/")
"""How the annotations begin by which a controller makes the certificate."""


def check(cluster: Cluster) -> None:
    """Every recorded Ingress."""
    views = cluster.of("Ingress")
    if not views or cluster.is_blurred("IngressClass", ""):
        return
    classes, are_all = _classes(cluster)
    for view in views:
        _class(view, classes, are_all=are_all)
        annotations = view.mapping("metadata.annotations")
        namespace = place(view)
        if namespace is None or any(str(key).startswith(_MAKERS) for key in annotations):
            continue
        for path, entry in view.items("spec.tls"):
            secret = entry.get("secretName")
            near = cluster.lacks("Secret", namespace, secret) if isinstance(secret, str) and secret else None
            if near is not None:
                tell_missing(view, f"{path}.secretName", "Secret", str(secret), namespace, near)


def _class(view: View, classes: set[str], *, are_all: bool) -> None:
    name = view.text("spec.ingressClassName")
    near = nearest_of(name, classes) if name is not None else ""
    if name is None or name in classes or not (near or are_all):
        return
    told = "no controller of the stack serves it" if classes else "the stack has no controller of Ingresses"
    view.error(
        "reference-ingress-class", "spec.ingressClassName", f"is {show(name)}, and {told}: nobody is let in",
        allowed=f"one of {', '.join(sorted(classes))}" if classes else "",
        hint=f"did you mean {near}?" if near else "",
    )  # fmt: skip


def _classes(cluster: Cluster) -> tuple[set[str], bool]:
    """The classes that controllers of the recording serve, and whether nobody serves others."""
    found, are_all = (
        {*cluster.names("IngressClass", "")},
        cluster.makes_the_cluster and not cluster.is_rendered_elsewhere,
    )
    # Add-ons of AWS' marketplace, which have `_` in their names, bring controllers too.
    are_all = are_all and not any("_" in (one.text("addonName") or "") for one in cluster.stack.of_type(ADD_ON))
    for release in cluster.releases:
        chart = (release.text("chart") or "").rpartition("/")[2]
        if chart not in _CLASSES:
            are_all = are_all and is_known(release.resource)
            continue
        path, default = _CLASSES[chart]
        are_all = are_all and not release.is_unknown(path) and not release.is_unknown("values")
        found |= {release.text(path) or default, *release.texts("values.controller.ingressClassResource.aliases")}
    return found, are_all
