"""A job over two nodes through the runtime of a pool with a fabric, as the Trainer makes its pods of the demo stack."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import yaml

from tests.rehearsal.refusals.builders import obj
from tests.shared import ROOT
from trainyard.recorded.resources import Resources
from trainyard.rehearsal.context import ValueContext
from trainyard.rehearsal.works.check import check_works
from trainyard.rehearsal.works.queues.kubernetes.jobs import queued_jobs
from trainyard.rehearsal.works.workloads.read import workloads

CONTEXT = ValueContext(kubernetes_version="1.35", region="us-east-1")
RUNTIME = "torch-distributed-train"
EFA = "vpc.amazonaws.com/efa"


def train_job(nodes: int, runtime: str = RUNTIME, **trainer: Any) -> Any:
    spec = {"runtimeRef": {"name": runtime}, "trainer": {"numNodes": nodes, **trainer}}
    made = {"labels": {"kueue.x-k8s.io/queue-name": "default"}}
    return obj("trainer.kubeflow.org/v1alpha1", "TrainJob", "pretrain", "team-language", metadata=made, spec=spec)


def rules(resources: list[Any]) -> set[str]:
    first = sorted(item.urn for item in resources if item.type.endswith((":Release", ":Namespace")))
    after = [
        replace(item, dependencies=tuple(first))
        if item.type.endswith((":TrainJob", ":Job")) and not item.dependencies
        else item
        for item in resources
    ]
    return {finding.rule for finding in check_works(after, CONTEXT)}


def test_it_is_rendered_with_adapters_huge_pages_and_the_proven_image(rehearsed: Any) -> None:
    resources = [*rehearsed("demo").resources, train_job(2)]
    (made,) = [one for one in workloads(Resources(resources)) if one.kind == "TrainJob"]
    assert made.replicas == 2
    (node,) = made.spec["containers"]
    assert node["resources"]["limits"] == {"nvidia.com/gpu": "8", EFA: "4", "hugepages-2Mi": "5Gi"}
    smoke = next(item for item in resources if item.name == "smoke-train-spot-job")
    (proven,) = smoke.inputs["spec"]["template"]["spec"]["containers"]
    assert node["image"] == proven["image"]
    for name, amount in node["resources"]["limits"].items():
        assert proven["resources"]["limits"][name] == amount
    variables = {item["name"]: item["value"] for item in node["env"]}
    of_smoke = {item["name"]: item.get("value") for item in proven["env"]}
    for name in ("NCCL_NET", "FI_PROVIDER", "TORCH_DISABLE_SHARE_RDZV_TCP_STORE"):
        assert variables[name] == of_smoke[name]
    (job,) = [one for one in queued_jobs(Resources(resources)) if one.kind == "TrainJob"]
    assert job.workload is not None
    (pods,) = job.workload.pod_sets
    assert (pods.count, pods.requests["nvidia.com/gpu"], pods.requests[EFA]) == (2, 8, 4)


def test_the_rooms_let_it_by(rehearsed: Any) -> None:
    assert rules([*rehearsed("demo").resources, train_job(2)]) == set()
    more = {"resourcesPerNode": {"requests": {"memory": "600Gi"}, "limits": {"nvidia.com/gpu": "8"}}}
    assert rules([*rehearsed("demo").resources, train_job(1, **more)]) == set()


@pytest.mark.parametrize(
    ("job", "rule"),
    [
        (train_job(3), "queues-never-admitted"),
        (train_job(2, "torch-distributed-trian"), "reference-runtime"),
        (train_job(1, resourcesPerNode={"requests": {"memory": "1200Gi"}}), "placement-no-node"),
        (train_job(1, resourcesPerNode={"limits": {EFA: "8"}}), "placement-no-node"),
    ],
    ids=["a gang that no capacity holds", "a runtime misspelt", "more memory than a node", "more adapters than a node"],
)
def test_the_rooms_tell_what_is_wrong_with_one(rehearsed: Any, job: Any, rule: str) -> None:
    assert rule in rules([*rehearsed("demo").resources, job])


def test_they_tell_a_runtime_of_a_pool_without_adapters(rehearsed: Any) -> None:
    """As after a change of the instance type: the runtime asks for what no node of the pool has."""
    changed = []
    for item in rehearsed("demo").resources:
        if item.type.endswith(":ClusterTrainingRuntime") and item.inputs["metadata"]["name"] == RUNTIME:
            spec = item.inputs["spec"]["template"]["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
            moved = {**spec, "nodeSelector": {"ml.platform/pool": "tune"}}
            job = {**item.inputs["spec"]["template"]["spec"]["replicatedJobs"][0]}
            job["template"] = {"spec": {**job["template"]["spec"], "template": {"spec": moved}}}
            inner = {**item.inputs["spec"]["template"]["spec"], "replicatedJobs": [job]}
            runtime = {**item.inputs["spec"], "template": {"spec": inner}}
            item = replace(item, inputs={**item.inputs, "spec": runtime})
        changed.append(item)
    assert rules([*changed, train_job(1)]) & {"placement-no-node", "queues-never-admitted"}


def snippets() -> list[dict[str, Any]]:
    text = (ROOT / "docs" / "queues.md").read_text(encoding="utf-8")
    return [yaml.safe_load(part.partition("```")[0]) for part in text.split("```yaml\n")[1:]]


def test_every_job_in_the_page_about_queues_works(rehearsed: Any) -> None:
    """The queue model plays them on the demo stack, a notebook among them, and each finds a node."""
    jobs = [
        obj(found["apiVersion"], found["kind"], found["metadata"]["name"], "team-vision", **parts(found))
        for found in snippets()
        if "kind" in found
    ]
    assert {"notebook", "pretrain", "finetune", "prepare"} <= {job.inputs["metadata"]["name"] for job in jobs}
    assert rules([*rehearsed("demo").resources, *jobs]) == set()


def parts(found: dict[str, Any]) -> dict[str, Any]:
    return {"metadata": {"labels": found["metadata"]["labels"]}, "spec": found["spec"]}


def test_a_notebook_that_no_node_of_its_pool_holds_is_told(rehearsed: Any) -> None:
    (notebook,) = [found for found in snippets() if found.get("metadata", {}).get("name") == "notebook"]
    notebook["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"]["memory"] = "64Gi"
    made = obj("batch/v1", "Job", "notebook", "team-vision", **parts(notebook))
    assert "placement-no-node" in rules([*rehearsed("demo").resources, made])


def test_a_job_over_two_nodes_claims_the_fast_interfaces_on_google_cloud(rehearsed: Any) -> None:
    """Through the runtime of the pool, as the smoke job does, by the template of its team's namespace."""
    resources = [*rehearsed("large-gcp").resources, on_google(2)]
    (made,) = [one for one in workloads(Resources(resources)) if one.kind == "TrainJob"]
    smoke = next(item for item in resources if item.name == "smoke-train-reserved-job")
    proven = smoke.inputs["spec"]["template"]["spec"]
    claims = [{"name": "fabric", "resourceClaimTemplateName": "fabric-train"}]
    assert made.spec["resourceClaims"] == proven["resourceClaims"] == claims
    (node,), (tried,) = made.spec["containers"], proven["containers"]
    assert node["resources"]["claims"] == tried["resources"]["claims"] == [{"name": "fabric"}]
    assert node["image"] == tried["image"]
    variables = {item["name"]: item.get("value") for item in node["env"]}
    of_smoke = {item["name"]: item.get("value") for item in tried["env"]}
    assert variables["NCCL_NET"] == "gIB"
    assert {name for name in variables if name.startswith(("NCCL_", "LD_"))} <= of_smoke.keys()
    assert all(of_smoke[name] == value for name, value in variables.items() if name.startswith(("NCCL_", "LD_")))
    templates = {
        item.inputs["metadata"]["namespace"]: item.inputs["spec"]["spec"]["devices"]["requests"][0]["exactly"]
        for item in resources
        if item.type.endswith(":ResourceClaimTemplate")
    }
    assert set(templates) == {"team-foundation", "team-perception", "team-forecasting"}
    assert {(one["deviceClassName"], one["count"]) for one in templates.values()} == {("mrdma.google.com", 8)}
    assert rules(resources) == set()
    assert "queues-never-admitted" in rules([*rehearsed("large-gcp").resources, on_google(5)])


def on_google(nodes: int) -> Any:
    job = train_job(nodes)
    return replace(job, inputs={**job.inputs, "metadata": {**job.inputs["metadata"], "namespace": "team-foundation"}})


@pytest.mark.parametrize(("stack", "job"), [("demo", "train-spot"), ("large-gcp", "train-reserved")])
def test_the_proof_asks_for_the_fabric_as_the_runtime_does(stack: str, job: str, rehearsed: Any) -> None:
    """An image without the plug-in, or a pod without adapters, fails the proof before it fails a user."""
    resources = rehearsed(stack).resources
    runtime = next(item for item in resources if item.name == "runtimes-torch-train")
    (replicated,) = runtime.inputs["spec"]["template"]["spec"]["replicatedJobs"]
    (asked,) = replicated["template"]["spec"]["template"]["spec"]["initContainers"]
    proof = next(item for item in resources if item.name == f"smoke-{job}-job")
    proven = [one for one in proof.inputs["spec"]["template"]["spec"]["initContainers"] if one["name"] == "fabric"]
    assert proven == [asked]
    assert asked["command"][-1] != "0" and "no plug-in of NCCL" in asked["command"][2]
