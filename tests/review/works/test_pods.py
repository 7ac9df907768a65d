"""`explain STACK pods`: where each pod may run, and what the nodes have."""

import pytest

from tests.conftest import WITH_CLUSTERS
from tests.rehearsal.works.mistakes import edit, put
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import DEPLOYMENT
from trainyard.review.works.topics import tables_of


def rows(resources):
    pods, nodes = tables_of("pods", Resources(resources))
    return (
        {row[0]: dict(zip(pods.columns, row, strict=True)) for row in pods.rows},
        {row[0]: dict(zip(nodes.columns, row, strict=True)) for row in nodes.rows},
    )


def test_a_pod_is_told_with_its_groups_its_requests_and_why_no_other_takes_it(rehearsed):
    pods, nodes = rows(rehearsed("demo").resources)
    server = pods["Deployment mlflow/mlflow"]
    assert server["node groups"] == "cluster-system"
    assert server["requests"].startswith("1.04 cpu")
    assert server["why not elsewhere"].startswith("cluster-cpu: ml.platform/pool is cpu, it wants system")
    (smoke,) = (row for name, row in pods.items() if "smoke-train-spot" in name)
    assert (smoke["node groups"], smoke["room for"]) == ("gpu-nodes-train-spot (flavor train-spot)", "2")
    assert pods["DaemonSet kube-system/aws-node"]["node groups"] == "every group"
    spot = nodes["gpu-nodes-train-spot"]
    assert spot["taints"] == "nvidia.com/gpu=true:NoSchedule, ml.platform/capacity=spot:NoSchedule"
    assert "8 nvidia.com/gpu" in spot["a node has"]
    assert "aws-efa-k8s-device-plugin" in spot["runs on each"]


def test_a_pod_that_no_node_takes_is_told_so(rehearsed):
    lost = edit(DEPLOYMENT, "mlflow-deployment", put("spec.template.spec.nodeSelector.ml~platform/pool", "x"))
    pods, _ = rows(lost(rehearsed("demo").known.resources))
    assert pods["Deployment mlflow/mlflow"]["node groups"] == "none"


@pytest.mark.parametrize("stack", WITH_CLUSTERS)
def test_every_pod_of_an_example_has_a_node(rehearsed, stack):
    pods, nodes = rows(rehearsed(stack).resources)
    assert nodes
    assert [name for name, row in pods.items() if row["node groups"] == "none"] == []


def test_a_stack_without_nodes_has_nothing_to_tell():
    assert rows([]) == ({}, {})
