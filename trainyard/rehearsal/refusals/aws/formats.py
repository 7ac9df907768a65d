"""Single values that Amazon's models leave open, as a table: resource type, path, what the value may be.

Sources: [P] refused by the AWS provider itself (probed 2026-11-21 with hashicorp/aws 5.100.0, whose validators
pulumi_aws 7.51.1 carries on), [U] the services' user guides as generally known, checked by no run. `[]` in a path
stands for each entry of a list.
"""

from __future__ import annotations

import json
from typing import Final

from trainyard.conventions.aws import RESERVATION_ID
from trainyard.problems import nearest
from trainyard.recorded.read import as_number
from trainyard.rehearsal.context import View, expand, show
from trainyard.rehearsal.refusals.aws.format_kinds import (
    BASE64,
    JSON,
    NETWORK,
    Format,
    arn,
    between,
    is_service_network,
    matching,
    number_in,
    one_of,
    sized_network,
)
from trainyard.rehearsal.refusals.rules import Rules

DATABASE_NAME = r"[a-z](?!.*--)[a-z0-9-]*(?<!-)"
_DAY = "(mon|tue|wed|thu|fri|sat|sun)"
_TIME = r"([01]\d|2[0-3]):[0-5]\d"
_RETENTION = (
    0, 1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653,
)  # fmt: skip
_GROUP_TEXT = matching(
    "security-group-description",
    r"[A-Za-z0-9 ._\-:/()#,@\[\]+=&;{}!$*]*",
    "may hold letters, digits, spaces and ._-:/()#,@[]+=&;{}!$* only, at most 255 characters",
    255,
)
_GROUP_RULE: Final = {
    "cidrIpv4": NETWORK,  # [P]
    "cidrIpv6": NETWORK,
    "description": _GROUP_TEXT,  # [U]
    "fromPort": between("security-group-port", -1, 65535),
    "toPort": between("security-group-port", -1, 65535),
}
_BUDGET_NAME: Final = matching("budget-name", r"[^:\\]{1,100}", "at most 100 characters without ':' and '\\'")  # [U]


def _has_widgets(value: object) -> bool:
    """Whether CloudWatch takes a dashboard's body (PutDashboard: "should have required property widgets")."""
    try:
        body = json.loads(value) if isinstance(value, str) else {"widgets": []}
    except ValueError:
        return False
    return isinstance(body, dict) and isinstance(body.get("widgets"), list)


_EMAIL = r"[^@\s]+@[^@\s]+\.[^@\s.]+"
_KUBERNETES_VERSION = matching(
    "kubernetes-version",
    r"1\.(2[3-9]|3\d)",
    'must be a minor version as text, like "1.35" (1.30 without quotes is the number 1.3)',
)

_ALARM_PERIOD: Final = Format(
    "alarm-period",
    lambda value: (period := as_number(value)) is None or period in (10, 20, 30) or (period > 0 and period % 60 == 0),
    "must be 10, 20, 30 or a multiple of 60 seconds",
)

