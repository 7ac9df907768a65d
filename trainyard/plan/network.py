"""The network and the cluster: address ranges, subnets, endpoints, versions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from ipaddress import IPv4Network

from trainyard import catalog
from trainyard.catalog.versions import AddOn
from trainyard.plan.cidr import LARGEST_PREFIX, SMALLEST_PREFIX, plan_zones, usable_addresses
from trainyard.plan.ledger import Ledger
from trainyard.plan.model import ClusterPlan, NetworkPlan, PoolPlan, SystemNodesPlan, Zone
from trainyard.plan.profiles import Profile
from trainyard.plan.request import NetworkRequest, PlanRequest, SystemNodesRequest
from trainyard.problems import nearest

LOG_RETENTION_DAYS = (
    1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653,
)  # fmt: skip
"""What CloudWatch Logs accepts (provider's validator, hashicorp/aws 5.100.0)."""

_PRIVATE = (IPv4Network("10.0.0.0/8"), IPv4Network("172.16.0.0/12"), IPv4Network("192.168.0.0/16"))


def plan_network(request: NetworkRequest, zone_names: Sequence[str], profile: Profile, ledger: Ledger) -> NetworkPlan:
    """The VPC with its subnets. Where the ranges are wrong, the profile's stand in, so that the rest can be checked."""
    cidr = _own_or(request.vpc_cidr, "cidr", profile, ledger)
    service_cidr = _own_or(request.service_cidr, "service_cidr", profile, ledger)
    vpc, services = _network("network.cidr", cidr, ledger), _network("network.serviceCidr", service_cidr, ledger)
    reserved = [
        _network(f"network.reservedCidrs[{i}]", other, ledger) for i, other in enumerate(request.reserved_cidrs)
    ]
    if vpc is not None and not LARGEST_PREFIX <= vpc.prefixlen <= SMALLEST_PREFIX:
        ledger.problem("network.cidr", cidr, f"must be /{LARGEST_PREFIX} to /{SMALLEST_PREFIX}")
        vpc = None
    if services is not None and (
        not 12 <= services.prefixlen <= 24 or not any(services.subnet_of(p) for p in _PRIVATE)
    ):
        ledger.problem("network.serviceCidr", service_cidr, "must be a private range of /12 to /24")
    for other, what in [(services, "network.serviceCidr"), *((net, "network.reservedCidrs") for net in reserved)]:
        if vpc is not None and other is not None and vpc.overlaps(other):
            ledger.problem("network.cidr", cidr, f"must not overlap {what} {other}")
    for index, other in enumerate(reserved):
        if services is not None and other is not None and services.overlaps(other):
            ledger.problem(
                f"network.reservedCidrs[{index}]", str(other), f"must not overlap network.serviceCidr {services}"
            )
    zones = plan_zones(str(vpc) if vpc else str(profile.figure("network.cidr").value), zone_names)
    per_zone = _flag(request.nat_per_zone, profile, ledger)
    return NetworkPlan(
        cidr=cidr,
        service_cidr=service_cidr,
        zones=zones,
        nat_gateways=ledger.decide("network.nat_gateways", len(zones) if per_zone else 1, "one a zone, or one in all"),
        gateway_endpoints=_listed("gateway_endpoints", profile, ledger),
        interface_endpoints=_listed("interface_endpoints", profile, ledger),
        flow_log_retention_days=_retention(
            "network.flow_log_retention_days",
            "network.flowLogRetentionDays",
            request.flow_log_retention_days,
            profile,
            ledger,
        ),
    )


def check_addresses(
    network: NetworkPlan, pools: Sequence[PoolPlan], system: SystemNodesPlan, profile: Profile, ledger: Ledger
) -> None:
    """Each zone's private subnet must hold the nodes that may stand there, with their pods."""
    each = int(profile.figure("network.addresses_per_node").value)
    needs: list[tuple[int, int, Zone]] = []
    for zone in network.zones:
        nodes = math.ceil(system.max_nodes / len(network.zones))
        for pool in pools:
            for group in pool.node_groups:
                if zone.name in group.zones:
                    nodes += math.ceil(group.max_nodes / len(group.zones))
        needs.append((nodes * each + len(network.interface_endpoints), usable_addresses(zone.private_cidr), zone))
    need, have, zone = max(needs, key=lambda entry: entry[0] - entry[1])
    if need > have:
        demand = f"the nodes in {zone.name} need {need} addresses ({each} a node)"
        allowed = f"too small: {demand}, its subnet {zone.private_cidr} has {have}"
        ledger.problem("network.cidr", network.cidr, allowed, f"take a larger range, up to /{LARGEST_PREFIX}")


def plan_cluster(request: PlanRequest, zone_names: Sequence[str], profile: Profile, ledger: Ledger) -> ClusterPlan:
    """The EKS cluster and its system nodes."""
    version = _kubernetes_version(request.kubernetes_version, ledger)
    add_ons, source = catalog.add_on_pins(version)
    ledger.decide("cluster.add_ons", [f"{add_on.name} {add_on.version or 'default'}" for add_on in add_ons], source)
    for index, cidr in enumerate(request.public_access_cidrs):
        network = _network(f"endpointAccess[{index}]", cidr, ledger)
        if network is not None and network.prefixlen == 0:
            ledger.problem(
                f"endpointAccess[{index}]", cidr, "must be narrower: an endpoint open to the internet is refused"
            )
    path = "cluster.log_types"
    return ClusterPlan(
        kubernetes_version=version,
        public_access_cidrs=request.public_access_cidrs,
        admin_principal_arns=request.admin_principal_arns,
        log_types=ledger.decide(path, tuple(profile.figure(path).value), profile.source(path)),
        log_retention_days=_retention(
            "cluster.log_retention_days", "logRetentionDays", request.log_retention_days, profile, ledger
        ),
        add_ons=tuple(AddOn(add_on.name, add_on.version) for add_on in add_ons),
        autoscaler_image_tag=_autoscaler_image_tag(version, ledger),
        system_nodes=_system_nodes(request.system_nodes, request.region, zone_names, profile, ledger),
        deletion_protection=ledger.decide("cluster.deletion_protection", request.protect, "setting protect"),
    )


def _system_nodes(
    request: SystemNodesRequest, region: str, zone_names: Sequence[str], profile: Profile, ledger: Ledger
) -> SystemNodesPlan:
    known = [item.type for item in catalog.cpu_instances()]
    path = "system_nodes.instance_types"
    if request.instance_types is not None:
        types, source = request.instance_types, "setting systemNodes.instanceTypes"
        for type_ in types:
            if type_ not in known:
                close = nearest(type_, known)
                ledger.problem("systemNodes.instanceTypes", type_, f"must be one of {', '.join(known)}", close)
            elif not catalog.offered(type_, region):
                ledger.regional("systemNodes.instanceTypes", type_, f"{region} does not sell it")
        types = tuple(type_ for type_ in types if type_ in known)
    else:
        wanted = tuple(profile.figure(path).value)
        everywhere = [t for t in wanted if set(zone_names) <= set(catalog.offered_zones(t, region))]
        types = tuple(everywhere or (t for t in wanted if catalog.offered(t, region)))
        source = profile.source(path)
        if not types:
            ledger.regional("systemNodes.instanceTypes", None, f"{region} sells none of {', '.join(wanted)}")
    sizes = {}
    for name, setting in (("min_nodes", "minNodes"), ("max_nodes", "maxNodes"), ("disk_gib", "diskGib")):
        given: int | None = getattr(request, name)
        here = f"system_nodes.{name}"
        value = int(profile.figure(here).value) if given is None else given
        sizes[name] = ledger.decide(
            f"cluster.{here}", value, profile.source(here) if given is None else f"setting systemNodes.{setting}"
        )
        if value < 1:
            ledger.problem(f"systemNodes.{setting}", value, "must be at least 1")
    if sizes["min_nodes"] > sizes["max_nodes"]:
        ledger.problem(
            "systemNodes.minNodes", sizes["min_nodes"], f"must be at most maxNodes, which is {sizes['max_nodes']}"
        )
    return SystemNodesPlan(ledger.decide("cluster.system_nodes.instance_types", types, source), **sizes)


def _kubernetes_version(given: str | None, ledger: Ledger) -> str:
    supported = catalog.kubernetes_versions()
    version, source = catalog.default_kubernetes_version()
    if given is not None:
        if given not in supported:
            close = nearest(given, supported)
            ledger.problem("kubernetesVersion", given, f"must be one of {', '.join(supported)}", close)
            given = version
        version, source = given, "setting kubernetesVersion"
    entry = supported[version]
    until = f"standard support until {entry.standard_support_until or 'a date not established'} ({entry.source})"
    return ledger.decide("cluster.kubernetes_version", version, f"{source}; {until}")


def _network(key: str, text: str, ledger: Ledger) -> IPv4Network | None:
    try:
        return IPv4Network(text)
    except ValueError:
        ledger.problem(key, text, "must be an IPv4 network without host bits, like 10.20.0.0/16")
        return None


def _own_or(given: str | None, name: str, profile: Profile, ledger: Ledger) -> str:
    path = f"network.{name}"
    if given is not None:
        setting = "network.cidr" if name == "cidr" else "network.serviceCidr"
        return ledger.decide(path, given, f"setting {setting}")
    return ledger.decide(path, str(profile.figure(path).value), profile.source(path))


def _flag(given: bool | None, profile: Profile, ledger: Ledger) -> bool:
    path = "network.nat_per_zone"
    if given is not None:
        return ledger.decide(path, given, "setting network.natPerZone")
    return ledger.decide(path, bool(profile.figure(path).value), profile.source(path))


def _listed(name: str, profile: Profile, ledger: Ledger) -> tuple[str, ...]:
    path = f"network.{name}"
    return ledger.decide(path, tuple(profile.figure(path).value), profile.source(path))


def _retention(path: str, setting: str, given: int | None, profile: Profile, ledger: Ledger) -> int:
    if given is None:
        return ledger.decide(path, int(profile.figure(path).value), profile.source(path))
    if given not in LOG_RETENTION_DAYS:
        close = min(LOG_RETENTION_DAYS, key=lambda days: abs(days - given))
        ledger.problem(
            setting, given, f"must be one of {', '.join(map(str, LOG_RETENTION_DAYS))}", f"nearest is {close}"
        )
    return ledger.decide(path, given, f"setting {setting}")


def _autoscaler_image_tag(version: str, ledger: Ledger) -> str:
    tag = catalog.kubernetes_versions()[version].cluster_autoscaler
    source = f"catalog/versions.yaml: newest release for Kubernetes {version}"
    return ledger.decide("cluster.autoscaler_image_tag", tag, source)
