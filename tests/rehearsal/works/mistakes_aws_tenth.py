"""A set of mistakes in our own stacks on AWS: settings that are refused, what is refused, what does not work, and what
is right."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tests.rehearsal.works.mistakes import DROP, Change, Recorded, both, drop, edit, in_json, put
from tests.rehearsal.works.mistakes_aws_ninth import (
    ALARM,
    DATABASE,
    DEMO,
    IDLE,
    IN,
    LARGE,
    LIFECYCLE,
    ROLE,
    ROLE_POLICY,
    RULE,
    SMALL,
    TEMPLATE,
    Case,
    Sound,
)

UAE, UAE_SMALL = "uae-aws", "uae-small"
BUCKET_POLICY = "aws:s3/bucketPolicy:BucketPolicy"
DOMAIN = "aws:sagemaker/domain:Domain"
FLOWS = "aws:ec2/flowLog:FlowLog"
FILTER = "aws:cloudwatch/logMetricFilter:LogMetricFilter"
HOME = "aws:efs/accessPoint:AccessPoint"
TARGET = "aws:cloudwatch/eventTarget:EventTarget"
PARAMETERS = "aws:rds/parameterGroup:ParameterGroup"
TRAIL, OWN_TRAIL = "aws:cloudtrail/trail:Trail", "acme-demo-trail-trail"
FIREWALL_RULE = "aws:route53/resolverFirewallRule:ResolverFirewallRule"
FIREWALL = "aws:route53/resolverFirewallRuleGroupAssociation:ResolverFirewallRuleGroupAssociation"
LUSTRE, LINK = (
    "aws:fsx/lustreFileSystem:LustreFileSystem",
    "aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation",
)
ACTION = "aws:budgets/budgetAction:BudgetAction"
DEV = "gpu-nodes-dev-on-demand-template"
RESERVED = {"reservationId": "cr-0123456789abcdef0", "nodes": 1, "availabilityZone": "us-east-1b"}
EBS = "blockDeviceMappings[0].ebs"
SEARCH = "SEARCH('{/aws/sagemaker/TrainingJobs,Host} MetricName=\"GPUUtilization\"', 'Maximum', 300)"

Into = Callable[[dict[str, Any]], Any]


def said(key: str, old: str, new: str) -> Into:
    """Puts other words into a text."""

    def into(inputs: dict[str, Any]) -> None:
        assert old in inputs[key], inputs[key]
        inputs[key] = inputs[key].replace(old, new)

    return into


def statement(sid: str, change: Into) -> Into:
    """Changes a statement of a policy."""
    return in_json("policy", lambda policy: [change(one) for one in policy["Statement"] if one.get("Sid") == sid])


def selecting(at: int, *fields: dict[str, Any]) -> Into:
    """Gives a selector of a trail further fields."""
    return lambda inputs: inputs["advancedEventSelectors"][at]["fieldSelectors"].extend(fields)


def selected(*fields: dict[str, Any]) -> Into:
    """Gives a trail a further selector."""
    return lambda inputs: inputs["advancedEventSelectors"].append({"name": "own", "fieldSelectors": list(fields)})


def equal(field: str, *values: str) -> dict[str, Any]:
    return {"field": field, "equals": list(values)}


def parameter(name: str, value: str, **more: str) -> Into:
    """Gives the database a further parameter."""
    return lambda inputs: inputs["parameters"].append({"name": name, "value": value, **more})


def twice(resources: Recorded) -> list[Any]:
    """Binds the driver of disks to its role a second time."""
    one = next(each for each in resources if each.name == "cluster-ebs-ebs-csi-controller-sa" and each.custom)
    return [*resources, replace(one, urn=f"{one.urn}-2", name=f"{one.name}-2", id=f"{one.id}2")]


def beside_itself(type_: str, name: str, at: int) -> Change:
    """A resource once more, beside itself."""

    def change(resources: Recorded) -> list[Any]:
        one = next(each for each in resources if (each.type, each.name) == (type_, name))
        inputs = {**one.inputs, "targetId": f"own-{at}"}
        return [
            *resources,
            replace(one, urn=f"{one.urn}-{at}", name=f"{name}-{at}", id=f"{one.id}-{at}", inputs=inputs),
        ]

    return change


def in_one_zone(resources: Recorded) -> list[Any]:
    """An endpoint in two subnets of a zone."""
    subnets = {one.id: one for one in resources if one.type == "aws:ec2/subnet:Subnet"}
    have = next(one for one in resources if one.name == "network-kms-interface").inputs["subnetIds"][0]
    zone = subnets[have].inputs["availabilityZone"]
    other = f"network-private-{zone}"
    beside = next(one.id for one in subnets.values() if one.name == other)
    return edit("aws:ec2/vpcEndpoint:VpcEndpoint", "network-kms-interface", put("subnetIds", [have, beside]))(resources)


def in_two_tables(resources: Recorded) -> list[Any]:
    """A subnet that two route tables are given to."""
    bound = "aws:ec2/routeTableAssociation:RouteTableAssociation"
    first = next(one for one in resources if (one.type, one.name) == (bound, "network-private-us-east-1a"))
    return edit(bound, "network-private-us-east-1b", put("subnetId", first.inputs["subnetId"]))(resources)


def without(action: str) -> Callable[[Recorded], list[Any]]:
    """Takes an action from what publishers may do with the platform's key."""

    def change(policy: dict[str, Any]) -> None:
        for one in policy["Statement"]:
            if one["Sid"] == "PublishAlerts":
                one["Action"].remove(action)

    return edit("aws:kms/key:Key", "platform-key", in_json("policy", change))


