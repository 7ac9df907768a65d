"""Whole programs of somebody else's, rehearsed as they are: a correct one has no finding, a mistake in it has one."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from tests.rehearsal.works.mistakes import edit, in_json, put
from tests.remembered import of_session
from trainyard.recorded.model import RecordedResource
from trainyard.rehearsal.context import ValueContext
from trainyard.rehearsal.engine.recorder import Recording
from trainyard.rehearsal.refusals.check import check_values
from trainyard.rehearsal.rehearse import Rehearsal, rehearse
from trainyard.rehearsal.works.check import check_works

PROJECT = Path(__file__).parents[1] / "projects" / "foreign"
STACKS = (
    "web", "gpu", "data", "keeping", "pipeline", "serving", "workshop", "on_google",
    "training_aws", "training_google", "training_plain",
    "speech_aws", "vision_google",
    "ranking_aws", "folding_aws",
    "folding_google", "language_google",
    "tracking_aws", "genomes_aws", "edge_aws", "karpenter_aws",
)  # fmt: skip
UNCHECKED = {"helm-unchecked", "k8s-unchecked", "manifests-unchecked", "stack-unchecked"}
"""That a chart, a kind or another stack's outputs are not known here is no finding about the program."""
CONTEXT = ValueContext(kubernetes_version="1.34", region="eu-west-1")


def foreign_program(stack: str) -> Rehearsal:
    """The rehearsal of one of the programs, once a session."""
    return of_session().kept(f"{PROJECT} {stack}", partial(_rehearsed, stack))


def _rehearsed(stack: str) -> Rehearsal:
    """A rehearsal without the classes of its program, which is imported by no other process."""
    run = rehearse(PROJECT, stack)
    assert run.preview is not None and run.known is not None
    preview, known = (Recording(each.preview, each.resources) for each in (run.preview, run.known))
    return replace(run, preview=preview, known=known)


@pytest.fixture
def foreign():
    return foreign_program


def of(resources: list[RecordedResource], type_: str, name: str) -> RecordedResource:
    return next(each for each in resources if (each.type, each.name) == (type_, name))


def rules(resources: list[RecordedResource]) -> set[str]:
    found = [*check_values(resources, CONTEXT), *check_works(resources, CONTEXT)]
    return {finding.rule for finding in found} - UNCHECKED


@pytest.mark.parametrize("stack", STACKS)
def test_a_correct_program_of_somebody_elses_has_no_finding(foreign, stack):
    found = foreign(stack)
    assert len(found.resources) > 40
    assert [str(finding) for finding in found.findings if finding.rule not in UNCHECKED] == []


BALANCER, MOUNT = "aws:lb/loadBalancer:LoadBalancer", "aws:efs/mountTarget:MountTarget"
DEPLOYMENT, SERVICE = "kubernetes:apps/v1:Deployment", "kubernetes:core/v1:Service"
QUEUE_POLICY = "aws:sqs/queuePolicy:QueuePolicy"


@pytest.mark.parametrize(
    ("stack", "change", "rule"),
    [
        ("web", edit(SERVICE, "front", put("spec.selector", {"app": "frnt"})), "reference-service-selects-nothing"),
        ("gpu", edit(DEPLOYMENT, "serve", put("spec.template.spec.nodeSelector", {"accelerator": "a10"})),
         "placement-no-node"),
        ("data", edit("aws:rds/parameterGroup:ParameterGroup", "database", put("family", "postgres15")),
         "rds-family"),
    ],
)  # fmt: skip
def test_a_mistake_in_it_has_one(foreign, stack, change, rule):
    assert rule in rules(change(foreign(stack).known.resources))


SUBNETS, ROLE_POLICY = "aws:rds/subnetGroup:SubnetGroup", "aws:iam/rolePolicy:RolePolicy"


@pytest.mark.parametrize(
    ("stack", "change", "rule"),
    [
        ("tracking_aws", edit(SUBNETS, "mlflow-subnets", put("subnetIds[0]", "vpc-0123456789abcdef0")), "aws-id"),
        ("tracking_aws", edit(BALANCER, "mlflow", lambda inputs: inputs["subnets"].__delitem__(slice(1, None))),
         "lb-zones"),
        ("genomes_aws", lambda resources: edit(MOUNT, "reference-b", put("subnetId", of(resources, MOUNT, "reference-a")
         .inputs["subnetId"]))(resources), "efs-mount-target"),
        ("karpenter_aws", edit(ROLE_POLICY, "vpc-cni", in_json("policy", lambda document: document["Statement"][0]
         .update(Action=["ec2:DescribeInstances"]))), "rights-program-lacks"),
        ("edge_aws", edit("aws:s3/bucketReplicationConfig:BucketReplicationConfig", "models", put(
            "rules[0].destination.encryptionConfiguration.replicaKmsKeyId", "arn:aws:s3:::models")), "aws-arn-kind"),
    ],
)  # fmt: skip
def test_a_mistake_in_what_is_looked_up_or_given_as_it_is_has_one(foreign, stack, change, rule):
    assert rule in rules(change(list(foreign(stack).known.resources)))


def test_a_queue_that_admits_nobody_is_told_whichever_account_it_is(foreign):
    resources = foreign("data").known.resources
    (policy,) = (found for found in resources if found.type == QUEUE_POLICY)
    assert "111122223333" in policy.inputs["policy"]
    for old, new, refused in (
        ("sqs:SendMessage", "sqs:ReceiveMessage", True),
        ("111122223333", "123456789012", False),
    ):
        text = policy.inputs["policy"].replace(old, new)
        told = rules(edit(QUEUE_POLICY, policy.name, put("policy", text))(resources))
        assert ("rights-delivery" in told) == refused
