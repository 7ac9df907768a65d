"""JobSet, the Kubeflow Trainer and the runtimes that a training team's TrainJobs refer to.

A pool with a fabric has a runtime of its own. It asks for a whole node with every adapter, its image has the plug-in of
NCCL for them, and its variables leave NCCL no other network: a job that would train over sockets ends at its start.

The Trainer's own runtimes are left out: its chart applies them from a job that downloads kubectl, which a private
cluster cannot.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict

import pulumi

from trainyard.components.k8s import custom_resources as cr
from trainyard.components.k8s.charts import ChartArgs, release
from trainyard.components.k8s.flows import fence
from trainyard.components.k8s.network_rules import AddressesArgs
from trainyard.components.k8s.objects import add_on_namespace, named
from trainyard.components.k8s.platform_flows import PLATFORM_FLOWS
from trainyard.components.outputs import register
from trainyard.components.prerequisites import prerequisites
from trainyard.conventions import (
    CPU_NODES,
    CPU_ONLY_PRIORITY,
    FABRIC,
    GPU_RESOURCE,
    POOL_LABEL,
    SYSTEM_NODES,
    SYSTEM_TOLERATION,
    TORCH_CPU_RUNTIME,
    TORCH_RUNTIME,
    TPU_RESOURCE,
    TRAINER_SERVICE_ACCOUNT,
    TRAINING_CONTAINER_SECURITY,
    TRAINING_GRACE_SECONDS,
    TRAINING_POD_SECURITY,
    TRAINING_SHUTDOWN_SECONDS,
    pool_runtime,
    tpu_runtime,
)
from trainyard.smoke_jobs.launch.pod import fabric_check

JOBSET_NAMESPACE = "jobset-system"
TRAINER_NAMESPACE = "kubeflow-system"
PERMANENT_EXIT_CODES = (10, 20)
"""Exit codes with which a training container says that running it again is of no use: a check failed, a figure is below
its threshold (`smoke_jobs/ddp/result.py`). torchrun itself ends with 1 whatever its ranks returned."""


class PoolRuntimeArgs(TypedDict):
    """The runtime of a pool with a fabric. Its pods take a node whole."""

    pool: str
    """Value of the nodes' label `ml.platform/pool`."""
    image: str
    """Image of the training container, `image:tag@sha256:...`, with torch and the fabric's plug-in of NCCL."""
    gpus: int
    """GPUs of a node."""
    cpu: int
    """Cores that a pod requests."""
    memory_gib: int
    """Memory that a pod requests, GiB."""
    fabric_resource: NotRequired[str]
    """Extended resource of the adapters, as their device plugin names it. Default: a claim gives them."""
    fabric_claim: NotRequired[str]
    """ResourceClaimTemplate of the teams' namespaces that gives a pod all adapters of a node. Default: an extended
    resource gives them."""
    pod_annotations: NotRequired[Mapping[str, str]]
    """Annotations that give a pod the adapters, where neither a resource nor a claim does, besides those of the mounts.
    Default: none."""
    daemon: NotRequired[Mapping[str, Any]]
    """A container that drives the adapters beside the training, as a sidecar in the spelling of Kubernetes; the
    adapters are ordinary interfaces then, and the plug-in of NCCL is the node's. Default: there is none."""
    daemon_volumes: NotRequired[Sequence[Mapping[str, Any]]]
    """Volumes of a pod with that container. Default: none."""
    daemon_mounts: NotRequired[Sequence[Mapping[str, Any]]]
    """What the training container mounts of them. Default: nothing."""
    fabric_interfaces: int
    """Adapters of a node, of which a pod takes all."""
    hugepages_mib: int
    """2 MiB pages that the fabric's driver pins on a node, MiB; 0: none."""
    fabric_environment: Mapping[str, str]
    """Variables by which NCCL has no other network than the fabric, so that it fails where it cannot use it."""


