"""Every mistake in managed training is told by its rule; no example stack, and nothing only unusual, is accused."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from tests.conftest import EXAMPLES
from tests.rehearsal.works.mistakes import DROP, both, put
from tests.rehearsal.works.mistakes_managed import COMMAND, DISK, IDLE, LAB, MISTAKES, SERVER, domain, job, make, spot
from trainyard.rehearsal.context import Stack, ValueContext
from trainyard.rehearsal.works.managed.check import check

VPC_ONLY = domain("appNetworkAccessType", "VpcOnly")


def looked_up(resources):
    """The network is somebody else's, whose routes the stack does not make."""
    return [replace(each, read=each.type == "aws:ec2/vpc:Vpc") for each in resources]


def findings(resources, region="us-east-1"):
    stack = Stack(resources, ValueContext("1.35", region))
    check(stack)
    return stack.findings


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_a_mistake_is_told(rehearsed, mistake):
    found = findings(mistake.change(rehearsed("small-aws").resources))
    assert (mistake.rule is None) == (not found)
    assert mistake.rule in {None, *(finding.rule for finding in found)}, found


@pytest.mark.parametrize("stack", EXAMPLES)
def test_no_example_stack_is_accused(rehearsed, stack):
    assert findings(rehearsed(stack).resources, rehearsed(stack).plan["ground"]["region"]) == []


UNUSUAL = {
    "no idle settings at all": both(domain(f"{LAB}.appLifecycleManagement", DROP),
                                    domain("defaultUserSettings.codeEditorAppSettings.appLifecycleManagement", DROP)),
    "bounds alone": domain(f"{LAB}.{IDLE}.idleTimeoutInMinutes", DROP),
    "room between the bounds": both(domain(f"{LAB}.{IDLE}.maxIdleTimeoutInMinutes", 600)),
    "four groups": domain("defaultUserSettings.securityGroups", [f"sg-0{n}" for n in range(4)]),
    "as much disk as there may be": domain(f"{DISK}.defaultEbsVolumeSizeInGb", 100),
    "no script": both(domain(f"{LAB}.lifecycleConfigArns", DROP), domain(f"{LAB}.defaultResourceSpec", DROP)),
    "private by endpoints": both(VPC_ONLY, make("aws:ec2/vpcEndpoint:VpcEndpoint", "api", {
        "serviceName": "com.amazonaws.us-east-1.sagemaker.api", "vpcEndpointType": "Interface"})),
    "private in a network that is looked up": both(VPC_ONLY, looked_up),
    "private in a network of others": both(VPC_ONLY, domain("vpcId", "vpc-0123456789")),
    "a job": job(),
    "a job on spot": spot(),
    "spot that waits as long as it runs": spot(put("stoppingCondition.maxWaitTimeInSeconds", 3600)),
    "a key for a volume": job(put("resourceConfig.volumeKmsKeyId", "1-2")),
    "groups of machines alone": job(put("resourceConfig", {"instanceGroups": [
        {"instanceGroupName": "a", "instanceType": "ml.m5.large", "instanceCount": 2}]})),
    "isolated": job(put("enableNetworkIsolation", True)),
    "two machines in groups of others": job(put("resourceConfig.instanceCount", 2),
                                            put("vpcConfig", {"subnets": ["subnet-1"], "securityGroupIds": ["sg-1"]})),
    "a version of two parts": make(SERVER, "s", {"trackingServerName": "s", "mlflowVersion": "3.0",
                                                 "weeklyMaintenanceWindowStart": "Tue:23:30"}),
    "a command of somebody's": make(COMMAND, "c", {"create": "true", "triggers": ["{TrainingJobName", 3, None]}),
}  # fmt: skip


@pytest.mark.parametrize("name", UNUSUAL)
def test_what_is_only_unusual_is_left_alone(rehearsed, name):
    assert findings(UNUSUAL[name](rehearsed("small-aws").resources)) == []


def sent(**changes: Any) -> str:
    """A request as the smoke job's command has it."""
    request = {
        "TrainingJobName": "smoke",
        "RoleArn": "arn:aws:iam::123456789012:role/jobs",
        "AlgorithmSpecification": {"TrainingInputMode": "File"},
        "OutputDataConfig": {"S3OutputPath": "s3://somebody-elses/out"},
        "ResourceConfig": {"InstanceType": "ml.m5.xlarge", "InstanceCount": 1, "VolumeSizeInGB": 50},
        "StoppingCondition": {"MaxRuntimeInSeconds": 3600},
        **changes,
    }
    return json.dumps(request)


REQUESTS = {
    "sound": ({}, ""),
    "a type that SageMaker has not": ({"ResourceConfig": {"InstanceType": "ml.g5.3xlarge", "InstanceCount": 1,
                                                          "VolumeSizeInGB": 50}}, "ml.g5.3xlarge"),
    "a key of local disks": ({"ResourceConfig": {"InstanceType": "ml.g5.xlarge", "InstanceCount": 1,
                                                 "VolumeSizeInGB": 50, "VolumeKmsKeyId": "1"}}, "local disks"),
    "a run of a month and a half": ({"StoppingCondition": {"MaxRuntimeInSeconds": 0}}, "maxRuntimeInSeconds"),
    "a name with a dot": ({"TrainingJobName": "smoke.job"}, "trainingJobName"),
    "waits on demand": ({"StoppingCondition": {"MaxRuntimeInSeconds": 60, "MaxWaitTimeInSeconds": 90}}, "is for spot"),
}  # fmt: skip


@pytest.mark.parametrize("name", REQUESTS)
def test_the_request_that_a_command_sends_is_judged_as_a_job_is(rehearsed, name):
    changes, told = REQUESTS[name]
    command = make(COMMAND, "smoke", {"create": "trainyard smoke", "triggers": [sent(**changes)]})
    found = findings(command(rehearsed("small-aws").resources))
    assert bool(found) == bool(told)
    assert all(each.path == "triggers[0]" for each in found)
    assert any(told in each.message for each in found) or not told, found
