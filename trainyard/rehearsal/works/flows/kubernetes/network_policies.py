"""NetworkPolicies, as the specification reads them (networking.k8s.io/v1, Kubernetes 1.35; kubernetes.io, "Network
Policies", 2026-11).

- A pod that no policy selects for a direction is open in it; one that is selected is closed but for what the policies
  that select it allow, all together. No rule takes away what another gives.
- A connection needs both: egress of the source and ingress of the destination. Answers need nothing.
- `policyTypes` says which directions a policy closes; where it is absent, ingress, and egress if there are rules of it.
- A rule without peers means everybody, without ports every port. Peers and ports are alternatives; within one peer a
  namespace selector and a pod selector hold together; a pod selector alone means the policy's own namespace.
- A port is a number, a name of the destination's container port, or a range; TCP unless it says otherwise.
- Traffic to and from the node that a pod runs on is never held back, nor is a pod's to itself.
- Pods in the network of their node are the node, which no policy selects.

Policies of other kinds (ClusterNetworkPolicy, those of a plugin's own) are not read: nothing here makes one.

What the specification leaves open is read as the VPC CNI does, which is the worse case: an address block holds for the
addresses of pods and of services too (amazon-network-policy-controller-k8s and aws-network-policy-agent, 2026-11).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, Final, Literal

from trainyard.recorded.alike import Memo, content
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import as_number, follow, is_set, list_at, mappings_at, texts_at, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.selectors import NAME_LABEL, chosen_for, selects
from trainyard.recorded.types import NAMESPACE, NETWORK_POLICY
from trainyard.rehearsal.works.flows.addresses import Addresses
from trainyard.rehearsal.works.flows.model import Flow, Judgement, Place, Pods

Direction = Literal["Ingress", "Egress"]

Enforcement = Literal["off", "standard", "strict"]
"""What the network plugin makes of policies: nothing, what the specification says, or that and a pod that no policy
selects is closed."""


@dataclass(frozen=True, slots=True)
class Peer:
    """One peer of a rule: addresses, or pods by selectors."""

    block: Addresses | None
    namespaces: Mapping[str, Any] | None  # None: the policy's own
    pods: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of a policy, read once: many flows are asked of it."""

    ports: tuple[Mapping[str, Any], ...]  # none: every port
    peers: tuple[Peer, ...] | None  # None: everybody


_PEERS: Final[Mapping[Direction, str]] = {"Ingress": "from", "Egress": "to"}


