"""A development pool on whose GPUs pods take turns, in a whole rehearsed stack of each cloud."""

from __future__ import annotations

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
