"""What tells that a cluster's monitoring is silent: an alarm of the account's, on the messages of a topic.

Alertmanager publishes to the topic every few minutes for as long as Prometheus evaluates rules and alerts leave the
cluster. Nobody subscribes to it: that messages come is all that there is to know. Where they stop, for whichever
reason, the alarm goes to the environment's own topic.
"""

from typing import NotRequired, TypedDict

import pulumi
import pulumi_aws.cloudwatch as cloudwatch
import pulumi_aws.sns as sns

from trainyard.components.aws.budget import of_figures
from trainyard.components.outputs import register
from trainyard.conventions.monitoring import RUNBOOKS

MINUTES = 15
"""How long messages may be missing: three times as long as Alertmanager takes between two at most."""


class WatchdogArgs(TypedDict):
    """What `Watchdog` needs."""

    key_arn: pulumi.Input[str]
    """KMS key of the topic. Its policy must let roles of the account use it through SNS."""
    alert_topic_arn: pulumi.Input[str]
    """Topic that the alarm goes to. Its policy must let CloudWatch publish."""
    cluster_name: str
    """Name of the cluster, for whoever reads the alarm."""
    figures_account_id: NotRequired[pulumi.Input[str]]
    """Account whose workspaces of Amazon Managed Service for Prometheus publish to the topic. Default: roles of the
    account do, as their IAM policies say, and no service."""
    runbooks: NotRequired[str]
    """The address that the runbooks' pages are below. Default `docs/runbooks`, in Trainyard's repository."""


class Watchdog(pulumi.ComponentResource):
    """A topic that a cluster publishes to, and an alarm where it does not."""

    topic_arn: pulumi.Output[str]
    """ARN of the topic that the cluster publishes to."""

    def __init__(self, name: str, args: WatchdogArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("trainyard:index:Watchdog", name, None, opts)
        child = pulumi.ResourceOptions(parent=self)
        topic = sns.Topic(f"{name}-topic", kms_master_key_id=args["key_arn"], signature_version=2, opts=child)
        self.topic_arn = topic.arn
        if "figures_account_id" in args:
            own = args["figures_account_id"]
            sns.TopicPolicy(
                f"{name}-topic-policy",
                arn=topic.arn,
                policy=pulumi.Output.json_dumps({"Version": "2012-10-17", "Statement": [of_figures(topic.arn, own)]}),
                opts=child,
            )
        cloudwatch.MetricAlarm(
            f"{name}-silent",
            alarm_description=(
                f"Monitoring of cluster {args['cluster_name']} is silent: no alert would arrive. "
                f"{args.get('runbooks', RUNBOOKS)}/watchdog.md"
            ),
            namespace="AWS/SNS",
            metric_name="NumberOfMessagesPublished",
            dimensions={"TopicName": topic.name},
            statistic="Sum",
            period=MINUTES * 60,
            evaluation_periods=1,
            comparison_operator="LessThanThreshold",
            threshold=1,
            treat_missing_data="breaching",
            alarm_actions=[args["alert_topic_arn"]],
            ok_actions=[args["alert_topic_arn"]],
            opts=child,
        )
        register(self)
