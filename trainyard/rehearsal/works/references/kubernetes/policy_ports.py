"""Ports of network policies: they are those of pods, which a service's own port is not.

Source: Kubernetes documentation, "Network Policies" (a policy sees a packet after the service's address and port have
been turned into a pod's; a named port is one of the pod's containers), as generally known in 2026-11.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from trainyard.problems import nearest
from trainyard.recorded.model import has_unknown
from trainyard.recorded.read import UnreadableInput, as_number
from trainyard.recorded.selectors import selects
from trainyard.rehearsal.context import View, show
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster, Pod, place

_SIDES: Final = (("ingress", "from"), ("egress", "to"))


def check(cluster: Cluster) -> None:
    """Every port of every rule about pods that the recording makes."""
    for view in cluster.of("NetworkPolicy"):
        namespace = place(view)
        if namespace is None or has_unknown(view.value("spec")) or view.is_unknown("spec"):
            continue
        for side, key in _SIDES:
            for rule, _ in view.items(f"spec.{side}"):
                pods = _reached(view, rule, key, namespace, cluster)
                for path, port in view.items(f"{rule}.ports") if pods else ():
                    _port(view, path, port, pods, namespace, cluster)


def _reached(view: View, rule: str, key: str, namespace: str, cluster: Cluster) -> list[Pod]:
    """The pods whose ports a rule means: those that the policy selects, or of one that lets out, those of its peers.

    Nothing where others may be meant too: of a chart, of another namespace, outside.
    """
    if key == "from":
        selectors = [view.value("spec.podSelector")]
    else:
        peers = [peer for _, peer in view.items(f"{rule}.to")]
        selectors = [peer.get("podSelector") if set(peer) == {"podSelector"} else None for peer in peers]
    found: list[Pod] = []
    for selector in selectors:
        if not isinstance(selector, Mapping) or not selector:
            return []
        try:
            if cluster.selected_of_charts(selector, namespace):
                return []
            found += cluster.selected(selector, namespace)
        except UnreadableInput:
            return []
    return found if all(pod.ports_are_known and pod.labels is not None for pod in found) else []


def _port(view: View, path: str, port: Mapping[str, Any], pods: list[Pod], namespace: str, cluster: Cluster) -> None:
    said, numbers = port.get("port"), {number for pod in pods for number in pod.port_numbers()}
    number, names = as_number(said), {name for pod in pods for name in pod.port_names()}
    titles = ", ".join(pod.title for pod in pods[:2])
    if isinstance(said, str) and number is None:
        if said not in names:
            view.error(
                "reference-policy-port", f"{path}.port", f"no container of {titles} has a port named {show(said)}",
                allowed=f"one of {', '.join(sorted(names))}" if names else "a port by its number",
                hint=nearest(said, names),
            )  # fmt: skip
        return
    if number is None or port.get("endPort") is not None or int(number) in numbers:
        return
    for name, target in _served(int(number), pods, namespace, cluster):
        if target in numbers and target != int(number) and not _admitted(target, pods, namespace, cluster):
            view.error(
                "reference-policy-port", f"{path}.port",
                f"is {int(number)}, which is the port of Service {name}: packets reach {titles} on {target}, which "
                "this rule does not let through", allowed=str(target),
            )  # fmt: skip
            return


def _admitted(number: int, pods: list[Pod], namespace: str, cluster: Cluster) -> bool:
    """Whether any rule of the namespace's policies says the port, by its number, its name, or in a range."""
    names = {name for pod in pods for name, value in pod.port_names().items() if value == number}
    for view in cluster.of("NetworkPolicy"):
        for side, _ in _SIDES if place(view) in (namespace, None) else ():
            for rule, _ in view.items(f"spec.{side}"):
                for _, port in view.items(f"{rule}.ports"):
                    first = as_number(port.get("port"))
                    last = as_number(port.get("endPort")) or first
                    if port.get("port") in names or (first is not None and first <= number <= (last or first)):
                        return True
    return False


def _served(number: int, pods: list[Pod], namespace: str, cluster: Cluster) -> Iterator[tuple[str, int]]:
    """Services of the pods that have a port of that number, with the one of the pods that it leads to."""
    for service in cluster.of("Service"):
        selector = service.value("spec.selector")
        if place(service) != namespace or not isinstance(selector, Mapping) or not selector or has_unknown(selector):
            continue
        meant = [pod for pod in pods if selects({"matchLabels": selector}, pod.labels or {})]
        named = {name: value for pod in meant for name, value in pod.port_names().items()}
        for _, entry in service.items("spec.ports"):
            target = entry.get("targetPort", number)
            led = named.get(target) if isinstance(target, str) else None
            if meant and as_number(entry.get("port")) == number:
                yield str(service.text("metadata.name")), int(led or as_number(target) or number)
