"""What runs in subnets beside the nodes of clusters: functions, builds, batches, and the file systems that they mount.

Sources: AWS Lambda Developer Guide, "Giving functions in a VPC access to the internet" (a function has no public
address); AWS CodeBuild User Guide, "Use AWS CodeBuild with Amazon VPC" (the same); AWS Batch User Guide, "Compute
resource VPC" (instances talk to the endpoints of Amazon ECS); Amazon EFS User Guide, "Mount targets": a file system is
mounted by its name in zones with a mount target alone (2026-11).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from trainyard.recorded.read import UnreadableInput, follow
from trainyard.recorded.types import (
    BATCH_DEFINITION,
    BATCH_ENVIRONMENT,
    BUILD_PROJECT,
    EFS,
    EFS_MOUNT_TARGET,
    FUNCTION,
    SECURITY_GROUP,
    SECURITY_GROUP_EGRESS_RULE,
    SECURITY_GROUP_INGRESS_RULE,
    SECURITY_GROUP_RULE,
    VPC_ENDPOINT,
)
from trainyard.rehearsal.context import View, listed
from trainyard.rehearsal.works.flows.addresses import INTERNET
from trainyard.rehearsal.works.flows.aws.network_acls import ANSWERED_ON, NetworkAcls
from trainyard.rehearsal.works.paths.aws.network import Network


@dataclass(frozen=True, slots=True)
class _Worker:
    type: str
    subnets: str
    groups: str
    what: str
    has_address: bool = False  # whether a subnet may give it a public one
    service: str = ""  # without which it does not even start: the last part of an endpoint's name


_WORKERS: Final = (
    _Worker(FUNCTION, "vpcConfig.subnetIds", "vpcConfig.securityGroupIds", "the function"),
    _Worker(BUILD_PROJECT, "vpcConfig.subnets", "vpcConfig.securityGroupIds", "the build", service="logs"),
    _Worker(BATCH_ENVIRONMENT, "computeResources.subnets", "computeResources.securityGroupIds", "the machines", True,
            "ecs"),
)  # fmt: skip


def check(network: Network) -> None:
    """Every worker in every one of its subnets."""
    acls: NetworkAcls | None = None
    for worker in _WORKERS:
        for view in network.stack.of_type(worker.type):
            subnets = [subnet for subnet in view.texts(worker.subnets) if subnet in network.subnets]
            if view.resource.read or not subnets:
                continue
            acls = acls or NetworkAcls.recorded(network.stack.resources)
            _leads_out(network, worker, view, subnets)
            _answered(network, worker, view, subnets, acls)
            _let_out(network, worker, view)
    _mounted(network)


def _leads_out(network: Network, worker: _Worker, view: View, subnets: list[str]) -> None:
    for subnet in subnets:
        place = network.subnets[subnet]
        addressed = worker.has_address and place.value("mapPublicIpOnLaunch") not in (None, False)
        way = network.internet(subnet, public=addressed)
        by_gateway = network.internet(subnet, public=True).open is True
        if way.open is not False or (worker.has_address and view.has("computeResources.launchTemplate") and by_gateway):
            continue
        if by_gateway:  # the subnet of somebody who meant the way out
            view.warning(
                "paths-worker-no-way-out", worker.subnets,
                f"{worker.what} has no public address in subnet {place.name}, which leads to an internet gateway: "
                "nothing outside is reached", allowed="subnets that lead to a NAT gateway",
            )  # fmt: skip
            return
        on_eks = view.has("eksConfiguration")  # its machines join a cluster of EKS, which has rules of its own
        if worker.service and not on_eks and not _has_endpoint(network, worker.service):
            view.error(
                "paths-worker-no-way-out", worker.subnets,
                f"{worker.what} in subnet {place.name} cannot reach the service {worker.service}: {way.why}",
                allowed=f"a route to a NAT gateway, or an interface endpoint of {worker.service}",
            )  # fmt: skip
            return


def _has_endpoint(network: Network, service: str) -> bool:
    names = [view.text("serviceName") for view in network.stack.of_type(VPC_ENDPOINT)]
    return any(name is None or name.rpartition(".")[2] == service for name in names)


def _answered(network: Network, worker: _Worker, view: View, subnets: list[str], acls: NetworkAcls) -> None:
    for subnet in subnets:
        if subnet not in acls.by_subnet or network.internet(subnet, public=worker.has_address).open is not True:
            continue
        for ports, egress, what in (((443,), True, "TCP 443 out"), (ANSWERED_ON, False, "answers in")):
            if not acls.lets(subnet, INTERNET, ports, "TCP", egress=egress):
                network.view_of(acls.by_subnet[subnet]).error(
                    "paths-acl-closed", "", f"lets no {what} by, and {worker.what} of {view.name} needs the internet",
                    allowed="rules for TCP 443 out, and for ports 1024 to 65535 in",
                )  # fmt: skip


def _let_out(network: Network, worker: _Worker, view: View) -> None:
    """One of its groups lets something out: the provider takes the rule away that a group of EC2 begins with."""
    ids = view.texts(worker.groups)
    made = {group.resource.id: group for group in network.stack.of_type(SECURITY_GROUP) if not group.resource.read}
    groups = [made[id_] for id_ in ids if id_ in made]
    if not ids or len(groups) < len(view.entries(worker.groups)):
        return
    rules = [
        rule
        for type_ in (SECURITY_GROUP_EGRESS_RULE, SECURITY_GROUP_RULE)
        for rule in network.stack.of_type(type_)
        if rule.text("type") in (None, "egress") and rule.text("securityGroupId") in (None, *ids)
    ]
    if not rules and all(group.lacks("egress") or group.value("egress") == [] for group in groups):
        groups[0].warning(
            "paths-worker-shut-in", "egress", f"nothing is let out, and {worker.what} {view.name} has no other group",
            allowed="a rule of egress",
        )  # fmt: skip


def _mounted(network: Network) -> None:
    """A file system of the stack that jobs mount has a mount target in each of their zones."""
    zones = {
        zone
        for view in network.stack.of_type(BATCH_ENVIRONMENT)
        for subnet in view.texts("computeResources.subnets")
        if subnet in network.subnets and (zone := network.subnets[subnet].text("availabilityZone"))
    }
    groups = {
        group
        for view in network.stack.of_type(BATCH_ENVIRONMENT)
        for group in view.texts("computeResources.securityGroupIds")
    }
    if not zones:
        return
    for job in network.stack.of_type(BATCH_DEFINITION):
        for system in _systems(job):
            targets = [one for one in network.stack.of_type(EFS_MOUNT_TARGET) if one.text("fileSystemId") == system]
            places = [network.subnets.get(one.text("subnetId") or "") for one in targets]
            made = any(str(one.resource.id) == system for one in network.stack.of_type(EFS) if not one.resource.read)
            if not made or not targets or None in places:
                continue
            for target in targets if groups else ():
                if not _lets_in(network, target, groups):
                    target.error(
                        "paths-worker-nfs", "securityGroups",
                        f"no group of the mount target lets TCP 2049 in from the machines that run {job.name}: its "
                        "volume is never mounted", allowed="a rule of ingress for TCP 2049 from their group",
                    )  # fmt: skip
            there = {place.text("availabilityZone") for place in places if place is not None}
            if missing := sorted(zones - there) if None not in there else []:
                job.warning(  # as long as its queue starts it elsewhere, nothing fails
                    "paths-no-mount-target", "containerProperties",
                    f"mounts {system}, which has no mount target in {', '.join(missing)}, where its machines may start",
                    allowed="a mount target in each zone",
                )  # fmt: skip


_NFS: Final = 2049


def _lets_in(network: Network, target: View, wanted: set[str]) -> bool:
    """Whether some rule of a mount target's groups lets NFS in from one of the groups, or may."""
    own = target.texts("securityGroups")
    made = {group.resource.id: group for group in network.stack.of_type(SECURITY_GROUP) if not group.resource.read}
    if not own or any(group not in made for group in own):
        return True
    for group in own:
        if made[group].blurred("ingress"):
            return True
        for path, _ in made[group].items("ingress"):
            sources = [*made[group].texts(f"{path}.securityGroups")]
            sources += [group] if made[group].flag(f"{path}.self") else []
            blocks = bool(made[group].entries(f"{path}.cidrBlocks"))
            if _is_nfs(made[group], f"{path}.", "protocol") and (blocks or wanted & set(sources)):
                return True
    for type_, protocol in ((SECURITY_GROUP_INGRESS_RULE, "ipProtocol"), (SECURITY_GROUP_RULE, "protocol")):
        for rule in network.stack.of_type(type_):
            if rule.text("type") == "egress" or rule.text("securityGroupId") not in (None, *own):
                continue
            source = rule.text("referencedSecurityGroupId") or rule.text("sourceSecurityGroupId")
            if rule.flag("self"):
                source = rule.text("securityGroupId")
            if _is_nfs(rule, "", protocol) and (source is None or source in wanted):
                return True
    return False


def _is_nfs(view: View, prefix: str, protocol: str) -> bool:
    name = str(view.value(f"{prefix}{protocol}") or "").lower()
    start, end = view.number(f"{prefix}fromPort"), view.number(f"{prefix}toPort")
    return name in ("-1", "all", "") or (
        name in ("tcp", "6") and (start is None or end is None or start <= _NFS <= end)
    )


def _systems(job: View) -> Iterator[str]:
    try:
        content = json.loads(job.text("containerProperties") or "{}")
    except ValueError:
        return
    for volume in listed(content.get("volumes")) if isinstance(content, dict) else ():
        try:
            found = follow(volume, "efsVolumeConfiguration", "fileSystemId")
        except UnreadableInput:
            continue
        if isinstance(found, str):
            yield found
