"""Sets of mistakes in programs of others: what tells each, and what is right beside every rule that came of them.

| set | refused, at first sight | silent, at first sight | told now | what is left |
| --- | --- | --- | --- | --- |
| first | 20 of 22 | 20 of 32 | 53 of 54 | `probe-elsewhere`: a container may listen on two ports |
| second | 11 of 11 | 9 of 16 | 25 of 27 | `not-in-network` and `invokes-nothing`: each says why |
| third | 23 of 24 | 17 of 24 | 48 of 48 | nothing |
| fourth | 8 of 14 | 2 of 18 | 32 of 32 | nothing |
| fifth | 11 of 13 | 6 of 18 | 31 of 31 | nothing |
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from tests.rehearsal.works import mistakes_foreign_fifth as fifth
from tests.rehearsal.works import mistakes_foreign_first as first
from tests.rehearsal.works import mistakes_foreign_fourth as fourth
from tests.rehearsal.works import mistakes_foreign_second as second
from tests.rehearsal.works import mistakes_foreign_third as third
from tests.rehearsal.works.mistakes import DROP, both, drop, edit, in_json, one_by_one, put
from tests.rehearsal.works.mistakes_foreign_first import AWS, GOOGLE, PLAIN, refer
from tests.rehearsal.works.test_foreign_programs import UNCHECKED, foreign_program
from tests.rehearsal.works.together import told_together
from trainyard.rehearsal.context import ValueContext

REGIONS = {
    AWS: "eu-west-1",
    GOOGLE: "us-central1",
    PLAIN: "",
    fourth.ECS: "eu-west-1",
    fourth.SLURM: "eu-west-1",
    third.AWS: "eu-west-1",
    third.GOOGLE: "europe-west4",
    fifth.MACHINES: "us-central1",
    fifth.SLICES: "europe-west4",
}
CONTEXTS = {stack: ValueContext(kubernetes_version="1.34", region=region) for stack, region in REGIONS.items()}
MISTAKES = [
    *first.REFUSED, *first.SILENT, *second.REFUSED, *second.SILENT, *third.REFUSED, *third.SILENT,
    *fourth.REFUSED, *fourth.SILENT, *fifth.REFUSED, *fifth.SILENT,
]  # fmt: skip


def found(stack: str, change: Any, rule: str = "") -> Iterator[str]:
    """The rules of what is said of a program with a change."""
    sound = list(foreign_program(stack).known.resources)
    for said in one_by_one(change(sound), CONTEXTS[stack], rule, values=True, sound=sound):
        yield from (finding.rule for finding in said)


@pytest.mark.parametrize("mistake", [one for one in MISTAKES if one.rule is not None], ids=lambda one: one.name)
def test_a_mistake_is_told(mistake):
    assert mistake.rule in found(mistake.stack, mistake.change, mistake.rule)


def test_what_is_left_is_few_and_says_why():
    left = [one for one in MISTAKES if one.rule is None]
    assert len(left) <= 4
    assert all(one.why for one in left)


JOIN = "IyEvYmluL2Jhc2gKL2V0Yy9la3MvYm9vdHN0cmFwLnNoIG5vcmRsYWIK"
"""A script that calls /etc/eks/bootstrap.sh."""
DEFINITION = "aws:batch/jobDefinition:JobDefinition"
ENVIRONMENT = "aws:batch/computeEnvironment:ComputeEnvironment"
RECORD = "aws:route53/record:Record"
AUTOSCALER = "gcp:compute/regionAutoscaler:RegionAutoscaler"
TRAIN = "spec.replicatedJobs[0].template.spec.template.spec.containers[0].command[3]"
FUNCTION = "aws:lambda/function:Function"
DUMP = "spec.jobTemplate.spec.template.spec.containers[0].command[2]"
QUOTA = "kubernetes:core/v1:ResourceQuota"
TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"


def _other_environment(resources: Any) -> Any:
    """A copy of the environment whose machines have a group of somebody else's."""
    like = next(one for one in resources if one.type == ENVIRONMENT)
    inputs = copy.deepcopy({**like.inputs, "name": "nordlab-wide"})
    inputs["computeResources"]["securityGroupIds"] = ["sg-00000000000000000"]
    return [*resources, replace(like, urn=f"{like.urn}-wide", name="wide", id="wide", inputs=inputs, outputs={})]


