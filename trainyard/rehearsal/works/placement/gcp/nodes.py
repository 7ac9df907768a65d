"""The node pools of GKE as the scheduler will see their nodes.

Labels and taints that GKE adds: GKE documentation, "Node labels", "Run GPUs in GKE Standard node pools" and "Spot VMs"
(2026-11). What a pod can have of a machine: `catalog.gke_nodes`. GKE's own pods are in no recording.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from trainyard.catalog import gke_nodes
from trainyard.catalog.mig import mig_profiles
from trainyard.conventions import ACCELERATORS, GPU_RESOURCE, HOSTNAME_LABEL, TPU_RESOURCE, ZONE_LABEL
from trainyard.conventions.gcp import GKE_ACCELERATORS
from trainyard.conventions.quantities import GIBIBYTE, MEBIBYTE
from trainyard.recorded.model import UNKNOWN, RecordedResource, bare
from trainyard.recorded.node_groups import GKE_NODE_POOL, node_group, tpu_chips
from trainyard.recorded.node_labels import has_other_nodes, labels_of_the_cloud
from trainyard.recorded.read import UnknownInput, UnreadableInput, as_number, follow
from trainyard.recorded.resources import Resources
from trainyard.recorded.taints import EFFECTS, taints_of_the_cloud
from trainyard.recorded.types import EKS_CLUSTER, GKE_CLUSTER
from trainyard.rehearsal.works.placement.kubernetes.nodes import (
    ARCHITECTURE,
    ELSEWHERE,
    INSTANCE_TYPE,
    REGION,
    SYSTEM,
    Machine,
    Nodes,
    Taint,
    as_values,
)

_ACCELERATOR: Final = "cloud.google.com/gke-accelerator"
_SPOT: Final = "cloud.google.com/gke-spot"
_DISK_ZONE: Final = "topology.gke.io/zone"
_OWN: Final = ("cloud.google.com/", "topology.gke.io/", "iam.gke.io/", "addon.gke.io/", "networking.gke.io/", "gke.io/")
"""Beginnings of labels that GKE puts on nodes."""
_DISK_GIB: Final = 100
"""Boot disk of a pool that does not say (provider's `diskSizeGb`)."""
_ARM: Final = ("t2a-", "c4a-", "n4a-", "a4x-")
"""Families with processors of Arm (Compute Engine documentation, "Arm VMs on Compute")."""


def nodes_of(resources: Resources, region: str) -> list[Nodes] | None:
    """Every node pool of GKE; None where a stack has, or may have, nodes that none of them says of."""
    clusters, pools = resources.of(GKE_CLUSTER), resources.of(GKE_NODE_POOL)
    if len(clusters) != 1 or not pools or resources.of(EKS_CLUSTER) or has_other_nodes(resources):
        return None
    cluster = bare(dict(clusters[0].inputs))
    makes_more = (follow(cluster, "enableAutopilot"), follow(cluster, "clusterAutoscaling", "enabled"))
    if any(said not in (None, False) for said in makes_more) or follow(cluster, "removeDefaultNodePool") is not True:
        return None
    return [_nodes(pool, cluster, region) for pool in pools]


def _nodes(pool: RecordedResource, cluster: Mapping[str, Any], region: str) -> Nodes:
    inputs = bare(dict(pool.inputs))
    node = inputs.get("nodeConfig")
    type_ = follow(node, "machineType")
    own, taints = follow(node, "labels"), follow(node, "taints")
    zones = _zones(inputs, cluster)
    labels: dict[str, frozenset[str] | None] = {
        SYSTEM: frozenset(("windows",)) if "WINDOWS" in str(follow(node, "imageType")) else frozenset(("linux",)),
        HOSTNAME_LABEL: None,
        INSTANCE_TYPE: frozenset((type_,)) if isinstance(type_, str) else None,
        ARCHITECTURE: frozenset(("arm64" if type_.startswith(_ARM) else "amd64",)) if isinstance(type_, str) else None,
        ZONE_LABEL: zones,
        _DISK_ZONE: zones,
        REGION: frozenset((region,)) if region else None,
        **_added(pool, node),
    }
    if isinstance(own, Mapping):
        labels |= {str(key): as_values(value) for key, value in own.items()}
    least, most = _sizes(pool)
    installs = follow(node, "guestAccelerators", 0, "gpuDriverInstallationConfig", "gpuDriverVersion")
    return Nodes(
        name=pool.name,
        resource=pool,
        labels=labels,
        taints=(*_taints(taints), *_added_taints(pool, taints)),
        machines=(_machine(type_, inputs, cluster),) if isinstance(type_, str) else (),
        least=least,
        most=most,
        open_labels=own is UNKNOWN or taints is UNKNOWN or node is UNKNOWN,
        elsewhere=(*ELSEWHERE, *_OWN),
        built_in=(TPU_RESOURCE,) if installs == "INSTALLATION_DISABLED" else ACCELERATORS,
        hardware=_hardware(node, type_),
        tolerated=ACCELERATORS,
    )


def _added(pool: RecordedResource, node: Any) -> dict[str, frozenset[str] | None]:
    """Labels that GKE adds; none are told where one is not known, so that each may be anything."""
    try:
        found: dict[str, frozenset[str] | None] = {
            _SPOT: frozenset(),
            **{key: frozenset((value,)) for key, value in labels_of_the_cloud(pool).items()},
        }
    except UnknownInput:
        return {}
    accelerators = follow(node, "guestAccelerators")
    if isinstance(accelerators, list) or accelerators is None:
        kinds = [follow(one, "type") for one in accelerators or ()]
        found[_ACCELERATOR] = frozenset(map(str, kinds)) if UNKNOWN not in kinds else None
    return found


def _sizes(pool: RecordedResource) -> tuple[int | None, int | None]:
    try:
        group = node_group(pool, Resources([pool]))
    except (UnknownInput, UnreadableInput):
        return None, None
    return group.min_nodes, group.max_nodes


def _zones(inputs: Mapping[str, Any], cluster: Mapping[str, Any]) -> frozenset[str] | None:
    for given in (inputs.get("nodeLocations"), cluster.get("nodeLocations")):
        if isinstance(given, list) and given:
            return frozenset(given) if all(isinstance(zone, str) for zone in given) else None
    place = inputs.get("location") or cluster.get("location")
    return frozenset((place,)) if isinstance(place, str) and place.count("-") == 2 else None


def _taints(taints: Any) -> Iterator[Taint]:
    for taint in taints if isinstance(taints, list) else ():
        if isinstance(taint, Mapping):
            yield Taint(taint.get("key"), taint.get("value"), EFFECTS.get(str(taint.get("effect")), ""))


def _added_taints(pool: RecordedResource, given: Any) -> Iterator[Taint]:
    """Taints that GKE adds, as far as that is known."""
    try:
        added = taints_of_the_cloud(pool)
    except UnknownInput:
        return
    stated = {follow(taint, "key") for taint in given} if isinstance(given, list) else set()
    for taint in added:
        if taint["key"] not in stated:
            yield Taint(taint["key"], taint["value"], taint["effect"])


def _hardware(node: Any, type_: Any) -> dict[str, float]:
    """GPUs of a node, as many as pods may be told of (one that is shared counts as often as it may be), or the chips of
    its TPU."""
    if isinstance(type_, str) and (chips := tpu_chips(type_)):
        return {TPU_RESOURCE: float(chips)}
    accelerators = follow(node, "guestAccelerators")
    total = 0.0
    for one in accelerators if isinstance(accelerators, list) else ():
        count = as_number(follow(one, "count"))
        partition = follow(one, "gpuPartitionSize")
        known = mig_profiles(GKE_ACCELERATORS.get(str(follow(one, "type")), ""))
        if count is None or (partition is not None and partition not in known):
            return {}
        instances = known[partition].instances if isinstance(partition, str) else 1
        total += count * instances * (as_number(follow(one, "gpuSharingConfig", "maxSharedClientsPerGpu")) or 1)
    if not total and isinstance(type_, str) and (found := gke_nodes.machine(type_)) is not None:
        total = float(found.gpus)
    return {GPU_RESOURCE: total} if total else {}


def _machine(type_: str, inputs: Mapping[str, Any], cluster: Mapping[str, Any]) -> Machine:
    given = inputs.get("maxPodsPerNode") or cluster.get("defaultMaxPodsPerNode") or gke_nodes.MAX_PODS
    pods = None if given is UNKNOWN else int(as_number(given) or gke_nodes.MAX_PODS)
    node = inputs.get("nodeConfig")
    most: dict[str, float] = {}
    if follow(node, "linuxNodeConfig") is None:
        most |= {"hugepages-2Mi": 0.0, "hugepages-1Gi": 0.0}
    local = any(follow(node, key) is not None for key in ("ephemeralStorageLocalSsdConfig", "localNvmeSsdBlockConfig"))
    size = as_number(follow(node, "diskSizeGb") or _DISK_GIB)
    if size is not None and not local and not type_.startswith("a3-"):  # which come with local disks of their own
        most["ephemeral-storage"] = gke_nodes.usable_disk_gib(size) * GIBIBYTE
    found = gke_nodes.machine(type_)
    if found is None:
        return Machine(type_, most, most, pods)
    cores = float(found.vcpus - gke_nodes.kubelet_cores(found.vcpus))
    kept = float(gke_nodes.kubelet_gib(found.memory_gib)) * 1024 + gke_nodes.EVICTION_MIB
    mib = found.memory_gib * 1024
    usual = mib * (1 - float(gke_nodes.USUAL_LOST_SHARE)) - kept - gke_nodes.SYSTEM_MIB
    return Machine(
        type_,
        {**most, "cpu": cores, "memory": (mib * (1 - float(gke_nodes.LOST_SHARE)) - kept) * MEBIBYTE},
        {**most, "cpu": cores - float(gke_nodes.SYSTEM_CORES), "memory": usual * MEBIBYTE},
        pods,
    )
