"""What is left of machines and of the network: instances, disks, addresses, gateways, balancers, clusters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from trainyard.account.aws import tags_in
from trainyard.problems import count
from trainyard.teardown.aws.prices import machine_usd, usd
from trainyard.teardown.aws.search import Finder, Search
from trainyard.teardown.model import Left

_GONE: Final = ("terminated", "shutting-down")


def instances(search: Search) -> Iterator[Left]:
    """Machines; one that is stopped costs its disks alone, which stand for themselves."""
    for reservation in search.account.each("ec2", "describe_instances", "Reservations"):
        for each in reservation["Instances"]:
            found = search.whose(tags_in(each))
            state = each["State"]["Name"]
            if found is None or state in _GONE:
                continue
            price = 0.0 if state == "stopped" else machine_usd(each["InstanceType"])
            told = f"{each['InstanceType']}, {state}"
            command = f"aws ec2 terminate-instances --instance-ids {each['InstanceId']} --region {search.region}"
            yield Left(
                "instance",
                each["InstanceId"],
                found,
                price,
                told,
                _arn(search, "instance", each["InstanceId"]),
                command,
            )


def volumes(search: Search) -> Iterator[Left]:
    """Disks: those of claims outlive their cluster where the driver went first."""
    for each, found in search.own("ec2", "describe_volumes", "Volumes"):
        id_, size = each["VolumeId"], each["Size"]
        price = usd(f"ebs.{each.get('VolumeType', 'gp2')}", size)
        told = f"{size} GiB {each.get('VolumeType', 'gp2')}, {each['State']}"
        command = f"aws ec2 delete-volume --volume-id {id_} --region {search.region}"
        yield Left("volume", id_, found, price, told, _arn(search, "volume", id_), command)


def snapshots(search: Search) -> Iterator[Left]:
    """Copies of disks, at most at their full size."""
    for each, found in search.own("ec2", "describe_snapshots", "Snapshots", OwnerIds=["self"]):
        id_, size = each["SnapshotId"], each["VolumeSize"]
        command = f"aws ec2 delete-snapshot --snapshot-id {id_} --region {search.region}"
        told = f"at most {size} GB"
        yield Left("snapshot", id_, found, usd("ebs.snapshot", size), told, _arn(search, "snapshot", id_), command)


def interfaces(search: Search) -> Iterator[Left]:
    """Network interfaces: free, and what holds a subnet and its VPC."""
    for each in search.account.each("ec2", "describe_network_interfaces", "NetworkInterfaces"):
        found = search.whose(tags_in(each))
        if found is None and not _describes(each.get("Description", ""), search):
            continue
        id_ = each["NetworkInterfaceId"]
        command = f"aws ec2 delete-network-interface --network-interface-id {id_} --region {search.region}"
        told = f"{each['Status']}, in {each.get('SubnetId', 'no subnet')}: holds its subnet and the VPC"
        yield Left(
            "network interface", id_, found or "name", 0.0, told, _arn(search, "network-interface", id_), command
        )


def _describes(description: str, search: Search) -> bool:
    """Whether EKS says that an interface is one of the cluster's control plane."""
    return any(description == f"Amazon EKS {cluster}" for cluster in search.clusters)


def addresses(search: Search) -> Iterator[Left]:
    """Public addresses, paid for whether or not something uses them."""
    for each, found in search.own("ec2", "describe_addresses", "Addresses"):
        id_ = each["AllocationId"]
        command = f"aws ec2 release-address --allocation-id {id_} --region {search.region}"
        told = f"{each.get('PublicIp', '')}, {'used' if each.get('AssociationId') else 'used by nothing'}"
        yield Left("public address", id_, found, usd("public-ipv4"), told, _arn(search, "elastic-ip", id_), command)


def gateways(search: Search) -> Iterator[Left]:
    """NAT gateways."""
    for each, found in search.own("ec2", "describe_nat_gateways", "NatGateways"):
        id_ = each["NatGatewayId"]
        if each["State"] not in ("deleted", "deleting", "failed"):
            command = f"aws ec2 delete-nat-gateway --nat-gateway-id {id_} --region {search.region}"
            yield Left(
                "NAT gateway", id_, found, usd("nat-gateway"), each["State"], _arn(search, "natgateway", id_), command
            )


def endpoints(search: Search) -> Iterator[Left]:
    """Endpoints in the VPC; those of type Interface are paid for in every zone."""
    for each, found in search.own("ec2", "describe_vpc_endpoints", "VpcEndpoints"):
        id_, interface = each["VpcEndpointId"], each["VpcEndpointType"] == "Interface"
        if str(each.get("State", "")).lower() in ("deleted", "deleting"):
            continue
        zones = len(each.get("SubnetIds", ()))
        price = usd("interface-endpoint", zones) if interface else 0.0
        command = f"aws ec2 delete-vpc-endpoints --vpc-endpoint-ids {id_} --region {search.region}"
        told = f"{each['ServiceName']}, {each['VpcEndpointType']}" + (
            f" in {count(zones, 'zone')}" if interface else ""
        )
        yield Left("VPC endpoint", id_, found, price, told, _arn(search, "vpc-endpoint", id_), command)


