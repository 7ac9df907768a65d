"""The checkpoint drill: once a week a job restores what it left on the checkpoint tier the week before.

What it manages: a CronJob in a team's namespace, through the queue and with the identity that the team's own jobs have,
and the ConfigMap that holds the program. It runs on the nodes for pods without GPUs, which come for it and go again.
What it leaves alone: the checkpoints of people's runs; its own lie below a folder of their own.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import NotRequired, TypedDict, cast

import pulumi
import pulumi_kubernetes.batch.v1 as batch
import pulumi_kubernetes.core.v1 as core

from trainyard.components.k8s.objects import named, prerequisites
from trainyard.components.k8s.pod_parts import variables
from trainyard.components.outputs import register
from trainyard.conventions import (
    CPU_NODES,
    CPU_ONLY_PRIORITY,
    RUNTIME_CHECKSUM_ANNOTATION,
    TRAINER_SERVICE_ACCOUNT,
    TRAINING_CONTAINER_SECURITY,
    TRAINING_POD_SECURITY,
)
from trainyard.conventions.monitoring import CHECKPOINT_DRILL
from trainyard.smoke_jobs.drill import files
from trainyard.smoke_jobs.drill.exits import FAILED, FIRST

LABELS = {"app.kubernetes.io/name": CHECKPOINT_DRILL}
PROGRAMS, MODULE = "/programs", "programs.drill.drill"
KEPT_JOBS = 4
"""Jobs that succeeded, and as many that failed, are kept with their logs: a month's."""


class CheckpointDrillArgs(TypedDict):
    """Arguments of `CheckpointDrill`."""

    namespace: pulumi.Input[str]
    """Namespace of the team whose identity and queue it uses."""
    queue: str
    """Name of the team's LocalQueue."""
    image: str
    """Image with torch and the client of the store where the tier is one, by digest: `image:tag@sha256:…`."""
    checkpoint_uri: pulumi.Input[str]
    """Where its checkpoints lie: a URI of the object store, or a folder below a mount that can rename files."""
    schedule: str
    """When it runs, in cron's words and UTC: `17 4 * * 0`."""
    cpu: int
    """Cores that it requests and is limited to."""
    memory_gib: int
    """Memory that it requests and is limited to, GiB."""
    deadline_s: int
    """Seconds that a job may take, with the wait for a node and the image."""
    mounts: NotRequired[Mapping[str, str]]
    """Absolute mount path by PersistentVolumeClaim of the namespace. Default: none."""
    pod_annotations: NotRequired[Mapping[str, str]]
    """What the mounts' driver wants on a pod. Default: nothing."""
    environment: NotRequired[Mapping[str, str]]
    """Variables of the container, not secret. Default: none."""
    cpu_nodes: NotRequired[Mapping[str, str]]
    """Labels of the nodes that it runs on. Default: the CPU pool's, `ml.platform/pool: cpu`."""


