"""Services: do they select pods that are there, and do their ports lead to one that a container has?

Source: Kubernetes documentation, "Service", "Ingress", "StatefulSet", "DNS for Services and Pods", as generally known.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from trainyard.problems import nearest
from trainyard.recorded.model import UNKNOWN, has_unknown
from trainyard.recorded.read import UnreadableInput, as_number, known_texts
from trainyard.rehearsal.context import View, listed, show
from trainyard.rehearsal.near import missed, nearest_of
from trainyard.rehearsal.works.references.kubernetes.cluster import (
    ChartPod,
    Cluster,
    Container,
    Pod,
    place,
    values_from_elsewhere,
)

_HOOKS: Final = ("ValidatingWebhookConfiguration", "MutatingWebhookConfiguration")
_OF_ITS_OWN: Final = re.compile(r"metrics|prom|health|probe|ready|live|admin|debug|pprof|webhook|peer|gossip")
"""Ports of a program that no service need lead to."""
_WEBHOOKS: Final = {
    "kueue": "-webhook-service",
    "jobset": "-webhook-service",
    "kubeflow-trainer": "-controller-manager",
    "cert-manager": "-webhook",
}
"""How the service behind a chart's webhooks is called after the chart's full name (the charts' templates, 2026-11)."""
_OF_A_LEADER: Final = re.compile(r"role|leader|master|primary|active|state|status")


def check(cluster: Cluster) -> None:
    """Every check of services and of what names one."""
    for view in cluster.of("Service"):
        _service(view, cluster)
    for view in cluster.of("Ingress"):
        _ingress(view, cluster)
    for view in cluster.of(*_HOOKS):
        for path, _ in view.items("webhooks"):
            _called(view, f"{path}.clientConfig.service", cluster)
    for view in cluster.of("APIService"):
        _called(view, "spec.service", cluster)
    for view in cluster.of("StatefulSet"):
        _governing(view, cluster)
    for pod in cluster.pods:
        _subdomain(pod, cluster)


def _service(view: View, cluster: Cluster) -> None:
    namespace = place(view)
    selector = view.value("spec.selector")
    if (namespace is not None and view.lacks("spec.selector")) or selector == {}:
        _unanswered(view, namespace or "", cluster)
    if namespace is None or not isinstance(selector, Mapping) or not selector:
        return
    if view.text("spec.type") == "ExternalName":
        return
    try:
        pods: list[Pod] = cluster.selected({"matchLabels": selector}, namespace)
        of_charts = cluster.selected_of_charts({"matchLabels": selector}, namespace)
    except UnreadableInput:
        return
    if not pods and not of_charts:
        tell_nothing(view, "spec.selector", selector, namespace, cluster, "reference-service-selects-nothing")
        return
    for path, port in view.items("spec.ports"):
        _target(view, path, port, pods, of_charts, cluster)


def tell_nothing(
    view: View, path: str, selector: Mapping[str, Any], namespace: str, cluster: Cluster, rule: str
) -> None:
    """Notes a selector that means no pod, where pods are near by, or where every pod of the namespace is known."""
    said = ", ".join(f"{key}={value}" for key, value in selector.items())
    candidates: list[Pod | ChartPod] = [
        *cluster.pods_by_namespace.get(namespace, ()),
        *cluster.chart_pods.get(namespace, ()),
    ]
    for pod in candidates:
        wrong, right = missed(selector, pod.labels or {})
        if wrong:
            view.error(
                rule,
                path,
                f"selects no pod: it says {wrong}, the pods of {pod.title} have {right}",
                hint=f"did you mean {right}?",
            )
            return
    elsewhere = _elsewhere(selector, namespace, cluster)
    if elsewhere is not None:
        view.error(
            rule,
            path,
            f"selects no pod in namespace {show(namespace or 'default')}: the pods of {elsewhere.title} that have "
            f"{said} are in {show(elsewhere.namespace or 'default')}",
            allowed="pods of the same namespace",
        )
    elif candidates and cluster.pods_are_known(namespace) and not _given_later(selector, candidates):
        view.error(
            rule,
            path,
            f"selects no pod: none in namespace {show(namespace)} has {said}",
            allowed="labels of pods in the same namespace",
        )


def _unanswered(view: View, namespace: str, cluster: Cluster) -> None:
    """A service without a selector leads to addresses that somebody writes down."""
    name, written = view.text("metadata.name"), ("Endpoints", "EndpointSlice.discovery.k8s.io", "EndpointSlice")
    if name is None or view.is_unknown("spec") or view.text("spec.type") == "ExternalName":
        return
    slices = [one.mapping("metadata.labels").get("kubernetes.io/service-name") for one in cluster.of(*written[1:])]
    is_written = cluster.find("Endpoints", namespace, name) is not None or name in slices or UNKNOWN in slices
    own = [pod for pod in cluster.pods_by_namespace.get(namespace, ()) if pod.labels]
    if not is_written and own and all(cluster.is_made_here(namespace, kind) for kind in written):
        # A program may write them itself, as Patroni does.
        view.warning(
            "reference-service-selects-nothing", "spec.selector",
            "is missing, and nothing recorded writes its endpoints: who calls it reaches nothing",
            allowed=f"labels of pods, such as those of {own[0].title}",
        )  # fmt: skip


def _given_later(selector: Mapping[str, Any], candidates: Iterable[Pod | ChartPod]) -> bool:
    """Whether the pods may get the label while they run, as the one that leads does."""
    missing = [key for key in selector if not any(key in (pod.labels or {}) for pod in candidates)]
    return any(_OF_A_LEADER.search(key) for key in missing)


def _elsewhere(selector: Mapping[str, Any], namespace: str, cluster: Cluster) -> Pod | None:
    if not cluster.pods_are_known(namespace) or cluster.pods_by_namespace.get(namespace):
        return None
    for pod in cluster.pods:
        known = pod.namespace is not None and pod.namespace != namespace and pod.labels
        if known and all((pod.labels or {}).get(key) == value for key, value in selector.items()):
            return pod
    return None


def _target(
    view: View,
    path: str,
    port: Mapping[str, Any],
    pods: Iterable[Pod],
    of_charts: Iterable[ChartPod],
    cluster: Cluster,
) -> None:
    target = port.get("targetPort")
    target = port.get("port") if target is None else target
    pods, of_charts = list(pods), list(of_charts)
    if target is UNKNOWN or of_charts or not pods or not all(pod.ports_are_known for pod in pods):
        return
    where = f"{path}.targetPort" if port.get("targetPort") is not None else f"{path}.port"
    titles = ", ".join(pod.title for pod in pods[:2])
    number = as_number(target)
    if isinstance(target, str) and number is None:
        names = {name for pod in pods for name in pod.port_names()}
        if target not in names:
            view.error(
                "reference-port",
                where,
                f"no container of {titles} has a port named {show(target)}",
                allowed=f"one of {', '.join(sorted(names))}" if names else "a port by its number",
                hint=nearest(target, names),
            )
        return
    numbers = {found for pod in pods for found in pod.port_numbers()}
    if number is not None and numbers and int(number) not in numbers and _forgotten(view, int(number), pods, cluster):
        view.error(
            "reference-port",
            where,
            f"leads to port {int(number)}, and the containers of {titles} have {_listed(numbers)}",
            allowed=f"one of {_listed(numbers)}, or the port's name",
        )
    protocol = str(port.get("protocol") or "TCP")
    if number is not None and int(number) in numbers:
        given = {
            str(found.get("protocol") or "TCP")
            for pod in pods
            for container in pod.containers
            for found in container.ports
            if as_number(found.get("containerPort")) == number
        }
        if protocol not in given:
            view.error(
                "reference-port",
                f"{path}.protocol",
                f"is {protocol}, and port {int(number)} of {titles} is {', '.join(sorted(given))}",
            )


def _forgotten(view: View, number: int, pods: list[Pod], cluster: Cluster) -> bool:
    """Whether the pods declare a port that no service leads to: then that is the one which was meant.

    A container may listen on a port that it does not declare; one whose declared ports are all served may well do so,
    and one that is told the number does.
    """
    if any(_is_told(container, number) for pod in pods for container in pod.containers):
        return False
    services = [service for service in cluster.of("Service") if place(service) in (place(view), None)]
    if any(place(one) is None or has_unknown(one.value("spec")) or one.is_unknown("spec") for one in services):
        return False
    served = {
        str(port.get("port") if port.get("targetPort") is None else port["targetPort"])
        for service in services
        for _, port in service.items("spec.ports")
    }
    return any(
        str(port.get("name")) not in served
        and str(port.get("containerPort")) not in served
        and not _OF_ITS_OWN.search(str(port.get("name") or ""))
        for pod in pods
        for container in pod.containers
        for port in container.ports
    )


def _is_told(container: Container, number: int) -> bool:
    """Whether a container's command or environment has a number."""
    words = [*listed(container.body.get("command")), *listed(container.body.get("args"))]
    words += [entry.get("value") for entry in listed(container.body.get("env")) if isinstance(entry, Mapping)]
    return any(re.search(rf"(?<!\d){number}(?!\d)", word) is not None for word in words if isinstance(word, str))


def _listed(numbers: Iterable[int]) -> str:
    return ", ".join(map(str, sorted(numbers)))


def _ingress(view: View, cluster: Cluster) -> None:
    namespace = place(view)
    if namespace is None:
        return
    _backend(view, "spec.defaultBackend.service", namespace, cluster)
    for rule, _ in view.items("spec.rules"):
        for path, entry in view.items(f"{rule}.http.paths"):
            _backend(view, f"{path}.backend.service", namespace, cluster)
            text = entry.get("path")
            if isinstance(text, str) and not text.startswith("/") and entry.get("pathType") in ("Exact", "Prefix"):
                view.error("reference-ingress", f"{path}.path", f"got {show(text)}", allowed="begins with /")


def _backend(view: View, path: str, namespace: str, cluster: Cluster) -> None:
    found = _existing(view, path, namespace, cluster)
    if found is None:
        return
    name, number = view.text(f"{path}.port.name"), view.number(f"{path}.port.number")
    _port(view, f"{path}.port", found, name, number)


def _called(view: View, path: str, cluster: Cluster) -> None:
    """What the API server calls: the service by name, and its port by number, 443 where none is given."""
    namespace = view.text(f"{path}.namespace")
    if namespace is None:
        return
    found = _existing(view, path, namespace, cluster)
    if found is not None and not view.is_unknown(f"{path}.port"):
        _port(view, f"{path}.port", found, None, view.number(f"{path}.port") or 443)


def _existing(view: View, path: str, namespace: str, cluster: Cluster) -> View | None:
    name = view.text(f"{path}.name")
    if name is None:
        return None
    near = cluster.lacks("Service", namespace, name)
    charted = _of_charts(namespace, cluster) if near is None and "webhook" in name else ()
    if charted and name not in charted and cluster.find("Service", namespace, name) is None:
        near = next((one for one in charted if one.startswith(f"{name}-")), "") or nearest_of(name, charted) or None
    if near is not None:
        tell_missing(view, f"{path}.name", "Service", name, namespace, near)
    return cluster.find("Service", namespace, name)


def _of_charts(namespace: str, cluster: Cluster) -> list[str]:
    """Services behind webhooks that charts make in a namespace, by their names."""
    found = []
    for release in cluster.releases:
        chart, name = (release.text("chart") or "").rpartition("/")[2], release.text("name")
        is_named = not (
            values_from_elsewhere(release) or release.has("values.nameOverride")
            or release.is_unknown("values.fullnameOverride")
        )  # fmt: skip
        if release.text("namespace") == namespace and chart in _WEBHOOKS and name is not None and is_named:
            full = release.text("values.fullnameOverride") or (name if chart in name else f"{name}-{chart}")
            found.append(full + _WEBHOOKS[chart])
    return found


def _port(view: View, path: str, service: View, name: str | None, number: float | None) -> None:
    ports = [port for _, port in service.items("spec.ports")]
    if len(ports) != len(service.entries("spec.ports")) or service.is_unknown("spec.ports"):
        return
    names = [port["name"] for port in ports if isinstance(port.get("name"), str)]
    numbers = [as_number(port.get("port")) for port in ports]
    title = f"Service {service.text('metadata.name')}"
    if name is not None and name not in names and not any(port.get("name") is UNKNOWN for port in ports):
        view.error(
            "reference-port", f"{path}.name", f"{title} has no port named {show(name)}", hint=nearest(name, names)
        )
    elif number is not None and number not in numbers and not any(port.get("port") is UNKNOWN for port in ports):
        given = ", ".join(f"{found:g}" for found in numbers if found is not None)
        view.error("reference-port", f"{path}.number", f"{title} has no port {number:g}", allowed=f"one of {given}")


def tell_missing(view: View, path: str, kind: str, name: str, namespace: str, near: str) -> None:
    """Notes an object that is named and not there."""
    where = f" in namespace {show(namespace or 'default')}" if namespace or kind not in ("StorageClass",) else ""
    view.error(
        "reference-missing", path, f"no {kind} {show(name)}{where}", hint=f"did you mean {near}?" if near else ""
    )


def _governing(view: View, cluster: Cluster) -> None:
    namespace, name = place(view), view.text("spec.serviceName")
    if namespace is None or name is None or cluster.is_blurred("Service", namespace):
        return
    near = cluster.lacks("Service", namespace, name)
    if near is not None:
        tell_missing(view, "spec.serviceName", "Service", name, namespace, near)


def _without_subdomain(pod: Pod, cluster: Cluster) -> None:
    """Ranks of a job that ask for rank 0 by a name, whose headless service is there, and whose names are not.

    A service that selects completion index 0 leads to rank 0 by its own name, for which no pod needs one.
    """
    job = pod.view.text("metadata.name")
    if pod.view.text("kind") != "Job" or job is None or pod.namespace is None:
        return
    service = cluster.find("Service", pod.namespace, job)
    indexed = pod.view.text("spec.completionMode") == "Indexed" and (pod.view.number("spec.parallelism") or 1) > 1
    asked = any(f"{job}-0.{job}" in text for _, text in known_texts(pod.spec))
    if indexed and asked and service is not None and service.value("spec.clusterIP") == "None":
        pod.view.error(
            "reference-subdomain", f"{pod.path}.subdomain",
            f"is missing, and Service {show(job)} gives names to pods that say theirs: no rank finds another",
            allowed=job,
        )  # fmt: skip


def _subdomain(pod: Pod, cluster: Cluster) -> None:
    name = pod.spec.get("subdomain")
    if name is None and "subdomain" not in pod.spec:
        _without_subdomain(pod, cluster)
    if not isinstance(name, str) or pod.namespace is None or pod.labels is None:
        return
    path = f"{pod.path}.subdomain"
    near = cluster.lacks("Service", pod.namespace, name)
    if near is not None:
        pod.view.error(
            "reference-subdomain",
            path,
            f"no Service {show(name)} in {show(pod.namespace or 'default')}, so the pods have no names in DNS",
            hint=f"did you mean {near}?" if near else "",
        )
    _governs(pod.view, path, pod.labels, name, pod.namespace, cluster)


def _governs(view: View, path: str, labels: Mapping[str, Any], name: str, namespace: str, cluster: Cluster) -> None:
    """A service gives names only to the pods that it selects, and only where it has no address of its own."""
    service = cluster.find("Service", namespace, name)
    if service is None or view.is_unknown("spec.template.metadata.labels"):
        return
    selector = service.value("spec.selector")
    if not isinstance(selector, Mapping) or UNKNOWN in selector.values():
        return
    wrong = [f"{key}={value}" for key, value in selector.items() if labels.get(key) != value]
    if wrong:
        view.error(
            "reference-subdomain",
            path,
            f"Service {show(name)} selects {', '.join(wrong)}, which these pods have not, so they have no names in DNS",
        )
    elif not service.is_unknown("spec.clusterIP") and service.value("spec.clusterIP") != "None":
        view.error(
            "reference-subdomain",
            path,
            f"Service {show(name)} has an address of its own, so single pods have no names in DNS",
            allowed="a headless service: clusterIP None",
        )
