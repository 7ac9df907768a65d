"""The success metrics where no monitoring of the environment's measures them: what does, or why nothing does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from trainyard.monitoring import names as n
from trainyard.monitoring.pages import target_text
from trainyard.monitoring.recordings import SUCCESS, Target
from trainyard.recorded.types import DASHBOARD
from trainyard.review.handover.model import Grid, Section, Text, section
from trainyard.review.handover.subject import Subject
from trainyard.review.reports.page_parts import opening

TITLE: Final = "How success is measured"


BY_CLOUDWATCH: Final = "on the dashboard"
BY_HAND: Final = "when asked"
NOT: Final = "not measured"

OF_MANAGED_TRAINING: Final[Mapping[str, tuple[str, str]]] = {
    n.UTILISATION: (
        BY_CLOUDWATCH,
        "CloudWatch's figure of each running job, summed over a machine's GPUs; none is paid for between jobs",
    ),
    n.QUEUE_WAIT: (
        BY_HAND,
        "there is no queue of yours: a job waits for AWS to have its machine, from `CreationTime` to "
        "`TrainingStartTime` of `aws sagemaker describe-training-job`",
    ),
    n.JOB_SUCCESS: (
        BY_HAND,
        "a message comes for each job that failed or was stopped; `aws sagemaker list-training-jobs "
        "--status-equals Completed` and `Failed` give the share",
    ),
    n.SPOT_SHARE: (BY_HAND, "the job itself chooses: `EnableManagedSpotTraining` of `describe-training-job` says so"),
    n.UPTIME: (NOT, "AWS runs the service and answers for it by its own agreement; nothing of yours has to be up"),
    n.CHECKPOINT_RELIABILITY: (
        NOT,
        "no drill runs: that a job takes up its last checkpoint shows when it is started again",
    ),
    n.EXPERIMENTS: (BY_HAND, "the runs of a week on the MLflow server, by who started them"),
    n.GPU_HOUR_COST: (
        BY_HAND,
        "the bill of the month over the GPU hours of its jobs (`BillableTimeInSeconds` of `describe-training-job`)",
    ),
}
"""By the figure that a cluster's monitoring records, what is measured of a managed training job and by what (Amazon
SageMaker developer guide, "Metrics for monitoring", and API reference, `DescribeTrainingJob`, 2026-11)."""

ON_GOOGLE: Final[Mapping[str, tuple[str, str]]] = {
    n.UTILISATION: (
        BY_HAND,
        "the page of each running job in the console draws its GPUs; none is paid for between jobs",
    ),
    n.QUEUE_WAIT: (
        BY_HAND,
        "there is no queue of yours: a job waits for Google to have its machine, from `createTime` to `startTime` of "
        "`gcloud ai custom-jobs describe`",
    ),
    n.JOB_SUCCESS: (
        BY_HAND,
        "a message comes for each job that failed; `gcloud ai custom-jobs list --filter state=JOB_STATE_SUCCEEDED` and "
        "`JOB_STATE_FAILED` give the share",
    ),
    n.SPOT_SHARE: (BY_HAND, "the job itself chooses: `scheduling.strategy` of `custom-jobs describe` says so"),
    n.UPTIME: (NOT, "Google runs the service and answers for it by its own agreement; nothing of yours has to be up"),
    n.CHECKPOINT_RELIABILITY: OF_MANAGED_TRAINING[n.CHECKPOINT_RELIABILITY],
    n.EXPERIMENTS: (BY_HAND, "the runs of a week in Vertex AI Experiments"),
    n.GPU_HOUR_COST: (
        BY_HAND,
        "the bill of the month over the GPU hours of its jobs (`startTime` and `endTime` of `custom-jobs describe`)",
    ),
}
"""The same on Google Cloud (Vertex AI API, `CustomJob`, 2026-11; its console as generally known)."""


def without_monitoring(subject: Subject) -> Section:
    """Every metric with its target, of managed training; of clusters, that nothing measures them."""
    if not subject.managed:
        told = "Nothing measures them: the clusters have no monitoring." if subject.clusters else ""
        return section("success", TITLE, (Text(told),))
    recorded = subject.review.rehearsal.resources
    boards = [str(each.inputs.get("dashboardName", "")) for each in recorded if each.type == DASHBOARD]
    where = f"“{boards[0]}” in CloudWatch" if boards else ""
    on_google = subject.planned("ground", "kind") == "gcp"
    how, whose = (ON_GOOGLE, "Google's") if on_google else (OF_MANAGED_TRAINING, "AWS'")
    cloud = "Google" if on_google else "AWS"
    rows = tuple(_row(target, how, where) for target in SUCCESS)
    return section(
        "success",
        TITLE,
        (Grid(("metric", "target", "measured", "by what, or why not"), rows),),
        f"Jobs run on machines of {whose} own that come and go with them, so no meter of the environment runs beside "
        f"them: what {cloud} measures of each job is named, and so is what nobody measures.",
    )


def _row(target: Target, of: Mapping[str, tuple[str, str]], board: str) -> tuple[str, str, str, str]:
    how, told = of[target.recording.record]
    if how is BY_CLOUDWATCH:
        how, told = (how, f"{told}: {board}") if board else (NOT, "there is no dashboard of jobs")
    return (target.title, opening(target_text(target)), how, told)
