"""References that nothing refuses: optional ones with a slip, routes of a Gateway, classes that a chart's pods run in,
labels that a monitor goes by, labels that a pool of Karpenter's asks for.

Source: Kubernetes documentation, "ConfigMaps" (`optional`) and "Runtime Class"; Gateway API, "HTTPRoute"; Prometheus
documentation, `kubernetes_sd_configs` (labels of pods as `__meta_kubernetes_pod_label_…`, with `_` for what is no
letter or digit); Karpenter documentation 1.x, "Scheduling"; z2jh, "Node affinity" (`matchNodePurpose`), 2026-11.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from trainyard.problems import nearest
from trainyard.recorded.read import UnreadableInput, as_number, follow
from trainyard.rehearsal.context import View, listed, show
from trainyard.rehearsal.near import nearest_of
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster, Container, Pod, place
from trainyard.rehearsal.works.references.kubernetes.services import tell_missing

_ROUTES: Final = ("HTTPRoute", "GRPCRoute", "TCPRoute", "TLSRoute")
_KEYS: Final = (
    ("configMapRef", "ConfigMap", "name"), ("secretRef", "Secret", "name"), ("configMapKeyRef", "ConfigMap", "name"),
    ("secretKeyRef", "Secret", "name"), ("configMap", "ConfigMap", "name"), ("secret", "Secret", "secretName"),
)  # fmt: skip
"""How a pod names a config map or a secret."""
_GROUPS: Final = (":NodeGroup", ":NodePool")
"""How the types of groups of nodes end, of whatever cloud."""
_PURPOSE: Final = "hub.jupyter.org/node-purpose"
_POD_LABEL: Final = "__meta_kubernetes_pod_label_"
_PROVIDER: Final = "karpenter.k8s.aws/"
_OF_PROVIDER: Final = frozenset(
    {
        "instance-hypervisor", "instance-encryption-in-transit-supported", "instance-category", "instance-family",
        "instance-generation", "instance-local-nvme", "instance-size", "instance-cpu", "instance-cpu-manufacturer",
        "instance-cpu-sustained-clock-speed-mhz", "instance-memory", "instance-ebs-bandwidth",
        "instance-network-bandwidth", "instance-gpu-name", "instance-gpu-manufacturer", "instance-gpu-count",
        "instance-gpu-memory", "instance-accelerator-name", "instance-accelerator-manufacturer",
        "instance-accelerator-count", "instance-capability-flex", "instance-tenancy", "ec2nodeclass",
        "capacity-reservation-id", "capacity-reservation-type", "capacity-reservation-interruptible",
    }
)  # fmt: skip
"""Labels that Karpenter's provider of AWS knows of an instance."""
_VALUES: Final[Mapping[str, frozenset[str]]] = {
    "karpenter.sh/capacity-type": frozenset({"spot", "on-demand", "reserved"}),
    "kubernetes.io/arch": frozenset({"amd64", "arm64"}),
    "kubernetes.io/os": frozenset({"linux", "windows"}),
}


def check(cluster: Cluster) -> None:
    """Every kind of reference that is taken whatever it names."""
    for pod in cluster.pods:
        if pod.namespace is not None:
            for container in pod.containers:
                _optional(pod, container, cluster)
    for kind in _ROUTES:
        for view in cluster.of(kind):
            _route(view, cluster)
    for view in cluster.of("PodMonitor.monitoring.coreos.com"):
        _kept(view, cluster)
    for view in cluster.of("NodePool.karpenter.sh"):
        _pool(view, cluster)
    for release in cluster.releases:
        _classes(release, cluster)
        if (release.text("chart") or "").rpartition("/")[2] == "jupyterhub":
            _purpose(release, cluster)


def _optional(pod: Pod, container: Container, cluster: Cluster) -> None:
    """What may be missing, and nearly has the name of what is there."""
    bulk = listed(container.body.get("envFrom"))
    places = [(f"{container.path}.envFrom[{index}]", one) for index, one in enumerate(bulk)]
    places += [
        (f"{container.path}.env[{index}].valueFrom", follow(one, "valueFrom"))
        for index, one in enumerate(listed(container.body.get("env")))
    ]
    places += [(f"{pod.path}.volumes[{index}]", one) for index, one in enumerate(listed(pod.spec.get("volumes")))]
    for path, found in places:
        for key, kind, word in _KEYS:
            reference = follow(found, key)
            name = follow(reference, word)
            if follow(reference, "optional") is not True or not isinstance(name, str):
                continue
            near = cluster.lacks(kind, pod.namespace or "", name)
            if near:
                pod.view.error(
                    "reference-missing", f"{path}.{key}.{word}",
                    f"no {kind} {show(name)} in namespace {show(pod.namespace)}, and it is optional: the program runs "
                    "without it and nobody hears of it", hint=f"did you mean {near}?",
                )  # fmt: skip


