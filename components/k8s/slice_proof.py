"""The job that proves one TPU slice as a resource of the environment: `pulumi up` is done when its chips have summed.

What it manages: an indexed Job with a pod each machine of the slice, through the queue of a team that owns it, and the
headless Service by which the machines find each other. It names the slice's own node pool, so that its pods stand on
one slice and on no other. Jobs of people's keep off that slice meanwhile: its pods have the label by which JobSet keeps
one job to a slice, and keep off where another job stands.

A change of what it runs, or of the nodes, makes another Job. Failed, it is replaced at the next `pulumi up`.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NotRequired, TypedDict

import pulumi
import pulumi_kubernetes.batch.v1 as batch
import pulumi_kubernetes.core.v1 as core
import pulumi_kubernetes.meta.v1 as meta

from trainyard.components.k8s.runtimes import TpuRuntimeArgs, on_slice, training_pod
from trainyard.components.k8s.smoke import OF_KUEUE, QUEUE_SECONDS
from trainyard.components.outputs import register
from trainyard.components.prerequisites import prerequisites
from trainyard.conventions import NODE_IMAGE_ANNOTATION, SLICE_PROOF_RUN_S, SMOKE_POOL_LABEL
from trainyard.smoke_jobs.launch import payload
from trainyard.smoke_jobs.launch.kueue_status import PRIORITY_LABEL, QUEUE_LABEL
from trainyard.smoke_jobs.launch.slice_check import FAILED

JOB_KEY = "jobset.sigs.k8s.io/job-key"
"""Label of the pods of a job that stands apart: another such job's first pod keeps off where one of these stands
(JobSet, exclusive placement, as generally known)."""


class SliceProofArgs(TypedDict):
    """Arguments of `SliceProof`."""

    node_pool: str
    """The node pool to prove, which names the Job too."""
    runtime: TpuRuntimeArgs
    """What a job of the slice's pool asks for."""
    node_labels: Mapping[str, str]
    """Labels of exactly the slice's nodes, besides those of its pool."""
    namespace: pulumi.Input[str]
    """Namespace of the team that the job runs as."""
    queue: str
    """Name of the team's LocalQueue that the job goes through."""
    priority: str
    """WorkloadPriorityClass."""
    start_timeout_s: int
    """Seconds from admission to the first process: machines from zero and the image."""
    advisory: NotRequired[bool]
    """Whether nothing waits for the job: it is started, and its verdict is the Job's own. Default False."""
    rerun_on: NotRequired[Mapping[str, str]]
    """Facts of the pool that the Job does not hold but whose change has to run it again. Default: none."""
    node_image: NotRequired[pulumi.Input[str]]
    """What the nodes start with, whose change has to run the job again too. Default: none."""