@dataclass(frozen=True, slots=True)
class NetworkPolicies:
    """All network policies of a cluster: a wall."""

    policies: Mapping[str, tuple[RecordedResource, ...]]  # by namespace
    namespaces: Mapping[str, Mapping[str, str]]  # labels by name; one that is not recorded has its name's label only
    enforcement: Enforcement = "standard"
    services: Addresses = field(default_factory=Addresses)  # that services have in the cluster
    strangers: Mapping[str, str] = field(default_factory=dict)  # labels that namespaces of somebody else's may have
    _rules: dict[tuple[str, Direction], tuple[Rule, ...]] = field(default_factory=dict, repr=False, compare=False)
    _selecting: dict[tuple[str, frozenset[tuple[str, str]], Direction], list[RecordedResource]] = field(
        default_factory=dict, repr=False, compare=False
    )
    _known: list[tuple[bytes | None, tuple[RecordedResource, ...], dict[str, int]]] = field(
        default_factory=list, init=False, repr=False, compare=False
    )  # of this wall alone: what `replace` makes of it begins anew

    @classmethod
    def recorded(cls, resources: Resources, enforcement: Enforcement, services: Addresses) -> NetworkPolicies:
        """Reads the recorded ones. Raises UnknownInput where a namespace's name or labels are not known yet."""
        namespaces = {}
        for found in resources.of(NAMESPACE):
            name = str(value_at(found.inputs, "metadata", "name"))
            labels = value_at(found.inputs, "metadata", "labels", default={})
            namespaces[name] = {**{key: str(value) for key, value in labels.items()}, NAME_LABEL: name}
        policies: dict[str, tuple[RecordedResource, ...]] = {}
        for policy in resources.of(NETWORK_POLICY):
            policies[_namespace(policy)] = (*policies.get(_namespace(policy), ()), policy)
        return cls(policies, namespaces, enforcement, services)

    def judge(self, flow: Flow) -> Judgement | None:
        """Egress of the source, then ingress of the destination; None where neither are pods.

        Pods whose labels are their author's choice pass where some choice passes.
        """
        source, destination = flow.source.pods, flow.destination.pods
        if source is None and destination is None:
            return None
        if "own node" in (flow.source.kind, flow.destination.kind):
            return Judgement(flow, "network policies do not stand between a pod and the node that it runs on")
        if self.enforcement == "off":
            return Judgement(flow, "the network plugin enforces no network policy")
        if all(pods is None or pods.labels is not None for pods in (source, destination)):
            return self._both(flow)  # most pods say which labels they have
        best: Judgement | None = None
        for here, there in product(self._choices(source, destination), self._choices(destination, source)):
            ends = replace(flow.source, pods=here), replace(flow.destination, pods=there)
            judgement = self._both(replace(flow, source=ends[0], destination=ends[1]))
            left = replace(judgement.left, source=flow.source, destination=flow.destination)
            judgement = replace(judgement, left=left)
            if left == flow:
                return judgement
            best = judgement if best is None or (left.passes and not best.left.passes) else best
        return best

    def lets_in_from_outside(self, namespace: str) -> bool:
        """Whether a policy of a namespace, or the want of one, may let in anybody but its own pods.

        Answered from the policies of this namespace alone: with many namespaces, asking each pair takes long.
        """
        policies = self.policies.get(namespace, ())
        return not any(_selected(policy, {}, "Ingress") for policy in policies) or any(
            not peers or any(set(entry) - {"podSelector"} for entry in peers)
            for policy in policies
            for rule in mappings_at(policy.inputs, "spec", "ingress")
            for peers in [mappings_at(rule, "from")]
        )

    def ports(self) -> Iterable[int]:
        """Every port of a rule by number, the ends of ranges too."""
        return {
            int(number)
            for policies in self.policies.values()
            for policy in policies
            for direction in _PEERS
            for rule in mappings_at(policy.inputs, "spec", direction.lower())
            for entry in mappings_at(rule, "ports")
            for key in ("port", "endPort")
            if (number := as_number(value_at(entry, key))) is not None
        }

    def _both(self, flow: Flow) -> Judgement:
        if not self._known:
            self._known.append(self._all())
        digest, policies, places = self._known[0]
        key = content(digest, *_key(flow)) if digest is not None else None
        start, end, words, by = _SAID.of(key, lambda: _told(self._asked(flow), places))
        same = start == flow.from_addresses and end == flow.to_addresses
        left = flow if same else replace(flow, from_addresses=start, to_addresses=end)
        return Judgement(left, words, tuple(policies[place] for place in by))

    def _all(self) -> tuple[bytes | None, tuple[RecordedResource, ...], dict[str, int]]:
        """A digest of all that the wall goes by, its policies in their order, and the place of each by its URN."""
        policies = tuple(policy for found in self.policies.values() for policy in found)
        said = [(policy.name, policy.inputs) for policy in policies]
        namespaces = {name: dict(labels) for name, labels in self.namespaces.items()}
        walls = [(name, len(found)) for name, found in self.policies.items()]
        digest = content(said, walls, namespaces, self.enforcement, self.services.spans, dict(self.strangers))
        return digest, policies, {policy.urn: place for place, policy in enumerate(policies)}

    def _asked(self, flow: Flow) -> Judgement:
        out = self._direction(flow, "Egress")
        if not out.left.passes:
            return out
        into = self._direction(out.left, "Ingress")
        if not into.left.passes:
            return into
        words = "; ".join(words for words in (out.words, into.words) if words)
        return Judgement(into.left, words, (*out.by, *into.by))

    def _direction(self, flow: Flow, direction: Direction) -> Judgement:
        here = flow.source if direction == "Egress" else flow.destination
        if here.pods is None:
            return Judgement(flow, "")
        selecting = self._of(here.pods, direction)
        way = "out" if direction == "Egress" else "in"
        if not selecting:
            if self.enforcement == "strict":
                nothing = flow.narrowed(from_addresses=Addresses())
                words = f"no NetworkPolicy selects {here} for {direction.lower()}, and the strict mode closes such pods"
                return Judgement(nothing, words)
            return Judgement(flow, f"no NetworkPolicy holds it back on the way {way}")
        peer = flow.destination if direction == "Egress" else flow.source
        given = [(policy, self._allowed(policy, flow, direction)) for policy in selecting]
        allowing = [(policy, part) for policy, part in given if part]
        allowed = Addresses.union(part for _, part in allowing)
        left = flow.narrowed(to_addresses=allowed) if direction == "Egress" else flow.narrowed(from_addresses=allowed)
        if not allowing:
            words = f"none of the NetworkPolicies of {here} ({_names(selecting)}) lets it {way} on {flow.port} "
            words += f"{'to' if direction == 'Egress' else 'from'} {peer}"
            return Judgement(left, words, tuple(selecting))
        by = tuple(policy for policy, _ in allowing)
        return Judgement(left, f"NetworkPolicy {_names(by)} lets it {way}", by)

    def _allowed(self, policy: RecordedResource, flow: Flow, direction: Direction) -> Addresses:
        """The addresses of the peer that one policy opens for the flow; all of them for a peer that it selects."""
        peer = flow.destination if direction == "Egress" else flow.source
        addresses = flow.to_addresses if direction == "Egress" else flow.from_addresses
        parts = []
        named = flow.destination.pods.ports if flow.destination.pods else {}
        for rule in self._rules_of(policy, direction):
            direct = _on_port(rule, flow.port.number, flow.port.transport, named)
            by_service = direction == "Egress" and any(
                _on_port(rule, port, flow.port.transport, {}) for port in self._service_ports(flow)
            )
            if not direct and not by_service:
                continue
            if rule.peers is None:
                return addresses
            for entry in rule.peers:
                if entry.block is not None:
                    # the service's address stands for its pods
                    whole = by_service and entry.block & self.services
                    parts.append(addresses if whole else addresses & entry.block if direct else Addresses())
                elif direct and self._is_peer(entry, peer, _namespace(policy)):
                    return addresses
        return Addresses.union(parts)

    def _of(self, pods: Pods, direction: Direction) -> list[RecordedResource]:
        """The policies that select pods for a direction."""
        labels = pods.labels or {}
        key = (pods.namespace, frozenset(labels.items()), direction)
        found = self._selecting.get(key)
        if found is None:
            policies = self.policies.get(pods.namespace, ())
            found = self._selecting[key] = [one for one in policies if _selected(one, labels, direction)]
        return found

    def _rules_of(self, policy: RecordedResource, direction: Direction) -> tuple[Rule, ...]:
        found = self._rules.get((policy.urn, direction))
        if found is None:
            found = self._rules[policy.urn, direction] = tuple(_read(policy, direction))
        return found

    def _service_ports(self, flow: Flow) -> Iterator[int]:
        pods = flow.destination.pods
        if pods is not None and self.services:
            yield from (port for port, target in pods.services if target == flow.port.number)

    def _is_peer(self, entry: Peer, peer: Place, own: str) -> bool:
        if peer.pods is None:
            return False
        if entry.namespaces is None:
            if peer.pods.namespace != own:
                return False
        elif not selects(entry.namespaces, self.labels_of(peer.pods.namespace)):
            return False
        return selects(entry.pods, peer.pods.labels or {})

    def labels_of(self, namespace: str) -> Mapping[str, str]:
        """Labels of a namespace; of one that is not recorded, the one that every namespace has."""
        return self.namespaces.get(namespace) or {**self.strangers, NAME_LABEL: namespace}

    def _choices(self, pods: Pods | None, others: Pods | None) -> Iterator[Pods | None]:
        """The pods with every choice of labels that a selector tells apart; as they are where there is no choice."""
        if pods is None or pods.labels is not None:
            yield pods
            return
        choices: list[dict[str, str]] = [{}]
        for selector in self._selectors(pods, others):
            wanted = chosen_for(selector)
            more = ({**labels, **wanted} for labels in tuple(choices))
            choices += [labels for labels in more if labels not in choices]
        yield from (replace(pods, labels=labels) for labels in choices[:_MOST_CHOICES])

    def _selectors(self, pods: Pods, others: Pods | None) -> Iterator[Mapping[str, Any]]:
        """Selectors that a pod's labels decide about: its own namespace's policies, and the other side's peers."""
        for policy in self.policies.get(pods.namespace, ()):
            yield value_at(policy.inputs, "spec", "podSelector", default={})
        for policy in self.policies.get(others.namespace, ()) if others else ():
            for direction, key in _PEERS.items():
                for rule in mappings_at(policy.inputs, "spec", direction.lower()):
                    yield from (value_at(entry, "podSelector", default={}) for entry in mappings_at(rule, key))


