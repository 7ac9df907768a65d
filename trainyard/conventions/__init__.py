"""What every part of an environment must spell alike, each fact once: labels, taints, claims, names, prefixes, units.

A label that a node group sets, a queue selects and a policy reads must be the same text; so must a prefix that a right
grants and a mount uses. Plain values and pure functions, so that every other module can take them from here. What only
one cloud spells is in a module named after it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

Cloud = Literal["aws", "gcp", "kubernetes"]

Capacity = Literal["reserved", "spot", "on-demand", "flex-start"]
"""How a node is paid for. A reserved node is bound to a capacity reservation or a Capacity Block; those of flex-start
come all at once when the cloud has them for a job that waits for them, and go after a time."""

Standing = Literal["reserved", "spot", "on-demand"]
"""Capacities that a job asks for and has in minutes, or has not."""

ReservationKind = Literal["reservation", "block"]
"""What is bought ahead: capacity until it is given back, or for a span of days."""

STANDING: Final[tuple[Standing, ...]] = ("reserved", "spot", "on-demand")
CAPACITIES: Final[tuple[Capacity, ...]] = (*STANDING, "flex-start")
"""All capacities in the order in which a queue tries them: what is paid for anyway, then the cheapest, then the rest,
and last what may take days to come."""

HOURS_A_MONTH: Final = 730
"""A year of 8,760 hours in twelve parts: what clouds multiply an hourly price by for a month."""

DAYS_A_MONTH: Final = 365 / 12

# Tags

CHANGING_TAGS: Final = ("cost-centre", "owner")
"""Tags whose value may change while an environment lives. They are in nothing that a new value of them would replace or
start anew, as a launch template is."""

NOBODYS: Final = "shared"
"""Value of the tag `team` on what no team has alone, and where costs by team tell of it."""

# Labels and annotations

LABEL_PREFIX: Final = "ml.platform/"

POOL_LABEL: Final = f"{LABEL_PREFIX}pool"
"""Label of nodes: the GPU pool that they are in, or `system`."""

CAPACITY_LABEL: Final = f"{LABEL_PREFIX}capacity"
"""Label of nodes: reserved, spot or on-demand. Spot nodes have a taint of this key too."""

TEAM_LABEL: Final = f"{LABEL_PREFIX}team"
"""Label of namespaces: the team that they are for."""

INSTANCE_TYPE_LABEL: Final = "node.kubernetes.io/instance-type"
"""Label of a node with its type, which the clouds' node agents set (Kubernetes: well-known labels)."""

HOSTNAME_LABEL: Final = "kubernetes.io/hostname"
"""Kubernetes' own label of a node, by which a pod asks for it."""

SLICE_PROOF_RUN_S: Final = 600
"""What the proof of a TPU slice may take once its pods run: JAX starts on every machine and compiles one sum."""

SMOKE_POOL_LABEL: Final = f"{LABEL_PREFIX}smoke-pool"
"""Label of smoke jobs: the GPU pool that they prove."""

SMOKE_COMPONENT_PREFIX: Final = "smoke-"
"""How the names of the components begin that prove an environment; the rest is the node group."""

RERUN_ANNOTATION: Final = f"{LABEL_PREFIX}rerun-on"
"""Annotation of smoke jobs: what makes them run again when it changes, as JSON."""

NODE_IMAGE_ANNOTATION: Final = f"{LABEL_PREFIX}node-image"
"""Annotation of smoke jobs: image and launch template that the proven nodes start with."""

QUEUE_ANNOTATION: Final = f"{LABEL_PREFIX}cluster-queue"
"""Annotation of a team's namespace: the ClusterQueue that its jobs are counted in."""

RUNTIME_CHECKSUM_ANNOTATION: Final = f"{LABEL_PREFIX}runtime-checksum"
"""Annotation of pods: digest of the programs that are mounted into them, so that a change of these starts new pods."""

# Nodes

GPU_RESOURCE: Final = "nvidia.com/gpu"
"""The extended resource, and the key of the taint of GPU nodes."""

TPU_RESOURCE: Final = "google.com/tpu"
"""The extended resource of TPU chips, and the key of the taint of their nodes."""

ACCELERATORS: Final = (GPU_RESOURCE, TPU_RESOURCE)
"""What a job takes only through a queue."""


DEVICE_PLUGIN_LABEL: Final = "nvidia.com/device-plugin.config"
"""Label of a node that names what the NVIDIA device plugin does there, one of its chart's `config.map`."""
_TIME_SLICES: Final = "time-slices-"


def time_slices_config(slices: int) -> str:
    """Value of that label where as many pods take turns on each GPU."""
    return f"{_TIME_SLICES}{slices}"


_MIG: Final = "mig-"


