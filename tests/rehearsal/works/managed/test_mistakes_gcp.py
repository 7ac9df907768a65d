"""Every mistake in managed training on Google Cloud is told by its rule; nothing only unusual is accused."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from tests.rehearsal.works.mistakes import DROP, both, edit, put
from tests.rehearsal.works.mistakes_managed import make
from trainyard.recorded.types import GCP_BUCKET
from trainyard.rehearsal.context import Stack, ValueContext
from trainyard.rehearsal.works.managed.check import check
from trainyard.rehearsal.works.rights.gcp.check import check as check_rights

TEMPLATE = "gcp:colab/runtimeTemplate:RuntimeTemplate"
OVERRIDE = "gcp:serviceusage/consumerQuotaOverride:ConsumerQuotaOverride"
MEMBER = "gcp:projects/iAMMember:IAMMember"
COMMAND = "command:local:Command"
SUBNET = "gcp:compute/subnetwork:Subnetwork"
EDITOR = "editors-e2-standard-4"
CLOSED = "ceilings-custom_model_training_nvidia_h100_gpus"


def template(path: str, value: Any):
    return edit(TEMPLATE, EDITOR, put(path, value))


def sent(**changes: Any) -> str:
    """A sound request, as the smoke job's command has it, with changes of its job."""
    machine = {"machineType": "g2-standard-8", "acceleratorType": "NVIDIA_L4", "acceleratorCount": 1}
    pool = {"machineSpec": machine, "replicaCount": "1", "containerSpec": {"imageUri": "pytorch/pytorch:2.13.0"}}
    job: dict[str, Any] = {"workerPoolSpecs": [pool], "serviceAccount": "somebody@elses.iam.gserviceaccount.com"}
    body = {"displayName": "smoke", "jobSpec": job, "labels": {"project": "hooli-research"}}
    for path, value in changes.items():
        put(path, value)(body)
    return json.dumps(body)


def job(changes: Mapping[str, Any]):
    return make(COMMAND, "smoke", {"create": "trainyard smoke", "triggers": [sent(**changes)]})


POOL = "jobSpec.workerPoolSpecs[0]"
MACHINE = f"{POOL}.machineSpec"


def member(who: str, role: str):
    return make(MEMBER, "more", {"project": "hooli-research", "role": role, "member": who})


def nat(name: str):
    inputs = {"router": "r", "sourceSubnetworkIpRangesToNat": "ALL_SUBNETWORKS_ALL_IP_RANGES"}
    return make("gcp:compute/routerNat:RouterNat", name, inputs)


NO_INTERNET = template("networkSpec.enableInternetAccess", False)
PRIVATE = edit(SUBNET, "network-nodes", put("privateIpGoogleAccess", False))

