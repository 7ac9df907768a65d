"""Settings: from where the cluster's API is reached, the block `apiAccess` of a stack file."""

import ipaddress
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Annotated, Literal

from pydantic import Field

from trainyard.problems import Problem, some_of
from trainyard.settings.types import Cidr, Model, PublicCidr, StandIn, matching

SecurityGroup = Annotated[
    str,
    matching(r"sg-([0-9a-f]{8}|[0-9a-f]{17})", "must be the id of a security group, like sg-0123456789abcdef0"),
    StandIn("sg-{number:017x}"),
]

Mode = Literal["bastion", "public", "private"]

CHOICES = (
    "name the public networks of your offices and runners (apiAccess.cidrs), the private networks or security groups "
    "that reach it from inside (apiAccess.networks, apiAccess.securityGroups), or take apiAccess.mode bastion"
)
"""What a stack may do whose API nobody reaches."""


class ApiAccess(Model):
    """From where the cluster's API is reached. Nodes reach it inside the network, whatever this says."""

    mode: Mode | None = Field(
        default=None,
        description=(
            "bastion: through an instance in the network that only Session Manager reaches (`trainyard tunnel STACK`); "
            "public: from the networks in `cidrs`; private: from `networks` and `securityGroups` alone. By default "
            "what the other keys ask for, and a bastion where none is there"
        ),
    )
    cidrs: list[PublicCidr] = Field(
        default=[], max_length=40, description="public networks that reach it over the internet; of mode public"
    )
    networks: list[Cidr] = Field(
        default=[],
        max_length=40,
        description="private networks, joined to this one, that reach its private address",
    )
    security_groups: list[SecurityGroup] = Field(
        default=[],
        max_length=20,
        description="security groups of this network, or of one that is peered with it, that reach its private address",
    )

    @property
    def chosen(self) -> Mode | None:
        """The mode as it stands there, or as the other keys ask for it; None where nothing does."""
        inside = self.networks or self.security_groups
        return self.mode or ("public" if self.cidrs else "private" if inside else None)


def api_access_checks(access: ApiAccess) -> Iterator[Problem]:
    """Somebody reaches the API, and every key is read."""
    if access.mode == "public" and not access.cidrs:
        allowed = "must name the public networks that may reach the API: nobody else comes in, and never everybody"
        yield Problem("apiAccess.cidrs", "none", allowed, CHOICES)
    if access.mode == "private" and not (access.networks or access.security_groups):
        allowed = "nobody reaches the API: its own security group admits nodes and nobody else"
        yield Problem("apiAccess.mode", "private, and nothing that may reach it", allowed, CHOICES)
    if access.mode in ("private", "bastion") and access.cidrs:
        allowed = f"is read only where apiAccess.mode is public, and it is {access.mode}"
        yield Problem("apiAccess.cidrs", some_of(access.cidrs), allowed, "leave it out, or take mode public")
    yield from _twice("cidrs", access.cidrs)
    yield from _twice("networks", access.networks)
    for index, group in enumerate(access.security_groups):
        if group in access.security_groups[:index]:
            yield Problem(f"apiAccess.securityGroups[{index}]", group, "must not be there twice")


def _twice(key: str, given: Sequence[str]) -> Iterator[Problem]:
    numbered = list(enumerate(ipaddress.IPv4Network(text) for text in given))
    for (_, other), (index, network) in combinations(numbered, 2):
        if network.overlaps(other):
            allowed = f"must not overlap {other}, which is in the list already"
            yield Problem(f"apiAccess.{key}[{index}]", str(network), allowed)