def mig_config(instances: int, profile: str) -> str:
    """Value of that label where each GPU is partitioned into so many instances of a profile: `mig-7-1g.10gb`."""
    return f"{_MIG}{instances}-{profile}"


def pods_per_gpu_of(config: str) -> int:
    """How many pods each GPU is for by a value of that label; 1 by any other name."""
    for prefix in (_TIME_SLICES, _MIG):
        count, _, _ = config.removeprefix(prefix).partition("-")
        if config.startswith(prefix) and count.isdecimal():
            return int(count)
    return 1


WHOLE_MACHINE_GPUS: Final = 8
"""GPUs of a whole machine, at least: smaller ones are parts of it."""


def taken_whole(gpus_per_node: int, fabric_interfaces: int, pods_per_gpu: int = 1) -> bool:
    """Whether jobs take the nodes of a pool whole: several GPUs a node and a fabric between the nodes, or a whole
    machine whose GPUs pods do not share (`pods_per_gpu` have a part or a turn of each).

    Quotas of such a pool are in whole nodes, because a queue gives nothing back to a job that is larger than what its
    team owns of a capacity. In every other pool small jobs share nodes, and quotas are in GPUs.
    """
    if pods_per_gpu > 1:
        return False
    return gpus_per_node >= WHOLE_MACHINE_GPUS or (gpus_per_node > 1 and fabric_interfaces > 0)


SYSTEM_POOL: Final = "system"
SYSTEM_NODES: Final[Mapping[str, str]] = {POOL_LABEL: SYSTEM_POOL}
"""Node selector of the platform's own pods."""
SYSTEM_TAINT: Final[Mapping[str, str]] = {"key": "CriticalAddonsOnly", "value": "true", "effect": "NoSchedule"}
"""Keeps people's pods off the system nodes: a key that clusters' own add-ons tolerate as they come (CoreDNS and
EBS driver, 2026-11), and that teams' pods may not."""
SYSTEM_TOLERATION: Final[Mapping[str, str]] = {
    "key": SYSTEM_TAINT["key"],
    "operator": "Equal",
    "value": SYSTEM_TAINT["value"],
    "effect": SYSTEM_TAINT["effect"],
}

CPU_POOL: Final = "cpu"
CPU_NODES: Final[Mapping[str, str]] = {POOL_LABEL: CPU_POOL}
"""Labels of the nodes for people's pods without GPUs. They have no taint: such a pod asks for nothing to get there."""

GPU_TOLERATION: Final[Mapping[str, str]] = {
    "key": GPU_RESOURCE,
    "operator": "Equal",
    "value": "true",
    "effect": "NoSchedule",
}
SPOT_TOLERATION: Final[Mapping[str, str]] = {
    "key": CAPACITY_LABEL,
    "operator": "Equal",
    "value": "spot",
    "effect": "NoSchedule",
}

SYSTEM_PRIORITIES: Final = ("system-cluster-critical", "system-node-critical")
"""Kubernetes' own priority classes, for what a cluster or a node does not run without. No team's pod has one."""

ACCELERATOR_PREFIXES: Final = tuple(f"{resource.partition('/')[0]}/" for resource in ACCELERATORS)
"""How the names of accelerators' resources begin: whole GPUs, slices of them (`nvidia.com/mig-...`), TPU chips."""

RESERVED_TAINTS: Final = (
    *ACCELERATOR_PREFIXES,
    LABEL_PREFIX,
    SYSTEM_TAINT["key"],
    "node-role.kubernetes.io/",
)
"""How the keys of taints begin whose nodes are not for people's pods without GPUs. Nodes with a fabric
have the GPUs' taint too."""

# Teams and their pods

FAIR_SHARING_STRATEGIES: Final = ("LessThanOrEqualToFinalShare",)
"""How queues share what the owners leave idle: a job takes borrowed GPUs from a team whose share stays at least as
large as its own becomes. With `LessThanInitialShare` besides, another team's job of half a node evicts one that fills a
whole node, because priorities are not compared between teams (Kueue 0.19.2, 34 scenarios on a live cluster,
2026-11-22)."""

CPU_ONLY_PRIORITY: Final = "cpu-only"
"""PriorityClass of the pods without GPUs in teams' namespaces, which it counts against the team's part of the CPU
pool. Pods with GPUs have none: the queue rations them, and decides who goes first."""

OFF_PEAK_LOCAL_QUEUE: Final = "off-peak"
"""LocalQueue of every team for work that can wait for the night, where the stack file has such hours."""

MANAGED_TARGETS: Final[Mapping[str, str]] = {"aws": "sagemaker", "gcp": "vertex"}
"""Where `trainyard smoke` sends the job of a stack without a cluster, by its cloud."""

MANAGED_NAMES: Final[Mapping[str, str]] = {"aws": "SageMaker", "gcp": "Vertex AI"}
"""Managed training for people, by the cloud."""