class TpuRuntimeArgs(TypedDict):
    """The runtime of a pool of TPU slices. A job of it takes a slice whole, a pod each machine."""

    pool: str
    """Value of the nodes' label `ml.platform/pool`."""
    image: str
    """Image of the training container, `image:tag@sha256:...`, with what trains on TPUs."""
    nodes: int
    """Machines of a slice."""
    chips: int
    """TPU chips of a machine."""
    cpu: int
    """Cores that a pod requests."""
    memory_gib: int
    """Memory that a pod requests, GiB."""
    node_labels: Mapping[str, str]
    """Labels of the slice's machines besides the pool's: their generation and how the chips are joined."""
    slice_label: NotRequired[str]
    """Label of a machine that tells its slice from others: all pods of a job stand where it is the same, and no other
    job's. Default: a slice is one machine."""


class TrainingRuntimesArgs(TypedDict):
    """Arguments of `TrainingRuntimes`."""

    jobset_chart: ChartArgs
    """The JobSet chart; its version is that of the controller's image too."""
    trainer_chart: ChartArgs
    """The Kubeflow Trainer chart."""
    image: str
    """Image of the training container, `image:tag@sha256:...`, with torch and torchrun; a TrainJob may name its own."""
    mounts: NotRequired[Mapping[str, str]]
    """Mount path by PersistentVolumeClaim of the team's namespace, e.g. {"data": "/data"}. Default: none."""
    environment: NotRequired[Mapping[str, str]]
    """Variables of the training container, besides those that torch needs. Default: none."""
    pod_annotations: NotRequired[Mapping[str, str]]
    """What the mounts' driver wants on a training pod. Default: nothing."""
    addresses: NotRequired[AddressesArgs]
    """Where the ground has what network policies name by address. Default: unknown, and the controllers' namespaces get
    no network policies."""
    node_selector: NotRequired[Mapping[str, str]]
    """Labels of the nodes that the controllers run on. Default: the system nodes', `ml.platform/pool: system`."""
    cpu_nodes: NotRequired[Mapping[str, str] | None]
    """Labels of the nodes of work without GPUs, empty for any; None where there are none, and then no runtime for such
    work. Default: the CPU pool's, `ml.platform/pool: cpu`."""
    pools: NotRequired[Sequence[PoolRuntimeArgs]]
    """The pools with a fabric, which have a runtime each, `torch-distributed-POOL`. Default: none."""
    tpu_pools: NotRequired[Sequence[TpuRuntimeArgs]]
    """The pools of TPU slices, which have a runtime each, `tpu-POOL`. Default: none."""
    max_restarts: NotRequired[int]
    """How often a training job restarts whole after a failure, before it fails. A pod that was taken away (eviction,
    spot reclaim) does not count. Default 3."""


