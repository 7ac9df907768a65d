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
from dataclasses import fields
from typing import Any, NotRequired, TypedDict, cast

import pulumi
import pulumi_kubernetes.batch.v1 as batch
import pulumi_kubernetes.core.v1 as core

from trainyard.components.k8s import custom_resources as cr
from trainyard.components.k8s.objects import named
from trainyard.components.outputs import register
from trainyard.components.prerequisites import prerequisites
from trainyard.conventions import NODE_IMAGE_ANNOTATION
from trainyard.smoke_jobs.launch.job import LaunchError, SmokeSpec, job_name
from trainyard.smoke_jobs.launch.kubernetes import LAST_SECONDS, Deferred, render

QUEUE_SECONDS = 900
"""How long the job may wait for quota beside nodes and run. Its priority puts it before its own team's development, not
before production; who borrows what its team owns gives way at once."""

OF_KUEUE = ["spec.suspend", "spec.template.spec.nodeSelector", "spec.template.spec.tolerations"]
"""Fields of an admitted Job that Kueue writes, and that Pulumi therefore leaves alone."""


class SmokeJobArgs(TypedDict):
    """Arguments of `SmokeJob`: the pool that is checked, where, through which queue, and with what.

    They are the fields of a `SmokeSpec`, by the same names.
    """

    pool: str
    """GPU pool to prove: the value of its nodes' label `ml.platform/pool`."""
    capacity: NotRequired[str]
    """Value of the label `ml.platform/capacity` of the nodes to prove. Default: those that the queue picks."""
    instance: str
    """Instance type of the nodes, such as `p5.48xlarge`, which selects the thresholds of bandwidth."""
    gpu: str
    """Text that the GPU's own model name contains, such as `H100`."""
    gpus_per_node: int
    """GPUs of a node; the job takes all of them, one process each."""
    gpu_memory_gib: float
    """Memory of one GPU, GiB; the check wants nine tenths of it."""
    nvlinks: NotRequired[int]
    """NVLinks that every GPU must have up. Default 0: they are compared with those of its neighbours only."""
    driver: NotRequired[str]
    """Oldest NVIDIA driver that will do, such as 580. Default: not compared."""
    nodes: int
    """Nodes that take part, at least 1. A job never spans two capacities, so at most the largest node group."""
    cpu: int
    """Cores that a node's container requests and is limited to."""
    memory_gib: int
    """Memory that a node's container requests and is limited to, GiB; `shared_memory_gib` is a part of it."""
    shared_memory_gib: int
    """Size of the container's shared memory (/dev/shm), GiB."""
    transport: NotRequired[str]
    """What the pool promises between nodes, as the worker's option `expect_transport` names it: a fall-back to sockets
    is then a failure. Default none."""
    isolated_gpus: NotRequired[bool]
    """Whether the nodes promise that a container sees no GPU that it did not ask for: each node's pod then tries it
    first, and fails where it sees some. Default False."""
    fabric_resource: NotRequired[str]
    """Extended resource of the fast interfaces between nodes: `example.com/fabric`. Default: there are none."""
    fabric_interfaces: NotRequired[int]
    """How many of it a node has, of which its pod takes all. Default 0."""
    adapters: NotRequired[int]
    """RDMA adapters of a node, each of which has to carry its share of the job's traffic. Default: as many as
    `fabric_interfaces`."""
    hugepages_mib: NotRequired[int]
    """2 MiB pages that the fabric pins, MiB a node. Default 0."""
    fabric_claim: NotRequired[str]
    """ResourceClaimTemplate of the namespace that gives a pod all fast interfaces of a node, where no extended resource
    does. Default: there is none."""
    claimed_interfaces: NotRequired[int]
    """How many interfaces that claim, or the pod's annotations, give: its first container counts them. Default 0:
    nobody counts."""
    fabric: NotRequired[str]
    """How pods get the fast interfaces where no extended resource gives them, as a launcher names it: gib-dranet, gib,
    tcpx or tcpxo (`smoke_jobs/launch/gcp_fabrics.py`). Default: by the extended resource, or there are none."""
    fabric_daemon: NotRequired[str]
    """Image of the daemon that tcpx and tcpxo need in each pod. Default: there is none."""
    stack: NotRequired[str]
    """Name of the stack, for the result. Default none."""
    namespace: pulumi.Input[str]
    """Namespace of the team that the job runs as."""
    queue: str
    """Name of the team's LocalQueue that the job goes through."""
    priority: NotRequired[str]
    """WorkloadPriorityClass. One that does not exist would leave the job suspended without a word. Default none."""
    image: str
    """Image with torch, `image:tag@sha256:…`; on a pool with a fabric with the plugin for it too."""
    mounts: NotRequired[Mapping[str, str]]
    """Absolute mount path by PersistentVolumeClaim of the namespace. Default: none."""
    pod_annotations: NotRequired[Mapping[str, str]]
    """What the mounts' driver wants on a pod, and what gives it the node's networks. Default: nothing."""
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
    """Further variables of the container, not secret: {"HF_HUB_OFFLINE": "1"}. Default: none."""
    usd_per_node_hour: NotRequired[float]
    """Price of a node, for the cost in the result. Default 0: unknown."""
    timeout_s: NotRequired[int]
    """Seconds that the checks may take. Default 900."""
    level: NotRequired[str]
    """Which checks: quick, standard or full (`docs/smoke.md`). Default quick."""
    start_timeout_s: NotRequired[int]
    """Seconds from admission to the first process: a node from zero and the image. Kueue's `waitForPodsReady` at least.
    Default 1800."""
    options: NotRequired[Mapping[str, Any]]
    """Further options of the worker (`smoke_jobs/ddp/options.py`), which win. Default: none."""
    rerun_on: NotRequired[Mapping[str, str]]
    """Facts of the pool that the Job does not hold but whose change has to run it again: the Kubernetes version, the
    instance types. Known before anything is made. Default: none."""
    advisory: NotRequired[bool]
    """Whether nothing waits for the job: it is started, and its verdict is the Job's own. Default False."""
    node_image: NotRequired[pulumi.Input[str]]
    """What the nodes start with, whose change has to run the job again too: the release of the node group's image (with
    it kernel, driver and container runtime) and the version of its launch template. Only the engine knows it. Default:
    none."""


