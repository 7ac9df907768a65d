"""Ids and outputs of the shape that the clouds give them: `vpc-0f3a…`, ARNs with account and region, endpoints.

Everything is derived from type and logical name by SHA-256, so two runs agree and two types never share an id.
Shapes: the AWS service authorization reference (ARN formats, read 2026-11) and the resource documentation.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from trainyard.recorded.model import UNKNOWN, Secret, bare

ACCOUNT = "123456789012"
"""The account of synthesised ARNs where the provider names none."""

CERTIFICATE = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCnJlaGVhcnNhbAotLS0tLUVORCBDRVJUSUZJQ0FURS0tLS0tCg=="
"""Base64 of a PEM frame without a certificate in it: decodes, and opens nothing."""


def digest(*parts: str) -> str:
    """64 hex digits that depend on every part."""
    return hashlib.sha256("\x00".join(parts).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Place:
    """Where a resource lives, as far as its provider says."""

    account: str = ACCOUNT
    region: str = "us-east-1"

    @property
    def partition(self) -> str:
        """`aws`, `aws-cn` or `aws-us-gov`, from the region."""
        if self.region.startswith("cn-"):
            return "aws-cn"
        return "aws-us-gov" if self.region.startswith("us-gov-") else "aws"

    @property
    def dns_suffix(self) -> str:
        """`amazonaws.com`, or China's."""
        return "amazonaws.com.cn" if self.partition == "aws-cn" else "amazonaws.com"


@dataclass(frozen=True, slots=True)
class Subject:
    """One resource whose outputs are to be made: its type, its name and what is known of its inputs."""

    type: str
    name: str  # logical
    inputs: Mapping[str, Any]
    place: Place

    @property
    def hex(self) -> str:
        """Hex digits of this resource."""
        return digest(self.type, self.name)

    @property
    def kind(self) -> str:
        """`nodeGroup` of `aws:eks/nodeGroup:NodeGroup`."""
        middle = self.type.split(":")[1] if ":" in self.type else self.type
        return middle.split("/")[-1]

    @property
    def module(self) -> str:
        """`eks` of `aws:eks/nodeGroup:NodeGroup`."""
        middle = self.type.split(":")[1] if ":" in self.type else self.type
        return middle.split("/")[0]

    @property
    def uuid(self) -> str:
        """A UUID of version 4's form."""
        h = self.hex
        return f"{h[:8]}-{h[8:12]}-4{h[13:16]}-8{h[17:20]}-{h[20:32]}"

    def text(self, key: str, default: str = "") -> str:
        """An input as text; the default for one that is missing, unknown or no text."""
        value = bare(self.inputs.get(key))
        return value if isinstance(value, str) else default

    @property
    def cloud_name(self) -> str:
        """The name in the cloud: what was given or what Check made, else the logical name."""
        for key in ("name", f"{self.kind}Name", "bucket", "identifier", "clusterName", "replicationGroupId"):
            value = self.text(key)
            if value:
                return value
        return self.name

    def arn(self, service: str, resource: str, *, region: bool = True, account: bool = True) -> str:
        """An ARN in this resource's partition."""
        return ":".join(
            (
                "arn",
                self.place.partition,
                service,
                self.place.region if region else "",
                self.place.account if account else "",
                resource,
            )
        )


PREFIXED_IDS: dict[str, str] = {
    "aws:ec2/vpc:Vpc": "vpc",
    "aws:ec2/subnet:Subnet": "subnet",
    "aws:ec2/internetGateway:InternetGateway": "igw",
    "aws:ec2/egressOnlyInternetGateway:EgressOnlyInternetGateway": "eigw",
    "aws:ec2/natGateway:NatGateway": "nat",
    "aws:ec2/eip:Eip": "eipalloc",
    "aws:ec2/routeTable:RouteTable": "rtb",
    "aws:ec2/defaultRouteTable:DefaultRouteTable": "rtb",
    "aws:ec2/routeTableAssociation:RouteTableAssociation": "rtbassoc",
    "aws:ec2/securityGroup:SecurityGroup": "sg",
    "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup": "sg",
    "aws:ec2/securityGroupRule:SecurityGroupRule": "sgrule",
    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": "sgr",
    "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule": "sgr",
    "aws:ec2/networkAcl:NetworkAcl": "acl",
    "aws:ec2/defaultNetworkAcl:DefaultNetworkAcl": "acl",
    "aws:ec2/networkInterface:NetworkInterface": "eni",
    "aws:ec2/vpcEndpoint:VpcEndpoint": "vpce",
    "aws:ec2/vpcDhcpOptions:VpcDhcpOptions": "dopt",
    "aws:ec2/launchTemplate:LaunchTemplate": "lt",
    "aws:ec2/flowLog:FlowLog": "fl",
    "aws:ec2/capacityReservation:CapacityReservation": "cr",
    "aws:ec2/capacityBlockReservation:CapacityBlockReservation": "cr",
    "aws:ec2/instance:Instance": "i",
    "aws:ebs/volume:Volume": "vol",
    "aws:ebs/snapshot:Snapshot": "snap",
    "aws:fsx/lustreFileSystem:LustreFileSystem": "fs",
    "aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation": "dra",
    "aws:efs/fileSystem:FileSystem": "fs",
    "aws:efs/accessPoint:AccessPoint": "fsap",
    "aws:efs/mountTarget:MountTarget": "fsmt",
    "aws:eks/podIdentityAssociation:PodIdentityAssociation": "a",
    "aws:sagemaker/domain:Domain": "d",
}
"""Types whose id is a prefix and 17 hex digits."""

