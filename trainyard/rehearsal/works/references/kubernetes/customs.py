"""What has to stand before an object: the chart that brings its kind, and its namespace.

Source: the definitions in the charts (`refusals/data/custom_resources.json` names the files), that Kueue serves
`v1beta2` since 0.15, as generally known. The Pulumi engine makes at once what does not depend on each other, and its
Kubernetes provider waits for a kind that is not there yet for less time than a release takes, which waits for its own
pods.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from trainyard.recorded.types import EKS_CLUSTER, GKE_CLUSTER, RENDERING
from trainyard.rehearsal.context import View, show
from trainyard.rehearsal.works.references.kubernetes.cluster import BUILT_IN_NAMESPACES, Cluster, place


@dataclass(frozen=True, slots=True)
class _Bringer:
    charts: tuple[str, ...]
    since: Mapping[str, tuple[int, int]]  # by version of the API, the first version of the charts that serves it


_BRINGERS: Final[Mapping[str, _Bringer]] = {
    "kueue.x-k8s.io": _Bringer(("kueue",), {"v1beta2": (0, 15)}),
    "jobset.x-k8s.io": _Bringer(("jobset", "kubeflow-trainer"), {"v1alpha2": (0, 2)}),
    "trainer.kubeflow.org": _Bringer(("kubeflow-trainer",), {"v1alpha1": (2, 0)}),
    "karpenter.sh": _Bringer(("karpenter", "karpenter-crd"), {"v1": (1, 0)}),
    "karpenter.k8s.aws": _Bringer(("karpenter", "karpenter-crd"), {"v1": (1, 0)}),
    "cert-manager.io": _Bringer(("cert-manager",), {"v1": (1, 0)}),
    "monitoring.coreos.com": _Bringer(("kube-prometheus-stack", "prometheus-operator-crds"), {}),
    "nvidia.com": _Bringer(("gpu-operator",), {}),
    "batch.volcano.sh": _Bringer(("volcano",), {}),
    "scheduling.volcano.sh": _Bringer(("volcano",), {}),
    "leaderworkerset.x-k8s.io": _Bringer(("lws",), {}),
    "ray.io": _Bringer(("kuberay-operator",), {}),
}
_WITHOUT: Final = {"cert-manager": ("crds.enabled",), "kubeflow-trainer": ("crds.enabled",)}
"""Values of charts that turn their definitions off; cert-manager's are off by default."""
_OFF_BY_DEFAULT: Final = frozenset({"cert-manager"})
_VERSION: Final = re.compile(r"v?(\d+)\.(\d+)")


def check(cluster: Cluster) -> None:
    """Every check of what stands before an object."""
    waits = _Waits(cluster)
    releases: dict[str, list[View]] = {}
    for release in cluster.releases:
        releases.setdefault(str(release.text("chart")).rpartition("/")[2], []).append(release)
    defined = {view.text("spec.group") for view in cluster.of("CustomResourceDefinition")}
    for view in cluster.objects:
        group = (view.text("apiVersion") or "").partition("/")[0]
        bringer = _BRINGERS.get(group)
        if bringer is not None and group not in defined:
            _brought(view, bringer, releases, waits, cluster)
        _housed(view, waits, cluster)
    for release in cluster.releases:
        _housed(release, waits, cluster, release.text("namespace"))


class _Waits:
    """Who waits for whom, through any number of others."""

    def __init__(self, cluster: Cluster) -> None:
        self._stack = cluster.stack
        self._all: dict[tuple[str, ...], frozenset[str]] = {}

    def for_one(self, view: View, other: View) -> bool:
        """Whether a resource waits for another one."""
        return other.resource.urn in view.resource.dependencies or other.resource.urn in self._of(view)

    def _of(self, view: View) -> frozenset[str]:
        """Everything that a resource waits for."""
        start = view.resource.waits_on
        found = self._all.get(start)
        if found is None:
            found = self._all[start] = frozenset(self._stack.waits_for(view.resource))
        return found


