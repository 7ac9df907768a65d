"""Mistakes in services of AWS, in the examples and in programs of other people, and what is unusual and right there."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import pytest

from tests.rehearsal.works import aws_changes as aws
from tests.rehearsal.works import mistakes_aws_fifth, mistakes_aws_fourth
from tests.rehearsal.works.aws_changes import refer, reworded, without
from tests.rehearsal.works.mistakes import DROP, both, context_of, drop, edit, in_json, one_by_one, put
from tests.rehearsal.works.mistakes_aws_fourth import (
    ACL,
    COMPOSITE,
    DATA,
    ENVIRONMENT,
    JOB,
    KEEPING,
    LAMBDA,
    LARGE,
    PLAN,
    QUEUE,
    REPLICATION,
    SCHEDULE,
    SELECTION,
)
from tests.rehearsal.works.mistakes_breadth import beside
from tests.rehearsal.works.test_foreign_programs import CONTEXT, STACKS, UNCHECKED, foreign_program
from tests.rehearsal.works.together import told_together
from trainyard.policies.pack import POLICIES
from trainyard.rehearsal.refusals.check import check_values
from trainyard.rehearsal.works.check import check_works
from trainyard.review.policy_check.check import check_policies

MISTAKES = [*mistakes_aws_fourth.MISTAKES, *mistakes_aws_fifth.MISTAKES]
BEFORE: dict[str, set] = {}
SOUND_BEFORE: dict[str, set] = {}
"""The same with secrets as they are, as each room says it by itself."""
BUILD, SQS, EFS = "aws:codebuild/project:Project", "aws:sqs/queue:Queue", "aws:efs/fileSystem:FileSystem"
OWN_MACHINES = put("eksConfiguration", {"eksClusterArn": "arn:aws:eks:eu-west-1:123456789012:cluster/central",
                                        "kubernetesNamespace": "batch"})  # fmt: skip
NOTIFICATION, IMAGES = "aws:s3/bucketNotification:BucketNotification", "aws:ecr/lifecyclePolicy:LifecyclePolicy"
LET_BY = {"protocol": "tcp", "action": "allow", "cidrBlock": "0.0.0.0/0"}
KEY_OF_MODELS = both(
    beside(aws.KEY, "models", aws.VPC, {"description": "models", "enableKeyRotation": True}),
    beside(aws.ENCRYPTION, "models", aws.VPC, {
        "bucket": "acme-keeping-models",
        "rules": [{"applyServerSideEncryptionByDefault": {"sseAlgorithm": "aws:kms", "kmsMasterKeyId": "models"}}],
    }),
)  # fmt: skip


def of(rehearsed, stack):
    """A stack, and what is known of it."""
    if stack in STACKS:
        return foreign_program(stack), CONTEXT
    rehearsal = rehearsed(stack)
    return rehearsal, replace(context_of(rehearsal), ours=True)


def found(rehearsed, stack, change=None):
    """What values and rooms say, with a change or without."""
    rehearsal, context = of(rehearsed, stack)
    resources = list(rehearsal.known.resources) if change is None else change(rehearsal.known.resources)
    said = {*check_values(resources, context), *check_works(resources, context)}
    return {finding for finding in said if finding.rule not in UNCHECKED}


def added(rehearsed, stack, change):
    """What a change makes them say that they did not say before."""
    if stack not in BEFORE:
        BEFORE[stack] = found(rehearsed, stack)
    return found(rehearsed, stack, change) - BEFORE[stack]


def adds(rehearsed, stack, change, rule):
    """Whether a change makes them say this."""
    rehearsal, context = of(rehearsed, stack)
    if stack not in SOUND_BEFORE:
        sound = one_by_one(list(rehearsal.known.resources), context, values=True)
        SOUND_BEFORE[stack] = {finding for said in sound for finding in said}
    resources = rehearsal.known.resources
    changed = one_by_one(change(resources), context, rule, values=True, sound=resources)
    return any(rule in {finding.rule for finding in said - SOUND_BEFORE[stack]} for said in changed)


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda one: f"{one.stack}-{one.name}")
def test_a_mistake_is_told_or_is_a_choice(rehearsed, mistake):
    by, _, name = (mistake.rule or "").rpartition(":")
    if by == "policy":
        rehearsal = rehearsed(mistake.stack)
        changed = mistake.change(rehearsal.known.resources)
        rule = [policy for policy in POLICIES if policy.name == name]
        report = check_policies(rehearsal.stack, [], changed, rehearsal.settings, policies=rule)
        assert name in {violation.policy for violation in report.violations}
        return
    if name:
        assert adds(rehearsed, mistake.stack, mistake.change, name)
    else:
        assert mistake.why and added(rehearsed, mistake.stack, mistake.change) == set()


def test_each_mistake_has_a_name_of_its_own_and_the_missed_are_among_them():
    names = Counter(one.name for one in MISTAKES)
    assert {name for name, times in names.items() if times > 1} == set()
    assert set(names) >= mistakes_aws_fourth.MISSED | mistakes_aws_fifth.MISSED


def images(**selection):
    """A policy of a registry with one rule."""
    rule = {"rulePriority": 1, "selection": selection, "action": {"type": "expire"}}
    return edit(IMAGES, "train", put("policy", json.dumps({"rules": [rule]})))


STARTS = json.dumps(
    {
        "Version": "2012-10-17",
        "Statement": [{"Effect": "Allow", "Action": "batch:SubmitJob", "Resource": "arn:aws:batch:*"}],
    }
)


SOUND = {
    "spot machines of the old kind, with a role of the fleet": (
        KEEPING,
        edit(ENVIRONMENT, "spot", put("computeResources.allocationStrategy", "BEST_FIT"),
             put("computeResources.spotIamFleetRole", "arn:aws:iam::210987654321:role/spot-fleet"))),
    "a bid of sixty percent": (KEEPING, edit(ENVIRONMENT, "spot", put("computeResources.bidPercentage", 60))),
    "a job as large as the larger machine, nearly": (
        KEEPING,
        edit(JOB, "train", in_json("containerProperties", put("resourceRequirements[1].value", "30000")))),
    "a family of machines": (KEEPING, edit(ENVIRONMENT, "spot", put("computeResources.instanceTypes", ["g5", "p4d"]))),
    "cold for ninety days": (KEEPING, edit(PLAN, "nightly", put("rules[0].lifecycle.deleteAfter", 120))),
    "no cold storage, and a week": (
        KEEPING, edit(PLAN, "nightly", put("rules[0].lifecycle", {"deleteAfter": 7}))),
    "on the twenty-ninth of February": (
        KEEPING, edit(PLAN, "nightly", put("rules[0].schedule", "cron(0 2 29 2 ? *)"))),
    "on the thirty-first, where there is one": (
        KEEPING, edit(PLAN, "nightly", put("rules[0].schedule", "cron(0 2 31 * ? *)"))),
    "once": (KEEPING, edit(SCHEDULE, "retrain", put("scheduleExpression", "at(2087-01-01T00:00:00)"))),
    "every two hours": (KEEPING, edit(SCHEDULE, "retrain", put("scheduleExpression", "rate(2 hours)"))),
    "a window of an hour": (
        KEEPING,
        edit(SCHEDULE, "retrain", put("flexibleTimeWindow", {"mode": "FLEXIBLE", "maximumWindowInMinutes": 60}))),
    "a queue of another program": (
        KEEPING, edit(SCHEDULE, "retrain", put("target.input", '{"JobQueue": "central", "JobDefinition": "nightly"}'))),
    "images by the beginning of their tags": (
        KEEPING, images(tagStatus="tagged", tagPrefixList=["v"], countType="imageCountMoreThan", countNumber=30)),
    "any image, by number": (KEEPING, images(tagStatus="any", countType="imageCountMoreThan", countNumber=30)),
    "a replication of the old kind": (
        KEEPING,
        edit(REPLICATION, "models", put("rules[0].filter", DROP), put("rules[0].deleteMarkerReplication", DROP),
             put("rules[0].prefix", "runs/"))),
    "encrypted objects that are copied, under a key of the other region": (
        KEEPING,
        both(KEY_OF_MODELS,
             edit(REPLICATION, "models",
                  put("rules[0].sourceSelectionCriteria", {"sseKmsEncryptedObjects": {"status": "Enabled"}}),
                  put("rules[0].destination.encryptionConfiguration",
                      {"replicaKmsKeyId": "arn:aws:kms:eu-central-1:123456789012:key/0"})))),
    "two days of hours": (
        KEEPING, edit(aws.ALARM, "turn-errors", put("period", 3600), put("evaluationPeriods", 48))),
    "a layer that wraps a function": (
        KEEPING,
        edit(LAMBDA, "turn", put("environment", {"variables": {"AWS_LAMBDA_EXEC_WRAPPER": "/opt/bootstrap"}}))),
    "an ARN in a variable that is called a name": (
        KEEPING,
        edit(LAMBDA, "turn", put("environment", {"variables": {"bucketName": "arn:aws:s3:::acme-keeping-models"}}))),
    "an alarm of another program": (
        KEEPING, edit(COMPOSITE, "turn", put("alarmRule", "ALARM(turn-errors) AND NOT ALARM(deploying)"))),
    "an alarm by its ARN": (
        KEEPING,
        edit(COMPOSITE, "turn",
             put("alarmRule", "ALARM(arn:aws:cloudwatch:eu-west-1:123456789012:alarm:turn-errors)"))),
    "backups by a tag that the files have": (
        KEEPING,
        both(edit(EFS, "work", put("tags", {"backup": "yes"}), put("tagsAll", {"backup": "yes"})),
             edit(SELECTION, "files", put("resources", DROP),
                  put("selectionTags", [{"type": "STRINGEQUALS", "key": "backup", "value": "yes"}])))),
    "a list of access that lets answers by": (
        KEEPING,
        edit(ACL, "work",
             put("ingress", [{"ruleNo": 100, **LET_BY, "fromPort": 443, "toPort": 443},
                             {"ruleNo": 110, **LET_BY, "fromPort": 1024, "toPort": 65535},
                             {"ruleNo": 120, **LET_BY, "protocol": "udp", "fromPort": 1024, "toPort": 65535}]))),
    "NFS from a block": (
        KEEPING,
        edit(aws.INGRESS, "files", put("referencedSecurityGroupId", DROP), put("cidrIpv4", "10.70.0.0/16"))),
    "failures beside beginnings": (
        KEEPING,
        edit("aws:backup/vaultNotifications:VaultNotifications", "main",
             put("backupVaultEvents", ["BACKUP_JOB_STARTED", "BACKUP_JOB_COMPLETED"]))),
    "a build that writes no log": (
        KEEPING,
        both(edit(BUILD, "train", put("logsConfig", {"cloudwatchLogs": {"status": "DISABLED"}})),
             edit(aws.POLICY, "builder", in_json("policy", lambda document: document["Statement"].pop(0))))),
    "steps that are written down": (
        KEEPING,
        edit(BUILD, "train",
             put("source", {"type": "NO_SOURCE", "buildspec": "version: 0.2\nphases:\n  build: {commands: [make]}"}))),
    "a bucket of another program": (
        KEEPING, edit(JOB, "train", reworded("containerProperties", "acme-keeping-models", "imagenet-of-all"))),
    "a quota for one machine": (
        KEEPING, edit("aws:servicequotas/serviceQuota:ServiceQuota", "spot-gpus", put("value", 4))),
    "types that are recorded one by one": (
        KEEPING,
        edit("aws:cfg/recorder:Recorder", "main",
             put("recordingGroup", {"allSupported": False, "resourceTypes": ["AWS::EC2::Instance"]}))),
    "a bus by its ARN": (
        KEEPING,
        edit(aws.RULE, "batch-failed", put("eventBusName", "arn:aws:events:eu-west-1:123456789012:event-bus/default"))),
    "an object through an access point": (
        KEEPING,
        beside("aws:s3/bucketObjectv2:BucketObjectv2", "one", aws.VPC,
               {"bucket": "arn:aws:s3:eu-west-1:123456789012:accesspoint/models", "key": "one", "content": "1"})),
    "what a suffix may be": (DATA, edit(NOTIFICATION, "landing", put("queues[0].filterSuffix", ".parquet.gz"))),
    "a queue in order": (
        DATA,
        beside(SQS, "ordered", SQS, {"name": "ordered.fifo", "fifoQueue": True, "visibilityTimeoutSeconds": 30})),
    "a queue that hides as long as the function takes": (
        DATA, edit(SQS, "arrivals", put("visibilityTimeoutSeconds", 300))),
    "an audit that is preloaded": (
        "demo",
        edit(aws.PARAMETERS, "acme-demo-mlflow-parameters",
             lambda inputs: inputs["parameters"].extend(
                 [{"name": "pgaudit.log", "value": "ddl"},
                  {"name": "shared_preload_libraries", "value": "pgaudit", "applyMethod": "pending-reboot"}]))),
    "a budget of some years": (
        "demo",
        edit(aws.BUDGET, "budget-budget", put("timePeriodStart", "2023-01-01_00:00"),
             put("timePeriodEnd", "2087-01-01_00:00"))),
    "a disk with many operations": (
        "demo",
        edit(aws.TEMPLATE, "gpu-nodes-train-spot-template", put("blockDeviceMappings[0].ebs.iops", 16000))),
    "repairs by a share": (
        "demo",
        edit(aws.NODES, "gpu-nodes-train-reserved", put("nodeRepairConfig.maxParallelNodesRepairedCount", DROP),
             put("nodeRepairConfig.maxParallelNodesRepairedPercentage", 20))),
    "a link that follows what is new": (
        LARGE,
        edit(aws.REPOSITORY_LINK, "globex-production-lustre-scratch",
             put("s3.autoExportPolicy", {"events": ["NEW", "CHANGED"]}))),
    "an archive with elastic throughput": (
        LARGE,
        edit(EFS, "globex-production-shared", put("lifecyclePolicies[1].transitionToArchive", "AFTER_180_DAYS"))),
    "machines of a batch that join a cluster of EKS": (
        KEEPING,
        both(drop(BUILD, "train"), edit(aws.TABLE, "private", put("routes", [])),
             edit(aws.ATTACHMENT, "machine", put("policyArn", "arn:aws:iam::aws:policy/AmazonEKSWorkerNodePolicy")),
             edit(ENVIRONMENT, "spot", OWN_MACHINES))),
    "a flow log in a bucket that nobody wrote a policy for": (
        KEEPING,
        both(beside("aws:s3/bucket:Bucket", "flows", aws.VPC, {"bucket": "acme-keeping-flows"}),
             beside(aws.FLOW_LOG, "flows", aws.VPC,
                    {"vpcId": "vpc-0123456789abcdef0", "trafficType": "ALL", "logDestinationType": "s3",
                     "logDestination": "arn:aws:s3:::acme-keeping-flows"}))),
    "a schedule whose role has its policies in itself": (
        KEEPING,
        both(drop(aws.POLICY, "starter"),
             edit(aws.ROLE, "starter", put("managedPolicyArns", ["arn:aws:iam::aws:policy/AWSBatchFullAccess"])))),
    "a schedule whose role has its policy in itself": (
        KEEPING,
        both(drop(aws.POLICY, "starter"),
             edit(aws.ROLE, "starter", put("inlinePolicies", [{"name": "start", "policy": STARTS}])))),
    "a role of another account, and a boundary": (
        "demo",
        edit(aws.ROLE, "mlflow-role", put("permissionsBoundary", "arn:aws:iam::aws:policy/PowerUserAccess"))),
}  # fmt: skip


@pytest.mark.parametrize("what", SOUND)
def test_what_is_unusual_and_right_is_not_told(rehearsed, what):
    stack, _ = SOUND[what]

    def judged(resources):
        return [str(finding) for finding in added(rehearsed, stack, lambda _: list(resources))]

    changes = {which: change for which, (of_stack, change) in SOUND.items() if of_stack == stack}
    sound = of(rehearsed, stack)[0].known.resources
    assert told_together((__name__, stack), what, sound, changes, judged) == []


BESIDE = {
    "a key of another region": (
        "demo",
        edit(aws.LOGS, "cluster-logs", put("kmsKeyId", "arn:aws:kms:eu-west-1:123456789012:key/0")), "aws-arn-region"),
    "an ARN of China": (
        KEEPING, edit(SELECTION, "files", reworded("resources", "arn:aws:", "arn:aws-cn:")), "aws-partition"),
    "a bucket by its ARN": (
        KEEPING, edit(aws.LIFECYCLE, "records", put("bucket", "arn:aws:s3:::acme-keeping-records")), "aws-name"),
    "a replica by its name": (
        KEEPING, edit(REPLICATION, "models", put("rules[0].destination.bucket", "acme-keeping-copies")), "aws-arn"),
    "a topic of another region": (
        KEEPING,
        edit(COMPOSITE, "turn", put("alarmActions", ["arn:aws:sns:us-east-1:123456789012:on-call"])), "aws-arn-region"),
    "two rules of one rank": (
        KEEPING,
        edit(REPLICATION, "models",
             lambda inputs: inputs["rules"].append({**inputs["rules"][0], "id": "b", "priority": 1}),
             put("rules[0].priority", 1)), "s3-replication"),
    "from cold to warm": (
        KEEPING,
        edit(aws.LIFECYCLE, "models", put("rules[0].transitions", [{"days": 30, "storageClass": "GLACIER"},
                                                                   {"days": 120, "storageClass": "STANDARD_IA"}])),
        "s3-lifecycle-transition"),
    "locked for longer": (
        KEEPING,
        edit("aws:backup/vaultLockConfiguration:VaultLockConfiguration", "main", put("maxRetentionDays", 100)),
        "backup-plan"),
    "a volume that is not there": (
        KEEPING,
        edit(JOB, "train", in_json("containerProperties", put("mountPoints[0].sourceVolume", "data"))),
        "batch-definition"),
    "memory in GiB": (
        KEEPING,
        edit(JOB, "train", in_json("containerProperties", put("resourceRequirements[1].value", "14Gi"))),
        "batch-definition"),
    "a machine's memory to the last byte": (
        KEEPING,
        edit(JOB, "train", in_json("containerProperties", put("resourceRequirements[1].value", "32768"))),
        "programs-batch-room"),
    "an order twice": (
        KEEPING,
        edit(QUEUE, "train", lambda inputs: inputs["computeEnvironmentOrders"].append(
            dict(inputs["computeEnvironmentOrders"][0]))), "batch-queue"),
    "a rotation that may not call": (KEEPING, drop("aws:lambda/permission:Permission", "turn"), "rights-delivery"),
    "a function that is shut in": (
        KEEPING, edit(aws.GROUP, "work", put("egress", DROP)), "paths-worker-shut-in"),
    "a name and its beginning": (
        KEEPING, edit(aws.TOPIC, "on-call", put("namePrefix", "on-")), "aws-inputs"),
    "a schedule that may not send": (
        KEEPING,
        edit(aws.POLICY, "starter", reworded("policy", "batch:SubmitJob", "batch:DescribeJobs")), "rights-role-lacks"),
    "a schedule whose role has another policy in itself": (
        KEEPING,
        both(drop(aws.POLICY, "starter"),
             edit(aws.ROLE, "starter",
                  put("inlinePolicies", [{"name": "start", "policy": STARTS.replace("Submit", "List")}]))),
        "rights-role-lacks"),
    "a flow log in a bucket whose policy is for others": (
        KEEPING,
        edit("aws:s3/bucketPolicy:BucketPolicy", "records", reworded("policy", "/flows/AWSLogs", "/other/AWSLogs")),
        "rights-delivery"),
    "an archive before its time": (
        LARGE, edit(EFS, "globex-production-shared", put("lifecyclePolicies[1].transitionToArchive", "AFTER_14_DAYS")),
        "efs-archive"),
    "a bucket by nearly its name": (
        KEEPING,
        edit(JOB, "train", reworded("containerProperties", "acme-keeping-models", "acme-keeping-model")),
        "reference-bucket"),
    "copies that are switched off": (
        KEEPING, edit(REPLICATION, "models", put("rules[0].status", "Disabled")), "programs-switched-off"),
    "a profile that is a role": (
        KEEPING,
        refer(ENVIRONMENT, "spot", "computeResources.instanceRole", aws.ROLE, "machine", "arn"), "aws-arn-kind"),
}  # fmt: skip


@pytest.mark.parametrize("what", BESIDE)
def test_what_is_wrong_beside_it_is_told(rehearsed, what):
    stack, change, rule = BESIDE[what]
    assert adds(rehearsed, stack, change, rule)


def test_a_function_without_any_way_out_may_need_none(rehearsed):
    change = both(drop(ENVIRONMENT, "spot"), drop(BUILD, "train"), edit(aws.TABLE, "private", put("routes", [])))
    rules = {finding.rule for finding in added(rehearsed, KEEPING, change)}
    assert "paths-worker-no-way-out" not in rules


def test_a_zone_is_one_of_the_providers_region(rehearsed):
    there = edit(aws.SUBNET, "entry", put("availabilityZone", "eu-central-1a"))
    assert adds(rehearsed, KEEPING, there, "zone-region")
    away = both(there, lambda all_: [
        replace(one, provider=next(copy.provider for copy in all_ if copy.name == "copies"))
        if (one.type, one.name) == (aws.SUBNET, "entry") else one
        for one in all_
    ])  # fmt: skip
    assert "zone-region" not in {finding.rule for finding in added(rehearsed, KEEPING, away)}


def test_rights_that_are_taken_away_one_by_one_are_missed(rehearsed):
    for action in ("DescribeSecret", "GetSecretValue", "UpdateSecretVersionStage"):
        less = aws.statement("policy", "", without("Action", f"secretsmanager:{action}"), at=0)
        found_ = added(rehearsed, KEEPING, edit(aws.POLICY, "turner", less))
        assert {finding.rule for finding in found_} == {"rights-role-lacks"}, action


@pytest.mark.parametrize("name", ["composite-of-another", "queue-by-a-wrong-name", "no-target-in-b"])
def test_what_may_be_meant_is_a_warning(rehearsed, name):
    (mistake,) = [one for one in MISTAKES if one.name == name]
    told = [one for one in added(rehearsed, mistake.stack, mistake.change) if one.rule == mistake.rule]
    assert [one.level for one in told] == ["warning"] * len(told) != []
