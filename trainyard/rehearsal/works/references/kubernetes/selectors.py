"""Selectors other than a service's: budgets, autoscalers, monitors, network policies, spreading.

A selector that means no pod protects, scales or measures nothing. In a namespace where people or an unknown chart make
pods only one that is nearly right is told.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from trainyard.problems import nearest
from trainyard.recorded.model import UNKNOWN, has_unknown
from trainyard.recorded.read import UnreadableInput
from trainyard.recorded.selectors import NAME_LABEL, selects
from trainyard.rehearsal.context import View, listed, show
from trainyard.rehearsal.near import missed, nearest_of
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster, Pod, place
from trainyard.rehearsal.works.references.kubernetes.services import tell_missing, tell_nothing

_MONITORS: Final = {
    "ServiceMonitor.monitoring.coreos.com": "spec.endpoints",
    "PodMonitor.monitoring.coreos.com": "spec.podMetricsEndpoints",
}


def check(cluster: Cluster) -> None:
    """Every check of a selector."""
    for view in cluster.of("PodDisruptionBudget"):
        _pods(view, "spec.selector", cluster, "reference-budget-selects-nothing")
    for view in cluster.of("NetworkPolicy"):
        _network_policy(view, cluster)
    for view in cluster.of("HorizontalPodAutoscaler", "VerticalPodAutoscaler.autoscaling.k8s.io"):
        _scaled(view, cluster)
    for kind, endpoints in _MONITORS.items():
        for view in cluster.of(kind):
            _monitor(view, kind, endpoints, cluster)
    for view in cluster.of(
        "ValidatingAdmissionPolicyBinding", "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"
    ):
        _namespaces(view, "spec.matchResources.namespaceSelector", cluster)
        for path, _ in view.items("webhooks"):
            _namespaces(view, f"{path}.namespaceSelector", cluster)
    for view in cluster.of("ClusterQueue.kueue.x-k8s.io"):
        _namespaces(view, "spec.namespaceSelector", cluster)
    for pod in cluster.pods:
        _spread(pod, cluster)
        _affinity(pod, cluster)


def _pods(view: View, path: str, cluster: Cluster, rule: str, namespace: str | None = None) -> None:
    where = place(view) if namespace is None else namespace
    selector = view.value(path)
    if where is None or not isinstance(selector, Mapping) or not selector or has_unknown(selector):
        return
    try:
        found = cluster.selected(selector, where) or cluster.selected_of_charts(selector, where)
    except UnreadableInput:
        return
    wanted = selector.get("matchLabels")
    if found or not isinstance(wanted, Mapping) or not wanted:
        return
    if selector.get("matchExpressions"):
        return
    tell_nothing(view, f"{path}.matchLabels", wanted, where, cluster, rule)


def _network_policy(view: View, cluster: Cluster) -> None:
    namespace = place(view)
    _pods(view, "spec.podSelector", cluster, "reference-policy-selects-nothing")
    for side, key in (("ingress", "from"), ("egress", "to")):
        for rule, _ in view.items(f"spec.{side}"):
            for path, peer in view.items(f"{rule}.{key}"):
                _peer(view, path, peer, namespace, cluster)


def _peer(view: View, path: str, peer: Mapping[str, Any], namespace: str | None, cluster: Cluster) -> None:
    if peer.get("namespaceSelector") is not None:
        _namespaces(view, f"{path}.namespaceSelector", cluster)
        where = view.text(f"{path}.namespaceSelector.matchLabels.{NAME_LABEL}") or _named(peer["namespaceSelector"])
    else:
        where = namespace
    if where is not None and peer.get("podSelector"):
        bare = "" if where == "default" else where
        _pods(view, f"{path}.podSelector", cluster, "reference-peer-selects-nothing", bare)


def _named(selector: Any) -> str | None:
    """The one namespace that a selector means by its name."""
    labels = selector.get("matchLabels") if isinstance(selector, Mapping) else None
    found = labels.get(NAME_LABEL) if isinstance(labels, Mapping) else None
    return found if isinstance(found, str) else None


def _namespaces(view: View, path: str, cluster: Cluster) -> None:
    """A selector of namespaces that means none, where a recorded one has nearly what it says."""
    selector = view.value(path)
    if not isinstance(selector, Mapping) or not selector or has_unknown(selector):
        return
    known = cluster.labels_of_namespaces
    try:
        if cluster.selects_a_namespace(selector):
            return
    except UnreadableInput:
        return
    wanted = selector.get("matchLabels")
    for key, value in (wanted if isinstance(wanted, Mapping) else {}).items():
        for labels in known.values():
            wrong, right = missed({key: value}, labels)
            if wrong and not any(found.get(key) == value for found in known.values()):
                _tell_namespaces(view, f"{path}.matchLabels", wrong, right)
                return
    keys = {key for labels in known.values() for key in labels}
    for expression in listed(selector.get("matchExpressions")):
        key, operator = expression.get("key"), expression.get("operator")
        if operator not in ("In", "Exists") or not isinstance(key, str):
            continue
        near = nearest_of(key, keys) if key not in keys else ""
        if near:
            _tell_namespaces(view, f"{path}.matchExpressions", f"the key {key}", f"the key {near}")
            return
        values = {str(labels[key]) for labels in known.values() if key in labels}
        for value in listed(expression.get("values")):
            near = nearest_of(str(value), values) if value not in values else ""
            if near:
                _tell_namespaces(view, f"{path}.matchExpressions", f"{key}: {value}", f"{key}: {near}")
                return


def _tell_namespaces(view: View, path: str, wrong: str, right: str) -> None:
    view.error(
        "reference-namespace-selects-nothing",
        path,
        f"selects no namespace: it says {wrong}, and there are namespaces with {right}",
        hint=f"did you mean {right}?",
    )


def _scaled(view: View, cluster: Cluster) -> None:
    path = "spec.scaleTargetRef" if view.has("spec.scaleTargetRef") else "spec.targetRef"
    namespace, kind, name = place(view), view.text(f"{path}.kind"), view.text(f"{path}.name")
    if namespace is None or name is None or kind not in ("Deployment", "StatefulSet", "ReplicaSet", "DaemonSet"):
        return
    near = cluster.lacks(kind, namespace, name)
    if near is not None:
        tell_missing(view, f"{path}.name", kind, name, namespace, near)
    found = cluster.find(kind, namespace, name)
    if found is None:
        return
    for metric, entry in view.items("spec.metrics"):
        resource = view.text(f"{metric}.resource.name")
        if entry.get("type") != "Resource" or view.text(f"{metric}.resource.target.type") != "Utilization":
            continue
        for pod in cluster.pods_by_namespace.get(namespace, ()):
            if pod.view is found and pod.containers_are_known and resource is not None:
                _requests(view, metric, pod, resource)


def _requests(view: View, metric: str, pod: Pod, resource: str) -> None:
    """A share of what is requested cannot be worked out of a pod with a container that requests nothing."""
    for container in pod.containers:
        body = container.body.get("resources")
        asked: dict[str, Any] = {}
        for key in ("limits", "requests"):
            part = body.get(key) if isinstance(body, Mapping) else None
            if body is UNKNOWN or part is UNKNOWN:
                return
            asked |= part if isinstance(part, Mapping) else {}
        if not container.is_init and resource not in asked:
            view.error(
                "reference-scaled-without-request",
                f"{metric}.resource",
                f"container {show(container.name)} of {pod.title} requests no {resource}, so no share of it is known",
            )


def _monitor(view: View, kind: str, endpoints: str, cluster: Cluster) -> None:
    selector, namespace = view.value("spec.selector"), place(view)
    elsewhere = view.value("spec.namespaceSelector")
    if namespace is None or not isinstance(selector, Mapping) or has_unknown(selector) or elsewhere is UNKNOWN:
        return
    if isinstance(elsewhere, Mapping) and elsewhere:
        named = [str(name) for name in listed(elsewhere.get("matchNames"))]
        if len(named) != 1:
            for index, name in enumerate(named):
                _misspelt(view, f"spec.namespaceSelector.matchNames[{index}]", name, cluster)
            return
        namespace = "" if named[0] == "default" else named[0]
    if kind.startswith("PodMonitor"):
        _pods(view, "spec.selector", cluster, "reference-monitor-selects-nothing", namespace)
        _elsewhere(view, selector, namespace, cluster)
        _pod_ports(view, endpoints, selector, namespace, cluster)
        return
    said = selector.get("matchLabels")
    wanted: Mapping[str, Any] = said if isinstance(said, Mapping) else {}
    services = [service for service in cluster.of("Service") if place(service) == namespace]
    try:
        found = [service for service in services if selects(selector, service.mapping("metadata.labels"))]
    except UnreadableInput:
        return
    if not found:
        if cluster.charts_are_known and not cluster.is_rendered_elsewhere:
            _elsewhere(view, selector, namespace, cluster)
        for service in services if wanted else ():
            wrong, right = missed(wanted, service.mapping("metadata.labels"))
            if wrong:
                view.error(
                    "reference-monitor-selects-nothing",
                    "spec.selector.matchLabels",
                    f"selects no service: it says {wrong}, Service {service.text('metadata.name')} has {right}",
                    hint=f"did you mean {right}?",
                )
                return
    names = {port["name"] for one in found for _, port in one.items("spec.ports") if isinstance(port.get("name"), str)}
    for path, entry in view.items(endpoints):
        port = entry.get("port")
        if isinstance(port, str) and found and port not in names:
            view.error(
                "reference-port",
                f"{path}.port",
                f"no port of {', '.join(str(one.text('metadata.name')) for one in found[:2])} is named {show(port)}",
                allowed=f"one of {', '.join(sorted(names))}" if names else "a service whose port has a name",
                hint=nearest(port, names),
            )


def _misspelt(view: View, path: str, name: str, cluster: Cluster) -> None:
    near = cluster.lacks("Namespace", "", name)
    if near:
        view.error(
            "reference-monitor-selects-nothing", path, f"there is no namespace {show(name)}",
            hint=f"did you mean {near}?",
        )  # fmt: skip


def _elsewhere(view: View, selector: Mapping[str, Any], namespace: str, cluster: Cluster) -> None:
    """Pods that a monitor means in another namespace than it looks in, and a namespace that is not there."""
    try:
        if cluster.selected(selector, namespace) or cluster.selected_of_charts(selector, namespace):
            return
        spaces = {*cluster.pods_by_namespace, *cluster.chart_pods} - {namespace}
        there = [one for one in spaces if cluster.selected(selector, one) or cluster.selected_of_charts(selector, one)]
    except UnreadableInput:
        return
    if there and selector.get("matchLabels") and view.has("spec.namespaceSelector"):
        view.error(
            "reference-monitor-selects-nothing",
            "spec.namespaceSelector",
            f"looks in {show(namespace or 'default')}, and such pods are in {', '.join(sorted(there))}",
            allowed=", ".join(sorted(there)),
        )


def _pod_ports(view: View, endpoints: str, selector: Mapping[str, Any], namespace: str, cluster: Cluster) -> None:
    """Ports by name of pods that the recording makes, or that a table knows of its charts."""
    try:
        pods, charted = cluster.selected(selector, namespace), cluster.selected_of_charts(selector, namespace)
    except UnreadableInput:
        return
    if (not pods and not charted) or not all(pod.ports_are_known for pod in pods):
        return
    names = {name for pod in pods for name in pod.port_names()} | {name for one in charted for name in one.ports}
    titles = [*(pod.title for pod in pods), *(one.title for one in charted)]
    for path, entry in view.items(endpoints):
        port = entry.get("port")
        if isinstance(port, str) and port not in names:
            view.error(
                "reference-port",
                f"{path}.port",
                f"no port of {', '.join(titles[:2])} is named {show(port)}",
                allowed=f"one of {', '.join(sorted(names))}" if names else "a port that has a name",
                hint=nearest(port, names),
            )


def _spread(pod: Pod, cluster: Cluster) -> None:
    """A constraint that does not mean the pod itself spreads others, so the pods all land where there is room first."""
    for path, entry in pod.view.items(f"{pod.path}.topologySpreadConstraints"):
        selector = entry.get("labelSelector")
        if not isinstance(selector, Mapping) or has_unknown(selector) or pod.labels is None:
            continue
        wanted = selector.get("matchLabels")
        wrong, right = missed(wanted, pod.labels) if isinstance(wanted, Mapping) else ("", "")
        if wrong:
            pod.view.error(
                "reference-spread-selects-others",
                f"{path}.labelSelector",
                f"counts pods with {wrong}, and these pods have {right}: they are not spread",
                hint=f"did you mean {right}?",
            )
        elif isinstance(wanted, Mapping) and wanted and set(selector) == {"matchLabels"}:
            others = (pod, *cluster.pods_by_namespace.get(pod.namespace or "", ()))
            if pod.namespace is None or any(one.labels is None or selects(selector, one.labels) for one in others):
                continue
            # Pods of a chart, or labels that a webhook adds, are not recorded.
            pod.view.warning(
                "reference-spread-selects-others", f"{path}.labelSelector",
                f"counts pods with {', '.join(f'{key}={value}' for key, value in wanted.items())}, and no recorded pod "
                "of the namespace is one: these are not spread", allowed="labels of these pods",
            )  # fmt: skip


def _affinity(pod: Pod, cluster: Cluster) -> None:
    for kind in ("podAffinity", "podAntiAffinity"):
        base = f"{pod.path}.affinity.{kind}"
        terms = [path for path, _ in pod.view.items(f"{base}.requiredDuringSchedulingIgnoredDuringExecution")]
        terms += [
            f"{path}.podAffinityTerm"
            for path, _ in pod.view.items(f"{base}.preferredDuringSchedulingIgnoredDuringExecution")
        ]
        for path in terms:
            if pod.view.has(f"{path}.namespaces") or pod.view.has(f"{path}.namespaceSelector"):
                continue
            wanted = pod.view.value(f"{path}.labelSelector.matchLabels")
            if not isinstance(wanted, Mapping) or has_unknown(wanted) or pod.labels is None:
                continue
            others = cluster.pods_by_namespace.get(pod.namespace or "", ())
            if pod.namespace is None or any(
                all((other.labels or {}).get(key) == value for key, value in wanted.items()) for other in (*others, pod)
            ):
                continue
            for other in (pod, *others):
                wrong, right = missed(wanted, other.labels or {})
                if wrong:
                    pod.view.error(
                        "reference-affinity-selects-nothing",
                        f"{path}.labelSelector",
                        f"no pod has {wrong}; {other.title} has {right}",
                        hint=f"did you mean {right}?",
                    )
                    break
