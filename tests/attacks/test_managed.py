"""Managed training attacked by its own people and by a training job: what they may start, and what is not theirs.

Every attack is refused by the evaluator of IAM over the recorded stack; every use that a team is there for is allowed.
"""

import json
import re
import subprocess

import boto3
import botocore.session
import pytest
from botocore.stub import Stubber

from tests.attacks.verdicts import allows, refuses
from tests.conftest import MANAGED
from tests.shared import ROOT
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import ROLE
from trainyard.rehearsal.works.rights.aws.callers import principal
from trainyard.rehearsal.works.rights.aws.recorded_policies import arn_of
from trainyard.rehearsal.works.rights.stack import Rights

SERVICE = {"iam:PassedToService": "sagemaker.amazonaws.com"}


class Stack:
    """A recorded stack with its people, its jobs, and what a job's request says of itself."""

    def __init__(self, rehearsed):
        self.rights = Rights(Resources(rehearsed.resources))
        self.outputs = rehearsed.outputs
        self.roles = [arn_of(role) for role in Resources(rehearsed.resources).of(ROLE)]
        self.people, self.jobs = self.outputs["peopleRole"], self.outputs["jobRole"]
        self.region, self.account = self.outputs["outputKey"].split(":")[3:5]
        self.domain = self.outputs["studioDomain"]
        self.project = dict(rehearsed.plan["core"]["tags"])["project"]
        self.request = {
            "sagemaker:InstanceTypes": self.outputs["trainingTypes"][:1],
            "sagemaker:VpcSubnets": self.outputs["trainingSubnets"][:1],
            "sagemaker:VpcSecurityGroupIds": [self.outputs["trainingSecurityGroup"]],
            "sagemaker:MaxRuntimeInSeconds": str(self.outputs["maxRuntimeHours"] * 3600),
            "sagemaker:OutputKmsKey": self.outputs["outputKey"],
            "aws:RequestTag/project": self.project,
        }

    def arn(self, resource):
        return f"arn:aws:sagemaker:{self.region}:{self.account}:{resource}"

    def bucket(self, tier):
        return f"arn:aws:s3:::{self.outputs[f'{tier}Bucket']}"

    def editor(self, person, owner=None):
        """What SageMaker says of the session of a person's editor, and of whose space it asks about."""
        owner = owner or person
        return {
            "sagemaker:DomainId": self.domain,
            "sagemaker:UserProfileName": person,
            "sagemaker:OwnerUserProfileArn": self.arn(f"user-profile/{self.domain}/{owner}"),
        }

    def people_may(self, action, resource, said=None):
        return self.rights.may(principal(self.people), action, resource, said or {})

    def jobs_may(self, action, resource, said=None):
        return self.rights.aws.may(principal(self.jobs), action, resource, said or {}, from_network=True)


@pytest.fixture(scope="module", params=MANAGED)
def stack(request, rehearsed):
    return Stack(rehearsed(request.param))


def test_people_send_a_job_below_every_ceiling_and_follow_it(stack):
    job = stack.arn("training-job/nightly")
    allows(stack.people_may("sagemaker:CreateTrainingJob", job, stack.request))
    for type_ in stack.outputs["trainingTypes"]:
        request = {**stack.request, "sagemaker:InstanceTypes": [type_]}
        allows(stack.people_may("sagemaker:CreateTrainingJob", job, request))
    sent = {"sagemaker:TaggingAction": "CreateTrainingJob", "aws:RequestTag/project": stack.project}
    allows(stack.people_may("sagemaker:AddTags", job, sent))
    allows(stack.people_may("iam:PassRole", stack.jobs, SERVICE))
    for action in ("DescribeTrainingJob", "StopTrainingJob"):
        allows(stack.people_may(f"sagemaker:{action}", job, {"aws:ResourceTag/project": stack.project}))


ABOVE = {
    "a larger machine": {"sagemaker:InstanceTypes": ["ml.p5.48xlarge"]},
    "one machine allowed and one not": {"sagemaker:InstanceTypes": ["ml.g4dn.xlarge", "ml.p5.48xlarge"]},
    "no machine named": {"sagemaker:InstanceTypes": None},
    "in no network": {"sagemaker:VpcSubnets": None, "sagemaker:VpcSecurityGroupIds": None},
    "in another network": {"sagemaker:VpcSubnets": ["subnet-0f0f0f0f"]},
    "in another's group": {"sagemaker:VpcSecurityGroupIds": ["sg-0f0f0f0f"]},
    "for a month": {"sagemaker:MaxRuntimeInSeconds": "2592000"},
    "without a limit": {"sagemaker:MaxRuntimeInSeconds": None},
    "its output under no key": {"sagemaker:OutputKmsKey": None},
    "its output under another key": {"sagemaker:OutputKmsKey": "arn:aws:kms:us-east-1:999999999999:key/theirs"},
    "on nobody's bill": {"aws:RequestTag/project": None},
    "on another's bill": {"aws:RequestTag/project": "somebody-else"},
}


