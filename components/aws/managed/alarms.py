"""What tells a small team of its jobs and its money, and what forbids it to start more when that is spent."""

import json
from collections.abc import Sequence
from typing import Any, TypedDict

import pulumi
import pulumi_aws.budgets as budgets
import pulumi_aws.cloudwatch as cloudwatch
import pulumi_aws.iam as iam

from trainyard.components.aws.identity import check_role_name
from trainyard.components.aws.managed.ceilings import nothing_new
from trainyard.components.aws.managed.job_alarms import COUNTED_IN, DAY_S, JOBS, METRICS, PERIOD_S
from trainyard.components.aws.policy_documents import allow, document, service_trust
from trainyard.components.outputs import register

_BILLED_AS, _BILLING_REGION = "AmazonSageMaker", "us-east-1"
"""SageMaker among the account's estimated charges, and where those are told (CloudWatch user guide, "Create a billing
alarm", as generally known, 2026-11)."""


class JobAlertsArgs(TypedDict):
    """What `JobAlerts` needs."""

    topic_arn: pulumi.Input[str]
    """Topic that is told; its policy must let the rule publish, and its key EventBridge."""
    region: str
    """Region of the dashboard's figures."""
    dashboard_name: str
    """Name of the dashboard, which is the environment's: its jobs are counted by that."""
    show_spending: bool
    """Whether it shows what is spent, which AWS tells in us-east-1 alone: not where data is held to another region."""


