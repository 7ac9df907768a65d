"""What every part that knows Google Cloud must spell alike."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, Final

GKE_ACCELERATORS: Final[Mapping[str, str]] = {
    "nvidia-tesla-t4": "T4",
    "nvidia-l4": "L4",
    "nvidia-rtx-pro-6000": "RTX PRO 6000",
    "nvidia-tesla-a100": "A100-40GB",
    "nvidia-a100-80gb": "A100-80GB",
    "nvidia-h100-80gb": "H100",
    "nvidia-h100-mega-80gb": "H100",
    "nvidia-h200-141gb": "H200",
    "nvidia-b200": "B200",
}
"""Types of `guestAccelerators` of a GKE node pool with the catalogue's names of the GPU models."""

IAP_AUDIENCE, IAP_ACCOUNT = "SMOKE_IAP_AUDIENCE", "SMOKE_IAP_ACCOUNT"
"""Variables of a job whose tracking server is behind IAP: what tokens are signed for, and the account that signs them.
The worker, which imports nothing of ours, spells them a second time (`smoke_jobs/ddp/iap.py`)."""

VERTEX_REGISTRIES: Final = re.compile(r"([a-z0-9-]+-)?docker\.pkg\.dev|([a-z]+\.)?gcr\.io|docker\.io|index\.docker\.io")
"""Hosts of the registries that Vertex AI pulls from; a name without a host is Docker Hub's (Vertex AI, "Create a custom
job", 2026-11: an image in Artifact Registry or Docker Hub)."""

TPU_FAMILIES: Final = ("ct3-", "ct3p-", "ct4p-", "ct5l-", "ct5lp-", "ct5p-", "ct6e-", "tpu7x-")
"""How the names of machines with TPU chips begin (cluster-toolkit, 2026-06-25; v2 to v4, as generally known)."""

TOPOLOGY: Final = re.compile(r"[1-9][0-9]{0,2}(x[1-9][0-9]{0,2}){1,2}")
"""How the chips of a TPU slice are joined, as a text: 4x4, 2x2x2."""


def chips_of_slice(topology: str) -> int:
    """Chips of a slice: 16 of 4x4. Raises ValueError for what is no topology."""
    if not TOPOLOGY.fullmatch(topology):
        raise ValueError(f"{topology!r} is no topology; like 4x4, or 2x2x2")
    return math.prod(map(int, topology.split("x")))


TPU_ACCELERATOR_LABEL: Final = "cloud.google.com/gke-tpu-accelerator"
"""Label of a node with TPU chips: their generation, as GKE calls it. GKE sets it from the machine."""
TPU_TOPOLOGY_LABEL: Final = "cloud.google.com/gke-tpu-topology"
"""Label of a node with TPU chips: how the chips of its slice are joined. GKE sets it."""
TPU_COUNT_LABEL: Final = "cloud.google.com/gke-accelerator-count"
"""Label of a node with TPU chips: how many it has (GKE, "Node labels" of TPUs, as generally known)."""
FLEX_START_LABEL: Final = "cloud.google.com/gke-flex-start"
"""Label of nodes of flex-start, by which pods ask for them (cluster-toolkit, 2026-06-25)."""
NODE_POOL_LABEL: Final = "cloud.google.com/gke-nodepool"
"""Label of a node with the name of its pool, which is one slice where a slice has several machines."""
LUSTRE_DRIVER: Final = "lustre.csi.storage.gke.io"
FILESTORE_DRIVER: Final = "filestore.csi.storage.gke.io"
"""Storage drivers that GKE brings as add-ons of the cluster."""

PROBE_RANGES: Final = ("35.191.0.0/16", "130.211.0.0/22")
"""Where Google's probes come from: of proxies, of balancers within a network, and of who heals machines (Cloud Load
Balancing, "Health checks overview", as generally known in 2026-11)."""
DATABASE_PORTS: Final[Mapping[str, int]] = {"POSTGRES": 5432, "MYSQL": 3306, "SQLSERVER": 1433}
"""Where engines of Cloud SQL listen, by the beginning of `databaseVersion` (as generally known in 2026-11)."""
LOG_SEVERITIES: Final = ("DEFAULT", "DEBUG", "INFO", "NOTICE", "WARNING", "ERROR", "CRITICAL", "ALERT", "EMERGENCY")
"""Severities of a log entry, the least first (Cloud Logging API, `LogSeverity`)."""

BLOCK_STORAGE_CLASS: Final = "trainyard-balanced"
"""StorageClass of the platform's own disks."""

