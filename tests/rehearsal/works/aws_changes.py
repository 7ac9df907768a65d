"""Changes of what is recorded of an account on AWS: who is told of whom, policies and user data by their parts."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tests.rehearsal.works.mistakes import DROP, Change, Recorded, both, edit, in_json, put
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import steps

ROLE = "aws:iam/role:Role"
POLICY = "aws:iam/rolePolicy:RolePolicy"
ATTACHMENT = "aws:iam/rolePolicyAttachment:RolePolicyAttachment"
KEY = "aws:kms/key:Key"
GRANT = "aws:kms/grant:Grant"
ALIAS = "aws:kms/alias:Alias"
BUCKET_POLICY = "aws:s3/bucketPolicy:BucketPolicy"
LOGGING = "aws:s3/bucketLogging:BucketLogging"
LIFECYCLE = "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration"
VERSIONING = "aws:s3/bucketVersioning:BucketVersioning"
ENCRYPTION = "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration"
ENDPOINT = "aws:ec2/vpcEndpoint:VpcEndpoint"
GROUP = "aws:ec2/securityGroup:SecurityGroup"
INGRESS = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"
EGRESS = "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule"
ROUTE = "aws:ec2/route:Route"
TABLE = "aws:ec2/routeTable:RouteTable"
IN_TABLE = "aws:ec2/routeTableAssociation:RouteTableAssociation"
NAT = "aws:ec2/natGateway:NatGateway"
SECURITY_GROUP = "aws:ec2/securityGroup:SecurityGroup"
SUBNET = "aws:ec2/subnet:Subnet"
VPC = "aws:ec2/vpc:Vpc"
DNS_RULE = "aws:route53/resolverFirewallRule:ResolverFirewallRule"
DNS_LIST = "aws:route53/resolverFirewallDomainList:ResolverFirewallDomainList"
DNS_BOUND = "aws:route53/resolverFirewallRuleGroupAssociation:ResolverFirewallRuleGroupAssociation"
CLUSTER = "aws:eks/cluster:Cluster"
ADD_ON = "aws:eks/addon:Addon"
NODES = "aws:eks/nodeGroup:NodeGroup"
IDENTITY = "aws:eks/podIdentityAssociation:PodIdentityAssociation"
ENTRY_POLICY = "aws:eks/accessPolicyAssociation:AccessPolicyAssociation"
TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
GROUP_TAG = "aws:autoscaling/tag:Tag"
INSTANCE = "aws:ec2/instance:Instance"
PROFILE = "aws:iam/instanceProfile:InstanceProfile"
DATABASE = "aws:rds/instance:Instance"
PARAMETERS = "aws:rds/parameterGroup:ParameterGroup"
ALARM = "aws:cloudwatch/metricAlarm:MetricAlarm"
LOGS = "aws:cloudwatch/logGroup:LogGroup"
QUERY = "aws:cloudwatch/queryDefinition:QueryDefinition"
RULE = "aws:cloudwatch/eventRule:EventRule"
TARGET = "aws:cloudwatch/eventTarget:EventTarget"
TOPIC = "aws:sns/topic:Topic"
TOPIC_POLICY = "aws:sns/topicPolicy:TopicPolicy"
SUBSCRIPTION = "aws:sns/topicSubscription:TopicSubscription"
TRAIL = "aws:cloudtrail/trail:Trail"
FLOW_LOG = "aws:ec2/flowLog:FlowLog"
DETECTOR = "aws:guardduty/detector:Detector"
BUDGET = "aws:budgets/budget:Budget"
LUSTRE = "aws:fsx/lustreFileSystem:LustreFileSystem"
REPOSITORY_LINK = "aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation"
FILES_POLICY = "aws:efs/fileSystemPolicy:FileSystemPolicy"
MOUNT_TARGET = "aws:efs/mountTarget:MountTarget"
ACCESS_POINT = "aws:efs/accessPoint:AccessPoint"
CACHE = "aws:ecr/pullThroughCacheRule:PullThroughCacheRule"
REPOSITORY = "aws:ecr/repository:Repository"
VOLUME = "kubernetes:core/v1:PersistentVolume"
RELEASE = "kubernetes:helm.sh/v3:Release"

Into = Callable[[dict[str, Any]], Any]


def found(resources: Recorded, type_: str, name: str) -> RecordedResource:
    """The one resource of that type and name."""
    (one,) = [resource for resource in resources if (resource.type, resource.name) == (type_, name)]
    return one


def output(resource: RecordedResource, attribute: str) -> Any:
    """What a resource is known by: `id`, an output, or an input."""
    if attribute == "id":
        return resource.id
    return resource.outputs.get(attribute, resource.inputs.get(attribute))


def refer(type_: str, name: str, path: str, to_type: str, to_name: str, attribute: str = "id") -> Change:
    """Puts at a path what another resource is known by, as a program would that names the other one."""

    def change(resources: Recorded) -> list[RecordedResource]:
        other = found(resources, to_type, to_name)
        known = output(other, attribute)
        assert known is not None, (to_type, to_name, attribute)
        made = edit(type_, name, put(path, known))(resources)
        by_urn, key = {one.urn: one for one in resources}, str(steps(path)[0])
        return [
            replace(one, property_dependencies={**one.property_dependencies, key: _named(one, key, other, by_urn)})
            if (one.type, one.name) == (type_, name)
            else one
            for one in made
        ]

    return change


def left_out(type_: str, name: str, key: str) -> Change:
    """Leaves an input out, and with it what it was made of."""

    def change(resources: Recorded) -> list[RecordedResource]:
        made = edit(type_, name, put(key, DROP))(resources)
        return [
            replace(one, property_dependencies={k: v for k, v in one.property_dependencies.items() if k != key})
            if (one.type, one.name) == (type_, name)
            else one
            for one in made
        ]

    return change


def _named(
    resource: RecordedResource, key: str, other: RecordedResource, by_urn: Mapping[str, RecordedResource]
) -> tuple[str, ...]:
    """Those of whom an input still says something, and the one that it now names."""
    text = json.dumps(resource.inputs[key], default=str)
    before = [by_urn[urn] for urn in resource.property_dependencies.get(key, ()) if urn in by_urn]
    known = [one.urn for one in before if any(str(output(one, name)) in text for name in ("id", "arn", "name"))]
    return tuple(dict.fromkeys([*known, other.urn]))


def statement(key: str, sid: str, *into: Into, at: int | None = None) -> Into:
    """Changes one statement of a policy by its Sid, or by its place where it has none."""

    def change(document: dict[str, Any]) -> None:
        statements = document["Statement"]
        one = statements[at] if at is not None else next(s for s in statements if s.get("Sid") == sid)
        for each in into:
            each(one)

    return in_json(key, change)


def no_statement(key: str, sid: str) -> Into:
    """Takes one statement out of a policy."""

    def change(document: dict[str, Any]) -> None:
        before = len(document["Statement"])
        document["Statement"] = [one for one in document["Statement"] if one.get("Sid") != sid]
        assert len(document["Statement"]) + 1 == before, sid

    return in_json(key, change)


def reworded(key: str, before: str, after: str) -> Into:
    """Puts one text in the place of another in all of an input, whatever it is."""

    def change(inputs: dict[str, Any]) -> None:
        text = json.dumps(inputs[key])
        assert before in text, (before, text)
        inputs[key] = json.loads(text.replace(before, after))

    return change


def user_data(before: str, after: str) -> Into:
    """Changes the text that nodes read at their start."""

    def change(inputs: dict[str, Any]) -> None:
        text = base64.b64decode(inputs["userData"]).decode()
        assert before in text, (before, text)
        inputs["userData"] = base64.b64encode(text.replace(before, after).encode()).decode()

    return change


def without(key: str, *members: str) -> Into:
    """Takes members out of a list of an input or a statement."""

    def change(held: dict[str, Any]) -> None:
        assert set(members) <= set(held[key]), held[key]
        held[key] = [one for one in held[key] if one not in members]

    return change


def each(type_: str, names: Sequence[str], *into: Into) -> Change:
    """The same change of several resources of a type."""
    return both(*(edit(type_, name, *into) for name in names))


def in_config(name: str, before: str, after: str) -> Change:
    """Puts one text in the place of another in what a config map holds."""

    def into(inputs: dict[str, Any]) -> None:
        assert any(before in text for text in inputs["data"].values()), before
        inputs["data"] = {key: text.replace(before, after) for key, text in inputs["data"].items()}

    return edit("kubernetes:core/v1:ConfigMap", name, into)
