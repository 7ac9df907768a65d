"""Rules between security groups, one resource a rule.

Separate rule resources (rather than inline blocks) let two groups name each other, and let a group of another
component gain a rule without that component knowing of it.
"""

from collections.abc import Mapping
from typing import Literal

import pulumi
import pulumi_aws.ec2 as ec2
import pulumi_aws.vpc as vpc

Direction = Literal["ingress", "egress"]

BOTH_DIRECTIONS: tuple[Direction, Direction] = ("ingress", "egress")


def access_group(
    name: str,
    *,
    service: str,
    description: str,
    port: int,
    vpc_id: pulumi.Input[str],
    client_security_group_ids: Mapping[str, pulumi.Input[str]],
    parent: pulumi.Resource,
) -> ec2.SecurityGroup:
    """The group `<name>-access` of a service on one TCP port: its clients come in, and nothing leaves.

    `client_security_group_ids` are by a short name that stays (`cluster`); `service` is what the rules' descriptions
    call it ("PostgreSQL").
    """
    group = ec2.SecurityGroup(
        f"{name}-access", description=description, vpc_id=vpc_id, opts=pulumi.ResourceOptions(parent=parent)
    )
    for client, client_group in client_security_group_ids.items():
        allow_tcp(
            f"{name}-ingress-{client}",
            direction="ingress",
            security_group_id=group.id,
            peer_security_group_id=client_group,
            ports=(port, port),
            description=f"{service} from {client}",
            parent=parent,
        )
    return group


def allow_tcp(
    name: str,
    *,
    direction: Direction,
    security_group_id: pulumi.Input[str],
    peer_security_group_id: pulumi.Input[str],
    ports: tuple[int, int],
    description: str,
    parent: pulumi.Resource,
) -> vpc.SecurityGroupIngressRule | vpc.SecurityGroupEgressRule:
    """Opens TCP `ports` (first and last, both included) between a security group and a peer group.

    `direction` is seen from `security_group_id`. AWS allows letters, digits, spaces and `._-:/()#,@[]+=&;{}!$*` in
    `description`, at most 255 characters.
    """
    rule = vpc.SecurityGroupIngressRule if direction == "ingress" else vpc.SecurityGroupEgressRule
    return rule(
        name,
        security_group_id=security_group_id,
        referenced_security_group_id=peer_security_group_id,
        ip_protocol="tcp",
        from_port=ports[0],
        to_port=ports[1],
        description=description,
        opts=pulumi.ResourceOptions(parent=parent),
    )