SETTINGS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "a version that EKS has given up": (DEMO, "kubernetesVersion", {"kubernetesVersion": "1.29"}),
    "machines of another processor": (DEMO, "cpuPool.instanceTypes", {"cpuPool": {"instanceTypes": ["m7g.2xlarge"]}}),
    "A100s where there are none": (
        UAE,
        "me-central-1 does not sell it",
        {"gpuPools": {"train": {"instanceType": "p4d.24xlarge"}}},
    ),
    "a Lustre of an odd size": (
        LARGE,
        "multiples of 2400",
        {"storage": {"lustre": {"capacityGib": 20000, "throughputMbpsPerTib": 500}}},
    ),
    "a class that is not": (DEMO, "aws.databaseInstanceClass", {"aws": {"databaseInstanceClass": "db.m7g.medium"}}),
    "storage that hardly grows": (
        DEMO,
        "a tenth above",
        {"mlflow": {"database": {"storageGib": 100, "maxStorageGib": 105}}},
    ),
    "services among the nodes": (DEMO, "must not overlap", {"network": {"cidr": "172.20.0.0/16"}}),
    "an office behind the internet": (LARGE, "over the internet", {"apiAccess": {"cidrs": ["10.20.0.0/16"]}}),
    "eleven who are told": (DEMO, "alertEmails", {"alertEmails": [f"p{one}@acme.example" for one in range(11)]}),
    "a boundary that is a role": (
        DEMO,
        "an IAM policy",
        {"aws": {"permissionsBoundary": "arn:aws:iam::123456789012:role/boundary"}},
    ),
    "nodes of another version": (DEMO, "for Kubernetes 1.35", {"aws": {"nodeRelease": "1.34.6-20260714"}}),
    "a person with a dot": (
        UAE_SMALL,
        "teams[0].people[0]",
        {"teams": [{"name": "imaging", "members": 2, "people": ["aisha.k", "omar"]}]},
    ),
    "no way to any image": (DEMO, "no way out", {"aws": {"wayOut": "none"}}),
    "a GPU that cannot be parted": (
        DEMO,
        "cannot be partitioned",
        {
            "gpuPools": {
                "train": {"reserved": RESERVED},
                "dev": {"instanceType": "g5.2xlarge", "sharing": {"mig": "1g.5gb"}},
            }
        },
    ),
}
"""A stack, words of what is said, and the settings."""
SOUND_SETTINGS: dict[str, tuple[str, dict[str, Any]]] = {
    "another Lustre": (
        LARGE,
        {"storage": {"lustre": {"capacityGib": 21600, "throughputMbpsPerTib": 250}, "sharedFileSystem": True}},
    ),
    "editors that wait": (SMALL, {"managed": {"idleMinutes": 120, "spaceGib": 50, "maxSpaceGib": 500}}),
    "two offices": (LARGE, {"apiAccess": {"cidrs": ["198.51.100.7/32", "203.0.113.0/25"]}}),
}

