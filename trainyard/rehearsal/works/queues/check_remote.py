"""MultiKueue: the clusters that jobs are sent to, and how the manager gets in.

Source: kubernetes-sigs/kueue, MultiKueue's concept page and CRDs of 0.19 (a config's clusters are MultiKueueClusters;
one is reached by a kubeconfig, in key `kubeconfig` of a Secret in the manager's namespace, or by a ClusterProfile; what
`clusterSource` holds stands in `spec` itself in v1beta1), 2026-11.
"""

from __future__ import annotations

from typing import Final

from trainyard.problems import nearest
from trainyard.recorded.types import HELM_RELEASE, SECRET
from trainyard.rehearsal.context import Stack, View, show
from trainyard.rehearsal.works.queues.room import Room

_CLUSTER: Final = "kubernetes:kueue.x-k8s.io/*:MultiKueueCluster"
_CONFIG: Final = "kubernetes:kueue.x-k8s.io/*:MultiKueueConfig"
_SOURCES: Final = ("kubeConfig", "clusterProfileRef")
_KEY: Final = "kubeconfig"


def check_remote(stack: Stack, room: Room) -> None:
    """Every rule about clusters that jobs are sent to."""
    clusters, configs = stack.of_type(_CLUSTER), stack.of_type(_CONFIG)
    if not clusters and not configs:
        return
    for view in configs:
        _clusters(view, clusters, room)
    for view in clusters:
        _source(view, stack, room)


def _clusters(view: View, clusters: list[View], room: Room) -> None:
    given = view.texts("spec.clusters")
    for index, name in enumerate(given):
        if name in given[:index]:
            view.error("queues-remote", f"spec.clusters[{index}]", f"{show(name)} is given twice", allowed="each once")
    names = {one.text("metadata.name") for one in clusters}
    if None in names or view.is_unknown("spec.clusters"):
        return
    missing = [name for name in given if name not in names]
    if not missing or not (clusters or room.recorded.is_whole):
        return
    words = f"there is no MultiKueueCluster {', '.join(missing)}"
    words += ": every check of it is inactive, and its queues with it" if len(missing) == len(given) else ""
    hint = nearest(missing[0], sorted(name for name in names if name))
    # A worker may be registered by whoever makes it, where this stack registers none.
    note = view.error if clusters else view.warning
    note("queues-remote", "spec.clusters", words, allowed="names of MultiKueueClusters", hint=hint)


def _source(view: View, stack: Stack, room: Room) -> None:
    path = "spec" if (view.text("apiVersion") or "").endswith("/v1beta1") else "spec.clusterSource"
    sources = [key for key in _SOURCES if view.has(f"{path}.{key}")]
    if len(sources) != 1 and not view.is_unknown(path) and not view.is_unknown("spec"):
        view.error(
            "queues-remote", path, f"has {' and '.join(sources) or 'no source'}",
            allowed=f"one of {' and '.join(_SOURCES)}",
        )  # fmt: skip
    place, name = f"{path}.kubeConfig.location", view.text(f"{path}.kubeConfig.location")
    release = room.recorded.release
    if name is None or release is None or view.text(f"{path}.kubeConfig.locationType") not in (None, "Secret"):
        return
    namespace = next((one.text("namespace") for one in stack.of_type(HELM_RELEASE) if one.resource is release), None)
    found = [one for one in stack.of_type(SECRET) if one.text("metadata.name") == name]
    own = [one for one in found if one.text("metadata.namespace") in (None, namespace)]
    if namespace is None or not found:
        return  # somebody else may make it
    if not own:
        view.error(
            "queues-remote", place,
            f"Secret {show(name)} is in namespace {found[0].text('metadata.namespace')}, and the manager looks in "
            f"{namespace}: it never gets in", allowed=f"a Secret of namespace {namespace}",
        )  # fmt: skip
        return
    secret = own[0]
    if any(secret.is_unknown(part) for part in ("data", "stringData")):
        return
    keys = {*secret.mapping("data"), *secret.mapping("stringData")}
    if keys and _KEY not in keys:
        view.error(
            "queues-remote", place, f"Secret {show(name)} has no key {_KEY}: the manager never gets in",
            allowed=f"the key {_KEY}",
        )  # fmt: skip