_NAMED = {"role", "user", "group", "instanceProfile", "logGroup", "placementGroup", "repository"}
"""Kinds whose id is their name in the cloud."""

SERVICES: dict[str, str] = {
    "efs": "elasticfilesystem",
    "costexplorer": "ce",
    "lb": "elasticloadbalancing",
    "alb": "elasticloadbalancing",
    "vpc": "ec2",
    "ebs": "ec2",
    "msk": "kafka",
}
"""Pulumi modules whose service is called otherwise in ARNs."""

_GLOBAL = {"iam", "budgets", "ce", "route53", "cloudfront", "organizations"}

_RESOURCE_PART: dict[str, Callable[[Subject, str], str]] = {
    "aws:iam/role:Role": lambda s, _: f"role{s.text('path', '/')}{s.cloud_name}",
    "aws:iam/policy:Policy": lambda s, _: f"policy{s.text('path', '/')}{s.cloud_name}",
    "aws:iam/instanceProfile:InstanceProfile": lambda s, _: f"instance-profile{s.text('path', '/')}{s.cloud_name}",
    "aws:iam/openIdConnectProvider:OpenIdConnectProvider": lambda s, _: (
        f"oidc-provider/{s.text('url').removeprefix('https://')}"
    ),
    "aws:eks/cluster:Cluster": lambda s, _: f"cluster/{s.cloud_name}",
    "aws:eks/nodeGroup:NodeGroup": lambda s, _: (
        f"nodegroup/{s.text('clusterName', 'cluster')}/{s.text('nodeGroupName', s.name)}/{s.uuid}"
    ),
    "aws:eks/addon:Addon": lambda s, _: (
        f"addon/{s.text('clusterName', 'cluster')}/{s.text('addonName', s.name)}/{s.uuid}"
    ),
    "aws:eks/accessEntry:AccessEntry": lambda s, _: f"access-entry/{s.text('clusterName', 'cluster')}/role/{s.uuid}",
    "aws:eks/podIdentityAssociation:PodIdentityAssociation": lambda s, i: (
        f"podidentityassociation/{s.text('clusterName', 'cluster')}/{i}"
    ),
    "aws:kms/key:Key": lambda _, i: f"key/{i}",
    "aws:kms/alias:Alias": lambda s, _: s.text("name", f"alias/{s.name}"),
    "aws:cloudwatch/logGroup:LogGroup": lambda s, _: f"log-group:{s.cloud_name}",
    "aws:cloudwatch/metricAlarm:MetricAlarm": lambda s, _: f"alarm:{s.cloud_name}",
    "aws:sns/topic:Topic": lambda s, _: s.cloud_name,
    "aws:sns/topicSubscription:TopicSubscription": lambda s, _: f"{s.text('topic').split(':')[-1]}:{s.uuid}",
    "aws:sqs/queue:Queue": lambda s, _: s.cloud_name,
    "aws:rds/instance:Instance": lambda s, _: f"db:{s.cloud_name}",
    "aws:rds/subnetGroup:SubnetGroup": lambda s, _: f"subgrp:{s.cloud_name}",
    "aws:rds/parameterGroup:ParameterGroup": lambda s, _: f"pg:{s.cloud_name}",
    "aws:secretsmanager/secret:Secret": lambda s, _: f"secret:{s.cloud_name}-{s.hex[:6]}",
    "aws:budgets/budget:Budget": lambda s, _: f"budget/{s.cloud_name}",
    "aws:costexplorer/anomalyMonitor:AnomalyMonitor": lambda s, _: f"anomalymonitor/{s.uuid}",
    "aws:costexplorer/anomalySubscription:AnomalySubscription": lambda s, _: f"anomalysubscription/{s.uuid}",
    "aws:fsx/lustreFileSystem:LustreFileSystem": lambda _, i: f"file-system/{i}",
    "aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation": lambda s, i: (
        f"association/{s.text('fileSystemId', 'fs-0')}/{i}"
    ),
    "aws:efs/fileSystem:FileSystem": lambda _, i: f"file-system/{i}",
    "aws:efs/accessPoint:AccessPoint": lambda _, i: f"access-point/{i}",
    "aws:lambda/function:Function": lambda s, _: f"function:{s.cloud_name}",
}