@pytest.mark.parametrize("what", ABOVE)
@pytest.mark.parametrize("kind", ["TrainingJob", "HyperParameterTuningJob"])
def test_nothing_is_started_above_a_ceiling(stack, what, kind):
    request = {key: value for key, value in {**stack.request, **ABOVE[what]}.items() if value is not None}
    refuses(stack.people_may(f"sagemaker:Create{kind}", stack.arn("training-job/large"), request))


@pytest.mark.parametrize(
    "action",
    ["CreateEndpoint", "CreateNotebookInstance", "CreateProcessingJob", "CreateTrainingPlan", "CreateTransformJob",
     "CreateCluster", "CreateMlflowTrackingServer", "CreateDomain", "CreateUserProfile", "UpdateDomain"],
)  # fmt: skip
def test_nothing_else_that_is_paid_for_is_started(stack, action):
    refuses(stack.people_may(f"sagemaker:{action}", stack.arn("*"), stack.request))


def test_roles_are_lent_to_jobs_alone_and_only_the_jobs_own(stack):
    for role in set(stack.roles) - {stack.jobs}:
        refuses(stack.people_may("iam:PassRole", role, SERVICE))
    refuses(stack.people_may("iam:PassRole", stack.jobs, {"iam:PassedToService": "lambda.amazonaws.com"}))
    for action in ("iam:AttachRolePolicy", "iam:PutRolePolicy", "iam:UpdateAssumeRolePolicy"):
        refuses(stack.people_may(action, stack.people))


def test_a_person_keeps_editors_of_their_own(stack):
    own = stack.editor("ann")
    space, app = stack.arn(f"space/{stack.domain}/lab"), stack.arn(f"app/{stack.domain}/ann/JupyterLab/default")
    types = {"sagemaker:InstanceTypes": ["system"]}
    for action in ("CreateSpace", "UpdateSpace", "DeleteSpace"):
        allows(stack.people_may(f"sagemaker:{action}", space, own))
    allows(stack.people_may("sagemaker:CreateApp", app, {**own, **types}))
    allows(stack.people_may("sagemaker:DeleteApp", app, own))
    home = {"sagemaker:DomainId": stack.domain, "sagemaker:UserProfileName": "ann", **types}
    allows(stack.people_may("sagemaker:CreateApp", app, home))
    refuses(stack.people_may("sagemaker:CreateApp", app, {**home, "sagemaker:InstanceTypes": ["ml.t3.medium"]}))
    allows(stack.people_may("sagemaker:AddTags", space, {**own, "sagemaker:TaggingAction": "CreateSpace"}))
    profile = stack.arn(f"user-profile/{stack.domain}/ann")
    allows(stack.people_may("sagemaker:CreatePresignedDomainUrl", profile))


def test_no_colleague_s_editor_is_touched(stack):
    theirs = stack.editor("ann", owner="bob")
    for action, resource in (
        ("CreateSpace", "space/{}/bobs"),
        ("UpdateSpace", "space/{}/bobs"),
        ("DeleteSpace", "space/{}/bobs"),
        ("DeleteApp", "app/{}/bob/JupyterLab/default"),
        ("CreateApp", "app/{}/bob/JupyterLab/default"),
    ):
        said = {**theirs, "sagemaker:InstanceTypes": ["system"]}
        refuses(stack.people_may(f"sagemaker:{action}", stack.arn(resource.format(stack.domain)), said))
        refuses(stack.people_may(f"sagemaker:{action}", stack.arn(resource.format(stack.domain))))  # a laptop


def test_no_editor_is_larger_than_the_ceiling(stack):
    app = stack.arn(f"app/{stack.domain}/ann/JupyterLab/default")
    for types in (["ml.p4d.24xlarge"], ["system", "ml.p4d.24xlarge"]):
        said = {**stack.editor("ann"), "sagemaker:InstanceTypes": types}
        refuses(stack.people_may("sagemaker:CreateApp", app, said))
    refuses(stack.people_may("sagemaker:CreateApp", app, stack.editor("ann")))


