"""Mistakes in managed training on Google Cloud, as they are made: an editor that nothing ends, a job that asks for
what no machine has, a ceiling that somebody lifts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tests.rehearsal.works.mistakes import DROP, Change, Mistake, Recorded, both, edit, put
from tests.rehearsal.works.mistakes_managed import COMMAND, make
from trainyard.recorded.model import RecordedResource

STACK = "small-gcp"
TEMPLATE = "gcp:colab/runtimeTemplate:RuntimeTemplate"
OVERRIDE = "gcp:serviceusage/consumerQuotaOverride:ConsumerQuotaOverride"
MEMBER = "gcp:projects/iAMMember:IAMMember"
SUBNET = "gcp:compute/subnetwork:Subnetwork"
REMOVED = "gcp:projects/iamMemberRemove:IamMemberRemove"
STORE = "gcp:vertex/aiMetadataStore:AiMetadataStore"
ACTS = "gcp:serviceaccount/iAMMember:IAMMember"
IN_BUCKET = "gcp:storage/bucketIAMMember:BucketIAMMember"
BUDGET, ALARM = "gcp:billing/budget:Budget", "gcp:monitoring/alertPolicy:AlertPolicy"
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


def without(type_: str, name: str) -> Change:
    """Takes a resource out."""

    def change(resources: Recorded) -> list[RecordedResource]:
        found = [item for item in resources if (item.type, item.name) != (type_, name)]
        assert len(found) == len(resources) - 1, f"no {type_} {name}"
        return found

    return change


TOLD = {
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
    "a timeout without a unit": (job({"jobSpec.scheduling": {"timeout": "3600"}}), "managed-job-value"),
    "a number for a time": (job({"jobSpec.scheduling": {"timeout": 3600}}), "managed-job-value"),
    "SageMaker's word for spot": (job({"jobSpec.scheduling": {"strategy": "PREEMPTIBLE"}}), "managed-job-value"),
    "a word in other letters": (job({"jobSpec.serviceaccount": "a@b.iam.gserviceaccount.com"}), "managed-job-value"),
    "a line for a list of words": (job({f"{POOL}.containerSpec.command": "python3 train.py"}), "managed-job-value"),
    "variables as a mapping": (job({f"{POOL}.containerSpec.env": {"EPOCHS": "3"}}), "managed-job-value"),
    "a disk of AWS": (job({f"{POOL}.diskSpec": {"bootDiskType": "gp3"}}), "managed-job-value"),
    "nothing to run": (job({f"{POOL}.containerSpec": DROP}), "managed-job-incomplete"),
    "no image": (job({f"{POOL}.containerSpec.imageUri": ""}), "managed-job-incomplete"),
    "two things to run": (job({f"{POOL}.pythonPackageSpec": {"pythonModule": "train"}}), "managed-job-incomplete"),
    "no machines": (job({"jobSpec.workerPoolSpecs": []}), "managed-job-incomplete"),
    "no name": (job({"displayName": DROP}), "managed-job-incomplete"),
    "an account that was renamed": (job({"jobSpec.serviceAccount": "trainer@hooli-research.iam.gserviceaccount.com"}),
                                    "managed-job-account"),
    "a key of another region": (job({"encryptionSpec": {
        "kmsKeyName": "projects/p/locations/europe-west4/keyRings/r/cryptoKeys/k"}}), "managed-job-key"),
    "three T4": (job({MACHINE: {"machineType": "n1-standard-8", "acceleratorType": "NVIDIA_TESLA_T4",
                                "acceleratorCount": 3}}), "managed-machine"),
    "an L4 on an n1": (job({MACHINE: {"machineType": "n1-standard-8", "acceleratorType": "NVIDIA_L4",
                                      "acceleratorCount": 1}}), "managed-machine"),
    "nobody may run as the account": (without(ACTS, "managed-research@hooli.example"), "managed-nobody-to-run-as"),
    "another role is taken from the agent": (edit(REMOVED, "custom-code-agent",
                                                  put("role", "roles/aiplatform.serviceAgent")),
                                             "managed-agent-keeps-rights"),
    "a store of another name": (edit(STORE, "tracking-store", put("name", "experiments")), "managed-store-unused"),
}  # fmt: skip
"""What is wrong, the change, and the rule that tells it."""

UNKNOWN = {
    "the API of Vertex AI is not switched on": (
        without("gcp:projects/service:Service", "services-aiplatform"),
        "an API that a program does not switch on may be on",
    ),
    "nobody has the role of people": (without(MEMBER, "managed-research@hooli.example"),
                                      "who trains may be an owner of the project, or be given the role by hand"),
    "jobs write no checkpoints": (without(IN_BUCKET, "managed-jobs-checkpoints"),
                                  "which bucket a job writes to is said when it is sent"),
    "jobs pull no image of the team's": (without("gcp:artifactregistry/repositoryIamMember:RepositoryIamMember",
                                                 "managed-jobs-images"), "likewise its image"),
    "the budget counts another project": (edit(BUDGET, "budget-budget",
                                               put("budgetFilter.projects", ["projects/999999999999"])),
                                          "which number a project has no recording says"),
    "the alarm looks for a kind of thing that is none": (
        edit(ALARM, "managed-jobs-failed",
             put("conditions[0].conditionMatchedLog.filter", 'resource.type="ml_jobs" AND severity>=ERROR')),
        "kinds of monitored things are not listed here: services bring new ones",
    ),
}  # fmt: skip
"""What nothing tells of a recording, and why."""


def _name(what: str) -> str:
    return what.lower().replace("'", "").replace(" ", "-")


MISTAKES = [
    *(Mistake(_name(what), what, change, rule, "", STACK) for what, (change, rule) in TOLD.items()),
    *(Mistake(_name(what), what, change, None, why, STACK) for what, (change, why) in UNKNOWN.items()),
]
