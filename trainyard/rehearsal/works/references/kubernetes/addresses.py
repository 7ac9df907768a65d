"""Names of services in DNS, wherever a program is told one: environment, arguments, config maps, secrets.

Source: Kubernetes documentation, "DNS for Services and Pods", as generally known:
`SERVICE.NAMESPACE.svc.cluster.local`, and a port of that service behind it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from trainyard.recorded.read import as_number, known_texts
from trainyard.rehearsal.context import View, show
from trainyard.rehearsal.near import nearest_of
from trainyard.rehearsal.works.references.kubernetes import chart_services
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster

_WORD: Final = r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?"
_ADDRESS: Final = re.compile(
    rf"(?<![\w.-])(?P<name>{_WORD})\.(?P<space>{_WORD})\.svc(?:\.cluster\.local)?(?![\w.-])(?::(?P<port>\d+))?"
)
_PORTLESS: Final = re.compile(
    rf"(?P<scheme>https?)://(?P<name>{_WORD})\.(?P<space>{_WORD})\.svc(?:\.cluster\.local)?(?P<rest>/\S*)?"
)
"""An address alone, without a port."""
_OF_SCHEMES: Final = {"http": "80", "https": "443"}
_CLIENTS: Final = r"(?:pg_\w+|psql|createdb|mysql\w*|mariadb\w*|redis-cli|valkey-cli|mongo\w*)"
_CLIENT: Final = re.compile(rf"\b{_CLIENTS}\b[^|;&\n]*?\s(?:-h|--host)[ =]?({_WORD})(?=\s|$)")
"""The host that a client of a database is told, where it has no dot."""
_OF_EVERY_CLUSTER: Final = ("kubernetes", "default")
_HELD: Final = ("data", "stringData")


def check(cluster: Cluster) -> None:
    """Every check of a name that a program is told."""
    for pod in cluster.pods:
        for container in pod.containers:
            for key in ("command", "args", "env"):
                for below, text in known_texts(container.body.get(key)):
                    check_text(pod.view, f"{container.path}.{key}{_joined(below)}", text, cluster)
                    _client(pod.view, f"{container.path}.{key}{_joined(below)}", text, pod.namespace, cluster)
    for view in cluster.of("ConfigMap", "Secret"):
        for part in _HELD:
            for key, text in view.mapping(part).items():
                if isinstance(text, str):
                    check_text(view, f"{part}.{key}", text, cluster)


def _client(view: View, path: str, text: str, namespace: str | None, cluster: Cluster) -> None:
    """A host without a dot that a client of a database is told: a service of the pod's own namespace."""
    for name in _CLIENT.findall(text) if namespace is not None else ():
        near = cluster.lacks("Service", namespace or "", name)
        if near:
            words = f"names the host {show(name)}, and namespace {namespace or 'default'} has no such service"
            view.error("reference-address", path, words, hint=f"did you mean {near}?")


def _joined(below: str) -> str:
    return below if below.startswith("[") or not below else f".{below}"


def check_text(view: View, path: str, text: str, cluster: Cluster) -> None:
    """Notes names of services in a text that are not there, or have no such port."""
    if ".svc" not in text:
        return
    whole = _PORTLESS.fullmatch(text)
    # An origin or an audience is written as an address too: what is asked has a path, or is called a URL.
    if whole is not None and (whole["rest"] or path.lower().endswith("url")):
        _name(view, path, whole["name"], whole["space"], _OF_SCHEMES[whole["scheme"]], cluster)
        return
    for name, namespace, port in dict.fromkeys(_named(text)):
        _name(view, path, name, namespace, port, cluster)


def _named(text: str) -> Iterator[tuple[str, str, str]]:
    for found in _ADDRESS.finditer(text):
        yield found["name"], found["space"], found["port"] or ""


def _name(view: View, path: str, name: str, namespace: str, port: str, cluster: Cluster) -> None:
    if namespace not in cluster.labels_of_namespaces:
        near = nearest_of(namespace, cluster.labels_of_namespaces)
        if near or cluster.lacks("Namespace", "", namespace) is not None:
            view.error(
                "reference-address",
                path,
                f"names service {name}.{namespace}, and there is no namespace {show(namespace)}",
                hint=f"did you mean {near}?" if near else "",
            )
        return
    if (name, namespace) == _OF_EVERY_CLUSTER:
        return
    meant = cluster.lacks("Service", namespace, name)
    if meant is not None:
        view.error(
            "reference-address",
            path,
            f"names service {name}.{namespace}, which is not there",
            hint=f"did you mean {meant}?" if meant else "",
        )
    service = cluster.find("Service", namespace, name)
    of_chart = chart_services.meant(cluster, namespace, name) if service is None and meant is None else ""
    if of_chart:
        words = f"names service {name}.{namespace}, which the chart there calls {of_chart}"
        view.error("reference-address", path, words, hint=f"did you mean {of_chart}?")
    if service is None or not port or service.has("spec.externalName") or service.lacks("spec.selector"):
        return
    ports = [as_number(entry.get("port")) for _, entry in service.items("spec.ports")]
    is_headless = service.value("spec.clusterIP") == "None"
    if service.blurred("spec.ports") or None in ports or not ports or is_headless or service.is_unknown("spec"):
        return
    if int(port) not in ports:
        given = ", ".join(f"{number:g}" for number in ports if number is not None)
        view.error(
            "reference-address",
            path,
            f"names port {port} of service {name}.{namespace}, which has {given}",
            allowed=f"one of {given}",
        )