LOCAL_SSDS: Final[Mapping[str, int]] = {
    "a3-highgpu-8g": 16,
    "a3-megagpu-8g": 16,
    "a3-ultragpu-8g": 32,
    "a4-highgpu-8g": 32,
}
"""Local SSDs that a machine always has; the number of a node pool has to be this (cluster-toolkit, 2026-06-25)."""

_SSD_CHOICES: Final[Mapping[str, tuple[int, ...]]] = {
    "a2-highgpu-1g": (1, 2, 4, 8),
    "a2-highgpu-2g": (2, 4, 8),
    "a2-highgpu-4g": (4, 8),
    "a2-highgpu-8g": (8,),
    "a2-megagpu-16g": (8,),
    "g2-standard-4": (1,),
    "g2-standard-8": (1,),
    "g2-standard-12": (1,),
    "g2-standard-16": (1,),
    "g2-standard-24": (2,),
    "g2-standard-32": (1,),
    "g2-standard-48": (4,),
    "g2-standard-96": (8,),
    "g4-standard-48": (4,),
    "g4-standard-96": (8,),
    "g4-standard-192": (16,),
    "g4-standard-384": (32,),
}
"""How many local SSDs a machine takes besides none (Compute Engine, "Choose a valid number of Local SSD disks", as
generally known in 2026-11; not read again for this)."""


def local_ssd_choices(machine_type: str) -> tuple[int, ...]:
    """How many local SSDs a node of the machine may be given; none where it has its own, or nothing is known."""
    always = LOCAL_SSDS.get(machine_type)
    return _SSD_CHOICES.get(machine_type, ()) if always is None else (always,)


FABRIC_INTERFACES: Final[Mapping[str, int]] = {
    "a3-highgpu-8g": 4,
    "a3-megagpu-8g": 8,
    "a3-ultragpu-8g": 8,
    "a4-highgpu-8g": 8,
}
"""Fast interfaces of a machine besides its first one, or two (cluster-toolkit, 2026-06-25)."""

LOCAL_SSD_GIB: Final = 375
"""Size of one local SSD (Compute Engine, as generally known)."""

_BUILT_IN_SSDS: Final = ("a2-ultragpu-", "a3-", "a4-", "a4x-")


def has_built_in_ssds(machine_type: str) -> bool:
    """Whether a machine always has its local SSDs and its price includes them (A2 Ultra, A3 and A4)."""
    return machine_type.startswith(_BUILT_IN_SSDS)


LONGEST_FLEX_START_SECONDS: Final = 604_800
"""Seven days: no node of flex-start runs longer (cluster-toolkit, 2026-06-25)."""

QUEUED_PROVISIONING: Final = "queued-provisioning.gke.io"
"""The class of provisioning requests that GKE answers when it has all nodes of a job (cluster-toolkit, 2026-06-25)."""

QUEUED_TAINT: Final = "cloud.google.com/gke-queued"
"""Key of the taint, and of the label, of nodes of such pools (same source)."""

DRANET_FAMILIES: Final = ("a3-", "a4-", "a4x-", "ct6e-", "tpu7x-")
"""Families whose fast interfaces GKE sets up itself (`accelerator_network_profile`), from 1.34.1-gke.1829001 on
(cluster-toolkit, 2026-06-25)."""


DRANET_LABEL: Final = "cloud.google.com/gke-networking-dra-driver"
"""Label, "true", of the nodes on which GKE's driver of their fast interfaces runs (cluster-toolkit, 2026-06-25)."""

HYPERDISK_FAMILIES: Final = (
    "a3-ultragpu-", "a4-", "a4x-", "c4-", "c4a-", "c4d-", "ct6e-", "m4-", "n4-", "tpu7x-", "x4-",
)  # fmt: skip
"""Families whose disks are Hyperdisk alone: no persistent disk boots them (Compute Engine, "Choose a disk type", as
generally known; of A3 Ultra also Vertex AI's DiskSpec, read 2026-11-23)."""

PERSISTENT_DISK_FAMILIES: Final = (
    "a2-",
    "c2-",
    "c2d-",
    "e2-",
    "f1-",
    "g1-",
    "g2-",
    "n1-",
    "n2-",
    "n2d-",
    "t2a-",
    "t2d-",
)
"""Families that take no Hyperdisk Balanced (Compute Engine, "About Hyperdisk Balanced", machine series support, as
generally known, 2026-11)."""

NO_STANDARD_DISK_FAMILIES: Final = ("a3-highgpu-", "a3-megagpu-", "c3-", "c3d-", "g2-", "h3-", "m3-", "z3-")
"""Families whose persistent disks are SSDs alone (Compute Engine, "About Persistent Disk", machine series support, as
generally known, 2026-11)."""

