"""The pin file: everything that is installed has a version, a source and a date."""

import datetime
import itertools
import re

import pytest
import yaml

from tests.shared import ROOT, shared
from trainyard import catalog
from trainyard.catalog import versions

TABLE = yaml.safe_load((ROOT / "trainyard/catalog/versions.yaml").read_text(encoding="utf-8"))


def entries(node):
    """Every mapping of the file that pins something."""
    if isinstance(node, dict):
        if "source" in node or "date" in node:
            yield node
        for child in node.values():
            yield from entries(child)


def test_every_pin_has_a_source_and_a_date():
    pinned = list(entries(TABLE))
    assert len(pinned) > 15
    for entry in pinned:
        assert entry["source"], entry
        assert isinstance(entry["date"], datetime.date), entry


def test_charts_are_the_published_ones_with_known_values():
    for name, chart in catalog.pins().charts:
        assert chart.repository.startswith("https://") != chart.chart.startswith("oci://"), name
        assert chart.chart.startswith("oci://") or chart.chart == name
        assert shared("charts", f"{name}-{chart.version}.json").is_file()


def test_images_have_tag_and_digest():
    for name, image in catalog.pins().images:
        if image in catalog.pins().without_digest():
            assert "digest could not be read" in TABLE["images"][name]["source"], name
            continue
        assert re.fullmatch(r"[\w./-]+:[\w.-]+@sha256:[0-9a-f]{64}", image), name
    assert catalog.pins().image("mlflow").startswith("burakince/mlflow:")


def test_what_one_cloud_alone_runs_is_no_image_of_the_other():
    pins = catalog.pins()
    assert not any("gpudirect" in image or "device-injector" in image for image in pins.images_on("aws"))
    assert pins.image("tcpxo-daemon") in pins.images_on("gcp")
    assert {pins.image("mlflow"), pins.image("pytorch")} <= {*pins.images_on("aws")} & {*pins.images_on("gcp")}


@pytest.mark.parametrize("version", catalog.known_kubernetes_versions())
def test_add_ons_are_pinned_for_every_version_that_an_environment_may_have(version):
    pinned, source = catalog.add_on_pins(version)
    assert {add_on.name for add_on in pinned} == {
        "vpc-cni", "coredns", "kube-proxy", "eks-pod-identity-agent", "aws-ebs-csi-driver", "metrics-server",
        "eks-node-monitoring-agent",
    }  # fmt: skip
    for add_on in pinned:
        assert re.fullmatch(r"v\d+\.\d+\.\d+-eksbuild\.\d+", add_on.version)
    kube_proxy = next(add_on for add_on in pinned if add_on.name == "kube-proxy")
    assert kube_proxy.version.startswith(f"v{version}."), "kube-proxy follows the control plane"
    assert catalog.known_kubernetes_versions()[version].cluster_autoscaler.startswith(f"v{version}.")
    assert catalog.node_release(version)[0].startswith(f"{version}.")
    assert version in source


def test_no_step_to_the_next_version_takes_an_add_on_back():
    def number(text):
        return [int(part) for part in re.findall(r"\d+", text)]

    known = list(catalog.known_kubernetes_versions())
    for before, after in itertools.pairwise(known):
        now = {add_on.name: add_on.version for add_on in catalog.add_on_pins(after)[0]}
        for add_on in catalog.add_on_pins(before)[0]:
            assert number(now[add_on.name]) >= number(add_on.version), (before, add_on.name)


def test_what_ends_is_older_than_what_may_be_chosen():
    known, chosen = list(catalog.known_kubernetes_versions()), list(catalog.kubernetes_versions())
    assert known[-len(chosen) :] == chosen
    minors = [int(version.partition(".")[2]) for version in known]
    assert minors == list(range(minors[0], minors[-1] + 1)), "an upgrade goes one minor version at a time"


def test_default_kubernetes_version_is_supported():
    default, _ = catalog.default_kubernetes_version()
    supported = catalog.kubernetes_versions()
    assert list(supported) == ["1.35", "1.36"]
    assert default == "1.35"
    assert supported["1.35"].standard_support_until == "2027-03-27"
    assert supported["1.36"].standard_support_until == "2027-08-02"


def test_cluster_autoscaler_is_of_the_default_kubernetes_minor_version():
    # The autoscaler simulates the scheduler: it must be of the cluster's minor version.
    default, _ = catalog.default_kubernetes_version()
    assert f"app {default}." in TABLE["charts"]["cluster-autoscaler"]["source"]


def test_c_loader_and_python_loader_agree():
    assert versions._table() == TABLE


def test_the_tracking_server_that_ships_is_the_one_that_is_tested():
    locked = re.search(r"^mlflow==(\S+)", (ROOT / "requirements-dev.lock").read_text(), re.MULTILINE)
    assert catalog.pins().image("mlflow").partition("@")[0].endswith(f":{locked[1]}")


def test_only_the_tracking_servers_digest_is_unread_and_those_of_gpudirect():
    pins = catalog.pins()
    of_gpudirect = [pins.image(f"{name}-{what}") for name in ("tcpx", "tcpxo") for what in ("plugin", "daemon")]
    assert pins.without_digest() == (pins.image("mlflow"), *of_gpudirect)
