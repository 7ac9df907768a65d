"""Quotas that count pieces: what the recorded stack makes, and what the account has already.

Codes and names: Service Quotas, services `vpc`, `ec2`, `eks` and `rds` (those of `vpc` as moto 5.2.5 bundles them from
AWS, the others from the console's documentation, 2026-11). What a first deployment takes in numbers that matter beside
the defaults is here; a quota of hundreds that one stack takes three of is not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from trainyard.account.aws import Account, tags_in
from trainyard.account.marks import marks_of
from trainyard.preflight.aws.subject import AwsSubject
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import NAT_GATEWAY, SUBNET

Own = Callable[[Any], bool]
"""Whether an entry that the account lists is this stack's, from an earlier deployment."""


@dataclass(frozen=True, slots=True)
class Counted:
    """One quota in pieces."""

    service: str
    code: str
    name: str
    wanted: Callable[[Resources], int]
    there: Callable[[Account, Own], int]
    each: str = ""  # what it is counted for: " a zone"


def _made(*types: str) -> Callable[[Resources], int]:
    return lambda resources: sum(1 for resource in resources.of(*types) if resource.is_made and not resource.read)


def _listed(service: str, operation: str, key: str) -> Callable[[Account, Own], int]:
    return lambda account, own: sum(not own(entry) for entry in account.each(service, operation, key))


def own_of(subject: AwsSubject) -> Own:
    """Tells what is the stack's own: by its tags, a cluster by its name."""
    marks = marks_of(subject.plan.core.tags)
    clusters = {cluster.name for cluster in subject.plan.clusters}

    def own(entry: Any) -> bool:
        if isinstance(entry, str):
            return entry in clusters
        tags = tags_in(entry)
        return all(tags.get(key) == value for key, value in marks.items())

    return own


def _nat_gateways_wanted(resources: Resources) -> int:
    """Those of the zone that gets most."""
    zones = Counter(
        str(subnet.inputs.get("availabilityZone"))
        for gateway in resources.of(NAT_GATEWAY)
        for subnet in resources.referred(gateway, "subnetId", SUBNET)
    )
    return max(zones.values(), default=0)


def _nat_gateways_there(account: Account, own: Own) -> int:
    """Those of the zone that has most."""
    states = [{"Name": "state", "Values": ["pending", "available"]}]
    gateways = account.each("ec2", "describe_nat_gateways", "NatGateways", Filter=states)
    subnets = [each["SubnetId"] for each in gateways if not own(each)]
    if not subnets:
        return 0
    zones = {each["SubnetId"]: each["AvailabilityZone"] for each in account.each("ec2", "describe_subnets", "Subnets")}
    return max(Counter(zones.get(subnet, "") for subnet in subnets).values())


COUNTED: Final = (
    Counted("vpc", "L-F678F1CE", "VPCs per Region", _made("aws:ec2/vpc:Vpc"), _listed("ec2", "describe_vpcs", "Vpcs")),
    Counted(
        "vpc",
        "L-A4707A72",
        "Internet gateways per Region",
        _made("aws:ec2/internetGateway:InternetGateway"),
        _listed("ec2", "describe_internet_gateways", "InternetGateways"),
    ),
    Counted(
        "vpc", "L-FE5A380F", "NAT gateways per Availability Zone", _nat_gateways_wanted, _nat_gateways_there, " a zone"
    ),
    Counted(
        "ec2",
        "L-0263D0A3",
        "EC2-VPC Elastic IPs",
        _made("aws:ec2/eip:Eip"),
        _listed("ec2", "describe_addresses", "Addresses"),
    ),
    Counted(
        "eks", "L-1194D53C", "Clusters", _made("aws:eks/cluster:Cluster"), _listed("eks", "list_clusters", "clusters")
    ),
    Counted(
        "rds",
        "L-7B6409FD",
        "DB instances",
        _made("aws:rds/instance:Instance"),
        _listed("rds", "describe_db_instances", "DBInstances"),
    ),
)
