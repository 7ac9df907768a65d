"""The smoke job of a stack without a cluster on Google Cloud: in its own place, as Pulumi tells it."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from tests.cli.test_smoke_managed import desk, rendered
from tests.cli.test_way_in import out
from tests.shared import ROOT
from trainyard.cli.main import app
from trainyard.plan.resolve import resolve_stack

__all__ = ["desk"]  # the fixture

KEY = "projects/hooli-research/locations/us-central1/keyRings/ring/cryptoKeys/tracking"
OUTPUTS = {
    "jobAccount": "hooli-research-jobs@hooli-research.iam.gserviceaccount.com",
    "artifactsBucket": "hooli-research-artifacts",
    "outputKey": KEY,
}


def smoke(*arguments: str):
    return rendered("small-gcp", "vertex", *arguments)


def test_the_job_runs_as_the_stack_says(desk):
    desk.put("pulumi", stack_output=out(OUTPUTS))
    done = smoke()
    assert done.exit_code == 0, done.output
    request = json.loads(done.stdout)
    job, planned = request["jobSpec"], resolve_stack(ROOT, "small-gcp").plan.ground.managed.smoke
    (pool,) = job["workerPoolSpecs"]
    assert job["serviceAccount"] == OUTPUTS["jobAccount"] and request["encryptionSpec"] == {"kmsKeyName": KEY}
    assert job["baseOutputDirectory"]["outputUriPrefix"].startswith("gs://hooli-research-artifacts/smoke/")
    assert f"{pool['machineSpec']['machineType']}+t4" == planned.machine_type
    assert pool["machineSpec"]["acceleratorType"] == "NVIDIA_TESLA_T4"
    assert pool["containerSpec"]["imageUri"] == planned.image
    assert job["scheduling"]["strategy"] == "STANDARD", "a quota of spot is another one"
    assert job["scheduling"]["timeout"] == f"{planned.max_runtime_minutes * 60}s"
    assert request["labels"]["project"] == "hooli-research" and request["labels"]["owner"] == "ml_hooli_example"
    assert desk.asked == [["pulumi", "stack", "output", "--json", "--stack", "small-gcp"]]


def test_what_the_command_line_says_wins_and_then_nobody_is_asked(desk):
    done = smoke("--service-account", "a@b", "--bucket", "gs://b", "--kms-key", "k", "--spot", "--tag", "team=vision")
    assert done.exit_code == 0, done.output
    request = json.loads(done.stdout)
    assert request["jobSpec"]["serviceAccount"] == "a@b" and request["labels"]["team"] == "vision"
    assert request["jobSpec"]["scheduling"]["strategy"] == "SPOT"
    assert desk.asked == []


def test_what_is_missing_is_named_with_what_to_do(desk):
    done = smoke()
    assert done.exit_code == 2 and "`pulumi` is not on the path" in done.output and "--service-account" in done.output
    desk.put("pulumi", stack_output=out({"artifactsBucket": OUTPUTS["artifactsBucket"]}))
    done = smoke()
    assert done.exit_code == 2 and "jobAccount, outputKey" in done.output and "`pulumi up` first" in done.output


@pytest.mark.parametrize("target", ["kubernetes", "trainjob", "slurm", "sagemaker"])
def test_another_target_is_refused(target):
    done = CliRunner().invoke(app, ["smoke", "small-gcp", "--target", target, "--render", "--project", str(ROOT)])
    assert done.exit_code == 2 and "run on Vertex AI: --target vertex" in done.output
