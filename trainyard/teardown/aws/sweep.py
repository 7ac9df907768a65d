"""Network interfaces that nodes leave behind: they hold their subnet and security group, so that neither goes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from trainyard.account.aws import Account, RefusedError, tags_in

Say = Callable[[str], None]

CNI_KEY: Final = "cluster.k8s.amazonaws.com/name"
"""Tag of the VPC CNI on the interfaces that it makes: the cluster's name (amazon-vpc-cni-k8s, 2026-11)."""


def sweep_interfaces(clusters: Sequence[str], account: Account, say: Say) -> int:
    """Deletes the interfaces that the CNI of these clusters made and nothing uses; how many there were."""
    if not clusters:
        return 0
    wanted = [{"Name": f"tag:{CNI_KEY}", "Values": list(clusters)}, {"Name": "status", "Values": ["available"]}]
    swept = 0
    for each in list(account.each("ec2", "describe_network_interfaces", "NetworkInterfaces", Filters=wanted)):
        if tags_in(each).get(CNI_KEY) not in clusters or each["Status"] != "available":
            continue
        say(f"deleting network interface {each['NetworkInterfaceId']}, which a node left behind")
        try:
            account.call("ec2", "delete_network_interface", NetworkInterfaceId=each["NetworkInterfaceId"])
        except RefusedError as error:
            if not error.is_absence:
                raise
        swept += 1
    return swept


def sweep_groups(domains: Sequence[str], account: Account, say: Say) -> int:
    """Deletes the security groups that SageMaker makes for a domain's homes and leaves behind; how many there were.

    They hold the VPC, and each other by their rules. Their names are as generally known (2026-11); a group of another
    name stays, and the proof lists the VPC that it holds.
    """
    names = [f"security-group-for-{way}-nfs-{domain}" for domain in domains for way in ("inbound", "outbound")]
    if not names:
        return 0
    wanted = [{"Name": "group-name", "Values": names}]
    groups = list(account.each("ec2", "describe_security_groups", "SecurityGroups", Filters=wanted))
    for each in groups:
        for operation, key in (
            ("revoke_security_group_ingress", "IpPermissions"),
            ("revoke_security_group_egress", "IpPermissionsEgress"),
        ):
            if each.get(key):
                account.call("ec2", operation, GroupId=each["GroupId"], IpPermissions=each[key])
    for each in groups:
        say(f"deleting security group {each['GroupName']}, which SageMaker left behind")
        account.call("ec2", "delete_security_group", GroupId=each["GroupId"])
    return len(groups)
