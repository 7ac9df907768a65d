"""large-gcp with networks of its own for the fast interfaces, instead of those that GKE sets up (DRANET)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.rehearsal.works.mistakes import DROP, Change, both, drop, edit, put, told
from tests.shared import ROOT
from trainyard.recorded.node_groups import GKE_NODE_POOL, gpu_node_groups
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import GCP_NETWORK, GKE_CLUSTER, JOB
from trainyard.rehearsal.rehearse import Rehearsal, rehearse
from trainyard.review.policy_check.check import check_policies

GCP = {
    "project": "northwind-ml",
    "projectNumber": "555512345678",
    "billingAccount": "01AB23-45CD67-89EF01",
    "organisationDomain": "northwind.example",
    "fastNetwork": "networks",
}
SUBNET = "gcp:compute/subnetwork:Subnetwork"
PARAMETERS = "kubernetes:networking.gke.io/v1:GKENetworkParamSet"
POD_NETWORK = "kubernetes:networking.gke.io/v1:Network"
RUNTIME = "kubernetes:trainer.kubeflow.org/v1alpha1:ClusterTrainingRuntime"
INTERFACES = "networking.gke.io/interfaces"
ATTACHED = "networkConfig.additionalNodeNetworkConfigs"


@pytest.fixture(scope="module")
def run() -> Rehearsal:
    return rehearse(ROOT, "large-gcp", config_overrides={"trainyard:gcp": GCP})


def inputs(run: Rehearsal, type_: str) -> dict[str, Any]:
    return {found.name: found.inputs for found in run.known.resources if found.type == type_}


def test_all_of_it_is_taken_works_and_breaks_no_policy(run: Rehearsal) -> None:
    assert not run.findings
    settings = {"environment": "production"}
    judged = check_policies("large-gcp", run.preview.resources, run.known.resources, settings)
    assert [str(each) for each in judged.violations] == []


def test_each_node_has_an_interface_in_nine_further_networks(run: Rehearsal) -> None:
    groups = [group for group in gpu_node_groups(Resources(run.known.resources)) if group.pool == "train"]
    assert {group.capacity for group in groups} == {"reserved", "spot", "flex-start"}
    assert {group.fabric_interfaces for group in groups} == {9}
    (rdma,) = [found for found in inputs(run, GCP_NETWORK).values() if "networkProfile" in found]
    assert rdma["networkProfile"] == "projects/northwind-ml/global/networkProfiles/us-east4-b-vpc-roce"
    subnets = [found["ipCidrRange"] for name, found in inputs(run, SUBNET).items() if "fabric" in name]
    assert len(set(subnets)) == 9


def test_runtime_and_smoke_jobs_ask_for_the_networks_by_name(run: Rehearsal) -> None:
    asked = ["default", "gvnic-1", *(f"rdma-{index}" for index in range(8))]
    (runtime,) = [found for name, found in inputs(run, RUNTIME).items() if name.endswith("torch-train")]
    template = runtime["spec"]["template"]["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]
    jobs = [found for name, found in inputs(run, JOB).items() if name.startswith("smoke-train")]
    assert len(jobs) == 2
    for pod in (template, *(job["spec"]["template"] for job in jobs)):
        annotations = pod["metadata"]["annotations"]
        assert [each["network"] for each in json.loads(annotations[INTERFACES])] == asked
        assert "resourceClaims" not in pod["spec"]
        assert pod["spec"]["initContainers"][-1]["command"][-1] == "8", "the first container counts the adapters"
    assert sorted(found["metadata"]["name"] for found in inputs(run, POD_NETWORK).values()) == sorted(asked[1:])


def test_a_pool_for_small_work_asks_for_none(run: Rehearsal) -> None:
    dev = [found for name, found in inputs(run, JOB).items() if name.startswith("smoke-dev")]
    assert dev and not any(INTERFACES in job["spec"]["template"]["metadata"]["annotations"] for job in dev)


SPOT = "gpu-nodes-train-spot"
RDMA_3 = "pod-networks-rdma-3-parameters"


@pytest.mark.parametrize(
    "change",
    [
        edit(GKE_NODE_POOL, SPOT, put(ATTACHED, DROP)),
        edit(GKE_NODE_POOL, SPOT, put(f"{ATTACHED}[8]", DROP)),
        edit(PARAMETERS, RDMA_3, put("spec.vpcSubnet", "somewhere")),
        edit(PARAMETERS, RDMA_3, put("spec.vpc", "somewhere")),
        edit(POD_NETWORK, "pod-networks-rdma-3", put("spec.parametersRef.name", "rmda-3")),
        drop(PARAMETERS, RDMA_3),
        drop(POD_NETWORK, "pod-networks-rdma-3"),
        edit(POD_NETWORK, "pod-networks-rdma-3", put("metadata.name", "rdma-33")),
        edit(GKE_CLUSTER, "cluster-cluster", put("enableMultiNetworking", False)),
    ],
    ids=[
        "no interfaces", "one interface short", "another subnet", "another VPC", "its parameters misspelt",
        "no parameters", "no network", "a network by another name", "one network a pod",
    ],
)  # fmt: skip
def test_what_a_pod_would_wait_for_in_vain_is_told(run: Rehearsal, change: Change) -> None:
    assert "reference-pod-network" in {finding.rule for finding in told(run, change)}


def test_a_subnet_is_one_networks(run: Rehearsal) -> None:
    other = inputs(run, PARAMETERS)["pod-networks-rdma-2-parameters"]["spec"]["vpcSubnet"]
    found = told(run, edit(PARAMETERS, RDMA_3, put("spec.vpcSubnet", other)))
    assert "network rdma-2's" in " ".join(finding.message for finding in found)


def test_a_network_of_somebody_elses_that_no_pod_asks_for_is_left_alone(run: Rehearsal) -> None:
    change = both(drop(POD_NETWORK, "pod-networks-gvnic-1"), edit(GKE_CLUSTER, "cluster-cluster", put("name", "n")))
    assert "reference-pod-network" in {finding.rule for finding in told(run, change)}, "pods do ask for it"
    sound = told(run, edit(POD_NETWORK, "pod-networks-gvnic-1", put("metadata.labels", {"a": "b"})))
    assert [finding.rule for finding in sound] == []
