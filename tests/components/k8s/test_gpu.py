from __future__ import annotations

from typing import Any

import pulumi
import pulumi_random as random
import pytest

from tests.components.k8s.checkers import chart_value_problems, depends_on, whole_numbers
from tests.pulumi_harness import Recording, plain, record
from trainyard.components.k8s.gpu import DevicePluginArgs, GpuEnablement, GpuEnablementArgs

RELEASE = "kubernetes:helm.sh/v3:Release"
CHARTS = {
    "nvidia-device-plugin": "nvidia-device-plugin-0.20.0.json",
    "dcgm-exporter": "dcgm-exporter-4.8.2.json",
}
TAINTS = (
    {"key": "nvidia.com/gpu", "value": "true", "effect": "NoSchedule"},
    {"key": "ml.platform/capacity", "value": "spot", "effect": "NoSchedule"},
)


def arguments(**changes: Any) -> GpuEnablementArgs:
    args: dict[str, Any] = {
        "pools": ["train", "experiment"],
        "device_plugin_chart": {
            "chart": "nvidia-device-plugin",
            "version": "0.20.0",
            "repository": "https://nvidia.github.io/k8s-device-plugin",
        },
        "dcgm_exporter_chart": {
            "chart": "dcgm-exporter",
            "version": "4.8.2",
            "repository": "https://nvidia.github.io/dcgm-exporter/helm-charts",
        },
    }
    return {**args, **changes}  # type: ignore[typeddict-item]


def recorded(**changes: Any) -> Recording:
    return record(lambda: GpuEnablement("gpu", arguments(**changes)))


def values(recording: Recording, chart: str) -> dict[str, Any]:
    found: dict[str, Any] = whole_numbers(plain(recording.one(RELEASE, f"gpu-{chart}").inputs["values"]))
    return found


def tolerated(taint: dict[str, str], tolerations: list[dict[str, str]]) -> bool:
    """As the scheduler decides it."""
    return any(
        toleration.get("effect", taint["effect"]) == taint["effect"]
        and toleration.get("key", taint["key"]) == taint["key"]
        and (toleration.get("operator") == "Exists" or toleration.get("value") == taint["value"])
        for toleration in tolerations
    )


@pytest.mark.parametrize("chart", CHARTS)
def test_the_charts_know_and_read_every_value(chart: str) -> None:
    assert chart_value_problems(recorded().one(RELEASE, f"gpu-{chart}"), CHARTS[chart]) == []


def test_gpus_are_given_by_mounts_where_the_nodes_take_no_variable_for_a_request() -> None:
    by_mounts = recorded(gives_by_mounts=True)
    assert values(by_mounts, "nvidia-device-plugin")["deviceListStrategy"] == "volume-mounts"
    assert (
        chart_value_problems(by_mounts.one(RELEASE, "gpu-nvidia-device-plugin"), CHARTS["nvidia-device-plugin"]) == []
    )
    assert values(recorded(), "nvidia-device-plugin")["deviceListStrategy"] == "envvar", "as the toolkit comes"


def test_the_agents_still_see_every_gpu_of_their_node() -> None:
    """Their variable counts only beside SYS_ADMIN: the chart of the plugin adds it, the exporter's values state it."""
    context = values(recorded(gives_by_mounts=True), "dcgm-exporter")["securityContext"]
    assert context["capabilities"]["add"] == ["SYS_ADMIN"]
    assert "securityContext" not in values(recorded(gives_by_mounts=True), "nvidia-device-plugin"), "the chart's own"


def test_a_service_monitor_is_made_only_when_asked_for() -> None:
    assert values(recorded(), "dcgm-exporter")["serviceMonitor"]["enabled"] is False
    asked = recorded(service_monitors=True)
    assert values(asked, "dcgm-exporter")["serviceMonitor"] == {"enabled": True, "honorLabels": True}
    assert chart_value_problems(asked.one(RELEASE, "gpu-dcgm-exporter"), CHARTS["dcgm-exporter"]) == []


@pytest.mark.parametrize("chart", CHARTS)
def test_agents_tolerate_the_taints_of_their_nodes(chart: str) -> None:
    tolerations = values(recorded(), chart)["tolerations"]
    for taint in TAINTS:
        assert tolerated(taint, tolerations), taint


@pytest.mark.parametrize("chart", ["nvidia-device-plugin", "dcgm-exporter"])
def test_agents_run_on_gpu_pools_only(chart: str) -> None:
    affinity = values(recorded(), chart)["affinity"]["nodeAffinity"]
    assert affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"] == [
        {"matchExpressions": [{"key": "ml.platform/pool", "operator": "In", "values": ["experiment", "train"]}]}
    ]


def test_a_device_plugin_of_the_ground_is_installed_beside_the_others() -> None:
    plugin: DevicePluginArgs = {
        "name": "fabric-device-plugin",
        "chart": {"chart": "fabric", "version": "1.0.0", "repository": "https://charts.example.com"},
        "values": {"resource": "example.com/adapter"},
    }
    recording = recorded(device_plugins=[plugin])
    inputs = recording.one(RELEASE, "gpu-fabric-device-plugin").inputs
    assert (inputs["chart"], inputs["name"], inputs["namespace"]) == ("fabric", "fabric-device-plugin", "kube-system")
    assert inputs["values"] == {"resource": "example.com/adapter"}
    assert len(recording.of_type(RELEASE)) == 3
    assert len(recorded().of_type(RELEASE)) == 2


def test_agents_are_limited() -> None:
    for chart in CHARTS:
        resources = values(recorded(), chart)["resources"]
        assert set(resources["requests"]) == set(resources["limits"]) == {"cpu", "memory"}


def test_no_pools_are_refused() -> None:
    with pytest.raises(ValueError, match="pools is empty"):
        recorded(pools=[])


def test_every_release_waits_for_what_the_caller_names() -> None:
    def program() -> None:
        nodes = random.RandomPassword("nodes", length=20)
        GpuEnablement("gpu", arguments(), pulumi.ResourceOptions(depends_on=[nodes]))

    recording = record(program)
    for release in recording.of_type(RELEASE):
        assert "nodes" in depends_on(recording, release)
