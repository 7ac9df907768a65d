"""Pods that no node of GKE takes: mistakes put into the demo stack on Google Cloud, and into its node pools."""

from __future__ import annotations

from typing import Any

from tests.rehearsal.works.mistakes import Mistake, edit, put
from tests.rehearsal.works.mistakes_placement import FLAVOR, NO_NODE, POD, requests
from trainyard.recorded.node_groups import GKE_NODE_POOL
from trainyard.recorded.types import DEPLOYMENT, JOB

STACK = "demo-gcp"
SLICE = "tpu-slices-v6e-on-demand-1"


def pool(name: str, path: str, value: Any) -> Any:
    return edit(GKE_NODE_POOL, name, put(path, value))


def mistake(name: str, what: str, change: Any, rule: str | None = NO_NODE, why: str = "") -> Mistake:
    return Mistake(name, what, change, rule, why=why, stack=STACK)


MISTAKES = [
    mistake(
        "label of the pool misspelt",
        "the system pool's label has another value than the pods select",
        pool("cluster-system", "nodeConfig.labels", {"ml.platform/pool": "sytem"}),
    ),
    mistake(
        "labels of the pool gone",
        "the pool of small work has no labels any more",
        pool("gpu-nodes-tune-spot", "nodeConfig.labels", {}),
    ),
    mistake(
        "a taint that nobody tolerates",
        "somebody dedicates the system pool and tells no pod",
        pool("cluster-system", "nodeConfig.taints", [{"key": "dedicated", "value": "system", "effect": "NO_SCHEDULE"}]),
    ),
    mistake(
        "a taint of spot that the flavor does not know",
        "the spot pool's taint has another value than its flavor tolerates",
        pool(
            "gpu-nodes-train-spot",
            "nodeConfig.taints",
            [
                {"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"},
                {"key": "ml.platform/capacity", "value": "preemptible", "effect": "NO_EXECUTE"},
            ],
        ),
    ),
    mistake(
        "machines one size too small",
        "the system pool's machines have half a core for pods",
        pool("cluster-system", "nodeConfig.machineType", "e2-medium"),
    ),
    mistake(
        "fewer GPUs than the job wants",
        "the pool of single GPUs is used for jobs of four",
        pool("gpu-nodes-tune-spot", "nodeConfig.guestAccelerators[0].count", 1),
    ),
    mistake(
        "a tracking server larger than its node",
        "the tracking server asks for more memory than a system node has",
        edit(DEPLOYMENT, "mlflow-deployment", requests(0, cpu="1", memory="15Gi")),
    ),
    mistake(
        "a disk that is too small",
        "the boot disk does not hold what the smoke job writes",
        pool("gpu-nodes-dev-on-demand", "nodeConfig.diskSizeGb", 40),
    ),
    mistake(
        "no nodes at most",
        "the system pool may have no node",
        edit(
            GKE_NODE_POOL,
            "cluster-system",
            put("autoscaling", {"totalMinNodeCount": 0, "totalMaxNodeCount": 0, "locationPolicy": "BALANCED"}),
        ),
        "placement-no-node-yet",
    ),
    mistake(
        "a gang of more nodes than the pool may have",
        "two pods of a job that run at once, and one node",
        edit(
            GKE_NODE_POOL,
            "gpu-nodes-train-spot",
            put("autoscaling", {"totalMinNodeCount": 0, "totalMaxNodeCount": 1, "locationPolicy": "ANY"}),
        ),
        "placement-capacity",
    ),
    mistake(
        "another accelerator",
        "a pod selects GPUs that no pool has",
        edit(DEPLOYMENT, "mlflow-deployment", put(f"{POD}.nodeSelector", {"cloud.google.com/gke-accelerator": "h100"})),
    ),
    mistake(
        "spot where there is none",
        "a pod wants spot nodes and does not tolerate them",
        edit(DEPLOYMENT, "mlflow-deployment", put(f"{POD}.nodeSelector", {"cloud.google.com/gke-spot": "true"})),
    ),
    mistake(
        "a zone of another region",
        "a pod is bound to a zone in which no pool has nodes",
        edit(
            DEPLOYMENT,
            "mlflow-deployment",
            put(f"{POD}.nodeSelector", {"topology.kubernetes.io/zone": "europe-west4-a"}),
        ),
    ),
    mistake(
        "processors that no pool has",
        "a pod is built for Arm, and no pool has such machines",
        edit(DEPLOYMENT, "mlflow-deployment", put(f"{POD}.nodeSelector", {"kubernetes.io/arch": "arm64"})),
    ),
    mistake(
        "flavor of a pool that is not there",
        "a flavor selects nodes by a label of another pool",
        edit(FLAVOR, "kueue-flavor-train-spot", put("spec.nodeLabels", {"ml.platform/pool": "trian"})),
    ),
    mistake(
        "a class of nodes that there is not",
        "a pod selects a label that nobody puts on a node",
        edit(DEPLOYMENT, "mlflow-deployment", put(f"{POD}.nodeSelector", {"node.example.com/class": "gold"})),
    ),
    mistake(
        "huge pages that no node has",
        "a pod asks for huge pages on nodes that are not told to keep any",
        edit(
            JOB,
            "smoke-train-spot-job",
            put(f"{POD}.containers[0].resources.requests.hugepages-2Mi", "5Gi"),
            put(f"{POD}.containers[0].resources.limits.hugepages-2Mi", "5Gi"),
        ),
    ),
    *(
        Mistake(name, what, change, NO_NODE, stack="large-gcp")
        for name, what, change in (
            (
                "a slice of another topology",
                "the slice's node pool has another topology than its flavor and its jobs name",
                pool(SLICE, "placementPolicy.tpuTopology", "2x4"),
            ),
            (
                "machines with a chip each",
                "the slice is of the machine with one TPU chip, its jobs ask for four a machine",
                pool(SLICE, "nodeConfig.machineType", "ct6e-standard-1t"),
            ),
            (
                "another generation of TPUs",
                "the slice is of v5e, its jobs ask for v6e by label",
                pool(SLICE, "nodeConfig.machineType", "ct5lp-hightpu-4t"),
            ),
            (
                "labels of a slice gone",
                "the slice's node pool says nothing of the pool that it is of",
                pool(SLICE, "nodeConfig.labels", {}),
            ),
            (
                "more chips than a machine has",
                "the proof asks for all chips of the slice in each of its pods",
                edit(JOB, f"smoke-{SLICE.removeprefix('tpu-slices-')}-job", requests(0, **{"google.com/tpu": "16"})),
            ),
        )
    ),
]
