"""A name, or what a thing is of, that another resource of the program has already: the second call is refused.

What is given twice is mostly a block that was copied, of which one line was to be changed. Source: the API reference of
each service, the errors of its Create call (`EntityAlreadyExists`, `ResourceInUseException`, `InvalidPermission
.Duplicate`, `Resource.AlreadyAssociated`), 2026-11. What Pulumi appends to a name is made here of the logical name, so
that two with one logical name, in two components, are never told.
"""

from __future__ import annotations

from typing import Final

from trainyard.recorded import types as t
from trainyard.recorded.node_groups import EKS_NODE_GROUP, LAUNCH_TEMPLATE
from trainyard.rehearsal.context import View
from trainyard.rehearsal.refusals.aws.taken import is_one
from trainyard.rehearsal.refusals.rules import Rules

_SOURCES: Final = ("cidrIpv4?", "cidrIpv6?", "prefixListId?", "referencedSecurityGroupId?")
_RULE_OF_GROUP: Final = ("securityGroupId", "ipProtocol", "fromPort?", "toPort?", *_SOURCES)
_UNIQUE: Final = {
    t.EKS_CLUSTER: ("name",),
    t.ADD_ON: ("clusterName", "addonName"),
    EKS_NODE_GROUP: ("clusterName", "nodeGroupName"),
    t.POD_IDENTITY_ASSOCIATION: ("clusterName", "namespace", "serviceAccount"),
    t.ACCESS_ENTRY: ("clusterName", "principalArn"),
    "aws:eks/fargateProfile:FargateProfile": ("clusterName", "fargateProfileName"),
    t.ROLE: ("name",),
    t.IAM_POLICY: ("name", "path?"),
    t.INSTANCE_PROFILE: ("name",),
    "aws:iam/user:User": ("name",),
    "aws:iam/group:Group": ("name",),
    t.KEY_ALIAS: ("name",),
    t.LOG_GROUP: ("name",),
    t.DATABASE: ("identifier",),
    t.DATABASE_CLUSTER: ("clusterIdentifier",),
    t.DATABASE_PARAMETERS: ("name",),
    t.DATABASE_SUBNETS: ("name",),
    t.BUCKET: ("bucket",),
    t.REPOSITORY: ("name",),
    t.ECR_CACHE_RULE: ("ecrRepositoryPrefix",),
    t.SECRETS_MANAGER_SECRET: ("name",),
    "aws:ssm/parameter:Parameter": ("name",),
    t.FUNCTION: ("name",),
    "aws:dynamodb/table:Table": ("name",),
    "aws:kinesis/stream:Stream": ("name",),
    "aws:sfn/stateMachine:StateMachine": ("name",),
    "aws:lb/loadBalancer:LoadBalancer": ("name",),
    "aws:lb/targetGroup:TargetGroup": ("name",),
    "aws:autoscaling/group:Group": ("name",),
    "aws:backup/vault:Vault": ("name",),
    "aws:budgets/budget:Budget": ("accountId?", "name"),
    t.TRAIL: ("name",),
    "aws:cloudwatch/eventBus:EventBus": ("name",),
    "aws:scheduler/schedule:Schedule": ("groupName?", "name"),
    "aws:batch/jobQueue:JobQueue": ("name",),
    "aws:codebuild/project:Project": ("name",),
    "aws:glue/job:Job": ("name",),
    "aws:glue/crawler:Crawler": ("name",),
    "aws:athena/workgroup:Workgroup": ("name",),
    "aws:elasticache/replicationGroup:ReplicationGroup": ("replicationGroupId",),
    "aws:sagemaker/userProfile:UserProfile": ("domainId", "userProfileName"),
    "aws:sagemaker/modelPackageGroup:ModelPackageGroup": ("modelPackageGroupName",),
    "aws:sagemaker/studioLifecycleConfig:StudioLifecycleConfig": ("studioLifecycleConfigName",),
    "aws:sagemaker/notebookInstance:NotebookInstance": ("name",),
    "aws:sagemaker/endpoint:Endpoint": ("name",),
    "aws:sagemaker/endpointConfiguration:EndpointConfiguration": ("name",),
    "aws:sagemaker/model:Model": ("name",),
    LAUNCH_TEMPLATE: ("name",),
    t.PLACEMENT_GROUP: ("name",),
    "aws:ec2/keyPair:KeyPair": ("keyName",),
    t.SECURITY_GROUP: ("vpcId", "name"),
    t.SECURITY_GROUP_INGRESS_RULE: _RULE_OF_GROUP,
    t.SECURITY_GROUP_EGRESS_RULE: _RULE_OF_GROUP,
    t.INTERNET_GATEWAY: ("vpcId",),
    t.ROUTE_TABLE_ASSOCIATION: ("subnetId",),
}
"""By type the inputs that no two have the same; `?` behind one that may be missing."""


def taken(view: View) -> None:
    """Two of a type with the same of what makes each one of its kind; the later is told."""
    every = view.stack.of_type(view.type)
    if view is not every[0]:
        return  # all are looked at together
    seen: dict[tuple[object, ...], View] = {}
    for one in every:
        named = None if one.resource.read else _named(one, _UNIQUE[view.type])
        if named is None:
            continue
        # A thing of that name may be in each region, which a resource says itself since version 7 of the provider.
        other = seen.setdefault((one.resource.provider, one.value("region"), *named), one)
        if other.name != one.name and all(is_one(one, value) for value in named):
            paths = [path.rstrip("?") for path in _UNIQUE[view.type] if one.has(path.rstrip("?"))]
            one.error("name-taken", paths[-1] if len(paths) == 1 else paths[0], f"{other.name} has the same "
                      f"{', '.join(paths)} already", allowed="one that differs")  # fmt: skip


def _named(view: View, paths: tuple[str, ...]) -> tuple[object, ...] | None:
    """What makes a thing the one of its kind; None where that is not known."""
    found: list[object] = []
    for path in paths:
        key = path.rstrip("?")
        if view.is_unknown(key) or (not path.endswith("?") and view.value(key) is None):
            return None
        found.append(view.value(key))
    return tuple(found)


RULES: Final[Rules] = {taken: tuple(_UNIQUE)}