_ARN_IDS = {
    "aws:iam/policy:Policy",
    "aws:iam/openIdConnectProvider:OpenIdConnectProvider",
    "aws:sns/topic:Topic",
    "aws:sns/topicSubscription:TopicSubscription",
    "aws:secretsmanager/secret:Secret",
    "aws:costexplorer/anomalyMonitor:AnomalyMonitor",
    "aws:costexplorer/anomalySubscription:AnomalySubscription",
}


def arn(subject: Subject, identity: str) -> str:
    """The ARN of an AWS resource."""
    if subject.module == "s3":
        return subject.arn("s3", subject.text("bucket", subject.name), region=False, account=False)
    service = "logs" if subject.kind == "logGroup" else SERVICES.get(subject.module, subject.module)
    kind = "".join(f"-{c.lower()}" if c.isupper() else c for c in subject.kind)
    maker = _RESOURCE_PART.get(subject.type)
    part = maker(subject, identity) if maker is not None else f"{kind}/{identity}"
    return subject.arn(service, part, region=service not in _GLOBAL)


def identity(subject: Subject) -> str:
    """The id that the cloud would give."""
    type_, short = subject.type, subject.hex[:17]
    if type_ in PREFIXED_IDS:
        return f"{PREFIXED_IDS[type_]}-{short}"
    if type_ in _ARN_IDS:
        return arn(subject, subject.uuid)
    if type_ == "aws:kms/key:Key":
        return subject.uuid
    if type_ == "aws:eks/cluster:Cluster":
        return subject.cloud_name
    if type_ == "aws:eks/nodeGroup:NodeGroup":
        return f"{subject.text('clusterName', 'cluster')}:{subject.text('nodeGroupName', subject.name)}"
    if type_ == "aws:eks/addon:Addon":
        return f"{subject.text('clusterName', 'cluster')}:{subject.text('addonName', subject.name)}"
    if type_ == "aws:eks/accessEntry:AccessEntry":
        return f"{subject.text('clusterName', 'cluster')}:{subject.text('principalArn')}"
    if type_ == "aws:rds/instance:Instance":
        return f"db-{subject.hex[:26].upper()}"
    if type_ == "aws:budgets/budget:Budget":
        return f"{subject.place.account}:{subject.cloud_name}"
    if subject.type.startswith("aws:s3/"):
        return subject.text("bucket", subject.name)
    if subject.type.startswith("kubernetes:"):
        return _object_id(subject)
    if subject.type.startswith("aws:") and (subject.kind in _NAMED or subject.module == "rds"):
        return subject.cloud_name
    if subject.type.startswith("pulumi:providers:"):
        return subject.uuid
    if subject.type.startswith("random:"):
        return "none" if subject.kind == "randomPassword" else subject.hex[:8]
    return f"{subject.cloud_name}-{subject.hex[:8]}"


def _object_id(subject: Subject) -> str:
    metadata = bare(subject.inputs.get("metadata"))
    if not isinstance(metadata, Mapping):  # a Helm release
        namespace, name = subject.text("namespace", "default"), subject.cloud_name
    else:
        namespace, name = str(metadata.get("namespace") or ""), str(metadata.get("name", subject.name))
    return f"{namespace}/{name}" if namespace else name


def special(subject: Subject, ident: str) -> dict[str, Any]:
    """Outputs that a program reads and no annotation promises: merged under what the program gave."""
    maker = _SPECIAL.get(subject.type)
    return maker(subject, ident) if maker else {}


def _host(subject: Subject, service: str) -> str:
    return f"{subject.cloud_name}.{subject.hex[:12]}.{subject.place.region}.{service}.{subject.place.dns_suffix}"


def _cluster(s: Subject, _: str) -> dict[str, Any]:
    issuer = f"https://oidc.eks.{s.place.region}.{s.place.dns_suffix}/id/{s.hex[:32].upper()}"
    return {
        "endpoint": f"https://{s.hex[:32].upper()}.gr7.{s.place.region}.eks.{s.place.dns_suffix}",
        "certificateAuthority": {"data": CERTIFICATE},
        "certificateAuthorities": [{"data": CERTIFICATE}],
        "identities": [{"oidcs": [{"issuer": issuer}]}],
        "vpcConfig": {"clusterSecurityGroupId": f"sg-{digest(s.type, s.name, 'group')[:17]}", "vpcId": _vpc_id(s)},
        "platformVersion": "eks.1",
        "status": "ACTIVE",
    }


