"""What pods need: names, services, each other, and both sides of what a NetworkPolicy lets by."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import as_number, follow, is_set, mappings_at, value_at
from trainyard.recorded.selectors import NAME_LABEL, selects
from trainyard.recorded.types import CONFIG_MAP, JOB
from trainyard.rehearsal.works.flows.kubernetes.network_policies import NetworkPolicies
from trainyard.rehearsal.works.flows.model import Place, Port
from trainyard.rehearsal.works.flows.needs.model import Need
from trainyard.rehearsal.works.flows.needs.scene import Actor, Scene, services_of, settings_of

DNS: Final = (Port(53, "UDP"), Port(53))
RENDEZVOUS: Final = Port(29500)
RANKS: Final = (RENDEZVOUS, Port(1024), Port(65535))
"""The port that torchrun meets on unless it is told another one, and the ends of those that NCCL opens by itself."""

_URL: Final = re.compile(
    r"\b([a-z][a-z0-9+.-]*)://(?:[^/@\s\"']*@)?([a-z0-9-]+)(?:\.([a-z0-9-]+))?(?:\.svc(?:\.[a-z0-9.-]+)?)?(?::(\d+))?"
    r"(?=[/\s\"',?\\]|$)"
)
_PORTS: Final[Mapping[str, int]] = {"http": 80, "https": 443, "postgresql": 5432, "postgres": 5432, "redis": 6379}
_ASKS: Final = re.compile(r"(?:^|/)(?:squid|envoy|tinyproxy)$")
"""Programs that look up whatever name they are asked for, by their command."""
_HOST: Final = re.compile(r"://|\.svc\b|\.amazonaws\.com|\.googleapis\.com")


def names(scene: Scene, policies: NetworkPolicies) -> Iterator[Need]:
    """Pods that look up names: those that say one, teams', and charts' that are known to."""
    server = scene.name_server()
    if server is None:
        return
    seen = [
        actor
        for actor in scene.actors
        if "names" in actor.needs or any(_HOST.search(text) or _ASKS.search(text) for text in actor.texts)
    ]
    for actor in seen:
        for port in DNS[:1]:
            yield Need("names", actor.place, server.place, port, actor.resource)
    for place in scene.teams.values():
        namespace = _namespace_of(scene, place)
        if namespace is not None and policies.policies.get(place.pods.namespace if place.pods else "", ()):
            for port in DNS[:1]:
                yield Need("names", place, server.place, port, namespace)


def services(scene: Scene) -> Iterator[Need]:
    """Every URL of a recorded service that pods are told of, and that a team's config map tells its pods."""
    by_name = services_of(scene.resources)
    told = [(actor.place, actor.namespace, actor.resource, actor.texts) for actor in scene.actors if actor.texts]
    by_namespace = {place.pods.namespace: place for place in scene.teams.values() if place.pods}
    for config_map in scene.resources.of(CONFIG_MAP):
        namespace = str(value_at(config_map.inputs, "metadata", "namespace", default="default"))
        if namespace in by_namespace:
            told.append((by_namespace[namespace], namespace, config_map, tuple(settings_of(config_map))))
    pods_of = _by_namespace(scene)
    for place, namespace, resource, texts in told:
        asked = dict.fromkeys(found for text in texts for found in _urls(text, namespace))
        for where, name, number in asked:
            service = by_name.get((where, name))
            if service is None:
                continue
            for target in pods_of.get(where, ()):
                port = behind(service, target, number)
                if port is not None and target.place != place:
                    yield Need("services", place, target.place, Port(port), resource)


def ranks(scene: Scene) -> Iterator[Need]:
    """Pods of one job that train together, recorded ones and those of teams that jobs of several pods are made for."""
    training = any(
        found.type.rpartition(":")[2] in ("ClusterTrainingRuntime", "TrainingRuntime", "JobSet", "LocalQueue")
        for found in scene.resources.all
    )
    for actor in scene.actors:
        if actor.ranks > 1 and actor.resource.type == JOB:
            for port in RANKS:
                yield Need("ranks", actor.place, actor.place, port, actor.resource)
    if not training:
        return
    for place in scene.teams.values():
        namespace = _namespace_of(scene, place)
        if namespace is not None:
            yield from (Need("ranks", place, place, port, namespace) for port in RANKS)


_OF_A_HUB: Final[Mapping[str, Sequence[tuple[str, int]]]] = {
    "hub": (("hub-proxy", 8001), ("hub-notebook", 8888)),
    "hub-proxy": (("hub", 8081), ("hub-notebook", 8888)),
    "hub-notebook": (("hub", 8081),),
}
"""By what a pod of a JupyterHub is, whom it calls at which port."""


def hubs(scene: Scene) -> Iterator[Need]:
    """Hub, proxy and notebooks of each JupyterHub, which one release makes."""
    for actor in scene.actors:
        for kind, called in _OF_A_HUB.items():
            for wanted, port in called if kind in actor.needs else ():
                for other in scene.actors:
                    if other.resource is actor.resource and wanted in other.needs:
                        yield Need("hub", actor.place, other.place, Port(port), actor.resource)


def gossip(scene: Scene) -> Iterator[Need]:
    """Replicas of one Alertmanager, which tell each other what they have told people."""
    for actor in scene.actors:
        given = value_at(actor.resource.inputs, "values", "alertmanager", "alertmanagerSpec", "replicas", default=1)
        if "gossip" in actor.needs and (as_number(given) or 1) > 1:
            yield from (Need("gossip", actor.place, actor.place, port, actor.resource) for port in _GOSSIP)