def _brought(
    view: View, bringer: _Bringer, releases: Mapping[str, list[View]], waits: _Waits, cluster: Cluster
) -> None:
    found = [release for chart in bringer.charts for release in releases.get(chart, ())]
    kind, api = view.text("kind"), view.text("apiVersion") or ""
    if not found:
        if _is_new(cluster, releases):
            view.error(
                "reference-kind",
                "apiVersion",
                f"nothing brings the kind {kind} of {api}: the stack makes the cluster and installs none of its charts",
                allowed=f"chart {' or '.join(bringer.charts)}",
            )
        return
    made = [release for release in found if not _lacks_definitions(release)]
    if not made:
        if _is_new(cluster, releases):
            view.error(
                "reference-kind",
                "apiVersion",
                f"nothing brings the kind {kind} of {api}: release {found[0].name} leaves its definitions out",
            )
        return
    least = bringer.since.get(api.partition("/")[2])
    for release in made:
        chart = str(release.text("chart")).rpartition("/")[2]
        version = _VERSION.match(release.text("version") or "")
        own = chart == bringer.charts[0]
        if own and least is not None and version is not None and (int(version[1]), int(version[2])) < least:
            view.error(
                "reference-kind-version",
                "apiVersion",
                f"chart {chart} {release.text('version')} does not serve {api}",
                allowed=f"{chart} {least[0]}.{least[1]} or later",
            )
    if not any(waits.for_one(view, release) for release in made):
        view.error(
            "reference-kind-order",
            "",
            f"does not wait for release {made[0].name}, which brings the kind {kind}: the first up fails",
            hint="depends_on the release",
        )


def _is_new(cluster: Cluster, releases: Mapping[str, list[View]]) -> bool:
    """Whether nothing but the recording can have put anything on the cluster."""
    known = {chart for bringer in _BRINGERS.values() for chart in bringer.charts}
    unread = any(not chart or chart == "None" for chart in releases)
    makes = bool(cluster.stack.resources.of(EKS_CLUSTER, GKE_CLUSTER))
    return makes and not cluster.is_rendered_elsewhere and not unread and not _unknown(cluster, known)


def _unknown(cluster: Cluster, known: set[str]) -> bool:
    """Whether a chart is installed of which nobody knows what it brings: an umbrella of several."""
    return any(
        str(release.text("chart")).startswith((".", "/")) or _is_umbrella(release, known)
        for release in cluster.releases
    )


def _is_umbrella(release: View, known: set[str]) -> bool:
    chart = str(release.text("chart")).rpartition("/")[2]
    return chart not in known and any(
        isinstance(value, dict) and key in known for key, value in release.mapping("values").items()
    )


def _lacks_definitions(release: View) -> bool:
    if release.flag("skipCrds"):
        return True
    chart = str(release.text("chart")).rpartition("/")[2]
    if release.is_unknown("values"):
        return False
    return any(
        release.flag(f"values.{path}") is False
        or (chart in _OFF_BY_DEFAULT and release.lacks(f"values.{path}") and release.lacks("values.installCRDs"))
        for path in _WITHOUT.get(chart, ())
    )


def _housed(view: View, waits: _Waits, cluster: Cluster, named: str | None = None) -> None:
    """An object in a namespace of the same program has to wait for it."""
    namespace = named if named is not None else place(view)
    if not namespace or namespace in BUILT_IN_NAMESPACES or namespace == "default":
        return
    house = cluster.find("Namespace", "", namespace)
    if house is None or waits.for_one(view, house):
        return
    if house.resource.provider != view.resource.provider:
        return  # of another cluster, or made by somebody else's rights
    if RENDERING.search(view.resource.parent) and RENDERING.search(house.resource.parent):
        return  # nobody can give an order to what one file has: the provider tries again until the namespace is there
    view.warning(
        "reference-namespace-order",
        "namespace" if named is not None else "metadata.namespace",
        f"does not wait for namespace {show(namespace)}, which the same program makes: the first up may fail",
        hint="give the name as the namespace's output, or depends_on",
    )
