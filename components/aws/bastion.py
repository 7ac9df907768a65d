"""The way to a private API server from outside: an instance that nothing but Session Manager reaches.

It has no public address, no inbound rule and no key pair: the agent on it asks Systems Manager for sessions, and a
session forwards one local port to the API server (`trainyard tunnel`). Who may start one is a right of IAM
(`ssm:StartSession`), and each start is an event of the trail; what goes through is TLS to the API server, of which
Session Manager logs nothing (Systems Manager user guide, "Logging session activity": not for port forwarding, 2026-11).
It keeps nothing, so an older image of it is mended by `pulumi up --replace`.
"""

from collections.abc import Mapping
from typing import NotRequired, TypedDict

import pulumi
import pulumi_aws.ec2 as ec2
import pulumi_aws.iam as iam
import pulumi_aws.vpc as vpc

from trainyard.components.aws.identity import check_role_name
from trainyard.components.aws.nodes import agent_sessions, metadata_options
from trainyard.components.aws.policy_documents import document, service_trust
from trainyard.components.outputs import register
from trainyard.conventions.aws import BASTION_DISK_GIB

IMAGE = "al2023-ami-2023.*-x86_64"
"""Name of Amazon Linux 2023's images, which have the agent (Systems Manager user guide, "AMIs with SSM Agent
preinstalled", 2026-11)."""


class BastionArgs(TypedDict):
    """What `Bastion` needs."""

    vpc_id: pulumi.Input[str]
    """Id of the VPC that the API server is in."""
    subnet_id: pulumi.Input[str]
    """Private subnet of the instance, with a way out to Systems Manager."""
    instance_type: pulumi.Input[str]
    """Instance type of x86, such as `t3.nano`: it forwards one connection."""
    name_tag: str
    """Value of its tag `Name`, by which `trainyard tunnel` finds it."""
    tags: NotRequired[Mapping[str, pulumi.Input[str]]]
    """Tags of its volume, which no provider's default tags reach. Default: none."""


class Bastion(pulumi.ComponentResource):
    """The instance with its role and its group. What `depends_on` names is its way out: the agent gives up for long
    where it finds none at its start."""

    security_group_id: pulumi.Output[str]
    """Id of its security group, which the API server has to let in."""
    instance_id: pulumi.Output[str]
    """Id of the instance, the target of a session."""

    def __init__(self, name: str, args: BastionArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("trainyard:index:Bastion", name, None, opts)
        child = pulumi.ResourceOptions(parent=self)
        role = iam.Role(
            check_role_name(name),
            description="Instance that forwards Session Manager's sessions to the API server",
            assume_role_policy=service_trust("ec2.amazonaws.com"),
            opts=child,
        )
        permission = iam.RolePolicy(name, role=role.name, policy=document([agent_sessions()]), opts=child)
        profile = iam.InstanceProfile(name, role=role.name, opts=child)
        group = ec2.SecurityGroup(
            name,
            vpc_id=args["vpc_id"],
            description="Bastion: nobody comes in, HTTPS goes out",
            tags={"Name": args["name_tag"]},
            opts=child,
        )
        out = vpc.SecurityGroupEgressRule(
            f"{name}-https",
            security_group_id=group.id,
            description="HTTPS to the API server and to Systems Manager",
            ip_protocol="tcp",
            from_port=443,
            to_port=443,
            cidr_ipv4="0.0.0.0/0",
            opts=child,
        )
        image = ec2.get_ami_output(
            owners=["amazon"],
            most_recent=True,
            filters=[{"name": "name", "values": [IMAGE]}],
            opts=pulumi.InvokeOutputOptions(parent=self),
        )
        instance = ec2.Instance(
            name,
            ami=image.id,
            instance_type=args["instance_type"],
            subnet_id=args["subnet_id"],
            vpc_security_group_ids=[group.id],
            iam_instance_profile=profile.name,
            associate_public_ip_address=False,
            ebs_optimized=True,
            metadata_options=metadata_options(),
            root_block_device={
                "encrypted": True,
                "volume_type": "gp3",
                "volume_size": BASTION_DISK_GIB,
                "tags": {"Name": args["name_tag"], **args.get("tags", {})},
            },
            tags={"Name": args["name_tag"]},
            # A newer image would replace it in the middle of an `up` that goes through it.
            opts=pulumi.ResourceOptions(parent=self, depends_on=[permission, out], ignore_changes=["ami"]),
        )
        self.security_group_id = group.id
        self.instance_id = instance.id
        register(self)
