"""Images and charts from mirrors of one's own: all of them, by their names, and the rehearsal knows where they are."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.shared import ROOT
from trainyard.catalog.versions import pins
from trainyard.plan.mirrors import mirrored
from trainyard.recorded.types import HELM_RELEASE
from trainyard.rehearsal.context import Stack, ValueContext
from trainyard.rehearsal.works.charts import check as charts
from trainyard.review.review import review

PLACE = "oci://registry.acme.example/charts"
DIGEST = f"@sha256:{'a' * 64}"


def stack(folder, text: str, stack: str = "demo"):
    file = folder / f"Pulumi.{stack}.yaml"
    file.write_text((ROOT / "stacks" / f"Pulumi.{stack}.yaml").read_text().replace("config:\n", f"config:\n{text}", 1))
    return file


@pytest.fixture(scope="module")
def mirror(tmp_path_factory: pytest.TempPathFactory):
    text = f"""\
  trainyard:charts: {{ mirror: "{PLACE}" }}
  trainyard:images: {{ mirrors: {{ nvcr.io: registry.acme.example/nv, docker.io: registry.acme.example/hub }} }}
"""
    return review(ROOT, stack(tmp_path_factory.mktemp("mirror"), text))


def test_it_is_sound(mirror) -> None:
    assert not mirror.rehearsal.findings, mirror.rehearsal.findings
    assert mirror.policies is not None and not mirror.policies.violations, mirror.policies.violations


def test_every_chart_comes_from_it(mirror) -> None:
    releases = [one for one in mirror.rehearsal.resources if one.type == HELM_RELEASE]
    assert len(releases) > 5
    for release in releases:
        assert str(release.inputs["chart"]).startswith(f"{PLACE}/") and not release.inputs.get("repositoryOpts")
    of_nvidia = {one.inputs["values"]["image"]["repository"] for one in releases if "nvidia" in one.inputs["chart"]}
    assert of_nvidia == {"registry.acme.example/nv/nvidia/k8s-device-plugin"}


def test_a_chart_from_elsewhere_is_still_told(mirror) -> None:
    def told(chart: str) -> set[tuple[str, str]]:
        resources = [
            replace(one, inputs={**one.inputs, "chart": chart})
            if one.type == HELM_RELEASE and str(one.inputs["chart"]).endswith("/kueue")
            else one
            for one in mirror.rehearsal.known.resources
        ]
        recorded = Stack(resources, ValueContext("1.35", "us-east-1", ours=True, chart_mirror=PLACE))
        charts.check(recorded)
        return {(one.rule, one.allowed) for view in recorded.views for one in view.findings}

    assert told(f"{PLACE}/kueue") == set()
    assert told("oci://registry.acme.exmaple/charts/kueue") == {("charts-repository", f"{PLACE}/kueue")}
    assert told(pins().chart("kueue").chart) == {("charts-repository", f"{PLACE}/kueue")}


def test_a_repository_by_url_keeps_the_charts_names() -> None:
    kueue = pins().chart("kueue")
    assert kueue.at(None) == kueue
    found = kueue.at("https://charts.acme.example")
    assert (found.chart, found.repository) == ("kueue", "https://charts.acme.example")
    assert found.version == kueue.version
    autoscaler = pins().chart("cluster-autoscaler").at(f"{PLACE}/")
    assert (autoscaler.chart, autoscaler.repository) == (f"{PLACE}/cluster-autoscaler", "")
    assert replace(autoscaler, chart="cluster-autoscaler").values == ()


@pytest.mark.parametrize(
    ("image", "called"),
    [
        (f"python:3.12{DIGEST}", f"m.example/hub/library/python:3.12{DIGEST}"),
        ("docker.io/pytorch/pytorch:2", "m.example/hub/pytorch/pytorch:2"),
        ("nvcr.io/nvidia/k8s-device-plugin", "n.example/nvidia/k8s-device-plugin"),
        (f"quay.io/a/b:1{DIGEST}", f"quay.io/a/b:1{DIGEST}"),
        ("registry.example:5000/nvcr.io/x", "registry.example:5000/nvcr.io/x"),
    ],
)
def test_an_image_keeps_its_path_tag_and_digest(image, called) -> None:
    assert mirrored(image, {"docker.io": "m.example/hub", "nvcr.io": "n.example"}) == called