MISTAKES = {
    "never shut down": (template("idleShutdownConfig.idleTimeout", "0s"), "managed-never-idle"),
    "shut down at once": (template("idleShutdownConfig.idleTimeout", "60s"), "managed-idle-timeout"),
    "shut down in two days": (template("idleShutdownConfig.idleTimeout", "172800s"), "managed-idle-timeout"),
    "minutes for seconds": (template("idleShutdownConfig.idleTimeout", "60m"), "managed-idle-timeout"),
    "a GPU on an e2": (template("machineSpec", {"machineType": "e2-standard-4", "acceleratorType": "NVIDIA_L4",
                                                "acceleratorCount": 1}), "managed-machine"),
    "a g2 without its GPU": (template("machineSpec.machineType", "g2-standard-4"), "managed-machine"),
    "a GPU without a number": (template("machineSpec", {"machineType": "n1-standard-4",
                                                        "acceleratorType": "NVIDIA_TESLA_T4"}), "managed-machine"),
    "cut off from Google": (both(NO_INTERNET, PRIVATE), "managed-editor-cut-off"),
    "no way to a package": (NO_INTERNET, "managed-editor-without-way-out"),
    "a machine of one person": (make("gcp:colab/runtime:Runtime", "ann", {"runtimeUser": "ann@hooli.example"}),
                                "managed-runtime-made"),
    "a metric with slashes": (edit(OVERRIDE, CLOSED, put("metric", "aiplatform.googleapis.com/x")),
                              "managed-quota-name"),
    "a limit with slashes": (edit(OVERRIDE, CLOSED, put("limit", "/project/region")), "managed-quota-name"),
    "not forced": (edit(OVERRIDE, CLOSED, put("force", DROP)), "managed-quota-not-forced"),
    "people act as everybody": (member("group:research@hooli.example", "roles/iam.serviceAccountUser"),
                                "managed-ceiling-lifted"),
    "people edit the project": (member("user:ann@hooli.example", "roles/editor"), "managed-ceiling-lifted"),
    "people raise quotas": (member("user:ann@hooli.example", "roles/servicemanagement.quotaAdmin"),
                            "managed-ceiling-lifted"),
    "two GPUs of a machine of one": (job({f"{MACHINE}.acceleratorCount": 2}), "managed-machine"),
    "another GPU than the machine has": (job({f"{MACHINE}.acceleratorType": "NVIDIA_TESLA_T4"}), "managed-machine"),
    "no machine": (job({f"{POOL}.machineSpec": DROP}), "managed-machine"),
    "two machines in the first pool": (job({f"{POOL}.replicaCount": "2"}), "managed-first-pool"),
    "two networks": (job({"jobSpec.network": "n", "jobSpec.pscInterfaceConfig": {"networkAttachment": "a"}}),
                     "managed-two-networks"),
    "as Google's agent": (job({"jobSpec.serviceAccount": DROP}), "managed-job-without-account"),
    "an image of another cloud": (job({f"{POOL}.containerSpec.imageUri": "public.ecr.aws/x/pytorch:1"}),
                                  "managed-image-registry"),
    "an image of GitHub": (job({f"{POOL}.containerSpec.imageUri": "ghcr.io/x/pytorch:1"}), "managed-image-registry"),
    "a label with a mail address": (job({"labels.owner": "ml@hooli.example"}), "managed-label"),
    "a GPU above the ceiling": (job({MACHINE: {"machineType": "a2-highgpu-1g", "acceleratorType": "NVIDIA_TESLA_A100",
                                               "acceleratorCount": 1}}), "managed-job-above-ceiling"),
    "a spot GPU above the ceiling": (job({MACHINE: {"machineType": "a3-highgpu-8g",
                                                    "acceleratorType": "NVIDIA_H100_80GB", "acceleratorCount": 8},
                                          "jobSpec.scheduling": {"strategy": "SPOT"}}), "managed-job-above-ceiling"),
}  # fmt: skip

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
    "a sound job": job({}),
    "a job of Mega": job({MACHINE: {"machineType": "a3-megagpu-8g", "acceleratorType": "NVIDIA_H100_MEGA_80GB",
                                    "acceleratorCount": 8}}),
    "a job without GPUs": job({MACHINE: {"machineType": "n2-standard-8"}}),
    "a job on two machines": job({"jobSpec.workerPoolSpecs[1]": {"machineSpec": {"machineType": "n2-standard-8"},
                                                                 "replicaCount": "3"}}),
    "images of Google": job({f"{POOL}.containerSpec.imageUri": "us-docker.pkg.dev/vertex-ai/training/pytorch-gpu:1"}),
    "images of Docker Hub in full": job({f"{POOL}.containerSpec.imageUri": "docker.io/pytorch/pytorch:2.13.0"}),
    "a command of somebody's": make(COMMAND, "c", {"create": "true", "triggers": ["{workerPoolSpecs", 3, None]}),
    "a list for a job": make(COMMAND, "c", {"create": "true", "triggers": ['{"jobSpec": {"workerPoolSpecs": 3}}']}),
}  # fmt: skip


def findings(resources):
    stack = Stack(resources, ValueContext("1.35", "us-central1"))
    check(stack)
    return stack.findings


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_told(rehearsed, name):
    change, rule = MISTAKES[name]
    found = findings(change(rehearsed("small-gcp").resources))
    assert {finding.rule for finding in found} == {rule}, found


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