def test_another_environment_of_the_account_is_not_touched(stack):
    said = {**stack.editor("ann"), "sagemaker:InstanceTypes": ["system"]}
    for action, resource in (
        ("DeleteSpace", "space/d-another/bobs"),
        ("DeleteApp", "app/d-another/bob/JupyterLab/default"),
        ("CreateApp", "app/d-another/bob/JupyterLab/default"),
        ("CreatePresignedDomainUrl", "user-profile/d-another/bob"),
    ):
        refuses(stack.people_may(f"sagemaker:{action}", stack.arn(resource), said))
    for tags in ({}, {"aws:ResourceTag/project": "somebody-else"}):
        refuses(stack.people_may("sagemaker:StopTrainingJob", stack.arn("training-job/theirs"), tags))


def test_nobody_deletes_or_rewrites_the_data(stack):
    data = f"{stack.bucket('data')}/train/0001"
    for action in ("PutObject", "DeleteObject", "DeleteObjectVersion", "PutObjectAcl", "BypassGovernanceRetention"):
        refuses(stack.people_may(f"s3:{action}", data))
        refuses(stack.jobs_may(f"s3:{action}", data))
    for tier in ("data", "checkpoints", "artifacts"):
        for action in ("s3:DeleteBucket", "s3:PutBucketPolicy", "s3:PutLifecycleConfiguration"):
            refuses(stack.people_may(action, stack.bucket(tier)))


def test_a_job_reads_the_data_and_writes_its_results(stack):
    allows(stack.jobs_may("s3:GetObject", f"{stack.bucket('data')}/train/0001"))
    for tier in ("checkpoints", "artifacts"):
        allows(stack.jobs_may("s3:PutObject", f"{stack.bucket(tier)}/run/step-100"))
    through_s3 = {
        "kms:ViaService": f"s3.{stack.region}.amazonaws.com",
        "kms:EncryptionContext:aws:s3:arn": stack.bucket("artifacts"),
    }
    for action in ("kms:Encrypt", "kms:GenerateDataKey", "kms:Decrypt"):
        allows(stack.jobs_may(action, stack.outputs["outputKey"], through_s3))
    refuses(stack.jobs_may("kms:Decrypt", stack.outputs["outputKey"]))


def test_a_job_starts_nothing_and_pulls_from_aws_and_the_account_alone(stack):
    for action in ("CreateTrainingJob", "CreateApp", "CreatePresignedDomainUrl"):
        refuses(stack.jobs_may(f"sagemaker:{action}", stack.arn("*"), stack.request))
    refuses(stack.jobs_may("iam:PassRole", stack.jobs, SERVICE))
    pull = "ecr:BatchGetImage"
    allows(stack.jobs_may(pull, f"arn:aws:ecr:{stack.region}:{stack.account}:repository/ours"))
    refuses(stack.jobs_may(pull, f"arn:aws:ecr:{stack.region}:999999999999:repository/theirs"))


def test_a_job_from_a_laptop_is_what_the_service_takes_and_the_role_allows(rehearsed, monkeypatch):
    """The example of docs/how-to/train-without-a-cluster.md, run against Amazon's own model and the recorded role."""
    guide = (ROOT / "docs" / "how-to" / "train-without-a-cluster.md").read_text(encoding="utf-8")
    code, *_ = re.findall(r"```python\n(.*?)```", guide, re.DOTALL)
    stack, sent = Stack(rehearsed("small-aws")), {}
    outputs = json.dumps(dict(rehearsed("small-aws").outputs))
    client = botocore.session.Session().create_client(
        "sagemaker", region_name=stack.region, aws_access_key_id="x", aws_secret_access_key="x"
    )
    with Stubber(client) as service:
        service.add_response("create_training_job", {"TrainingJobArn": stack.arn("training-job/vision")})
        client.meta.events.register("before-parameter-build.sagemaker", lambda params, **_: sent.update(params))
        monkeypatch.setattr(boto3, "client", lambda *_, **__: client)
        monkeypatch.setattr(subprocess, "check_output", lambda *_, **__: outputs)
        exec(
            compile(code, "guide", "exec"),
            {"IMAGE": f"{stack.account}.dkr.ecr.us-east-1.amazonaws.com/t:1", "ENTRYPOINT": ["python3"]},
        )
    request = {
        "sagemaker:InstanceTypes": [sent["ResourceConfig"]["InstanceType"]],
        "sagemaker:VpcSubnets": sent["VpcConfig"]["Subnets"],
        "sagemaker:VpcSecurityGroupIds": sent["VpcConfig"]["SecurityGroupIds"],
        "sagemaker:MaxRuntimeInSeconds": str(sent["StoppingCondition"]["MaxRuntimeInSeconds"]),
        "sagemaker:OutputKmsKey": sent["OutputDataConfig"]["KmsKeyId"],
        **{f"aws:RequestTag/{tag['Key']}": tag["Value"] for tag in sent["Tags"]},
    }
    allows(stack.people_may("sagemaker:CreateTrainingJob", stack.arn("training-job/vision"), request))
