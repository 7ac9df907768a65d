"""Clusters with their pools of nodes, and what each team owns of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from trainyard.conventions import CAPACITIES, POOL_LABEL, SYSTEM_POOL, TPU_RESOURCE
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.node_groups import GKE_NODE_POOL, LAUNCH_TEMPLATE, NODE_GROUP_TYPES, NodeGroup, node_group
from trainyard.recorded.queues import CLUSTER_QUEUE, COHORT, LOCAL_QUEUE, RESOURCE_FLAVOR, gpu_quotas, nodes_of_flavor
from trainyard.recorded.read import is_set
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import EKS_CLUSTER, GCP_NETWORK, GKE_CLUSTER, PLACEMENT_GROUP, SUBNET, VPC
from trainyard.review.reports.picture.model import UNTOLD, Cluster, NodeGroupFigures, Pool, Quota, Team
from trainyard.review.reports.picture.network import zone_of
from trainyard.review.reports.picture.told import entries, known, on, texts, told

DRAWN = (
    *(EKS_CLUSTER, GKE_CLUSTER, *NODE_GROUP_TYPES, LAUNCH_TEMPLATE, PLACEMENT_GROUP),
    *(CLUSTER_QUEUE, COHORT, LOCAL_QUEUE, RESOURCE_FLAVOR),
)
"""Types that the picture shows, here and below."""

_MOST_CIDRS = 3


def clusters(resources: Resources) -> Iterator[Cluster]:
    """Every cluster of the recording with its pools; last one for node groups whose cluster is somewhere else."""
    of_cluster: dict[str, list[RecordedResource]] = {}
    for group in resources.of(*NODE_GROUP_TYPES):
        path, type_ = ("cluster", GKE_CLUSTER) if group.type == GKE_NODE_POOL else ("clusterName", EKS_CLUSTER)
        home = next(iter(resources.referred(group, path, type_)), None)
        of_cluster.setdefault(home.urn if home is not None else "", []).append(group)
    for cluster in resources.of(EKS_CLUSTER):
        network = next(
            (net for subnet in _subnets(cluster, "vpcConfig", resources) for net in _vpc(subnet, resources)), ""
        )
        yield Cluster(
            urn=cluster.urn,
            name=told(cluster.inputs, "name") or cluster.name,
            version=told(cluster.inputs, "version"),
            reach=_eks_reach(cluster),
            facts=tuple(_eks_facts(cluster)),
            pools=pools(of_cluster.get(cluster.urn, ()), resources),
            network=network,
        )
    for cluster in resources.of(GKE_CLUSTER):
        network = next((one.urn for one in resources.referred(cluster, "network", GCP_NETWORK)), "")
        yield Cluster(
            urn=cluster.urn,
            name=told(cluster.inputs, "name") or cluster.name,
            version=told(cluster.inputs, "minMasterVersion"),
            reach=_gke_reach(cluster),
            facts=tuple(_gke_facts(cluster)),
            pools=pools(of_cluster.get(cluster.urn, ()), resources),
            network=network,
        )
    if of_cluster.get(""):
        yield Cluster("", "a cluster of another program", "", "", (), pools(of_cluster[""], resources), network="")


def _subnets(resource: RecordedResource, path: str, resources: Resources) -> list[RecordedResource]:
    """The subnets that `subnetIds` at `path` refers to, each once."""
    full = f"{path}.subnetIds" if path else "subnetIds"
    return list({found.urn: found for found in resources.referred(resource, full, SUBNET)}.values())


def _vpc(subnet: RecordedResource, resources: Resources) -> list[str]:
    return [found.urn for found in resources.referred(subnet, "vpcId", VPC)]


def _eks_reach(cluster: RecordedResource) -> str:
    """Who reaches the API. EKS opens it to everybody unless told otherwise."""
    if not on(cluster.inputs, "vpcConfig", "endpointPublicAccess", default=True):
        return "private only"
    cidrs = texts(cluster.inputs, "vpcConfig", "publicAccessCidrs")
    if not cidrs or "0.0.0.0/0" in cidrs:
        return "open to the internet"
    more = f" and {len(cidrs) - _MOST_CIDRS} more" if len(cidrs) > _MOST_CIDRS else ""
    return f"private, and from {', '.join(cidrs[:_MOST_CIDRS])}{more}"


def _eks_facts(cluster: RecordedResource) -> Iterator[str]:
    if is_set(cluster.inputs, "encryptionConfig"):
        yield "secrets encrypted"
    if "audit" in texts(cluster.inputs, "enabledClusterLogTypes"):
        yield "audit log"
    if on(cluster.inputs, "deletionProtection"):
        yield "deletion protected"


def _gke_reach(cluster: RecordedResource) -> str:
    """Who reaches the API, by its addresses and by its name, where IAM asks who it is."""
    private = on(cluster.inputs, "privateClusterConfig", "enablePrivateEndpoint")
    by_name = on(cluster.inputs, "controlPlaneEndpointsConfig", "dnsEndpointConfig", "allowExternalTraffic")
    reach = "private only" if private else "public"
    return f"{'private' if private else 'public'}, and by its name with a sign-on" if by_name else reach


def _gke_facts(cluster: RecordedResource) -> Iterator[str]:
    if told(cluster.inputs, "databaseEncryption", "state") == "ENCRYPTED":
        yield "secrets encrypted"
    if on(cluster.inputs, "privateClusterConfig", "enablePrivateNodes"):
        yield "private nodes"
    if on(cluster.inputs, "deletionProtection", default=True):
        yield "deletion protected"


def pools(groups: Iterable[RecordedResource], resources: Resources) -> tuple[Pool, ...]:
    """Node groups by pool: those without a GPU first, then by how many GPUs they hold, last those of TPU slices."""
    found: dict[str, list[tuple[str, NodeGroupFigures]]] = {}
    for group in groups:
        pool, gpu, figures = _figures(group, resources)
        found.setdefault(pool, []).append((gpu, figures))
    made = [
        Pool(
            name,
            " or ".join(dict.fromkeys(gpu for gpu, _ in parts if gpu)),
            tuple(sorted((figures for _, figures in parts), key=_order)),
        )
        for name, parts in found.items()
    ]
    return tuple(
        sorted(
            made,
            key=lambda pool: (
                *(bool(pool.gpu or pool.chips_per_node), not pool.gpu, pool.name != SYSTEM_POOL),
                -(pool.gpus or 0),
            ),
        )
    )


def _order(group: NodeGroupFigures) -> int:
    """As a queue tries them; last what cannot be read."""
    return CAPACITIES.index(group.capacity) if group.capacity is not None else len(CAPACITIES)


def _figures(resource: RecordedResource, resources: Resources) -> tuple[str, str, NodeGroupFigures]:
    """Pool, GPU and figures of a node group; with `?` where it cannot be read."""
    group: NodeGroup | None = known(None, node_group, resource, resources)
    zones = tuple(dict.fromkeys(zone_of(subnet) for subnet in _subnets(resource, "", resources)))
    if group is None:
        pool = told(resource.inputs, "labels", POOL_LABEL) or resource.name
        figures = NodeGroupFigures(resource.urn, resource.name, None, None, None, 0, (UNTOLD,), zones, ())
        return (resource.name if pool == UNTOLD else pool), "", figures
    figures = NodeGroupFigures(
        urn=resource.urn,
        name=group.name,
        capacity=group.capacity,
        min_nodes=group.min_nodes,
        max_nodes=group.max_nodes,
        gpus_per_node=group.gpus_per_node,
        instance_types=group.instance_types,
        zones=zones or tuple(texts(resource.inputs, "nodeLocations")),
        facts=tuple(_facts(group)),
        chips_per_node=group.tpu_chips_per_node,
    )
    return group.pool, " or ".join(group.gpu_models), figures


def _facts(group: NodeGroup) -> Iterator[str]:
    """What is special about its nodes: how they are reserved, how they are joined."""
    inputs = group.template.inputs if group.template is not None else {}
    if group.in_capacity_block:
        yield "Capacity Block"
    reservation = told(inputs, "capacityReservationSpecification", "capacityReservationTarget", "capacityReservationId")
    if reservation:
        yield reservation
    cards = entries(inputs, "networkInterfaces")
    fabric = sum(told(card, "interfaceType") in ("efa", "efa-only") for card in cards)
    if fabric:
        yield f"EFA × {fabric}" if fabric > 1 else "EFA"
    if is_set(inputs, "placement", "groupName"):
        yield "placement group"


def teams(resources: Resources, drawn: Iterable[Cluster]) -> Iterator[Team]:
    """Every cluster queue with its nominal quotas of GPUs and TPU chips, by pool."""
    sizes = {pool.name: pool.gpus_per_node for cluster in drawn for pool in cluster.pools}
    flavors = {
        told(flavor.inputs, "metadata", "name"): known(("", ""), nodes_of_flavor, flavor)[0]
        for flavor in resources.of(RESOURCE_FLAVOR)
    }
    for queue in resources.of(CLUSTER_QUEUE):
        yield Team(
            urn=queue.urn,
            name=told(queue.inputs, "metadata", "name") or queue.name,
            quotas=known(None, _quotas, queue, flavors, sizes),
            lends=is_set(queue.inputs, "spec", "cohortName") or is_set(queue.inputs, "spec", "cohort"),
            slices=known((), _slices, queue, flavors),
        )


def _quotas(
    queue: RecordedResource, flavors: Mapping[str, str], sizes: Mapping[str, tuple[int, ...]]
) -> tuple[Quota, ...] | None:
    """By pool, in the order of its flavors. Raises as `gpu_quotas` does."""
    by_pool: dict[str, list[float]] = {}
    for flavor, gpus in gpu_quotas(queue):
        by_pool.setdefault(flavors.get(flavor) or flavor, []).append(gpus)
    return tuple(Quota(pool, sum(parts), _whole_nodes(parts, sizes.get(pool, ()))) for pool, parts in by_pool.items())


def _slices(queue: RecordedResource, flavors: Mapping[str, str]) -> tuple[tuple[str, float], ...]:
    """TPU chips by pool, where it owns some. Raises as `gpu_quotas` does."""
    by_pool: dict[str, float] = {}
    for flavor, chips in gpu_quotas(queue, TPU_RESOURCE):
        pool = flavors.get(flavor) or flavor
        by_pool[pool] = by_pool.get(pool, 0.0) + chips
    return tuple((pool, chips) for pool, chips in by_pool.items() if chips)


def _whole_nodes(quotas: list[float], sizes: tuple[int, ...]) -> int | None:
    """How many nodes these are, where all nodes have the same number of several GPUs and no quota ends inside one."""
    whole = len(sizes) == 1 and sizes[0] > 1 and all(gpus % sizes[0] == 0 for gpus in quotas)
    return int(sum(quotas)) // sizes[0] if whole else None
