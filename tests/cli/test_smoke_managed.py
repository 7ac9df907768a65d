"""The smoke job of a stack without a cluster: below its ceilings, in its own place, as Pulumi tells it."""

from __future__ import annotations

import json

import botocore.session
import pytest
from botocore.stub import ANY, Stubber
from typer.testing import CliRunner

from tests.cli.test_way_in import Desk, out
from tests.shared import ROOT
from tests.smoke_jobs.launch.support import RecordedView
from trainyard.cli.main import app
from trainyard.plan.aws.training import training_smoke
from trainyard.plan.resolve import resolve_stack
from trainyard.smoke_jobs.launch import sagemaker
from trainyard.smoke_jobs.launch.job import LaunchError

KEY = "arn:aws:kms:us-east-1:123456789012:key/0"
OUTPUTS = {
    "jobRole": "arn:aws:iam::123456789012:role/managed-jobs",
    "artifactsBucket": "initech-research-artifacts",
    "trainingSubnets": ["subnet-1", "subnet-2"],
    "trainingSecurityGroup": "sg-1",
    "outputKey": KEY,
}


@pytest.fixture
def desk(tmp_path, monkeypatch):
    made = Desk(tmp_path)
    monkeypatch.setenv("PATH", str(made.bin))
    return made


def rendered(stack: str, target: str, *arguments: str):
    """What `trainyard smoke` would send for a stack."""
    command = ["smoke", stack, "--target", target, "--render", "--project", str(ROOT), *arguments]
    return CliRunner().invoke(app, command)


def smoke(*arguments: str):
    return rendered("small-aws", "sagemaker", *arguments)


def test_the_job_runs_where_the_stack_says_below_its_ceilings(desk):
    desk.put("pulumi", stack_output=out(OUTPUTS))
    done = smoke()
    assert done.exit_code == 0, done.output
    request = json.loads(done.stdout)
    assert request["RoleArn"] == OUTPUTS["jobRole"]
    assert request["OutputDataConfig"] == {"S3OutputPath": "s3://initech-research-artifacts/smoke", "KmsKeyId": KEY}
    assert request["VpcConfig"] == {"Subnets": ["subnet-1", "subnet-2"], "SecurityGroupIds": ["sg-1"]}
    tags = {tag["Key"]: tag["Value"] for tag in request["Tags"]}
    assert tags["project"] == "initech-research" and tags["managed-by"] == "trainyard"
    planned = resolve_stack(ROOT, "small-aws").plan.ground.managed
    assert request["ResourceConfig"]["InstanceType"] in planned.training_types
    assert request["StoppingCondition"] == {"MaxRuntimeInSeconds": planned.smoke.max_runtime_minutes * 60}
    assert request["EnableManagedSpotTraining"] is False, "a quota of spot is another one"
    assert desk.asked == [["pulumi", "stack", "output", "--json", "--stack", "small-aws"]]


def test_what_the_command_line_says_wins_and_then_nobody_is_asked(desk):
    done = smoke(
        *("--role-arn", "arn:aws:iam::1:role/x", "--bucket", "s3://b", "--subnet", "s", "--security-group", "g"),
        *("--kms-key", "k", "--spot", "--tag", "team=vision"),
    )
    assert done.exit_code == 0, done.output
    request = json.loads(done.stdout)
    assert request["RoleArn"] == "arn:aws:iam::1:role/x" and request["EnableManagedSpotTraining"] is True
    assert {"Key": "team", "Value": "vision"} in request["Tags"]
    assert desk.asked == []


def test_what_is_missing_is_named_with_what_to_do(desk):
    done = smoke()
    assert done.exit_code == 2 and "`pulumi` is not on the path" in done.output and "--role-arn" in done.output
    desk.put("pulumi", stack_output=out({key: OUTPUTS[key] for key in ("jobRole", "artifactsBucket")}))
    done = smoke()
    assert done.exit_code == 2 and "trainingSubnets" in done.output and "`pulumi up` first" in done.output
    desk.put("pulumi", stack_output={"err": "error: no stack named 'small-aws' found", "rc": 255})
    done = smoke("--role-arn", "arn:aws:iam::1:role/x")
    assert done.exit_code == 2 and "no stack named" in done.output


@pytest.mark.parametrize("target", ["kubernetes", "trainjob", "slurm", "vertex"])
def test_another_target_is_refused(target):
    done = CliRunner().invoke(app, ["smoke", "small-aws", "--target", target, "--render", "--project", str(ROOT)])
    assert done.exit_code == 2 and "--target sagemaker" in done.output


@pytest.mark.parametrize("tag", ["project", "=x"])
def test_a_tag_is_a_key_and_a_value(desk, tag):
    desk.put("pulumi", stack_output=out(OUTPUTS))
    done = smoke("--tag", tag)
    assert done.exit_code == 2 and "KEY=VALUE" in done.output, done.output


def test_a_quota_of_nothing_is_named_with_how_to_raise_it():
    session = botocore.session.Session()
    session.set_credentials("test", "test")
    sm, s3 = (session.create_client(name, region_name="us-east-1") for name in ("sagemaker", "s3"))
    spec = training_smoke(resolve_stack(ROOT, "small-aws").plan)
    settings = sagemaker.SagemakerSettings(
        role_arn="arn:aws:iam::123456789012:role/x", bucket="s3://b/smoke", spot=False
    )
    said = "The account-level service limit 'ml.g4dn.xlarge for training job usage' is 0 Instances"
    with Stubber(s3) as store, Stubber(sm) as service:
        for _ in sagemaker.files(spec, settings, "x"):
            store.add_response("put_object", {}, {"Bucket": "b", "Key": ANY, "Body": ANY})
        service.add_client_error("create_training_job", "ResourceLimitExceeded", said)
        with pytest.raises(LaunchError, match=r"no quota for the job: .*g4dn.xlarge for training job usage.*preflight"):
            sagemaker.run(spec, settings, RecordedView(), (sm, s3))