Said = tuple[Addresses, Addresses, str, tuple[int, ...]]
"""What is left at both ends of a flow, in words, and which policies decide, by their places."""

_SAID: Final[Memo[Said]] = Memo(8192)
"""What policies say of a flow: those of two clients are mostly the same, and so are their pods."""


def _key(flow: Flow) -> Iterator[Any]:
    """All of a flow that policies go by, or name."""
    for place in (flow.source, flow.destination):
        yield place.name
        yield place.kind
        pods = place.pods
        yield pods and (
            pods.namespace, None if pods.labels is None else dict(pods.labels), dict(pods.ports), pods.services
        )  # fmt: skip
    yield from (flow.port.number, flow.port.transport, flow.from_addresses.spans, flow.to_addresses.spans)


def _told(judgement: Judgement, places: Mapping[str, int]) -> Said:
    left = judgement.left
    return left.from_addresses, left.to_addresses, judgement.words, tuple(places[one.urn] for one in judgement.by)


_MOST_CHOICES: Final = 64
"""Choices of labels that are tried: six selectors in every combination, more than any namespace of ours has."""


def _selected(policy: RecordedResource, labels: Mapping[str, str], direction: Direction) -> bool:
    spec = value_at(policy.inputs, "spec", default={})
    return direction in _directions(spec) and selects(value_at(spec, "podSelector", default={}), labels)


