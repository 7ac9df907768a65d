"""The checkpoint drill: once a week a job restores what it left on the checkpoint tier the week before.

What it manages: a CronJob in a team's namespace, through the queue and with the identity that the team's own jobs have,
and the ConfigMap that holds the program. It runs on the nodes for pods without GPUs, which come for it and go again.
What it leaves alone: the checkpoints of people's runs; its own lie below a folder of their own.
"""

from collections.abc import Mapping
from typing import NotRequired, TypedDict

import pulumi

from trainyard.components.k8s.team_cron_job import TeamCronJob, make_cron_job, make_programs
from trainyard.components.outputs import register
from trainyard.components.prerequisites import prerequisites
from trainyard.conventions import CPU_NODES
from trainyard.conventions.monitoring import CHECKPOINT_DRILL
from trainyard.smoke_jobs.drill import files
from trainyard.smoke_jobs.drill.exits import FAILED, FIRST

MODULE = "programs.drill.drill"


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
        code = make_programs(f"{name}-programs", CHECKPOINT_DRILL, args["namespace"], programs, child)
        job = TeamCronJob(
            name=CHECKPOINT_DRILL,
            namespace=args["namespace"],
            queue=args["queue"],
            image=args["image"],
            command=["python3", "-m", MODULE, "--checkpoint-uri", args["checkpoint_uri"]],
            schedule=args["schedule"],
            cpu=args["cpu"],
            memory_gib=args["memory_gib"],
            deadline_s=args["deadline_s"],
            verdicts=(FIRST, FAILED),
            mounts=args.get("mounts", {}),
            pod_annotations=args.get("pod_annotations", {}),
            environment=args.get("environment", {}),
            cpu_nodes=args.get("cpu_nodes", CPU_NODES),
        )
        self.cron_job = make_cron_job(f"{name}-job", job, programs, code, child)
        register(self)