SPREAD_FAMILIES: Final = ("e2-", "f1-", "g1-", "t2a-", "t2d-")
"""Families that no compact placement takes (Compute Engine, "Placement policies", and GKE, "Define compact placement",
supported machine series, as generally known, 2026-11)."""

DATA_DISKS: Final = ("hyperdisk-ml", "hyperdisk-throughput")
"""Types of disks that boot no machine (Compute Engine, "About Hyperdisk", as generally known, 2026-11)."""

RDMA_DEVICE_CLASS: Final = "mrdma.google.com"
"""What GKE calls the RDMA interfaces of its nodes, where it sets them up itself (GKE, "Allocate network resources by
using GKE managed DRANET", read 2026-11-23)."""

GIB_TUNERS: Final[Mapping[str, str]] = {
    "a3-ultragpu-8g": "/usr/local/gib/configs/tuner_config_a3u.txtpb",
    "a4-highgpu-8g": "/usr/local/gib/configs/tuner_config_a4.txtpb",
}
"""Machines whose fast interfaces are RDMA, for which Google's plug-in of NCCL (gIB) is made, with its table of each."""

_GIB_VARIABLES: Final[Mapping[str, str]] = {
    "NCCL_NET": "gIB",
    "LD_LIBRARY_PATH": "/usr/local/gib/lib64:/usr/local/nvidia/lib:/usr/local/nvidia/lib64",
    "NCCL_CROSS_NIC": "0",
    "NCCL_NET_GDR_LEVEL": "PIX",
    "NCCL_P2P_NET_CHUNKSIZE": "131072",
    "NCCL_NVLS_CHUNKSIZE": "524288",
    "NCCL_IB_ADAPTIVE_ROUTING": "1",
    "NCCL_IB_QPS_PER_CONNECTION": "4",
    "NCCL_IB_TC": "52",
    "NCCL_IB_FIFO_TC": "84",
}


def gib_environment(machine_type: str) -> dict[str, str]:
    """Variables by which NCCL takes the plug-in on a machine or ends ("network gIB not found"), with Google's values.

    They are what its script `set_nccl_env.sh` sets, for a TrainJob that brings its own command (Google's example of Ray
    on GKE with H200 and B200, read 2026-11-23). The loader looks for the plug-in first, then for the driver, which GKE
    mounts.
    """
    return {**_GIB_VARIABLES, "NCCL_TUNER_CONFIG_PATH": GIB_TUNERS[machine_type]}


ROCE_PROFILE: Final = "{}-vpc-roce"
"""The network profile of a zone's RDMA networks, by the zone (cluster-toolkit, 2026-06-25)."""

ROCE_NETWORK: Final = re.compile(r"networkProfiles/([a-z0-9-]+)-vpc-roce$")
"""That profile as a network names it; the group is its zone."""


DCGM_PODS: Final = ("gke-managed-system", "gke-managed-dcgm-exporter")
"""Namespace of GKE's own exporter of the GPUs' figures, and its label `app.kubernetes.io/name` (GKE's documentation of
DCGM metrics, 2026); its port is called `metrics`."""

DCGM_SERIES: Final = frozenset(
    f"DCGM_FI_{field}"
    for field in (
        "DEV_FB_FREE", "DEV_FB_TOTAL", "DEV_FB_USED", "DEV_GPU_TEMP", "DEV_GPU_UTIL", "DEV_MEMORY_TEMP",
        "DEV_MEM_COPY_UTIL", "DEV_POWER_USAGE", "DEV_SM_CLOCK", "DEV_TOTAL_ENERGY_CONSUMPTION", "PROF_DRAM_ACTIVE",
        "PROF_GR_ENGINE_ACTIVE", "PROF_NVLINK_RX_BYTES", "PROF_NVLINK_TX_BYTES", "PROF_PCIE_RX_BYTES",
        "PROF_PCIE_TX_BYTES", "PROF_PIPE_FP16_ACTIVE", "PROF_PIPE_FP32_ACTIVE", "PROF_PIPE_FP64_ACTIVE",
        "PROF_PIPE_TENSOR_ACTIVE", "PROF_SM_ACTIVE",
    )
)  # fmt: skip
"""What it measures: no XID, no remapped rows, no errors of links, no reasons of clocks (read off a cluster with H100s,
2026; GKE's documentation of DCGM metrics has the same)."""


def label_value(text: str) -> str:
    """A text as a label's value: lower-case letters, digits, `_` and `-`, at most 63 (an address is none)."""
    return re.sub(r"[^a-z0-9_-]", "_", text.lower())[:63]


