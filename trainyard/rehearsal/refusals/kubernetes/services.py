"""Services, Ingresses, NetworkPolicies and disruption budgets: inputs that the API server weighs together.

Source: pkg/apis/core, networking and policy of Kubernetes 1.35 (their validation) as generally known.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Mapping
from typing import Final

from trainyard.recorded.model import UNKNOWN
from trainyard.recorded.read import as_number, follow
from trainyard.rehearsal.context import View, listed, show
from trainyard.rehearsal.refusals.kubernetes.dns import DNS_LABEL

_OUTSIDE: Final = ("NodePort", "LoadBalancer")


def check(view: View, kind: str) -> None:
    """What the API server refuses of an object that says who reaches whom."""
    rule = _RULES.get(kind)
    if rule is not None:
        rule(view)


def _service(view: View) -> None:
    kind = None if view.is_unknown("spec.type") else view.text("spec.type") or "ClusterIP"
    headless = view.text("spec.clusterIP") == "None"
    if kind == "ExternalName":
        if view.lacks("spec.externalName"):
            view.error("k8s-service", "spec.externalName", "is missing", allowed="a DNS name, for type ExternalName")
    elif kind is not None and not headless and view.value("spec.ports") in (None, []) and not _blurred(view):
        view.error("k8s-service", "spec.ports", "is missing", allowed="at least one port, or clusterIP None")
    if headless and kind in _OUTSIDE:
        view.error("k8s-service", "spec.clusterIP", f"None with type {kind}", allowed="type ClusterIP")
    if kind == "ClusterIP":
        for key in ("externalTrafficPolicy", "loadBalancerClass", "healthCheckNodePort"):
            if view.has(f"spec.{key}"):
                view.error("k8s-service", f"spec.{key}", "given for type ClusterIP", allowed="another type")
    for path, entry in view.items("spec.ports"):
        if entry.get("nodePort") not in (None, 0, UNKNOWN) and kind == "ClusterIP":
            view.error("k8s-service", f"{path}.nodePort", "given for type ClusterIP", allowed="NodePort, LoadBalancer")
    _port_entries(view)


def _blurred(view: View) -> bool:
    return view.is_unknown("spec.ports") or view.is_unknown("spec.clusterIP") or view.is_unknown("spec")


def _port_entries(view: View) -> None:
    names: set[str] = set()
    pairs: set[tuple[object, object]] = set()
    for path, entry in view.items("spec.ports"):
        name, pair = entry.get("name"), (entry.get("port"), entry.get("protocol") or "TCP")
        if isinstance(name, str) and name:
            if not DNS_LABEL.fullmatch(name):
                view.error("k8s-port-name", f"{path}.name", f"got {show(name)}", allowed="must be a DNS label")
            if name in names:
                view.error("k8s-port-name", f"{path}.name", f"{show(name)} is given twice", allowed="each name once")
            names.add(name)
        if pair in pairs and UNKNOWN not in pair:
            view.error("k8s-port", f"{path}.port", f"{pair[0]}/{pair[1]} is given twice", allowed="each port once")
        pairs.add(pair)
        target = entry.get("targetPort")
        if isinstance(target, str) and not target.isdigit() and not is_port_name(target):
            allowed = "a number, or a port's name: at most 15 lower-case letters, digits and '-'"
            view.error("k8s-port-name", f"{path}.targetPort", f"got {show(target)}", allowed=allowed)


def is_port_name(text: str) -> bool:
    """Whether a text can be the name of a container's port (IANA_SVC_NAME)."""
    return re.fullmatch(r"(?=.*[a-z])(?!.*--)[a-z0-9]([a-z0-9-]{0,13}[a-z0-9])?", text) is not None


def _network_policy(view: View) -> None:
    types = view.value("spec.policyTypes")
    for side, key, word in (("ingress", "from", "Ingress"), ("egress", "to", "Egress")):
        if isinstance(types, list) and UNKNOWN not in types and word not in types and view.entries(f"spec.{side}"):
            view.warning(
                "k8s-network-policy", f"spec.{side}", f"policyTypes does not name {word}: the rules count for nothing",
                allowed=f"{word} in policyTypes",
            )  # fmt: skip
        for path, _ in view.items(f"spec.{side}"):
            for here, entry in view.items(f"{path}.{key}"):
                if not any(entry.get(name) is not None for name in ("ipBlock", "podSelector", "namespaceSelector")):
                    view.error("k8s-network-peer", here, "is empty", allowed="ipBlock or a selector")
                _except(view, here, entry)


def _except(view: View, path: str, entry: Mapping[str, object]) -> None:
    outer = _network(follow(entry, "ipBlock", "cidr"))
    for index, text in enumerate(listed(follow(entry, "ipBlock", "except"))):
        here = f"{path}.ipBlock.except[{index}]"
        if not isinstance(text, str):
            continue
        inner = _network(text)
        if inner is None:
            view.error("k8s-cidr", here, f"got {show(text)}", allowed="an address block such as 10.0.0.0/16")
        elif outer is not None and (
            inner.version != outer.version or inner == outer or not inner.subnet_of(outer)  # type: ignore[arg-type]
        ):
            view.error(
                "k8s-cidr", here, f"{inner} is no part of {outer}", allowed="a block inside cidr, smaller than it"
            )


def _network(text: object) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    try:
        return ipaddress.ip_network(text) if isinstance(text, str) else None
    except ValueError:
        return None


def _budget(view: View) -> None:
    for key in ("minAvailable", "maxUnavailable"):
        path = f"spec.{key}"
        text, number = view.text(path), view.number(path)
        share = as_number(text[:-1]) if text is not None and text.endswith("%") else None
        if text is not None and (share is None or not 0 <= share <= 100):
            view.error("k8s-percentage", path, f"got {show(text)}", allowed="a number, or a percentage such as '50%'")
        elif text is None and number is not None and number < 0:
            view.error("k8s-percentage", path, f"got {number:g}", allowed="at least 0")


def _ingress(view: View) -> None:
    if view.lacks("spec.rules") and view.lacks("spec.defaultBackend") and not view.is_unknown("spec"):
        view.error("k8s-ingress", "spec.rules", "is missing", allowed="rules or defaultBackend")
    for path, _ in view.items("spec.rules"):
        for here, entry in view.items(f"{path}.http.paths"):
            where = entry.get("path")
            if isinstance(where, str) and where and not where.startswith("/"):
                view.error("k8s-ingress", f"{here}.path", f"got {show(where)}", allowed="must begin with /")
            port = follow(entry, "backend", "service", "port")
            if isinstance(port, Mapping) and (port.get("name") is None) == (port.get("number") is None):
                view.error(
                    "k8s-ingress", f"{here}.backend.service.port", f"got {show(dict(port))}", allowed="one of both"
                )


_RULES: Final[Mapping[str, Callable[[View], None]]] = {
    "Ingress": _ingress,
    "NetworkPolicy": _network_policy,
    "PodDisruptionBudget": _budget,
    "Service": _service,
}
