"""The room: every flow that the stack needs is asked of every wall in its way."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from trainyard.recorded.model import Level
from trainyard.recorded.read import UnreadableInput, follow, mappings_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.selectors import chosen_for
from trainyard.rehearsal.context import Stack, View
from trainyard.rehearsal.works.flows.aws.network_acls import NetworkAcls
from trainyard.rehearsal.works.flows.aws.security_groups import SecurityGroups
from trainyard.rehearsal.works.flows.gcp.firewall import Firewall
from trainyard.rehearsal.works.flows.gcp.ways import WaysOut
from trainyard.rehearsal.works.flows.kubernetes.network_policies import NetworkPolicies
from trainyard.rehearsal.works.flows.model import Flow, Verdict, Wall, judge
from trainyard.rehearsal.works.flows.needs.found import needs_of, scene_of
from trainyard.rehearsal.works.flows.needs.model import Need
from trainyard.rehearsal.works.flows.reach import Flows

_OTHER_POLICIES: Final = ("cilium.io", "projectcalico.org", "policy.networking.k8s.io")
"""Groups of policies that may let by what NetworkPolicies do not."""


def check(stack: Stack) -> None:
    """Notes every needed flow that a wall shuts.

    A wall that is not known yet, or that somebody else may have opened further, shuts nothing here.
    """
    try:
        found = judged(stack.resources, stack.context.private_services)
        asked = [(need, verdict) for need, verdict in found if not _met(need, verdict)]
    except (UnreadableInput, ValueError):  # not known; or no text, or no address, which the check of values tells
        return
    views = {view.resource.urn: view for view in stack.views}
    told: set[tuple[str, str, str]] = set()
    for need, verdict in asked:
        here = (need.name, need.source.name, need.destination.name)
        if here not in told:
            told.add(here)
            _tell(views, need, verdict)


@dataclass(frozen=True, slots=True)
class Asked:
    """The walls that stand for sure."""

    policies: NetworkPolicies
    generous: NetworkPolicies  # where namespaces of somebody else's have every label that is asked for
    others: tuple[Wall, ...]  # of the cloud
    without_policies: bool


def judged(resources: Resources, believed: str = "") -> list[tuple[Need, Verdict]]:
    """Every needed flow with what the walls say; `believed` as in `ValueContext.private_services`. Raises
    UnreadableInput, and ValueError for what is no address.
    """
    flows = Flows.recorded(resources, believed)
    walls = _walls(resources, flows)
    return [(need, _verdict(walls, need)) for need in needs_of(scene_of(resources, flows), walls.policies)]


def _walls(resources: Resources, flows: Flows) -> Asked:
    policies = next(wall for wall in flows.walls if isinstance(wall, NetworkPolicies))
    others = any(group in found.type for found in resources.all for group in _OTHER_POLICIES)
    return Asked(policies, _generous(policies), tuple(_of_the_cloud(resources, flows)), others)


def _of_the_cloud(resources: Resources, flows: Flows) -> Iterator[Wall]:
    for wall in flows.walls:
        if isinstance(wall, SecurityGroups):
            yield wall.but_for_sure(resources)
            yield NetworkAcls.recorded(resources)
        elif isinstance(wall, (Firewall, WaysOut)):
            yield wall


def _generous(policies: NetworkPolicies) -> NetworkPolicies:
    wanted: dict[str, str] = {}
    for found in policies.policies.values():
        for policy in found:
            for direction, key in (("egress", "to"), ("ingress", "from")):
                for rule in mappings_at(policy.inputs, "spec", direction):
                    for entry in mappings_at(rule, key):
                        wanted.update(chosen_for(follow(entry, "namespaceSelector") or {}))
    return replace(policies, strangers=wanted)


def _verdict(walls: Asked, need: Need) -> Verdict:
    flow = Flow.between(need.source, need.destination, need.port)
    if walls.without_policies:
        return judge(flow, walls.others)
    verdict = judge(flow, [walls.policies, *walls.others])
    return verdict if verdict else judge(flow, [walls.generous, *walls.others])


def _met(need: Need, verdict: Verdict) -> bool:
    return verdict.reach == "all" or (verdict.reach == "some" and not need.whole)


def _tell(views: dict[str, View], need: Need, verdict: Verdict) -> None:
    blamed = next((views[found.urn] for found in verdict.by if found.urn in views), None)
    view = blamed if blamed is not None and not verdict else views[need.at.urn]
    level: Level = need.level if not verdict else "warning"
    part = "a part of " if verdict else ""
    reaches = f"{need.source} does not reach {part}{need.destination} on {need.port}"
    note = view.error if level == "error" else view.warning
    note(
        f"flows-{need.name}",
        "",
        f"{reaches}: {verdict.words}; without it, {need.why}",
        allowed=_mended(need, verdict),
    )


def _mended(need: Need, verdict: Verdict) -> str:
    """The rule that would do."""
    if verdict:
        return f"a rule that holds for every address of {need.destination}"
    if verdict.words.startswith("network ACL"):
        return f"rules of the network ACL for {need.port} there and for ports 1024 to 65535 back"
    if "private access" in verdict.words:
        return "privateIpGoogleAccess of the subnet"
    if "no NAT" in verdict.words:
        return "a NAT for the subnet"
    if "to the internet" in verdict.words:
        return "a route to the default internet gateway"
    if "firewall rule" in verdict.words:
        return f"a firewall rule that lets {need.source} by to {need.destination} on {need.port}"
    kind = "NetworkPolicy" if "NetworkPolic" in verdict.words else "security group"
    outward = "lets it out" in verdict.words or " out to " in verdict.words
    if outward:
        return f"an egress rule of a {kind} of {need.source} for {need.port} to {need.destination}"
    return f"an ingress rule of a {kind} of {need.destination} for {need.port} from {need.source}"
