from __future__ import annotations

from typing import Any

import pytest

from tests.components.k8s.checkers import chart_value_problems, whole_numbers
from tests.components.k8s.test_gpu import RELEASE, TAINTS, arguments, tolerated
from tests.pulumi_harness import Recorded, plain, record
from trainyard.components.aws.on_cluster.fabric import UNRATIONED_RESOURCES, efa_device_plugin, registry
from trainyard.components.k8s.charts import ChartArgs
from trainyard.components.k8s.gpu import GpuEnablement
from trainyard.conventions.aws import EFA_RESOURCE

CHART: ChartArgs = {
    "chart": "aws-efa-k8s-device-plugin",
    "version": "v0.5.30",
    "repository": "https://aws.github.io/eks-charts",
}


def release(region: str = "us-east-1") -> Recorded:
    plugin = efa_device_plugin(region, ["p5.48xlarge", "p4d.24xlarge", "p5.48xlarge"], CHART)
    recording = record(lambda: GpuEnablement("gpu", arguments(device_plugins=[plugin])))
    return recording.one(RELEASE, "gpu-aws-efa-k8s-device-plugin")


def values(region: str = "us-east-1") -> dict[str, Any]:
    found: dict[str, Any] = whole_numbers(plain(release(region).inputs["values"]))
    return found


def test_the_chart_knows_and_reads_every_value() -> None:
    assert chart_value_problems(release(), "aws-efa-k8s-device-plugin-v0.5.30.json") == []


def test_it_tolerates_the_taints_of_its_nodes() -> None:
    for taint in TAINTS:
        assert tolerated(taint, values()["tolerations"]), taint


def test_it_runs_on_the_instances_that_have_adapters() -> None:
    assert values()["supportedInstanceLabels"] == {
        "keys": ["node.kubernetes.io/instance-type"],
        "values": ["p4d.24xlarge", "p5.48xlarge"],
    }


@pytest.mark.parametrize(
    ("region", "host"),
    [
        ("us-east-1", "602401143452.dkr.ecr.us-east-1.amazonaws.com"),
        ("me-central-1", "759879836304.dkr.ecr.me-central-1.amazonaws.com"),
        ("me-south-1", "558608220178.dkr.ecr.me-south-1.amazonaws.com"),
    ],
)
def test_the_image_comes_from_the_registry_of_the_region(region: str, host: str) -> None:
    assert registry(region) == host
    assert values(region)["image"] == {"repository": f"{host}/eks/aws-efa-k8s-device-plugin"}


def test_it_is_limited() -> None:
    resources = values()["resources"]
    assert set(resources["requests"]) == set(resources["limits"]) == {"cpu", "memory"}


def test_queues_do_not_count_the_adapters() -> None:
    assert any(EFA_RESOURCE.startswith(prefix) for prefix in UNRATIONED_RESOURCES)
