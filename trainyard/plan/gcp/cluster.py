"""The GKE cluster: its version, its channel and the nodes without GPUs."""

from __future__ import annotations

from collections.abc import Sequence

from trainyard.catalog import gcp as catalog
from trainyard.conventions import CPU_POOL, SYSTEM_POOL
from trainyard.plan.context import LOCKED, Context
from trainyard.plan.gcp.parts import GkePlan
from trainyard.plan.parts import CpuNodesPlan
from trainyard.problems import nearest
from trainyard.settings.pools import CpuPool, SystemNodes

LONGEST_CLUSTER_NAME = 40

VERSIONS = ("1.34", "1.35")
"""Minor versions that GKE's channels have and this package's objects were checked against (cluster-toolkit,
2026-06-25)."""


def kubernetes_version(context: Context) -> str:
    """The minor version that the control plane starts with; its channel moves it on."""
    given, kept, key = (
        context.settings.kubernetes_version,
        context.lock.kubernetes_version,
        "cluster.kubernetes_version",
    )
    if given is not None and given not in VERSIONS:
        context.ledger.problem(
            "kubernetesVersion", given, f"must be one of {', '.join(VERSIONS)}", nearest(given, VERSIONS)
        )
        given = VERSIONS[-1]
    if kept is not None:
        if given is not None and given != kept:
            context.contradiction("kubernetesVersion", given, kept, "kubernetesVersion")
        return context.ledger.decide(key, kept, LOCKED)
    return str(context.take("gcp.cluster.kubernetes_version", "kubernetesVersion", given, key))


def plan_control_plane(cluster: str, context: Context) -> GkePlan:
    """What GKE is asked for besides a version."""
    if len(cluster) > LONGEST_CLUSTER_NAME:
        context.ledger.problem(
            "environment", cluster, f"a cluster's name has {LONGEST_CLUSTER_NAME} characters at most"
        )
    own = context.settings.gcp.release_channel
    return GkePlan(
        cluster=cluster,
        release_channel=context.take(
            "gcp.cluster.release_channel", "gcp.releaseChannel", own, "cluster.release_channel"
        ),
        deletion_protection=context.ledger.decide(
            "cluster.deletion_protection", context.settings.protect, "setting protect"
        ),
        api_networks=context.ledger.decide(
            "cluster.api_networks",
            tuple(sorted(context.settings.gcp.api_networks.items())),
            "setting gcp.apiNetworks" if context.settings.gcp.api_networks else "its DNS name alone, which IAM guards",
        ),
    )


def plan_system_nodes(zones: Sequence[str], context: Context) -> CpuNodesPlan:
    """The nodes of the platform's own pods."""
    own = context.settings.system_nodes
    most = int(context.take("system_nodes.max_nodes", "systemNodes.maxNodes", own.max_nodes))
    return _cpu_nodes("system_nodes", "systemNodes", own, most, zones, context)


def plan_cpu_pool(zones: Sequence[str], context: Context) -> CpuNodesPlan | None:
    """The nodes of people's pods without GPUs; None where the settings want no such work."""
    path, own = "cpu_pool.max_nodes", context.settings.cpu_pool
    given = own.max_nodes
    source = context.source(path) if given is None else "setting cpuPool.maxNodes"
    most = context.ledger.decide(f"cluster.{path}", context.grown(path) if given is None else given, source)
    nodes = _cpu_nodes("cpu_pool", "cpuPool", own, most, zones, context)
    return nodes if most else None


def _cpu_nodes(
    part: str, setting: str, own: SystemNodes | CpuPool, most: int, zones: Sequence[str], context: Context
) -> CpuNodesPlan:
    """Nodes of one machine type, in all zones together: a node pool has no other."""
    ledger, key = context.ledger, f"{setting}.instanceTypes"
    known = [item.type for item in catalog.cpu_instances()]
    kept = context.lock.node_groups.get(SYSTEM_POOL if part == "system_nodes" else CPU_POOL)
    asked = tuple(own.instance_types) if own.instance_types is not None else None
    if asked is not None and len(asked) > 1:
        ledger.problem(key, asked, "a node pool of GKE has one machine type", "leave one")
    for type_ in asked or ():
        if type_ not in known:
            ledger.problem(key, type_, f"must be one of {', '.join(known)}", nearest(type_, known))
    wanted = tuple(context.figure(f"gcp.{part}.machine_types"))
    types, source = wanted, context.source(f"gcp.{part}.machine_types")
    if kept is not None:
        types, source = kept.instance_types, LOCKED
        if asked is not None and asked != kept.instance_types:
            context.contradiction(key, asked, kept.instance_types, "nodeGroups")
    elif asked is not None:
        types, source = tuple(type_ for type_ in asked[:1] if type_ in known) or wanted, f"setting {key}"

    def size(name: str, words: str, given: int | None) -> int:
        return int(context.take(f"{part}.{name}", f"{setting}.{words}", given, key=f"cluster.{part}.{name}"))

    nodes = CpuNodesPlan(
        zones=tuple(zones),
        instance_types=ledger.decide(f"cluster.{part}.instance_types", types, source),
        min_nodes=size("min_nodes", "minNodes", own.min_nodes),
        max_nodes=most,
        disk_gib=size("disk_gib", "diskGib", own.disk_gib),
    )
    if nodes.min_nodes > most:
        ledger.problem(f"{setting}.minNodes", nodes.min_nodes, f"must be at most maxNodes, which is {most}")
    return nodes
