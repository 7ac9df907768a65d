"""Gateways, addresses, endpoints and what crosses zones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from trainyard.conventions import HOURS_A_MONTH
from trainyard.cost.context import CostEntry, PriceContext, unpriced
from trainyard.cost.model import always
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import length_at, value_at


def nat_gateway(resource: RecordedResource, context: PriceContext) -> Iterator[CostEntry]:
    """A NAT gateway is paid by the hour and by what passes through; its public address is the `Eip`'s."""
    yield context.line(resource, "gateway", "nat-gateway", always(HOURS_A_MONTH))
    yield context.line(resource, "data through it", "nat-gateway.data", context.usage("nat_gb"))


def elastic_ip(resource: RecordedResource, context: PriceContext) -> Iterator[CostEntry]:
    """Every public IPv4 address is billed by the hour since 2024, attached or not."""
    yield context.line(resource, "public IPv4 address", "public-ipv4", always(HOURS_A_MONTH))


def endpoint(resource: RecordedResource, context: PriceContext) -> Iterator[CostEntry]:
    """Interface endpoints by the hour in each zone and by traffic; gateway endpoints are free."""
    kind = value_at(resource.inputs, "vpcEndpointType") or "Gateway"
    if kind == "Gateway":
        return
    if kind != "Interface":
        yield unpriced(resource, f"{kind} endpoint", "no price in catalog/aws_services.csv")
        return
    zones = length_at(resource.inputs, "subnetIds")
    if not zones:
        yield unpriced(resource, "interface endpoint", "its subnets are not in its inputs")
        return
    where = "1 zone" if zones == 1 else f"{zones} zones"
    yield context.line(resource, f"interface in {where}", "interface-endpoint", always(zones * HOURS_A_MONTH))
    yield context.line(resource, "data through it", "interface-endpoint.data", context.usage("interface_endpoint_gb"))


def vpc(resource: RecordedResource, context: PriceContext) -> Iterator[CostEntry]:
    """The VPC is free; what passes between its zones is billed to sender and receiver."""
    one_way = context.service("transfer.between-zones")
    both_ways = replace(one_way, usd=2 * one_way.usd)
    yield context.line(resource, "traffic between zones", both_ways, context.usage("between_zones_gb"))


def internet_gateway(resource: RecordedResource, context: PriceContext) -> Iterator[CostEntry]:
    """The gateway is free; what leaves through it is not."""
    yield context.line(resource, "traffic to the internet", "transfer.internet-out", context.usage("internet_gb"))


def flow_log(resource: RecordedResource, context: PriceContext) -> Iterator[CostEntry]:
    """Delivery to CloudWatch Logs is billed by its log group; delivery to a bucket is billed here."""
    if value_at(resource.inputs, "logDestinationType") == "s3":
        yield context.line(resource, "delivery to a bucket", "logs.delivery-to-s3", context.usage("flow_log_gb"))


def dns_firewall(resource: RecordedResource, context: PriceContext) -> Iterator[CostEntry]:
    """A DNS firewall in front of a VPC is paid by the lookup."""
    yield context.line(resource, "lookups", "dns-firewall.queries", context.usage("dns_lookups_million"))


def dns_names(resource: RecordedResource, context: PriceContext) -> Iterator[CostEntry]:
    """Listed names are paid by the month."""
    yield context.line(resource, "names", "dns-firewall.names", always(length_at(resource.inputs, "domains")))


def load_balancer(resource: RecordedResource, context: PriceContext) -> Iterator[CostEntry]:
    """A load balancer is paid by the hour and by capacity units."""
    yield context.line(resource, "load balancer", "load-balancer", always(HOURS_A_MONTH))
    units = context.usage("load_balancer_capacity_units", HOURS_A_MONTH)
    yield context.line(resource, "capacity units", "load-balancer.capacity", units)
