"""The smoke job of one GPU pool as a resource of the environment: `pulumi up` is done when the pool has trained.

One that names a capacity proves the pool's nodes of that capacity: reserved, spot and on-demand nodes come from
different node groups, whose reservation, zone, placement and launch template may each be wrong by themselves.

What it manages: the Job in a team's namespace, through the queue that the team uses, with its headless Service and the
ConfigMap that holds the worker. What it leaves alone: nodes and quota; the job waits for them as any other job does.

When it runs: the Job's name holds a hash of the worker, of its own content and of `rerun_on`, so a change of the pool
makes another Job and nothing else does. `node_image`, which the engine knows only once the nodes are there, stands in
an annotation and replaces the Job under its name. A Job that failed is replaced at the next `pulumi up`: the engine
replaces a resource whose creation failed where `replace_on_changes` names everything.
"""

from collections.abc import Mapping
from typing import Any, NotRequired, TypedDict

import pulumi
import pulumi_kubernetes.batch.v1 as batch
import pulumi_kubernetes.core.v1 as core

from trainyard.components.k8s.objects import named, prerequisites
from trainyard.components.outputs import register
from trainyard.conventions import NODE_IMAGE_ANNOTATION, TRAINER_SERVICE_ACCOUNT, TRAINER_UID
from trainyard.smoke_jobs.launch.job import LaunchError, SmokeSpec, job_name
from trainyard.smoke_jobs.launch.kubernetes import LAST_SECONDS, Rendering, render

QUEUE_SECONDS = 900
"""How long the job may wait for quota beside nodes and run. It goes before development jobs, not before production."""

OF_KUEUE = ["spec.suspend", "spec.template.spec.nodeSelector", "spec.template.spec.tolerations"]
"""What Kueue writes into an admitted Job."""


class SmokePoolArgs(TypedDict):
    """The pool that is checked, as the plan has it."""

    name: str
    """Value of the nodes' label `ml.platform/pool`."""
    capacity: NotRequired[str]
    """Value of the label `ml.platform/capacity` of the nodes to prove. Default: those that the queue picks."""
    instance_type: str
    """`p5.48xlarge`: selects the thresholds of bandwidth."""
    gpu: str
    """Text that the device's model contains: `H100`."""
    gpus_per_node: int
    """GPUs of a node; the job takes all of them, one process each."""
    gpu_memory_gib: float
    """Memory of one GPU, GiB; the check wants nine tenths of it."""
    nodes: int
    """Nodes that take part, at least 1. A job never spans two capacities, so at most the largest node group."""
    cpu: int
    """Cores that a node's container requests and is limited to."""
    memory_gib: int
    """Memory likewise, GiB; `shared_memory_gib` is a part of it."""
    shared_memory_gib: int
    """Size of the shared memory, GiB."""
    efa_interfaces: NotRequired[int]
    """Elastic Fabric Adapters of a node; more than 0 makes a fall-back to sockets a failure. Default 0."""
    hugepages_mib: NotRequired[int]
    """2 MiB pages that EFA pins, MiB a node. Default 0."""


class SmokeJobArgs(TypedDict):
    """Arguments of `SmokeJob`."""

    pool: SmokePoolArgs
    """The pool."""
    stack: NotRequired[str]
    """Name of the stack, for the result. Default none."""
    namespace: pulumi.Input[str]
    """The team's namespace."""
    queue: str
    """Its LocalQueue."""
    priority: NotRequired[str]
    """WorkloadPriorityClass. One that does not exist would leave the job suspended without a word. Default none."""
    image: str
    """Image with torch, `image:tag@sha256:…`; on a pool with a fabric with the plugin for it too."""
    mounts: NotRequired[Mapping[str, str]]
    """Absolute mount path by PersistentVolumeClaim of the namespace. Default: none."""
    checkpoint_uri: NotRequired[pulumi.Input[str]]
    """The checkpoint tier: `s3://bucket/prefix` (needs boto3 in the image) or a folder below a mount that can rename
    files. Default: the pod's scratch, which proves nothing of the tier and is refused on several nodes."""
    data_path: NotRequired[str]
    """Folder of the data tier, below a mount. Default: the pod's scratch on one node; on several the data check is
    skipped."""
    tracking_secret: NotRequired[str]
    """Secret of the namespace with MLFLOW_TRACKING_URI, _USERNAME and _PASSWORD, mounted as files. Default: the
    tracking check is skipped."""
    environment: NotRequired[Mapping[str, str]]
    """Further variables of the container, not secret: {"AWS_REGION": "us-east-1"}. Default: none."""
    usd_per_node_hour: NotRequired[float]
    """Price of a node, for the cost in the result. Default 0: unknown."""
    timeout_minutes: NotRequired[int]
    """For the ten checks, minutes. Default 15."""
    start_timeout_minutes: NotRequired[int]
    """From admission to the first process, minutes: a node from zero and the image. Kueue's `waitForPodsReady` at
    least. Default 30."""
    options: NotRequired[Mapping[str, Any]]
    """Further options of the worker (`smoke_jobs/ddp/options.py`), which win. Default: none."""
    rerun_on: NotRequired[Mapping[str, str]]
    """Facts of the pool that the Job does not hold but whose change has to run it again: the Kubernetes version, the
    instance types. Known before anything is made. Default: none."""
    node_image: NotRequired[pulumi.Input[str]]
    """What the nodes start with, likewise, known to the engine only: the release of the node group's image (with it
    kernel, driver and container runtime) and the version of its launch template. Default: none."""