SMOKE_PREFIX: Final = "smoke"
"""Prefix in the artifacts bucket of what smoke jobs of managed training leave."""

SMOKE_LOCAL_QUEUE: Final = "smoke"
"""LocalQueue of a team's smoke jobs, to the same ClusterQueue as its others: an upgrade holds those, and has new nodes
proven through this one before people's jobs run on them."""

TORCH_RUNTIME: Final = "torch-distributed"
"""ClusterTrainingRuntime of TrainJobs with GPUs."""
TORCH_CPU_RUNTIME: Final = f"{TORCH_RUNTIME}-{CPU_POOL}"
"""The runtime of TrainJobs without GPUs: its pods have the priority class that counts them, which a TrainJob itself
cannot state. That each is used for what it is for, an admission policy asks of the TrainJob."""


def tracking_database(environment: str) -> str:
    """Name of the tracking database of an environment: `acme-demo-mlflow`."""
    return f"{environment}-mlflow"


TRACKING_DRILL_TAG: Final = "tracking-drill-of"
"""Tag of an instance that a drill restored, beside the environment's: the tracking database that it is a copy of."""


def pool_runtime(pool: str) -> str:
    """Name of the runtime of a pool with a fabric."""
    return f"{TORCH_RUNTIME}-{pool}"


def tpu_runtime(pool: str) -> str:
    """Name of the runtime of a pool of TPU slices."""
    return f"tpu-{pool}"


FABRIC: Final = "fabric"
"""What a pod calls its claim on the fast interfaces, and the first container of a pool's runtime, which checks them."""


def fabric_claim(pool: str) -> str:
    """Name of the template, in each team's namespace, of a pod's claim on all fast interfaces of a node of a pool."""
    return f"{FABRIC}-{pool}"


TEAM_STORAGE: Final = "storage"
"""ConfigMap in a team's namespace that tells where its part of the object store is, ready for `envFrom`."""
CHECKPOINTS_URI: Final = "CHECKPOINTS_URI"
"""Its key, and the variable, of the team's part of the checkpoint tier."""
TRAINER_SERVICE_ACCOUNT: Final = "trainer"
"""Name of the service account of training pods, in every team's namespace."""

TRAINER_UID: Final = 10001
TRAINER_GID: Final = 10001
"""Training containers run as this user and group: at least 10000, so that no user of the node's is met (CKV_K8S_40).
The group is also the pods' `fsGroup`, which is what lets them write to a mounted bucket."""

TRAINING_POD_SECURITY: Final[Mapping[str, bool | int | str | Mapping[str, str]]] = {
    "runAsNonRoot": True,
    "runAsUser": TRAINER_UID,
    "runAsGroup": TRAINER_GID,
    # A driver that mounts a bucket gives the mount to this group; without it only root could use it.
    "fsGroup": TRAINER_GID,
    "fsGroupChangePolicy": "OnRootMismatch",
    "seccompProfile": {"type": "RuntimeDefault"},
}
"""`securityContext` of every training pod."""

TRAINING_CONTAINER_SECURITY: Final[Mapping[str, bool | Mapping[str, list[str]]]] = {
    "allowPrivilegeEscalation": False,
    "readOnlyRootFilesystem": True,
    "capabilities": {"drop": ["ALL"]},
}
"""`securityContext` of their containers: nothing more than training needs."""

TRAINING_GRACE_SECONDS: Final = 120
"""Seconds from SIGTERM to SIGKILL of a training pod: two minutes, the longest notice that a cloud gives a spot node."""

TRAINING_SHUTDOWN_SECONDS: Final = 100
"""Seconds of `TRAINING_GRACE_SECONDS` that torchrun gives its workers. Its own default is 30 s (measured with torch
2.13.0, 2026-11-20), which is less than a checkpoint may take."""

DATA_CLAIM: Final = "data"
CHECKPOINTS_CLAIM: Final = "checkpoints"
HOME_CLAIM: Final = "home"
SCRATCH_CLAIM: Final = "scratch"
"""Claims of the storage tiers; the same names in every team's namespace, so that one training runtime mounts them."""

INGEST_NAMESPACE: Final = "ingest"
"""Namespace of the jobs that write the data, and the name of their service account."""

INGEST_GROUP: Final = "ingest"
"""Kubernetes group of the people who run them. No team's is called so."""

ZONE_LABEL: Final = "topology.kubernetes.io/zone"
"""Label of a node that names its zone, on every cloud."""

