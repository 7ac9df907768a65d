"""Queues, quotas and node groups as readers of sharing see them; what is refused is in the policies' truth tables."""

import pytest

from tests.policies.cases_platform import FAIR, kueue_chart, queue, sharing
from tests.policies.truth import gke_pool, kubernetes, made
from trainyard.recorded.node_groups import node_group
from trainyard.recorded.quantities import quantity
from trainyard.recorded.queues import gpu_quotas
from trainyard.recorded.read import UnreadableInput
from trainyard.recorded.resources import Resources
from trainyard.recorded.sharing import sharing_of


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("8", 8),
        (8, 8),
        ("2k", 2000),
        ("500m", 0.5),
        ("1.5Gi", 1.5 * 2**30),
        ("eight", None),
        ("8 GPUs", None),
        (None, None),
    ],
)
def test_a_quantity_is_read_as_the_api_server_reads_it(text, number):
    assert quantity(text) == number


def test_a_quota_of_thousands_is_one():
    """The API server keeps 2000 as 2k, and so do the manifests that are sent to it."""
    assert list(gpu_quotas(queue(gpus="2k"))) == [("train-spot", 2000)]
    for wrong in ("-1", "many", None):
        with pytest.raises(UnreadableInput):
            list(gpu_quotas(queue(gpus=wrong)))


def test_whole_nodes_are_those_with_a_fabric():
    found = sharing_of(Resources(sharing()))
    assert (found.whole_nodes, found.fair) == ({"train-spot": 8}, False)
    assert sharing_of(Resources(sharing(manager=FAIR))).fair
    efa = sharing()[1]
    assert node_group(efa, Resources(sharing())).fabric_interfaces == 4
    assert node_group(gke_pool(), Resources([gke_pool()])).fabric_interfaces == 0


def test_a_manager_that_cannot_be_read_shares_nothing():
    broken = kueue_chart(FAIR)
    values = {"managerConfig": {"controllerManagerConfigYaml": "fairSharing: ["}}
    assert not sharing_of(Resources([made(broken.type, "kueue", {**broken.inputs, "values": values})])).fair


@pytest.mark.parametrize("parents", [{"low": "gpus"}, {"low": "middle", "middle": "gpus"}])
def test_queues_lend_within_a_tree_of_cohorts(parents):
    cohorts = [
        kubernetes("kueue.x-k8s.io/v1beta2:Cohort", name, spec={"parentName": parent})
        for name, parent in parents.items()
    ]
    queues = [queue("a", cohortName="gpus"), queue("b", cohortName="low"), queue("c", cohortName="alone"), queue("d")]
    found = sharing_of(Resources([*cohorts, *queues]))
    assert [found.lends(item) for item in queues] == [True, True, False, False]


def test_a_circle_of_cohorts_ends():
    pair = [("a", "b"), ("b", "a")]
    cohorts = [kubernetes("kueue.x-k8s.io/v1beta2:Cohort", n, spec={"parentName": p}) for n, p in pair]
    assert set(sharing_of(Resources(cohorts)).roots) == {"a", "b"}
