"""Releases of kube-prometheus-stack: what a policy, a price and a report know of a cluster's monitoring."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import yaml

from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import HELM_RELEASE, STORAGE_CLASS
from trainyard.recorded.yaml_text import read_yaml

CHART: Final = "kube-prometheus-stack"
SCRAPED: Final = (
    ("ServiceMonitor.monitoring.coreos.com", "spec.endpoints"),
    ("PodMonitor.monitoring.coreos.com", "spec.podMetricsEndpoints"),
)
"""Kinds that say what Prometheus asks, and where their endpoints stand."""
SECONDS: Final[Mapping[str, float]] = {
    "ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800, "y": 31_536_000,
}  # fmt: skip
"""Seconds of a unit of Prometheus' durations."""
SPEC: Final = ("values", "prometheus", "prometheusSpec")
"""Where the chart's values keep what Prometheus is."""
CLAIM: Final = (*SPEC, "storageSpec", "volumeClaimTemplate", "spec")
"""Where they keep the claim of its volume."""


def prometheus_stacks(resources: Resources) -> Iterator[RecordedResource]:
    """Every release of the chart, wherever it is from."""
    for release in resources.of(HELM_RELEASE):
        if is_prometheus_stack(release):
            yield release


def is_prometheus_stack(release: RecordedResource) -> bool:
    """Whether a Helm release is of the chart; one whose chart is not known is none."""
    return str(value_at(release.inputs, "chart", default="", unknown="")).rpartition("/")[2] == CHART


def rules_of(namespace: RecordedResource) -> list[Mapping[str, Any]]:
    """The rules of a rule group namespace of Amazon's service, a file of Prometheus; none where it is not known."""
    try:
        read = read_yaml(str(value_at(namespace.inputs, "data", default="", unknown="")))
    except yaml.YAMLError:
        return []
    groups = read.get("groups") if isinstance(read, Mapping) else None
    return [
        rule
        for group in groups or ()
        if isinstance(group, Mapping)
        for rule in group.get("rules") or ()
        if isinstance(rule, Mapping)
    ]


def storage_class(resources: Resources, name: Any) -> RecordedResource | None:
    """The StorageClass of that name, where the recording makes it."""
    for found in resources.of(STORAGE_CLASS):
        if value_at(found.inputs, "metadata", "name", unknown=None) == name:
            return found
    return None
