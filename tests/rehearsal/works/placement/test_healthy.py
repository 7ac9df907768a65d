"""Pods of other people's clusters that are placed, and beside each what the rule is there for."""

from __future__ import annotations

import pytest

from tests.rehearsal.works.placement.test_scheduler import CLUSTER, GPUS, group, plugin, pods, told


@pytest.mark.parametrize(
    ("replicas", "keys", "refused"),
    [
        (3, {"matchLabelKeys": ["pod-template-hash"]}, False),
        (3, {}, True),  # of a new version none has a node to begin on
        (4, {"matchLabelKeys": ["pod-template-hash"]}, True),
        (4, {"mismatchLabelKeys": ["pod-template-hash"]}, False),
    ],
)
def test_pods_that_keep_their_own_version_off_let_a_new_one_in(replicas, keys, refused):
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "web"}}, **keys}
    apart = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    found = told(CLUSTER, group(most=3), pods(replicas=replicas, affinity=apart))
    assert (("error", "placement-spread") in found) == refused


SLICED = """
sharing:
  timeSlicing:
    failRequestsGreaterThanOne: true
    resources: [{name: nvidia.com/gpu, replicas: 4}]
"""


@pytest.mark.parametrize(
    ("config", "refused"),
    [
        ({"map": {"sliced": SLICED, "whole": "version: v1"}, "default": "sliced"}, False),
        ({"map": {"sliced": SLICED}, "default": "sliced"}, True),
        ({"map": {"sliced": SLICED}}, True),
    ],
)
def test_nodes_choose_one_of_several_configurations_of_the_plugin(config, refused):
    limits = {"limits": {"nvidia.com/gpu": "2"}, "requests": {"nvidia.com/gpu": "2"}}
    found = told(CLUSTER, group(**GPUS), plugin(config=config), pods(container={"resources": limits}))
    assert (("error", "placement-shared-gpu") in found) == refused
