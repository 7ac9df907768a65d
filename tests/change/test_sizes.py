"""A change of a size ends no node that runs, and touches nothing that holds data."""

import copy

import pytest
import yaml

from tests.change.changes import change, rehearsed_with, sent
from tests.shared import ROOT
from trainyard.settings.declarations import project_file

NODE_GROUP = "aws:eks/nodeGroup:NodeGroup"
RUNNING = 3


@pytest.fixture(scope="module")
def larger(tmp_path_factory):
    pools = {
        "train": {"reserved": {"reservationId": "cr-0123456789abcdef0", "nodes": 1, "availabilityZone": "us-east-1b"}}
    }
    pools["train"]["spot"] = {"maxNodes": 5}
    return rehearsed_with(tmp_path_factory.mktemp("larger"), "demo", gpuPools=pools)


def node_group(found, name):
    (group,) = (each for each in found.resources if each.type == NODE_GROUP and each.name == name)
    return group


def test_a_raised_maximum_changes_the_size_alone(rehearsed, larger):
    changed = change(rehearsed("demo"), larger).of(NODE_GROUP, "aws:ec2/launchTemplate:LaunchTemplate")
    assert changed == {"gpu-nodes-train-spot": frozenset({"scalingConfig"})}


def test_the_provider_is_sent_the_nodes_that_run(rehearsed, larger):
    """A refresh writes what runs into the recorded inputs, and the engine sends these for what is ignored."""
    before, after = (node_group(found, "gpu-nodes-train-spot") for found in (rehearsed("demo"), larger))
    recorded = copy.deepcopy(dict(before.inputs))
    assert recorded["scalingConfig"]["desiredSize"] == 0, "what the creation recorded would end every node"
    recorded["scalingConfig"]["desiredSize"] = RUNNING
    calls = sent(recorded, after.inputs, after.ignore_changes)["scalingConfig"]
    assert calls == {"desiredSize": RUNNING, "minSize": 0, "maxSize": 5}


@pytest.mark.parametrize("text", [project_file(), project_file("stacks"), (ROOT / "Pulumi.yaml").read_text()])
def test_every_operation_reads_what_runs_first(text):
    assert yaml.safe_load(text)["options"] == {"refresh": "always"}


def test_every_node_group_is_of_a_pinned_image(rehearsed):
    for stack in ("demo", "large-aws", "uae-aws"):
        releases = {each.inputs["releaseVersion"] for each in rehearsed(stack).resources if each.type == NODE_GROUP}
        assert releases == {"1.35.6-20260714"}


def test_every_node_group_leaves_its_size_to_the_autoscaler(rehearsed):
    for stack in ("demo", "large-aws", "uae-aws"):
        groups = [each for each in rehearsed(stack).resources if each.type == NODE_GROUP]
        assert groups
        for group in groups:
            assert group.ignore_changes == ("scalingConfig.desiredSize",), group.name
