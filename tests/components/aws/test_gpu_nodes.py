"""GpuNodeGroups: how each capacity is bought, wired and found by the autoscaler."""

from __future__ import annotations

import base64
import email
import json
from collections.abc import Iterator
from typing import Any

import boto3
import pulumi
import pulumi_aws.ec2 as ec2
import pytest
import yaml
from moto import mock_aws
from pulumi.provider.experimental.component import ComponentProvider

from tests.components.aws.api_shape import KEY_ARN, REGION, api_shape, inputs_of, refusals
from tests.components.aws.pools import (
    BLOCK,
    ODCR,
    TAGS,
    arguments,
    b300_pool,
    block_pool,
    dev_pool,
    group,
    train_pool,
)
from tests.components.aws.recordings import NODE_GROUP, TEMPLATE, names, waits_for
from tests.pulumi_harness import Recorded, Recording, record
from trainyard.components.aws import gpu_launch
from trainyard.components.aws.cluster import Cluster
from trainyard.components.aws.encryption import EnvironmentKey
from trainyard.components.aws.gpu_nodes import GpuNodeGroups
from trainyard.components.aws.identity import PodRole
from trainyard.components.aws.network import Network

PLACEMENT = "aws:ec2/placementGroup:PlacementGroup"
SECURITY_GROUP = "aws:ec2/securityGroup:SecurityGroup"
GROUPS = (
    "dev-spot",
    "dev-on-demand",
    "train-reserved",
    "train-spot",
    "train-on-demand",
    "large-reserved",
    "frontier-on-demand",
)
WITH_FABRIC = GROUPS[2:]
AUTOSCALER = "k8s.io/cluster-autoscaler"


def recorded(*pools: dict[str, Any], preview: bool = False, **changes: Any) -> Recording:
    return record(lambda: GpuNodeGroups("gpu", arguments(*pools, **changes)), preview=preview)


@pytest.fixture(scope="module")
def recording() -> Recording:
    return recorded(dev_pool(), train_pool(), block_pool(), b300_pool())


def node_group(recording: Recording, name: str) -> dict[str, Any]:
    return inputs_of(recording.one(NODE_GROUP, f"gpu-{name}"))


def template(recording: Recording, name: str) -> dict[str, Any]:
    return inputs_of(recording.one(TEMPLATE, f"gpu-{name}-template"))


def user_data_parts(found: dict[str, Any]) -> list[Any]:
    """The parts of the user data of a launch template, in their order."""
    parts: Any = email.message_from_bytes(base64.b64decode(found["userData"])).get_payload()
    return list(parts)


def node_config(recording: Recording, name: str) -> dict[str, Any]:
    """The spec of the NodeConfig in the user data."""
    (part,) = (
        part
        for part in user_data_parts(template(recording, name))
        if part.get_content_type() == "application/node.eks.aws"
    )
    config: dict[str, Any] = yaml.safe_load(part.get_payload())
    assert (config["apiVersion"], config["kind"]) == ("node.eks.aws/v1alpha1", "NodeConfig")
    spec: dict[str, Any] = config["spec"]
    return spec


