"""Mistakes in managed training, as they are made: an idle setting that stops nothing, a job that waits less than it
runs, a brake that holds nobody."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tests.rehearsal.works.mistakes import DROP, Change, Mistake, Recorded, both, edit, put
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.types import GCP_SERVICE

STACK = "small-aws"
DOMAIN = "aws:sagemaker/domain:Domain"
PROFILE = "aws:sagemaker/userProfile:UserProfile"
SPACE = "aws:sagemaker/space:Space"
SCRIPT = "aws:sagemaker/studioLifecycleConfig:StudioLifecycleConfig"
JOB = "aws:sagemaker/trainingJob:TrainingJob"
SERVER = "aws:sagemaker/mlflowTrackingServer:MlflowTrackingServer"
ACTION = "aws:budgets/budgetAction:BudgetAction"
ROLE = "aws:iam/role:Role"
COMMAND = "command:local:Command"
LAB, CODE = "defaultUserSettings.jupyterLabAppSettings", "defaultUserSettings.codeEditorAppSettings"
IDLE = "appLifecycleManagement.idleSettings"
DISK = "defaultUserSettings.spaceStorageSettings.defaultEbsStorageSettings"

SOUND_JOB: Mapping[str, Any] = {
    "trainingJobName": "nightly",
    "roleArn": "arn:aws:iam::123456789012:role/jobs",
    "algorithmSpecification": {
        "trainingImage": "1.dkr.ecr.us-east-1.amazonaws.com/pytorch:1",
        "trainingInputMode": "File",
    },
    "outputDataConfig": {"s3OutputPath": "s3://somebody-elses/out"},
    "resourceConfig": {"instanceType": "ml.m5.xlarge", "instanceCount": 1, "volumeSizeInGb": 50},
    "stoppingCondition": {"maxRuntimeInSeconds": 3600},
}


def make(type_: str, name: str, inputs: Mapping[str, Any]) -> Change:
    """Adds a resource that a program would make."""

    def change(resources: Recorded) -> list[RecordedResource]:
        urn = f"urn:pulumi:small-aws::trainyard::{type_}::added-{name}"
        # Once the APIs are on, as all that a stack has on Google Cloud.
        after = tuple(one.urn for one in resources if one.type == GCP_SERVICE)
        made = RecordedResource(
            urn, type_, f"added-{name}", "", "", True, "p::p", dict(inputs), dependencies=after, id=name
        )
        return [*resources, made]

    return change


def job(*into: Any) -> Change:
    """Adds a training job with changes."""
    inputs = json.loads(json.dumps(SOUND_JOB))
    for one in into:
        one(inputs)
    return make(JOB, "nightly", inputs)


def domain(path: str, value: Any) -> Change:
    """Changes an input of the domain."""
    return edit(DOMAIN, "studio", put(path, value))


def action(path: str, value: Any) -> Change:
    """Changes an input of the budget's action."""
    return edit(ACTION, "managed-over-budget", put(path, value))


def spot(*more: Any) -> Change:
    """A sound job on spot, with changes."""
    return job(
        put("enableManagedSpotTraining", True),
        put("stoppingCondition.maxWaitTimeInSeconds", 7200),
        put("checkpointConfig.s3Uri", "s3://somebody-elses/checkpoints"),
        *more,
    )


def mistake(name: str, what: str, change: Change, rule: str | None, why: str = "") -> Mistake:
    return Mistake(name, what, change, rule, why, STACK)


