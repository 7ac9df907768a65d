"""Pods on the node pools of GKE: each mistake is told; what is right, or not known, is not."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import ON_GOOGLE
from tests.rehearsal.refusals.builders import obj, resource
from tests.rehearsal.works.mistakes import told
from tests.rehearsal.works.mistakes_gke import MISTAKES
from tests.rehearsal.works.placement.test_scheduler import asking, pods
from tests.rehearsal.works.placement.test_scheduler import told as told_of
from trainyard.catalog import gke_nodes
from trainyard.recorded.node_groups import GKE_NODE_POOL
from trainyard.recorded.types import GKE_CLUSTER


@pytest.mark.parametrize("stack", ON_GOOGLE)
def test_no_example_stack_has_a_finding(rehearsed, stack):
    assert [finding for finding in told(rehearsed(stack)) if finding.rule.startswith("placement-")] == []


@pytest.mark.parametrize("mistake", MISTAKES, ids=[mistake.name for mistake in MISTAKES])
def test_a_mistake_is_told(rehearsed, mistake):
    rules = {finding.rule for finding in told(rehearsed(mistake.stack), mistake.change, "placement")}
    if mistake.rule is None:
        assert mistake.why
        assert not {rule for rule in rules if rule.startswith("placement-")}
    else:
        assert mistake.rule in rules


def of_stack(resources):
    return [rule for _, rule in told_of(*resources)]


def cluster(**more: Any):
    return resource(GKE_CLUSTER, "c", {"location": "europe-west4", "removeDefaultNodePool": True, **more})


def pool(name: str, machine: str = "e2-standard-4", most: int = 3, **node: Any):
    inputs = {
        "location": "europe-west4",
        "autoscaling": {"minNodeCount": 0, "maxNodeCount": most},
        "nodeConfig": {"machineType": machine, **node},
    }
    return resource(GKE_NODE_POOL, name, inputs)


GPU = {
    "machine": "g2-standard-8",
    "guestAccelerators": [{"type": "nvidia-l4", "count": 1}],
    "taints": [{"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"}],
}
SERVES = pods(name="serve", container=asking(cpu="2", **{"nvidia.com_gpu": "1"}))


def test_a_pod_that_asks_for_gpus_tolerates_their_taint_by_itself():
    assert of_stack([cluster(), pool("gpu", **GPU), SERVES]) == []


def test_one_that_does_not_has_to_say_so():
    assert of_stack([cluster(), pool("gpu", **GPU), pods(name="web")]) == ["placement-no-node"]


def test_one_that_a_job_fills_in_may_ask_for_them_there():
    """GKE tolerates the taint once the job names GPUs; another taint it does not."""
    runtime = obj(
        "trainer.kubeflow.org/v1alpha1",
        "ClusterTrainingRuntime",
        "torch",
        spec={"template": {"spec": {"replicatedJobs": [{"name": "node", "template": {"spec": {"template": {"spec": {
            "containers": [{"name": "node", "image": "acme/train:1"}]
        }}}}}]}}},
    )  # fmt: skip
    assert of_stack([cluster(), pool("gpu", **GPU), runtime]) == []
    kept = GPU | {"taints": [{"key": "team", "value": "vision", "effect": "NO_SCHEDULE"}]}
    assert of_stack([cluster(), pool("gpu", **kept), runtime]) == ["placement-no-node"]


def test_a_shared_gpu_counts_as_often_as_it_is_shared():
    sharing = {"gpuSharingStrategy": "MPS", "maxSharedClientsPerGpu": 4}
    shared = GPU | {"guestAccelerators": [{"type": "nvidia-l4", "count": 1, "gpuSharingConfig": sharing}]}
    wants = pods(name="serve", container=asking(cpu="2", **{"nvidia.com_gpu": "4"}))
    assert of_stack([cluster(), pool("gpu", **shared), wants]) == []
    assert of_stack([cluster(), pool("gpu", **GPU), wants]) == ["placement-no-node"]


@pytest.mark.parametrize(
    "more",
    [
        [cluster(enableAutopilot=True)],
        [cluster(clusterAutoscaling={"enabled": True})],
        [cluster(removeDefaultNodePool=False)],  # the default pool is in no resource of its own
        [cluster(), resource(GKE_CLUSTER, "d", {})],
    ],
    ids=["autopilot", "auto-provisioning", "default pool", "two clusters"],
)
def test_where_there_may_be_other_nodes_nothing_is_told(more):
    wrong = pods(name="web", nodeSelector={"pool": "none"})
    assert of_stack([*more, pool("small"), wrong]) == []
    assert of_stack([cluster(), pool("small"), wrong]) == ["placement-no-node"]


def test_limits_are_a_zone_s_where_they_are_no_totals():
    spread = pods(name="web", replicas=4, container=asking(cpu="3"))
    zones = ["europe-west4-a", "europe-west4-b"]
    two = pool("small")
    three = resource(GKE_NODE_POOL, "small", {**two.inputs, "nodeLocations": zones})
    assert of_stack([cluster(), three, spread]) == []
    less = resource(
        GKE_NODE_POOL, "small", {**three.inputs, "autoscaling": {"totalMinNodeCount": 0, "totalMaxNodeCount": 3}}
    )
    assert of_stack([cluster(), less, spread]) == ["placement-capacity"]


@pytest.mark.parametrize(
    ("gib", "kept"), [(4, 1.0), (8, 1.8), (16, 2.6), (32, 3.56), (128, 9.32), (256, 11.88)]
)  # the documentation's own steps, added up
def test_what_the_kubelet_keeps(gib, kept):
    assert float(gke_nodes.kubelet_gib(gib)) == pytest.approx(kept)


def test_cores_and_disk_of_the_documentation_s_steps():
    assert float(gke_nodes.kubelet_cores(4)) == pytest.approx(0.08)
    assert float(gke_nodes.kubelet_cores(16)) == pytest.approx(0.11)
    assert gke_nodes.usable_disk_gib(100) == pytest.approx(90 - 41)
    assert gke_nodes.usable_disk_gib(1000) == pytest.approx(800)
