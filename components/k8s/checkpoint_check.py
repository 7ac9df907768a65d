"""The look at a team's own checkpoints: every day whether the newest can be read, and how old it is.

What it manages: two CronJobs in the team's namespace, since a checkpoint that is old says nothing of one that is
damaged, and the ConfigMap that holds the program. What it leaves alone: the checkpoints, which are mounted to be read.
"""

from collections.abc import Mapping
from typing import NotRequired, TypedDict

import pulumi

from trainyard.components.k8s.team_cron_job import TeamCronJob, make_cron_job, make_programs
from trainyard.components.outputs import register
from trainyard.components.prerequisites import prerequisites
from trainyard.conventions import CHECKPOINTS_CLAIM, CPU_NODES
from trainyard.conventions.monitoring import CHECKPOINT_AGE, CHECKPOINT_CHECK
from trainyard.smoke_jobs.drill import files_of_look
from trainyard.smoke_jobs.drill.exits import DAMAGED, OLD

MODULE = "programs.drill.look"


class CheckpointCheckArgs(TypedDict):
    """Arguments of `CheckpointCheck`."""

    namespace: pulumi.Input[str]
    """Namespace of the team, which has a claim `checkpoints`."""
    queue: str
    """Name of the team's LocalQueue."""
    image: str
    """Image with Python, by digest: `image:tag@sha256:…`. Where it has torch, archives of torch's are loaded too."""
    folder: str
    """Absolute path at which the claim is mounted."""
    schedule: str
    """When it runs, in cron's words and UTC: `47 5 * * *`."""
    cpu: int
    """Cores that each job requests and is limited to."""
    memory_gib: int
    """Memory that each requests and is limited to, GiB."""
    deadline_s: int
    """Seconds that a job may take, with the wait for a node and the image."""
    older_than_hours: int
    """Age of the newest checkpoint from which the second job fails."""
    pod_annotations: NotRequired[Mapping[str, str]]
    """What the mount's driver wants on a pod. Default: nothing."""
    cpu_nodes: NotRequired[Mapping[str, str]]
    """Labels of the nodes that it runs on. Default: the CPU pool's, `ml.platform/pool: cpu`."""


class CheckpointCheck(pulumi.ComponentResource):
    """The daily look; depends on what the caller names in `depends_on`.

    Raises ValueError for an image without a digest.
    """

    cron_jobs: pulumi.Output[list[str]]
    """Names of the CronJobs."""

    def __init__(self, name: str, args: CheckpointCheckArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("trainyard:index:CheckpointCheck", name, {}, opts)
        if "@sha256:" not in args["image"]:
            raise ValueError(f"the image of the checkpoint check has to be pinned by its digest, got {args['image']}")
        child = pulumi.ResourceOptions(parent=self, depends_on=prerequisites(opts))
        programs = files_of_look()
        code = make_programs(f"{name}-programs", CHECKPOINT_CHECK, args["namespace"], programs, child)
        asked = {
            CHECKPOINT_CHECK: ([], DAMAGED),
            CHECKPOINT_AGE: ([f"--younger-than-hours={args['older_than_hours']}"], OLD),
        }
        made = [
            make_cron_job(
                f"{name}-{job}",
                TeamCronJob(
                    name=job,
                    namespace=args["namespace"],
                    queue=args["queue"],
                    image=args["image"],
                    command=["python3", "-m", MODULE, args["folder"], *options],
                    schedule=args["schedule"],
                    cpu=args["cpu"],
                    memory_gib=args["memory_gib"],
                    deadline_s=args["deadline_s"],
                    verdicts=(verdict,),
                    mounts={CHECKPOINTS_CLAIM: args["folder"]},
                    read_only=True,
                    pod_annotations=args.get("pod_annotations", {}),
                    cpu_nodes=args.get("cpu_nodes", CPU_NODES),
                ),
                programs,
                code,
                child,
            )
            for job, (options, verdict) in asked.items()
        ]
        self.cron_jobs = pulumi.Output.all(*made)
        register(self)
