"""Alarms on the jobs of managed training: GPUs that are used too little or not at all, failures, long waits.

Two things are there to be asked. Every machine of a job sends its use each minute to `/aws/sagemaker/TrainingJobs`,
with the dimension `Host` alone (`JOB/algo-1`) and the sum of all GPUs of the machine: eight GPUs at half use are 400
percent (SageMaker developer guide, "Metrics for monitoring with CloudWatch", as generally known, 2026-11). And
SageMaker tells EventBridge of each change of a job's state, with the times at which it was sent and began, which are
written to a log group here and counted from there. It may tell one change more than once (developer guide, "Events
that Amazon SageMaker AI sends to Amazon EventBridge", 2026-11), so a share of failures is one of events.

A job that has not begun is in none of both: it is told of when it begins, or when its waiting time is over and it
fails.
"""

import json
from collections.abc import Mapping
from typing import Any, TypedDict

import pulumi
import pulumi_aws.cloudwatch as cloudwatch

from trainyard.components.aws.policy_documents import document
from trainyard.components.outputs import register

JOBS = "/aws/sagemaker/TrainingJobs"
"""Namespace in which the machines of training jobs send what they use."""
COUNTED_IN = "Trainyard"
"""Beginning of the namespace in which an environment's jobs are counted."""
SERVICES = ("events.amazonaws.com", "delivery.logs.amazonaws.com")
"""Who writes the events of a rule to a log group (EventBridge user guide, "Amazon CloudWatch Logs permissions")."""
RUNBOOK = "managed-jobs.md"
"""The page that has a part for each of the alarms."""
PERIOD_S = 300
"""Seconds that one figure of a machine's use is the mean of."""
UNDERUSED_MINUTES = 60
"""How long a machine has to be below the share: data are copied and compiled before a job computes."""
IDLE_PERCENT = 5
"""Use of all GPUs of a machine together below which none of them trains: the drivers' own work is less."""
LOOK_BACK_MINUTES = 180
"""How far back an alarm on a Metrics Insights query sees, minutes (CloudWatch user guide, "Metrics Insights quotas":
"the most recent three hours of data for alarm condition evaluations", read 2026-11-26). One whose periods reach further
would never be set off."""
DAY_S = 86_400
MILLISECONDS_A_HOUR = 3_600_000


class JobAlarmsArgs(TypedDict):
    """What `JobAlarms` needs."""

    topic_arn: pulumi.Input[str]
    """Topic that is told; its policy must let CloudWatch publish, and its key too."""
    key_arn: pulumi.Input[str]
    """KMS key of the log group. Its policy must let CloudWatch Logs use it for log groups of the account."""
    environment_name: str
    """Name of the environment, which the metrics' namespace has: two environments of an account count apart."""
    retention_days: int
    """Days that the events of jobs are kept."""
    runbooks: str
    """Where the runbooks are: a folder or an address."""
    gpu_use_percent: int
    """Mean use of a machine's GPUs, percent of one GPU, below which it is used too little for an hour."""
    gpus_at_least: int
    """GPUs of the smallest machine that a job may have."""
    idle_minutes: int
    """Minutes without any use of GPUs after which a machine is idle."""
    failed_percent: int
    """Share of the jobs that ended in a day, percent, above which too many fail."""
    failed_of: int
    """Jobs that have to have ended in the day, so that their share says something."""
    wait_hours: int
    """Hours that a job may have waited for its machines."""


