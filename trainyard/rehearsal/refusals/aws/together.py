"""Inputs of which a resource takes one, and inputs that need another beside them.

Sources: the AWS provider's documentation of each resource (`conflicts with`, `exactly one of`), Terraform's provider
6.58, and the API reference of the call behind it (2026-11). Some pairs have a rule of their own in the module of their
service; what stands here needs no more than to be given.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Final

from trainyard.recorded.types import (
    AUTOSCALING_GROUP,
    BATCH_ENVIRONMENT,
    BUCKET_OBJECT,
    CAPACITY_RESERVATION,
    DATABASE,
    DATABASE_CLUSTER,
    DNS_RECORD,
    EC2_INSTANCE,
    ECS_SERVICE,
    EKS_NODE_GROUP,
    EVENT_TARGET,
    FUNCTION,
    LAUNCH_TEMPLATE,
    LOG_METRIC_FILTER,
    METRIC_ALARM,
    QUEUE,
    SECRET_ROTATION,
    SECRET_VERSION,
)
from trainyard.rehearsal.context import View, expand
from trainyard.rehearsal.refusals.rules import EVERY_TYPE, Rules


@dataclass(frozen=True, slots=True)
class _OneOf:
    type: str
    inputs: str  # by name, below `at`
    at: str = ""  # a block, or each of a list (`rules[]`)
    needed: bool = False  # whether one has to be given
    refused: bool = True  # whether two are; else one of them goes unread


@dataclass(frozen=True, slots=True)
class _Needs:
    type: str
    given: str
    needed: str
    as_value: str = ""  # only where `given` is this


_RESTORED: Final = "replicateSourceDb restoreToPointInTime s3Import snapshotIdentifier"

_ONE: Final = (
    _OneOf(AUTOSCALING_GROUP, "launchConfiguration launchTemplate mixedInstancesPolicy", needed=True),
    _OneOf(AUTOSCALING_GROUP, "availabilityZones vpcZoneIdentifiers", needed=True),
    _OneOf(BATCH_ENVIRONMENT, "launchTemplateId launchTemplateName",
           "computeResources.launchTemplate", needed=True),
    _OneOf("aws:budgets/budget:Budget", "limitAmount plannedLimits"),
    _OneOf(LOG_METRIC_FILTER, "defaultValue dimensions", "metricTransformation"),
    _OneOf("aws:cloudwatch/metricAlarm:MetricAlarm", "statistic extendedStatistic"),
    _OneOf("aws:cloudwatch/metricAlarm:MetricAlarm", "metricName metricQueries"),
    _OneOf("aws:cloudwatch/metricAlarm:MetricAlarm", "expression metric", "metricQueries[]", needed=True),
    _OneOf(EVENT_TARGET, "input inputPath inputTransformer"),
    _OneOf("aws:ec2/eip:Eip", "instance networkInterface", refused=False),
    _OneOf(EC2_INSTANCE, "userData userDataBase64"),
    _OneOf(EC2_INSTANCE, "networkInterfaces vpcSecurityGroupIds"),
    _OneOf(EC2_INSTANCE, "networkInterfaces subnetId"),
    _OneOf(LAUNCH_TEMPLATE, "instanceRequirements instanceType"),
    _OneOf(LAUNCH_TEMPLATE, "defaultVersion updateDefaultVersion"),
    _OneOf(LAUNCH_TEMPLATE, "securityGroupNames vpcSecurityGroupIds"),
    _OneOf(LAUNCH_TEMPLATE, "arn name", "iamInstanceProfile"),
    _OneOf(LAUNCH_TEMPLATE, "groupId groupName", "placement"),
    _OneOf(LAUNCH_TEMPLATE, "capacityReservationId capacityReservationResourceGroupArn",
           "capacityReservationSpecification.capacityReservationTarget"),
    _OneOf("aws:ec2/subnet:Subnet", "availabilityZone availabilityZoneId"),
    _OneOf("aws:ec2/vpc:Vpc", "cidrBlock ipv4NetmaskLength"),
    _OneOf("aws:ec2/vpc:Vpc", "assignGeneratedIpv6CidrBlock ipv6IpamPoolId"),
    _OneOf(ECS_SERVICE, "capacityProviderStrategies launchType"),
    _OneOf(EKS_NODE_GROUP, "maxParallelNodesRepairedCount maxParallelNodesRepairedPercentage", "nodeRepairConfig"),
    _OneOf(EKS_NODE_GROUP, "maxUnhealthyNodeThresholdCount maxUnhealthyNodeThresholdPercentage", "nodeRepairConfig"),
    _OneOf(FUNCTION, "code imageUri s3Bucket"),
    _OneOf("aws:lb/loadBalancer:LoadBalancer", "subnetMappings subnets"),
    _OneOf(DATABASE, "manageMasterUserPassword password passwordWo"),
    _OneOf(DATABASE, _RESTORED),
    _OneOf(DATABASE_CLUSTER, "manageMasterUserPassword masterPassword masterPasswordWo"),
    _OneOf(DNS_RECORD, "aliases records", needed=True),
    _OneOf(DNS_RECORD, "aliases ttl"),
    _OneOf("aws:s3/bucketObjectLockConfiguration:BucketObjectLockConfiguration", "days years",
           "rule.defaultRetention", needed=True),
    _OneOf(BUCKET_OBJECT, "content contentBase64 source"),
    _OneOf("aws:s3/bucketReplicationConfig:BucketReplicationConfig", "filter prefix", "rules[]"),
    _OneOf(SECRET_VERSION, "secretBinary secretString secretStringWo", needed=True),
    _OneOf(SECRET_ROTATION, "automaticallyAfterDays scheduleExpression", "rotationRules", needed=True),
    _OneOf("aws:ec2/securityGroupRule:SecurityGroupRule", "cidrBlocks sourceSecurityGroupId"),
    _OneOf("aws:ec2/securityGroupRule:SecurityGroupRule", "self sourceSecurityGroupId"),
    _OneOf("aws:ssm/parameter:Parameter", "insecureValue value valueWo", needed=True),
    _OneOf(QUEUE, "kmsMasterKeyId sqsManagedSseEnabled"),
)  # fmt: skip
_NEEDED: Final = (
    _Needs(CAPACITY_RESERVATION, "endDateType", "endDate", "limited"),
    _Needs(DATABASE, "performanceInsightsKmsKeyId", "performanceInsightsEnabled"),
    _Needs(DATABASE, "performanceInsightsRetentionPeriod", "performanceInsightsEnabled"),
    _Needs(DATABASE, "masterUserSecretKmsKeyId", "manageMasterUserPassword"),
    _Needs(DATABASE_CLUSTER, "masterUserSecretKmsKeyId", "manageMasterUserPassword"),
    _Needs(FUNCTION, "s3Bucket", "s3Key"),
    _Needs(FUNCTION, "s3Bucket", "handler"),
    _Needs(FUNCTION, "s3Bucket", "runtime"),
    _Needs(FUNCTION, "code", "handler"),
    _Needs(FUNCTION, "code", "runtime"),
    _Needs(FUNCTION, "packageType", "imageUri", "Image"),
    _Needs(METRIC_ALARM, "metricName", "namespace"),
    _Needs(METRIC_ALARM, "metricName", "period"),
    _Needs(DATABASE, "domain", "domainIamRoleName"),
)
_BASES: Final = ("bucket", "clusterIdentifier", "identifier", "name", "nodeGroupName", "statementId")
"""Inputs that may be given by their beginning instead: a program gives one of the two."""


def _by_type(rows: tuple[_OneOf, ...] | tuple[_Needs, ...]) -> dict[str, list[_OneOf | _Needs]]:
    found: dict[str, list[_OneOf | _Needs]] = defaultdict(list)
    for row in rows:
        found[row.type].append(row)
    return found


_ROWS: Final = {type_: [*_by_type(_ONE)[type_], *_by_type(_NEEDED)[type_]] for type_ in
                sorted({row.type for row in _ONE} | {row.type for row in _NEEDED})}  # fmt: skip


def together(view: View) -> None:
    """Every row about the type."""
    for row in _ROWS[view.type]:
        if isinstance(row, _OneOf):
            _one_of(view, row)
        elif is_given(view, row.given) and row.as_value in ("", view.value(row.given)) and view.lacks(row.needed):
            view.error("aws-inputs", row.needed, f"is missing beside {row.given}", allowed=f"{row.needed}, or not both")


def is_given(view: View, path: str) -> bool:
    """Whether an input is there for sure; a list without entries, a text without letters and `false` are not."""
    return view.has(path) and view.value(path) not in ([], {}, "", False) and path not in view.resource.from_check


def _one_of(view: View, row: _OneOf) -> None:
    names = row.inputs.split()
    places = [""] if not row.at else [f"{path}." for path, _ in expand(view.inputs, row.at)]
    for place in places:
        if row.at and view.is_unknown(place.removesuffix(".")):
            continue
        given = [name for name in names if is_given(view, place + name)]
        if len(given) > 1:
            (view.error if row.refused else view.warning)(
                "aws-inputs",
                place + given[1],
                f"is given beside {place}{given[0]}",
                allowed=f"one of {', '.join(names)}",
            )
        elif row.needed and all(view.lacks(place + name) for name in names):
            view.error(
                "aws-inputs", place + names[0], f"is missing, and so is {', '.join(names[1:])}", allowed="one of them"
            )


def prefixes(view: View) -> None:
    """A name is given whole or by its beginning."""
    if view.type.startswith("aws:"):
        for base in _BASES:
            prefix = f"{base}Prefix"
            if prefix in view.inputs and is_given(view, base) and is_given(view, prefix):
                view.error("aws-inputs", prefix, f"is given beside {base}", allowed=f"{base}, or {prefix}")


RULES: Final[Rules] = {
    together: tuple(_ROWS),
    prefixes: (EVERY_TYPE,),
}
