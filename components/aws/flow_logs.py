"""Flow logs of a network, in an encrypted log group of their own."""

import pulumi
import pulumi_aws.cloudwatch as cloudwatch
import pulumi_aws.ec2 as ec2
import pulumi_aws.iam as iam

from trainyard.components.aws.identity import check_role_name
from trainyard.components.aws.policy_documents import allow, document, service_trust


def make_flow_logs(
    name: str,
    *,
    vpc_id: pulumi.Input[str],
    region: pulumi.Input[str],
    account_id: pulumi.Input[str],
    retention_days: pulumi.Input[int],
    key_arn: pulumi.Input[str],
    opts: pulumi.ResourceOptions,
) -> None:
    """Writes what is sent and refused in a VPC. `name` begins the names of all; `opts` are those of a child."""
    log_group = cloudwatch.LogGroup(
        f"{name}-flow-logs", retention_in_days=retention_days, kms_key_id=key_arn, opts=opts
    )
    role = iam.Role(
        check_role_name(f"{name}-flow-logs"),
        description="Lets VPC flow logs write to their log group",
        assume_role_policy=service_trust(
            "vpc-flow-logs.amazonaws.com",
            account_id,
            pulumi.Output.concat("arn:aws:ec2:", region, ":", account_id, ":vpc-flow-log/*"),
        ),
        opts=opts,
    )
    write = [
        "logs:CreateLogStream",
        "logs:DescribeLogGroups",
        "logs:DescribeLogStreams",
        "logs:PutLogEvents",
    ]
    permission = iam.RolePolicy(
        f"{name}-flow-logs",
        role=role.name,
        policy=document([allow("WriteFlowLogs", write, [log_group.arn, pulumi.Output.concat(log_group.arn, ":*")])]),
        opts=opts,
    )
    ec2.FlowLog(
        f"{name}-flow-log",
        vpc_id=vpc_id,
        traffic_type="ALL",
        log_destination_type="cloud-watch-logs",
        log_destination=log_group.arn,
        iam_role_arn=role.arn,
        max_aggregation_interval=600,
        tags={"Name": name},
        opts=pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(depends_on=[permission])),
    )