class JobAlarms(pulumi.ComponentResource):
    """Four alarms on the training jobs of an account and region; what is not measured sets off none."""

    log_group_name: pulumi.Output[str]
    """Name of the log group with the events of jobs."""

    def __init__(self, name: str, args: JobAlarmsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Raises ValueError where an alarm would have to see further back than it can."""
        super().__init__("trainyard:index:JobAlarms", name, None, opts)
        if args["idle_minutes"] > LOOK_BACK_MINUTES:
            raise ValueError(
                f"{name}: idle_minutes has to be at most {LOOK_BACK_MINUTES}, which is as far back as such an alarm "
                f"sees, got {args['idle_minutes']}"
            )
        self._name, self._args = name, args
        self._child = pulumi.ResourceOptions(parent=self)
        self._namespace = f"{COUNTED_IN}/{args['environment_name']}"
        group = self._events()
        for what, pattern in COUNTED.items():
            metric, value = METRICS[what]
            cloudwatch.LogMetricFilter(
                f"{name}-{what}",
                log_group_name=group.name,
                pattern=pattern,
                metric_transformation={"namespace": self._namespace, "name": metric, "value": value},
                opts=self._child,
            )
        self._alarm("gpu-underused", "GPUs of a training job are used too little", self._below_share())
        self._alarm("gpu-idle", "a training job holds GPUs and does not use them", self._idle())
        self._alarm("jobs-failing", "too many training jobs fail", self._failures())
        self._alarm("queue-waiting", "a training job waited too long for its machines", self._waits())
        self.log_group_name = group.name
        register(self)

    def _events(self) -> cloudwatch.LogGroup:
        """The log group, and the rule that writes to it once it may."""
        group = cloudwatch.LogGroup(
            f"{self._name}-events",
            name_prefix=f"/aws/events/{self._args['environment_name']}-jobs-",
            retention_in_days=self._args["retention_days"],
            kms_key_id=self._args["key_arn"],
            opts=self._child,
        )
        rule = cloudwatch.EventRule(
            f"{self._name}-told",
            description="Training jobs began or ended",
            event_pattern=json.dumps(state_changes()),
            opts=self._child,
        )
        streams = pulumi.Output.concat(group.arn, ":*")
        allowed = cloudwatch.LogResourcePolicy(
            f"{self._name}-events",
            policy_name=f"{self._args['environment_name']}-jobs",
            policy_document=document(
                [
                    # A stream is made in no rule's name (Terraform's AWS provider, `aws_cloudwatch_event_target`).
                    _allowed("MakeStreams", "logs:CreateLogStream", streams, {}),
                    _allowed(
                        "WriteEvents",
                        "logs:PutLogEvents",
                        streams,
                        {"Condition": {"ArnEquals": {"aws:SourceArn": rule.arn}}},
                    ),
                ]
            ),
            opts=self._child,
        )
        cloudwatch.EventTarget(
            f"{self._name}-told",
            rule=rule.name,
            arn=group.arn,
            opts=pulumi.ResourceOptions(parent=self, depends_on=[allowed]),
        )
        return group

    def _alarm(self, short: str, what: str, judged: Mapping[str, Any]) -> None:
        cloudwatch.MetricAlarm(
            f"{self._name}-{short}",
            alarm_description=f"{self._args['environment_name']}: {what}. {self._args['runbooks']}/{RUNBOOK}#{short}",
            treat_missing_data="notBreaching",
            alarm_actions=[self._args["topic_arn"]],
            ok_actions=[self._args["topic_arn"]],
            opts=self._child,
            **judged,
        )

    def _below_share(self) -> dict[str, Any]:
        share = self._args["gpu_use_percent"] * self._args["gpus_at_least"]
        return _each_machine("AVG", "ASC", share, UNDERUSED_MINUTES)

    def _idle(self) -> dict[str, Any]:
        return _each_machine("MAX", "ASC", IDLE_PERCENT, self._args["idle_minutes"])

    def _failures(self) -> dict[str, Any]:
        failed = METRICS["failed"][0]
        enough = f"IF(ended >= {self._args['failed_of']}, 100 * share, 0)"
        return {
            "comparison_operator": "GreaterThanThreshold",
            "threshold": self._args["failed_percent"],
            "evaluation_periods": 1,
            "metric_queries": [
                {"id": "percent", "expression": enough, "label": "failed, percent", "return_data": True},
                self._counted("share", failed, "Average", DAY_S),
                self._counted("ended", failed, "SampleCount", DAY_S),
            ],
        }

    def _waits(self) -> dict[str, Any]:
        sent, began = METRICS["sent"][0], METRICS["began"][0]
        hours = f"(began - sent) / {MILLISECONDS_A_HOUR}"
        return {
            "comparison_operator": "GreaterThanThreshold",
            "threshold": self._args["wait_hours"],
            "evaluation_periods": 1,
            "metric_queries": [
                {"id": "hours", "expression": hours, "label": "waited, hours", "return_data": True},
                # Of the jobs of one minute, so that one that waited is not hidden by others that did not.
                self._counted("sent", sent, "Average", 60),
                self._counted("began", began, "Average", 60),
            ],
        }

    def _counted(self, id_: str, metric: str, statistic: str, period: int) -> dict[str, Any]:
        return {
            "id": id_,
            "return_data": False,
            "metric": {
                "namespace": self._namespace,
                "metric_name": metric,
                "stat": statistic,
                "period": period,
            },
        }


METRICS: Mapping[str, tuple[str, str]] = {
    "failed": ("FailedJobs", "1"),
    "succeeded": ("FailedJobs", "0"),
    "sent": ("JobSentMilliseconds", "$.detail.CreationTime"),
    "began": ("JobBeganMilliseconds", "$.detail.TrainingStartTime"),
}
"""The metric that an event counts in, and as what: the mean of `FailedJobs` is the share that failed, and the mean of
one time less that of the other is how long jobs waited."""

_BEGAN = '{ ($.detail.SecondaryStatus = "Training") && ($.detail.TrainingStartTime = *) }'
COUNTED: Mapping[str, str] = {
    "failed": '{ $.detail.TrainingJobStatus = "Failed" }',
    "succeeded": '{ $.detail.TrainingJobStatus = "Completed" }',
    "sent": _BEGAN,
    "began": _BEGAN,
}
"""Which events count. A job that somebody stopped has neither failed nor succeeded."""


def state_changes() -> dict[str, Any]:
    """Events of a training job that begins to train, or ended."""
    return {
        "source": ["aws.sagemaker"],
        "detail-type": ["SageMaker Training Job State Change"],
        "detail": {"SecondaryStatus": ["Training", "Completed", "Failed"]},
    }


def _allowed(sid: str, action: str, resource: pulumi.Input[str], more: Mapping[str, Any]) -> dict[str, Any]:
    principal = {"Service": list(SERVICES)}
    return {"Sid": sid, "Effect": "Allow", "Principal": principal, "Action": [action], "Resource": [resource], **more}


def _each_machine(function: str, order: str, below: int, minutes: int) -> dict[str, Any]:
    """Every machine is judged by itself: one that works hides none that does not."""
    periods = -(-minutes * 60 // PERIOD_S)
    words = ("SELECT", f"{function}(GPUUtilization)", "FROM", f'SCHEMA("{JOBS}", Host)', "GROUP BY Host")
    query = " ".join([*words, f"ORDER BY {function}() {order}"])
    return {
        "comparison_operator": "LessThanThreshold",
        "threshold": below,
        "evaluation_periods": periods,
        "datapoints_to_alarm": periods,
        "metric_queries": [{"id": "use", "expression": query, "period": PERIOD_S, "return_data": True}],
    }
