"""The EKS cluster: its version, control plane and nodes without GPUs."""

from __future__ import annotations

from collections.abc import Sequence

from trainyard import catalog
from trainyard.conventions import CPU_POOL, HOURS_A_MONTH, SYSTEM_POOL
from trainyard.plan.aws.logs import retention
from trainyard.plan.aws.parts import ApiAccessPlan, EksPlan
from trainyard.plan.context import LOCKED, Context
from trainyard.plan.parts import CpuNodesPlan
from trainyard.problems import nearest
from trainyard.settings.pools import CpuPool, SystemNodes


def kubernetes_version(context: Context) -> str:
    """The cluster's minor version: the setting, or the catalogue's default; the lock's as long as there are pins."""
    given, kept, ledger = context.settings.kubernetes_version, context.lock.kubernetes_version, context.ledger
    supported, known = catalog.kubernetes_versions(), catalog.known_kubernetes_versions()
    version, source = catalog.default_kubernetes_version()
    if given is not None:
        if given not in supported and not (given == kept and given in known):
            close = nearest(given, supported)
            ledger.problem("kubernetesVersion", given, f"must be one of {', '.join(supported)}", close)
            given = version
        version, source = given, "setting kubernetesVersion"
    if kept in known:
        if given is not None and given != kept:
            context.contradiction("kubernetesVersion", given, kept, "kubernetesVersion")
        version, source = str(kept), LOCKED
    elif kept is not None:
        # Another version would be an upgrade that nobody asked for, perhaps of several minors at once.
        allowed = f"must be one of {', '.join(known)}, for which this Trainyard has pins"
        hint = "upgrade with a release of Trainyard that has pins for it and for the next"
        ledger.problem("kubernetesVersion of the stack's lock", kept, allowed, hint)
    entry = known[version]
    until = f"standard support until {entry.standard_support_until or 'a date not established'} ({entry.source})"
    return ledger.decide("cluster.kubernetes_version", version, f"{source}; {until}")


def plan_control_plane(cluster: str, version: str, zone_names: Sequence[str], context: Context) -> EksPlan:
    """What EKS is asked for besides a version, for the cluster of that name."""
    settings, ledger = context.settings, context.ledger
    add_ons, source = catalog.add_on_pins(version)
    ledger.decide("cluster.add_ons", [f"{add_on.name} {add_on.version}" for add_on in add_ons], source)
    tag = catalog.known_kubernetes_versions()[version].cluster_autoscaler
    source = f"catalog/versions.yaml: newest release for Kubernetes {version}"
    return EksPlan(
        cluster=cluster,
        zones=_control_zones(zone_names, context),
        access=_api_access(zone_names, context),
        admin_principal_arns=_administrators(context),
        log_types=context.listed("cluster.log_types"),
        log_retention_days=retention(
            "cluster.log_retention_days", "logRetentionDays", settings.log_retention_days, context
        ),
        add_ons=add_ons,
        autoscaler_image_tag=ledger.decide("cluster.autoscaler_image_tag", tag, source),
        node_release=_node_release(version, context),
        deletion_protection=ledger.decide("cluster.deletion_protection", settings.protect, "setting protect"),
        node_sessions=ledger.decide("cluster.node_sessions", settings.aws.node_sessions, "setting aws.nodeSessions"),
    )


def _administrators(context: Context) -> tuple[str, ...]:
    """Who administers the cluster, where anybody is named: whoever runs `pulumi up` must be among them.

    By default he has an entry of his own, which goes as soon as another one is named; the role that the program takes
    is known, and so is always among them.
    """
    aws = context.settings.aws
    named = tuple(dict.fromkeys(aws.admin_principals))
    source = "setting aws.adminPrincipals; whoever runs `pulumi up` is one of them, or of aws.deployers"
    if aws.assume_role is not None and (named or aws.deployers) and aws.assume_role not in (*named, *aws.deployers):
        named, source = (*named, aws.assume_role), f"{source}; setting aws.assumeRole, which runs `pulumi up`"
    if not named and not aws.deployers:
        source = "whoever runs `pulumi up`, by an entry that follows the next one; name them, if several"
    return context.ledger.decide("cluster.admin_principals", named, source)


def _node_release(version: str, context: Context) -> str:
    """The release of the nodes' images, with their kernel and GPU driver; the lock's while it is of the version.

    A node group without one takes the newest that there is whenever anything of its launch template changes.
    """
    key, given, kept = "aws.nodeRelease", context.settings.aws.node_release, context.lock.node_release
    if given is not None and not given.startswith(f"{version}."):
        allowed = f"must be a release for Kubernetes {version}: {version}.PATCH-DATE"
        context.ledger.problem(key, given, allowed, f"the catalogue has {catalog.node_release(version)[0]}")
    if kept is not None and kept.startswith(f"{version}."):
        if given is not None and given != kept:
            context.contradiction(key, given, kept, "nodeRelease")
        return context.ledger.decide("cluster.node_release", kept, LOCKED)
    found, source = catalog.node_release(version)
    return context.ledger.decide("cluster.node_release", given or found, f"setting {key}" if given else source)


def _control_zones(zone_names: Sequence[str], context: Context) -> tuple[str, ...]:
    """The zones of the control plane's interfaces: a zone that comes later is not among them.

    Its subnets may change, the set of zones may not (aws/containers-roadmap 170 and 2258, read 2026-11-22).
    """
    kept = context.lock.control_plane_zones
    source = LOCKED if kept else "the environment's zones when it is made"
    return context.ledger.decide("cluster.control_plane_zones", kept or tuple(zone_names), source)


def _api_access(zone_names: Sequence[str], context: Context) -> ApiAccessPlan:
    own, path, ledger = context.settings.api_access, "cluster.api_access", context.ledger
    derived = "setting apiAccess.mode" if own.mode else "what the keys of setting apiAccess ask for"
    mode = ledger.decide(path, own.chosen or str(context.figure(path)), derived if own.chosen else context.source(path))
    return ApiAccessPlan(
        bastion=_bastion(zone_names[0], context) if mode == "bastion" else None,
        networks=tuple(own.networks),
        security_groups=tuple(own.security_groups),
    )


def _bastion(zone: str, context: Context) -> str:
    """The first type of the profile's that the zone of the bastion sells; the last stands in where there is none."""
    path = "cluster.bastion_instance_types"
    wanted = context.figure(path)
    sold = [type_ for type_ in wanted if zone in catalog.offered_zones(type_, context.region)]
    if not sold:
        context.ledger.regional("apiAccess.mode", "bastion", f"{zone} sells none of {', '.join(wanted)}")
    item = catalog.cpu_instance([*sold, wanted[-1]][0])
    usd = item.usd_per_hour * HOURS_A_MONTH
    source = f"{context.source(path)}; {usd:.2f} USD a month in us-east-1: {item.price_source}"
    return str(context.ledger.decide("cluster.bastion", item.type, source))


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

    standing = context.lock.node_groups.get(SYSTEM_POOL)  # the CPU pool stands where the platform's nodes do
    nodes = CpuNodesPlan(
        zones=standing.zones if standing is not None else tuple(zone_names),
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
    group = SYSTEM_POOL if part == "system_nodes" else CPU_POOL
    kept = context.lock.node_groups.get(group)
    if kept is not None:
        if asked is not None and set(asked) != set(kept.instance_types):
            context.contradiction(key, asked, kept.instance_types, f"nodeGroups.{group}")
        return ledger.decide(f"cluster.{path}", kept.instance_types, LOCKED)
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
