"""The wall around training jobs: machines of a job reach each other and S3, and what else they are given."""

from typing import NotRequired, TypedDict

import pulumi
import pulumi_aws.ec2 as ec2
import pulumi_aws.vpc as vpc

from trainyard.components.outputs import register

ANYWHERE = "0.0.0.0/0"


class TrainingWallArgs(TypedDict):
    """What `TrainingWall` needs."""

    vpc_id: pulumi.Input[str]
    """VPC whose private subnets jobs run in."""
    internet: NotRequired[bool]
    """Whether they reach HTTPS everywhere, as the network's routes let them. Default False: S3's gateway endpoint is
    all that the routes have."""


class TrainingWall(pulumi.ComponentResource):
    """The security group of jobs and, in a private domain, of editors."""

    security_group_id: pulumi.Output[str]
    """Id of the group."""

    def __init__(self, name: str, args: TrainingWallArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """A group admits itself both ways: ranks find each other on any port, and EFA asks for all traffic."""
        super().__init__("trainyard:index:TrainingWall", name, None, opts)
        child = pulumi.ResourceOptions(parent=self)
        group = ec2.SecurityGroup(
            name,
            vpc_id=args["vpc_id"],
            description="Managed training: machines of a job among themselves, HTTPS out",
            tags={"Name": name},
            opts=child,
        )
        self.security_group_id = group.id
        vpc.SecurityGroupIngressRule(
            f"{name}-from-itself",
            security_group_id=group.id,
            description="Ranks of a job, on any port",
            ip_protocol="-1",
            referenced_security_group_id=group.id,
            opts=child,
        )
        vpc.SecurityGroupEgressRule(
            f"{name}-to-itself",
            security_group_id=group.id,
            description="Ranks of a job, on any port",
            ip_protocol="-1",
            referenced_security_group_id=group.id,
            opts=child,
        )
        # Without a NAT gateway the only route out is S3's: the endpoint's own policy says to which buckets.
        vpc.SecurityGroupEgressRule(
            f"{name}-https",
            security_group_id=group.id,
            description="HTTPS, to S3 through its endpoint" + (" and beyond" if args.get("internet") else ""),
            ip_protocol="tcp",
            from_port=443,
            to_port=443,
            cidr_ipv4=ANYWHERE,
            opts=child,
        )
        register(self)
