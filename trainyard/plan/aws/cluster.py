"""The EKS cluster: its version, control plane and system nodes."""

from __future__ import annotations

from collections.abc import Sequence

from trainyard import catalog
from trainyard.plan.aws.logs import retention
from trainyard.plan.aws.parts import EksPlan
from trainyard.plan.context import Context
from trainyard.plan.parts import SystemNodesPlan
from trainyard.problems import nearest


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


def plan_system_nodes(zone_names: Sequence[str], context: Context) -> SystemNodesPlan:
    """The nodes for everything but training, of types that all zones sell where there are such."""
    own, ledger = context.settings.system_nodes, context.ledger

    def size(name: str, setting: str, given: int | None) -> int:
        path = f"system_nodes.{name}"
        return int(context.take(path, f"systemNodes.{setting}", given, key=f"cluster.{path}"))

    nodes = SystemNodesPlan(
        instance_types=_instance_types(zone_names, context),
        min_nodes=size("min_nodes", "minNodes", own.min_nodes),
        max_nodes=size("max_nodes", "maxNodes", own.max_nodes),
        disk_gib=size("disk_gib", "diskGib", own.disk_gib),
    )
    if nodes.min_nodes > nodes.max_nodes:
        allowed = f"must be at most maxNodes, which is {nodes.max_nodes}"
        ledger.problem("systemNodes.minNodes", nodes.min_nodes, allowed)
    return nodes


def _instance_types(zone_names: Sequence[str], context: Context) -> tuple[str, ...]:
    asked, region, ledger = context.settings.system_nodes.instance_types, context.region, context.ledger
    known = [item.type for item in catalog.cpu_instances()]
    path, key = "system_nodes.instance_types", "systemNodes.instanceTypes"
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
