"""A network without any way out: no internet gateway, no NAT; endpoints, mirrors, and nothing that asks outside."""

from __future__ import annotations

from typing import Any

import pytest

from tests.existing_network import existing, settings, stack_file
from tests.rehearsal.works.mistakes import told
from tests.shared import ROOT, as_configuration
from trainyard.plan.aws.no_way_out import PRIVATE_SERVICES
from trainyard.plan.parts import Plan
from trainyard.plan.resolve import resolve
from trainyard.problems import SettingsError
from trainyard.review.review import Review, review

OWN = "111122223333.dkr.ecr.us-east-1.amazonaws.com"
REGISTRIES = ("docker.io", "ghcr.io", "nvcr.io", "public.ecr.aws", "quay.io", "registry.k8s.io")
MIRRORS = {registry: f"{OWN}/{registry.partition('.')[0]}" for registry in REGISTRIES}
IMAGES: dict[str, Any] = {"mirrors": MIRRORS}
CHARTS = {"mirror": f"oci://{OWN}/charts"}
ENDPOINT = "aws:ec2/vpcEndpoint:VpcEndpoint"


def closed(**changed: Any) -> dict[str, Any]:
    """The demo's settings in a network of its own without a way out, with everything from mirrors."""
    found = settings(aws={"wayOut": "none"}, images=IMAGES, charts=CHARTS)
    del found["aws"]["existingNetwork"], found["network"]
    return {**found, **changed}


def decided(**changed: Any) -> Plan:
    return resolve(as_configuration(closed(**changed)), "closed").plan


def refused(**changed: Any) -> dict[str, str]:
    with pytest.raises(SettingsError) as caught:
        decided(**changed)
    return {problem.key: problem.allowed for problem in caught.value.problems}


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Review:
    import yaml

    file = tmp_path_factory.mktemp("closed") / "Pulumi.closed.yaml"
    config = {f"trainyard:{key}": value for key, value in closed().items()}
    file.write_text(yaml.safe_dump({"config": {**config, "pulumi:disable-default-providers": ["*"]}}))
    return review(ROOT, file)


def test_the_whole_stack_rehearses_without_a_finding(alone: Review) -> None:
    assert not alone.rehearsal.findings, alone.rehearsal.findings
    assert alone.policies is not None and not alone.policies.violations, alone.policies.violations
    made = {one.type.rpartition(":")[2] for one in alone.rehearsal.resources}
    assert not made & {"InternetGateway", "NatGateway", "Eip", "Route"}
    assert not [one for one in alone.rehearsal.resources if "-public-" in one.name and one.type.endswith("Subnet")]


def test_every_endpoint_that_something_needs_is_made(alone: Review) -> None:
    made = {
        str(one.inputs["serviceName"]).partition("us-east-1.")[2]
        for one in alone.rehearsal.resources
        if one.type == ENDPOINT
    }
    always = {"s3", "ec2", "sts", "logs", "eks-auth", "autoscaling", "kms", "secretsmanager"}
    assert made == always | set(PRIVATE_SERVICES)


def test_the_rooms_tell_each_way_that_is_missing(alone: Review) -> None:
    """Nodes, images, pods' credentials, the autoscaler, alerts, logs, the tracking server's password, the bastion."""
    judged = ("s3", "ec2", "eks-auth", "autoscaling", "ecr-api", "ecr-dkr", "sns", "logs", "secretsmanager", "ssm")
    cut = {"paths-nodes-cut-off", "paths-sessions-cut-off"}
    for service in judged:
        names = (f"network-{service}", f"network-{service}-interface")

        def without(resources: Any, names: tuple[str, str] = names) -> list[Any]:
            return [one for one in resources if one.type != ENDPOINT or one.name not in names]

        found = told(alone.rehearsal, without)
        assert {finding.rule for finding in found} & cut, service
        assert any(service.replace("-", ".") in finding.message or service in finding.message for finding in found)


def test_images_without_a_mirror_are_named() -> None:
    allowed = refused(images={})["images.mirrors"]
    for registry in REGISTRIES:
        assert registry in allowed
    fewer = {registry: place for registry, place in MIRRORS.items() if registry != "nvcr.io"}
    assert "must name a mirror of nvcr.io:" in refused(images={"mirrors": fewer})["images.mirrors"]
    decided(images={"mirrors": {**MIRRORS, "ghcr.io": "registry.inside.example/ghcr"}})


@pytest.mark.parametrize("place", ["ghcr.io/acme/hub", "111122223333.dkr.ecr.eu-west-1.amazonaws.com/hub"])
def test_a_mirror_that_is_not_reached_is_none(place: str) -> None:
    told_of = refused(images={"mirrors": {**MIRRORS, "docker.io": place}})
    assert "reached without a way out" in told_of["images.mirrors.docker.io"]


def test_charts_have_a_mirror_where_whoever_deploys_is_inside() -> None:
    inside = {"mode": "private", "networks": ["10.99.0.0/16"]}
    assert "kueue" in refused(charts={}, apiAccess=inside)["charts.mirror"]
    decided(charts={})  # through a bastion, a deployer pulls them where he is


@pytest.mark.parametrize(
    ("key", "changed"),
    [
        ("network.egress.mode", {"network": {"egress": {"mode": "internet"}}}),
        ("network.egress.allow", {"network": {"egress": {"allow": ["pypi.org"]}}}),
        ("images.cache", {"images": {**IMAGES, "cache": True}}),
        ("aws.natPerZone", {"aws": {"wayOut": "none", "natPerZone": True}}),
        ("aws.wayOut", {"aws": {"wayOut": "none", "existingNetwork": existing()}}),
    ],
)
def test_what_would_need_a_way_out_is_refused(key: str, changed: dict[str, Any]) -> None:
    assert key in refused(**changed)


def test_without_the_setting_nothing_changes(rehearsed) -> None:
    network = resolve(as_configuration(closed(aws={})), "closed").plan.ground.network
    assert network.nat_gateways == 1
    assert not set(network.interface_endpoints) & set(PRIVATE_SERVICES)


def test_somebody_elses_network_may_have_none_either(tmp_path) -> None:
    given = existing(wayOut="none", endpoints=["s3", "ecr.api", "ecr.dkr"], routeTables=[])
    found = review(ROOT, stack_file(tmp_path, aws={"existingNetwork": given}, images=IMAGES, charts=CHARTS))
    assert not found.rehearsal.findings, found.rehearsal.findings
    made = {
        str(one.inputs["serviceName"]) for one in found.rehearsal.resources if one.type == ENDPOINT and not one.read
    }
    assert any(name.endswith(".sns") for name in made)
    assert not any(name.endswith(".ecr.api") for name in made), "it is there already"
    with pytest.raises(SettingsError, match=r"images\.mirrors"):
        resolve(as_configuration(settings(aws={"existingNetwork": given})), "joined")


@pytest.mark.parametrize(
    ("key", "aws"),
    [
        ("aws.wayOut", {"wayOut": "none"}),
        ("aws.existingNetwork.wayOut", {"existingNetwork": existing(wayOut="none")}),
    ],
)
def test_managed_training_is_not_put_where_nothing_is_reached(key: str, aws: dict[str, Any]) -> None:
    """Its editors and jobs would need endpoints that only a cluster's network has."""
    whole = settings(teams=None, gpuPools=None, network={"cidr": "10.20.0.0/22"}, teamSize=2, profile="small")
    small = {**whole, "images": IMAGES, "aws": aws}
    with pytest.raises(SettingsError) as caught:
        resolve(as_configuration(small), "closed")
    (found,) = (each for each in caught.value.problems if each.key == key)
    assert "managed training" in found.allowed
