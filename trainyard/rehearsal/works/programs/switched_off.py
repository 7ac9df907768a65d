"""What is made and switched off: a record, a rule, a channel, a database that the rest of the stack counts on.

Sources: the providers' documentation of each input (pulumi-aws 7, pulumi-gcp 9), CloudTrail's `StopLogging`, Cloud SQL
"Start, stop, and restart instances", Kueue "ClusterQueue" and "LocalQueue", `stopPolicy` (2026-11). To switch a part of
a service off that costs by itself (a feature of GuardDuty, a rule of a lifecycle) is a choice, and not told.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from trainyard.recorded.types import (
    BATCH_ENVIRONMENT,
    BATCH_QUEUE,
    EVENT_SOURCE_MAPPING,
    FUNCTION,
    GCP_CRYPTO_KEY,
    GCP_IDENTITY_PROVIDER,
    GCP_LOG_EXCLUSION,
    GCP_LOG_SINKS,
)
from trainyard.rehearsal.context import Stack, View, show
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster
from trainyard.rehearsal.works.workloads.read import QUEUE_LABEL


@dataclass(frozen=True, slots=True)
class _Switch:
    type: str
    path: str
    off: Any
    what: str  # comes of it
    on: str  # as somebody would write it


_REGIONAL: Final = "gcp:secretmanager/regionalSecretVersion:RegionalSecretVersion"
_SWITCHES: Final = (
    _Switch(BATCH_ENVIRONMENT, "state", "DISABLED", "nothing is placed in it", "ENABLED"),
    _Switch(BATCH_QUEUE, "state", "DISABLED", "it takes no job", "ENABLED"),
    _Switch("aws:cfg/recorderStatus:RecorderStatus", "isEnabled", False, "nothing is recorded", "true"),
    _Switch("aws:cloudtrail/trail:Trail", "enableLogging", False, "nothing is recorded", "true"),
    _Switch("aws:cloudwatch/eventRule:EventRule", "state", "DISABLED", "no event is told", "ENABLED"),
    _Switch("aws:cloudwatch/eventRule:EventRule", "isEnabled", False, "no event is told", "true"),
    _Switch("aws:cloudwatch/metricAlarm:MetricAlarm", "actionsEnabled", False, "nobody is told", "true"),
    _Switch("aws:cloudwatch/compositeAlarm:CompositeAlarm", "actionsEnabled", False, "nobody is told", "true"),
    _Switch("aws:dlm/lifecyclePolicy:LifecyclePolicy", "state", "DISABLED", "no snapshot is taken", "ENABLED"),
    _Switch("aws:guardduty/detector:Detector", "enable", False, "nothing is looked at", "true"),
    _Switch(EVENT_SOURCE_MAPPING, "enabled", False, "it is never called", "true"),
    _Switch(FUNCTION, "reservedConcurrentExecutions", 0, "it never runs", "-1, or how many may run at once"),
    _Switch("aws:athena/workgroup:Workgroup", "state", "DISABLED", "no query runs in it", "ENABLED"),
    _Switch("aws:cloudwatch/logAnomalyDetector:LogAnomalyDetector", "enabled", False, "nothing is looked at", "true"),
    _Switch("aws:imagebuilder/imagePipeline:ImagePipeline", "status", "DISABLED", "no image is built", "ENABLED"),
    _Switch("aws:pipes/pipe:Pipe", "desiredState", "STOPPED", "nothing is handed on", "RUNNING"),
    _Switch("aws:ssm/maintenanceWindow:MaintenanceWindow", "enabled", False, "no task of it runs", "true"),
    _Switch("aws:synthetics/canary:Canary", "startCanary", False, "nothing is tried", "true"),
    _Switch("aws:rds/eventSubscription:EventSubscription", "enabled", False, "nobody is told", "true"),
    _Switch("aws:route53/healthCheck:HealthCheck", "disabled", True, "all counts as healthy", "false"),
    _Switch("aws:scheduler/schedule:Schedule", "state", "DISABLED", "it never comes", "ENABLED"),
    _Switch("gcp:bigquery/dataTransferConfig:DataTransferConfig", "disabled", True, "nothing is brought over", "false"),
    _Switch("gcp:cloudbuild/trigger:Trigger", "disabled", True, "nothing is built by it", "false"),
    _Switch("gcp:cloudrunv2/service:Service", "scaling.manualInstanceCount", 0, "nobody serves a request", "1 or more"),
    _Switch("gcp:cloudscheduler/job:Job", "paused", True, "it never comes", "false"),
    _Switch("gcp:cloudtasks/queue:Queue", "desiredState", "PAUSED", "no task is sent on", "RUNNING"),
    _Switch("gcp:compute/autoscaler:Autoscaler", "autoscalingPolicy.mode", "OFF", "the group stays as it is", "ON"),
    _Switch(
        "gcp:compute/regionAutoscaler:RegionAutoscaler", "autoscalingPolicy.mode", "OFF",
        "the group stays as it is", "ON",
    ),
    _Switch("gcp:compute/routerPeer:RouterPeer", "enable", False, "no route is learnt or told", "true"),
    _Switch("gcp:gkebackup/backupPlan:BackupPlan", "backupSchedule.paused", True, "no backup is made", "false"),
    _Switch("gcp:gkebackup/backupPlan:BackupPlan", "deactivated", True, "no backup is made", "false"),
    _Switch("gcp:iam/workloadIdentityPool:WorkloadIdentityPool", "disabled", True, "nobody of it is let in", "false"),
    _Switch(GCP_IDENTITY_PROVIDER, "disabled", True, "nobody of it is let in", "false"),
    _Switch("gcp:kms/cryptoKeyVersion:CryptoKeyVersion", "state", "DISABLED", "nothing is decrypted", "ENABLED"),
    _Switch("gcp:logging/metric:Metric", "disabled", True, "nothing is counted", "false"),
    _Switch(GCP_LOG_EXCLUSION, "disabled", True, "nothing is kept out", "false"),
    *(_Switch(sink, "disabled", True, "no entry is sent on", "false") for sink in GCP_LOG_SINKS),
    _Switch("gcp:monitoring/alertPolicy:AlertPolicy", "enabled", False, "nobody is told", "true"),
    _Switch("gcp:monitoring/notificationChannel:NotificationChannel", "enabled", False, "nobody is told", "true"),
    _Switch(_REGIONAL, "enabled", False, "nobody reads it", "true"),
    _Switch("gcp:secretmanager/secretVersion:SecretVersion", "enabled", False, "nobody reads it", "true"),
    _Switch("gcp:storage/transferJob:TransferJob", "status", "DISABLED", "nothing is brought over", "ENABLED"),
    _Switch("gcp:serviceaccount/account:Account", "disabled", True, "nobody gets a token of it", "false"),
    _Switch(
        "gcp:sql/databaseInstance:DatabaseInstance", "settings.activationPolicy", "NEVER",
        "the instance is stopped, and nobody connects", "ALWAYS",
    ),
    _Switch(
        "gcp:kms/cryptoKey:CryptoKey", "skipInitialVersionCreation", True,
        "the key has no version, and nothing is encrypted with it", "false",
    ),
)  # fmt: skip
_VERSIONS: Final = "gcp:kms/cryptoKeyVersion:CryptoKeyVersion"
_QUEUES: Final = ("ClusterQueue.kueue.x-k8s.io", "LocalQueue.kueue.x-k8s.io")
_JOBS: Final = ("Job", "JobSet.jobset.x-k8s.io", "TrainJob.trainer.kubeflow.org")


def check(stack: Stack, cluster: Cluster) -> None:
    """Every switch that a recorded resource has."""
    for switch in _SWITCHES:
        for view in stack.of_type(switch.type):
            given = view.value(switch.path)
            if (
                given is not None
                and given == switch.off
                and not view.resource.read
                and not _is_meant(view, switch, stack)
            ):
                view.warning(
                    "programs-switched-off", switch.path, f"is {show(given)}: {switch.what}", allowed=switch.on
                )
    for view in cluster.of("CronJob"):
        if view.flag("spec.suspend"):
            view.warning("programs-switched-off", "spec.suspend", "is true: its jobs are never made", allowed="false")
    for view in cluster.of(*_QUEUES):
        policy = view.text("spec.stopPolicy")
        if policy not in (None, "None"):
            view.warning(
                "programs-switched-off", "spec.stopPolicy", f"is {show(policy)}: nothing is admitted through it",
                allowed="None",
            )  # fmt: skip
    for view in cluster.of(*_JOBS):
        if view.flag("spec.suspend") and not _is_queued(view, cluster):
            view.warning(  # a queue of another program, a namespace's default one or a person may let it go
                "programs-switched-off", "spec.suspend", "is true, and no queue here lets it go: it does not start",
                allowed=f"the label {QUEUE_LABEL}, or false",
            )  # fmt: skip


def _is_meant(view: View, switch: _Switch, stack: Stack) -> bool:
    """A key whose versions the program makes or imports by itself."""
    if switch.type != GCP_CRYPTO_KEY:
        return False
    return bool(stack.of_type(_VERSIONS)) or view.flag("importOnly") is True


def _is_queued(view: View, cluster: Cluster) -> bool:
    """Whether a manager of queues may let a job go: by its label, or as it takes all jobs of a namespace."""
    labels = view.mapping("metadata.labels")
    return (
        QUEUE_LABEL in labels
        or view.is_unknown("metadata.labels")
        or view.has("spec.managedBy")
        or bool(
            [
                release
                for release in cluster.releases
                if "manageJobsWithoutQueueName: true" in str(release.value("values"))
            ]
        )
    )
