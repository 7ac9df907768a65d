"""NAT, addresses, flow logs and traffic on Google Cloud."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from trainyard.conventions import HOURS_A_MONTH
from trainyard.cost.context import CostEntry, PriceContext
from trainyard.cost.model import NOTHING, Amounts, always
from trainyard.cost.rules.node_hours import running_nodes
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import is_set, length_at, value_at

MOST_BILLED_VMS = 32
"""A gateway is billed for at most so many machines behind it (NAT price list, as Infracost has it)."""


def network(resource: RecordedResource, context: PriceContext) -> Iterator[CostEntry]:
    """The network is free; what passes between its zones, and out of it, is not."""
    one_way = context.service("transfer.between-zones", resource)
    both_ways = replace(one_way, usd=2 * one_way.usd)
    yield context.line(resource, "traffic between zones", both_ways, context.usage("between_zones_gb"))
    yield context.line(resource, "traffic to the internet", "transfer.internet-out", context.usage("internet_gb"))


def subnetwork(resource: RecordedResource, context: PriceContext) -> Iterator[CostEntry]:
    """A subnetwork is free, its flow logs are not."""
    if is_set(resource.inputs, "logConfig"):
        yield context.line(resource, "flow logs", "flow-logs", context.usage("flow_log_gb"))


def nat(resource: RecordedResource, context: PriceContext) -> Iterator[CostEntry]:
    """A NAT is paid by the machines behind it, by what passes and by its addresses."""
    machines = sum((running_nodes(group, context) for group in context.node_groups), NOTHING)
    billed = Amounts(
        *(min(float(MOST_BILLED_VMS), each) for each in (machines.floor, machines.expected, machines.ceiling))
    )
    yield context.line(resource, f"machines behind it, {MOST_BILLED_VMS} at most", "nat", billed.times(HOURS_A_MONTH))
    yield context.line(resource, "data through it", "nat.data", context.usage("nat_gb"))
    given = length_at(resource.inputs, "natIps") or 1
    yield context.line(resource, "public IPv4 addresses", "public-ipv4", always(given * HOURS_A_MONTH))


def address(resource: RecordedResource, context: PriceContext) -> Iterator[CostEntry]:
    """A public address is billed by the hour; a range of private ones costs nothing."""
    if value_at(resource.inputs, "addressType") != "INTERNAL":
        yield context.line(resource, "public IPv4 address", "public-ipv4", always(HOURS_A_MONTH))


def load_balancer(resource: RecordedResource, context: PriceContext) -> Iterator[CostEntry]:
    """A load balancer is paid by its forwarding rule and by what it passes on."""
    yield context.line(resource, "load balancer", "forwarding-rule", always(HOURS_A_MONTH))
    yield context.line(resource, "data through it", "forwarding-rule.data", context.usage("internet_gb"))


def dns_zone(resource: RecordedResource, context: PriceContext) -> Iterator[CostEntry]:
    """A zone is paid by the month, and by what is asked of it."""
    yield context.line(resource, "zone", "dns.zone", always(1))
    yield context.line(resource, "questions", "dns.queries", context.usage("dns_lookups_million"))
