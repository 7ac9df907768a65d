from __future__ import annotations

from typing import Any

import pulumi
import pulumi_random as random
import pytest

from tests.components.k8s.checkers import chart_value_problems, depends_on, whole_numbers
from tests.components.k8s.test_gpu import TAINTS, tolerated
from tests.pulumi_harness import Recording, plain, record
from trainyard.components.aws.on_cluster.drivers import StorageDrivers, StorageDriversArgs

RELEASE = "kubernetes:helm.sh/v3:Release"
CHARTS = {
    "fsx": ("aws-fsx-csi-driver", "1.17.0", "https://kubernetes-sigs.github.io/aws-fsx-csi-driver"),
    "s3": ("aws-mountpoint-s3-csi-driver", "2.7.0", "https://awslabs.github.io/mountpoint-s3-csi-driver"),
    "efs": ("aws-efs-csi-driver", "4.4.1", "https://kubernetes-sigs.github.io/aws-efs-csi-driver"),
}


def recorded(*drivers: str) -> Recording:
    args: dict[str, Any] = {"region": "us-east-1"}
    for driver in drivers:
        chart, version, repository = CHARTS[driver]
        args[f"{driver}_chart"] = {"chart": chart, "version": version, "repository": repository}
    made: StorageDriversArgs = args  # type: ignore[assignment]
    return record(lambda: StorageDrivers("storage", made))


def values(driver: str) -> dict[str, Any]:
    recording = recorded(driver)
    found: dict[str, Any] = whole_numbers(plain(recording.one(RELEASE, f"storage-{driver}").inputs["values"]))
    return found


@pytest.mark.parametrize("driver", CHARTS)
def test_the_charts_know_and_read_every_value(driver: str) -> None:
    chart, version, _ = CHARTS[driver]
    assert chart_value_problems(recorded(driver).one(RELEASE), f"{chart}-{version}.json") == []


def test_only_the_drivers_with_a_chart_are_installed() -> None:
    assert {r.name for r in recorded("fsx", "s3").of_type(RELEASE)} == {"storage-fsx", "storage-s3"}
    assert recorded().of_type(RELEASE) == []


@pytest.mark.parametrize("driver", CHARTS)
def test_the_node_part_runs_whatever_the_taints(driver: str) -> None:
    node = values(driver)["node"]
    assert not node.get("tolerateAllTaints", False)  # it would leave the list unread
    for taint in (*TAINTS, {"key": "example.org/drain", "value": "now", "effect": "NoExecute"}):
        assert tolerated(taint, node["tolerations"]), taint


@pytest.mark.parametrize("driver", CHARTS)
def test_the_controller_runs_on_system_nodes(driver: str) -> None:
    assert values(driver)["controller"]["nodeSelector"] == {"ml.platform/pool": "system"}


@pytest.mark.parametrize(
    ("driver", "part", "account"),
    [
        ("fsx", "controller", "fsx-csi-controller-sa"),
        ("efs", "controller", "efs-csi-controller-sa"),
        ("s3", "node", "s3-csi-driver-sa"),
    ],
)
def test_accounts_are_named_for_pod_identity_and_not_annotated(driver: str, part: str, account: str) -> None:
    assert values(driver)[part]["serviceAccount"] == {"create": True, "name": account}


@pytest.mark.parametrize("driver", CHARTS)
def test_every_part_is_limited(driver: str) -> None:
    for part in ("controller", "node"):
        resources = values(driver)[part]["resources"]
        assert set(resources["requests"]) == set(resources["limits"]) == {"cpu", "memory"}


def test_every_release_waits_for_what_the_caller_names() -> None:
    chart, version, repository = CHARTS["fsx"]

    def program() -> None:
        role = random.RandomPassword("role", length=20)
        StorageDrivers(
            "storage",
            {"region": "us-east-1", "fsx_chart": {"chart": chart, "version": version, "repository": repository}},
            pulumi.ResourceOptions(depends_on=[role]),
        )

    recording = record(program)
    assert "role" in depends_on(recording, recording.one(RELEASE))
