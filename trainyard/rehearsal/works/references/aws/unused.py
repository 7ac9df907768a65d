"""What is made to be named by something else and is named by nothing, where others of its kind are.

Such a thing does nothing by itself: nodes that were to start from a template start from another one, a policy that was
to be attached grants nothing. A program may export it for another stack, so that it is told only beside others of its
kind that this program uses. Sources: the API references of EC2, IAM, RDS, EFS and Route 53 Resolver, of what each kind
is for (2026-11).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from trainyard.recorded.model import RecordedResource
from trainyard.recorded.node_groups import LAUNCH_TEMPLATE
from trainyard.recorded.policy_documents import statements
from trainyard.recorded.read import UnreadableInput, list_at
from trainyard.recorded.types import (
    DATABASE_PARAMETERS,
    DATABASE_SUBNETS,
    DNS_FIREWALL_NAMES,
    DNS_FIREWALL_RULE,
    DNS_FIREWALL_RULES,
    EFS_ACCESS_POINT,
    EFS_POLICY,
    IAM_POLICY,
    INSTANCE_PROFILE,
    NAT_GATEWAY,
    PLACEMENT_GROUP,
    ROLE,
    ROLE_POLICY,
    ROLE_POLICY_ATTACHMENT,
    ROUTE,
    ROUTE_TABLE,
    VPC_ENDPOINT,
)
from trainyard.rehearsal.context import Stack, View

"""Where instances are put close together or apart."""


@dataclass(frozen=True, slots=True)
class _Kind:
    type: str
    idle: str  # what is so where nothing names it
    parts: tuple[str, ...] = ()  # types that name it and are a part of it, no use


_KINDS: Final = (
    _Kind(LAUNCH_TEMPLATE, "nothing starts from it"),
    _Kind(PLACEMENT_GROUP, "nothing is placed in it"),
    _Kind(INSTANCE_PROFILE, "no instance has it"),
    _Kind(DATABASE_PARAMETERS, "no database has it"),
    _Kind(DATABASE_SUBNETS, "no database is in it"),
    _Kind(NAT_GATEWAY, "no route leads to it"),
    _Kind(ROUTE_TABLE, "no subnet goes by it", (ROUTE, VPC_ENDPOINT)),
    _Kind(DNS_FIREWALL_NAMES, "no rule names it"),
    _Kind(DNS_FIREWALL_RULES, "no network goes by it", (DNS_FIREWALL_RULE,)),
    _Kind(EFS_ACCESS_POINT, "nothing is mounted through it", (ROLE_POLICY, IAM_POLICY, EFS_POLICY)),
    _Kind(IAM_POLICY, "nobody has it"),
    _Kind(ROLE, "nothing takes it", (ROLE_POLICY, ROLE_POLICY_ATTACHMENT)),
)
_HANDED_OVER: Final = frozenset(
    {
        "ec2.amazonaws.com", "eks.amazonaws.com", "monitoring.rds.amazonaws.com", "pods.eks.amazonaws.com",
        "vpc-flow-logs.amazonaws.com",
    }
)  # fmt: skip
"""Services that take a role alone where a resource hands it to them: a role for people or jobs is named by nobody."""
_BY_TEXT: Final = ("id", "name", "arn")


def check(stack: Stack) -> None:
    """Every resource of those kinds."""
    users: dict[str, set[str]] = {}  # by the URN of what is named, the types that name it
    for resource in stack.resources.all:
        for urns in resource.property_dependencies.values():
            for urn in urns:
                if urn != resource.urn:
                    users.setdefault(urn, set()).add(resource.type)
    idle = [(kind, view) for kind in _KINDS for view in _idle(stack, kind, users)]
    texts = _Texts(stack.resources.all) if idle else None
    for kind, view in idle:
        if texts is not None and not texts.name(view.resource, kind.parts):
            view.warning(
                "reference-unused", "", f"{kind.idle}, as others of the stack are used",
                allowed="a resource that names it, or none of it",
            )  # fmt: skip


def _idle(stack: Stack, kind: _Kind, users: Mapping[str, set[str]]) -> Iterator[View]:
    """Those of a kind that nothing names, where another is named; of roles, one that the same services may take."""
    alike: dict[frozenset[str], list[View]] = {}
    for view in stack.of_type(kind.type):
        services = _services(view) if kind.type == ROLE else frozenset()
        if not view.resource.read and (services or kind.type != ROLE):
            alike.setdefault(services, []).append(view)
    for made in alike.values():
        idle = [view for view in made if not users.get(view.resource.urn, set()).difference(kind.parts)]
        yield from idle if len(idle) < len(made) else ()


def _services(view: View) -> frozenset[str]:
    """The services that may take a role, where they are all and each is handed its role by a resource; else none."""
    found: set[str] = set()
    try:
        for one in statements(view.resource.inputs, "assumeRolePolicy"):
            principal = one.get("Principal")
            if not isinstance(principal, Mapping) or set(principal) != {"Service"}:
                return frozenset()
            found |= {str(name) for name in list_at(one, "Principal", "Service")}
    except UnreadableInput:
        return frozenset()
    return frozenset(found) if found <= _HANDED_OVER else frozenset()


class _Texts:
    """What all resources say, to find a name that a program writes itself."""

    def __init__(self, resources: Iterable[RecordedResource]) -> None:
        self._texts = [(one.urn, one.type, json.dumps(one.inputs, default=str)) for one in resources]

    def name(self, resource: RecordedResource, parts: tuple[str, ...]) -> bool:
        """Whether another resource than its parts says a resource's id, name or ARN."""
        known = {resource.id, *(resource.outputs.get(key) or resource.inputs.get(key) for key in _BY_TEXT)}
        known |= {resource.inputs.get("roleName"), resource.inputs.get("policyName")}
        wanted = [f'"{one}"' for one in known if isinstance(one, str) and one]
        wanted += [one for one in known if isinstance(one, str) and one.startswith(("arn:", "fsap-", "lt-"))]
        return not wanted or any(
            urn != resource.urn and type_ not in parts and any(one in text for one in wanted)
            for urn, type_, text in self._texts
        )
