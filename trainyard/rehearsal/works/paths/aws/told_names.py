"""Names within a network that machines and tasks are told: something has the name, and lets them in.

Sources: Route 53 Developer Guide, "Working with private hosted zones" (a name that a private zone does not have is not
asked of anybody else); AWS Cloud Map Developer Guide, "DNS namespaces" (SERVICE.NAMESPACE) (2026-11).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from trainyard.recorded.node_groups import LAUNCH_TEMPLATE
from trainyard.recorded.read import follow
from trainyard.recorded.types import (
    DNS_RECORD,
    DNS_ZONE,
    EC2_INSTANCE,
    ECS_SERVICE,
    FUNCTION,
    HELM_RELEASE,
    ROLE_POLICY,
)
from trainyard.rehearsal.context import Stack, View, listed, show
from trainyard.rehearsal.refusals.aws.containers import containers
from trainyard.rehearsal.refusals.aws.texts import TASK
from trainyard.rehearsal.works.flows.model import Port
from trainyard.rehearsal.works.paths.aws.calls import place, reached
from trainyard.rehearsal.works.paths.aws.groups import Groups
from trainyard.rehearsal.works.paths.aws.network import Network
from trainyard.rehearsal.works.programs.aws.user_data import script_of

_NAMESPACE: Final = "aws:servicediscovery/privateDnsNamespace:PrivateDnsNamespace"
_DISCOVERED: Final = "aws:servicediscovery/service:Service"
_INSTANCE: Final = "aws:servicediscovery/instance:Instance"
_HOST: Final = re.compile(r"(?<![\w.@/-])(?:\w+://)?(?P<host>(?:[a-z0-9_-]+\.)+[a-z]{2,})(?::(?P<port>\d+))?(?![\w.-])")
_SUBNETS, _GROUPS = "networkConfiguration.subnets", "networkConfiguration.securityGroups"


@dataclass(frozen=True, slots=True)
class _Told:
    """A host that somebody is told."""

    view: View
    path: str
    host: str
    port: int | None


def check(network: Network, groups: Groups) -> None:
    """Every private zone and every namespace of the stack's."""
    stack = network.stack
    zones = [view for view in stack.of_type(DNS_ZONE) if view.entries("vpcs") and not view.resource.read]
    spaces = [view for view in stack.of_type(_NAMESPACE) if not view.resource.read]
    if not zones and not spaces:
        return
    told = list(_told(stack))
    for zone in zones:
        _zone(stack, zone, told)
    for space in spaces:
        _space(network, groups, space, told)


def _told(stack: Stack) -> Iterator[_Told]:
    for type_ in (LAUNCH_TEMPLATE, EC2_INSTANCE):
        for view in stack.of_type(type_):
            yield from _hosts(view, "userDataBase64" if view.has("userDataBase64") else "userData", script_of(view))
    for view in stack.of_type(TASK):
        for index, one in enumerate(containers(view)):
            for entry in listed(one.get("environment")):
                value = follow(entry, "value")
                yield from _hosts(view, f"containerDefinitions[{index}]", value if isinstance(value, str) else "")
    for view in stack.of_type(FUNCTION):
        for value in view.mapping("environment.variables").values():
            yield from _hosts(view, "environment.variables", value if isinstance(value, str) else "")


def _hosts(view: View, path: str, text: str) -> Iterator[_Told]:
    for found in _HOST.finditer(text) if "." in text and not view.is_secret(path) else ():
        yield _Told(view, path, found["host"].lower(), int(found["port"]) if found["port"] else None)


