from __future__ import annotations

from typing import Any

import pulumi
import pytest

from tests.pulumi_harness import Recorded, record
from trainyard.components.k8s.charts import ChartArgs, release

OCI: ChartArgs = {"chart": "oci://registry.k8s.io/kueue/charts/kueue", "version": "0.19.2", "repository": ""}
CLASSIC: ChartArgs = {
    "chart": "cluster-autoscaler",
    "version": "9.59.0",
    "repository": "https://kubernetes.github.io/autoscaler",
}


class Parent(pulumi.ComponentResource):
    def __init__(self) -> None:
        super().__init__("test:index:Parent", "parent")


def run(chart: ChartArgs, **options: Any) -> Recorded:
    def program() -> None:
        release(
            "add-on", chart, release_name="it", namespace="there", values={"a": {"b": 1}}, parent=Parent(), **options
        )

    return record(program).one("kubernetes:helm.sh/v3:Release")


def test_oci_chart_has_no_repository() -> None:
    inputs = run(OCI).inputs
    assert inputs["chart"] == "oci://registry.k8s.io/kueue/charts/kueue"
    assert inputs["version"] == "0.19.2"
    assert "repositoryOpts" not in inputs


def test_classic_chart_names_its_repository() -> None:
    inputs = run(CLASSIC).inputs
    assert inputs["chart"] == "cluster-autoscaler"
    assert inputs["repositoryOpts"] == {"repo": "https://kubernetes.github.io/autoscaler"}


def test_release_is_awaited_kept_on_failure_and_named() -> None:
    inputs = run(OCI).inputs
    assert inputs["name"] == "it"
    assert inputs["namespace"] == "there"
    assert inputs["createNamespace"] is False
    assert inputs["skipAwait"] is False
    assert inputs["atomic"] is False
    assert inputs["timeout"] == 600
    assert inputs["values"] == {"a": {"b": 1}}


def test_timeout_and_prerequisites_reach_the_release() -> None:
    def program() -> None:
        parent = Parent()
        release(
            "add-on",
            OCI,
            release_name="it",
            namespace="there",
            values={},
            parent=parent,
            depends_on=[release("first", CLASSIC, release_name="first", namespace="there", values={}, parent=parent)],
            timeout_seconds=90,
        )

    recording = record(program)
    add_on = recording.one("kubernetes:helm.sh/v3:Release", "add-on")
    assert add_on.inputs["timeout"] == 90
    assert add_on.dependencies == (recording.one("kubernetes:helm.sh/v3:Release", "first").urn,)
    assert add_on.parent.endswith("::parent")


@pytest.mark.parametrize(
    ("chart", "message"),
    [
        ({**OCI, "repository": "https://example.com"}, "an OCI chart has no repository, got https://example.com"),
        ({**CLASSIC, "repository": ""}, "cluster-autoscaler: a chart that is no oci:// address needs a repository"),
    ],
)
def test_address_and_repository_exclude_each_other(chart: ChartArgs, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        run(chart)


def test_images_are_set_beside_what_stands_there() -> None:
    images = {"a.image.repository": "mirror.example/x", "image.registry": "mirror.example"}
    values = run({**OCI, "image_values": images}).inputs["values"]
    assert values == {
        "a": {"b": 1, "image": {"repository": "mirror.example/x"}},
        "image": {"registry": "mirror.example"},
    }
