"""Where things stand: in one VPC, in zones that have nodes, on addresses that are nobody else's."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator

from trainyard.recorded.drivers import EFS_DRIVER
from trainyard.recorded.types import (
    DATABASE,
    DATABASE_SUBNETS,
    EFS,
    EFS_MOUNT_TARGET,
    EKS_CLUSTER,
    LUSTRE,
    NAT_GATEWAY,
    SECURITY_GROUP,
    VOLUME,
    VPC_CIDR,
    VPC_ENDPOINT,
)
from trainyard.rehearsal.context import View
from trainyard.rehearsal.works.flows.aws.places import NFS
from trainyard.rehearsal.works.paths.aws.endpoints import Endpoints
from trainyard.rehearsal.works.paths.aws.groups import Groups
from trainyard.rehearsal.works.paths.aws.network import Network
from trainyard.rehearsal.works.paths.aws.node_groups import NodeGroup


def check(network: Network, groups: list[NodeGroup], endpoints: Endpoints, walls: Groups) -> None:
    """Notes what stands where nobody gets to it."""
    for group in groups:
        _group_apart(network, group)
    _groups_of_other_vpcs(network)
    _stores(network, groups)
    _mount_targets(network, groups, walls)
    _services(network)
    _addresses_of_nat(network)
    _twice_named(endpoints)


def _group_apart(network: Network, group: NodeGroup) -> None:
    """Nodes and the control plane's interfaces are of one VPC."""
    if group.cluster is None:
        return
    plane = set(_vpcs(network, group.cluster.texts("vpcConfig.subnetIds")))
    own = set(_vpcs(network, group.subnets))
    if plane and own and not plane & own:
        group.view.error(
            "paths-other-vpc",
            "subnetIds",
            f"the nodes are in another VPC than the control plane of {group.cluster.name}",
            allowed="subnets of the cluster's VPC",
        )


def _vpcs(network: Network, subnets: Iterator[str] | list[str] | tuple[str, ...]) -> Iterator[str]:
    for subnet in subnets:
        vpc = network.subnets[subnet].text("vpcId") if subnet in network.subnets else None
        if vpc is not None:
            yield vpc


def _groups_of_other_vpcs(network: Network) -> None:
    """An interface takes security groups of its own VPC alone."""
    groups = {
        view.resource.id: view for view in network.stack.of_type(SECURITY_GROUP) if view.text("vpcId") is not None
    }
    asked = (
        (LUSTRE, "subnetIds", "securityGroupIds"),
        (EFS_MOUNT_TARGET, "subnetId", "securityGroups"),
        (VPC_ENDPOINT, "subnetIds", "securityGroupIds"),
    )
    for type_, where, key in asked:
        for view in network.stack.of_type(type_):
            subnets = view.texts(where) or [text for text in [view.text(where)] if text]
            vpcs = set(_vpcs(network, subnets))
            for group in view.texts(key):
                found = groups.get(group)
                if vpcs and found is not None and found.text("vpcId") not in vpcs:
                    view.error(
                        "paths-other-vpc",
                        key,
                        f"security group {found.name} is of another VPC",
                        allowed="groups of the VPC that it stands in",
                    )


def _stores(network: Network, groups: list[NodeGroup]) -> None:
    """A database or a file system of another VPC is reached by nobody, unless a route leads there."""
    nodes = {vpc for group in groups for vpc in _vpcs(network, group.subnets)}
    if not nodes or any(network.leads_elsewhere(subnet) for group in groups for subnet in group.subnets):
        return
    for view in network.stack.of_type(DATABASE):
        subnets = view.referred("dbSubnetGroupName", DATABASE_SUBNETS)
        if subnets is not None and not view.flag("publiclyAccessible"):
            _apart(network, nodes, view, "dbSubnetGroupName", subnets.texts("subnetIds"))
    for view in network.stack.of_type(LUSTRE):
        _apart(network, nodes, view, "subnetIds", [*view.texts("subnetIds"), view.text("subnetIds") or ""])
    for view in network.stack.of_type(EFS_MOUNT_TARGET):
        _apart(network, nodes, view, "subnetId", [view.text("subnetId") or ""])


def _apart(network: Network, nodes: set[str], view: View, path: str, subnets: list[str]) -> None:
    vpcs = set(_vpcs(network, subnets))
    if vpcs and not nodes & vpcs:
        view.error(
            "paths-store-apart",
            path,
            "it is in another VPC than every node, and no route leads there",
            allowed="subnets of the nodes' VPC, or a peering with routes both ways",
        )