_GOSSIP: Final = (Port(9094), Port(9094, "UDP"))


def both_sides(scene: Scene, policies: NetworkPolicies) -> Iterator[Need]:
    """What one side's policy names as a peer on a port, the other side must let by too.

    Asked where both are recorded: pods of a stack's own objects, with the labels that they have.
    """
    pods_of = _by_namespace(scene)
    asked: set[tuple[str, str, Port]] = set()
    for namespace, found in policies.policies.items():
        here = [actor for actor in pods_of.get(namespace, ()) if actor.place.pods and actor.place.pods.labels]
        for policy in found:
            chosen = [actor for actor in here if _selected(policy, actor)]
            for direction, key in (("egress", "to"), ("ingress", "from")):
                for rule in mappings_at(policy.inputs, "spec", direction):
                    ports = [port for entry in mappings_at(rule, "ports") if (port := _number(entry)) is not None]
                    peers = [
                        actor
                        for entry in mappings_at(rule, key)
                        for actor in _peers(policies, pods_of, namespace, entry)
                    ]
                    for need in _sides(direction, policy, chosen, peers, ports):
                        ends = (need.source.name, need.destination.name, need.port)
                        if ends not in asked:
                            asked.add(ends)
                            yield need


def _sides(
    direction: str, policy: RecordedResource, chosen: list[Actor], peers: list[Actor], ports: list[Port]
) -> Iterator[Need]:
    for actor in chosen:
        for peer in peers:
            if peer.place == actor.place:
                continue
            ends = (actor, peer) if direction == "egress" else (peer, actor)
            for port in ports:
                listening = _listening(ends[1].place, port)
                if listening is not None:
                    name = "let-out" if direction == "egress" else "let-in"
                    yield Need(name, ends[0].place, ends[1].place, listening, policy, level="warning")


def _listening(place: Place, port: Port) -> Port | None:
    """The port that pods listen on where a rule means them: a service's port stands for the pods' behind it."""
    if port in place.ports:
        return port
    behind = dict(place.pods.services) if place.pods else {}
    target = behind.get(port.number)
    return Port(target, port.transport) if target else None


def _peers(
    policies: NetworkPolicies, pods_of: Mapping[str, list[Actor]], own: str, entry: Mapping[str, Any]
) -> Iterator[Actor]:
    """The recorded pods that a peer names; a peer that names every pod of every namespace names nobody."""
    if is_set(entry, "ipBlock"):
        return
    selector = follow(entry, "namespaceSelector")
    wanted = value_at(entry, "podSelector", default={})
    if selector is not None and not selector and not wanted:
        return
    for namespace in _meant(policies, pods_of, own, selector):
        yield from (
            actor
            for actor in pods_of.get(namespace, ())
            if actor.place.pods and actor.place.pods.labels and selects(wanted, actor.place.pods.labels)
        )


def _meant(policies: NetworkPolicies, pods_of: Mapping[str, list[Actor]], own: str, selector: Any) -> Iterable[str]:
    """The namespaces that a peer is in; one by name is not looked for among all."""
    if selector is None:
        return (own,)
    if isinstance(selector, Mapping) and set(selector) == {"matchLabels"}:
        labels = selector["matchLabels"]
        if isinstance(labels, Mapping) and set(labels) == {NAME_LABEL}:
            return (str(value_at(labels, NAME_LABEL)),)
    return [namespace for namespace in pods_of if selects(selector, policies.labels_of(namespace))]


def _selected(policy: RecordedResource, actor: Actor) -> bool:
    labels = actor.place.pods.labels if actor.place.pods else None
    return bool(labels) and selects(value_at(policy.inputs, "spec", "podSelector", default={}), labels or {})


def _number(entry: Mapping[str, Any]) -> Port | None:
    number = as_number(value_at(entry, "port"))
    transport = value_at(entry, "protocol", default="TCP")
    if number is None or value_at(entry, "endPort") is not None or transport not in ("TCP", "UDP"):
        return None
    return Port(int(number), transport)


def _urls(text: str, namespace: str) -> Iterator[tuple[str, str, int]]:
    """Namespace, name and port of every URL that a service of the cluster may have."""
    for scheme, name, where, port in _URL.findall(text):
        number = int(port) if port else _PORTS.get(scheme.partition("+")[0])
        if number is not None:
            yield where or namespace, name, number


def behind(service: RecordedResource, actor: Actor, number: float) -> int | None:
    """The port of pods that a service's port leads to, where it chooses them."""
    pods = actor.place.pods
    selector = value_at(service.inputs, "spec", "selector")
    if pods is None or not pods.labels or not selector or not selects({"matchLabels": selector}, pods.labels):
        return None
    for port in mappings_at(service.inputs, "spec", "ports"):
        if as_number(value_at(port, "port")) == number:
            target = value_at(port, "targetPort", default=number)
            found = pods.ports.get(str(target)) or as_number(target)
            return int(found) if found else None
    return None


def _by_namespace(scene: Scene) -> dict[str, list[Actor]]:
    found: dict[str, list[Actor]] = {}
    for actor in scene.actors:
        found.setdefault(actor.namespace, []).append(actor)
    return found


def _namespace_of(scene: Scene, place: Place) -> RecordedResource | None:
    return scene.namespaces.get(place.pods.namespace) if place.pods else None
