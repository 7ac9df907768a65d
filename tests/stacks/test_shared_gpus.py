"""A development pool whose GPUs pods take turns on, or have instances of, in a whole rehearsed stack of each cloud."""

from __future__ import annotations

import base64
import subprocess
from typing import Any

import pytest
import yaml

from tests.shared import ROOT
from trainyard.recorded.node_groups import NodeGroup, gpu_node_groups
from trainyard.recorded.queues import CLUSTER_QUEUE, gpu_quotas
from trainyard.recorded.read import value_at
from trainyard.recorded.resources import Resources
from trainyard.rehearsal.rehearse import Rehearsal, rehearse

TRAIN = {"reserved": {"reservationId": "cr-0123456789abcdef0", "nodes": 1, "availabilityZone": "us-east-1b"}}
SHARED = {"dev": {"sharing": {"timeSlices": 4, "acrossTeams": True}}}
POOLS: dict[str, dict[str, Any]] = {
    "demo": {"train": TRAIN, **SHARED},
    "demo-gcp": {"dev": {**SHARED["dev"], "localSsds": 1}},
}
TAG = "aws:autoscaling/tag:Tag"
PLUGIN = "gpu-nvidia-device-plugin"


@pytest.fixture(scope="module", params=POOLS)
def shared(request: pytest.FixtureRequest) -> Rehearsal:
    found = rehearse(ROOT, request.param, config_overrides={"gpuPools": POOLS[request.param]})
    assert not found.errors, found.errors
    return found


def groups(found: Rehearsal) -> list[NodeGroup]:
    return [group for group in gpu_node_groups(Resources(found.resources)) if group.pool == "dev"]


def test_queues_hand_out_what_nodes_tell_pods_of(shared: Rehearsal) -> None:
    offered = {f"dev-{group.capacity}": 4 * group.gpus_per_node * group.max_nodes for group in groups(shared)}
    handed: dict[str, float] = {}
    for queue in Resources(shared.resources).of(CLUSTER_QUEUE):
        for flavor, gpus in gpu_quotas(queue):
            handed[flavor] = handed.get(flavor, 0) + gpus
    assert offered
    assert {name: gpus for name, gpus in handed.items() if name.startswith("dev-")} == offered


def test_the_smoke_job_takes_one_turn_and_no_more(shared: Rehearsal) -> None:
    asked = [
        value_at(item.inputs, "spec", "template", "spec", "containers")[0]["resources"]["limits"]["nvidia.com/gpu"]
        for item in shared.resources
        if item.type.endswith("batch/v1:Job") and "smoke-dev" in item.name
    ]
    assert asked
    assert set(asked) == {"1"}


def test_a_node_says_how_its_gpus_are_shared(shared: Rehearsal) -> None:
    for group in groups(shared):
        if shared.stack == "demo-gcp":
            (gpu,) = value_at(group.resource.inputs, "nodeConfig", "guestAccelerators")
            assert gpu["gpuSharingConfig"] == {"gpuSharingStrategy": "TIME_SHARING", "maxSharedClientsPerGpu": 4}
        else:
            assert group.labels["nvidia.com/device-plugin.config"] == "time-slices-4"


def test_on_google_cloud_a_node_has_the_disks_that_the_settings_ask_for(shared: Rehearsal) -> None:
    if shared.stack != "demo-gcp":
        return
    for group in gpu_node_groups(Resources(shared.resources)):
        asked = value_at(group.resource.inputs, "nodeConfig", "ephemeralStorageLocalSsdConfig", "localSsdCount")
        assert asked == (1 if group.pool == "dev" else None), group.name


def test_on_aws_the_plugin_knows_the_name_and_the_autoscaler_the_number(shared: Rehearsal) -> None:
    if shared.stack == "demo-gcp":
        assert not [item for item in shared.resources if item.name == PLUGIN], "GKE brings its own"
        return
    (plugin,) = (item for item in shared.resources if item.name == PLUGIN)
    config = value_at(plugin.inputs, "values", "config")
    slicing = yaml.safe_load(config["map"]["time-slices-4"])["sharing"]["timeSlicing"]
    assert slicing["resources"] == [{"name": "nvidia.com/gpu", "replicas": 4}]
    assert slicing["failRequestsGreaterThanOne"] is True
    assert yaml.safe_load(config["map"][config["default"]]) == {"version": "v1"}, "nodes without the label"
    told = {
        item.name: value_at(item.inputs, "tag", "value")
        for item in shared.resources
        if item.type == TAG and str(value_at(item.inputs, "tag", "key")).endswith("resources/nvidia.com/gpu")
    }
    of_dev = {value for name, value in told.items() if "-dev-" in name}
    assert of_dev == {str(4 * group.gpus_per_node) for group in groups(shared)}