def _mount_targets(network: Network, groups: list[NodeGroup], walls: Groups) -> None:
    """The name of a file system of EFS leads to the mount target of the zone that asks (EFS user guide, "Mounting on
    Amazon EC2 with a DNS name", 2026-11)."""
    stack = network.stack
    handles = [
        str(view.text("spec.csi.volumeHandle") or "").partition(":")[0]
        for view in stack.of_type(VOLUME)
        if view.text("spec.csi.driver") == EFS_DRIVER
    ]
    for system in stack.of_type(EFS):
        if system.resource.id not in handles or system.has("availabilityZoneName") or system.resource.read:
            continue
        targets = [
            view for view in stack.of_type(EFS_MOUNT_TARGET) if view.text("fileSystemId") in (None, system.resource.id)
        ]
        if not targets:
            system.error(
                "paths-no-mount-target",
                "",
                "volumes are on this file system, and it has no mount target",
                allowed="a MountTarget in each zone that has nodes",
            )
            continue
        _closed_targets(network, groups, walls, targets)
        zones = {_zone(network, view.text("subnetId")) for view in targets}
        if None in zones:
            continue
        for group in groups:
            own = {zone for subnet in group.subnets if (zone := _zone(network, subnet)) is not None}
            missing = sorted(own - {zone for zone in zones if zone is not None})
            if missing:
                system.warning(
                    "paths-no-mount-target",
                    "",
                    f"nodes of {group.view.name} are in {', '.join(missing)}, where it has no mount target",
                    allowed="a MountTarget in each zone that has nodes",
                )
                break


def _closed_targets(network: Network, groups: list[NodeGroup], walls: Groups, targets: list[View]) -> None:
    """Nodes of a zone come to its own mount target; groups that all of them have are asked as flows of the cluster."""
    every = [walls.of(target, "securityGroups") for target in targets]
    if len(set(every)) == 1:
        return
    for target, stated in zip(targets, every, strict=True):
        zone = _zone(network, target.text("subnetId"))
        near = [group for group in groups if zone in {_zone(network, subnet) for subnet in group.subnets}]
        said = [walls.closed_into(stated, group, NFS) for group in near] if zone else []
        if said and all(said):
            target.error(
                "paths-mount-target-closed",
                "securityGroups",
                f"{said[0]}: its files are not mounted in {zone}",
                allowed=f"a group that lets nodes in on {NFS}, as the other mount targets have",
            )


def _zone(network: Network, subnet: str | None) -> str | None:
    found = network.subnets.get(subnet or "")
    return found.text("availabilityZone") if found else None


def _services(network: Network) -> None:
    """Addresses of services are nobody's on the network: what has one of them is not reached from the cluster (EKS user
    guide, "Amazon EKS networking requirements for VPC and subnets", 2026-11)."""
    for cluster in network.stack.of_type(EKS_CLUSTER):
        own = _block(cluster.text("kubernetesNetworkConfig.serviceIpv4Cidr"))
        if own is None:
            continue
        for vpc in set(_vpcs(network, cluster.texts("vpcConfig.subnetIds"))):
            found = network.vpcs.get(vpc)
            blocks = [found.text("cidrBlock")] if found else []
            blocks += [view.text("cidrBlock") for view in network.stack.of_type(VPC_CIDR) if view.text("vpcId") == vpc]
            for text in blocks:
                block = _block(text)
                if block is not None and block.overlaps(own):
                    cluster.error(
                        "paths-services-on-network",
                        "kubernetesNetworkConfig.serviceIpv4Cidr",
                        f"{own} overlaps {block} of the cluster's VPC: what has an address there is not reached",
                        allowed="a block outside of the VPC and of the networks that it is peered with",
                    )


def _block(text: str | None) -> ipaddress.IPv4Network | None:
    try:
        return ipaddress.IPv4Network(text) if text else None
    except ValueError:
        return None  # the check of values tells it


def _addresses_of_nat(network: Network) -> None:
    """A public NAT gateway has an address of its own (EC2 API, CreateNatGateway, 2026-11)."""
    for view in network.stack.of_type(NAT_GATEWAY):
        public = view.text("connectivityType") in (None, "public") and not view.is_unknown("connectivityType")
        if public and view.has("subnetId") and view.lacks("allocationId") and view.lacks("availabilityMode"):
            view.error(
                "paths-nat-without-address",
                "allocationId",
                "a public NAT gateway has an Elastic IP address",
                allowed="the allocation of an Eip, or connectivityType private",
            )


def _twice_named(endpoints: Endpoints) -> None:
    """A name leads to one endpoint of a VPC."""
    for (_, service), views in endpoints.interfaces.items():
        named = [view for view in views if view.flag("privateDnsEnabled")]
        for view in named[1:]:
            view.error(
                "paths-endpoint-twice",
                "privateDnsEnabled",
                f"endpoint {named[0].name} already has the name of {service} in this VPC",
                allowed="one endpoint with private names for each service of a VPC",
            )
