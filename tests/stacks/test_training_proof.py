"""The proof of managed training: a command of `pulumi up`, sent after all that a job needs, and judged before it is."""

from __future__ import annotations

import json
import os
import subprocess

import pytest

from tests.conftest import MANAGED
from tests.shared import ROOT
from tests.stacks.test_order import Order
from trainyard.plan.resolve import resolve_stack
from trainyard.rehearsal.rehearse import rehearse

COMMAND = "command:local:Command"


def commands(rehearsed):
    return [resource for resource in rehearsed.resources if resource.type == COMMAND]


@pytest.fixture(params=MANAGED)
def stack(request, rehearsed):
    return request.param, rehearsed(request.param)


def test_it_is_the_planned_job_in_the_stack_s_own_place(stack):
    name, found = stack
    (command,) = commands(found)
    planned = resolve_stack(ROOT, name).plan.ground.managed.smoke
    request = json.loads(command.inputs["triggers"][0])
    assert request["ResourceConfig"]["InstanceType"] == planned.instance_type
    assert request["AlgorithmSpecification"]["TrainingImage"] == planned.image
    assert request["RoleArn"] == found.outputs["jobRole"]
    assert request["VpcConfig"]["Subnets"] == list(found.outputs["trainingSubnets"])
    assert request["OutputDataConfig"]["KmsKeyId"] == found.outputs["outputKey"]


def test_it_waits_for_all_that_a_job_needs(stack):
    _, found = stack
    order = Order(found.resources)
    (command,) = commands(found)
    before = {order.by_urn[urn].name for urn in order.before(command.urn) if urn in order.by_urn}
    needed = {"managed-jobs", "managed-jobs-tracking", "training"}
    assert needed <= before, needed - before
    kinds = {order.by_urn[urn].type for urn in order.before(command.urn) if urn in order.by_urn}
    assert {"aws:kms/key:Key", "aws:s3/bucket:Bucket", "aws:ec2/vpcEndpoint:VpcEndpoint"} <= kinds


def test_it_runs_again_for_what_it_is_made_of(rehearsed):
    """Another image or level is another request; the command itself is the same words for everybody."""
    (was,) = commands(rehearsed("small-aws"))
    other = {"smoke.level": "standard"}
    (now,) = commands(rehearse(ROOT, "small-aws", config_overrides={"smoke": {"level": other["smoke.level"]}}))
    assert now.inputs["triggers"] != was.inputs["triggers"] and now.inputs["create"] == was.inputs["create"]


def test_where_it_is_turned_off_there_is_none():
    found = rehearse(ROOT, "small-aws", config_overrides={"smoke": {"enabled": False}})
    assert commands(found) == []


def run(command, folder, path):
    environment = {"PATH": path, **command.inputs["environment"]}
    return subprocess.run(["/bin/sh", "-c", command.inputs["create"]], cwd=folder, env=environment, text=True,
                          capture_output=True, check=False)  # fmt: skip


def test_a_shell_finds_trainyard_beside_the_program_and_hands_the_values_on(rehearsed, tmp_path):
    (command,) = commands(rehearsed("small-aws"))
    folder = tmp_path / "a project" / "stacks"
    program = folder.parent / ".venv" / "bin" / "trainyard"
    program.parent.mkdir(parents=True)
    folder.mkdir()
    program.write_text('#!/bin/sh\nfor word in "$@"; do echo "$word"; done\nexit 10\n')
    program.chmod(0o755)
    done = run(command, folder, os.environ["PATH"])
    assert done.returncode == 10, "a failed check fails the command, and so `pulumi up`"
    words = done.stdout.splitlines()
    values = command.inputs["environment"]
    assert words[:4] == ["smoke", "small-aws", "--target", "sagemaker"]
    assert words[words.index("--role-arn") + 1] == values["SMOKE_ROLE_ARN"]
    assert [words[at + 1] for at, word in enumerate(words) if word == "--subnet"] == [
        values[f"SMOKE_SUBNET_{zone}"] for zone in range(3)
    ]


def test_without_trainyard_the_command_says_what_to_do(rehearsed, tmp_path):
    (command,) = commands(rehearsed("small-aws"))
    done = run(command, tmp_path, "/usr/bin:/bin")
    assert done.returncode == 2 and "activate the environment" in done.stderr