class JobAlerts(pulumi.ComponentResource):
    """A message for every job that failed or was stopped, and a dashboard of those that run."""

    rule_arn: pulumi.Output[str]
    """ARN of the rule."""

    def __init__(self, name: str, args: JobAlertsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """`Stopped` is told too: a job that ran out of its time is stopped, and its result is half."""
        super().__init__("trainyard:index:JobAlerts", name, None, opts)
        child = pulumi.ResourceOptions(parent=self)
        rule = cloudwatch.EventRule(
            rule_name(name),
            description="A training job has failed or was stopped",
            event_pattern=json.dumps(ended_badly()),
            opts=child,
        )
        cloudwatch.EventTarget(
            f"{name}-ended",
            rule=rule.name,
            arn=args["topic_arn"],
            input_transformer={
                "input_paths": {
                    "name": "$.detail.TrainingJobName",
                    "reason": "$.detail.FailureReason",
                    "status": "$.detail.TrainingJobStatus",
                    "step": "$.detail.SecondaryStatus",
                },
                "input_template": '"Training job <name> is <status> (<step>): <reason>"',
            },
            opts=child,
        )
        cloudwatch.Dashboard(
            f"{name}-dashboard",
            dashboard_name=args["dashboard_name"],
            dashboard_body=json.dumps(
                _dashboard(args["region"], args["dashboard_name"], spending=args["show_spending"])
            ),
            opts=child,
        )
        self.rule_arn = rule.arn
        register(self)


class SpendingBrakeArgs(TypedDict):
    """What `SpendingBrake` needs."""

    account_id: pulumi.Input[str]
    """Account, 12 digits."""
    budget_name: pulumi.Input[str]
    """Budget over which nothing new starts."""
    topic_arn: pulumi.Input[str]
    """Topic that is told when that happens."""
    role_names: Sequence[pulumi.Input[str]]
    """Names, not ARNs, of the roles that then start nothing new."""
    role_arns: Sequence[pulumi.Input[str]]
    """ARNs of the same roles."""


class SpendingBrake(pulumi.ComponentResource):
    """Over the budget, AWS attaches a policy that denies every start; it stops no job that runs.

    It is taken off again by `aws budgets execute-budget-action --execution-type REVERSE_BUDGET_ACTION`, and by AWS when
    the next month begins.
    """

    policy_arn: pulumi.Output[str]
    """ARN of the policy that is attached."""

    def __init__(self, name: str, args: SpendingBrakeArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """The role's rights before the action, which AWS tries out when it is made."""
        super().__init__("trainyard:index:SpendingBrake", name, None, opts)
        child = pulumi.ResourceOptions(parent=self)
        policy = iam.Policy(
            f"{name}-over-budget",
            description="Over the budget: nothing new is started",
            policy=document(nothing_new()),
            opts=child,
        )
        role = iam.Role(
            check_role_name(f"{name}-budget"),
            description="Lets AWS Budgets attach the policy of a spent budget",
            assume_role_policy=service_trust(
                "budgets.amazonaws.com",
                args["account_id"],
                pulumi.Output.concat("arn:aws:budgets::", args["account_id"], ":budget/*"),
            ),
            opts=child,
        )
        right = iam.RolePolicy(
            f"{name}-budget",
            role=role.name,
            policy=document(
                [
                    allow(
                        "AttachOverBudget",
                        ["iam:AttachRolePolicy", "iam:DetachRolePolicy"],
                        args["role_arns"],
                        {"ArnEquals": {"iam:PolicyARN": policy.arn}},
                    )
                ]
            ),
            opts=child,
        )
        budgets.BudgetAction(
            f"{name}-over-budget",
            account_id=args["account_id"],
            budget_name=args["budget_name"],
            action_type="APPLY_IAM_POLICY",
            approval_model="AUTOMATIC",
            notification_type="ACTUAL",
            action_threshold={"action_threshold_type": "PERCENTAGE", "action_threshold_value": 100},
            definition={
                "iam_action_definition": {"policy_arn": policy.arn, "roles": list(args["role_names"])},
            },
            execution_role_arn=role.arn,
            subscribers=[{"subscription_type": "SNS", "address": args["topic_arn"]}],
            opts=pulumi.ResourceOptions(parent=self, depends_on=[right]),
        )
        self.policy_arn = policy.arn
        register(self)


def rule_name(name: str) -> str:
    """Logical name of the rule of the component `name`."""
    return f"{name}-ended"


def ended_badly() -> dict[str, Any]:
    """Events of a training job that failed or was stopped."""
    return {
        "source": ["aws.sagemaker"],
        "detail-type": ["SageMaker Training Job State Change"],
        "detail": {"TrainingJobStatus": ["Failed", "Stopped"]},
    }


def _dashboard(region: str, environment: str, *, spending: bool) -> dict[str, Any]:
    """Jobs that run, what they make of their GPUs, how jobs ended, and what is spent.

    Figures of jobs have the job's name as a dimension, so they are searched for and not listed.
    """

    def graph(title: str, metrics: list[Any], place: int, **more: Any) -> dict[str, Any]:
        properties = {
            "title": title,
            "region": region,
            "view": "timeSeries",
            "metrics": metrics,
            "yAxis": {"left": {"min": 0}},
            **more,
        }
        x, y = 12 * (place % 2), 6 * (place // 2)
        return {"type": "metric", "x": x, "y": y, "width": 12, "height": 6, "properties": properties}

    def use(title: str, metric: str, place: int) -> dict[str, Any]:
        search = f"SEARCH('{{{JOBS},Host}} MetricName=\"{metric}\"', 'Average', {PERIOD_S})"
        return graph(title, [[{"expression": search, "label": "", "id": "e1"}]], place)

    # Each machine sends a figure a minute.
    machines = (
        f"SUM(SEARCH('{{{JOBS},Host}} MetricName=\"CPUUtilization\"', 'SampleCount', {PERIOD_S})) / {PERIOD_S // 60}"
    )
    ended = [f"{COUNTED_IN}/{environment}", METRICS["failed"][0]]
    # Billing is told in one region, and only where the account has its billing alerts switched on.
    spent = f"SEARCH('{{AWS/Billing,Currency,ServiceName}} ServiceName=\"{_BILLED_AS}\"', 'Maximum', 21600)"
    money = graph(
        "Spent on SageMaker this month, USD (the account's billing alerts switched on)",
        [[{"expression": spent, "label": "USD", "id": "e1"}]],
        5,
        region=_BILLING_REGION,
    )
    if not spending:
        told = f"What is spent is told by the budget `{environment}`: CloudWatch knows it in another region alone."
        money = {**money, "type": "text", "properties": {"markdown": told}}
    return {
        "widgets": [
            graph("Machines of running jobs", [[{"expression": machines, "label": "machines", "id": "e1"}]], 0),
            use("GPU use of running jobs, percent", "GPUUtilization", 1),
            use("GPU memory of running jobs, percent", "GPUMemoryUtilization", 2),
            use("CPU use of running jobs, percent", "CPUUtilization", 3),
            graph(
                "Jobs that ended in a day, and how many of them failed",
                [[*ended, {"stat": "SampleCount", "label": "ended"}], [*ended, {"stat": "Sum", "label": "failed"}]],
                4,
                period=DAY_S,
            ),
            money,
            use("Disk of running jobs, percent", "DiskUtilization", 6),
        ]
    }
