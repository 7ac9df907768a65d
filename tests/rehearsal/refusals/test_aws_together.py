"""Inputs of AWS resources that go together: a mistake is told, what looks like it and is right is not.

Rows of (resource, path, value, rule); no rule where the value is right.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.rehearsal.refusals.builders import ACCOUNT, DROP, changed, findings, resource
from trainyard.recorded.model import RecordedResource

LOGS = f"arn:aws:logs:us-east-1:{ACCOUNT}:log-group"
SUBNET, ROUTE = "aws:ec2/subnet:Subnet", "aws:ec2/route:Route"
PATTERN = {"source": ["aws.guardduty"], "detail": {"severity": [{"numeric": [">=", 4, "<", 9]}]}}


def subnet(name: str, zone: str, block: str) -> RecordedResource:
    inputs = {"vpcId": "vpc-1", "cidrBlock": block, "availabilityZone": f"us-east-1{zone}"}
    return resource(SUBNET, name, inputs, f"subnet-0123456789abcdef{block_of(name)}")


def block_of(name: str) -> int:
    return ("one", "two", "three").index(name) + 1


def pattern(**changes: Any) -> str:
    return json.dumps({**PATTERN, **changes})


def fields(*pairs: tuple[str, str]) -> list[dict[str, Any]]:
    return [{"field": name, "equals": [value]} for name, value in pairs]


STACK: list[RecordedResource] = [
    resource("aws:ec2/vpc:Vpc", "vpc", {"cidrBlock": "10.0.0.0/16"}, "vpc-1"),
    subnet("one", "a", "10.0.0.0/20"),
    subnet("two", "b", "10.0.16.0/20"),
    subnet("three", "a", "10.0.32.0/20"),
    resource("aws:ec2/vpcEndpoint:VpcEndpoint", "sts", {
        "vpcId": "vpc-1", "vpcEndpointType": "Interface", "serviceName": "com.amazonaws.us-east-1.sts",
        "subnetIds": ["subnet-0123456789abcdef1", "subnet-0123456789abcdef2"], "privateDnsEnabled": True,
    }),
    resource("aws:ec2/routeTable:RouteTable", "table", {"vpcId": "vpc-1"}, "rtb-1"),
    resource(ROUTE, "out", {"routeTableId": "rtb-1", "destinationCidrBlock": "0.0.0.0/0", "natGatewayId": "nat-1"}),
    resource(ROUTE, "peer", {
        "routeTableId": "rtb-1", "destinationCidrBlock": "10.9.0.0/16", "vpcPeeringConnectionId": "pcx-1"}),
    resource("aws:ec2/natGateway:NatGateway", "nat", {
        "subnetId": "subnet-0123456789abcdef1", "allocationId": "eipalloc-1"}, "nat-1"),
    resource("aws:ec2/securityGroup:SecurityGroup", "group", {"vpcId": "vpc-1", "description": "Nodes (all of them)"}),
    resource("aws:route53/resolverFirewallRuleGroup:ResolverFirewallRuleGroup", "rules", {"name": "rules"}, "frg-1"),
    resource("aws:route53/resolverFirewallDomainList:ResolverFirewallDomainList", "names", {
        "name": "names", "domains": ["*", "*.amazonaws.com", "example.com", "_dmarc.example.com."]}, "fdl-1"),
    resource("aws:route53/resolverFirewallRule:ResolverFirewallRule", "allow", {
        "name": "allow", "action": "ALLOW", "firewallDomainListId": "fdl-1", "firewallRuleGroupId": "frg-1",
        "priority": 100}),
    resource("aws:route53/resolverFirewallRule:ResolverFirewallRule", "block", {
        "name": "block", "action": "BLOCK", "blockResponse": "NXDOMAIN", "firewallDomainListId": "fdl-1",
        "firewallRuleGroupId": "frg-1", "priority": 200}),
    resource("aws:route53/resolverFirewallRuleGroupAssociation:ResolverFirewallRuleGroupAssociation", "bound", {
        "name": "bound", "vpcId": "vpc-1", "firewallRuleGroupId": "frg-1", "priority": 101}),
    resource("aws:cloudwatch/eventRule:EventRule", "findings", {"eventPattern": pattern()}),
    resource("aws:cloudwatch/eventRule:EventRule", "daily", {"scheduleExpression": "cron(0 3 * * ? *)"}),
    resource("aws:cloudtrail/trail:Trail", "trail", {
        "name": "acme", "s3BucketName": "acme-logs", "cloudWatchLogsGroupArn": f"{LOGS}:trail:*",
        "cloudWatchLogsRoleArn": f"arn:aws:iam::{ACCOUNT}:role/trail",
        "advancedEventSelectors": [
            {"name": "all", "fieldSelectors": fields(("eventCategory", "Management"))},
            {"fieldSelectors": fields(("eventCategory", "Data"), ("resources.type", "AWS::S3::Object"))},
        ],
    }),
    resource("aws:fsx/lustreFileSystem:LustreFileSystem", "lustre", {
        "subnetIds": "subnet-0123456789abcdef1", "storageCapacity": 1200, "storageType": "SSD",
        "deploymentType": "PERSISTENT_2",
        "perUnitStorageThroughput": 125,
        "logConfiguration": {"level": "WARN_ERROR", "destination": f"{LOGS}:/aws/fsx/lustre"},
    }),
    resource("aws:s3/bucket:Bucket", "trail-files", {"bucket": "acme-trail", "objectLockEnabled": True}, "acme-trail"),
    resource("aws:s3/bucketVersioning:BucketVersioning", "versions", {
        "bucket": "acme-trail", "versioningConfiguration": {"status": "Enabled"}}),
    resource("aws:s3/bucketObjectLockConfiguration:BucketObjectLockConfiguration", "lock", {
        "bucket": "acme-trail", "rule": {"defaultRetention": {"mode": "GOVERNANCE", "days": 90}}}),
    resource("aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration", "old", {
        "bucket": "acme-trail", "rules": [{
            "id": "cold", "status": "Enabled", "filter": {"prefix": "teams/"}, "transitions": [
                {"days": 30, "storageClass": "STANDARD_IA"}, {"days": 60, "storageClass": "GLACIER"}]}]}),
    resource("aws:ecr/pullThroughCacheRule:PullThroughCacheRule", "hub", {
        "ecrRepositoryPrefix": "hub", "upstreamRegistryUrl": "registry-1.docker.io",
        "credentialArn": f"arn:aws:secretsmanager:us-east-1:{ACCOUNT}:secret:ecr-pullthroughcache/hub-a1b2c3"}),
    resource("aws:ssm/parameter:Parameter", "parameter", {
        "name": "/trainyard/demo", "type": "String", "value": "a"}),
    resource("aws:cloudwatch/metricAlarm:MetricAlarm", "band", {
        "comparisonOperator": "GreaterThanUpperThreshold", "evaluationPeriods": 2, "thresholdMetricId": "e1",
        "metricQueries": [
            {"id": "e1", "expression": "ANOMALY_DETECTION_BAND(m1, 2)", "returnData": True},
            {"id": "m1", "returnData": True, "metric": {
                "metricName": "CPUUtilization", "namespace": "AWS/EC2", "period": 60, "stat": "Average"}}]}),
    resource("aws:rds/parameterGroup:ParameterGroup", "of-mysql", {
        "family": "mysql8.4", "parameters": [{"name": "rds.optimized_writes", "value": "AUTO"}]}),
    resource("aws:eks/addon:Addon", "coredns", {
        "clusterName": "acme", "addonName": "coredns",
        "configurationValues": json.dumps({"replicaCount": 3, "tolerations": [{"operator": "Exists"}]}),
    }),
]  # fmt: skip
OVERRIDE = {"blockOverrideDomain": "blocked.example", "blockOverrideDnsType": "CNAME", "blockOverrideTtl": 60}
TRAIL = "advancedEventSelectors[1].fieldSelectors"
VALUES = "configurationValues"

ROWS: list[tuple[str, str, Any, str]] = [
    ("sts", "subnetIds[2]", "subnet-0123456789abcdef3", "endpoint-zone"),
    ("sts", "subnetIds[1]", "subnet-0123456789abcdef3", "endpoint-zone"),
    ("sts", "subnetIds[2]", "subnet-0123456789abcdef4", ""),
    ("peer", "destinationCidrBlock", "0.0.0.0/0", "route-destination"),
    ("peer", "destinationCidrBlock", DROP, "route-destination"),
    ("nat", "allocationId", DROP, "nat-address"),
    ("nat", "connectivityType", "private", "nat-address"),
    ("nat", "connectivityType", "public", ""),
    ("group", "description", "Nodes – all of them", "security-group-description"),
    ("group", "description", "Nodes: 443/tcp, [a]+b=c;{d}!$*&", ""),
    ("names", "domains[4]", "https://example.com", "dns-domain"),
    ("names", "domains[4]", "s3.*.amazonaws.com", "dns-domain"),
    ("block", "blockResponse", DROP, "dns-block-response"),
    ("block", "blockResponse", "OVERRIDE", "dns-block-response"),
    ("block", "blockOverrideTtl", 60, "dns-block-response"),
    ("allow", "blockResponse", "NODATA", "dns-block-response"),
    ("block", "priority", 100, "dns-priority"),
    ("bound", "priority", 100, "dns-priority"),
    ("bound", "priority", 9899, ""),
    ("findings", "eventPattern", pattern(source="aws.guardduty"), "event-pattern"),
    ("findings", "eventPattern", pattern(source=[]), "event-pattern"),
    ("findings", "eventPattern", pattern(detail={"severity": [{"numeric": [">=", "4"]}]}), "event-pattern"),
    ("findings", "eventPattern", pattern(detail={"type": [{"startsWith": "Un"}]}), "event-pattern"),
    ("findings", "eventPattern", pattern(detail={"type": [{"prefix": "Un"}, {"exists": False}]}), ""),
    ("findings", "eventPattern", pattern(**{"$or": [{"region": ["us-east-1"]}, {"account": [ACCOUNT]}]}), ""),
    ("findings", "eventPattern", pattern(details={"type": ["a"]}), "event-pattern"),
    ("findings", "eventPattern", "{}", "event-pattern"),
    ("daily", "scheduleExpression", "cron(0 3 * * *)", "event-schedule"),
    ("daily", "scheduleExpression", "cron(0 3 * * * *)", "event-schedule"),
    ("daily", "scheduleExpression", "rate(1 days)", "event-schedule"),
    ("daily", "scheduleExpression", "rate(5 minutes)", ""),
    ("daily", "scheduleExpression", DROP, "event-rule"),
    ("trail", f"{TRAIL}[1].field", "resources.Type", "trail-selectors"),
    ("trail", TRAIL, fields(("eventCategory", "Data")), "trail-selectors"),
    ("trail", TRAIL, fields(("resources.type", "AWS::S3::Object")), "trail-selectors"),
    ("trail", "eventSelectors", [{"readWriteType": "All"}], "trail-selectors"),
    ("trail", "cloudWatchLogsRoleArn", DROP, "trail-logs"),
    ("trail", "cloudWatchLogsGroupArn", f"{LOGS}:trail", "trail-logs"),
    ("lustre", "logConfiguration.destination", f"{LOGS}:lustre", "fsx-log"),
    ("lustre", "logConfiguration.destination", f"arn:aws:firehose:us-east-1:{ACCOUNT}:deliverystream/aws-fsx-a", ""),
    ("lock", "rule.defaultRetention.years", 1, "s3-object-lock"),
    ("lock", "rule.defaultRetention", {"days": 30}, "s3-object-lock"),
    ("versions", "versioningConfiguration.status", "Suspended", "s3-object-lock"),
    ("old", "rules[0].transitions[1].days", 45, "s3-lifecycle-transition"),
    ("old", "rules[0].filter.prefix", "/teams/", "s3-lifecycle-filter"),
    ("hub", "credentialArn", DROP, "ecr-cache-credential"),
    ("hub", "credentialArn", f"arn:aws:secretsmanager:us-east-1:{ACCOUNT}:secret:hub-a1b2c3", "aws-model"),
    ("parameter", "type", "Text", "aws-model"),
    ("parameter", "name", "trainyard/demo", "ssm-parameter"),
    ("parameter", "name", "demo", ""),
    ("parameter", "name", "/aws/demo", "ssm-parameter"),
    ("findings", "eventPattern", pattern(source=["aws.guard-duty"]), "event-pattern"),
    ("findings", "eventPattern", pattern(source=["acme.billing"]), ""),
    ("band", "thresholdMetricId", DROP, "alarm-queries"),
    ("band", "metricQueries[0].expression", "m1 > 1 and m1 < 5", ""),
    ("band", "metricQueries[0].expression", "m1 + m2", "alarm-queries"),
    ("band", "metricQueries[0].id", {"Ref": "e1"}, ""),
    ("of-mysql", "parameters[0].name", "pgaudit.log", "rds-parameter"),
    ("coredns", VALUES, json.dumps({"replicaCount": 0}), "eks-addon-settings"),
    ("coredns", VALUES, json.dumps({"replicas": 3}), "eks-addon-settings"),
    ("coredns", VALUES, json.dumps({"toleration": []}), "eks-addon-settings"),
    ("coredns", VALUES, json.dumps({"tolerations": [{"effect": "NO_SCHEDULE"}]}), "eks-addon-settings"),
    ("coredns", VALUES, json.dumps({"nodeSelector": "system"}), "eks-addon-settings"),
    ("coredns", VALUES, json.dumps({"replicaCount": "3"}), "eks-addon-settings"),
    ("coredns", VALUES, json.dumps({"somethingNew": {"on": True}}), ""),
]


def test_the_resources_as_they_are_have_no_finding() -> None:
    assert [str(finding) for finding in findings(STACK)] == []


@pytest.mark.parametrize(
    "row", ROWS, ids=lambda row: f"{row[0]}-{row[1]}-{'absent' if row[2] is DROP else row[2]}"[:90]
)
def test_a_mistake_is_told_and_what_is_right_is_not(row: tuple[str, str, Any, str]) -> None:
    name, path, value, rule = row
    told = {finding.rule for finding in findings(changed(STACK, name, path, value))}
    assert (rule in told) if rule else not told, told


def test_an_override_says_what_it_answers() -> None:
    stack = changed(STACK, "block", "blockResponse", "OVERRIDE")
    for path, value in OVERRIDE.items():
        stack = changed(stack, "block", path, value)
    assert [str(finding) for finding in findings(stack)] == []