def _directions(spec: Mapping[str, Any]) -> list[str]:
    stated = texts_at(spec, "policyTypes")
    return stated or ["Ingress", *(["Egress"] if is_set(spec, "egress") else [])]


def _namespace(policy: RecordedResource) -> str:
    return str(value_at(policy.inputs, "metadata", "namespace", default="default"))


def _names(policies: list[RecordedResource] | tuple[RecordedResource, ...]) -> str:
    return ", ".join(
        f"{_namespace(policy)}/{value_at(policy.inputs, 'metadata', 'name', default=policy.name)}"
        for policy in policies
    )


def _block(entry: Mapping[str, Any]) -> Addresses:
    block = Addresses.of(str(value_at(entry, "ipBlock", "cidr")))
    return block - Addresses.of(*texts_at(entry, "ipBlock", "except"))


def _read(policy: RecordedResource, direction: Direction) -> Iterator[Rule]:
    for rule in mappings_at(policy.inputs, "spec", direction.lower()):
        peers = list_at(rule, _PEERS[direction])
        read = tuple(
            Peer(
                _block(entry) if is_set(entry, "ipBlock") else None,
                None if follow(entry, "namespaceSelector") is None else value_at(entry, "namespaceSelector"),
                value_at(entry, "podSelector", default={}),
            )
            for entry in peers
        )
        yield Rule(tuple(list_at(rule, "ports")), read if peers else None)


def _on_port(rule: Rule, number: int, transport: str, named: Mapping[str, int]) -> bool:
    return not rule.ports or any(_is_port(entry, number, transport, named) for entry in rule.ports)


def _is_port(entry: Mapping[str, Any], number: int, transport: str, named: Mapping[str, int]) -> bool:
    if value_at(entry, "protocol", default="TCP") != transport:
        return False
    port = value_at(entry, "port")
    if port is None:
        return True
    first = as_number(port)
    if first is None:
        return named.get(str(port)) == number
    return first <= number <= (as_number(value_at(entry, "endPort")) or first)