FORMATS: Final[dict[str, dict[str, Format]]] = {
    "aws:eks/cluster:Cluster": {
        "name": matching(
            "eks-name", r"[0-9A-Za-z][0-9A-Za-z_-]{0,99}", "letters, digits, '_' and '-', 1 to 100 long"
        ),  # [P]
        "roleArn": arn("iam"),  # [P]
        "version": _KUBERNETES_VERSION,  # [U]
        "vpcConfig.publicAccessCidrs[]": NETWORK,  # [P]
        "kubernetesNetworkConfig.serviceIpv4Cidr": Format(
            "eks-service-cidr", is_service_network, "must be a /12 to /24 inside 10/8, 172.16/12 or 192.168/16"
        ),  # [P]
        "encryptionConfig.resources[]": one_of("eks-encryption", "secrets"),  # [P]
        "encryptionConfig.provider.keyArn": arn("kms"),
        "computeConfig.nodePools[]": one_of("eks-node-pools", "general-purpose system"),
    },
    "aws:eks/nodeGroup:NodeGroup": {
        "nodeGroupName": matching(
            "eks-name", r"[0-9A-Za-z][0-9A-Za-z_-]{0,62}", "letters, digits, '_' and '-', at most 63"
        ),  # [P]
        "nodeRoleArn": arn("iam"),
        "version": _KUBERNETES_VERSION,
        "launchTemplate.id": matching("launch-template-id", r"lt-\S+", "must begin with lt-"),  # [P]
    },
    "aws:eks/addon:Addon": {
        "configurationValues": JSON,  # [U]
        "resolveConflictsOnCreate": one_of("eks-addon-conflicts", "NONE OVERWRITE"),  # [P]
        "serviceAccountRoleArn": arn("iam"),
        "podIdentityAssociations[].roleArn": arn("iam"),
    },
    "aws:eks/accessEntry:AccessEntry": {
        "principalArn": arn("iam"),
        "type": one_of(
            "eks-access-entry", "EC2 EC2_LINUX EC2_WINDOWS FARGATE_LINUX HYBRID_LINUX HYPERPOD_LINUX STANDARD"
        ),
    },
    "aws:eks/accessPolicyAssociation:AccessPolicyAssociation": {
        "principalArn": arn("iam"),
        "policyArn": matching(
            "eks-access-policy",
            r"arn:aws[a-z-]*:eks::aws:cluster-access-policy/\w+",
            "must be the ARN of a cluster access policy (arn:aws:eks::aws:cluster-access-policy/…)",
        ),
    },
    "aws:eks/podIdentityAssociation:PodIdentityAssociation": {"roleArn": arn("iam"), "targetRoleArn": arn("iam")},
    "aws:ec2/vpc:Vpc": {
        "cidrBlock": Format("vpc-cidr", sized_network(16, 28), "must be a network address of /16 to /28")  # [P]
    },
    "aws:ec2/subnet:Subnet": {
        "cidrBlock": Format("subnet-cidr", sized_network(16, 28), "must be a network address of /16 to /28")  # [P]
    },
    "aws:ec2/launchTemplate:LaunchTemplate": {
        "name": matching("launch-template-name", r"[A-Za-z0-9()./_-]{3,128}", "letters, digits and ()./_-, 3 to 128"),
        "userData": BASE64,  # [U]
        "networkInterfaces[].interfaceType": one_of("efa-interface-type", "efa efa-only interface"),  # [P]
        "instanceMarketOptions.marketType": one_of(
            "launch-template-market", "spot capacity-block interruptible-capacity-reservation"
        ),
        "metadataOptions.httpTokens": one_of("launch-template-metadata", "optional required"),  # [P]
        "metadataOptions.httpPutResponseHopLimit": between("launch-template-metadata", 1, 64),  # [P]
        "blockDeviceMappings[].ebs.kmsKeyId": arn("kms"),  # [P]
        "blockDeviceMappings[].ebs.encrypted": one_of("launch-template-boolean", "true false 1 0 t f T F TRUE FALSE"),
        "capacityReservationSpecification.capacityReservationTarget.capacityReservationId": matching(
            "capacity-reservation-id", RESERVATION_ID.pattern, "must look like cr-0123456789abcdef0"
        ),
    },
    "aws:ec2/route:Route": {"destinationCidrBlock": NETWORK, "destinationIpv6CidrBlock": NETWORK},
    "aws:ec2/flowLog:FlowLog": {
        "maxAggregationInterval": number_in("flow-log-interval", 60, 600),  # [P]
        "iamRoleArn": arn("iam"),
        "logDestination": arn(),
    },
    "aws:ec2/securityGroup:SecurityGroup": {
        "name": matching("security-group-name", r"(?!sg-).{1,255}", "cannot begin with sg-, at most 255"),  # [P]
        "description": _GROUP_TEXT,  # [U]
        "ingress[].description": _GROUP_TEXT,
        "egress[].description": _GROUP_TEXT,
        "ingress[].cidrBlocks[]": NETWORK,
        "egress[].cidrBlocks[]": NETWORK,
    },
    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": _GROUP_RULE,
    "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule": _GROUP_RULE,
    "aws:fsx/lustreFileSystem:LustreFileSystem": {
        "storageCapacity": between("fsx-capacity", 1200, 2**31 - 1, "GiB"),  # [P]
        "kmsKeyId": arn("kms"),  # [P]
        "importPath": matching("fsx-path", r"s3://\S+", "must begin with s3://"),  # [P]
        "exportPath": matching("fsx-path", r"s3://\S+", "must begin with s3://"),
        "fileSystemTypeVersion": one_of("fsx-version", "2.10 2.12 2.15"),  # [U]
        "logConfiguration.destination": arn(),
    },
    "aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation": {
        "fileSystemPath": matching("fsx-path", r"/\S*", "must begin with /"),  # [P]
        "dataRepositoryPath": matching("fsx-path", r"s3://\S+", "must begin with s3:// (a URL, not an ARN)"),  # [P]
    },
    "aws:efs/fileSystem:FileSystem": {"kmsKeyId": arn("kms")},
    "aws:rds/instance:Instance": {
        "identifier": matching(
            "rds-identifier",
            DATABASE_NAME,
            "lower-case letters, digits and '-', begins with a letter, no '--', no '-' at the end, at most 63",
            63,
        ),  # [P], length [m]
        "finalSnapshotIdentifier": matching(
            "rds-identifier",
            r"[A-Za-z](?!.*--)[A-Za-z0-9-]*(?<!-)",
            "letters, digits and '-', begins with a letter, no '--', no '-' at the end, at most 255",
            255,
        ),
        "instanceClass": matching("rds-instance-class", r"db\.[a-z0-9-]+\.[a-z0-9-]+", "must look like db.t4g.medium"),
        "engine": one_of(
            "rds-engine",
            "postgres mysql mariadb aurora-postgresql aurora-mysql db2-ae db2-se oracle-ee oracle-ee-cdb oracle-se2 "
            "oracle-se2-cdb sqlserver-ee sqlserver-se sqlserver-ex sqlserver-web custom-oracle-ee custom-sqlserver-ee",
        ),
        "storageType": one_of("rds-storage-type", "standard gp2 gp3 io1 io2"),  # [U]
        "caCertIdentifier": matching(
            "rds-ca",
            r"rds-ca-(rsa2048|rsa4096|ecc384)-g1|rds-ca-2019",
            "one of rds-ca-rsa2048-g1, rds-ca-rsa4096-g1, rds-ca-ecc384-g1",
        ),
        "backupRetentionPeriod": between("rds-retention", 0, 35, "days"),  # [P]
        "backupWindow": matching("rds-window", rf"{_TIME}-{_TIME}", "must look like 03:00-04:00 (UTC)"),  # [P]
        "maintenanceWindow": matching(
            "rds-window", rf"(?i:{_DAY}):{_TIME}-(?i:{_DAY}):{_TIME}", "must look like sun:05:00-sun:06:00 (UTC)"
        ),
        "monitoringInterval": number_in("rds-monitoring", 0, 1, 5, 10, 15, 30, 60),  # [P]
        "monitoringRoleArn": arn("iam"),
        "performanceInsightsRetentionPeriod": Format(
            "rds-insights",
            lambda value: (days := as_number(value)) is None or days in (7, 731) or (0 < days < 731 and days % 31 == 0),
            "must be 7, 731 or a multiple of 31 days",
        ),  # [P]
        "kmsKeyId": arn("kms"),  # [P]
        "performanceInsightsKmsKeyId": arn("kms"),
        "allocatedStorage": between("rds-storage", 5, 65536, "GiB"),
        "port": between("rds-port", 1150, 65535),
    },
    "aws:rds/subnetGroup:SubnetGroup": {
        "name": matching(
            "rds-group-name", r"(?!default$)[a-z0-9 ._-]{1,255}", "lower-case letters, digits and ._-, not default"
        ),
    },
    "aws:rds/parameterGroup:ParameterGroup": {
        "name": matching(
            "rds-group-name", DATABASE_NAME, "lower-case letters, digits and '-', begins with a letter", 255
        ),
        "family": matching(
            "rds-family", r"[a-z0-9.-]+\d[a-z0-9.-]*", "must be an engine with its version, like postgres17"
        ),
        "parameters[].applyMethod": one_of("rds-apply-method", "immediate pending-reboot"),
    },
    "aws:s3/bucket:Bucket": {
        "acl": one_of(
            "s3-acl", "private public-read public-read-write authenticated-read aws-exec-read log-delivery-write"
        ),  # [P]
    },
    "aws:s3/bucketVersioning:BucketVersioning": {
        "versioningConfiguration.status": one_of("s3-versioning", "Enabled Suspended Disabled")  # [P]
    },
    "aws:kms/key:Key": {
        "deletionWindowInDays": between("kms-deletion-window", 7, 30, "days"),  # [P]
        "rotationPeriodInDays": between("kms-rotation", 90, 2560, "days"),
    },
    "aws:kms/alias:Alias": {
        "name": matching(
            "kms-alias",
            r"alias/(?!aws/)[0-9A-Za-z_/-]{1,250}",
            "alias/ and then letters, digits, _/- (no dot); not alias/aws/",
        ),  # [P]
        "targetKeyId": matching(
            "kms-alias-target", r"(?!alias/)(?!.*:alias/).+", "the id or ARN of a key: an alias stands for no other"
        ),  # [U]
    },
    "aws:iam/rolePolicyAttachment:RolePolicyAttachment": {"policyArn": arn("iam")},  # [P]
    "aws:iam/role:Role": {"managedPolicyArns[]": arn("iam"), "permissionsBoundary": arn("iam")},
    "aws:cloudwatch/logGroup:LogGroup": {
        "retentionInDays": number_in("log-retention", *_RETENTION),  # [P]
        "kmsKeyId": arn("kms"),  # [U] a bare id passes the provider
    },
    "aws:cloudwatch/metricAlarm:MetricAlarm": {
        "period": _ALARM_PERIOD,  # [P]
        "metricQueries[].period": _ALARM_PERIOD,
        "metricQueries[].id": matching(
            "alarm-query-id", r"[a-z][A-Za-z0-9_]{0,254}", "a small letter, then letters, digits and _"
        ),  # [U]
        "metricQueries[].metric.period": _ALARM_PERIOD,
        "treatMissingData": one_of("alarm-missing-data", "breaching notBreaching ignore missing"),
        "alarmActions[]": arn(),
        "okActions[]": arn(),
    },
    "aws:cloudtrail/trail:Trail": {
        "name": matching(
            "trail-name",
            r"[A-Za-z0-9](?!.*[._-]{2})[A-Za-z0-9._-]{1,126}[A-Za-z0-9]",
            "3 to 128 letters, digits and ._-, never two of those marks in a row",
        ),
    },
    "aws:cloudwatch/eventRule:EventRule": {"eventPattern": JSON},
    "aws:cloudwatch/dashboard:Dashboard": {
        "dashboardBody": Format("dashboard-body", _has_widgets, "must be JSON with a list of widgets"),
    },
    "aws:budgets/budgetAction:BudgetAction": {"budgetName": _BUDGET_NAME},
    "aws:budgets/budget:Budget": {
        "name": _BUDGET_NAME,
        "timeUnit": one_of("budget-time-unit", "DAILY MONTHLY QUARTERLY ANNUALLY"),  # [P]
        "limitAmount": Format(
            "budget-amount",
            lambda value: (amount := as_number(value)) is not None and amount > 0,
            "must be a number above 0",
        ),  # [U]
        "timePeriodStart": matching("budget-period", r"\d{4}-\d\d-\d\d_\d\d:\d\d", "must look like 2026-01-01_00:00"),
        "timePeriodEnd": matching("budget-period", r"\d{4}-\d\d-\d\d_\d\d:\d\d", "must look like 2026-01-01_00:00"),
        "notifications[].subscriberEmailAddresses[]": matching("budget-email", _EMAIL, "must be an e-mail address", 50),
        "notifications[].subscriberSnsTopicArns[]": arn("sns"),
    },
    "aws:costexplorer/anomalyMonitor:AnomalyMonitor": {
        "monitorSpecification": JSON,  # [P]
    },
    "aws:costexplorer/anomalySubscription:AnomalySubscription": {"monitorArnLists[]": arn("ce")},
    "aws:sns/topic:Topic": {
        "signatureVersion": number_in("sns-signature", 1, 2),  # Amazon SNS API, SetTopicAttributes
        "name": matching(
            "sns-name", r"[A-Za-z0-9_-]{1,256}(\.fifo)?", "letters, digits, '_' and '-', at most 256"
        ),  # [P]
    },
    "aws:sns/topicSubscription:TopicSubscription": {
        "topic": arn("sns"),
        "protocol": one_of("sns-protocol", "email email-json http https lambda sms sqs firehose application"),  # [P]
    },
    "aws:secretsmanager/secret:Secret": {
        "name": matching("secret-name", r"[A-Za-z0-9/_+=.@-]{1,512}", "letters, digits and /_+=.@-, at most 512"),
        "recoveryWindowInDays": Format(
            "secret-recovery",
            lambda value: (days := as_number(value)) is None or days == 0 or 7 <= days <= 30,
            "must be 0 or 7 to 30 days",
        ),
    },
}


def formats(view: View) -> None:
    """Checks each of the resource's values that the table of formats knows."""
    for path, form in FORMATS[view.type].items():
        for here, value in expand(view.inputs, path):
            if not isinstance(value, (dict, list)) and not form.accepts(value):
                hint = nearest(value, form.choices) if isinstance(value, str) and form.choices else ""
                view.error(form.rule, here, f"got {show(value)}", allowed=form.allowed, hint=hint)


RULES: Final[Rules] = {
    formats: tuple(FORMATS),
}