def _zone(stack: Stack, zone: View, told: list[_Told]) -> None:
    """A host below a private zone is a record of it. Where somebody may add records, one that nobody asks for is held
    to be meant by the one name that is missing."""
    whole, id_ = (zone.text("name") or "").rstrip(".").lower(), str(zone.resource.id)
    records = [one for one in stack.of_type(DNS_RECORD) if one.text("zoneId") in (None, id_)]
    named = [one.text("name") for one in records]
    if not whole or None in named or not records or stack.of_type(HELM_RELEASE):
        return  # a chart may bring who writes records
    if any(one.text("type") in (None, "NS") for one in records):
        return  # another zone may have what is below it
    plain = [str(name).rstrip(".").lower() for name in named]
    full = {name if name == whole or name.endswith(f".{whole}") else f"{name}.{whole}" for name in plain if name}
    wilds = tuple(name.partition("*")[2] for name in full if name.startswith("*."))
    below = [f".{name}" for one in (*stack.of_type(DNS_ZONE), *stack.of_type(_NAMESPACE)) if (name := one.text("name"))]
    inner = tuple(name for name in below if name.endswith(f".{whole}") and name != f".{whole}")
    asked = [one for one in told if one.host.endswith(f".{whole}") and not (inner and one.host.endswith(inner))]
    missing = {one.host: one for one in asked if one.host not in full and not (wilds and one.host.endswith(wilds))}
    idle = full - {one.host for one in told}
    if any("ChangeResourceRecordSets" in str(one.inputs.get("policy")) for one in stack.of_type(ROLE_POLICY)):
        missing = missing if len(missing) == 1 and idle else {}
    for host, one in missing.items():
        one.view.warning(
            "paths-name-missing", one.path,
            f"names {host}, and private zone {zone.name} has no such record: nobody is found by it",
            allowed=f"one of {', '.join(sorted(full))}",
        )  # fmt: skip


def _space(network: Network, groups: Groups, space: View, told: list[_Told]) -> None:
    stack, whole = network.stack, (space.text("name") or "").rstrip(".").lower()
    services = {
        f"{one.text('name')}.{whole}": one
        for one in stack.of_type(_DISCOVERED)
        if one.text("dnsConfig.namespaceId") == str(space.resource.id)
    }
    connects = any(view.has("serviceConnectConfiguration") for view in stack.of_type(ECS_SERVICE))
    if not whole or not services or connects or stack.of_type(_INSTANCE):
        return
    for one in told:
        service = services.get(one.host)
        if service is not None:
            _reached(network, groups, one, service)
        elif one.host.endswith(f".{whole}") or _is_twin(one.host, services):
            one.view.warning(
                "paths-name-missing", one.path,
                f"names {show(one.host)}, and namespace {space.name} has no such service: nobody is found by it",
                allowed=f"one of {', '.join(sorted(services))}",
            )  # fmt: skip


def _is_twin(host: str, services: dict[str, View]) -> bool:
    """Whether a host is a service's but for its last label, which no other zone has then."""
    return any(host.rpartition(".")[0] == name.rpartition(".")[0] for name in services)


def _reached(network: Network, groups: Groups, one: _Told, service: View) -> None:
    """Who is told the name of a service reaches it on the port that stands behind it."""
    arn = service.resource.outputs.get("arn")
    behind = [
        view for view in network.stack.of_type(ECS_SERVICE)
        if arn and view.text("serviceRegistries.registryArn") == arn and not view.resource.read
    ]  # fmt: skip
    asking = [
        view for view in network.stack.of_type(ECS_SERVICE) if view.referred("taskDefinition", TASK) is one.view
    ] if one.port is not None else []  # fmt: skip
    for target in behind if len(behind) == 1 else ():
        inner = place(network, groups, target, f"service {target.name}", _SUBNETS, _GROUPS)
        for view in asking:
            outer = place(network, groups, view, f"service {view.name}", _SUBNETS, _GROUPS)
            if inner is not None and outer is not None and one.port is not None:
                reached(
                    groups, target, _GROUPS, outer, inner.name, inner.addresses, inner.security_groups, Port(one.port),
                    f"{outer.name} is told {one.host}, and never reaches it",
                )  # fmt: skip
