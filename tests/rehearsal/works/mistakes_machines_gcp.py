"""Machines that do not come to work on Google Cloud: mistakes put into the node pools of the demo stack."""

from __future__ import annotations

from tests.rehearsal.works.mistakes import DROP, Change, Mistake, edit, put
from trainyard.recorded.node_groups import GKE_NODE_POOL
from trainyard.recorded.types import GKE_CLUSTER

STACK = "demo-gcp"


def mistake(name: str, what: str, change: Change, rule: str | None, why: str = "") -> Mistake:
    return Mistake(name, what, change, rule, why=why, stack=STACK)


MISTAKES = [
    mistake(
        "an image that is gone",
        "nodes have the image with Docker",
        edit(GKE_NODE_POOL, "cluster-cpu", put("nodeConfig.imageType", "COS")),
        "machine-image",
    ),
    mistake(
        "GPUs on Windows",
        "a pool with GPUs has an image of Windows",
        edit(GKE_NODE_POOL, "gpu-nodes-dev-on-demand", put("nodeConfig.imageType", "WINDOWS_LTSC_CONTAINERD")),
        "machine-image",
    ),
    mistake(
        "no driver",
        "GKE is told to install no driver, and nothing else does",
        edit(
            GKE_NODE_POOL,
            "gpu-nodes-train-spot",
            put(
                "nodeConfig.guestAccelerators[0].gpuDriverInstallationConfig.gpuDriverVersion", "INSTALLATION_DISABLED"
            ),
        ),
        "machine-gpu-driver",
    ),
    mistake(
        "buckets without their driver",
        "the driver for volumes that are buckets is not installed",
        edit(GKE_CLUSTER, "cluster-cluster", put("addonsConfig.gcsFuseCsiDriverConfig", DROP)),
        "machine-no-driver",
    ),
    mistake(
        "buckets with their driver off",
        "the driver is there and off",
        edit(GKE_CLUSTER, "cluster-cluster", put("addonsConfig.gcsFuseCsiDriverConfig.enabled", False)),
        "machine-no-driver",
    ),
]
