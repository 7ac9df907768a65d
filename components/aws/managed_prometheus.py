"""Amazon Managed Service for Prometheus: where a cluster's figures are kept, its rules evaluated and people told.

The rules are those that a PrometheusRule has elsewhere, and the routes those of Alertmanager. What the service says of
itself, that a rule cannot be evaluated or an alert not be delivered, is in its log, which an alarm reads: nothing on
the cluster would know.
"""

from collections.abc import Mapping
from typing import Any, NotRequired, TypedDict

import pulumi
import pulumi_aws.amp as amp
import pulumi_aws.cloudwatch as cloudwatch
import yaml

from trainyard.components.aws.policy_documents import allow
from trainyard.components.k8s.monitoring_values import AlertRouteArgs, routing
from trainyard.components.outputs import register
from trainyard.conventions.monitoring import RUNBOOKS

LONGEST_REPEAT = "5d"
"""How seldom the service tells a notice again at most (user guide, "Create an alert manager configuration",
2026-11)."""

_PROBLEMS = '{ $.message.level = "ERROR" || $.message.level = "WARN" }'
"""What the service logs of rules and routes that fail (user guide, "Monitor Amazon Managed Service for Prometheus
events with CloudWatch Logs")."""
_NAMESPACE = "Trainyard/ManagedPrometheus"


class ManagedPrometheusArgs(TypedDict):
    """What `ManagedPrometheus` needs."""

    cluster_name: str
    """Name of the cluster, which the workspace's alias and its log group's name hold."""
    key_arn: pulumi.Input[str]
    """KMS key of workspace and log. Its policy must let roles of the account use it through the service (`aps`)."""
    retention_days: int
    """Days that figures are kept, 1 to 1095."""
    protect: bool
    """Whether Pulumi refuses to delete the workspace, and with it all figures."""
    log_retention_days: int
    """Days that the service's own log is kept; a value that CloudWatch knows."""
    route: AlertRouteArgs
    """The way of alerts, by `sns_configs`: the service knows no other. Topics' policies must let `aps.amazonaws.com`
    publish."""
    alert_topic_arn: pulumi.Input[str]
    """Topic that is told when a rule or an alert fails. Its policy must let CloudWatch publish."""
    runbooks: NotRequired[str]
    """The address that the runbooks' pages are below. Default `docs/runbooks`, in Trainyard's repository."""


class ManagedPrometheus(pulumi.ComponentResource):
    """A workspace with its routes, its log and an alarm on that. Its rules are `ManagedRules`."""

    workspace_id: pulumi.Output[str]
    """Id of the workspace."""
    workspace_arn: pulumi.Output[str]
    """ARN of the workspace."""
    endpoint: pulumi.Output[str]
    """Address of the workspace, with a slash at its end."""

    def __init__(self, name: str, args: ManagedPrometheusArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Raises ValueError, naming the field, for what the service would refuse."""
        if not 1 <= args["retention_days"] <= 1095:
            raise ValueError(f"{name}: retention_days must be 1 to 1095, got {args['retention_days']}")
        if args["route"]["integration"] != "sns_configs":
            raise ValueError(f"{name}: route must go by sns_configs, got {args['route']['integration']}")
        super().__init__("trainyard:index:ManagedPrometheus", name, None, opts)
        child = pulumi.ResourceOptions(parent=self)
        log = cloudwatch.LogGroup(
            f"{name}-log",
            # Services that deliver to a log group change its resource policy themselves below this name only.
            name=f"/aws/vendedlogs/prometheus/{args['cluster_name']}",
            retention_in_days=args["log_retention_days"],
            kms_key_id=args["key_arn"],
            opts=child,
        )
        workspace = amp.Workspace(
            f"{name}-workspace",
            alias=args["cluster_name"],
            kms_key_arn=args["key_arn"],
            logging_configuration={"log_group_arn": pulumi.Output.concat(log.arn, ":*")},
            opts=pulumi.ResourceOptions(parent=self, protect=args["protect"]),
        )
        self.workspace_id = workspace.id
        self.workspace_arn = workspace.arn
        self.endpoint = workspace.prometheus_endpoint
        amp.WorkspaceConfiguration(
            f"{name}-retention",
            workspace_id=workspace.id,
            retention_period_in_days=args["retention_days"],
            opts=child,
        )
        amp.AlertManagerDefinition(
            f"{name}-routes",
            workspace_id=workspace.id,
            definition=pulumi.Output.from_input(routing(args["route"], LONGEST_REPEAT)).apply(
                lambda routes: _yaml({"alertmanager_config": _yaml(routes)})
            ),
            opts=child,
        )
        self._alarm(name, args, log.name, child)
        register(self)

    def _alarm(
        self,
        name: str,
        args: ManagedPrometheusArgs,
        log_group: pulumi.Output[str],
        opts: pulumi.ResourceOptions,
    ) -> None:
        metric = f"{args['cluster_name']}-problems"
        counted = cloudwatch.LogMetricFilter(
            f"{name}-problems",
            log_group_name=log_group,
            pattern=_PROBLEMS,
            metric_transformation={"name": metric, "namespace": _NAMESPACE, "value": "1"},
            opts=opts,
        )
        cloudwatch.MetricAlarm(
            f"{name}-failing",
            alarm_description=(
                f"Rules of cluster {args['cluster_name']} fail, or alerts are not delivered. "
                f"{args.get('runbooks', RUNBOOKS)}/rules-failing.md"
            ),
            namespace=counted.metric_transformation.namespace,
            metric_name=counted.metric_transformation.name,
            statistic="Sum",
            period=300,
            evaluation_periods=3,
            comparison_operator="GreaterThanThreshold",
            threshold=0,
            treat_missing_data="notBreaching",
            alarm_actions=[args["alert_topic_arn"]],
            ok_actions=[args["alert_topic_arn"]],
            opts=opts,
        )


class ManagedRulesArgs(TypedDict):
    """What `ManagedRules` needs."""

    workspace_id: pulumi.Input[str]
    """Id of the workspace that evaluates them."""
    rules: pulumi.Input[Mapping[str, Any]]
    """The rules, as a file of Prometheus: `groups`. Outputs may stand anywhere in it."""


class ManagedRules(pulumi.ComponentResource):
    """The rules of a workspace, which may need what is made long after it: when a certificate ends."""

    def __init__(self, name: str, args: ManagedRulesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("trainyard:index:ManagedRules", name, None, opts)
        amp.RuleGroupNamespace(
            f"{name}-rules",
            workspace_id=args["workspace_id"],
            name="trainyard",
            data=pulumi.Output.from_input(args["rules"]).apply(_yaml),
            opts=pulumi.ResourceOptions(parent=self),
        )
        register(self)


def _yaml(value: Any) -> str:
    return yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=1_000_000)


def figures_writer_policy(workspace_arn: pulumi.Input[str]) -> dict[str, Any]:
    """Prometheus: writing to the one workspace, nothing to read."""
    return {"Version": "2012-10-17", "Statement": [allow("WriteFigures", ["aps:RemoteWrite"], [workspace_arn])]}


def figures_reader_policy(workspace_arn: pulumi.Input[str]) -> dict[str, Any]:
    """Whoever asks for figures: reading of the one workspace, nothing to write."""
    actions = ["aps:GetLabels", "aps:GetMetricMetadata", "aps:GetSeries", "aps:QueryMetrics"]
    return {"Version": "2012-10-17", "Statement": [allow("ReadFigures", actions, [workspace_arn])]}
