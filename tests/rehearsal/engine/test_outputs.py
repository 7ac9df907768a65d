"""Synthesised outputs of types that no card describes: by the name of the field."""

from __future__ import annotations

import contextvars
import ipaddress
from collections.abc import Mapping
from typing import Any

import pytest
from pulumi_aws.cloudformation import Stack
from pulumi_aws.ec2 import Vpc
from pulumi_aws.eks import Cluster
from pulumi_aws.networkfirewall import Firewall
from pulumi_aws.redshiftserverless import Workgroup
from pulumi_gcp.sql import DatabaseInstance
from pulumi_kubernetes.core.v1 import ConfigMap, Service

from trainyard.recorded.model import UNKNOWN
from trainyard.rehearsal.engine.outputs import answer, plausible_text
from trainyard.rehearsal.engine.recorder import Deployment, record
from trainyard.rehearsal.engine.synthesised import (
    Place,
    Subject,
    addresses_are_without,
    arn,
    identity,
    special,
    written,
)


@pytest.mark.parametrize(
    ("type_", "region", "ending"),
    [
        ("aws:opensearch/domain:Domain", "us-east-1", ".us-east-1.amazonaws.com"),
        ("aws:opensearch/domain:Domain", "me-central-1", ".me-central-1.amazonaws.com"),
        ("aws:opensearch/domain:Domain", "us-gov-west-1", ".us-gov-west-1.amazonaws.com"),
        ("aws:opensearch/domain:Domain", "cn-north-1", ".cn-north-1.amazonaws.com.cn"),
        ("gcp:redis/instance:Instance", "me-central2", ".me-central2.internal"),
    ],
)
@pytest.mark.parametrize("key", ["endpoint", "dnsName", "domainName", "url"])
def test_a_host_name_ends_as_its_partition_has_it(key: str, type_: str, region: str, ending: str) -> None:
    text = plausible_text(key, Subject(type_, "search", {}, Place(region=region)))
    assert text.endswith(ending)
    assert text.startswith("https://") is (key in ("endpoint", "url"))


def test_blocks_are_completed_where_the_provider_fills_something_in_and_never_are_those_of_the_inputs() -> None:
    """A cluster gets ids in the block of its VPC; an object of Kubernetes has nothing but what it was given."""
    metadata = {"name": "a", "labels": {"b": "c"}}
    config = answer("kubernetes:core/v1:ConfigMap", "a", "u", {"metadata": metadata}, ConfigMap, None, preview=False)
    assert config.outputs["metadata"].items() >= metadata.items()
    assert config.outputs["metadata"] is not metadata
    given = {"vpcConfig": {"subnetIds": ["s"]}, "kubernetesNetworkConfig": {"elasticLoadBalancing": {"enabled": True}}}
    for preview in (True, False):
        cluster = answer("aws:eks/cluster:Cluster", "a", "u", given, Cluster, None, preview=preview).outputs
        assert {"vpcId", "clusterSecurityGroupId"} <= cluster["vpcConfig"].keys() > given["vpcConfig"].keys()
        assert (cluster["vpcConfig"]["vpcId"] is UNKNOWN) is preview
    assert given["vpcConfig"] == {"subnetIds": ["s"]}


def known(type_: str, cls: type, **inputs: object) -> Mapping[str, Any]:
    """The outputs of a resource that is there."""
    return answer(type_, "a", "urn", inputs, cls, None, preview=False).outputs


def test_a_block_of_which_no_field_is_certain_has_them_all() -> None:
    (endpoint,) = known("aws:redshiftserverless/workgroup:Workgroup", Workgroup)["endpoints"]
    assert endpoint["port"] == 443
    assert endpoint["vpcEndpoints"][0]["vpcEndpointId"].startswith("vpce-")


def test_a_firewall_has_an_endpoint_in_each_of_its_subnets() -> None:
    subnets = [{"subnetId": "subnet-1"}, {"subnetId": "subnet-2"}]
    (status,) = known("aws:networkfirewall/firewall:Firewall", Firewall, subnetMappings=subnets)["firewallStatuses"]
    attached = [state["attachments"][0] for state in status["syncStates"]]
    assert [one["subnetId"] for one in attached] == ["subnet-1", "subnet-2"]
    assert len({one["endpointId"] for one in attached}) == 2
    assert [state["availabilityZone"] for state in status["syncStates"]] == ["us-east-1a", "us-east-1b"]


def test_a_status_is_filled_in_by_controllers_and_not_known() -> None:
    made = known("kubernetes:core/v1:Service", Service, metadata={"name": "a"}, spec={"type": "LoadBalancer"})
    assert made["status"] is UNKNOWN
    given = known("kubernetes:core/v1:Service", Service, metadata={"name": "a"}, status={"loadBalancer": {}})
    assert given["status"] == {"loadBalancer": {}}


def test_what_google_makes_is_of_the_providers_project_and_region() -> None:
    subject = Subject("gcp:cloudfunctions/function:Function", "hello", {}, Place(region="us-west1", project="mine-1"))
    assert [plausible_text(key, subject) for key in ("project", "region")] == ["mine-1", "us-west1"]


