"""What costs nothing itself, and why. A type that is neither here nor has a rule is told as not priced."""

from __future__ import annotations

from collections.abc import Mapping

_IAM = "identity and access management is free"
_SETTING = "a setting of a bucket; what is stored is billed with the bucket"
_ROUTING = "part of a VPC, which is free"
_PART = "comes with the cluster or the nodes that it belongs to"
_DESCRIPTION = "a description; the nodes that start from it are billed with their node group"
_ALERTS = "fewer e-mails than the thousand a month that SNS sends for nothing"

FREE: Mapping[str, str] = {
    "aws:autoscaling/tag:Tag": "a tag",
    "aws:budgets/budget:Budget": "budgets that only notify are free",
    "aws:costexplorer/anomalyMonitor:AnomalyMonitor": "cost anomaly detection is free",
    "aws:costexplorer/anomalySubscription:AnomalySubscription": "cost anomaly detection is free",
    "aws:costexplorer/costAllocationTag:CostAllocationTag": "a setting of billing",
    "aws:costexplorer/costCategory:CostCategory": "a setting of billing",
    "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup": _ROUTING,
    "aws:ec2/launchTemplate:LaunchTemplate": _DESCRIPTION,
    "aws:ec2/networkAcl:NetworkAcl": _ROUTING,
    "aws:ec2/placementGroup:PlacementGroup": "placement groups are free",
    "aws:ec2/route:Route": _ROUTING,
    "aws:ec2/routeTable:RouteTable": _ROUTING,
    "aws:ec2/routeTableAssociation:RouteTableAssociation": _ROUTING,
    "aws:ec2/securityGroup:SecurityGroup": _ROUTING,
    "aws:ec2/securityGroupRule:SecurityGroupRule": _ROUTING,
    "aws:ec2/subnet:Subnet": _ROUTING,
    "aws:ec2/tag:Tag": "a tag",
    "aws:efs/accessPoint:AccessPoint": "a path of a file system",
    "aws:efs/fileSystemPolicy:FileSystemPolicy": "a setting of a file system",
    "aws:efs/mountTarget:MountTarget": "mount targets are free; traffic between zones is billed with the VPC",
    "aws:eks/accessEntry:AccessEntry": _PART,
    "aws:eks/accessPolicyAssociation:AccessPolicyAssociation": _PART,
    "aws:eks/addon:Addon": "AWS's own add-ons are free; they run on the nodes",
    "aws:eks/podIdentityAssociation:PodIdentityAssociation": _PART,
    "aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation": "the link is free; its requests are the bucket's",
    "aws:iam/instanceProfile:InstanceProfile": _IAM,
    "aws:iam/openIdConnectProvider:OpenIdConnectProvider": _IAM,
    "aws:iam/policy:Policy": _IAM,
    "aws:iam/role:Role": _IAM,
    "aws:iam/rolePolicy:RolePolicy": _IAM,
    "aws:iam/rolePolicyAttachment:RolePolicyAttachment": _IAM,
    "aws:iam/serviceLinkedRole:ServiceLinkedRole": _IAM,
    "aws:kms/alias:Alias": "a name of a key",
    "aws:kms/grant:Grant": "a permission of a key",
    "aws:kms/keyPolicy:KeyPolicy": "a permission of a key",
    "aws:rds/parameterGroup:ParameterGroup": "a setting of a database",
    "aws:rds/subnetGroup:SubnetGroup": "a setting of a database",
    "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration": _SETTING,
    "aws:s3/bucketLogging:BucketLogging": _SETTING,
    "aws:s3/bucketOwnershipControls:BucketOwnershipControls": _SETTING,
    "aws:s3/bucketPolicy:BucketPolicy": _SETTING,
    "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock": _SETTING,
    "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration": _SETTING,
    "aws:s3/bucketVersioning:BucketVersioning": _SETTING,
    "aws:secretsmanager/secretPolicy:SecretPolicy": "a permission of a secret",
    "aws:secretsmanager/secretVersion:SecretVersion": "billed with its secret",
    "aws:sns/topic:Topic": _ALERTS,
    "aws:sns/topicPolicy:TopicPolicy": "a permission of a topic",
    "aws:sns/topicSubscription:TopicSubscription": _ALERTS,
    "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule": _ROUTING,
    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": _ROUTING,
    "kubernetes:helm.sh/v3:Release": "its pods run on the nodes, which are billed with their node groups",
}

_PACKAGES: Mapping[str, str] = {
    "kubernetes": "an object of the cluster: it runs on the nodes, which are billed with their node groups",
    "random": "a value in the stack's state",
    "command": "runs where Pulumi runs",
    "pulumi": "part of the program",
    "pulumi-python": "part of the program",
}
"""Packages all of whose types are free, apart from those that have a rule. Never a cloud's."""

USES_NOTHING = "as it is set, it costs nothing"
"""Of a resource whose rule yields nothing, such as a gateway endpoint."""


def free_reason(type_: str) -> str | None:
    """Why resources of that type cost nothing; None where nobody has said so."""
    return FREE.get(type_) or _PACKAGES.get(type_.partition(":")[0])
