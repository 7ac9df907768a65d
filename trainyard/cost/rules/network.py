"""Gateways, addresses, endpoints and what crosses zones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from trainyard.conventions import HOURS_A_MONTH
from trainyard.cost.model import always
from trainyard.cost.scene import Found, Scene, read, read_list, unpriced
from trainyard.recorded.model import RecordedResource


def nat_gateway(resource: RecordedResource, scene: Scene) -> Iterator[Found]:
    """By the hour and by what passes through; its public address is the `Eip`'s."""
    yield scene.line(resource, "gateway", "nat-gateway", always(HOURS_A_MONTH))
    yield scene.line(resource, "data through it", "nat-gateway.data", scene.usage("nat_gb"))


def elastic_ip(resource: RecordedResource, scene: Scene) -> Iterator[Found]:
    """Every public IPv4 address is billed by the hour since 2024, attached or not."""
    yield scene.line(resource, "public IPv4 address", "public-ipv4", always(HOURS_A_MONTH))


def endpoint(resource: RecordedResource, scene: Scene) -> Iterator[Found]:
    """Interface endpoints by the hour in each zone and by traffic; gateway endpoints are free."""
    kind = read(resource, "vpcEndpointType") or "Gateway"
    if kind == "Gateway":
        return
    if kind != "Interface":
        yield unpriced(resource, f"{kind} endpoint", "no price in catalog/aws_services.csv")
        return
    zones = len(read_list(resource, "subnetIds"))
    if not zones:
        yield unpriced(resource, "interface endpoint", "its subnets are not in its inputs")
        return
    where = "1 zone" if zones == 1 else f"{zones} zones"
    yield scene.line(resource, f"interface in {where}", "interface-endpoint", always(zones * HOURS_A_MONTH))
    yield scene.line(resource, "data through it", "interface-endpoint.data", scene.usage("interface_endpoint_gb"))


def vpc(resource: RecordedResource, scene: Scene) -> Iterator[Found]:
    """The VPC is free; what passes between its zones is billed to sender and receiver."""
    one_way = scene.service("transfer.between-zones")
    both_ways = replace(one_way, usd=2 * one_way.usd)
    yield scene.line(resource, "traffic between zones", both_ways, scene.usage("between_zones_gb"))


def internet_gateway(resource: RecordedResource, scene: Scene) -> Iterator[Found]:
    """The gateway is free; what leaves through it is not."""
    yield scene.line(resource, "traffic to the internet", "transfer.internet-out", scene.usage("internet_gb"))


def flow_log(resource: RecordedResource, scene: Scene) -> Iterator[Found]:
    """Delivery to CloudWatch Logs is billed by its log group; delivery to a bucket is billed here."""
    if read(resource, "logDestinationType") == "s3":
        yield scene.line(resource, "delivery to a bucket", "logs.delivery-to-s3", scene.usage("flow_log_gb"))


def load_balancer(resource: RecordedResource, scene: Scene) -> Iterator[Found]:
    """By the hour and by capacity units."""
    yield scene.line(resource, "load balancer", "load-balancer", always(HOURS_A_MONTH))
    units = scene.usage("load_balancer_capacity_units", HOURS_A_MONTH)
    yield scene.line(resource, "capacity units", "load-balancer.capacity", units)