def changed(pool: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """The pool with its first node group changed, and no other."""
    return {**pool, "node_groups": ({**pool["node_groups"][0], **changes},)}


class TestEveryGroup:
    def test_one_node_group_and_template_each(self, recording: Recording) -> None:
        assert names(recording.of_type(NODE_GROUP)) == {f"gpu-{name}" for name in GROUPS}
        assert names(recording.of_type(TEMPLATE)) == {f"gpu-{name}-template" for name in GROUPS}
        for name in GROUPS:
            launch_template = node_group(recording, name)["launchTemplate"]
            assert launch_template["id"].startswith("lt-")
            assert launch_template["version"] == "1"
            assert f"LaunchTemplate gpu-{name}-template" in waits_for(
                recording, recording.one(NODE_GROUP, f"gpu-{name}")
            )

    def test_found_by_name(self) -> None:
        made: list[GpuNodeGroups] = []
        record(lambda: made.append(GpuNodeGroups("gpu", arguments(dev_pool(), train_pool()))))
        assert list(made[0].node_group_names) == list(GROUPS[:5])

    @pytest.mark.parametrize("name", GROUPS)
    def test_nvidia_image_of_the_clusters_version(self, recording: Recording, name: str) -> None:
        assert node_group(recording, name)["amiType"] == "AL2023_x86_64_NVIDIA"
        assert node_group(recording, name)["version"] == "1.35"
        assert "imageId" not in template(recording, name)

    @pytest.mark.parametrize("name", GROUPS)
    def test_closed_and_encrypted(self, recording: Recording, name: str) -> None:
        launch = template(recording, name)
        assert launch["metadataOptions"]["httpTokens"] == "required"
        assert launch["metadataOptions"]["httpPutResponseHopLimit"] == 1
        (root,) = launch["blockDeviceMappings"]
        assert root["deviceName"] == "/dev/xvda"
        assert (root["ebs"]["encrypted"], root["ebs"]["kmsKeyId"]) == ("true", KEY_ARN)
        assert root["ebs"]["volumeType"] == "gp3"
        assert root["ebs"]["volumeSize"] == (100 if name.startswith("dev") else 200)
        assert not {"diskSize", "remoteAccess"} & set(node_group(recording, name))

    @pytest.mark.parametrize("name", GROUPS)
    def test_what_it_makes_carries_the_environments_tags(self, recording: Recording, name: str) -> None:
        specifications = template(recording, name)["tagSpecifications"]
        assert [s["resourceType"] for s in specifications] == ["instance", "volume", "network-interface"]
        for specification in specifications:
            assert specification["tags"] == {"Name": f"gpu-{name}", **TAGS}

    @pytest.mark.parametrize("name", GROUPS)
    def test_the_autoscaler_owns_its_size(self, recording: Recording, name: str) -> None:
        assert recording.one(NODE_GROUP, f"gpu-{name}").ignore_changes == ("scalingConfig.desiredSize",)
        scaling = node_group(recording, name)["scalingConfig"]
        least = {"dev-on-demand": 1, "train-reserved": 2}.get(name, 0)
        assert scaling == {
            "desiredSize": least,
            "minSize": least,
            "maxSize": 2 if name == "train-reserved" else 4,
        }

    @pytest.mark.parametrize("name", GROUPS)
    def test_updates_need_no_spare_node_and_broken_nodes_are_replaced(self, recording: Recording, name: str) -> None:
        assert node_group(recording, name)["updateConfig"] == {"maxUnavailable": 1, "updateStrategy": "MINIMAL"}
        assert node_group(recording, name)["nodeRepairConfig"]["enabled"] is True

    @pytest.mark.parametrize("name", GROUPS)
    def test_local_disks_become_one(self, recording: Recording, name: str) -> None:
        assert node_config(recording, name)["instance"] == {"localStorage": {"strategy": "RAID0"}}

    @pytest.mark.parametrize("name", GROUPS)
    def test_containers_of_nodes_with_a_fabric_may_lock_memory(self, recording: Recording, name: str) -> None:
        """Without a capability, which pod security refuses and which does nothing for a user that is not root."""
        adapters = [card for card in template(recording, name).get("networkInterfaces", [])
                    if card["interfaceType"].startswith("efa")]  # fmt: skip
        config = node_config(recording, name)
        assert ("containerd" in config) == bool(adapters)
        if adapters:
            limits = {entry["type"]: entry for entry in config["containerd"]["baseRuntimeSpec"]["process"]["rlimits"]}
            # the image's own, which a list of ours replaces
            assert limits["RLIMIT_NOFILE"] == {"type": "RLIMIT_NOFILE", "soft": 65536, "hard": 1048576}
            memory = limits["RLIMIT_MEMLOCK"]
            assert memory["soft"] == memory["hard"] > 32 * 2**40, "more than a node has"
            # nodeadm merges documents as JSON, whose numbers are doubles there
            assert int(float(memory["hard"])) == memory["hard"] < 2**63

    def test_a_fabric_without_local_disk(self) -> None:
        config = node_config(recorded({**train_pool(), "local_nvme_gb": 0}), "train-spot")
        assert set(config) == {"containerd"}

    def test_no_local_disk_and_no_fabric_leave_the_node_configuration_alone(self) -> None:
        without = recorded({**dev_pool(), "local_nvme_gb": 0})
        parts = user_data_parts(template(without, "dev-spot"))
        assert [part.get_content_type() for part in parts] == ["text/x-shellscript"]

    @pytest.mark.parametrize("name", GROUPS)
    def test_a_variable_of_a_pod_gives_it_no_gpu(self, recording: Recording, name: str) -> None:
        (script,) = (
            part.get_payload()
            for part in user_data_parts(template(recording, name))
            if part.get_content_type() == "text/x-shellscript"
        )
        words = str(script).replace("\\\n", " ").split()
        assert words[0] == "#!/bin/bash"
        settings = dict(words[at + 1].split("=") for at, word in enumerate(words) if word == "--set")
        assert settings == {
            "accept-nvidia-visible-devices-envvar-when-unprivileged": "false",
            "accept-nvidia-visible-devices-as-volume-mounts": "true",
        }
        assert "--in-place" in words

    def test_first_preview_registers_the_same_resources_and_no_urn_twice(self, recording: Recording) -> None:
        unknown = recorded(dev_pool(), train_pool(), block_pool(), b300_pool(), preview=True)
        assert {(r.type, r.name) for r in recording.resources} == {(r.type, r.name) for r in unknown.resources}
        assert len({(r.type, r.name) for r in recording.resources}) == len(recording.resources)

    def test_waits_for_what_the_caller_says(self) -> None:
        def program() -> None:
            vpc = ec2.Vpc("first", cidr_block="10.0.0.0/16")
            GpuNodeGroups("gpu", arguments(dev_pool()), pulumi.ResourceOptions(depends_on=[vpc]))

        recording = record(program)
        for made in recording.of_type(NODE_GROUP):
            assert "Vpc first" in waits_for(recording, made)


class TestCapacities:
    def test_types(self, recording: Recording) -> None:
        assert {name: node_group(recording, name)["capacityType"] for name in GROUPS} == {
            "dev-spot": "SPOT",
            "dev-on-demand": "ON_DEMAND",
            "train-reserved": "ON_DEMAND",
            "train-spot": "SPOT",
            "train-on-demand": "ON_DEMAND",
            "large-reserved": "CAPACITY_BLOCK",
            "frontier-on-demand": "ON_DEMAND",
        }

    def test_reservation_is_targeted_and_nothing_else_will_do(self, recording: Recording) -> None:
        launch = template(recording, "train-reserved")
        assert launch["capacityReservationSpecification"] == {
            "capacityReservationPreference": "capacity-reservations-only",
            "capacityReservationTarget": {"capacityReservationId": ODCR["id"]},
        }
        assert "instanceMarketOptions" not in launch
        assert "instanceType" not in launch
        assert node_group(recording, "train-reserved")["instanceTypes"] == ["p4d.24xlarge"]

    def test_the_nodes_of_a_capacity_block_go_before_its_end(self) -> None:
        """And none comes again: whoever waits for one would get it for minutes."""
        ahead = changed(block_pool(), reservation={**BLOCK, "empty_at": "2099-12-08T10:45:00Z"})
        (found,) = recorded(ahead).of_type("aws:autoscaling/schedule:Schedule")
        sizes = {key: found.inputs[key] for key in ("minSize", "maxSize", "desiredCapacity", "startTime")}
        assert sizes == {"minSize": 0, "maxSize": 0, "desiredCapacity": 0, "startTime": "2099-12-08T10:45:00Z"}
        past = changed(block_pool(), reservation={**BLOCK, "empty_at": "2024-12-08T10:45:00Z"})
        for pool in (past, block_pool()):
            assert not recorded(pool).of_type("aws:autoscaling/schedule:Schedule"), (
                "Auto Scaling takes none that is over"
            )

    def test_capacity_block_has_type_and_market_in_the_template(self, recording: Recording) -> None:
        launch = template(recording, "large-reserved")
        assert launch["instanceMarketOptions"] == {"marketType": "capacity-block"}
        assert launch["capacityReservationSpecification"] == {
            "capacityReservationTarget": {"capacityReservationId": BLOCK["id"]}
        }
        assert launch["instanceType"] == "p5.48xlarge"
        # EKS refuses the instance type in both places.
        assert "instanceTypes" not in node_group(recording, "large-reserved")

    def test_spot_takes_alternatives(self, recording: Recording) -> None:
        assert node_group(recording, "dev-spot")["instanceTypes"] == ["g4dn.xlarge", "g4dn.2xlarge"]
        assert not {"instanceMarketOptions", "capacityReservationSpecification"} & set(template(recording, "dev-spot"))

    def test_on_demand_uses_up_no_reservation(self, recording: Recording) -> None:
        for name in ("dev-on-demand", "train-on-demand"):
            assert template(recording, name)["capacityReservationSpecification"] == {
                "capacityReservationPreference": "none"
            }

    def test_zones(self, recording: Recording) -> None:
        assert node_group(recording, "dev-spot")["subnetIds"] == ["subnet-0a", "subnet-0b", "subnet-0c"]
        assert node_group(recording, "large-reserved")["subnetIds"] == ["subnet-0b"]
        for name in WITH_FABRIC:
            assert len(node_group(recording, name)["subnetIds"]) == 1

    def test_placement_group_only_where_asked(self, recording: Recording) -> None:
        placement = recording.one(PLACEMENT)
        assert placement.name == "gpu-train-on-demand-placement"
        assert placement.inputs["strategy"] == "cluster"
        assert placement.urn in recording.one(TEMPLATE, "gpu-train-on-demand-template").dependencies
        for name in GROUPS:
            assert ("placement" in template(recording, name)) == (name == "train-on-demand")


class TestFabric:
    def test_an_adapter_a_card(self, recording: Recording) -> None:
        for name, cards in (("train-reserved", 4), ("train-spot", 4), ("large-reserved", 32)):
            interfaces = template(recording, name)["networkInterfaces"]
            assert [i["networkCardIndex"] for i in interfaces] == list(range(cards))
            assert [i["deviceIndex"] for i in interfaces] == [0] + [1] * (cards - 1)
            assert [i["interfaceType"] for i in interfaces] == ["efa"] + ["efa-only"] * (cards - 1)

    def test_b300_keeps_its_first_card_for_the_network(self, recording: Recording) -> None:
        interfaces = template(recording, "frontier-on-demand")["networkInterfaces"]
        assert interfaces[0]["interfaceType"] == "interface"
        assert [i["networkCardIndex"] for i in interfaces[1:]] == list(range(1, 17))
        assert {i["interfaceType"] for i in interfaces[1:]} == {"efa-only"}

    def test_security_groups_stand_in_the_interfaces(self, recording: Recording) -> None:
        fabric = recording.one(SECURITY_GROUP)
        for name in WITH_FABRIC:
            launch = template(recording, name)
            assert "vpcSecurityGroupIds" not in launch
            assert fabric.urn in recording.one(TEMPLATE, f"gpu-{name}-template").dependencies
            for interface in launch["networkInterfaces"]:
                assert len(interface["securityGroups"]) == 2
                assert interface["securityGroups"][0] == "sg-0cluster"
                assert interface["deleteOnTermination"] == "true"
                assert "associatePublicIpAddress" not in interface

    def test_without_fabric_the_clusters_group_alone(self, recording: Recording) -> None:
        for name in ("dev-spot", "dev-on-demand"):
            launch = template(recording, name)
            assert launch["vpcSecurityGroupIds"] == ["sg-0cluster"]
            assert "networkInterfaces" not in launch
        assert not recorded(dev_pool()).of_type(SECURITY_GROUP)

    @pytest.mark.parametrize("direction", ["Ingress", "Egress"])
    def test_the_group_allows_everything_to_and_from_itself_only(self, recording: Recording, direction: str) -> None:
        kind = f"SecurityGroup{direction}Rule"
        (rule,) = recording.of_type(f"aws:vpc/securityGroup{direction}Rule:{kind}")
        assert rule.inputs["ipProtocol"] == "-1"
        assert rule.inputs["referencedSecurityGroupId"] == rule.inputs["securityGroupId"]
        assert not {"cidrIpv4", "fromPort", "toPort"} & set(rule.inputs)

    def test_every_gpu_instance_that_amazon_lists(self) -> None:
        """EC2's own figures: as many adapters as the type has, each where its card has room for it."""
        checked = 0
        for info in _gpu_instance_types():
            network = info["NetworkInfo"]
            if not network["EfaSupported"]:
                continue
            adapters, cards = network["EfaInfo"]["MaximumEfaInterfaces"], network["NetworkCards"]
            pool: Any = {**train_pool(), "efa_interfaces": adapters, "network_cards": len(cards)}
            interfaces: list[Any] = list(gpu_launch.network_interfaces(pool, ["sg-0"]))
            kinds = [i["interface_type"] for i in interfaces]
            assert sum(kind.startswith("efa") for kind in kinds) == adapters, info["InstanceType"]
            room = {card["NetworkCardIndex"]: card["MaximumNetworkInterfaces"] for card in cards}
            for interface in interfaces:
                assert interface["device_index"] < room[interface["network_card_index"]], info["InstanceType"]
            checked += 1
        assert checked > 20


class TestScheduling:
    def test_labels(self, recording: Recording) -> None:
        assert node_group(recording, "dev-spot")["labels"] == {
            "ml.platform/pool": "dev",
            "ml.platform/capacity": "spot",
            "k8s.amazonaws.com/accelerator": "nvidia-t4",
        }
        assert node_group(recording, "train-reserved")["labels"]["ml.platform/capacity"] == "reserved"
        assert node_group(recording, "train-reserved")["labels"]["k8s.amazonaws.com/accelerator"] == "nvidia-a100-40gb"

    @pytest.mark.parametrize("name", GROUPS)
    def test_taints(self, recording: Recording, name: str) -> None:
        gpu = {"key": "nvidia.com/gpu", "value": "true", "effect": "NO_SCHEDULE"}
        spot = {"key": "ml.platform/capacity", "value": "spot", "effect": "NO_SCHEDULE"}
        assert node_group(recording, name)["taints"] == ([gpu, spot] if name.endswith("spot") else [gpu])

    def test_scale_from_zero(self, recording: Recording) -> None:
        expected = {
            f"{AUTOSCALER}/enabled": "true",
            f"{AUTOSCALER}/acme-production": "owned",
            f"{AUTOSCALER}/node-template/label/ml.platform/pool": "train",
            f"{AUTOSCALER}/node-template/label/ml.platform/capacity": "spot",
            f"{AUTOSCALER}/node-template/label/k8s.amazonaws.com/accelerator": "nvidia-a100-40gb",
            f"{AUTOSCALER}/node-template/taint/nvidia.com/gpu": "true:NoSchedule",
            f"{AUTOSCALER}/node-template/taint/ml.platform/capacity": "spot:NoSchedule",
            f"{AUTOSCALER}/node-template/resources/nvidia.com/gpu": "8",
            f"{AUTOSCALER}/node-template/resources/vpc.amazonaws.com/efa": "4",
            f"{AUTOSCALER}/node-template/resources/hugepages-2Mi": "5120Mi",
            f"{AUTOSCALER}/node-template/resources/ephemeral-storage": "7200G",
        }
        assert node_group(recording, "train-spot")["tags"] == expected
        tags = list(_group_tags(recording, "train-spot"))
        assert {tag["tag"]["key"]: tag["tag"]["value"] for tag in tags} == expected
        assert not any(tag["tag"]["propagateAtLaunch"] for tag in tags)

    def test_a_node_without_fabric_or_disk_promises_neither(self) -> None:
        found = recorded({**dev_pool(), "local_nvme_gb": 0})
        tags = node_group(found, "dev-spot")["tags"]
        assert f"{AUTOSCALER}/node-template/resources/vpc.amazonaws.com/efa" not in tags
        assert tags[f"{AUTOSCALER}/node-template/resources/ephemeral-storage"] == "90Gi"

    @pytest.mark.parametrize("name", GROUPS)
    def test_tags_are_within_amazons_limits(self, recording: Recording, name: str) -> None:
        tags = node_group(recording, name)["tags"]
        assert len(tags) <= 40  # of 50: the provider's default tags come on top
        assert all(len(key) <= 128 and len(value) <= 256 for key, value in tags.items())


class TestRefusals:
    @pytest.mark.parametrize(
        ("pool", "message"),
        [
            (
                changed(train_pool(), placement_group=True),
                r"'train-reserved': placement group with reservation cr-0123456789abcdef0",
            ),
            (
                changed(train_pool(), zones=("us-east-1b",)),
                r"zones \['us-east-1b'\] with reservation cr-0123456789abcdef0, which is in us-east-1a only",
            ),
            (changed(train_pool(), reservation=None), "capacity reserved with no reservation"),
            (changed(dev_pool(), reservation=ODCR), "capacity spot with reservation cr-0123456789abcdef0"),
            (changed(dev_pool(), capacity="preemptible"), "capacity 'preemptible'; reserved, spot, on-demand"),
            (
                changed(train_pool(), reservation={**ODCR, "kind": "block"}),
                "reservation of kind 'block'; odcr, capacity-block",
            ),
            (
                {**train_pool(), "node_groups": (group("train-spot", "spot", zones=("us-east-1a", "us-east-1b")),)},
                "a fabric and a placement group stay within one",
            ),
            (changed(dev_pool(), placement_group=True), "a fabric and a placement group stay within one"),
            (
                {
                    **dev_pool(),
                    "node_groups": (group("dev-x", "on-demand", instance_types=("g4dn.xlarge", "g5.xlarge")),),
                },
                "only spot takes alternatives",
            ),
            (changed(dev_pool(), max_nodes=0), "0 to 0 nodes"),
            (changed(dev_pool(), min_nodes=5), "5 to 4 nodes"),
            (changed(dev_pool(), zones=("us-east-1f",)), "zone 'us-east-1f' has no subnet; there are us-east-1a"),
            ({**train_pool(), "network_cards": 8}, "pool 'train': 4 Elastic Fabric Adapters on 8 network cards"),
            (changed(dev_pool(), name="d" * 60), "64 characters, a node group's name holds at most 55"),
        ],
    )
    def test_named(self, pool: dict[str, Any], message: str) -> None:
        with pytest.raises(ValueError, match=message):
            recorded(pool)

    def test_one_name_twice(self) -> None:
        with pytest.raises(ValueError, match="'dev-spot': two pools have a group of this name"):
            recorded(dev_pool(), {**dev_pool(), "name": "other"})


class TestAmazonsModels:
    @pytest.mark.parametrize("name", GROUPS)
    def test_launch_template_round_trip(self, recording: Recording, name: str) -> None:
        data = _launch_template_data(template(recording, name))
        request = {"LaunchTemplateName": name, "LaunchTemplateData": data}
        assert refusals("ec2", "CreateLaunchTemplate", request) == []
        with mock_aws():
            client = boto3.client("ec2", region_name=REGION)
            client.create_launch_template(**request)
            versions = client.describe_launch_template_versions(LaunchTemplateName=name)["LaunchTemplateVersions"]
        kept = versions[0]["LaunchTemplateData"]
        assert {key: value for key, value in data.items() if key != "TagSpecifications"} == {
            key: value for key, value in kept.items() if key != "TagSpecifications"
        }

    @pytest.mark.parametrize("name", GROUPS)
    def test_node_group_round_trip(self, recording: Recording, name: str) -> None:
        request = _node_group_request(recording.one(NODE_GROUP, f"gpu-{name}"))
        assert refusals("eks", "CreateNodegroup", request) == []
        with mock_aws():
            compute, eks = (boto3.client(service, region_name=REGION) for service in ("ec2", "eks"))
            made = compute.create_launch_template(
                LaunchTemplateName=name, LaunchTemplateData=_launch_template_data(template(recording, name))
            )
            eks.create_cluster(
                name=request["clusterName"],
                roleArn=request["nodeRole"],
                resourcesVpcConfig={"subnetIds": ["subnet-0a", "subnet-0b"]},
            )
            launch_template = {"id": made["LaunchTemplate"]["LaunchTemplateId"], "version": "1"}
            eks.create_nodegroup(**{**request, "launchTemplate": launch_template})
            kept = eks.describe_nodegroup(clusterName=request["clusterName"], nodegroupName=request["nodegroupName"])
        for key in ("capacityType", "amiType", "labels", "taints", "scalingConfig", "subnets"):
            assert kept["nodegroup"][key] == request[key], key

    def test_instance_types_are_sold_on_the_terms_that_the_groups_use(self, recording: Recording) -> None:
        offered = {info["InstanceType"]: info["SupportedUsageClasses"] for info in _gpu_instance_types()}
        usage = {"SPOT": "spot", "ON_DEMAND": "on-demand", "CAPACITY_BLOCK": "capacity-block"}
        for name in GROUPS:
            inputs = node_group(recording, name)
            types = inputs.get("instanceTypes") or [template(recording, name)["instanceType"]]
            for instance_type in types:
                assert usage[inputs["capacityType"]] in offered[instance_type], name


def test_callable_from_other_languages() -> None:
    """Pulumi can describe the components' arguments, so that a program in another language can use them."""
    parts: list[type[pulumi.ComponentResource]] = [Cluster, EnvironmentKey, GpuNodeGroups, Network, PodRole]
    schema = json.loads(str(ComponentProvider(parts, "trainyard", version="0.1.0").schema))
    assert set(schema["resources"]) == {f"trainyard:index:{part.__name__}" for part in parts}
    for resource in schema["resources"].values():
        assert all(prop.get("description") for prop in resource["inputProperties"].values())


def _group_tags(recording: Recording, name: str) -> Iterator[dict[str, Any]]:
    for tag in recording.of_type("aws:autoscaling/tag:Tag"):
        if tag.inputs["autoscalingGroupName"].startswith(f"eks-gpu-{name}-"):
            yield inputs_of(tag)


def _gpu_instance_types() -> list[dict[str, Any]]:
    with mock_aws():
        pages = boto3.client("ec2", region_name=REGION).get_paginator("describe_instance_types").paginate()
        return [info for page in pages for info in page["InstanceTypes"] if "GpuInfo" in info]


def _launch_template_data(inputs: dict[str, Any]) -> dict[str, Any]:
    """The recorded inputs as EC2's API takes them: PascalCase, some other names, truth values that are not texts."""
    data: dict[str, Any] = api_shape(
        {k: v for k, v in inputs.items() if k not in ("description", "updateDefaultVersion")}
    )
    if "VpcSecurityGroupIds" in data:
        data["SecurityGroupIds"] = data.pop("VpcSecurityGroupIds")
    for interface in data.get("NetworkInterfaces", []):
        interface["Groups"] = interface.pop("SecurityGroups")
        interface["DeleteOnTermination"] = interface["DeleteOnTermination"] == "true"
    for mapping in data["BlockDeviceMappings"]:
        for key in ("Encrypted", "DeleteOnTermination"):
            mapping["Ebs"][key] = mapping["Ebs"][key] == "true"
    for specification, recorded_one in zip(data["TagSpecifications"], inputs["tagSpecifications"], strict=True):
        specification["Tags"] = [{"Key": key, "Value": value} for key, value in recorded_one["tags"].items()]
    return data


def _node_group_request(recorded_group: Recorded) -> dict[str, Any]:
    inputs = inputs_of(recorded_group)
    renamed = {"nodeRoleArn": "nodeRole", "subnetIds": "subnets"}
    same = {"desiredSize", "maxSize", "minSize"}
    request = {renamed.get(key, key): value for key, value in inputs.items()}
    assert set(request["scalingConfig"]) == same
    return {**request, "nodegroupName": recorded_group.name}
