from __future__ import annotations

from dataclasses import replace

import kubernetes_validate

from tests.components.k8s.checkers import custom_resource_problems
from tests.smoke_jobs.launch.support import CPU, GPU_POOL
from trainyard.smoke_jobs.ddp.options import parse
from trainyard.smoke_jobs.ddp.topology import detect
from trainyard.smoke_jobs.launch.trainjob import MANAGER, render


def test_it_keeps_its_definition():
    for spec in (GPU_POOL, CPU, replace(GPU_POOL, nodes=1, tracking_secret="", pool="")):
        found = render(spec)
        assert custom_resource_problems(found.train_job) == []
        kubernetes_validate.validate(found.config_map, "1.35", strict=True)


def test_the_queue_is_named_on_the_train_job():
    labels = render(GPU_POOL).train_job["metadata"]["labels"]
    assert labels["kueue.x-k8s.io/queue-name"] == "vision"
    assert labels["kueue.x-k8s.io/priority-class"] == "standard"


def _patch():
    patch = render(GPU_POOL).train_job["spec"]["runtimePatches"][0]
    assert patch["manager"] == MANAGER
    return patch["trainingRuntimeSpec"]["template"]["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]


def test_the_runtime_is_patched_with_what_it_lacks_only():
    pod = _patch()
    assert [volume["name"] for volume in pod["volumes"]] == ["smoke-code", "smoke-tracking"]
    assert pod["containers"][0]["name"] == "node"
    assert {mount["mountPath"] for mount in pod["containers"][0]["volumeMounts"]} == {
        "/smoke/ddp",
        "/run/secrets/mlflow",
    }
    assert "nodeAffinity" in pod["affinity"]
    assert not {"nodeSelector", "tolerations"} & pod.keys()


def test_the_trainer_runs_the_worker_on_whole_nodes():
    trainer = render(GPU_POOL).train_job["spec"]["trainer"]
    assert trainer["command"] == ["python3", "/smoke/ddp/start.py"]
    assert (trainer["numNodes"], trainer["numProcPerNode"]) == (2, 8)
    assert trainer["resourcesPerNode"]["limits"]["nvidia.com/gpu"] == "8"
    names = [item["name"] for item in trainer["env"]]
    assert len(names) == len(set(names))
    assert "HOME" not in names, "the runtime's container has it, and a duplicate is refused"


def test_the_worker_finds_its_place_in_what_the_trainer_sets():
    found = render(GPU_POOL)
    env = {item["name"]: item["value"] for item in found.train_job["spec"]["trainer"]["env"]}
    name = found.name
    of_the_trainer = {"PET_NNODES": "2", "PET_NODE_RANK": "1", "PET_MASTER_ADDR": f"{name}-node-0-0.{name}"}
    options = parse([], env)
    topology = detect(options, of_the_trainer)
    assert (topology.nodes, topology.node_rank, topology.head) == (2, 1, f"{name}-node-0-0.{name}")


def test_the_name_follows_the_content():
    name = render(GPU_POOL).name
    assert render(GPU_POOL).name == name != render(replace(GPU_POOL, cpu=60)).name
    assert render(replace(GPU_POOL, rerun_on=(("submitted", "now"),))).name != name