MISTAKES = [
    mistake(
        "least-above-timeout", "people may ask for two hours at least",
        domain(f"{LAB}.{IDLE}.minIdleTimeoutInMinutes", 120),
        "managed-idle-bounds",
    ),
    mistake(
        "timeout-above-most", "three hours where one is the most",
        domain(f"{CODE}.{IDLE}.idleTimeoutInMinutes", 180),
        "managed-idle-bounds",
    ),
    mistake(
        "bounds-swapped", "least and most of a person are swapped",
        edit(PROFILE, "studio-everyone-1", put("userSettings", {"jupyterLabAppSettings": {"appLifecycleManagement": {
            "idleSettings": {"lifecycleManagement": "ENABLED", "minIdleTimeoutInMinutes": 240,
                             "maxIdleTimeoutInMinutes": 60}}}})),
        "managed-idle-bounds",
    ),
    mistake(
        "timeout-without-switch", "a timeout, and the switch is forgotten",
        domain(f"{LAB}.{IDLE}.lifecycleManagement", DROP),
        "managed-idle-off",
    ),
    mistake(
        "switched-off", "the switch is off while its timeout stays",
        domain(f"{CODE}.{IDLE}.lifecycleManagement", "DISABLED"),
        "managed-idle-off",
    ),
    mistake("one-editor-forgotten", "only JupyterLab is stopped", domain(f"{CODE}.appLifecycleManagement", DROP),
            "managed-idle-one-editor"),
    mistake("other-editor-forgotten", "only Code Editor is stopped", domain(LAB, DROP), "managed-idle-one-editor"),
    mistake("disk-above-most", "disks of 200 GB where 100 is the most", domain(f"{DISK}.defaultEbsVolumeSizeInGb", 200),
            "managed-disk-above-maximum"),
    mistake("most-below-disk", "the most is lowered below the usual", domain(f"{DISK}.maximumEbsVolumeSizeInGb", 5),
            "managed-disk-above-maximum"),
    mistake("five-groups", "a fifth group",
            domain("defaultUserSettings.securityGroups", [f"sg-0{n}" for n in range(5)]),
            "managed-too-many-groups"),
    mistake("private-without-group", "made private, the group forgotten",
            both(domain("appNetworkAccessType", "VpcOnly"), domain("defaultUserSettings.securityGroups", DROP)),
            "managed-private-without-groups"),
    mistake("private-with-no-group", "made private with an empty list",
            both(domain("appNetworkAccessType", "VpcOnly"), domain("defaultUserSettings.securityGroups", [])),
            "managed-private-without-groups"),
    mistake("private-and-shut", "made private where nothing leads out", domain("appNetworkAccessType", "VpcOnly"),
            "managed-private-without-way-out"),
    mistake("plain-script", "the script is pasted as it is",
            edit(SCRIPT, "studio-kernels", put("studioLifecycleConfigContent", "#!/bin/bash\nset -eu\n")),
            "managed-script-not-encoded"),
    mistake("script-without-head", "the script lost its first line",
            edit(SCRIPT, "studio-kernels", put("studioLifecycleConfigContent", "c2V0IC1ldQo=")),
            "managed-script-not-encoded"),
    mistake("script-not-attached", "the script is used and not attached", domain(f"{LAB}.lifecycleConfigArns", []),
            "managed-script-not-attached"),
    mistake("running-machine", "an app is made by the program",
            make("aws:sagemaker/app:App", "lab", {"domainId": "d-1", "appType": "JupyterLab", "appName": "default",
                                                  "userProfileName": "everyone-1"}),
            "managed-app-made"),
    mistake("waits-less", "waits half an hour and runs two", spot(put("stoppingCondition.maxRuntimeInSeconds", 7201)),
            "managed-wait-below-run"),
    mistake("waits-on-demand", "on demand, and told how long to wait", spot(put("enableManagedSpotTraining", False)),
            "managed-wait-without-spot"),
    mistake("waits-without-a-word-of-spot", "the line of spot is deleted", spot(put("enableManagedSpotTraining", DROP)),
            "managed-wait-without-spot"),
    mistake("spot-without-wait", "spot, and no time to wait", spot(put("stoppingCondition.maxWaitTimeInSeconds", DROP)),
            "managed-spot-without-wait"),
    mistake("spot-without-checkpoints", "spot, and nothing to resume from", spot(put("checkpointConfig", DROP)),
            "managed-spot-without-checkpoints"),
    mistake("key-of-local-disks", "a g5 with a key for its volume",
            job(put("resourceConfig.instanceType", "ml.g5.2xlarge"), put("resourceConfig.volumeKmsKeyId", "1-2")),
            "managed-volume-key-on-local-disks"),
    mistake("key-of-p4d-disks", "a p4d with one", job(put("resourceConfig.instanceType", "ml.p4d.24xlarge"),
            put("resourceConfig.volumeKmsKeyId", "1-2")), "managed-volume-key-on-local-disks"),
    mistake("type-and-groups", "groups of machines beside a type",
            job(put("resourceConfig.instanceGroups", [{"instanceGroupName": "a", "instanceType": "ml.m5.large",
                                                       "instanceCount": 2}])), "managed-type-and-groups"),
    mistake("isolated-and-tracked", "cut off, with the address of a tracking server",
            job(put("enableNetworkIsolation", True),
                put("environment", {"MLFLOW_TRACKING_URI": "arn:aws:sagemaker:x"})),
            "managed-isolated-and-tracked"),
    mistake("isolated-and-tracked-by-name", "cut off, with the app's ARN",
            job(put("enableNetworkIsolation", True), put("mlflowConfig", {"mlflowResourceArn": "arn:aws:sagemaker:x"})),
            "managed-isolated-and-tracked"),
    mistake("patch-version", "the server's version has three parts",
            make(SERVER, "server", {"trackingServerName": "s", "mlflowVersion": "3.0.1"}), "managed-tracking-version"),
    mistake("loud-window", "the day is in capitals",
            make(SERVER, "server", {"trackingServerName": "s", "weeklyMaintenanceWindowStart": "SUN:03:00"}),
            "managed-tracking-window"),
    mistake("role-by-arn", "the role's ARN where its name belongs",
            action("definition.iamActionDefinition.roles[0]", "arn:aws:iam::123456789012:role/people"),
            "managed-brake-arn"),
    mistake("nobody-held", "the roles are deleted", action("definition.iamActionDefinition.roles", DROP),
            "managed-brake-holds-nobody"),
    mistake("other-definition", "the definition of another kind of action", action("actionType", "APPLY_SCP_POLICY"),
            "managed-brake-without-definition"),
    mistake("role-that-stays", "the role keeps what the budget attached",
            edit(ROLE, "managed-people", put("forceDetachPolicies", DROP)), "managed-brake-keeps-role"),
    mistake(
        "culls-nobody", "the script culls kernels after a year",
        edit(SCRIPT, "studio-kernels", put("studioLifecycleConfigContent", "IyEvYmluL2Jhc2gKdHJ1ZQo=")), None,
        "what a script does is not known before it runs",
    ),
]  # fmt: skip