class SliceProof(pulumi.ComponentResource):
    """The proof of one slice; depends on what the caller names in `depends_on` (queues, node pools)."""

    job_name: pulumi.Output[str]
    """Name of the Job, known before it runs."""

    def __init__(self, name: str, args: SliceProofArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Raises ValueError for an image without a digest."""
        super().__init__("trainyard:index:SliceProof", name, {}, opts)
        before, advisory = prerequisites(opts), args.get("advisory", False)
        pod = _pod(args)
        own = f"slice-{args['node_pool']}-{payload.digest(repr((pod, sorted(args.get('rerun_on', {}).items()))))}"
        labels = {"app.kubernetes.io/name": "trainyard-smoke", "app.kubernetes.io/instance": own}
        labels[SMOKE_POOL_LABEL] = args["runtime"]["pool"]
        metadata: meta.ObjectMetaArgsDict = {"name": own, "namespace": args["namespace"], "labels": labels}
        several = args["runtime"]["nodes"] > 1
        service = core.Service(
            f"{name}-machines",
            # It has no endpoints before the Job runs, which waits for it.
            metadata={**metadata, "annotations": {"pulumi.com/skipAwait": "true"}},
            spec={
                "cluster_ip": "None",
                "publish_not_ready_addresses": True,
                "selector": {"batch.kubernetes.io/job-name": own},
            },
            opts=pulumi.ResourceOptions(parent=self, depends_on=before),
        )
        annotations: dict[str, pulumi.Input[str]] = {"pulumi.com/skipAwait": "true"} if advisory else {}
        if "node_image" in args:
            annotations[NODE_IMAGE_ANNOTATION] = args["node_image"]
        spec: Any = {
            "completionMode": "Indexed",
            "completions": args["runtime"]["nodes"],
            "parallelism": args["runtime"]["nodes"],
            "backoffLimit": 0,
            "activeDeadlineSeconds": args["start_timeout_s"] + SLICE_PROOF_RUN_S,
            "podFailurePolicy": {"rules": _failure_rules()},
            "template": {
                "metadata": {"labels": labels | ({JOB_KEY: own} if several else {})},
                "spec": {**pod, "subdomain": own, **({"affinity": _alone(own, args)} if several else {})},
            },
        }
        queued = {QUEUE_LABEL: args["queue"], PRIORITY_LABEL: args["priority"]}
        batch.Job(
            f"{name}-job",
            api_version="batch/v1",
            kind="Job",
            metadata={**metadata, "labels": labels | queued, "annotations": annotations},
            spec=spec,
            opts=pulumi.ResourceOptions(
                parent=self,
                depends_on=[*before, service],
                ignore_changes=OF_KUEUE,
                replace_on_changes=["*"],
                delete_before_replace=True,  # a failed Job comes again under the same name
                custom_timeouts=pulumi.CustomTimeouts(
                    create=f"{QUEUE_SECONDS + args['start_timeout_s'] + SLICE_PROOF_RUN_S}s", delete="5m"
                ),
            ),
        )
        self.job_name = pulumi.Output.from_input(own)
        register(self)


def _pod(args: SliceProofArgs) -> dict[str, Any]:
    """A pod as one of the pool's runtime, with the check in place of a program. Where it may stand is an affinity:
    Kueue writes into `nodeSelector` on admission, and applying the same Job again would be refused."""
    runtime = args["runtime"]
    pod = on_slice(training_pod(runtime["image"], {}, {}), runtime)
    wanted = {**pod.pop("nodeSelector"), **args["node_labels"]}
    (node,) = pod["containers"]
    command = ["python3", "-c", slice_program(), str(runtime["nodes"]), str(runtime["chips"])]
    sizes = node["resources"]
    resources = {**sizes, "limits": {**sizes["limits"], "memory": sizes["requests"]["memory"]}}
    expressions = [{"key": key, "operator": "In", "values": [value]} for key, value in wanted.items()]
    required = {"nodeSelectorTerms": [{"matchExpressions": expressions}]}
    return {
        **pod,
        "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}},
        "containers": [{**node, "command": command, "resources": resources}],
    }


def slice_program() -> str:
    """The text of `slice_check.py`."""
    return (Path(payload.__file__).with_name("slice_check.py")).read_text(encoding="utf-8")


def _alone(own: str, args: SliceProofArgs) -> dict[str, Any]:
    """Where the pods may stand, and off any slice that another job has."""
    terms = [
        {"key": JOB_KEY, "operator": "Exists"},
        {"key": JOB_KEY, "operator": "NotIn", "values": [own]},
    ]
    off = {
        "topologyKey": args["runtime"]["slice_label"],
        "labelSelector": {"matchExpressions": terms},
        "namespaceSelector": {},
    }
    return {**_pod(args)["affinity"], "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [off]}}


def _failure_rules() -> list[dict[str, Any]]:
    """A pod that the cluster took away is made again; a verdict ends the Job."""
    return [
        {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]},
        {"action": "FailJob", "onExitCodes": {"containerName": "node", "operator": "In", "values": [FAILED]}},
    ]
