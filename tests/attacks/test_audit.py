"""Attacks on the record: an intruder takes his traces away, or takes the role for emergencies unseen.

What a service is asked for stays allowed: a record that nobody can write is none.
"""

import json

import pytest

from tests.attacks.verdicts import allows, refuses
from tests.conftest import EKS
from tests.shared import ROOT
from trainyard.conventions import TEAM_LABEL, TRAINER_SERVICE_ACCOUNT
from trainyard.recorded.model import bare
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import BUCKET, EVENT_RULE, KEY, LOG_GROUP, NAMESPACE, ROLE, SNS_TOPIC, TRAIL
from trainyard.rehearsal.rehearse import rehearse
from trainyard.rehearsal.works.rights.aws.callers import service
from trainyard.rehearsal.works.rights.aws.recorded_policies import arn_of
from trainyard.rehearsal.works.rights.principals import Pod
from trainyard.rehearsal.works.rights.stack import Rights

USER = "arn:aws:iam::123456789012:user/on-call"
OTHER_USER = "arn:aws:iam::123456789012:user/somebody"
CLOUDTRAIL = service("cloudtrail.amazonaws.com")


class Stack:
    def __init__(self, resources):
        self.resources = Resources(resources)
        self.rights = Rights(self.resources)
        self.pods = [
            Pod(namespace.inputs["metadata"]["name"], TRAINER_SERVICE_ACCOUNT)
            for namespace in self.resources.of(NAMESPACE)
            if TEAM_LABEL in namespace.inputs["metadata"].get("labels", {})
        ]
        (self.trail,) = self.resources.of(TRAIL)
        self.trail_arn = self.trail.outputs["arn"]
        self.region = self.trail_arn.split(":")[3]

    def one(self, type_, end):
        (found,) = [found for found in self.resources.of(type_) if found.name.endswith(end)]
        return found


@pytest.fixture(scope="module", params=EKS)
def stack(request, rehearsed):
    return Stack(rehearsed(request.param).resources)


@pytest.fixture(scope="module")
def with_glass():
    glass = {"audit": {"breakGlass": {"principals": [USER]}}}
    made = rehearse(ROOT, "demo", config_overrides=glass)
    assert [str(finding) for finding in made.findings] == []
    return Stack(made.resources)


# Traces


def test_a_pod_neither_stops_the_record_nor_touches_its_files(stack):
    files = f"{arn_of(stack.one(BUCKET, '-trail-logs'))}/AWSLogs/123456789012/file.json.gz"
    assert stack.pods
    for pod in stack.pods:
        for action in ("StopLogging", "DeleteTrail", "UpdateTrail", "PutEventSelectors"):
            refuses(stack.rights.may(pod, f"cloudtrail:{action}", stack.trail_arn))
        for action in ("GetObject", "PutObject", "DeleteObject", "DeleteObjectVersion", "PutObjectRetention"):
            refuses(stack.rights.may(pod, f"s3:{action}", files))
        refuses(stack.rights.may(pod, "guardduty:DeleteDetector", "*"))


@pytest.mark.parametrize("action", ["s3:DeleteObject", "s3:DeleteObjectVersion"])
def test_nobody_deletes_an_access_log_whatever_iam_says(stack, action):
    """An administrator of the account has to change the bucket's policy first, which is on record."""
    (logs,) = [
        found for found in stack.resources.of(BUCKET) if found.name.endswith("-logs") and "trail" not in found.name
    ]
    for who in (f"arn:aws:iam::{stack.rights.aws.id}:root", service("logging.s3.amazonaws.com")):
        refuses(stack.rights.may(who, action, f"{arn_of(logs)}/data/2026-11-22"))


def test_the_trail_alone_writes_its_files(stack):
    bucket = arn_of(stack.one(BUCKET, "-trail-logs"))
    key = arn_of(stack.one(KEY, "-trail-key"))
    file = f"{bucket}/AWSLogs/123456789012/CloudTrail/file.json.gz"
    own = {"aws:SourceArn": stack.trail_arn, "s3:x-amz-acl": "bucket-owner-full-control"}
    context = {"aws:SourceArn": stack.trail_arn, "kms:EncryptionContext:aws:cloudtrail:arn": stack.trail_arn}
    allows(stack.rights.may(CLOUDTRAIL, "s3:PutObject", file, own))
    allows(stack.rights.may(CLOUDTRAIL, "s3:GetBucketAcl", bucket, own))
    allows(stack.rights.may(CLOUDTRAIL, "kms:GenerateDataKey", key, context))
    # A digest is encrypted with S3's own key.
    allows(stack.rights.may(CLOUDTRAIL, "s3:PutObject", file, {**own, "s3:x-amz-server-side-encryption": "AES256"}))
    foreign = stack.trail_arn.replace(stack.trail_arn.split(":")[4], "444455556666")
    refuses(stack.rights.may(CLOUDTRAIL, "s3:PutObject", file, {**own, "aws:SourceArn": foreign}))
    refuses(stack.rights.may(CLOUDTRAIL, "kms:GenerateDataKey", key, {**context, "aws:SourceArn": foreign}))
    refuses(stack.rights.may(CLOUDTRAIL, "s3:DeleteObject", file, own))


