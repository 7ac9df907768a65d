"""Places and network policies made by hand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.cost.recorded import resource
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import NAMESPACE, NETWORK_POLICY
from trainyard.rehearsal.works.flows.addresses import INTERNET, Addresses
from trainyard.rehearsal.works.flows.kubernetes.network_policies import Enforcement, NetworkPolicies
from trainyard.rehearsal.works.flows.model import Flow, Place, Pods, Port, Verdict, judge

PODS_AT = "10.0.0.0/16"
SERVICES = Addresses.of("172.20.0.0/16")


def pods(namespace: str, *, at: str = PODS_AT, services: Any = (), ports: Any = None, **labels: str) -> Place:
    """Pods with labels; underscores of a key are dashes."""
    named = {key.replace("_", "-"): value for key, value in labels.items()}
    return Place(
        f"{namespace} {named}", "pods", Addresses.of(at), pods=Pods(namespace, named, ports or {}, tuple(services))
    )


def anybody(namespace: str) -> Place:
    """Pods whose labels their author chooses."""
    return Place(f"{namespace} *", "pods", Addresses.of(PODS_AT), pods=Pods(namespace, None))


def at(*networks: str) -> Place:
    """Something outside of the cluster."""
    return Place("/".join(networks), "service", Addresses.of(*networks))


INTERNET_AT_LARGE = Place("internet", "internet", INTERNET)


def policy(namespace: str, name: str = "policy", **spec: Any) -> RecordedResource:
    """A network policy; `spec` under wire names."""
    inputs = {"metadata": {"name": name, "namespace": namespace}, "spec": {"podSelector": {}, **spec}}
    return resource(NETWORK_POLICY, f"{namespace}-{name}", inputs)


def namespace(name: str, **labels: str) -> RecordedResource:
    """A namespace with labels."""
    return resource(NAMESPACE, name, {"metadata": {"name": name, "labels": labels}})


def ask(
    policies: list[RecordedResource],
    source: Place,
    destination: Place,
    port: int | Port = 80,
    *,
    enforcement: Enforcement = "standard",
    services: Addresses = SERVICES,
) -> Verdict:
    """What the network policies alone say."""
    wall = NetworkPolicies.recorded(Resources(policies), enforcement, services)
    return judge(Flow.between(source, destination, Port(port) if isinstance(port, int) else port), [wall])


def to_block(cidr: str, *without: str) -> Mapping[str, Any]:
    """A peer by address."""
    return {"ipBlock": {"cidr": cidr, **({"except": list(without)} if without else {})}}
