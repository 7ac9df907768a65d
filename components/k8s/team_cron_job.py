"""Jobs on checkpoints that are made again and again: a program in a team's namespace, as one of the team's own.

A CronJob through the team's queue and with the identity that its jobs have, on the nodes for pods without GPUs, which
come for it and go again; and the ConfigMap that holds the program.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

import pulumi
import pulumi_kubernetes.batch.v1 as batch
import pulumi_kubernetes.core.v1 as core

from trainyard.components.k8s.objects import named
from trainyard.components.k8s.pod_parts import variables
from trainyard.conventions import (
    CPU_NODES,
    CPU_ONLY_PRIORITY,
    RUNTIME_CHECKSUM_ANNOTATION,
    TRAINER_SERVICE_ACCOUNT,
    TRAINING_CONTAINER_SECURITY,
    TRAINING_POD_SECURITY,
)

PROGRAMS = "/programs"
KEPT_JOBS = 4
"""Jobs that succeeded, and as many that failed, are kept with their logs: a month's of a weekly one."""


@dataclass(frozen=True, slots=True)
class TeamCronJob:
    """One of a team's jobs that are made again and again."""

    name: str
    namespace: pulumi.Input[str]
    queue: str
    image: str
    command: Sequence[pulumi.Input[str]]
    schedule: str
    cpu: int
    memory_gib: int
    deadline_s: int
    verdicts: Sequence[int]  # exit codes that another try does not change
    mounts: Mapping[str, str] = field(default_factory=dict)  # path by claim
    read_only: bool = False  # whether it only reads what is mounted
    pod_annotations: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    cpu_nodes: Mapping[str, str] = field(default_factory=lambda: CPU_NODES)


def labels(name: str) -> dict[str, str]:
    """Labels of all that belongs to the job of that name."""
    return {"app.kubernetes.io/name": name}


def make_programs(
    logical: str, name: str, namespace: pulumi.Input[str], programs: Mapping[str, str], opts: pulumi.ResourceOptions
) -> pulumi.Input[str]:
    """Name of the ConfigMap that holds the programs, which are by their paths below one folder."""
    code = core.ConfigMap(
        logical,
        metadata={"name": name, "namespace": namespace, "labels": labels(name)},
        data={_key(path): text for path, text in programs.items()},
        opts=opts,
    )
    return named(code, name)


def make_cron_job(
    logical: str,
    job: TeamCronJob,
    programs: Mapping[str, str],
    config_map: pulumi.Input[str],
    opts: pulumi.ResourceOptions,
) -> pulumi.Output[str]:
    """Name of the CronJob."""
    made = batch.CronJob(
        logical,
        metadata={"name": job.name, "namespace": job.namespace, "labels": labels(job.name)},
        spec={
            "schedule": job.schedule,
            "time_zone": "Etc/UTC",
            "concurrency_policy": "Forbid",
            "starting_deadline_seconds": 3600,
            "successful_jobs_history_limit": KEPT_JOBS,
            "failed_jobs_history_limit": KEPT_JOBS,
            "job_template": _job(job, programs, config_map),
        },
        opts=opts,
    )
    return named(made, job.name)


def _key(path: str) -> str:
    """A path as a key of a ConfigMap, which has no slash."""
    return path.replace("/", ".")


def _job(job: TeamCronJob, programs: Mapping[str, str], config_map: pulumi.Input[str]) -> batch.JobTemplateSpecArgsDict:
    checksum = hashlib.sha256(json.dumps(dict(programs)).encode()).hexdigest()
    return {
        "metadata": {"labels": {**labels(job.name), "kueue.x-k8s.io/queue-name": job.queue}},
        "spec": {
            "backoff_limit": 2,
            "active_deadline_seconds": job.deadline_s,
            "pod_failure_policy": {
                "rules": [
                    {"action": "Ignore", "on_pod_conditions": [{"type": "DisruptionTarget", "status": "True"}]},
                    {
                        "action": "FailJob",
                        "on_exit_codes": {
                            "container_name": job.name,
                            "operator": "In",
                            "values": list(job.verdicts),
                        },
                    },
                ]
            },
            "template": {
                "metadata": {
                    "labels": labels(job.name),
                    "annotations": {RUNTIME_CHECKSUM_ANNOTATION: checksum, **job.pod_annotations},
                },
                "spec": _pod(job, programs, config_map),
            },
        },
    }


def _pod(job: TeamCronJob, programs: Mapping[str, str], config_map: pulumi.Input[str]) -> core.PodSpecArgsDict:
    sizes = {"cpu": str(job.cpu), "memory": f"{job.memory_gib}Gi"}
    environment = {
        "HOME": "/tmp",  # noqa: S108 - an emptyDir of the pod
        "PYTHONUNBUFFERED": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        **job.environment,
    }
    container: core.ContainerArgsDict = {
        "name": job.name,
        "image": job.image,
        "image_pull_policy": "IfNotPresent",
        "working_dir": "/",
        "command": list(job.command),
        "env": variables(environment),
        "resources": {"requests": sizes, "limits": sizes},
        "security_context": cast(core.SecurityContextArgsDict, dict(TRAINING_CONTAINER_SECURITY)),
        "volume_mounts": [
            {"name": "programs", "mount_path": PROGRAMS, "read_only": True},
            {"name": "tmp", "mount_path": "/tmp"},  # noqa: S108 - likewise
            *_mounted(job),
        ],
    }
    return {
        "service_account_name": TRAINER_SERVICE_ACCOUNT,
        "automount_service_account_token": False,
        "enable_service_links": False,
        "restart_policy": "Never",
        "priority_class_name": CPU_ONLY_PRIORITY,
        "node_selector": dict(job.cpu_nodes),
        "security_context": cast(core.PodSecurityContextArgsDict, dict(TRAINING_POD_SECURITY)),
        "containers": [container],
        "volumes": [
            {
                "name": "programs",
                "config_map": {
                    "name": config_map,
                    "items": [{"key": _key(path), "path": path} for path in programs],
                },
            },
            {"name": "tmp", "empty_dir": {"size_limit": "1Gi"}},
            *_claimed(job),
        ],
    }


def _mounted(job: TeamCronJob) -> Iterator[core.VolumeMountArgsDict]:
    for claim, path in job.mounts.items():
        mount: core.VolumeMountArgsDict = {"name": claim, "mount_path": path}
        yield {**mount, "read_only": True} if job.read_only else mount


def _claimed(job: TeamCronJob) -> Iterator[core.VolumeArgsDict]:
    for claim in job.mounts:
        yield {"name": claim, "persistent_volume_claim": {"claim_name": claim}}