class CheckpointDrill(pulumi.ComponentResource):
    """The weekly job that restores a checkpoint; depends on what the caller names in `depends_on`.

    Raises ValueError for an image without a digest.
    """

    cron_job: pulumi.Output[str]
    """Name of the CronJob."""

    def __init__(self, name: str, args: CheckpointDrillArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("trainyard:index:CheckpointDrill", name, {}, opts)
        if "@sha256:" not in args["image"]:
            raise ValueError(f"the image of the checkpoint drill has to be pinned by its digest, got {args['image']}")
        child = pulumi.ResourceOptions(parent=self, depends_on=prerequisites(opts))
        programs = files()
        code = core.ConfigMap(
            f"{name}-programs",
            metadata={"name": CHECKPOINT_DRILL, "namespace": args["namespace"], "labels": LABELS},
            data={_key(path): text for path, text in programs.items()},
            opts=child,
        )
        job = batch.CronJob(
            f"{name}-job",
            metadata={"name": CHECKPOINT_DRILL, "namespace": args["namespace"], "labels": LABELS},
            spec={
                "schedule": args["schedule"],
                "time_zone": "Etc/UTC",
                "concurrency_policy": "Forbid",
                "starting_deadline_seconds": 3600,
                "successful_jobs_history_limit": KEPT_JOBS,
                "failed_jobs_history_limit": KEPT_JOBS,
                "job_template": _job(args, programs, named(code, CHECKPOINT_DRILL)),
            },
            opts=child,
        )
        self.cron_job = named(job, CHECKPOINT_DRILL)
        register(self)


def _key(path: str) -> str:
    """A path as a key of a ConfigMap, which has no slash."""
    return path.replace("/", ".")


def _job(
    args: CheckpointDrillArgs, programs: Mapping[str, str], config_map: pulumi.Input[str]
) -> batch.JobTemplateSpecArgsDict:
    checksum = hashlib.sha256(json.dumps(dict(programs)).encode()).hexdigest()
    return {
        "metadata": {"labels": {**LABELS, "kueue.x-k8s.io/queue-name": args["queue"]}},
        "spec": {
            "backoff_limit": 2,
            "active_deadline_seconds": args["deadline_s"],
            "pod_failure_policy": {
                "rules": [
                    {"action": "Ignore", "on_pod_conditions": [{"type": "DisruptionTarget", "status": "True"}]},
                    {
                        "action": "FailJob",
                        "on_exit_codes": {
                            "container_name": CHECKPOINT_DRILL,
                            "operator": "In",
                            "values": [FIRST, FAILED],
                        },
                    },
                ]
            },
            "template": {
                "metadata": {
                    "labels": LABELS,
                    "annotations": {RUNTIME_CHECKSUM_ANNOTATION: checksum, **args.get("pod_annotations", {})},
                },
                "spec": _pod(args, programs, config_map),
            },
        },
    }


def _pod(args: CheckpointDrillArgs, programs: Mapping[str, str], config_map: pulumi.Input[str]) -> core.PodSpecArgsDict:
    sizes = {"cpu": str(args["cpu"]), "memory": f"{args['memory_gib']}Gi"}
    environment = {
        "HOME": "/tmp",  # noqa: S108 - an emptyDir of the pod
        "PYTHONUNBUFFERED": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        **args.get("environment", {}),
    }
    mounts = args.get("mounts", {})
    container: core.ContainerArgsDict = {
        "name": CHECKPOINT_DRILL,
        "image": args["image"],
        "image_pull_policy": "IfNotPresent",
        "working_dir": "/",
        "command": ["python3", "-m", MODULE, "--checkpoint-uri", args["checkpoint_uri"]],
        "env": variables(environment),
        "resources": {"requests": sizes, "limits": sizes},
        "security_context": cast(core.SecurityContextArgsDict, dict(TRAINING_CONTAINER_SECURITY)),
        "volume_mounts": [
            {"name": "programs", "mount_path": PROGRAMS, "read_only": True},
            {"name": "tmp", "mount_path": "/tmp"},  # noqa: S108 - likewise
            *_mounted(mounts),
        ],
    }
    return {
        "service_account_name": TRAINER_SERVICE_ACCOUNT,
        "automount_service_account_token": False,
        "enable_service_links": False,
        "restart_policy": "Never",
        "priority_class_name": CPU_ONLY_PRIORITY,
        "node_selector": dict(args.get("cpu_nodes", CPU_NODES)),
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
            *_claimed(mounts),
        ],
    }


def _mounted(mounts: Mapping[str, str]) -> Iterator[core.VolumeMountArgsDict]:
    for claim, path in mounts.items():
        yield {"name": claim, "mount_path": path}


def _claimed(mounts: Mapping[str, str]) -> Iterator[core.VolumeArgsDict]:
    for claim in mounts:
        yield {"name": claim, "persistent_volume_claim": {"claim_name": claim}}
