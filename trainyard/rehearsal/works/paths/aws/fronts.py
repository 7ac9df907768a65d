"""Load balancers of the internet, and machines that mount files at their first start: each stands where that works.

Sources: Elastic Load Balancing, "Subnets for your load balancer" (one of the internet is in subnets with a route to an
internet gateway); Amazon EFS User Guide, "Mounting on Amazon EC2 with a DNS name" (the name is that of the mount target
in the machine's own zone) (2026-11).
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.recorded.types import AUTOSCALING_GROUP, EC2_INSTANCE, EFS, EFS_MOUNT_TARGET, LOAD_BALANCER
from trainyard.rehearsal.context import View
from trainyard.rehearsal.works.paths.aws.network import EVERYWHERE, Network
from trainyard.rehearsal.works.programs.aws.user_data import script_of, template_of


def check(network: Network) -> None:
    """Every load balancer and every mount in user data."""
    for balancer in network.stack.of_type(LOAD_BALANCER):
        _outside(network, balancer)
    systems = [view for view in network.stack.of_type(EFS) if not view.resource.read]
    if systems:
        for view, path, script, subnets in _machines(network):
            for system in systems:
                _mounted(network, view, path, script, subnets, system)


def _outside(network: Network, balancer: View) -> None:
    if balancer.is_unknown("internal") or balancer.flag("internal") or balancer.text("loadBalancerType") == "gateway":
        return
    subnets = balancer.texts("subnets") or [
        str(entry.get("subnetId")) for _, entry in balancer.items("subnetMappings")
    ]  # fmt: skip
    shut = [subnet for subnet in subnets if _is_inside(network, subnet)]
    if shut and not balancer.resource.read:
        names = ", ".join(network.subnets[subnet].name for subnet in shut)
        what = "none" if len(shut) == len(subnets) else "a part"
        balancer.error(
            "paths-front-inside", "subnets" if balancer.has("subnets") else "subnetMappings",
            f"is of the internet, and {names} has no route to an internet gateway: {what} of its addresses answers",
            allowed="public subnets, or internal: true",
        )  # fmt: skip


def _is_inside(network: Network, subnet: str) -> bool:
    """Whether a subnet surely has no way in from the internet: its table leads to no internet gateway."""
    table = network.table_of(subnet) if subnet in network.subnets else None
    if table is None or not network.is_whole(table):
        return False
    routes = network.routes.get(table, [])
    if any(route.destination is None or route.target is None for route in routes):
        return False
    default = [route.kind for route in routes if route.destination == EVERYWHERE]
    wide = any(str(route.destination).endswith(("/1", "/2", "/3", "/4")) for route in routes)
    return default == ["natGatewayId"] or (not default and not wide)


def _machines(network: Network) -> Iterator[tuple[View, str, str, list[str]]]:
    """Machines with their user data: the view that it stands in, its path, the text, their subnets."""
    for view in network.stack.of_type(EC2_INSTANCE):
        path = "userDataBase64" if view.has("userDataBase64") else "userData"
        if view.text("subnetId"):
            yield view, path, script_of(view), [str(view.text("subnetId"))]
    for group in network.stack.of_type(AUTOSCALING_GROUP):
        template = template_of(group)
        if template is not None and not group.blurred("vpcZoneIdentifiers"):
            yield template, "userData", script_of(template), group.texts("vpcZoneIdentifiers")


def _mounted(network: Network, view: View, path: str, script: str, subnets: list[str], system: View) -> None:
    """A script that mounts a file system by its name runs in zones with a mount target."""
    name = system.resource.outputs.get("dnsName")
    targets = [one for one in network.stack.of_type(EFS_MOUNT_TARGET) if one.text("fileSystemId") == system.resource.id]
    if not isinstance(name, str) or name not in script or not targets or view.is_secret(path):
        return
    places = [network.subnets.get(one.text("subnetId") or "") for one in targets]
    there = {place.text("availabilityZone") if place is not None else None for place in places}
    zones = {network.subnets[one].text("availabilityZone") if one in network.subnets else None for one in subnets}
    if None in there or None in zones:
        return
    if missing := sorted(str(zone) for zone in zones - there):
        view.error(
            "paths-no-mount-target", path,
            f"mounts {system.name} in {', '.join(missing)}, where it has no mount target: its name is not known there",
            allowed=f"a mount target in {', '.join(missing)}, or machines in {', '.join(sorted(map(str, there)))}",
        )  # fmt: skip
