"""Every mistake in managed training on Google Cloud is told by its rule; nothing only unusual is accused."""

from __future__ import annotations

import json

import pytest

from tests.rehearsal.works.mistakes import DROP, both, edit, put
from tests.rehearsal.works.mistakes_managed_gcp import (
    ACTS,
    CLOSED,
    COMMAND,
    MACHINE,
    MISTAKES,
    NO_INTERNET,
    OVERRIDE,
    POOL,
    STORE,
    job,
    make,
    member,
    nat,
    template,
    without,
)
from trainyard.recorded.types import GCP_BUCKET
from trainyard.rehearsal.context import Stack, ValueContext
from trainyard.rehearsal.works.managed.check import check
from trainyard.rehearsal.works.rights.gcp.check import check as check_rights

UNUSUAL = {
    "Google's own idle time": template("idleShutdownConfig", DROP),
    "ten minutes": template("idleShutdownConfig.idleTimeout", "600s"),
    "an editor with a GPU": template("machineSpec", {"machineType": "n1-standard-4", "acceleratorCount": 1,
                                                     "acceleratorType": "NVIDIA_TESLA_T4"}),
    "a machine that nobody knows": template("machineSpec.machineType", "z9-standard-4"),
    "private, with a NAT": both(NO_INTERNET, nat("all")),
    "private in a network of others": both(NO_INTERNET, template("networkSpec.subnetwork", "projects/p/x")),
    "a quota lowered and not to nothing": both(edit(OVERRIDE, CLOSED, put("overrideValue", "8")),
                                               edit(OVERRIDE, CLOSED, put("force", DROP))),
    "a robot acts as everybody": member("serviceAccount:ci@p.iam.gserviceaccount.com", "roles/editor"),
    "people look": member("group:research@hooli.example", "roles/viewer"),
    "people act as an account by a role of their own": both(
        without(ACTS, "managed-research@hooli.example"),
        make(ACTS, "own", {"serviceAccountId": "a", "role": "projects/p/roles/runs", "member": "user:a@b.example"})),
    "people act as every account": both(
        without(ACTS, "managed-research@hooli.example"),
        make(ACTS, "all", {"serviceAccountId": "a", "role": "roles/iam.serviceAccountUser",
                           "member": "group:all@b.example"})),
    "a store for pipelines beside": make(STORE, "pipelines", {"name": "pipelines", "region": "us-central1"}),
    "a package in place of a container": job({f"{POOL}.containerSpec": DROP, f"{POOL}.pythonPackageSpec": {
        "executorImageUri": "us-docker.pkg.dev/vertex-ai/training/pytorch-gpu:1", "packageUris": ["gs://b/p.tar.gz"],
        "pythonModule": "train"}}),
    "numbers as text": job({f"{MACHINE}.acceleratorCount": 1, f"{POOL}.diskSpec": {"bootDiskSizeGb": "200"}}),
    "a wait for GPUs": job({"jobSpec.scheduling": {"strategy": "FLEX_START", "maxWaitDuration": "86400s"}}),
    "an account of another project": job({"jobSpec.serviceAccount": "t@another.iam.gserviceaccount.com"}),
    "four T4": job({MACHINE: {"machineType": "n1-standard-16", "acceleratorType": "NVIDIA_TESLA_T4",
                              "acceleratorCount": 4}}),
    "a sound job": job({}),
    "a job of Mega": job({MACHINE: {"machineType": "a3-megagpu-8g", "acceleratorType": "NVIDIA_H100_MEGA_80GB",
                                    "acceleratorCount": 8}}),
    "a job without GPUs": job({MACHINE: {"machineType": "n2-standard-8"}}),
    "a job on two machines": job({"jobSpec.workerPoolSpecs[1]": {
        "machineSpec": {"machineType": "n2-standard-8"}, "replicaCount": "3",
        "containerSpec": {"imageUri": "pytorch/pytorch:2.13.0"}}}),
    "images of Google": job({f"{POOL}.containerSpec.imageUri": "us-docker.pkg.dev/vertex-ai/training/pytorch-gpu:1"}),
    "images of Docker Hub in full": job({f"{POOL}.containerSpec.imageUri": "docker.io/pytorch/pytorch:2.13.0"}),
    "a command of somebody's": make(COMMAND, "c", {"create": "true", "triggers": ["{workerPoolSpecs", 3, None]}),
    "a list for a job": make(COMMAND, "c", {"create": "true", "triggers": ['{"jobSpec": {"workerPoolSpecs": 3}}']}),
}  # fmt: skip


def findings(resources):
    stack = Stack(resources, ValueContext("1.35", "us-central1"))
    check(stack)
    return stack.findings


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_a_mistake_is_told(rehearsed, mistake):
    found = findings(mistake.change(rehearsed("small-gcp").resources))
    assert {finding.rule for finding in found} == ({mistake.rule} if mistake.rule else set()), found


@pytest.mark.parametrize("name", UNUSUAL)
def test_what_is_only_unusual_is_left_alone(rehearsed, name):
    assert findings(UNUSUAL[name](rehearsed("small-gcp").resources)) == []


RIGHTS = {
    "the job's right on its output": ("gcp:storage/bucketIAMMember:BucketIAMMember", "managed-jobs-artifacts",
                                      "rights-job"),
    "the agent's right on the key of runs": ("gcp:kms/cryptoKeyIAMMember:CryptoKeyIAMMember",
                                             "hooli-research-tracking-vertex", "rights-key"),
    "the disks' right on the key of editors": ("gcp:kms/cryptoKeyIAMMember:CryptoKeyIAMMember",
                                               "hooli-research-tracking-disks", "rights-key"),
}  # fmt: skip


@pytest.mark.parametrize("name", RIGHTS)
def test_a_right_that_is_missing_is_told(rehearsed, name):
    type_, of, rule = RIGHTS[name]
    resources = rehearsed("small-gcp").resources
    # Who is in a group is not known, so that a group's right may be anybody's.
    people = {item.urn for item in resources if str(item.inputs.get("member", "")).startswith("group:research@")}
    resources = [item for item in resources if item.urn not in people]
    without = [item for item in resources if (item.type, item.name) != (type_, of)]
    assert len(without) == len(resources) - 1, "there is one to take away"

    def told(recorded):
        stack = Stack(recorded, ValueContext("1.35", "us-central1"))
        check_rights(stack, [])
        return [finding.rule for finding in stack.findings]

    assert told(resources) == [] and set(told(without)) == {rule}


def test_the_bucket_of_the_proof_is_one_of_the_stack_s(rehearsed):
    found = rehearsed("small-gcp")
    (command,) = (item for item in found.resources if item.type == COMMAND)
    request = json.loads(command.inputs["triggers"][0])
    names = {bucket.outputs.get("name", bucket.inputs.get("name")) for bucket in found.resources
             if bucket.type == GCP_BUCKET}  # fmt: skip
    assert request["jobSpec"]["baseOutputDirectory"]["outputUriPrefix"].split("/")[2] in names