SOUND = {
    **first.HEALTHY,
    **second.HEALTHY,
    **third.HEALTHY,
    **third.BESIDE_AND_RIGHT,
    **fourth.HEALTHY,
    **fourth.RIGHT,
    **fifth.HEALTHY,
    **fifth.RIGHT,
    "a handler that a layer may bring": (
        AWS, edit(FUNCTION, "starter", put("handler", "main.handler"),
                  put("layers", ["arn:aws:lambda:eu-west-1:210987654321:layer:own:1"]))),
    "an archive of a folder": (
        AWS, edit(FUNCTION, "starter", put("handler", "main.handler"), put("code", {"path": "./app"}))),
    "a handler of a package": (
        AWS, edit(FUNCTION, "starter", put("handler", "app.handler"), put("code.assets", {
            "app/__init__.py": {"text": "def handler(event, context):\n    return 0\n"}}))),
    "a second environment for jobs on one machine": (
        AWS, both(edit(first.GROUP, "gang", put("ingress", [])), _other_environment)),
    "a handler that another module brings": (
        AWS, edit(FUNCTION, "starter", put("code.assets.index~py.text", "from app import handler\n"))),
    "a function that anybody may call": (
        GOOGLE, edit("gcp:cloudrunv2/serviceIamMember:ServiceIamMember", "starter", put("member", "allUsers"))),
    "a budget of a share": (
        PLAIN, edit("kubernetes:policy/v1:PodDisruptionBudget", "mlflow", put("spec.minAvailable", "50%"))),
    "a dump into a directory of its own": (
        PLAIN, edit(second.CRON, "backup", put(DUMP, "pg_dump -h database -U x mlflow > /tmp/mlflow.sql 2>/dev/null"))),
    "a dump of somebody else's host": (
        PLAIN, edit(second.CRON, "backup", put(DUMP, "pg_dump -h warehouse -U x mlflow > /backup/mlflow.sql"))),
    "a health check of the serving port by its name": (
        AWS, edit("aws:lb/targetGroup:TargetGroup", "mlflow", put("healthCheck.port", "traffic-port"))),
    "targets by address": (
        AWS, both(edit("aws:lb/targetGroup:TargetGroup", "mlflow", put("targetType", "ip")),
                  edit("aws:autoscaling/group:Group", "server", put("targetGroupArns", DROP)))),
    "a record by what stands before its zone": (AWS, edit(RECORD, "mlflow", put("name", "mlflow"))),
    "a record of two labels before its zone": (AWS, edit(RECORD, "mlflow", put("name", "mlflow.eu"))),
    "a name that ends with a dot": (AWS, edit(RECORD, "mlflow", put("name", "mlflow.train.nordlab.example."))),
    "as many vCPUs as the machine has": (
        AWS, edit(DEFINITION, "train", in_json(
            "nodeProperties", put("nodeRangeProperties[0].container.resourceRequirements[1].value", "192")))),
    "a gang by the addresses of its subnet": (
        AWS, edit(first.GROUP, "gang", put("ingress", [
            {"protocol": "tcp", "fromPort": 1024, "toPort": 65535, "cidrBlocks": ["10.60.0.0/16"]}]))),
    "mount targets that another group is let into": (
        AWS, edit(first.GROUP, "nfs", put("ingress", [
            {"protocol": "-1", "fromPort": 0, "toPort": 0, "securityGroups": ["sg-00000000000000000"]}]))),
    "a server whose key's policy lets it": (
        AWS, both(edit(first.POLICY, "mlflow", in_json("policy", first.without("kms:Decrypt", "kms:GenerateDataKey"))),
                  lambda all_: _admitted(all_, "mlflow"))),
    "a plugin that tolerates everything": (
        AWS, edit("kubernetes:helm.sh/v3:Release", "nvidia", put("values.tolerations", [{"operator": "Exists"}]))),
    "machines and a disk in the other zone": (
        AWS, both(refer("aws:ec2/instance:Instance", "bench", "subnetId", "aws:ec2/subnet:Subnet", "inside-1"),
                  edit("aws:ebs/volume:Volume", "bench", put("availabilityZone", "eu-west-1b")))),
    "four cores with two gigabytes": (
        GOOGLE, edit(first.RUN_JOB, "evaluate", put("template.template.containers[0].resources.limits.memory", "2Gi"))),
    "two cores with the usual memory": (
        GOOGLE, edit(first.RUN_JOB, "evaluate", put("template.template.containers[0].resources.limits", {"cpu": "2"}))),
    "an autoscaler over a subscription of somebody else's": (
        GOOGLE, edit(AUTOSCALER, "workers", put("autoscalingPolicy.metrics[0].filter",
                     'resource.type = pubsub_subscription AND resource.label.subscription_id = "orders"'))),
    "a disk by the name of its zone's page": (
        GOOGLE, edit("gcp:compute/disk:Disk", "bench", put("zone", "projects/nordlab-train/zones/us-central1-a"))),
    "the second pod": (
        PLAIN, edit(first.JOB_SET, "finetune", put(TRAIN, "--rdzv-endpoint=finetune-workers-0-1.finetune:29500"))),
    "a host by its whole name": (
        PLAIN, edit(first.JOB_SET, "finetune", put(
            TRAIN, "--rdzv-endpoint=finetune-workers-0-0.finetune.training.svc.cluster.local:29500"))),
    "a subdomain of its own": (
        PLAIN, edit(first.JOB_SET, "finetune", put("spec.network.subdomain", "gang"), put(
            TRAIN, "--rdzv-endpoint=finetune-workers-0-0.gang:29500"))),
    "a claim of a class whose volumes somebody else makes": (
        PLAIN, edit("kubernetes:core/v1:PersistentVolumeClaim", "datasets",
                    put("spec.storageClassName", "nfs-of-others"), put("spec.selector.matchLabels.usage", "data"))),
    "a gang that just fits": (
        PLAIN, edit(first.JOB, "pretrain", put("spec.parallelism", 4), put("spec.completions", 8))),
    "a quota of more than the queue has": (PLAIN, edit(QUOTA, "training", put("spec.hard.requests~cpu", "1000"))),
    "limits that nobody counts in a queue": (PLAIN, edit(QUOTA, "training", put("spec.hard.limits~memory", "12Ti"))),
}  # fmt: skip