GOOGLE_APIS_CIDR: Final = "199.36.153.8/30"
"""Addresses of private.googleapis.com, by which Google's services are reached from a network of one's own (Virtual
Private Cloud, "Configure Private Google Access", as generally known)."""

CACHED_REGISTRIES: Final[Mapping[str, tuple[str, str]]] = {
    "docker.io": ("https://registry-1.docker.io", "hub"),
    "ghcr.io": ("https://ghcr.io", "github"),
    "nvcr.io": ("https://nvcr.io", "nvidia"),
    "public.ecr.aws": ("https://public.ecr.aws", "ecr"),
    "quay.io": ("https://quay.io", "quay"),
    "registry.k8s.io": ("https://registry.k8s.io", "k8s"),
}
"""Registries that something of ours is pulled from and that Artifact Registry can stand in front of, none with a login:
where each is, and the last part of its remote repository's name (Artifact Registry, "Remote repositories overview":
any registry of the Docker API; as generally known)."""

LOG_DELIVERY: Final = "cloud-storage-analytics@google.com"
"""The group of Google's that writes the logs of access to buckets into the bucket that is named for them: it needs
roles/storage.objectCreator there (Cloud Storage, "Usage logs & storage logs"; gcloud says the same of --log-bucket)."""

METADATA_CIDR: Final = "169.254.169.254/32"
"""The metadata server: who a pod is, and the name server of the network (as generally known)."""


def kubeconfig_document(cluster: str, name: Any) -> dict[str, Any]:
    """A kubeconfig of a GKE cluster, as data in which a program's outputs may stand; `name` is the API's DNS name.

    It holds no secret, and no authority either: the name has a certificate that every system believes. GKE's own
    plugin fetches a token of the caller's at each use.
    """
    command = {
        "apiVersion": "client.authentication.k8s.io/v1beta1",
        "command": "gke-gcloud-auth-plugin",
        "interactiveMode": "Never",
        "provideClusterInfo": True,
    }
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": cluster,
        "clusters": [{"name": cluster, "cluster": {"server": name}}],
        "contexts": [{"name": cluster, "context": {"cluster": cluster, "user": cluster}}],
        "users": [{"name": cluster, "user": {"exec": command}}],
    }


VERTEX_ACCELERATORS: Final[Mapping[str, str]] = {
    "T4": "NVIDIA_TESLA_T4",
    "V100": "NVIDIA_TESLA_V100",
    "L4": "NVIDIA_L4",
    "A100": "NVIDIA_TESLA_A100",
    "A100-40GB": "NVIDIA_TESLA_A100",
    "A100-80GB": "NVIDIA_A100_80GB",
    "H100": "NVIDIA_H100_80GB",
    "H100-MEGA": "NVIDIA_H100_MEGA_80GB",
    "H200": "NVIDIA_H200_141GB",
    "B200": "NVIDIA_B200",
    "GB200": "NVIDIA_GB200",
    "RTX PRO 6000": "NVIDIA_RTX_PRO_6000",
}
"""Vertex AI's AcceleratorType (its documentation, platform facts 2.4, 2026-11-20)."""

VERTEX_QUOTAS: Final[Mapping[str, str]] = {
    "T4": "nvidia_t4_gpus",
    "L4": "nvidia_l4_gpus",
    "A100-40GB": "nvidia_a100_gpus",
    "A100-80GB": "nvidia_a100_80gb_gpus",
    "H100": "nvidia_h100_gpus",
    "V100": "nvidia_v100_gpus",
}
"""GPU to the end of the metrics that Vertex AI counts those of custom training by (its quota page, as public programs
of 2025-11 name them). A metric that Vertex AI does not know would end `up`, so what was seen in one place only (H200,
P100, P4) is not here; GPUs are given to a project on request alone."""

VERTEX_CPUS: Final = "custom_model_training_cpus"
"""The metric of the vCPUs of N1 machines, on which T4 and V100 stand (as above)."""


def vertex_quota(gpu: str, *, spot: bool) -> str | None:
    """The metric of Vertex AI, without its domain, that custom training with a GPU counts by; None for a newer one."""
    end = VERTEX_QUOTAS.get(gpu)
    return f"custom_model_training_{'preemptible_' if spot else ''}{end}" if end is not None else None


def vertex_gpu(machine_type: str, gpu: str) -> str:
    """The key of `VERTEX_ACCELERATORS` for a machine's GPU: an H100 of A3 Mega is another accelerator to Vertex AI."""
    return f"{gpu}-MEGA" if machine_type.startswith("a3-megagpu-") else gpu
