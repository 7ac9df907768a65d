from __future__ import annotations

from typing import Any

import pulumi
import pulumi_random as random
import pytest

from tests.components.k8s.checkers import chart_value_problems, depends_on, whole_numbers
from tests.pulumi_harness import Recording, plain, record
from trainyard.components.aws.on_cluster.autoscaler import ClusterAutoscaler, ClusterAutoscalerArgs

RELEASE = "kubernetes:helm.sh/v3:Release"
CHART_FILE = "cluster-autoscaler-9.59.0.json"


def arguments(**changes: Any) -> ClusterAutoscalerArgs:
    args: dict[str, Any] = {
        "chart": {
            "chart": "cluster-autoscaler",
            "version": "9.59.0",
            "repository": "https://kubernetes.github.io/autoscaler",
        },
        "cluster_name": "acme-production",
        "image_tag": "v1.35.2",
        "region": "us-east-1",
        "node_groups": {"on-demand": ["train-on-demand-1a2b3c4"], "reserved": ["train-reserved-5d6e7f8"]},
    }
    return {**args, **changes}  # type: ignore[typeddict-item]


def recorded(**changes: Any) -> Recording:
    return record(lambda: ClusterAutoscaler("autoscaler", arguments(**changes)))


def values(**changes: Any) -> dict[str, Any]:
    found: dict[str, Any] = whole_numbers(plain(recorded(**changes).one(RELEASE).inputs["values"]))
    return found


def test_the_chart_knows_and_reads_every_value() -> None:
    assert chart_value_problems(recorded().one(RELEASE), CHART_FILE) == []


def test_groups_of_this_cluster_are_found_by_tag() -> None:
    assert values()["cloudProvider"] == "aws"
    assert values()["autoDiscovery"] == {"clusterName": "acme-production"}
    assert values()["awsRegion"] == "us-east-1"


def test_the_account_is_named_and_not_annotated() -> None:
    release = recorded()
    account = values()["rbac"]["serviceAccount"]
    assert account == {"create": True, "name": "cluster-autoscaler"}
    assert release.one(RELEASE).inputs["namespace"] == "kube-system"


def test_the_image_is_the_one_given() -> None:
    assert values(image_tag="v1.36.1")["image"]["tag"] == "v1.36.1"


def test_reserved_comes_before_spot_before_on_demand() -> None:
    groups = {"spot": ["a"], "on-demand": ["b"], "reserved": ["c", "d"]}
    priorities = values(node_groups=groups)["expanderPriorities"]
    order = [priorities[key] for key in sorted(priorities, key=int, reverse=True)]
    assert order == [["^eks-c-.*$", "^eks-d-.*$"], ["^eks-a-.*$"], ["^eks-b-.*$"], [".*"]]
    assert values()["extraArgs"]["expander"].split(",")[0] == "priority"


def test_an_unknown_capacity_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown capacity ondemand; known: reserved, spot, on-demand"):
        recorded(node_groups={"ondemand": ["a"]})


def test_training_keeps_its_node_and_empty_nodes_go() -> None:
    flags = values(scale_down_after_minutes=7)["extraArgs"]
    # One GPU of eight in use is 0.125; an empty node is 0.
    assert 0 < float(flags["scale-down-gpu-utilization-threshold"]) <= 1 / 16
    assert flags["skip-nodes-with-local-storage"] == "false"
    assert flags["scale-down-unneeded-time"] == "7m"
    assert all(isinstance(value, str) for value in flags.values())


def test_two_replicas_on_system_nodes_without_rights() -> None:
    found = values()
    assert found["replicaCount"] == 2
    assert found["podDisruptionBudget"] == {"maxUnavailable": 1}
    assert found["nodeSelector"] == {"ml.platform/pool": "system"}
    assert found["containerSecurityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert found["securityContext"]["runAsUser"] >= 10_000
    assert set(found["resources"]["requests"]) == set(found["resources"]["limits"]) == {"cpu", "memory"}


def test_it_waits_for_its_role() -> None:
    def program() -> None:
        role = random.RandomPassword("role", length=20)
        ClusterAutoscaler("autoscaler", arguments(), pulumi.ResourceOptions(depends_on=[role]))

    recording = record(program)
    assert "role" in depends_on(recording, recording.one(RELEASE))