def _route(view: View, cluster: Cluster) -> None:
    for rule, _ in view.items("spec.rules"):
        for path, entry in view.items(f"{rule}.backendRefs"):
            name, namespace = entry.get("name"), entry.get("namespace") or place(view)
            if (
                entry.get("kind") not in (None, "Service")
                or not isinstance(name, str)
                or not isinstance(namespace, str)
            ):
                continue
            near = cluster.lacks("Service", namespace, name)
            service = cluster.find("Service", namespace, name)
            if near is not None:
                tell_missing(view, f"{path}.name", "Service", name, namespace, near)
            elif service is not None and not service.blurred("spec.ports"):
                ports = {as_number(one.get("port")) for _, one in service.items("spec.ports")}
                number = as_number(entry.get("port"))
                if number is not None and number not in ports:
                    view.error(
                        "reference-port", f"{path}.port", f"Service {name} has no port {number:g}",
                        allowed=", ".join(f"{one:g}" for one in sorted(filter(None, ports))),
                    )  # fmt: skip
    for path, entry in view.items("spec.parentRefs"):
        name, namespace = entry.get("name"), entry.get("namespace") or place(view)
        known = cluster.names("Gateway", namespace) if isinstance(namespace, str) else []
        hint = nearest(name, known) if isinstance(name, str) and known and name not in known else ""
        if hint:
            tell_missing(view, f"{path}.name", "Gateway", str(name), str(namespace), hint)


def _kept(view: View, cluster: Cluster) -> None:
    """A rule that keeps what has a label, of pods that have none of that name."""
    if view.has("spec.namespaceSelector.any") or view.is_unknown("spec.selector"):
        return
    spaces = [str(one) for one in view.entries("spec.namespaceSelector.matchNames")] or [place(view) or ""]
    try:
        pods = [one for space in spaces for one in cluster.selected(view.value("spec.selector") or {}, space)]
    except UnreadableInput:
        return
    if not pods or any(pod.labels is None for pod in pods) or not all(map(cluster.pods_are_known, spaces)):
        return
    names = {re.sub(r"\W", "_", str(label)) for pod in pods for label in pod.labels or ()}
    for path, _ in view.items("spec.podMetricsEndpoints"):
        for here, rule in view.items(f"{path}.relabelings"):
            sources = [str(one) for one in listed(rule.get("sourceLabels"))]
            if str(rule.get("action")).lower() != "keep" or len(sources) != 1 or not sources[0].startswith(_POD_LABEL):
                continue
            name = sources[0].removeprefix(_POD_LABEL)
            if name not in names and not _meets_nothing(rule.get("regex")):
                view.error(
                    "reference-relabeling", f"{here}.sourceLabels",
                    f"keeps pods by their label {name}, and those that it means have none: no figure comes",
                    allowed=f"one of {', '.join(sorted(_POD_LABEL + one for one in names))}", hint=nearest(name, names),
                )  # fmt: skip


def _meets_nothing(pattern: Any) -> bool:
    """Whether a pattern takes an empty text, which a label that is not there is."""
    if not isinstance(pattern, str):
        return True
    try:
        return re.fullmatch(pattern, "") is not None
    except re.error:
        return True


def _pool(view: View, cluster: Cluster) -> None:
    path = "spec.template.spec"
    for here, entry in view.items(f"{path}.requirements"):
        key = entry.get("key")
        if not isinstance(key, str):
            continue
        name = key.removeprefix(_PROVIDER)
        if key.startswith(_PROVIDER) and name not in _OF_PROVIDER:
            hint = nearest_of(name, _OF_PROVIDER)
            if hint:  # else it may be a label of a version to come
                view.error(
                    "reference-node-pool", f"{here}.key", f"is {show(key)}, which no instance has: no node is made",
                    allowed=f"{_PROVIDER}{hint}", hint=f"{_PROVIDER}{hint}",
                )  # fmt: skip
        known = _VALUES.get(key)
        values = [str(one) for one in listed(entry.get("values"))]
        if known is not None and entry.get("operator") == "In" and values and not known & {*values}:
            view.error(
                "reference-node-pool", f"{here}.values", f"is {', '.join(values)}: no node is ever made",
                allowed=", ".join(sorted(known)), hint=nearest(values[0], known),
            )  # fmt: skip
    kind, made = view.text(f"{path}.nodeClassRef.kind"), view.text(f"{path}.nodeClassRef.name")
    classes = cluster.names(f"{kind}.karpenter.k8s.aws", "") if kind else []
    if made is not None and classes and made not in classes:
        tell_missing(view, f"{path}.nodeClassRef.name", str(kind), made, "", nearest(made, classes))


def _classes(release: View, cluster: Cluster) -> None:
    """Classes of runtimes that a chart's pods run in: a pod of one that is not made is refused."""
    named = [(path, name) for path, name in release.known_texts if path.endswith(".runtimeClassName") and name]
    for place_, name in named if named and cluster.makes_everything else ():
        if name not in cluster.names("RuntimeClass", "") and not _brings(name, cluster):
            release.error(
                "reference-runtime-class", place_, f"no RuntimeClass {show(name)} is made: its pods are refused",
                allowed="none, where nodes have NVIDIA's runtime as their default",
            )  # fmt: skip


def _brings(name: str, cluster: Cluster) -> bool:
    charts = {(one.text("chart") or "").rpartition("/")[2] for one in cluster.releases}
    return name == "gvisor" or bool(charts & {"gpu-operator", "nvidia-gpu-operator", "kata-deploy"})


def _purpose(release: View, cluster: Cluster) -> None:
    groups = [view for view in cluster.stack.views if view.type.endswith(_GROUPS)]
    if not groups or any(_PURPOSE in str(view.inputs) for view in groups):
        return
    for part in ("userPods", "corePods"):
        path = f"values.scheduling.{part}.nodeAffinity.matchNodePurpose"
        if release.text(path) == "require":
            release.error(
                "reference-notebooks", path, f"is require, and no node group has the label {_PURPOSE}: none is taken",
                allowed="prefer, ignore, or that label on nodes",
            )  # fmt: skip
