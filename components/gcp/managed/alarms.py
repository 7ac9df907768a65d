"""Who is told by mail of managed jobs that end badly or run as somebody else, and the dashboard of jobs."""

import json
from collections.abc import Mapping, Sequence
from typing import Final, NotRequired, TypedDict

import pulumi
import pulumi_gcp.monitoring as monitoring

from trainyard.components.gcp.channels import LogAlarm, LogAlarmsArgs, log_alarms
from trainyard.components.gcp.managed.dashboard import jobs_board
from trainyard.components.outputs import register
from trainyard.components.prerequisites import prerequisites

FAILED: Final = 'resource.type="ml_job" AND resource.labels.task_name="service" AND severity>=ERROR'
"""What Vertex AI itself writes of a job that failed: lines of the job's own program have another `task_name` (Vertex
AI, "View training logs", as generally known)."""


class VertexAlarmsArgs(TypedDict):
    """What `VertexAlarms` needs."""

    project: pulumi.Input[str]
    """Id of the project."""
    subject: str
    """Whose alarms these are, for whoever reads them: the environment's name."""
    job_account_email: pulumi.Input[str]
    """Account that jobs run as."""
    tracking_service: NotRequired[str]
    """Service of Cloud Run that tracks runs, by name. Default: none, and nobody is told of one."""
    emails: Sequence[str]
    """Addresses that are written to. May be empty: then incidents are seen in the console alone."""
    labels: Mapping[str, str]
    """Labels of channels and policies, which Google calls the user's."""


class VertexAlarms(pulumi.ComponentResource):
    """The alarms and the dashboard. `depends_on` is what they wait for: services."""

    def __init__(self, name: str, args: VertexAlarmsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("trainyard:index:VertexAlarms", name, None, opts)
        child = pulumi.ResourceOptions(parent=self, depends_on=prerequisites(opts))
        told: LogAlarmsArgs = {
            "project": args["project"],
            "subject": args["subject"],
            "addressed": f"Jobs of {args['subject']}",
            "emails": args["emails"],
            "labels": args["labels"],
        }
        alarms = {
            "failed": LogAlarm("a training job failed", FAILED, "Its log says why."),
            "foreign": LogAlarm(
                "a training job runs as another account than the environment's",
                _of_another(args["job_account_email"]),
                "Cancel it unless you know whose it is: docs/how-to/train-without-a-cluster.md",
            ),
        }
        if "tracking_service" in args:
            alarms["tracking"] = LogAlarm(
                "the tracking server fails",
                _failing(args["tracking_service"]),
                "Its log says why: `gcloud run services logs read`; its database may be full or away.",
            )
        log_alarms(name, told, alarms, child)
        monitoring.Dashboard(
            f"{name}-dashboard",
            project=args["project"],
            dashboard_json=json.dumps(jobs_board(args["subject"])),
            opts=child,
        )
        register(self)


def _failing(service: str) -> str:
    """Entries of Cloud Run itself: requests that were answered with 500 and more, and instances that do not start
    (Cloud Run, "Logging", as generally known)."""
    logs = ("requests", "varlog/system")
    written = " OR ".join(f'log_id("run.googleapis.com/{log}")' for log in logs)
    return (
        f'resource.type="cloud_run_revision" AND resource.labels.service_name="{service}" AND ({written}) '
        "AND severity>=ERROR"
    )


def _of_another(email: pulumi.Input[str]) -> pulumi.Output[str]:
    """Entries of the log of changes, which nobody can switch off, of jobs that run as another account or name none."""
    sent = 'log_id("cloudaudit.googleapis.com/activity") AND protoPayload.serviceName="aiplatform.googleapis.com" AND '
    job, tuning = "protoPayload.request.customJob.jobSpec", "protoPayload.request.hyperparameterTuningJob.trialJobSpec"

    def runs_as_another(method: str, spec: str) -> pulumi.Output[str]:
        return pulumi.Output.concat(
            f'(protoPayload.methodName:"JobService.{method}" AND NOT {spec}.serviceAccount="', email, '")'
        )

    return pulumi.Output.concat(
        sent,
        "(",
        runs_as_another("CreateCustomJob", job),
        " OR ",
        runs_as_another("CreateHyperparameterTuningJob", tuning),
        ")",
    )
