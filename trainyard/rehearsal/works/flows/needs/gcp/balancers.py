"""What balancers of GKE's Gateways need: the pods behind a route answer their probes, and their calls.

Sources: GKE, "Deploying Gateways" (balancers reach pods, not nodes); Cloud Load Balancing, "Health checks overview"
(the ranges of probes; the global external balancers call from the same, the others from the subnet of proxies), as
generally known in 2026-11.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from trainyard.conventions.gcp import PROBE_RANGES
from trainyard.recorded.health_checks import HEALTH_CHECK_POLICY, asked_ports
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import UnreadableInput, as_number, mappings_at, value_at
from trainyard.rehearsal.works.flows.addresses import Addresses
from trainyard.rehearsal.works.flows.model import Place, Port
from trainyard.rehearsal.works.flows.needs.kubernetes.pods import behind
from trainyard.rehearsal.works.flows.needs.model import Need
from trainyard.rehearsal.works.flows.needs.scene import Scene, services_of

PROBES: Final = tuple(
    Place(f"the balancer's probes from {block}", "balancer", Addresses.of(block)) for block in PROBE_RANGES
)
"""By range: each of them has to be let in."""
_ROUTES: Final = "kubernetes:gateway.networking.k8s.io/*:*Route"
_GATEWAYS: Final = "kubernetes:gateway.networking.k8s.io/*:Gateway"
_OF_GKE: Final = "gke-l7-"
_CALLS_FROM_ELSEWHERE: Final = ("regional", "rilb")
"""In the names of classes whose calls come from a subnet of proxies."""

_Name = tuple[str, str]  # namespace, name


def probes(scene: Scene) -> Iterator[Need]:
    """Google's probes, to the pods behind every route of a recorded Gateway of GKE's. Raises UnknownInput."""
    routes = scene.resources.of(_ROUTES)
    classes = {_name(one): _class(one) for one in scene.resources.of(_GATEWAYS)} if routes else {}
    services = services_of(scene.resources) if classes else {}
    checked = dict(_checked(scene)) if classes else {}
    for route in routes if classes else ():
        try:
            meant = [classes.get(where, "") for where in _named(route, value_at(route.inputs, "spec", "parentRefs"))]
            backends = list(_backends(route))
        except UnreadableInput:
            continue
        calls_too = any(not any(part in one for part in _CALLS_FROM_ELSEWHERE) for one in meant if one)
        for where, number in backends if any(meant) else ():
            service = services.get(where)
            if service is None:
                continue
            for actor in scene.actors:
                serving = behind(service, actor, number) if actor.namespace == where[0] else None
                asked = {checked.get(where, serving), serving if calls_too else None} if serving else set()
                for port in sorted(one for one in asked if one):
                    yield from (Need("probes", place, actor.place, Port(port), route) for place in PROBES)


def _name(one: RecordedResource) -> _Name:
    metadata = value_at(one.inputs, "metadata", default={})
    return str(value_at(metadata, "namespace", default="default")), str(value_at(metadata, "name", default=one.name))


def _class(gateway: RecordedResource) -> str:
    """The class of a Gateway of GKE's; empty of another."""
    said = str(value_at(gateway.inputs, "spec", "gatewayClassName", default="", unknown=""))
    return said if said.startswith(_OF_GKE) else ""


def _named(one: RecordedResource, entries: Any) -> Iterator[_Name]:
    for entry in entries or ():
        yield str(value_at(entry, "namespace", default=_name(one)[0])), str(value_at(entry, "name"))


def _backends(route: RecordedResource) -> Iterator[tuple[_Name, float]]:
    """Services that a route leads to, with their ports."""
    for rule in mappings_at(route.inputs, "spec", "rules"):
        entries = [
            entry
            for entry in mappings_at(rule, "backendRefs")
            if value_at(entry, "kind", default="Service") == "Service"
        ]
        for where, entry in zip(_named(route, entries), entries, strict=True):
            number = as_number(value_at(entry, "port"))
            if number is not None:
                yield where, number


def _checked(scene: Scene) -> Iterator[tuple[_Name, int | None]]:
    """Services whose pods are asked at a port of a policy's own; None where it is not known which."""
    for policy in scene.resources.of(HEALTH_CHECK_POLICY):
        try:
            (where,) = _named(policy, [value_at(policy.inputs, "spec", "targetRef")])
        except UnreadableInput:
            continue
        asked = [port for _, port in asked_ports(policy.inputs)]
        yield from ((where, port) for port in ([None] if None in asked else asked))