REFUSED: dict[str, Case] = {
    "home-five-deep": (
        LARGE,
        "aws-model",
        edit(HOME, "globex-production-shared-home-foundation", put("rootDirectory.path", "/home/ml/a/foundation/b")),
    ),
    "two-rules-of-one-priority": (SMALL, "dns-priority", edit(FIREWALL_RULE, "dns-others", put("priority", 100))),
    "alarm-over-eight-days": (
        SMALL,
        "alarm-span",
        edit(ALARM, "managed-jobs-jobs-failing", put("evaluationPeriods", 8)),
    ),
    "log-of-another-engine": (
        DEMO,
        "rds-logs",
        edit(DATABASE, "acme-demo-mlflow", put("enabledCloudwatchLogsExports[2]", "audit")),
    ),
    "archive-without-elastic": (
        LARGE,
        "efs-archive",
        edit("aws:efs/fileSystem:FileSystem", "globex-production-shared", put("throughputMode", "bursting")),
    ),
    "truth-for-a-text": (
        DEMO,
        "eks-addon-settings",
        edit(
            "aws:eks/addon:Addon",
            "cluster-vpc-cni",
            in_json("configurationValues", lambda held: held["env"].update(ENABLE_PREFIX_DELEGATION=True)),
        ),
    ),
    "fifth-card": (
        DEMO,
        "efa-card",
        edit(
            TEMPLATE,
            "gpu-nodes-train-on-demand-template",
            lambda inputs: inputs["networkInterfaces"].append(
                {**inputs["networkInterfaces"][3], "networkCardIndex": 4}
            ),
        ),
    ),
    "second-binding": (DEMO, "reference-twice", twice),
    "endpoint-twice-in-a-zone": (DEMO, "endpoint-zone", in_one_zone),
    "read-at-the-start-alone": (
        DEMO,
        "machines-parameter",
        edit(PARAMETERS, "acme-demo-mlflow-parameters", parameter("rds.logical_replication", "1")),
    ),
    "window-in-words": (
        SMALL,
        "aws-model",
        edit("aws:sagemaker/mlflowApp:MlflowApp", "tracking", put("weeklyMaintenanceWindowStart", "Sunday:03:00")),
    ),
    "tagged-without-tags": (
        LARGE,
        "ecr-lifecycle",
        edit(
            "aws:ecr/lifecyclePolicy:LifecyclePolicy",
            "images-globex-production-k8s-kueue-kueue",
            said("policy", '"tagStatus": "any"', '"tagStatus": "tagged"'),
        ),
    ),
    "resource-of-a-trust": (
        DEMO,
        "iam-trust",
        edit(
            ROLE,
            "network-flow-logs",
            in_json("assumeRolePolicy", lambda held: held["Statement"][0].update(Resource="*")),
        ),
    ),
    "alarm-on-a-search": (
        SMALL,
        "alarm-queries",
        edit(ALARM, "managed-jobs-gpu-idle", put("metricQueries[0].expression", f"MIN({SEARCH})")),
    ),
    "policy-of-another-bucket": (
        DEMO,
        "rights-statement-nothing",
        edit(BUCKET_POLICY, "acme-demo-data-policy", said("policy", "::acme-demo-data-f6c28dc/", "::acme-demo-other/")),
    ),
    "writes-to-a-bucket-itself": (
        DEMO,
        "rights-statement-nothing",
        edit(
            BUCKET_POLICY,
            "acme-demo-data-policy",
            statement("DenyOtherKeys", lambda one: one.update(Resource=one["Resource"].removesuffix("/*"))),
        ),
    ),
    "key-of-nobody": (
        LARGE,
        "rights-key-lock-out",
        edit("aws:kms/key:Key", "checkpoints-key", in_json("policy", lambda held: held["Statement"].pop(0))),
    ),
    "link-in-a-link": (
        LARGE,
        "fsx-association",
        edit(LINK, "globex-production-lustre-scratch", put("fileSystemPath", "/data/scratch")),
    ),
    "spared-by-a-plain-address": (
        LARGE,
        "aws-model",
        edit(LUSTRE, "globex-production-lustre", put("rootSquashConfiguration.noSquashNids", ["10.0.1.7"])),
    ),
    "disk-above-the-largest": (
        SMALL,
        "managed-disk-above-maximum",
        edit(
            DOMAIN,
            "studio",
            put("defaultUserSettings.spaceStorageSettings.defaultEbsStorageSettings.defaultEbsVolumeSizeInGb", 120),
        ),
    ),
    "idle-below-its-least": (
        UAE_SMALL,
        "managed-idle-bounds",
        edit(DOMAIN, "studio", put(f"{IDLE}.minIdleTimeoutInMinutes", 90), put(f"{IDLE}.maxIdleTimeoutInMinutes", 120)),
    ),
    "private-without-a-group": (
        UAE_SMALL,
        "managed-private-without-groups",
        edit(DOMAIN, "studio", put("defaultUserSettings.securityGroups", DROP)),
    ),
    "told-twice": (
        DEMO,
        "budget-notifications",
        edit(
            "aws:budgets/budget:Budget",
            "budget-budget",
            lambda inputs: inputs["notifications"].append(
                {**inputs["notifications"][1], "subscriberEmailAddresses": ["finance@acme.example"]}
            ),
        ),
    ),
    "two-results": (
        SMALL,
        "alarm-queries",
        edit(ALARM, "managed-jobs-jobs-failing", put("metricQueries[1].returnData", True)),
    ),
    "one-ampersand": (SMALL, "log-filter-pattern", edit(FILTER, "managed-jobs-began", said("pattern", "&&", "&"))),
    "throughput-above-its-operations": (
        DEMO,
        "ebs-throughput",
        edit(TEMPLATE, DEV, put(f"{EBS}.iops", 3000), put(f"{EBS}.throughput", 1000)),
    ),
    "subnet-of-two-tables": (DEMO, "reference-twice", in_two_tables),
    "advanced-for-a-week": (
        DEMO,
        "machines-database-insights",
        edit(DATABASE, "acme-demo-mlflow", put("databaseInsightsMode", "advanced")),
    ),
    "statements-that-write": (
        DEMO,
        "machines-parameter",
        edit(PARAMETERS, "acme-demo-mlflow-parameters", put("parameters[1].value", "write")),
    ),
    "masters": (
        LARGE,
        "eks-access-name",
        edit(
            "aws:eks/accessEntry:AccessEntry",
            "cluster-admin-platform-admin-ce910a",
            put("kubernetesGroups", ["system:masters"]),
        ),
    ),
    "image-beside-its-kind": (
        DEMO,
        "launch-template-conflict",
        edit(TEMPLATE, "cluster-cpu-template", put("imageId", "ami-0123456789abcdef0")),
    ),
    "operator-in-the-singular": (
        SMALL,
        "iam-condition",
        edit(ROLE_POLICY, "managed-people", said("policy", '"StringEquals"', '"StringEqual"')),
    ),
    "firewall-at-a-hundred": (SMALL, "dns-priority", edit(FIREWALL, "dns-association", put("priority", 100))),
    "read-only-as-a-word": (
        DEMO,
        "trail-selectors",
        edit(TRAIL, OWN_TRAIL, selecting(0, equal("readOnly", "WriteOnly"))),
    ),
    "hub-without-a-login": (
        LARGE,
        "ecr-cache-credential",
        edit(
            "aws:ecr/pullThroughCacheRule:PullThroughCacheRule",
            "images-globex-production-quay",
            put("upstreamRegistryUrl", "registry-1.docker.io"),
        ),
    ),
    "wider-than-the-board": (
        SMALL,
        "dashboard-widget",
        edit(
            "aws:cloudwatch/dashboard:Dashboard",
            "managed-jobs-dashboard",
            in_json("dashboardBody", lambda held: held["widgets"][0].update(width=30)),
        ),
    ),
    "suspended-under-a-lock": (
        DEMO,
        "s3-object-lock",
        edit(
            "aws:s3/bucketVersioning:BucketVersioning",
            "acme-demo-trail-logs-versioning",
            put("versioningConfiguration.status", "Suspended"),
        ),
    ),
    "models-with-an-underscore": (
        UAE_SMALL,
        "aws-model",
        edit(
            "aws:sagemaker/modelPackageGroup:ModelPackageGroup",
            "dune-clinic-production-imaging",
            put("modelPackageGroupName", "dune_clinic_imaging"),
        ),
    ),
    "trail-below-another-folder": (
        DEMO,
        "rights-delivery",
        edit(
            BUCKET_POLICY,
            "acme-demo-trail-logs-policy",
            statement("TrailDelivery", lambda one: one.update(Resource=f"{one['Resource'][:-1]}cloudtrail/*")),
        ),
    ),
}
SILENT: dict[str, Case] = {
    "publishers-without-data-keys": (DEMO, "rights-delivery-key", without("kms:GenerateDataKey*")),
    "jobs-that-succeed": (
        SMALL,
        "programs-event",
        edit(FILTER, "managed-jobs-succeeded", said("pattern", "Completed", "Succeeded")),
    ),
    "half-of-the-ports-of-lustre": (
        LARGE,
        "flows-lustre",
        edit(IN, "globex-production-lustre-ingress-cluster-1018", put("fromPort", 1021)),
    ),
    "silence-that-is-no-alarm": (
        UAE,
        "programs-alarm",
        edit(ALARM, "watchdog-silent", put("treatMissingData", "notBreaching")),
    ),
    "budget-of-another-case": (
        DEMO,
        "programs-budget",
        edit("aws:budgets/budget:Budget", "budget-budget", put("costFilters[0].values", ["user:Project$acme-demo"])),
    ),
    "home-of-root": (
        LARGE,
        "programs-mount",
        edit(
            HOME,
            "globex-production-shared-home-foundation",
            put("rootDirectory.creationInfo", {"ownerUid": 0, "ownerGid": 0, "permissions": "0755"}),
        ),
    ),
    "grant-for-objects": (
        LARGE,
        "rights-key",
        edit(
            "aws:kms/grant:Grant",
            "globex-production-lustre-data-key",
            put(
                "constraints[0].encryptionContextSubset",
                {"aws:s3:arn": "arn:aws:s3:::globex-production-data-660a81c/*"},
            ),
        ),
    ),
    "trust-of-another-service": (
        SMALL,
        "rights-role-untrusted",
        edit(ROLE, "network-flow-logs", said("assumeRolePolicy", "vpc-flow-logs.", "delivery.logs.")),
    ),
    "endpoints-for-the-next-network": (
        DEMO,
        "paths-endpoint-closed",
        edit(IN, "network-endpoints-https", put("cidrIpv4", "10.1.0.0/16")),
    ),
    "counted-elsewhere": (
        UAE_SMALL,
        "programs-alarm",
        edit(FILTER, "managed-jobs-failed", put("metricTransformation.namespace", "Trainyard/dune-clinic")),
    ),
    "nodes-without-metadata": (
        DEMO,
        "machines-metadata",
        edit(TEMPLATE, "cluster-system-template", put("metadataOptions.httpEndpoint", "disabled")),
    ),
    "access-logs-with-a-key": (
        DEMO,
        "rights-delivery-key",
        edit(
            "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration",
            "acme-demo-logs-encryption",
            put(
                "rules", [{"applyServerSideEncryptionByDefault": {"sseAlgorithm": "aws:kms"}, "bucketKeyEnabled": True}]
            ),
        ),
    ),
    "brake-of-another-service": (
        SMALL,
        "rights-role-untrusted",
        edit(ROLE, "managed-budget", said("assumeRolePolicy", "budgets.amazonaws", "ce.amazonaws")),
    ),
    "people-who-pass-no-role": (
        SMALL,
        "rights-condition-key",
        edit(ROLE_POLICY, "managed-people", said("policy", "iam:PassRole", "iam:GetRole")),
    ),
    "session-without-tags": (
        DEMO,
        "rights-binding-untrusted",
        edit(
            ROLE,
            "autoscaler-role",
            said("assumeRolePolicy", '["sts:AssumeRole", "sts:TagSession"]', '"sts:AssumeRole"'),
        ),
    ),
    "database-on-another-port": (
        DEMO,
        "flows-database",
        edit(IN, "acme-demo-mlflow-ingress-cluster", put("fromPort", 5433), put("toPort", 5433)),
    ),
    "events-of-another-rule": (
        SMALL,
        "programs-unheard",
        edit(
            "aws:cloudwatch/logResourcePolicy:LogResourcePolicy",
            "managed-jobs-events",
            said("policyDocument", "managed-jobs-told-", "managed-jobs-ended-"),
        ),
    ),
    "topic-by-its-arn": (
        DEMO,
        "programs-alarm",
        edit(ALARM, "watchdog-silent", put("dimensions", {"TopicName": "arn:aws:sns:us-east-1:123456789012:watchdog"})),
    ),
    "below-nothing": (SMALL, "programs-alarm", edit(ALARM, "managed-jobs-gpu-idle", put("threshold", 0))),
    "zone-without-a-way": (DEMO, "paths-nodes-cut-off", drop("aws:ec2/route:Route", "network-private-us-east-1b-out")),
}
LATER: dict[str, Case] = {
    "extension-that-is-read-at-the-start": (
        DEMO,
        "machines-parameter",
        edit(PARAMETERS, "acme-demo-mlflow-parameters", parameter("pg_stat_statements.max", "10000")),
    ),
    "period-shorter-than-the-figure": (
        SMALL,
        "alarm-span",
        edit(
            ALARM,
            "managed-jobs-queue-waiting",
            put("metricQueries[1].metric.namespace", "AWS/S3"),
            put("metricQueries[1].metric.metricName", "BucketSizeBytes"),
        ),
    ),
    "queries-over-more-than-a-day": (
        SMALL,
        "alarm-span",
        edit(ALARM, "managed-jobs-gpu-idle", put("evaluationPeriods", 300)),
    ),
    "search-that-is-not-shown": (
        SMALL,
        "alarm-queries",
        edit(
            ALARM,
            "managed-jobs-jobs-failing",
            lambda inputs: inputs["metricQueries"].append({"id": "every", "expression": SEARCH, "returnData": False}),
        ),
    ),
    "brace-without-its-end": (
        SMALL,
        "log-filter-pattern",
        edit(FILTER, "managed-jobs-failed", said("pattern", " }", "")),
    ),
    "words-for-operators": (
        SMALL,
        "log-filter-pattern",
        edit(FILTER, "managed-jobs-began", said("pattern", "&&", "AND")),
    ),
    "single-quotes": (SMALL, "log-filter-pattern", edit(FILTER, "managed-jobs-failed", said("pattern", '"', "'"))),
    "no-dollar": (
        SMALL,
        "log-filter-pattern",
        edit(FILTER, "managed-jobs-failed", said("pattern", "$.detail", "detail")),
    ),
    "field-by-itself": (
        SMALL,
        "log-filter-pattern",
        edit(FILTER, "managed-jobs-failed", put("pattern", "{ $.detail.FailureReason }")),
    ),
    "parenthesis-too-few": (
        SMALL,
        "log-filter-pattern",
        edit(FILTER, "managed-jobs-began", said("pattern", ") }", " }")),
    ),
    "dimensions-of-plain-words": (
        SMALL,
        "log-filter-pattern",
        edit(
            FILTER,
            "managed-jobs-failed",
            put("pattern", '"Failed"'),
            put("metricTransformation.dimensions", {"job": "$.detail.TrainingJobName"}),
        ),
    ),
    "kind-of-events-that-is-not": (
        DEMO,
        "trail-selectors",
        edit(TRAIL, OWN_TRAIL, selected(equal("eventCategory", "Insight"))),
    ),
    "network-events-of-no-service": (
        DEMO,
        "trail-selectors",
        edit(TRAIL, OWN_TRAIL, selected(equal("eventCategory", "NetworkActivity"))),
    ),
    "types-that-begin-so": (
        DEMO,
        "trail-selectors",
        edit(
            TRAIL,
            OWN_TRAIL,
            selected(equal("eventCategory", "Data"), {"field": "resources.type", "startsWiths": ["AWS::S3"]}),
        ),
    ),
    "one-of-two-actions-on-objects": (
        DEMO,
        "rights-statement-nothing",
        edit(
            BUCKET_POLICY,
            "acme-demo-logs-policy",
            statement("KeepObjects", lambda one: one["Action"].append("s3:DeleteBucket")),
        ),
    ),
    "budget-that-is-misspelt": (
        SMALL,
        "reference-name",
        edit(ACTION, "managed-over-budget", put("budgetName", "initech-reserach")),
    ),
    "six-targets": (DEMO, "too-many", both(*[beside_itself(TARGET, "security-findings", at) for at in range(5)])),
    "way-to-disks-that-is-not": (
        DEMO,
        "ebs-optimized",
        edit("aws:ec2/instance:Instance", "bastion", put("instanceType", "t2.micro")),
    ),
    "subnet-of-a-template": (
        DEMO,
        "launch-template-conflict",
        edit(
            TEMPLATE,
            "gpu-nodes-train-on-demand-template",
            put("networkInterfaces[0].subnetId", "subnet-e5ab1e56e9f82a9c1"),
        ),
    ),
    "backups-of-another-database": (
        DEMO,
        "programs-pattern",
        edit(RULE, "backups-database", said("eventPattern", "acme-demo-mlflow", "acme-mlflow")),
    ),
    "alarm-of-no-topic": (DEMO, "programs-alarm", edit(ALARM, "watchdog-silent", put("dimensions", DROP))),
    "call-that-is-not": (
        DEMO,
        "programs-pattern",
        edit(RULE, "security-record-off", said("eventPattern", "StopLogging", "StopTrail")),
    ),
    "flow-log-in-another-place": (
        DEMO,
        "flow-log-place",
        edit(FLOWS, "network-flow-log", put("logDestinationType", "kinesis-data-firehose")),
    ),
    "flow-log-with-a-role-for-a-bucket": (
        DEMO,
        "flow-log-role",
        edit(
            FLOWS,
            "network-flow-log",
            put("logDestinationType", "s3"),
            put("logDestination", "arn:aws:s3:::acme-demo-logs-b45c0ba/flow/"),
        ),
    ),
    "insight-that-is-not": (
        DEMO,
        "aws-model",
        edit(TRAIL, OWN_TRAIL, put("insightSelectors", [{"insightType": "ApiCallRate"}])),
    ),
    "key-that-is-not-used": (
        LARGE,
        "ecr-encryption",
        edit(
            "aws:ecr/repository:Repository",
            "images-globex-production-k8s-kueue-kueue",
            put("encryptionConfigurations[0].encryptionType", "AES256"),
        ),
    ),
    "slow-disk-to-start-from": (
        DEMO,
        "ebs-boot",
        edit(
            "aws:ec2/instance:Instance",
            "bastion",
            put("rootBlockDevice.volumeType", "st1"),
            put("rootBlockDevice.volumeSize", 125),
        ),
    ),
    "slow-disk-of-nodes": (DEMO, "ebs-boot", edit(TEMPLATE, DEV, put(f"{EBS}.volumeType", "sc1"))),
}
SOUND: dict[str, Sound] = {
    "home-four-deep": (
        LARGE,
        edit(HOME, "globex-production-shared-home-foundation", put("rootDirectory.path", "/home/ml/a/foundation")),
    ),
    "home-with-a-shared-group": (
        LARGE,
        edit(HOME, "globex-production-shared-home-perception", put("rootDirectory.creationInfo.permissions", "2770")),
    ),
    "rest-at-nine-hundred": (SMALL, edit(FIREWALL_RULE, "dns-others", put("priority", 950))),
    "firewall-at-nine-thousand": (SMALL, edit(FIREWALL, "dns-association", put("priority", 9000))),
    "artifacts-that-rest-deeper": (
        DEMO,
        edit(
            LIFECYCLE,
            "acme-demo-artifacts-lifecycle",
            lambda inputs: next(one for one in inputs["rules"] if one["id"] == "infrequent-access")[
                "transitions"
            ].append({"days": 180, "storageClass": "GLACIER_IR"}),
        ),
    ),
    "old-data-that-rest-deeper": (
        DEMO,
        edit(
            LIFECYCLE,
            "acme-demo-data-lifecycle",
            put("rules[0].noncurrentVersionTransitions", [{"noncurrentDays": 30, "storageClass": "GLACIER_IR"}]),
            put("rules[0].noncurrentVersionExpiration", {"noncurrentDays": 180}),
        ),
    ),
    "fast-disks": (
        DEMO,
        edit(TEMPLATE, DEV, put(f"{EBS}.iops", 8000), put(f"{EBS}.throughput", 1000), put(f"{EBS}.volumeSize", 500)),
    ),
    "jobs-of-one-region": (
        SMALL,
        edit(
            RULE,
            "managed-jobs-ended",
            in_json("eventPattern", lambda held: held.update(region=[{"anything-but": ["eu-west-1"]}])),
        ),
    ),
    "other-windows": (
        LARGE,
        edit(
            DATABASE,
            "globex-production-mlflow",
            put("backupWindow", "22:10-23:10"),
            put("maintenanceWindow", "sat:04:30-sat:05:30"),
        ),
    ),
    "two-of-three-silences": (
        DEMO,
        edit(ALARM, "watchdog-silent", put("evaluationPeriods", 3), put("datapointsToAlarm", 2), put("period", 300)),
    ),
    "advanced-for-465-days": (
        DEMO,
        edit(
            DATABASE,
            "acme-demo-mlflow",
            put("databaseInsightsMode", "advanced"),
            put("performanceInsightsRetentionPeriod", 465),
        ),
    ),
    "read-at-the-next-start": (
        DEMO,
        edit(
            PARAMETERS,
            "acme-demo-mlflow-parameters",
            parameter("rds.logical_replication", "1", applyMethod="pending-reboot"),
            parameter("pg_stat_statements.track", "all"),
        ),
    ),
    "alarm-over-seven-days": (SMALL, edit(ALARM, "managed-jobs-jobs-failing", put("evaluationPeriods", 7))),
    "text-that-says-search": (
        SMALL,
        edit(ALARM, "managed-jobs-jobs-failing", put("metricQueries[0].label", "SEARCH(failed)")),
    ),
    "failures-but-of-capacity": (
        SMALL,
        edit(
            FILTER,
            "managed-jobs-failed",
            put(
                "pattern", '{ ($.detail.TrainingJobStatus = "Failed") && ($.detail.FailureReason != "*A & B\'s (x*") }'
            ),
        ),
    ),
    "failures-of-a-form": (
        SMALL,
        edit(
            FILTER,
            "managed-jobs-failed",
            put(
                "pattern",
                "{$.detail.TrainingJobStatus=Failed && ($.detail.FailureReason=%Capacity|Quota% || "
                "$.detail.BillableTimeInSeconds>=1) && $.detail.Environment['A KEY'] NOT EXISTS && "
                "$.detail.ExperimentConfig IS NULL}",
            ),
        ),
    ),
    "selector-of-functions": (
        DEMO,
        edit(
            TRAIL, OWN_TRAIL, selected(equal("eventCategory", "Data"), equal("resources.type", "AWS::Lambda::Function"))
        ),
    ),
    "writes-through-an-endpoint": (
        DEMO,
        edit(
            TRAIL,
            OWN_TRAIL,
            selected(equal("eventCategory", "NetworkActivity"), equal("eventSource", "kms.amazonaws.com")),
        ),
    ),
    "writes-alone": (
        DEMO,
        edit(
            TRAIL,
            OWN_TRAIL,
            selected(
                equal("eventCategory", "Data"), equal("resources.type", "AWS::S3::Object"), equal("readOnly", "false")
            ),
        ),
    ),
    "any-deletion": (
        DEMO,
        edit(
            BUCKET_POLICY,
            "acme-demo-logs-policy",
            statement("KeepObjects", lambda one: one.update(Action=["s3:Delete*"])),
        ),
    ),
    "five-targets": (DEMO, both(*[beside_itself(TARGET, "security-findings", at) for at in range(4)])),
    "way-to-disks": (DEMO, edit("aws:ec2/instance:Instance", "bastion", put("instanceType", "t3.small"))),
    "backups-of-anothers-database": (
        DEMO,
        edit(RULE, "backups-database", said("eventPattern", '["acme-demo-mlflow"]', '["acme-demo-mlflow", "shop"]')),
    ),
    "texts-to-telephones": (
        DEMO,
        edit(
            ALARM,
            "watchdog-silent",
            put("dimensions", DROP),
            put("metricName", "SMSMonthToDateSpentUSD"),
            put("comparisonOperator", "GreaterThanThreshold"),
        ),
    ),
    "another-call": (
        DEMO,
        edit(RULE, "security-record-off", said("eventPattern", "StopLogging", "PutInsightSelectors")),
    ),
    "insights-of-a-trail": (
        DEMO,
        edit(
            TRAIL,
            OWN_TRAIL,
            put("insightSelectors", [{"insightType": "ApiCallRateInsight"}, {"insightType": "ApiErrorRateInsight"}]),
        ),
    ),
    "slow-disk-beside-another": (
        DEMO,
        edit(
            TEMPLATE,
            DEV,
            put(
                "blockDeviceMappings[1]",
                {
                    "deviceName": "/dev/xvdb",
                    "ebs": {"volumeType": "st1", "volumeSize": 500, "encrypted": "true", "deleteOnTermination": "true"},
                },
            ),
        ),
    ),
    "images-that-are-scanned": (
        LARGE,
        edit(
            "aws:ecr/repository:Repository",
            "images-globex-production-k8s-kueue-kueue",
            put("imageScanningConfiguration", {"scanOnPush": True}),
        ),
    ),
    "metadata-by-hand": (
        LARGE,
        edit(
            LUSTRE,
            "globex-production-lustre",
            put("metadataConfiguration", {"mode": "USER_PROVISIONED", "iops": 12000}),
        ),
    ),
    "versions-and-the-rest": (
        LARGE,
        edit(
            "aws:ecr/lifecyclePolicy:LifecyclePolicy",
            "images-globex-production-k8s-kueue-kueue",
            said("policy", '"tagStatus": "any"', '"tagStatus": "tagged", "tagPatternList": ["v*"]'),
        ),
    ),
}