PARTITIONED: dict[str, tuple[str, dict[str, Any]]] = {
    "demo": ("1g.20gb", {"instanceType": "p5.48xlarge", "fabric": False, "onDemand": {"maxNodes": 1}}),
    "demo-gcp": ("2g.10gb", {"instanceType": "a2-highgpu-1g", "fabric": False, "onDemand": {"maxNodes": 2}}),
}
INSTANCES = {"demo": 4, "demo-gcp": 3}


@pytest.fixture(scope="module", params=PARTITIONED)
def partitioned(request: pytest.FixtureRequest) -> Rehearsal:
    profile, pool = PARTITIONED[request.param]
    pools = {**POOLS[request.param], "dev": {"enabled": False}, "parts": {**pool, "sharing": {"mig": profile}}}
    found = rehearse(ROOT, request.param, config_overrides={"gpuPools": pools})
    assert not found.errors, found.errors
    return found


def test_instances_of_gpus_are_handed_out_and_offered_alike(partitioned: Rehearsal) -> None:
    of_pool = [group for group in gpu_node_groups(Resources(partitioned.resources)) if group.pool == "parts"]
    instances = INSTANCES[partitioned.stack]
    offered = {f"parts-{group.capacity}": instances * group.gpus_per_node * group.max_nodes for group in of_pool}
    handed: dict[str, float] = {}
    for queue in Resources(partitioned.resources).of(CLUSTER_QUEUE):
        for flavor, gpus in gpu_quotas(queue):
            handed[flavor] = handed.get(flavor, 0) + gpus
    assert offered and {name: gpus for name, gpus in handed.items() if name.startswith("parts-")} == offered
    assert all(group.pods_per_gpu == instances for group in of_pool)


def test_a_node_is_told_how_its_gpus_are_partitioned(partitioned: Rehearsal) -> None:
    profile, _ = PARTITIONED[partitioned.stack]
    [group] = [group for group in gpu_node_groups(Resources(partitioned.resources)) if group.pool == "parts"]
    if partitioned.stack == "demo-gcp":
        (gpu,) = value_at(group.resource.inputs, "nodeConfig", "guestAccelerators")
        assert gpu["gpuPartitionSize"] == profile and "gpuSharingConfig" not in gpu
        return
    assert group.labels["nvidia.com/device-plugin.config"] == f"mig-4-{profile}"
    (plugin,) = (item for item in partitioned.resources if item.name == PLUGIN)
    config = value_at(plugin.inputs, "values", "config")["map"]
    assert yaml.safe_load(config[f"mig-4-{profile}"])["flags"] == {"migStrategy": "single"}
    told = {
        value_at(item.inputs, "tag", "value")
        for item in partitioned.resources
        if item.type == TAG
        and "-parts-" in item.name
        and str(value_at(item.inputs, "tag", "key")).endswith("resources/nvidia.com/gpu")
    }
    assert told == {"32"}
    assert group.template is not None
    script = base64.b64decode(str(value_at(group.template.inputs, "userData"))).decode()
    assert f"nvidia-smi mig -cgi {','.join([profile] * 4)} -C" in script
    unit = dict(
        line.split("=", 1) for line in script.partition("[Unit]\n")[2].partition("[Install]")[0].split() if "=" in line
    )
    assert unit["Before"] == "kubelet.service" and unit["ExecStart"] == "/usr/local/sbin/partition-gpus"
    after = script.partition("\nAfter=")[2].splitlines()[0].split()
    assert "nvidia-kmod-load.service" in after and "nvidia-fabricmanager.service" in after, "at a restart too"
    assert script.index("nvidia-smi -L") < script.index("nvidia-smi -mig 1"), "and the driver is waited for"
    parts = [part for part in script.split("--trainyard")[1:-1] if "#!/bin/bash" in part]
    for part in parts:
        checked = subprocess.run(["bash", "-n"], input=part.split("\n\n", 1)[1], text=True, capture_output=True)
        assert checked.returncode == 0, checked.stderr
