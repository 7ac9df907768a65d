"""Services, entrances, slices of addresses: further inputs that the API server weighs together.

Source: `ValidateService` of pkg/apis/core, `ValidateIngressSpec` of pkg/apis/networking and `ValidateEndpointSlice` of
pkg/apis/discovery of Kubernetes 1.35, as generally known.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Mapping
from typing import Final

from trainyard.recorded.model import UNKNOWN
from trainyard.recorded.read import as_number
from trainyard.rehearsal.context import View, listed, show
from trainyard.rehearsal.refusals.kubernetes.dns import DNS_NAME, address

_BAD_IN_PATH: Final = ("//", "/./", "/../", "%2f", "%2F")
_BAD_ENDS: Final = ("/..", "/.")
_DAY_S: Final = 86400
_CLASS: Final = "kubernetes.io/ingress.class"


def check(view: View, kind: str) -> None:
    """What the API server refuses of an object that leads requests somewhere."""
    rule = _RULES.get(kind)
    if rule is not None:
        rule(view)


def _service(view: View) -> None:
    kind = None if view.is_unknown("spec.type") else view.text("spec.type") or "ClusterIP"
    name = view.text("spec.externalName")
    if kind == "ExternalName" and name is not None and not DNS_NAME.fullmatch(name.removesuffix(".").lower()):
        view.error(
            "k8s-service", "spec.externalName", f"got {show(name)}", allowed="a DNS name, without scheme or port"
        )
    own = view.text("spec.clusterIP")
    if kind == "ExternalName" and own is not None and own != "":
        view.error("k8s-service", "spec.clusterIP", "given for type ExternalName", allowed="none")
    elif own not in (None, "", "None") and address(own) is None:
        view.error("k8s-service", "spec.clusterIP", f"got {show(own)}", allowed="an IP address, None, or nothing")
    seconds = view.number("spec.sessionAffinityConfig.clientIP.timeoutSeconds")
    is_sticky = view.text("spec.sessionAffinity") == "ClientIP"
    if is_sticky and seconds is not None and not 0 < seconds <= _DAY_S:
        path = "spec.sessionAffinityConfig.clientIP.timeoutSeconds"
        view.error("k8s-service", path, f"got {seconds:g}", allowed=f"1 to {_DAY_S}, a day")
    if view.has("spec.sessionAffinityConfig") and not is_sticky and not view.is_unknown("spec.sessionAffinity"):
        # The server takes it away (`SetDefaults_Service` of pkg/apis/core/v1) before it validates anything.
        view.warning(
            "k8s-service", "spec.sessionAffinityConfig", "is dropped without sessionAffinity ClientIP",
            allowed="sessionAffinity ClientIP",
        )  # fmt: skip
    _addresses(view, kind)
    policy, here = "spec.externalTrafficPolicy", "spec.healthCheckNodePort"
    is_cluster = view.lacks(policy) or view.text(policy) == "Cluster"
    if view.number(here) and kind == "LoadBalancer" and is_cluster:
        view.error("k8s-service", here, "given without externalTrafficPolicy Local", allowed="Local")
    if view.flag("spec.allocateLoadBalancerNodePorts") is not None and kind not in ("LoadBalancer", None):
        here = "spec.allocateLoadBalancerNodePorts"
        view.error("k8s-service", here, f"given for type {kind}", allowed="type LoadBalancer")
    taken: set[object] = set()
    for path, entry in view.items("spec.ports"):
        outer = as_number(entry.get("nodePort"))
        key = outer, entry.get("protocol") or "TCP"
        if outer and key in taken:
            view.error("k8s-port", f"{path}.nodePort", f"{outer:g} is given twice", allowed="each port once")
        taken.add(key)
    families = view.texts("spec.ipFamilies")
    if len(families) > 1 and view.text("spec.ipFamilyPolicy") == "SingleStack":
        view.error(
            "k8s-service", "spec.ipFamilies", "has two with SingleStack", allowed="PreferDualStack, or one family"
        )
    elif len(set(families)) != len(families):
        view.error("k8s-service", "spec.ipFamilies", f"got {show(families)}", allowed="each family once")


def _addresses(view: View, kind: str | None) -> None:
    for index, item in enumerate(view.entries("spec.externalIPs")):
        if isinstance(item, str) and address(item) is None:
            view.error("k8s-service", f"spec.externalIPs[{index}]", f"got {show(item)}", allowed="an IP address")
    if view.entries("spec.loadBalancerSourceRanges") and kind not in ("LoadBalancer", None):
        here = "spec.loadBalancerSourceRanges"
        view.error("k8s-service", here, f"given for type {kind}", allowed="type LoadBalancer")
    for index, item in enumerate(view.entries("spec.loadBalancerSourceRanges")):
        if isinstance(item, str) and not _is_network(item.strip()):
            here = f"spec.loadBalancerSourceRanges[{index}]"
            view.error("k8s-cidr", here, f"got {show(item)}", allowed="an address block such as 10.0.0.0/8")


def _is_network(text: str) -> bool:
    try:
        ipaddress.ip_network(text, strict=False)
    except ValueError:
        return False
    return "/" in text


def _ingress(view: View) -> None:
    if view.has("spec.ingressClassName") and _CLASS in view.mapping("metadata.annotations"):
        view.error(
            "k8s-ingress", "spec.ingressClassName", f"given beside the annotation {_CLASS}", allowed="one of both"
        )
    for path, entry in view.items("spec.rules"):
        _host(view, f"{path}.host", entry.get("host"))
        for here, item in view.items(f"{path}.http.paths"):
            where = item.get("path")
            if item.get("pathType") in ("Exact", "Prefix"):
                if where in (None, ""):
                    view.error("k8s-ingress", f"{here}.path", "is missing", allowed="must begin with /")
                elif isinstance(where, str) and (
                    any(part in where for part in _BAD_IN_PATH) or where.endswith(_BAD_ENDS)
                ):
                    view.error("k8s-ingress", f"{here}.path", f"got {show(where)}", allowed="no //, /./, /../ or %2f")
            _backend(view, f"{here}.backend")
    _backend(view, "spec.defaultBackend")
    for path, entry in view.items("spec.tls"):
        for index, host in enumerate(listed(entry.get("hosts"))):
            _host(view, f"{path}.hosts[{index}]", host)


def _backend(view: View, path: str) -> None:
    found = view.mapping(path)
    if found and UNKNOWN not in found.values() and (found.get("service") is None) == (found.get("resource") is None):
        view.error("k8s-ingress", path, "leads nowhere, or to two", allowed="one of service, resource")


def _host(view: View, path: str, host: object) -> None:
    if not isinstance(host, str) or not host:
        return
    if address(host) is not None:
        view.error("k8s-ingress", path, f"got {show(host)}", allowed="a DNS name, no address")
    elif not DNS_NAME.fullmatch(host.removeprefix("*.")):
        view.error("k8s-ingress", path, f"got {show(host)}", allowed="a DNS name, or *.name; no scheme, port or path")


def _endpoints(view: View) -> None:
    kind = view.text("addressType")
    for path, entry in view.items("endpoints"):
        for index, item in enumerate(listed(entry.get("addresses"))):
            found = address(item) if isinstance(item, str) else None
            here = f"{path}.addresses[{index}]"
            if not isinstance(item, str) or kind is None:
                continue
            if kind == "FQDN" and not DNS_NAME.fullmatch(item):
                view.error("k8s-endpoints", here, f"got {show(item)}", allowed="a DNS name")
            elif kind != "FQDN" and (found is None or f"IPv{found.version}" != kind):
                view.error("k8s-endpoints", here, f"got {show(item)}", allowed=f"an address of {kind}")
            elif found is not None and (found.is_loopback or found.is_link_local or found.is_unspecified):
                view.error("k8s-endpoints", here, f"got {item}", allowed="no loopback or link-local address")


_RULES: Final[Mapping[str, Callable[[View], None]]] = {
    "EndpointSlice": _endpoints,
    "Ingress": _ingress,
    "Service": _service,
}
