"""Inputs of AWS that are unusual and right are not refused, one resource alone; what is wrong beside them is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

import pytest

from tests.rehearsal.refusals.builders import ACCOUNT, CONTEXT, resource
from trainyard.recorded.model import UNKNOWN, RecordedResource
from trainyard.rehearsal.context import ValueContext
from trainyard.rehearsal.refusals.check import check_values

Row = tuple[str, dict[str, Any]]
SCANNING: Final = "aws:ecr/registryScanningConfiguration:RegistryScanningConfiguration"
DEFINITION: Final = "aws:batch/jobDefinition:JobDefinition"
EFS: Final = "aws:efs/fileSystem:FileSystem"


def told(type_: str, inputs: Mapping[str, Any], context: ValueContext = CONTEXT,
         *beside: RecordedResource) -> set[tuple[str, str, str]]:  # fmt: skip
    """What is said of one resource: level, rule and path."""
    found = check_values([resource(type_, "one", inputs), *beside], context)
    return {(one.level, one.rule, one.path) for one in found if one.name == "one"}


def job(**container: Any) -> Row:
    return DEFINITION, {"name": "train", "type": "container", "containerProperties": json.dumps(container)}


RIGHT: Final[Mapping[str, Row]] = {
    "a filter of images that no pattern of ours can hold in time": (
        SCANNING,
        {"scanType": "BASIC",
         "rules": [{"scanFrequency": "SCAN_ON_PUSH",
                    "repositoryFilters": [{"filter": f"{'a' * 30}/b", "filterType": "WILDCARD"}]}]}),
    "an archive after a time that nobody knows yet": (
        EFS, {"throughputMode": "elastic", "lifecyclePolicies": [{"transitionToArchive": UNKNOWN}]}),
}  # fmt: skip


@pytest.mark.parametrize(
    ("type_", "tags", "paths"),
    [
        ("aws:ec2/securityGroup:SecurityGroup", {"Name": "ssh,http & https"}, set()),
        ("aws:ec2/securityGroup:SecurityGroup", {"Name": "a" * 257}, {"tags.Name"}),
        ("aws:ec2/securityGroup:SecurityGroup", {"aws:Name": "a"}, {"tags.aws:Name"}),
        ("aws:iam/role:Role", {"Name": "ssh,http"}, {"tags.Name"}),
        ("aws:rds/instance:Instance", {"a,b": "c"}, {"tags.a,b"}),
    ],
)
def test_tags_of_ec2_may_have_any_sign(type_: str, tags: Mapping[str, str], paths: set[str]) -> None:
    found = {path for _, rule, path in told(type_, {"tags": tags}) if rule == "tags"}
    assert found == paths


@pytest.mark.parametrize("what", RIGHT)
def test_what_is_unusual_and_right_is_not_told(what: str) -> None:
    assert told(*RIGHT[what]) == set()


@pytest.mark.parametrize(
    ("key", "value"),
    [("resourceRequirements", 5), ("resourceRequirements", [{"type": ["GPU"], "value": "1"}]), ("volumes", 5),
     ("volumes", [{"name": ["a"]}]), ("mountPoints", {"sourceVolume": "a"}), ("mountPoints", [{"sourceVolume": []}])],
)  # fmt: skip
def test_a_job_of_any_shape_is_read(key: str, value: Any) -> None:
    found = told(*job(image="busybox", vcpus=1, memory=512, **{key: value}))
    assert {rule for _, rule, _ in found} <= {"aws-json", "batch-definition"}


def arn(service: str, rest: str, region: str = "us-east-1", partition: str = "aws") -> str:
    return f"arn:{partition}:{service}:{region}:{ACCOUNT}:{rest}"


SECRET, PARAMETER = "aws:secretsmanager/secretVersion:SecretVersion", "aws:ssm/parameter:Parameter"
TRAIL: Final = "aws:cloudtrail/trail:Trail"
FAR_KEY: Final = arn("kms", "key/0b8f2f3e-0000-4000-8000-0123456789ab", "eu-west-1")
ARNS: Final[Mapping[str, Row]] = {
    "a text that is kept": (PARAMETER, {"name": "/a", "type": "String", "value": "arn:aws-cn:s3:::models"}),
    "a secret that is kept": (SECRET, {"secretId": "a", "secretString": "arn:aws-cn:s3:::models"}),
    "a table bucket": (
        "aws:s3tables/namespace:Namespace", {"namespace": "a", "tableBucketArn": arn("s3tables", "bucket/tables")}),
    "a vector bucket": (
        "aws:s3vectors/index:Index", {"vectorBucketArn": arn("s3vectors", "bucket/vectors")}),
    "files of FSx": (
        "aws:datasync/locationFsxLustre:LocationFsxLustre",
        {"fsxFilesystemArn": arn("fsx", "file-system/fs-0123456789abcdef0")}),
    "a certificate of DMS": ("aws:dms/endpoint:Endpoint", {"certificateArn": arn("dms", "cert:ABC")}),
    "a topic by its ARN": (TRAIL, {"s3BucketName": "trail", "snsTopicName": arn("sns", "trail")}),
    "a document of another account": ("aws:ssm/association:Association", {"name": arn("ssm", "document/patch")}),
    "a layer by its ARN": (
        "aws:lambda/layerVersionPermission:LayerVersionPermission", {"layerName": arn("lambda", "layer:tools")}),
    "a trail's key lies with the bucket": (TRAIL, {"s3BucketName": "trail", "kmsKeyId": FAR_KEY}),
    "a record's key lies with the bucket": (
        "aws:cfg/deliveryChannel:DeliveryChannel", {"s3BucketName": "records", "s3KmsKeyArn": FAR_KEY}),
    "findings' key lies with the bucket": (
        "aws:guardduty/publishingDestination:PublishingDestination", {"kmsKeyArn": FAR_KEY}),
    "images are brought to another region": (
        "aws:imagebuilder/distributionConfiguration:DistributionConfiguration",
        {"distributions": [{"region": "eu-west-1", "amiDistributionConfiguration": {"kmsKeyId": FAR_KEY}}]}),
}  # fmt: skip


@pytest.mark.parametrize("what", ARNS)
def test_what_an_arn_may_be_of_is_not_told(what: str) -> None:
    assert {rule for _, rule, _ in told(*ARNS[what]) if rule.startswith("aws-")} == set()


@pytest.mark.parametrize(
    ("region", "partition"), [("eusc-de-east-1", "aws-eusc"), ("us-iso-east-1", "aws-iso"), ("cn-north-1", "aws-cn")]
)
def test_every_partition_has_arns_of_its_own(region: str, partition: str) -> None:
    context = ValueContext(kubernetes_version="1.35", region=region)
    for given in (partition, "aws"):
        rules = {rule for _, rule, _ in told("aws:lambda/function:Function", {
            "role": arn("iam", "role/work", "", given), "packageType": "Image", "imageUri": "a"}, context)}  # fmt: skip
        assert ("aws-partition" in rules) is (given == "aws")


@pytest.mark.parametrize(
    ("type_", "inputs", "rule"),
    [
        ("aws:s3tables/namespace:Namespace", {"tableBucketArn": "arn:aws:s3:::models"}, "aws-model"),
        ("aws:dms/endpoint:Endpoint", {"certificateArn": arn("acm", "certificate/0")}, "aws-arn-kind"),
        ("aws:s3/bucketLogging:BucketLogging", {"targetBucket": "arn:aws:s3:::logs"}, "aws-name"),
        ("aws:sns/topic:Topic", {"kmsMasterKeyId": FAR_KEY}, "aws-arn-region"),
    ],
)
def test_what_an_arn_may_not_be_of_is_told(type_: str, inputs: dict[str, Any], rule: str) -> None:
    assert rule in {found for _, found, _ in told(type_, inputs)}


ENVIRONMENT, QUEUE = "aws:batch/computeEnvironment:ComputeEnvironment", "aws:batch/jobQueue:JobQueue"
LISTENER, GROUP = "aws:lb/listener:Listener", "aws:lb/targetGroup:TargetGroup"
RULE, WINDOW = "aws:ec2/networkAclRule:NetworkAclRule", "aws:ssm/maintenanceWindow:MaintenanceWindow"
GLUE, ATHENA = "aws:glue/job:Job", "aws:athena/workgroup:Workgroup"
FUNCTION, BUILD = "aws:lambda/function:Function", "aws:codebuild/project:Project"
CERTIFICATE, ENDPOINT = "aws:acm/certificate:Certificate", "aws:ec2/vpcEndpoint:VpcEndpoint"
BACKUPS: Final = "aws:backup/plan:Plan"
OF_IMAGE: Final = {"role": arn("iam", "role/work", ""), "packageType": "Image", "imageUri": "a"}
CAPACITY: Final = {"lambdaManagedInstancesCapacityProviderConfig": {
    "capacityProviderArn": arn("lambda", "capacity-provider:large")}}  # fmt: skip


def machines(kind: str, **more: Any) -> dict[str, Any]:
    resources = {"type": kind, "maxVcpus": 16, "subnets": ["subnet-0123456789abcdef0"], **more}
    return {"type": "MANAGED", "computeResources": resources}


def window(**more: Any) -> dict[str, Any]:
    return {"name": "patch", "schedule": "rate(7 days)", "duration": 3, "cutoff": 1, **more}


def build(steps: str) -> dict[str, Any]:
    return {"source": {"type": "NO_SOURCE", "buildspec": steps}, "artifacts": {"type": "NO_ARTIFACTS"}}


LOOSE: Final[Mapping[str, Row]] = {
    "machines in small letters": (
        ENVIRONMENT, {**machines("ec2", instanceRole="machine", allocationStrategy="best_fit"), "type": "managed",
                      "state": "enabled"}),
    "an end in capitals": (
        DEFINITION, {"name": "a", "type": "container", "retryStrategy": {"evaluateOnExits": [
            {"action": "retry", "onReason": "*"}]}}),
    "a listener in small letters": (LISTENER, {"loadBalancerArn": arn("elasticloadbalancing", "x"), "protocol": "tcp"}),
    "targets in small letters": (GROUP, {"protocol": "https", "port": 443, "vpcId": "vpc-1"}),
    "a rule in capitals": (RULE, {"networkAclId": "acl-1", "ruleNumber": 1, "protocol": "-1", "ruleAction": "ALLOW"}),
    "no other names": (CERTIFICATE, {"domainName": "a.example", "subjectAlternativeNames": []}),
    "a window that says nothing": (WINDOW, window(description="")),
    "an image without a handler": (FUNCTION, {**OF_IMAGE, "handler": ""}),
    "no bid": (ENVIRONMENT, machines("EC2", instanceRole="machine", bidPercentage=0)),
    "a job of Glue without an end": (
        GLUE, {"name": "a", "roleArn": arn("iam", "role/work", ""), "command": {"scriptLocation": "s3://a/b.py"},
               "timeout": 0}),
    "queries without an end": (ATHENA, {"name": "a", "configuration": {"bytesScannedCutoffPerQuery": 0}}),
    "machines that ECS keeps": (ENVIRONMENT, machines("ECS_MANAGED_INSTANCES")),
    "steps in one line": (BUILD, build('{"version": "0.2", "phases": {"build": {"commands": ["make"]}}}')),
    "a window that opens once": (WINDOW, window(schedule="at(2087-07-07T15:55:00)")),
    "rules whose names come later": (
        BACKUPS, {"name": "a", "rules": [{"ruleName": UNKNOWN, "targetVaultName": "main"}] * 2}),
    "orders that come later": (
        QUEUE, {"name": "a", "state": "ENABLED", "priority": 1, "computeEnvironmentOrders": [
            {"computeEnvironment": "a", "order": UNKNOWN}, {"computeEnvironment": "b", "order": UNKNOWN}]}),
    "an endpoint of a newer service": (
        ENDPOINT, {"vpcId": "vpc-1", "vpcEndpointType": "Interface",
                   "serviceName": "com.amazonaws.us-east-1.bedrock-agentcore"}),
    "a function on machines of one's own": (
        FUNCTION, {**OF_IMAGE, "timeout": 3600, "memorySize": 20480, "capacityProviderConfig": CAPACITY}),
}  # fmt: skip


@pytest.mark.parametrize("what", LOOSE)
def test_what_the_provider_takes_is_not_told(what: str) -> None:
    assert told(*LOOSE[what]) == set()


@pytest.mark.parametrize(
    ("type_", "inputs", "level", "rule", "path"),
    [
        (ENVIRONMENT, machines("EC3"), "error", "aws-model", "computeResources.type"),
        (ENVIRONMENT, machines("ec2"), "error", "batch-environment", "computeResources.instanceRole"),
        (ENVIRONMENT, machines("SPOT", bidPercentage=10), "warning", "batch-bid", "computeResources.bidPercentage"),
        (CERTIFICATE, {"domainName": ""}, "error", "aws-model", "domainName"),
        (WINDOW, window(name=""), "error", "aws-model", "name"),
        (WINDOW, window(schedule="at(7 July)"), "error", "aws-schedule", "schedule"),
        (GLUE, {"timeout": -1}, "error", "aws-model", "timeout"),
        (ATHENA, {"configuration": {"bytesScannedCutoffPerQuery": 1}}, "error", "aws-model",
         "configuration.bytesScannedCutoffPerQuery"),
        (BUILD, build("steps/build.yml"), "error", "codebuild-source", "source.buildspec"),
        (BACKUPS, {"name": "a", "rules": [{"ruleName": "a", "targetVaultName": "main"}] * 2}, "error", "backup-plan",
         "rules[1].ruleName"),
        (ENDPOINT, {"vpcId": "vpc-1", "vpcEndpointType": "Interface",
                    "serviceName": "com.amazonaws.us-east-1.eks-authn"}, "warning", "endpoint-service", "serviceName"),
        (FUNCTION, {**OF_IMAGE, "timeout": 1000}, "warning", "lambda-size", "timeout"),
        (FUNCTION, {**OF_IMAGE, "timeout": 9000}, "error", "aws-model", "timeout"),
        (FUNCTION, {**OF_IMAGE, "runtime": "python3.7"}, "warning", "lambda-runtime", "runtime"),
    ],
)  # fmt: skip
def test_what_is_wrong_beside_it_is_told(type_: str, inputs: dict[str, Any], level: str, rule: str, path: str) -> None:
    assert (level, rule, path) in told(type_, inputs)


REPLICATION: Final = "aws:s3/bucketReplicationConfig:BucketReplicationConfig"


@pytest.mark.parametrize(("locked", "is_told"), [(True, False), (UNKNOWN, False), (False, True)])
def test_a_bucket_that_locks_keeps_versions(locked: Any, is_told: bool) -> None:
    bucket = resource("aws:s3/bucket:Bucket", "models", {"bucket": "models", "objectLockEnabled": locked}, "models")
    rule = {"status": "Enabled", "destination": {"bucket": "arn:aws:s3:::copies"}}
    found = told(REPLICATION, {"bucket": "models", "role": arn("iam", "role/copy", ""), "rules": [rule]},
                 CONTEXT, bucket)  # fmt: skip
    assert (("error", "s3-replication", "bucket") in found) is is_told


def test_an_address_of_two_is_a_warning() -> None:
    inputs = {"instance": "i-0123456789abcdef0", "networkInterface": "eni-0123456789abcdef0"}
    assert told("aws:ec2/eip:Eip", inputs) == {("warning", "aws-inputs", "networkInterface")}


ENTRY: Final = "aws:eks/accessEntry:AccessEntry"
NODES: Final = f"arn:aws:iam::{ACCOUNT}:role/nodes"


@pytest.mark.parametrize(
    ("inputs", "path"),
    [({"type": "EC2_LINUX", "principalArn": NODES, "kubernetesGroups": ["nodes"]}, "kubernetesGroups"),
     ({"type": "EC2_WINDOWS", "principalArn": NODES, "kubernetesGroups": []}, ""),
     ({"type": "EC2_LINUX", "principalArn": f"arn:aws:iam::{ACCOUNT}:user/nodes"}, "principalArn"),
     ({"principalArn": f"arn:aws:iam::{ACCOUNT}:user/ada"}, ""),
     ({"type": UNKNOWN, "principalArn": NODES, "kubernetesGroups": ["system:nodes"]}, "")],
)  # fmt: skip
def test_an_access_entry_of_nodes_is_for_a_role_and_has_no_groups(inputs: dict[str, Any], path: str) -> None:
    said = {("error", "eks-access-nodes", path)} if path else set()
    assert told(ENTRY, {"clusterName": "a", **inputs}) == said