class TrainingRuntimes(pulumi.ComponentResource):
    """JobSet, Kubeflow Trainer and the runtimes `torch-distributed`, one for each pool with a fabric or of TPU slices
    and, where there are nodes for it, `torch-distributed-cpu`.

    `ready` is what a TrainJob waits for.

    Raises ValueError for an image that is not pinned by its digest, and for a mount path that is not absolute.
    """

    runtime: pulumi.Output[str]
    """Name of the ClusterTrainingRuntime; carries the dependency on it."""

    def __init__(self, name: str, args: TrainingRuntimesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("trainyard:index:TrainingRuntimes", name, {}, opts)
        pod = training_pod(args["image"], args.get("mounts", {}), args.get("environment", {}))
        selector = args.get("node_selector", SYSTEM_NODES)
        before = prerequisites(opts)
        jobset_namespace = add_on_namespace(f"{name}-jobset-namespace", JOBSET_NAMESPACE, self, depends_on=before)
        trainer_namespace = add_on_namespace(f"{name}-trainer-namespace", TRAINER_NAMESPACE, self, depends_on=before)
        walls: list[pulumi.Resource] = []
        if "addresses" in args:
            child = pulumi.ResourceOptions(parent=self, depends_on=before)
            for short, namespace, made in (
                ("jobset", JOBSET_NAMESPACE, jobset_namespace),
                ("trainer", TRAINER_NAMESPACE, trainer_namespace),
            ):
                inside = named(made, namespace)
                walls += fence(
                    f"{name}-{short}", namespace, PLATFORM_FLOWS, args["addresses"], inside=inside, opts=child
                )
        jobset = release(
            f"{name}-jobset",
            args["jobset_chart"],
            release_name="jobset",
            namespace=named(jobset_namespace, JOBSET_NAMESPACE),
            values=_jobset_values(args["jobset_chart"]["version"], selector),
            parent=self,
            depends_on=[*before, *walls],
        )
        trainer = release(
            f"{name}-trainer",
            args["trainer_chart"],
            release_name="kubeflow-trainer",
            namespace=named(trainer_namespace, TRAINER_NAMESPACE),
            values=_trainer_values(selector),
            parent=self,
            depends_on=[*before, *walls, jobset],  # the Trainer makes JobSets and watches them from its start
        )
        mounted = args.get("pod_annotations", {})
        runtimes = [("torch", TORCH_RUNTIME, pod, mounted)]
        if (cpu_nodes := args.get("cpu_nodes", CPU_NODES)) is not None:
            runtimes.append(("torch-cpu", TORCH_CPU_RUNTIME, _without_gpus(pod, cpu_nodes), mounted))
        for of in args.get("pools", ()):
            own = training_pod(of["image"], args.get("mounts", {}), args.get("environment", {}))
            annotations = {**mounted, **of.get("pod_annotations", {})}
            runtimes.append((f"torch-{of['pool']}", pool_runtime(of["pool"]), on_fabric(own, of), annotations))
        of_torch = [
            cr.CustomResource(
                f"{name}-{short}",
                cr.cluster_training_runtime(
                    runtime_name,
                    pod=spec,
                    max_restarts=args.get("max_restarts", 3),
                    permanent_exit_codes=PERMANENT_EXIT_CODES,
                    pod_annotations=annotations,
                    checked_by=[
                        # A sidecar ends when the training has, and not by itself.
                        container["name"]
                        for container in spec.get("initContainers", ())
                        if "restartPolicy" not in container
                    ],
                ),
                pulumi.ResourceOptions(
                    parent=self,
                    depends_on=[trainer],
                    delete_before_replace=True,
                ),
            )
            for short, runtime_name, spec, annotations in runtimes
        ]
        of_tpus = [
            cr.CustomResource(
                f"{name}-tpu-{of['pool']}",
                cr.cluster_training_runtime(
                    tpu_runtime(of["pool"]),
                    pod=on_slice(training_pod(of["image"], args.get("mounts", {}), args.get("environment", {})), of),
                    max_restarts=args.get("max_restarts", 3),
                    permanent_exit_codes=PERMANENT_EXIT_CODES,
                    pod_annotations=mounted,
                    nodes=of["nodes"],
                    framework="jax",
                    alone_in=of.get("slice_label"),
                ),
                pulumi.ResourceOptions(parent=self, depends_on=[trainer], delete_before_replace=True),
            )
            for of in args.get("tpu_pools", ())
        ]
        self.runtime = named(of_torch[0], TORCH_RUNTIME)
        # Annotated here: a resource list at class level would be taken for an output of the component.
        self.ready: list[pulumi.Resource] = [jobset, trainer, *of_torch, *of_tpus]
        register(self)


def training_pod(image: str, mounts: Mapping[str, str], environment: Mapping[str, str]) -> dict[str, Any]:
    """The spec of a training pod: one a node, not root, nothing writable but the mounts, /tmp and /dev/shm.

    It names no node: Kueue adds the labels and tolerations of the flavor that it admits the job to. CPU and memory are
    stated so that no pod does without; a TrainJob's `resourcesPerNode` is merged over them, with the GPUs.
    """
    if "@sha256:" not in image:
        raise ValueError(f"the image of the training runtime has to be pinned by its digest, got {image}")
    for claim, path in mounts.items():
        if not path.startswith("/"):
            raise ValueError(f"claim {claim} has to be mounted at an absolute path, got {path}")
    return {
        "serviceAccountName": TRAINER_SERVICE_ACCOUNT,
        "automountServiceAccountToken": False,
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": TRAINING_GRACE_SECONDS,
        "securityContext": dict(TRAINING_POD_SECURITY),
        "containers": [
            {
                "name": "node",
                "image": image,
                "imagePullPolicy": "IfNotPresent",
                "env": [
                    {"name": "HOME", "value": "/tmp"},  # noqa: S108 - an emptyDir of the pod
                    # With the shared store a restarted worker group may wait for an address of the last attempt:
                    # 2 of 6 restarts recovered with it, 6 of 6 without (torch 2.13.0, 2026-11-20).
                    {"name": "TORCH_DISABLE_SHARE_RDZV_TCP_STORE", "value": "1"},
                    {"name": "TORCH_ELASTIC_SHUTDOWN_TIMEOUT", "value": str(TRAINING_SHUTDOWN_SECONDS)},
                    *({"name": key, "value": value} for key, value in environment.items()),
                ],
                # No limits: a TrainJob's requests are merged over these, and one above a limit of ours would be
                # refused after the queue has admitted the job.
                "resources": {"requests": {"cpu": "1", "memory": "4Gi"}},
                "securityContext": dict(TRAINING_CONTAINER_SECURITY),
                "volumeMounts": [
                    {"name": "shared-memory", "mountPath": "/dev/shm"},  # noqa: S108 - likewise
                    {"name": "tmp", "mountPath": "/tmp"},  # noqa: S108 - likewise
                    *({"name": claim, "mountPath": path} for claim, path in mounts.items()),
                ],
            }
        ],
        "volumes": [
            # Data loader workers and NCCL exchange through it; a container's usual 64 MiB are too few. It counts
            # as the pod's memory, and without a size of its own may grow to the pod's limit, or the node's memory.
            {"name": "shared-memory", "emptyDir": {"medium": "Memory"}},
            {"name": "tmp", "emptyDir": {}},
            *({"name": claim, "persistentVolumeClaim": {"claimName": claim}} for claim in mounts),
        ],
    }


def on_fabric(pod: Mapping[str, Any], of: PoolRuntimeArgs) -> dict[str, Any]:
    """The same pod, a whole node of a pool with a fabric: GPUs, adapters and huge pages, and no network but the fast.

    Adapters are an extended resource or a claim that both containers share, the Trainer merges claims by their name; or
    annotations give them to the pod.

    GPUs, adapters and huge pages are limits, which are requests too where there are none. The Trainer merges what a
    TrainJob asks for over them, resource by resource (2.3.0, `MergeResourceRequirements`): one that names GPUs keeps
    the adapters, and a request of ours beside its limit would make a pod that the API server refuses.
    """
    count = str(of["fabric_interfaces"])
    adapters = {of["fabric_resource"]: count} if "fabric_resource" in of else {}
    claimed: dict[str, Any] = {"claims": [{"name": FABRIC}]} if "fabric_claim" in of else {}
    whole = {GPU_RESOURCE: str(of["gpus"]), **adapters}
    if of["hugepages_mib"]:
        gib, rest = divmod(of["hugepages_mib"], 1024)  # as the server keeps it
        whole["hugepages-2Mi"] = f"{of['hugepages_mib']}Mi" if rest else f"{gib}Gi"
    variables = [{"name": key, "value": value} for key, value in of["fabric_environment"].items()]
    (node,) = pod["containers"]
    sizes = {"cpu": str(of["cpu"]), "memory": f"{of['memory_gib']}Gi"}
    container = {
        **node,
        "env": [*node["env"], *variables],
        "resources": {"requests": sizes, "limits": whole, **claimed},
        "volumeMounts": [*node["volumeMounts"], *of.get("daemon_mounts", ())],
    }
    check = fabric_check(
        of["image"],
        of["fabric_interfaces"],
        of.get("fabric_resource", ""),
        bool(claimed),
        of["fabric_environment"].items(),
        ethernet="daemon" in of,
    )
    claims = [{"name": FABRIC, "resourceClaimTemplateName": of["fabric_claim"]}] if "fabric_claim" in of else []
    return {
        **pod,
        **({"resourceClaims": claims} if claims else {}),
        "nodeSelector": {POOL_LABEL: of["pool"]},
        "initContainers": [check, *([of["daemon"]] if "daemon" in of else [])],
        "containers": [container],
        "volumes": [*pod["volumes"], *of.get("daemon_volumes", ())],
    }


def on_slice(pod: Mapping[str, Any], of: TpuRuntimeArgs) -> dict[str, Any]:
    """The same pod, a whole machine of a TPU slice.

    Which machine of the slice it is, and where the others are, the ground writes into its variables (TPU_WORKER_ID,
    TPU_WORKER_HOSTNAMES), as it does for pods of indexed Jobs with a subdomain, which a JobSet's are ("Deploy TPU
    workloads" of the only cloud that has them, as generally known).
    """
    (node,) = pod["containers"]
    sizes = {"cpu": str(of["cpu"]), "memory": f"{of['memory_gib']}Gi"}
    # A limit, which is the request too where there is none.
    container = {**node, "resources": {"requests": sizes, "limits": {TPU_RESOURCE: str(of["chips"])}}}
    return {**pod, "nodeSelector": {POOL_LABEL: of["pool"], **of["node_labels"]}, "containers": [container]}


def _without_gpus(pod: Mapping[str, Any], cpu_nodes: Mapping[str, str]) -> dict[str, Any]:
    """The same pod, counted as one without GPUs, on the nodes for such."""
    selector = {"nodeSelector": dict(cpu_nodes)} if cpu_nodes else {}
    return {**pod, "priorityClassName": CPU_ONLY_PRIORITY, **selector}


def _spread(labels: Mapping[str, str]) -> dict[str, Any]:
    """Affinity that puts two replicas on two nodes where there are two."""
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": dict(labels)}}
    return {
        "podAntiAffinity": {
            "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 100, "podAffinityTerm": term}]
        }
    }


def _jobset_values(version: str, node_selector: Mapping[str, str]) -> dict[str, Any]:
    return {
        # The chart in git points to a staging registry, `main` and `Always`.
        "image": {
            "repository": "registry.k8s.io/jobset/jobset",
            "tag": f"v{version.removeprefix('v')}",
            "pullPolicy": "IfNotPresent",
        },
        "controller": {
            "replicas": 2,
            "leaderElection": {"enable": True},
            "podDisruptionBudget": {"enabled": True, "minAvailable": 1},
            "nodeSelector": dict(node_selector),
            "tolerations": [dict(SYSTEM_TOLERATION)],
            "affinity": _spread({"app.kubernetes.io/instance": "jobset", "app.kubernetes.io/component": "controller"}),
            "resources": {"requests": {"cpu": "250m", "memory": "256Mi"}, "limits": {"cpu": "2", "memory": "1Gi"}},
        },
    }


def _trainer_values(node_selector: Mapping[str, str]) -> dict[str, Any]:
    return {
        "jobset": {"install": False},  # installed above; two would fight over the definitions
        "dataCache": {"enabled": False},
        "runtimes": {"defaultEnabled": False},
        "manager": {
            "replicas": 2,
            "nodeSelector": dict(node_selector),
            "tolerations": [dict(SYSTEM_TOLERATION)],
            "affinity": _spread({"app.kubernetes.io/instance": "kubeflow-trainer"}),
            "config": {"leaderElection": {"leaderElect": True}},
            "resources": {"requests": {"cpu": "250m", "memory": "256Mi"}, "limits": {"cpu": "1", "memory": "512Mi"}},
        },
    }
