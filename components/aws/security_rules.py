"""Rules between security groups, one resource a rule.

Separate rule resources (rather than inline blocks) let two groups name each other, and let a group of another
component gain a rule without that component knowing of it.
"""

from typing import Literal

import pulumi
import pulumi_aws.vpc as vpc

Direction = Literal["ingress", "egress"]

BOTH_DIRECTIONS: tuple[Direction, Direction] = ("ingress", "egress")


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
