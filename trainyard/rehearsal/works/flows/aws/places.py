"""What of AWS stands in a stack's network: nodes, the Kubernetes API, databases, file systems, endpoints, the internet.

Each has the addresses of its subnets, the security groups of its interfaces and the ports of its service.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from trainyard.recorded.model import UNKNOWN, RecordedResource
from trainyard.recorded.node_groups import EKS_NODE_GROUP, LAUNCH_TEMPLATE
from trainyard.recorded.node_labels import has_other_nodes
from trainyard.recorded.read import as_number, follow, is_on, mappings_at, texts_at, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import (
    DATABASE,
    DATABASE_SUBNETS,
    EFS_MOUNT_TARGET,
    EKS_CLUSTER,
    LUSTRE,
    SUBNET,
    VPC,
    VPC_ENDPOINT,
)
from trainyard.rehearsal.works.flows.addresses import INTERNET, PRIVATE, Addresses
from trainyard.rehearsal.works.flows.aws.metadata import METADATA
from trainyard.rehearsal.works.flows.aws.routes import is_gateway, is_object_store
from trainyard.rehearsal.works.flows.aws.security_groups import cluster_group
from trainyard.rehearsal.works.flows.model import HTTPS, KUBELET, Interfaces, Place, Port

POSTGRESQL: Final = 5432
NFS: Final = Port(2049)
LUSTRE_PORTS: Final = (Port(988), *(Port(number) for number in range(1018, 1024)))
"""What file servers of FSx for Lustre and their clients open to each other (FSx user guide, "File system access control
with Amazon VPC", 2026-11)."""

POD_IDENTITY: Final = "169.254.170.23"
"""Address of the EKS Pod Identity agent on every node, TCP 80 (EKS user guide, "Set up the Amazon EKS Pod Identity
Agent", 2026-11)."""

RESOLVER: Final = "169.254.169.253"
"""Address of the VPC's name service in every subnet, beside the third address of the VPC (VPC user guide, "Amazon
DNS", 2026-11)."""


def node_interfaces(resources: Resources) -> Interfaces:
    """The interfaces of all node groups together: a team's pod may run on any. Raises UnknownInput."""
    groups, subnets = set[str](), set[str]()
    for group in resources.of(EKS_NODE_GROUP):
        subnets.update(texts_at(group.inputs, "subnetIds"))
        groups.update(_groups_of_group(resources, group))
    return Interfaces(_addresses(resources, subnets) or PRIVATE, frozenset(groups), frozenset(subnets))


def interfaces_of(resources: Resources, selector: Mapping[str, Any], every: Interfaces) -> Interfaces:
    """The interfaces of the nodes that a pod's node selector leaves to it; all where none is left, or that is not sure.

    Raises UnknownInput.
    """
    nodes = resources.of(EKS_NODE_GROUP)
    labels = [follow(group.inputs, "labels") for group in nodes]
    set_by_groups = set[str]().union(*(found for found in labels if isinstance(found, Mapping)))
    wanted = {key: value for key, value in selector.items() if key in set_by_groups}
    if not wanted or any(found is UNKNOWN for found in labels) or has_other_nodes(resources):
        return every
    left = [
        group
        for group, found in zip(nodes, labels, strict=True)
        if isinstance(found, Mapping) and all(found.get(key) in (value, UNKNOWN) for key, value in wanted.items())
    ]
    if not left:
        return every
    subnets = {subnet for group in left for subnet in texts_at(group.inputs, "subnetIds")}
    groups = {group for found in left for group in _groups_of_group(resources, found)}
    return Interfaces(_addresses(resources, subnets) or PRIVATE, frozenset(groups), frozenset(subnets))


def places_of_nodes(resources: Resources) -> Iterator[tuple[RecordedResource, Place]]:
    """The nodes of each group by themselves. Raises UnknownInput."""
    for group in resources.of(EKS_NODE_GROUP):
        subnets = frozenset(texts_at(group.inputs, "subnetIds"))
        groups = frozenset(_groups_of_group(resources, group))
        addresses = _addresses(resources, subnets)
        yield (
            group,
            Place(
                f"nodes of {group.name}", "node", addresses, security_groups=groups, subnets=subnets, ports=(KUBELET,)
            ),
        )


def _groups_of_group(resources: Resources, group: RecordedResource) -> list[str]:
    template = next(iter(resources.referred(group, "launchTemplate", LAUNCH_TEMPLATE)), None)
    stated = _groups_of(template) if template is not None else []
    return stated or [cluster_group(cluster) for cluster in resources.of(EKS_CLUSTER)]


def _groups_of(template: RecordedResource) -> list[str]:
    """Security groups of the interface that a node and its pods talk through: the first of the first card."""
    for interface in mappings_at(template.inputs, "networkInterfaces"):
        if not as_number(value_at(interface, "deviceIndex")) and not as_number(value_at(interface, "networkCardIndex")):
            return texts_at(interface, "securityGroups")
    return texts_at(template.inputs, "vpcSecurityGroupIds")


def places(resources: Resources) -> Iterator[Place]:
    """Every place of a recording that is of AWS, in the order in which they are told. Raises UnknownInput."""
    nodes = node_interfaces(resources)
    if nodes.subnets:
        node = Place(
            "nodes", "node", nodes.addresses, security_groups=nodes.security_groups, subnets=nodes.subnets,
            ports=(KUBELET,),
        )  # fmt: skip
        yield node
        yield replace(node, name="the pod's own node", kind="own node")
    for cluster in resources.of(EKS_CLUSTER):
        yield from _kubernetes_api(resources, cluster)
    yield from _databases(resources)
    yield from _file_systems(resources)
    yield from _endpoints(resources)
    for vpc in resources.of(VPC):
        third = Addresses.of_place(str(value_at(vpc.inputs, "cidrBlock")), 2) | Addresses.of(RESOLVER)
        yield Place("the VPC's name service", "link-local", third, ports=(Port(53, "UDP"), Port(53)))
    yield Place("instance metadata", "link-local", Addresses.of(METADATA), ports=(Port(80),))
    yield Place("Pod Identity agent", "link-local", Addresses.of(POD_IDENTITY), ports=(Port(80),))
    store = _object_store(resources)
    yield replace(store, ports=(HTTPS,))
    # Where nobody knows the store's addresses, they may be any public ones.
    rest = INTERNET - store.addresses if store.addresses != INTERNET else INTERNET
    yield Place("internet", "internet", rest, ports=(HTTPS,))


def service_addresses(resources: Resources) -> Addresses:
    """What services have in the cluster. Raises UnknownInput."""
    ranges = (
        value_at(found.inputs, "kubernetesNetworkConfig", "serviceIpv4Cidr") for found in resources.of(EKS_CLUSTER)
    )
    return Addresses.of(*(str(found) for found in ranges if found))


def _kubernetes_api(resources: Resources, cluster: RecordedResource) -> Iterator[Place]:
    network = value_at(cluster.inputs, "vpcConfig", default={})
    subnets = texts_at(network, "subnetIds")
    addresses = _addresses(resources, subnets)
    services = value_at(cluster.inputs, "kubernetesNetworkConfig", "serviceIpv4Cidr")
    if services:  # the service `kubernetes` has the first address
        addresses = addresses | Addresses.of_place(str(services), 1)
    public = is_on(network, "endpointPublicAccess") or value_at(network, "endpointPublicAccess") is None
    admitted = texts_at(network, "publicAccessCidrs") or ["0.0.0.0/0"]
    yield Place(
        "Kubernetes API",
        "service",
        addresses,
        security_groups=frozenset((cluster_group(cluster), *texts_at(network, "securityGroupIds"))),
        subnets=frozenset(subnets),
        ports=(HTTPS,),
    )
    if public:
        yield Place(
            "Kubernetes API, public endpoint",
            "service",
            INTERNET,
            public_to=Addresses.of(*admitted),
            ports=(HTTPS,),
        )


def _databases(resources: Resources) -> Iterator[Place]:
    for found in resources.of(DATABASE):
        subnets = [
            subnet
            for group in resources.referred(found, "dbSubnetGroupName", DATABASE_SUBNETS)
            for subnet in texts_at(group.inputs, "subnetIds")
        ]
        port = int(as_number(value_at(found.inputs, "port")) or POSTGRESQL)
        public = INTERNET if is_on(found.inputs, "publiclyAccessible") else Addresses()
        yield replace(
            _service(resources, f"database {found.name}", subnets, texts_at(found.inputs, "vpcSecurityGroupIds")),
            ports=(Port(port),),
            public_to=public,
        )


def _file_systems(resources: Resources) -> Iterator[Place]:
    for found in resources.of(LUSTRE):
        groups = texts_at(found.inputs, "securityGroupIds")
        subnets = texts_at(found.inputs, "subnetIds")
        yield replace(_service(resources, f"Lustre {found.name}", subnets, groups), ports=LUSTRE_PORTS)
    by_system: dict[str, list[RecordedResource]] = {}
    for target in resources.of(EFS_MOUNT_TARGET):
        by_system.setdefault(str(value_at(target.inputs, "fileSystemId")), []).append(target)
    for system, targets in by_system.items():
        subnets = [str(value_at(target.inputs, "subnetId")) for target in targets]
        groups = [group for target in targets for group in texts_at(target.inputs, "securityGroups")]
        name = next((found.name for found in resources.all if found.id == system), system)
        yield replace(_service(resources, f"EFS {name}", subnets, groups), ports=(NFS,))


def _endpoints(resources: Resources) -> Iterator[Place]:
    for found in resources.of(VPC_ENDPOINT):
        if is_gateway(found):
            continue
        # com.amazonaws.us-east-1.ecr.api
        service = str(value_at(found.inputs, "serviceName")).split(".", 3)[-1]
        groups = texts_at(found.inputs, "securityGroupIds")
        subnets = texts_at(found.inputs, "subnetIds")
        yield replace(_service(resources, f"endpoint {service}", subnets, groups), ports=(HTTPS,))


def _object_store(resources: Resources) -> Place:
    """Where S3 is, as its gateway endpoint tells; any public address where it tells none."""
    told = [found for found in resources.of(VPC_ENDPOINT) if is_object_store(found)]
    blocks = [block for found in told for block in texts_at(found.outputs, "cidrBlocks")]
    lists = (value_at(found.outputs, "prefixListId") for found in told)
    return Place(
        "object store",
        "object store",
        Addresses.of(*blocks) & INTERNET or INTERNET,
        prefix_lists=frozenset(str(name) for name in lists if name),
    )


def _service(resources: Resources, name: str, subnets: Iterable[str], groups: Iterable[str]) -> Place:
    ids = frozenset(subnets)
    known = {found.id for found in resources.of(SUBNET)}
    return Place(
        name, "service", _addresses(resources, ids), security_groups=frozenset(groups), subnets=ids,
        guessed=not ids <= known,
    )  # fmt: skip


def _addresses(resources: Resources, subnets: Iterable[str]) -> Addresses:
    """The addresses of subnets; of one that is not recorded, any private one."""
    known: dict[Any, str] = {found.id: str(value_at(found.inputs, "cidrBlock")) for found in resources.of(SUBNET)}
    ids = set(subnets)
    found = Addresses.of(*(known[subnet] for subnet in ids if subnet in known))
    return found if ids <= set(known) else found | PRIVATE
