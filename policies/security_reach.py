"""Security: where teams' pods get to, by the evaluator of network policies rather than by what a policy looks like.

A network that enforces them is assumed, and policies that let everything in or out are left out: both have a policy of
their own in this pack. Whatever opens a way besides is told here, however it is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from pulumi_policy import Severity

from trainyard.policies.network_peers import from_anywhere
from trainyard.policies.rules import Config, StackViolation, stack_rule
from trainyard.policies.security_workloads import team_namespace_open_flaws
from trainyard.policies.teams import labels_of, team_namespaces
from trainyard.recorded.read import list_at, mapping_at, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.selectors import NAME_LABEL, selects
from trainyard.recorded.types import NAMESPACE, NETWORK_POLICY
from trainyard.rehearsal.works.flows.addresses import PRIVATE, Addresses
from trainyard.rehearsal.works.flows.kubernetes.network_policies import NetworkPolicies
from trainyard.rehearsal.works.flows.kubernetes.pods import teams
from trainyard.rehearsal.works.flows.model import Flow, Place, Port, Verdict, judge

_SOME: Final = (Port(1), Port(29500), Port(65535), Port(1, "UDP"))
"""Ports that no rule names on purpose; those that rules name are asked besides."""
_WAYS: Final = (("egress", "to", "out to"), ("ingress", "from", "in from"))


@stack_rule(
    "team-reaches-another-team",
    "No pod of a team reaches a pod of another team, and no policy opens half of the way there.",
    types=(NAMESPACE, NETWORK_POLICY),
    severity=Severity.HIGH,
    controls=("CIS EKS 1.5.0 4.3.2", "NIST 800-53r5 SC-7", "ISO 27001:2022 A.8.22"),
    fix="Let teams share through a bucket or a service of the platform; take the peer out of one of the two policies.",
)
def team_reaches_another_team(resources: Resources, _: Config) -> Iterator[StackViolation]:
    """Both ends have to let it by: what goes out of one namespace and into the other. Half a way is one that the next
    change, of the other team alone, opens."""
    wall, places = _network(resources)
    ports = {*_SOME, *(Port(number, transport) for number in wall.ports() for transport in ("TCP", "UDP"))}
    for team, there in places.items():
        if there.pods is None or not wall.lets_in_from_outside(there.pods.namespace):
            continue
        found = _first(wall, [here for other, here in places.items() if other != team], there, ports)
        if found is not None:
            what = f"{found.source} reach {there} on {found.port}"
            yield (found.by[-1] if found.by else None), what
    yield from _halves(resources)


def _halves(resources: Resources) -> Iterator[StackViolation]:
    """Rules of a team's policies whose peers are another team's namespace, by whatever label."""
    by_name = {
        str(value_at(found.inputs, "metadata", "name")): labels_of(found) for found in team_namespaces(resources)
    }
    meant: dict[str, list[str]] = {}
    for policy in resources.of(NETWORK_POLICY):
        own = str(value_at(policy.inputs, "metadata", "namespace"))
        for direction, key, words in _WAYS if own in by_name else ():
            peers = [peer for rule in list_at(policy.inputs, "spec", direction) for peer in list_at(rule, key)]
            for peer in peers:
                selector = value_at(peer, "namespaceSelector")
                if selector is None or from_anywhere({key: [peer]}, key):  # everybody: team-namespace-open
                    continue
                if (asked := repr(selector)) not in meant:
                    meant[asked] = _selected(selector, by_name)
                others = [name for name in meant[asked] if name != own]
                if others:
                    yield policy, f"lets pods {words} {', '.join(others)}: half of a way between two teams"


def _selected(selector: Any, by_name: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The teams' namespaces that a selector means."""
    named = mapping_at(selector, "matchLabels").get(NAME_LABEL)
    candidates = by_name if named is None else {named: by_name[named]} if named in by_name else {}
    return sorted(name for name, labels in candidates.items() if selects(selector, labels))


def _first(wall: NetworkPolicies, sources: list[Place], there: Place, ports: Iterable[Port]) -> Verdict | None:
    asked = (_ask(wall, here, there, port) for here in sources for port in sorted(ports, key=str))
    return next((verdict for verdict in asked if verdict), None)


def _network(resources: Resources) -> tuple[NetworkPolicies, dict[str, Place]]:
    """The network policies but those that let everything by, and the teams' pods."""
    told = {policy.urn for policy, _ in team_namespace_open_flaws(resources)}
    rest = Resources(found for found in resources.all if found.urn not in told)
    places = {
        team: Place(workload.name, "pods", PRIVATE, pods=workload.pods) for team, workload in teams(resources).items()
    }
    return NetworkPolicies.recorded(rest, "standard", Addresses()), places


def _ask(wall: NetworkPolicies, here: Place, there: Place, port: Port) -> Verdict:
    return judge(Flow.between(here, there, port), [wall])