def _admitted(resources: Any, role: str) -> list[Any]:
    """With a statement in the key's policy that lets a role use it."""
    (found_,) = (one for one in resources if (one.type, one.name) == ("aws:iam/role:Role", role))
    statement = {
        "Sid": "Server",
        "Effect": "Allow",
        "Principal": {"AWS": found_.outputs["arn"]},
        "Action": ["kms:Decrypt", "kms:GenerateDataKey"],
        "Resource": "*",
    }
    return edit("aws:kms/key:Key", "lab", in_json("policy", lambda d: d["Statement"].append(statement)))(resources)


@pytest.mark.parametrize("what", SOUND)
def test_what_is_unusual_and_right_is_not_told(what):
    stack, _ = SOUND[what]

    def judged(resources):
        return sorted(set(found(stack, lambda _: list(resources))) - UNCHECKED)

    changes = {which: change for which, (of_stack, change) in SOUND.items() if of_stack == stack}
    assert told_together((__name__, stack), what, foreign_program(stack).known.resources, changes, judged) == []


BESIDE = {
    **third.BESIDE,
    **fourth.BESIDE,
    **fifth.BESIDE,
    "a job that has more nodes than there are vCPUs": (
        AWS, edit(DEFINITION, "train", in_json("nodeProperties", lambda d: (
            d.update(numNodes=4), d["nodeRangeProperties"][0].update(targetNodes="0:3")))), "programs-batch-room"),
    "a job of several nodes on spot": (
        AWS, edit(ENVIRONMENT, "gpus", put("computeResources.type", "SPOT")), "programs-batch-room"),
    "a health check on a port that is shut": (
        AWS, edit("aws:lb/targetGroup:TargetGroup", "mlflow", put("healthCheck.port", "9000")), "paths-call-closed"),
    "a database on a port that is shut": (
        AWS, edit("aws:rds/instance:Instance", "mlflow", put("port", 5433)), "paths-store-closed"),
    "a role that may read and not decrypt": (
        AWS, edit(first.POLICY, "work", in_json("policy", first.without("kms:Decrypt"))), "rights-key"),
    "a database in a zone without a subnet": (
        AWS, edit("aws:rds/instance:Instance", "mlflow", put("availabilityZone", "eu-west-1c"), put("multiAz", False)),
        "aws-zone"),
    "a machine that names another zone than its subnet's": (
        AWS, edit("aws:ec2/instance:Instance", "bench", put("availabilityZone", "eu-west-1b")), "aws-zone"),
    "files of one zone, mounted in another": (
        AWS, edit("aws:efs/fileSystem:FileSystem", "home", put("availabilityZoneName", "eu-west-1a")), "aws-zone"),
    "machines that may be nodes": (
        AWS, both(edit(TEMPLATE, "server", put("userData", JOIN)), next(one.change for one in first.SILENT
                  if one.name == "plugin-away")), ""),
    "a function that its file does not have": (
        AWS, edit(FUNCTION, "starter", put("handler", "index.handle_event")), "programs-handler"),
    "an entry point that the file does not have": (
        GOOGLE, edit("gcp:cloudfunctionsv2/function:Function", "starter", put("buildConfig.entryPoint", "begin")),
        "programs-handler"),
    "a bucket that may not publish": (
        GOOGLE, drop("gcp:projects/iAMMember:IAMMember", "storage-publishes"), "rights-delivery"),
    "a disk of another zone": (
        GOOGLE, edit("gcp:compute/disk:Disk", "bench", put("zone", "us-central1-b")), "gcp-region"),
    "four cores with the usual memory": (
        GOOGLE, edit(first.RUN_JOB, "evaluate", put("template.template.containers[0].resources.limits", {"cpu": "4"})),
        "gcp-run"),
    "the name of a topic for a subscription": (
        GOOGLE, edit(AUTOSCALER, "workers", put("autoscalingPolicy.metrics[0].filter",
                     'resource.type="pubsub_subscription" AND resource.labels.subscription_id="training-finished"')),
        "programs-filter"),
    "a host below another subdomain": (
        PLAIN, edit(first.JOB_SET, "finetune", put(TRAIN, "--rdzv-endpoint=finetune-workers-0-0.training:29500")),
        "programs-host"),
    "a quota of less than the queue has": (
        PLAIN, edit(QUOTA, "training", put("spec.hard.requests~nvidia~com/gpu", "16")), "kueue-namespace-quota"),
}  # fmt: skip


@pytest.mark.parametrize("what", BESIDE)
def test_what_is_wrong_beside_it_is_told(what):
    stack, change, rule = BESIDE[what]
    if rule:
        assert rule in found(stack, change, rule)
    else:
        assert set(found(stack, change)) - UNCHECKED == set()