def balancers(search: Search) -> Iterator[Left]:
    """Load balancers, which a controller in the cluster makes for a Service or an Ingress."""
    account = search.account
    by_arn = {
        each["LoadBalancerArn"]: each for each in account.each("elbv2", "describe_load_balancers", "LoadBalancers")
    }
    for arns in _some(list(by_arn), 20):
        for tags in account.each("elbv2", "describe_tags", "TagDescriptions", ResourceArns=arns):
            found = search.whose(tags_in(tags))
            if found is not None:
                arn = tags["ResourceArn"]
                command = f"aws elbv2 delete-load-balancer --load-balancer-arn {arn} --region {search.region}"
                told = f"{by_arn[arn]['Type']}, without what it carries"
                yield Left(
                    "load balancer", by_arn[arn]["LoadBalancerName"], found, usd("load-balancer"), told, arn, command
                )
    names = [
        each["LoadBalancerName"] for each in account.each("elb", "describe_load_balancers", "LoadBalancerDescriptions")
    ]
    for some in _some(names, 20):
        for tags in account.each("elb", "describe_tags", "TagDescriptions", LoadBalancerNames=some):
            found, name = search.whose(tags_in(tags)), tags["LoadBalancerName"]
            if found is not None:
                command = f"aws elb delete-load-balancer --load-balancer-name {name} --region {search.region}"
                yield Left(
                    "load balancer", name, found, usd("load-balancer"), "classic, without what it carries", "", command
                )


def reservations(search: Search) -> Iterator[Left]:
    """Reserved machines that the program itself made: paid for until they are given back."""
    for each, found in search.own("ec2", "describe_capacity_reservations", "CapacityReservations"):
        if each["State"] not in ("active", "pending", "scheduled"):
            continue
        id_, machines = each["CapacityReservationId"], each["TotalInstanceCount"]
        one = machine_usd(each["InstanceType"])
        command = f"aws ec2 cancel-capacity-reservation --capacity-reservation-id {id_} --region {search.region}"
        told = f"{machines} × {each['InstanceType']}, {each['State']}"
        price = None if one is None else one * machines
        yield Left("capacity reservation", id_, found, price, told, _arn(search, "capacity-reservation", id_), command)


def clusters(search: Search) -> Iterator[Left]:
    """Clusters of the environment's names."""
    for name in search.account.each("eks", "list_clusters", "clusters"):
        if name in search.clusters:
            there = search.account.call("eks", "describe_cluster", name=name)["cluster"]
            command = f"aws eks delete-cluster --name {name} --region {search.region}"
            told = str(there.get("status", ""))
            yield Left("cluster", name, "name", usd("eks.control-plane"), told, there.get("arn", ""), command)


def networks(search: Search) -> Iterator[Left]:
    """VPCs: free, and there as long as something in them is."""
    for each, found in search.own("ec2", "describe_vpcs", "Vpcs"):
        id_ = each["VpcId"]
        command = f"aws ec2 delete-vpc --vpc-id {id_} --region {search.region}"
        yield Left("VPC", id_, found, 0.0, each["CidrBlock"], _arn(search, "vpc", id_), command)


def _arn(search: Search, kind: str, id_: str) -> str:
    identity = search.account.identity
    return f"arn:{search.account.partition}:ec2:{search.region}:{identity['account']}:{kind}/{id_}"


def _some(items: list[str], most: int) -> Iterator[list[str]]:
    """A list in parts."""
    for at in range(0, len(items), most):
        yield items[at : at + most]


FINDERS: Final[dict[str, tuple[Finder, tuple[str, ...]]]] = {
    "instances": (instances, ("ec2:instance",)),
    "volumes": (volumes, ("ec2:volume",)),
    "snapshots": (snapshots, ("ec2:snapshot",)),
    "network interfaces": (interfaces, ("ec2:network-interface",)),
    "public addresses": (addresses, ("ec2:elastic-ip",)),
    "NAT gateways": (gateways, ("ec2:natgateway",)),
    "VPC endpoints": (endpoints, ("ec2:vpc-endpoint",)),
    "load balancers": (balancers, ("elasticloadbalancing:loadbalancer",)),
    "capacity reservations": (reservations, ("ec2:capacity-reservation",)),
    "clusters": (clusters, ("eks:cluster",)),
    "VPCs": (networks, ("ec2:vpc",)),
}
"""By what a person calls them: who lists them, and the kinds of ARN that they account for."""