class SmokeJob(pulumi.ComponentResource):
    """The smoke job of one pool; depends on what the caller names in `depends_on` (queues, volumes, secrets).

    Raises ValueError for an image without a digest and for arguments that the worker would refuse.
    """

    job_name: pulumi.Output[str]
    """Name of the Job; known once it has succeeded."""

    def __init__(self, name: str, args: SmokeJobArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("trainyard:index:SmokeJob", name, {}, opts)
        spec = smoke_spec(args)
        try:
            rendering = render(spec)
        except LaunchError as error:
            raise ValueError(f"{name}: {error}") from None
        before = prerequisites(opts)
        namespace = args["namespace"]
        code = core.ConfigMap(
            f"{name}-code",
            metadata=_metadata(rendering.config_map, namespace),
            immutable=True,
            data=rendering.config_map["data"],
            opts=pulumi.ResourceOptions(parent=self, depends_on=before),
        )
        service = core.Service(
            f"{name}-ranks",
            # It has no endpoints before the Job runs, which waits for it.
            metadata=_metadata(rendering.service, namespace) | {"annotations": {"pulumi.com/skipAwait": "true"}},
            spec=rendering.service["spec"],
            opts=pulumi.ResourceOptions(parent=self, depends_on=before),
        )
        seconds = QUEUE_SECONDS + spec.start_timeout_s + spec.run_timeout_s + LAST_SECONDS
        job = batch.Job(
            f"{name}-job",
            api_version="batch/v1",
            kind="Job",
            metadata=_job_metadata(rendering, namespace, args.get("node_image")),
            spec=_job_spec(rendering, args.get("checkpoint_uri")),
            opts=pulumi.ResourceOptions(
                parent=self,
                depends_on=[*before, code, service],
                ignore_changes=OF_KUEUE,
                replace_on_changes=["*"],
                delete_before_replace=True,  # a failed Job comes again under the same name
                custom_timeouts=pulumi.CustomTimeouts(create=f"{seconds}s", delete="5m"),
            ),
        )
        self.job_name = named(job, rendering.name)
        register(self)


def smoke_spec(args: SmokeJobArgs) -> SmokeSpec:
    """The arguments as a launcher takes them, without what only the engine knows (namespace, checkpoint tier)."""
    if "@sha256:" not in args["image"]:
        raise ValueError(f"the image of the smoke job has to be pinned by its digest, got {args['image']}")
    pool = args["pool"]
    efa = pool.get("efa_interfaces", 0)
    return SmokeSpec(
        name=job_name(pool["name"], pool.get("capacity", "")),
        stack=args.get("stack", ""),
        pool=pool["name"],
        nodes=pool["nodes"],
        gpus_per_node=pool["gpus_per_node"],
        instance=pool["instance_type"],
        gpu=pool["gpu"],
        gpu_memory_gib=pool["gpu_memory_gib"],
        capacity=pool.get("capacity", ""),
        transport="efa" if efa else "",
        usd_per_node_hour=args.get("usd_per_node_hour", 0.0),
        image=args["image"],
        environment=tuple(args.get("environment", {}).items()),
        cpu=pool["cpu"],
        memory_gib=pool["memory_gib"],
        shared_memory_gib=pool["shared_memory_gib"],
        efa_interfaces=efa,
        hugepages_mib=pool.get("hugepages_mib", 0),
        namespace="from-the-engine",
        queue=args["queue"],
        priority=args.get("priority", ""),
        service_account=TRAINER_SERVICE_ACCOUNT,
        user=TRAINER_UID,
        mounts=tuple(args.get("mounts", {}).items()),
        data_path=args.get("data_path", ""),
        tracking_secret=args.get("tracking_secret", ""),
        timeout_s=args.get("timeout_minutes", 15) * 60,
        start_timeout_s=args.get("start_timeout_minutes", 30) * 60,
        rerun_on=tuple(sorted(args.get("rerun_on", {}).items())),
        options=args.get("options", {}),
    )


def _job_metadata(rendering: Rendering, namespace: pulumi.Input[str], node_image: pulumi.Input[str] | None) -> Any:
    metadata = _metadata(rendering.job, namespace)
    if node_image is None:
        return metadata
    return metadata | {"annotations": {**metadata.get("annotations", {}), NODE_IMAGE_ANNOTATION: node_image}}


def _metadata(manifest: Mapping[str, Any], namespace: pulumi.Input[str]) -> Any:
    return {**manifest["metadata"], "namespace": namespace}


def _job_spec(rendering: Rendering, checkpoint_uri: pulumi.Input[str] | None) -> Any:
    """The spec of the Job; the checkpoint tier is a flag: a name of a bucket may be known to the engine only."""
    spec = rendering.job["spec"]
    if checkpoint_uri is not None:
        container = spec["template"]["spec"]["containers"][0]
        container["args"] = ["--checkpoint-uri", checkpoint_uri]
    return spec
