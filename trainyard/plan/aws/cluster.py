"""The EKS cluster: its version, control plane and nodes without GPUs."""

from __future__ import annotations

from collections.abc import Sequence

from trainyard import catalog
from trainyard.plan.aws.logs import retention
from trainyard.plan.aws.parts import EksPlan
from trainyard.plan.context import Context
from trainyard.plan.parts import CpuNodesPlan
from trainyard.problems import nearest
from trainyard.settings.pools import CpuPool, SystemNodes


def kubernetes_version(context: Context) -> str:
    """The cluster's minor version: the setting, or the catalogue's default."""
    given, ledger = context.settings.kubernetes_version, context.ledger
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


def plan_control_plane(cluster: str, version: str, context: Context) -> EksPlan:
    """What EKS is asked for besides a version, for the cluster of that name."""
    settings, ledger = context.settings, context.ledger
    add_ons, source = catalog.add_on_pins(version)
    ledger.decide("cluster.add_ons", [f"{add_on.name} {add_on.version}" for add_on in add_ons], source)
    tag = catalog.kubernetes_versions()[version].cluster_autoscaler
    source = f"catalog/versions.yaml: newest release for Kubernetes {version}"
    return EksPlan(
        cluster=cluster,
        admin_principal_arns=tuple(settings.aws.admin_principals),
        log_types=context.listed("cluster.log_types"),
        log_retention_days=retention(
            "cluster.log_retention_days", "logRetentionDays", settings.log_retention_days, context
        ),
        add_ons=add_ons,
        autoscaler_image_tag=ledger.decide("cluster.autoscaler_image_tag", tag, source),
        deletion_protection=ledger.decide("cluster.deletion_protection", settings.protect, "setting protect"),
    )


def plan_system_nodes(zone_names: Sequence[str], context: Context) -> CpuNodesPlan:
    """The nodes of the platform's own pods."""
    path = "cluster.system_nodes.max_nodes"
    own = context.settings.system_nodes
    most = int(context.take("system_nodes.max_nodes", "systemNodes.maxNodes", own.max_nodes, key=path))
    return _cpu_nodes("system_nodes", "systemNodes", own, most, zone_names, context)


def plan_cpu_pool(zone_names: Sequence[str], context: Context) -> CpuNodesPlan | None:
    """The nodes of people's pods without GPUs; None where the settings want no such work."""
    path, key, own = "cpu_pool.max_nodes", "cpuPool.maxNodes", context.settings.cpu_pool
    given = own.max_nodes
    source = context.source(path) if given is None else f"setting {key}"
    most = context.ledger.decide(f"cluster.{path}", context.grown(path) if given is None else given, source)
    nodes = _cpu_nodes("cpu_pool", "cpuPool", own, most, zone_names, context)
    return nodes if most else None


def _cpu_nodes(
    part: str, setting: str, own: SystemNodes | CpuPool, most: int, zone_names: Sequence[str], context: Context
) -> CpuNodesPlan:
    """Nodes of types that all zones sell where there are such."""

    def size(name: str, words: str, given: int | None) -> int:
        return int(context.take(f"{part}.{name}", f"{setting}.{words}", given, key=f"cluster.{part}.{name}"))

    nodes = CpuNodesPlan(
        instance_types=_instance_types(part, setting, own.instance_types, zone_names, context),
        min_nodes=size("min_nodes", "minNodes", own.min_nodes),
        max_nodes=most,
        disk_gib=size("disk_gib", "diskGib", own.disk_gib),
    )
    if nodes.min_nodes > most:
        context.ledger.problem(f"{setting}.minNodes", nodes.min_nodes, f"must be at most maxNodes, which is {most}")
    return nodes


def _instance_types(
    part: str, setting: str, asked: Sequence[str] | None, zone_names: Sequence[str], context: Context
) -> tuple[str, ...]:
    region, ledger = context.region, context.ledger
    known = [item.type for item in catalog.cpu_instances()]
    path, key = f"{part}.instance_types", f"{setting}.instanceTypes"
    if asked is not None:
        for type_ in sorted({type_ for type_ in asked if asked.count(type_) > 1}):
            ledger.problem(key, type_, "must not be there twice")
        for type_ in dict.fromkeys(asked):
            if type_ not in known:
                ledger.problem(key, type_, f"must be one of {', '.join(known)}", nearest(type_, known))
            elif not catalog.offered(type_, region):
                ledger.regional(key, type_, f"{region} does not sell it")
        types = tuple(type_ for type_ in asked if type_ in known)
        return ledger.decide(f"cluster.{path}", types, f"setting {key}")
    wanted = tuple(context.figure(path))
    everywhere = [type_ for type_ in wanted if set(zone_names) <= set(catalog.offered_zones(type_, region))]
    types = tuple(everywhere or (type_ for type_ in wanted if catalog.offered(type_, region)))
    if not types:
        ledger.regional(key, None, f"{region} sells none of {', '.join(wanted)}")
    return ledger.decide(f"cluster.{path}", types, context.source(path))