def test_rules_reach_the_topic_and_no_rule_of_another(stack):
    topic = stack.one(SNS_TOPIC, "security-topic")
    events = service("events.amazonaws.com")
    rules = [rule.outputs["arn"] for rule in stack.resources.of(EVENT_RULE) if rule.name.startswith("security-")]
    assert rules
    for arn in rules:
        allows(stack.rights.may(events, "sns:Publish", arn_of(topic), {"aws:SourceArn": arn}))
    other = rules[0] + "-other"
    refuses(stack.rights.may(events, "sns:Publish", arn_of(topic), {"aws:SourceArn": other}))
    account = stack.rights.aws.id
    for action in ("kms:Decrypt", "kms:GenerateDataKey"):
        allows(stack.rights.may(events, action, bare(topic.inputs["kmsMasterKeyId"]), {"aws:SourceAccount": account}))
        refuses(
            stack.rights.may(
                events, action, bare(topic.inputs["kmsMasterKeyId"]), {"aws:SourceAccount": "444455556666"}
            )
        )


def test_the_agent_writes_the_teams_lines_and_reads_none(stack):
    (group,) = [found for found in stack.resources.of(LOG_GROUP) if found.inputs["name"].endswith("/team-logs")]
    agent = Pod("kube-system", "team-logs")
    streams = f"{arn_of(group)}:log-stream:pod.team-vision.train-0.trainer"
    allows(stack.rights.may(agent, "logs:PutLogEvents", streams))
    for action in ("logs:GetLogEvents", "logs:DeleteLogStream", "logs:PutRetentionPolicy", "logs:DeleteLogGroup"):
        refuses(stack.rights.may(agent, action, streams))
    for other in stack.resources.of(LOG_GROUP):
        if other.urn != group.urn:
            refuses(stack.rights.may(agent, "logs:PutLogEvents", f"{arn_of(other)}:log-stream:any"))
    for pod in stack.pods:
        refuses(stack.rights.may(pod, "logs:PutLogEvents", streams))
        refuses(stack.rights.may(pod, "logs:GetLogEvents", streams))


# The role for emergencies


def seen(stack, **changes):
    said = {
        "aws:MultiFactorAuthPresent": "true",
        "aws:MultiFactorAuthAge": "60",
        "aws:RequestedRegion": stack.region,
    }
    return {key: value for key, value in {**said, **changes}.items() if value is not None}


def take(stack, who, **changes):
    return stack.rights.may(who, "sts:AssumeRole", arn_of(stack.one(ROLE, "break-glass-role")), seen(stack, **changes))


def test_a_named_user_with_a_second_factor_takes_the_role(with_glass):
    allows(take(with_glass, USER))


@pytest.mark.parametrize(
    ("who", "changes"),
    [
        (OTHER_USER, {}),
        (USER, {"aws:MultiFactorAuthPresent": "false"}),
        (USER, {"aws:MultiFactorAuthPresent": None}),
        (USER, {"aws:MultiFactorAuthAge": "7200"}),
        (USER, {"aws:RequestedRegion": "eu-west-1"}),  # where no alarm listens
    ],
)
def test_nobody_else_takes_it_and_nobody_where_no_alarm_listens(with_glass, who, changes):
    refuses(take(with_glass, who, **changes))


def test_no_pod_takes_it(with_glass):
    for pod in with_glass.pods:
        refuses(take(with_glass, pod))


def test_it_opens_the_cluster_and_nothing_of_the_record(with_glass):
    role = arn_of(with_glass.one(ROLE, "break-glass-role"))
    account, region = with_glass.rights.aws.id, with_glass.region
    cluster = f"arn:aws:eks:{region}:{account}:cluster/acme-demo"
    allows(with_glass.rights.may(role, "eks:CreateAccessEntry", cluster))
    allows(with_glass.rights.may(role, "eks:UpdateClusterConfig", cluster))
    entry = f"arn:aws:eks:{region}:{account}:access-entry/acme-demo/user/{account}/ann/0a1b2c3d"
    for action in ("AssociateAccessPolicy", "DeleteAccessEntry", "DescribeAccessEntry"):
        allows(with_glass.rights.may(role, f"eks:{action}", entry))
    allows(with_glass.rights.may(role, "delete", "namespaces"))
    refuses(with_glass.rights.may(role, "eks:DeleteCluster", cluster))
    refuses(with_glass.rights.may(role, "cloudtrail:StopLogging", with_glass.trail_arn))
    refuses(with_glass.rights.may(role, "iam:AttachRolePolicy", role))
    data = arn_of(with_glass.one(BUCKET, "acme-demo-data"))
    refuses(with_glass.rights.may(role, "s3:GetObject", f"{data}/any"))
    for key in with_glass.resources.of(KEY):
        refuses(with_glass.rights.may(role, "kms:Decrypt", arn_of(key)))


def test_taking_it_is_an_event_that_the_alarm_is_on(with_glass):
    role = arn_of(with_glass.one(ROLE, "break-glass-role"))
    rule = with_glass.one(EVENT_RULE, "security-break-glass")
    pattern = json.loads(rule.inputs["eventPattern"])
    assert pattern["detail"]["requestParameters"] == {"roleArn": [role]}
    assert pattern["detail"]["eventName"] == ["AssumeRole"]
    assert rule.inputs["state"] == "ENABLED_WITH_ALL_CLOUDTRAIL_MANAGEMENT_EVENTS"