NOTEBOOKS_NAMESPACE: Final = "notebooks"
"""Namespace of JupyterHub and of everybody's notebooks, which is no team's."""
NOTEBOOKS_SIGN_ON_SECRET: Final = "notebooks-sign-on"  # noqa: S105 - a name
"""Secret there that whoever runs the platform fills: the hub's client secret at the identity provider."""
NOTEBOOKS_SIGN_ON_KEY: Final = "client-secret"
"""Key of it."""
FILLED_WITH_ANNOTATION: Final = "ml.platform/filled-with"
"""Annotation of an object that somebody fills later: the keys that its readers ask for, with commas between them."""
NOTEBOOKS_PORT_FORWARD: Final = "http://localhost:8000"
"""Where people find the hub while `kubectl port-forward` runs."""

EGRESS_CONFIG_MAP = "egress"
"""ConfigMap in a team's namespace with the variables by which programs find the egress proxy, for `envFrom`."""

MLFLOW_CREDENTIALS_SECRET: Final = "mlflow-credentials"  # noqa: S105 - a name
"""Name of the Secret that MLflow's clients need, in every team's namespace where the environment has an MLflow
server."""

MLFLOW_PEOPLE_SECRET: Final = "mlflow-people"  # noqa: S105 - a name
"""Name of the Secret with the logins of people, in the server's own namespace; its keys spell `team+who` as
`team.who`."""
KUEUE_NAMESPACE: Final = "kueue-system"
"""Where Kueue's manager runs, and the keepers beside it."""
MLFLOW_NAMESPACE: Final = "mlflow"
MLFLOW_SERVICE: Final = "mlflow"
MLFLOW_PORT: Final = 5000
"""Where the tracking server is on a cluster."""

MLFLOW_POOL_SIZE: Final = 2
MLFLOW_POOL_OVERFLOW: Final = 2
"""Connections of a pool of the tracking server to its database: those that it keeps, and those beside them at most."""
MLFLOW_POOLS: Final = 3
"""Pools of each of its processes: tracking, registry and accounts make an engine each, also on one database (MLflow
3.17.2). The sum of all is kept below what the database takes, of every profile."""
MLFLOW_POOLS_WITHOUT_ACCOUNTS: Final = 2
"""Those of a server that has no accounts of its own (`--app-name=basic-auth` is not there)."""
MLFLOW_ADMIN: Final = "admin"
"""The account that MLflow's server has from the start."""
MLFLOW_PERMISSIONS: Final = ("READ", "NO_PERMISSIONS")
"""Rights that a team may have in what another made, as MLflow 3.17.2 spells them: with more, it could change it."""
MLFLOW_SIGN_ON: Final = "sign-on.json"
"""File that the guard of MLflow's server reads, beside it: the identity provider whose tokens open it."""
MLFLOW_AUTHORIZATION: Final = "tracking_guard:authorize"
"""The function that lets a request on, of a module that lies beside the server's other programs."""
MLFLOW_CREDENTIALS_PATH: Final = "/run/secrets/mlflow"
"""Where a job mounts it: the Secret names the file in it with the authority of the server's certificate."""


LONGEST_NAME: Final = 20
"""Longest name of a client, an environment or a team, in characters: names that are built from them stay within 63."""


def team_namespace(team: str) -> str:
    """The namespace of a team."""
    return f"team-{team}"


def team_group(team: str) -> str:
    """Kubernetes group of a team's members; the cloud maps its identities to it."""
    return f"team:{team}"


def team_prefix(team: str) -> str:
    """Where a team's files are in a bucket or a file system that the teams share.

    Ends with a slash: rights are granted by prefix, and "teams/a" would also mean "teams/ab/".
    """
    return f"teams/{team}/"


def data_prefix(team: str | None = None) -> str:
    """Where the data of all teams are in the data bucket, or those of one."""
    return f"data/{team_prefix(team) if team else ''}"


def scratch_prefix(team: str | None = None) -> str:
    """Where the folders of the teams' scratch space are, beside the data and not among them."""
    return f"scratch/{team_prefix(team) if team else ''}"


def gpu_node_labels(pool: str, capacity: str) -> dict[str, str]:
    """Labels that the nodes of a pool in one capacity carry on every ground, and by which jobs select them."""
    return {POOL_LABEL: pool, CAPACITY_LABEL: capacity}


def gpu_node_tolerations(capacity: str) -> list[dict[str, str]]:
    """Tolerations for every taint of a GPU node group of one capacity.

    Raises ValueError for an unknown capacity.
    """
    if capacity not in CAPACITIES:
        raise ValueError(f"a capacity is one of {', '.join(CAPACITIES)}, got {capacity}")
    spot = [dict(SPOT_TOLERATION)] if capacity == "spot" else []
    return [dict(GPU_TOLERATION), *spot]


def tpu_node_tolerations(capacity: str) -> list[dict[str, str]]:
    """Tolerations for every taint of the nodes of a TPU slice of one capacity.

    Raises ValueError for an unknown capacity.
    """
    _, *spot = gpu_node_tolerations(capacity)
    return [{"key": TPU_RESOURCE, "operator": "Exists", "effect": "NoSchedule"}, *spot]