class SmokeJob(pulumi.ComponentResource):
    """The smoke job of one pool; depends on what the caller names in `depends_on` (queues, volumes, secrets).

    Raises ValueError for an image without a digest and for arguments that the worker would refuse.
    """

    job_name: pulumi.Output[str]
    """Name of the Job, known before it runs: what hangs on it says nothing of how the job ended."""
    verdict: pulumi.Output[str]
    """`passed`, once the job has; `not waited for`, where it is advisory. A job that fails has none: it fails the
    deployment. It waits for the job: an output of a stack that hangs on it is not there before, nor is any other."""

    def __init__(self, name: str, args: SmokeJobArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("trainyard:index:SmokeJob", name, {}, opts)
        spec = smoke_spec(args)
        try:
            rendering = render(spec, _deferred(args))
        except LaunchError as error:
            raise ValueError(f"{name}: {error}") from None
        before = prerequisites(opts)
        code = core.ConfigMap(
            f"{name}-code",
            metadata=rendering.config_map["metadata"],
            immutable=True,
            data=rendering.config_map["data"],
            opts=pulumi.ResourceOptions(parent=self, depends_on=before),
        )
        service = core.Service(
            f"{name}-ranks",
            # It has no endpoints before the Job runs, which waits for it.
            metadata=rendering.service["metadata"] | {"annotations": {"pulumi.com/skipAwait": "true"}},
            spec=rendering.service["spec"],
            opts=pulumi.ResourceOptions(parent=self, depends_on=before),
        )
        claims = [
            cr.CustomResource(
                f"{name}-{made['kind'].lower()}", made, pulumi.ResourceOptions(parent=self, depends_on=before)
            )
            for made in rendering.more
        ]
        advisory, body = args.get("advisory", False), rendering.job["spec"]
        if not advisory:
            # One start and one run: a second start is for nodes that are reclaimed, and those are on spot. What this
            # waits for has ended by itself when the wait ends, and leaves no node busy.
            body = body | {"activeDeadlineSeconds": spec.start_timeout_s + spec.timeout_s + LAST_SECONDS}
        seconds = QUEUE_SECONDS + body["activeDeadlineSeconds"]
        job = batch.Job(
            f"{name}-job",
            api_version="batch/v1",
            kind="Job",
            metadata=rendering.job["metadata"],
            spec=body,
            opts=pulumi.ResourceOptions(
                parent=self,
                depends_on=[*before, code, service, *claims],
                ignore_changes=OF_KUEUE,
                replace_on_changes=["*"],
                delete_before_replace=True,  # a failed Job comes again under the same name
                custom_timeouts=pulumi.CustomTimeouts(create=f"{seconds}s", delete="5m"),
            ),
        )
        self.job_name = pulumi.Output.from_input(rendering.name)
        self.verdict = named(job, "not waited for" if advisory else "passed")
        register(self)


_ARGS = frozenset(SmokeJobArgs.__annotations__)

_NOT_OF_THE_JOB = ("namespace", "checkpoint_uri", "node_image", "advisory")
"""Arguments that the Job's name does not depend on: those that may be outputs, and who waits for it."""

_PAIRS = ("environment", "mounts", "pod_annotations", "rerun_on")
"""Fields of a `SmokeSpec` that hold pairs, and are mappings here."""


def smoke_args(spec: SmokeSpec) -> SmokeJobArgs:
    """A job as this component takes it; the caller adds what only the engine knows."""
    given = {field.name: getattr(spec, field.name) for field in fields(spec) if field.name in _ARGS}
    plain = {name: dict(value) if name in _PAIRS else value for name, value in given.items() if value}
    return cast(SmokeJobArgs, plain)


def smoke_spec(args: SmokeJobArgs) -> SmokeSpec:
    """The arguments as a launcher takes them, without what only the engine knows (namespace, checkpoint tier)."""
    if "@sha256:" not in args["image"]:
        raise ValueError(f"the image of the smoke job has to be pinned by its digest, got {args['image']}")
    plain: dict[str, Any] = {name: value for name, value in args.items() if name not in _NOT_OF_THE_JOB}
    for name in _PAIRS:
        pairs = plain.get(name, {}).items()
        plain[name] = tuple(sorted(pairs) if name == "rerun_on" else pairs)
    return SmokeSpec(name=job_name(args["pool"], args.get("capacity", "")), **plain)


def _deferred(args: SmokeJobArgs) -> Deferred:
    """What only the engine knows; the checkpoint tier is a flag, because a bucket's name may be one of these."""
    uri, node_image = args.get("checkpoint_uri"), args.get("node_image")
    unwaited = {"pulumi.com/skipAwait": "true"} if args.get("advisory") else {}
    return Deferred(
        namespace=args["namespace"],
        arguments=() if uri is None else ("--checkpoint-uri", uri),
        annotations=unwaited | ({} if node_image is None else {NODE_IMAGE_ANNOTATION: node_image}),
    )
