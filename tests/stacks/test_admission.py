"""What the admission policies of the examples say of the examples' own jobs, and of those in the page about queues."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from tests.components.k8s.admission import refusals
from tests.components.k8s.checkers import custom_resource_problems
from tests.shared import ROOT
from trainyard.rehearsal.rehearse import rehearse

POLICY = "kubernetes:admissionregistration.k8s.io/v1:ValidatingAdmissionPolicy"


@pytest.fixture(scope="module")
def demo(rehearsed: Any) -> Any:
    return rehearsed("demo").known.resources


def policy(resources: Any, name: str) -> Any:
    (found,) = [item for item in resources if item.type == POLICY and item.inputs["metadata"]["name"] == name]
    return found.inputs["spec"]


def admitted_pod(job: Any) -> dict[str, Any]:
    """The pod that the job controller makes of a job that a queue has admitted to spot nodes."""
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "x", "uid": "1", "controller": True}
    template = job["spec"]["template"]
    labels = {**template.get("metadata", {}).get("labels", {}), "kueue.x-k8s.io/podset": "main"}
    tolerations = [{"key": "nvidia.com/gpu", "operator": "Equal", "value": "true", "effect": "NoSchedule"}]
    with_gpus = "nvidia.com/gpu" in template["spec"]["containers"][0]["resources"].get("limits", {})
    spec = {**template["spec"], **({"tolerations": tolerations} if with_gpus else {})}
    return {"metadata": {"labels": labels, "ownerReferences": [owner]}, "spec": spec}


def said_of(resources: Any, kind: str, job: Any) -> list[str]:
    """What the policies of a kind of jobs say of one that a member of a team submits."""
    names = (f"{kind}-fit-their-nodes", f"{kind}-make-allowed-pods", "jobs-are-owned-by-controllers")
    return [message for name in names for message in refusals(policy(resources, name), job, "ada")]


def team_jobs(resources: Any) -> list[Any]:
    return [
        item.inputs
        for item in resources
        if item.type == "kubernetes:batch/v1:Job" and str(item.inputs["metadata"]["namespace"]).startswith("team-")
    ]


def snippets() -> list[Any]:
    text = (ROOT / "docs" / "queues.md").read_text(encoding="utf-8")
    return [yaml.safe_load(part.partition("```")[0]) for part in text.split("```yaml\n")[1:]]


def test_every_smoke_job_is_let_in_with_its_pods(demo: Any) -> None:
    jobs = team_jobs(demo)
    assert len(jobs) > 4
    for job in jobs:
        assert said_of(demo, "jobs", job) == []
        assert refusals(policy(demo, "gpu-pods-need-a-queue"), admitted_pod(job)) == []


def test_a_smoke_job_on_too_many_gpus_or_without_its_pool_is_not(demo: Any) -> None:
    (job,) = [job for job in team_jobs(demo) if job["metadata"]["labels"]["ml.platform/smoke-pool"] == "tune"][:1]
    spec = job["spec"]["template"]["spec"]
    anywhere = {"spec": {"template": {"spec": {key: value for key, value in spec.items() if key != "affinity"}}}}
    found = refusals(policy(demo, "jobs-fit-their-nodes"), anywhere)
    assert len(found) == 1
    assert "fits no node of a pool that its queue may send it to" in found[0], "four GPUs may go to pool dev"


def test_the_jobs_in_the_page_about_queues_are_let_in(demo: Any) -> None:
    jobs = [found for found in snippets() if found.get("kind") == "Job"]
    assert len(jobs) == 3
    for job in jobs:
        assert said_of(demo, "jobs", job) == []
        assert refusals(policy(demo, "gpu-pods-need-a-queue"), admitted_pod(job)) == []


def test_the_train_jobs_in_the_page_about_queues_are_let_in(demo: Any) -> None:
    jobs = {found["metadata"]["name"]: found for found in snippets() if found.get("kind") == "TrainJob"}
    assert set(jobs) == {"pretrain", "tune"}
    for job in jobs.values():
        assert custom_resource_problems(job) == []
        assert said_of(demo, "trainjobs", job) == []
    del jobs["tune"]["spec"]["runtimePatches"]
    assert said_of(demo, "trainjobs", jobs["tune"]) != [], "its memory may not go to pool dev"


def test_the_stack_file_in_the_page_about_queues_is_understood() -> None:
    config, *_ = [found["config"] for found in snippets() if "config" in found]
    (pools,) = config.values()
    found = rehearse(ROOT, "demo", config_overrides={"gpuPools": {"train": {**pools["train"]}}})
    assert found.plan["clusters"][0]["teams"][0]["name"] == "vision"
    owned = {
        team["name"]: sum(quota["nodes"] or 0 for quota in team["quotas"])
        for team in found.plan["clusters"][0]["teams"]
    }
    assert (owned["vision"], owned["language"]) == (2, 1)


def test_the_hours_in_the_page_about_queues_are_understood() -> None:
    _, _, *hours = [found["config"] for found in snippets() if "config" in found]
    night, sleeping = (config["trainyard:offPeak"] for config in hours)
    assert sleeping == night | {"developmentSleeps": True}
    found = rehearse(ROOT, "demo", config_overrides={"offPeak": sleeping})
    assert not found.errors
    assert list(found.plan["clusters"][0]["off_peak"]["flavors"]) == ["train-reserved"]


def _pool(found: Any, name: str) -> Any:
    return next(pool for pool in found.plan["clusters"][0]["pools"] if pool["name"] == name)


def test_the_capacity_block_in_the_page_about_queues_is_understood() -> None:
    _, config, *_ = [found["config"] for found in snippets() if "config" in found]
    (pools,) = config.values()
    found = rehearse(ROOT, "demo", config_overrides={"gpuPools": pools})
    (group,) = [one for one in _pool(found, "pretrain")["node_groups"] if one["capacity"] == "reserved"]
    opens, closes = group["reservation"]["open_for_jobs"]
    assert closes - opens == 7 * 86400 - 45 * 60 - 12 * 3600
    (keeper,) = [item for item in found.known.resources if item.name == "kueue-keeper-deployment"]
    (container,) = keeper.inputs["spec"]["template"]["spec"]["containers"]
    assert f'"pretrain-reserved": [{opens}, {closes}]' in container["args"][0]