def _vpc_id(s: Subject) -> str:
    return f"vpc-{digest(s.type, s.name, 'vpc')[:17]}"


def _node_group(s: Subject, _: str) -> dict[str, Any]:
    name = s.text("nodeGroupName", s.name)
    return {
        "resources": [{"autoscalingGroups": [{"name": f"eks-{name}-{s.uuid}"}], "remoteAccessSecurityGroupId": ""}],
        "launchTemplate": {"name": f"{name}-template", "version": "1"} if "launchTemplate" in s.inputs else {},
        "status": "ACTIVE",
    }


def _database(s: Subject, _: str) -> dict[str, Any]:
    port = s.inputs.get("port", 5432)
    outputs: dict[str, Any] = {
        "address": _host(s, "rds"),
        "port": port,
        "endpoint": f"{_host(s, 'rds')}:{port}",
        "status": "available",
        "resourceId": f"db-{s.hex[:26].upper()}",
    }
    if s.inputs.get("manageMasterUserPassword") is True:
        secret = f"secret:rds!db-{s.uuid}-{s.hex[:6]}"
        outputs["masterUserSecrets"] = [
            {
                "secretArn": s.arn("secretsmanager", secret),
                "secretStatus": "active",
                "kmsKeyId": s.arn("kms", f"key/{s.uuid}"),
            }
        ]
    return outputs


def _bucket(s: Subject, ident: str) -> dict[str, Any]:
    return {
        "bucketDomainName": f"{ident}.s3.{s.place.dns_suffix}",
        "bucketRegionalDomainName": f"{ident}.s3.{s.place.region}.{s.place.dns_suffix}",
        "bucketRegion": s.place.region,
        "region": s.place.region,
    }


_SPECIAL: dict[str, Callable[[Subject, str], dict[str, Any]]] = {
    "aws:eks/cluster:Cluster": _cluster,
    "aws:eks/nodeGroup:NodeGroup": _node_group,
    "aws:rds/instance:Instance": _database,
    "aws:s3/bucket:Bucket": _bucket,
    "aws:kms/key:Key": lambda _, i: {"keyId": i},
    "aws:ec2/vpc:Vpc": lambda s, _: {
        "defaultSecurityGroupId": f"sg-{digest(s.type, s.name, 'default')[:17]}",
        "mainRouteTableId": f"rtb-{digest(s.type, s.name, 'main')[:17]}",
        "defaultRouteTableId": f"rtb-{digest(s.type, s.name, 'main')[:17]}",
        "defaultNetworkAclId": f"acl-{digest(s.type, s.name, 'acl')[:17]}",
    },
    "aws:ec2/launchTemplate:LaunchTemplate": lambda _, __: {"latestVersion": 1, "defaultVersion": 1},
    "aws:ec2/eip:Eip": lambda s, i: {"publicIp": f"203.0.113.{int(s.hex[:2], 16)}", "allocationId": i},
    "aws:fsx/lustreFileSystem:LustreFileSystem": lambda s, i: {
        "dnsName": f"{i}.fsx.{s.place.region}.{s.place.dns_suffix}",
        "mountName": s.hex[:8],
    },
    "aws:efs/fileSystem:FileSystem": lambda s, i: {"dnsName": f"{i}.efs.{s.place.region}.{s.place.dns_suffix}"},
    "random:index/randomPassword:RandomPassword": lambda s, _: {
        "result": Secret(f"rehearsed-{digest(s.type, s.name, 'result')[:22]}"),
        "bcryptHash": Secret(f"$2a$10${digest(s.type, s.name, 'bcrypt')[:53]}"),
    },
    "random:index/randomBytes:RandomBytes": lambda s, _: {"hex": Secret(digest(s.type, s.name, "bytes"))},
    "tls:index/privateKey:PrivateKey": lambda s, _: {
        "privateKeyPem": Secret(f"-----BEGIN REHEARSAL KEY-----\n{s.hex}\n-----END REHEARSAL KEY-----\n"),
    },
    "kubernetes:helm.sh/v3:Release": lambda s, _: {
        "status": {
            "name": s.cloud_name,
            "namespace": s.text("namespace", "default"),
            "status": "deployed",
            "version": s.text("version"),
            "revision": 1,
        },
    },
    "kubernetes:core/v1:Service": lambda s, _: {
        "spec": {"clusterIP": f"172.20.{int(s.hex[:2], 16)}.{1 + int(s.hex[2:4], 16) % 254}"},
    },
}


def unknown_like(value: Any) -> Any:
    """The same structure with every leaf unknown: what a preview makes of a computed part of a block."""
    if isinstance(value, Mapping):
        return {key: unknown_like(item) for key, item in value.items()}
    if isinstance(value, Secret):
        return Secret(UNKNOWN)
    return UNKNOWN