def test_what_somebody_else_s_map_holds_is_not_known() -> None:
    assert known("aws:cloudformation/stack:Stack", Stack, templateUrl="https://x")["outputs"] is UNKNOWN
    assert known("aws:ec2/vpc:Vpc", Vpc, tags={"a": "b"})["tagsAll"] == {"a": "b"}


def test_only_what_asks_for_addresses_of_ipv6_has_them() -> None:
    block = known("aws:ec2/vpc:Vpc", Vpc, cidrBlock="10.0.0.0/16", assignGeneratedIpv6CidrBlock=True)["ipv6CidrBlock"]
    assert ipaddress.IPv6Network(block).prefixlen == 56
    assert known("aws:ec2/vpc:Vpc", Vpc, cidrBlock="10.0.0.0/16")["ipv6CidrBlock"] == ""


@pytest.mark.parametrize(
    ("type_", "inputs", "expected"),
    [
        ("aws:apigatewayv2/api:Api", {}, "arn:aws:apigateway:us-east-1::/apis/{id}"),
        ("aws:ecs/service:Service", {"cluster": "c"}, "arn:aws:ecs:us-east-1:123456789012:service/c/a"),
        ("aws:ecs/service:Service", {}, "arn:aws:ecs:us-east-1:123456789012:service/default/a"),
        ("aws:codebuild/project:Project", {}, "arn:aws:codebuild:us-east-1:123456789012:project/a"),
        ("aws:ssm/parameter:Parameter", {"name": "/a/b"}, "arn:aws:ssm:us-east-1:123456789012:parameter/a/b"),
        ("aws:ssm/parameter:Parameter", {"name": "a"}, "arn:aws:ssm:us-east-1:123456789012:parameter/a"),
        (
            "aws:wafv2/webAcl:WebAcl",
            {"scope": "CLOUDFRONT"},
            "arn:aws:wafv2:us-east-1:123456789012:global/webacl/a/{id}",
        ),
        (
            "aws:wafv2/webAcl:WebAcl",
            {"scope": "REGIONAL"},
            "arn:aws:wafv2:us-east-1:123456789012:regional/webacl/a/{id}",
        ),
    ],
)
def test_an_arn_is_as_its_service_writes_it(type_: str, inputs: dict[str, str], expected: str) -> None:
    subject = Subject(type_, "a", inputs, Place())
    assert arn(subject, identity(subject)) == expected.format(id=identity(subject))


@pytest.mark.parametrize("type_", ["aws:ecs/service:Service", "aws:codebuild/project:Project"])
def test_an_id_that_is_the_arn_is_that(type_: str) -> None:
    subject = Subject(type_, "a", {"cluster": "c"}, Place())
    assert identity(subject) == arn(subject, identity(subject))


def test_an_address_goes_by_a_things_name_without_the_words_of_its_client() -> None:
    def address(name: str, *called: str) -> str:
        def made() -> str:
            addresses_are_without(called)
            subject = Subject("gcp:sql/databaseInstance:DatabaseInstance", name, {}, Place())
            return written("10.{octet}.0.{host}", subject)

        return contextvars.copy_context().run(made)

    assert address("vexora-ml-mlflow", "vexora-ml") == address("lumbix-ml-mlflow", "lumbix", "ml")
    others = {address(f"vexora-{name}", "vexora") for name in ("mlflow", "runs", "mlflow-2", "vexorab-mlflow")}
    assert len(others) == 4, "each thing of a stack has its own"
    told_apart = ("mlflow", "acme-mlflow", "mlflow-prod", "acme-prod-mlflow", "prod-mlflow", "prod-acme-mlflow")
    assert len({address(name, "acme-prod") for name in told_apart}) == 6, "by the client's words too"
    assert address("vexora-mlflow") != address("lumbix-mlflow"), "where nobody says who the client is"


@pytest.mark.parametrize("prefix", ["trainyard", "programs"])
def test_a_client_is_called_by_its_settings_whatever_the_project_is_called(prefix: str) -> None:
    def address(client: str) -> object:
        def program() -> None:
            DatabaseInstance(f"{client}-mlflow", database_version="POSTGRES_17")

        deployment = Deployment("programs", "prod", config={f"{prefix}:client": client})
        (made,) = record(program, preview=False, deployment=deployment).resources
        return made.outputs["privateIpAddress"]

    assert address("vexora") == address("lumbix")


@pytest.mark.parametrize("type_", ["gcp:compute/globalAddress:GlobalAddress", "gcp:compute/address:Address"])
def test_an_address_that_is_reserved_is_an_address(type_: str) -> None:
    """A record of type A takes it, and rules tell by it what is public."""

    def address(**inputs: str) -> ipaddress.IPv4Address:
        made = special(Subject(type_, "door", inputs, Place()), "")["address"]
        return ipaddress.IPv4Address(made)

    assert address() in ipaddress.IPv4Network("203.0.113.0/24")
    assert address(network="n", purpose="VPC_PEERING") in ipaddress.IPv4Network("10.0.0.0/8")
    if type_.endswith(":Address"):
        assert address(subnetwork="inside") in ipaddress.IPv4Network("10.0.0.0/8")
