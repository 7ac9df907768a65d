"""Twenty-four of sixty mistakes that a tired engineer makes, in managed training: the others are in
`mistakes_gcp_sixty.py`. They were written from the components alone, before anything was looked up of what tells them.
"""

from __future__ import annotations

import base64
import json
from typing import Any

from tests.rehearsal.works.mistakes import DROP, Change, edit, in_json, put
from tests.rehearsal.works.mistakes_gcp_sixty import said

AWS, UAE, GOOGLE = "small-aws", "uae-small", "small-gcp"
SCRIPT = "aws:sagemaker/studioLifecycleConfig:StudioLifecycleConfig"
DOMAIN, APP = "aws:sagemaker/domain:Domain", "aws:sagemaker/mlflowApp:MlflowApp"
ACTION, BUDGET = "aws:budgets/budgetAction:BudgetAction", "aws:budgets/budget:Budget"
RULE, TARGET = "aws:cloudwatch/eventRule:EventRule", "aws:cloudwatch/eventTarget:EventTarget"
ALARM, COUNTED = "aws:cloudwatch/metricAlarm:MetricAlarm", "aws:cloudwatch/logMetricFilter:LogMetricFilter"
GROUP = "aws:sagemaker/modelPackageGroup:ModelPackageGroup"
DNS_RULE = "aws:route53/resolverFirewallRule:ResolverFirewallRule"
ROLE = "gcp:projects/iAMCustomRole:IAMCustomRole"
POLICY = "gcp:monitoring/alertPolicy:AlertPolicy"
OPENS = "gcp:colab/runtimeTemplateIamMember:RuntimeTemplateIamMember"
NOTEBOOKS = "gcp:dataform/config:Config"
BOARD = "gcp:monitoring/dashboard:Dashboard"
OVERRIDE = "gcp:serviceusage/consumerQuotaOverride:ConsumerQuotaOverride"
IDLE = "defaultUserSettings.jupyterLabAppSettings.appLifecycleManagement.idleSettings"


def script(old: str, new: str) -> Change:
    """What a lifecycle configuration runs, with one part replaced."""

    def into(inputs: dict[str, Any]) -> None:
        text = base64.b64decode(inputs["studioLifecycleConfigContent"]).decode()
        assert old in text, text
        inputs["studioLifecycleConfigContent"] = base64.b64encode(text.replace(old, new).encode()).decode()

    return edit(SCRIPT, "studio-kernels", into)


def plain(inputs: dict[str, Any]) -> None:
    inputs["studioLifecycleConfigContent"] = base64.b64decode(inputs["studioLifecycleConfigContent"]).decode()


def permission(role: str, *, more: str = "", less: str = "") -> Change:
    """A custom role with one permission more, or less."""

    def into(inputs: dict[str, Any]) -> None:
        if less:
            inputs["permissions"].remove(less)
        if more:
            inputs["permissions"].append(more)

    return edit(ROLE, role, into)


def second_condition(inputs: dict[str, Any]) -> None:
    inputs["conditions"].append(json.loads(json.dumps(inputs["conditions"][0])))


REFUSED = {
    "a script as it is written": (edit(SCRIPT, "studio-kernels", plain), AWS),
    "a first disk above the largest": (
        edit(
            DOMAIN,
            "studio",
            put("defaultUserSettings.spaceStorageSettings.defaultEbsStorageSettings.defaultEbsVolumeSizeInGb", 200),
        ),
        AWS,
    ),
    "a mail address that is a topic": (
        edit(ACTION, "managed-over-budget", put("subscribers[0].subscriptionType", "EMAIL")),
        AWS,
    ),
    "a script that is not among those": (
        edit(DOMAIN, "studio", put("defaultUserSettings.jupyterLabAppSettings.lifecycleConfigArns", [])),
        AWS,
    ),
    "a private domain without groups": (
        edit(DOMAIN, "studio", put("defaultUserSettings.securityGroups", DROP)),
        UAE,
    ),
    "a permission that there is not": (permission("managed-people", more="aiplatform.customJobs.submit"), GOOGLE),
    "a permission that no project's role takes": (
        permission("managed-people", more="resourcemanager.projects.list"),
        GOOGLE,
    ),
    "two conditions of an alert by log": (edit(POLICY, "managed-jobs-failed", second_condition), GOOGLE),
}

SILENT = {
    "an event's word in other letters": (
        edit(
            RULE,
            "managed-jobs-ended",
            in_json("eventPattern", lambda it: it["detail"].update(TrainingJobStatus=["FAILED", "STOPPED"])),
        ),
        AWS,
    ),
    "a message reads a field that no event has": (
        edit(TARGET, "managed-jobs-ended", put("inputTransformer.inputPaths.name", "$.details.TrainingJobName")),
        AWS,
    ),
    "the brake holds the wrong role": (
        edit(ACTION, "managed-over-budget", put("definition.iamActionDefinition.roles", ["managed-tracking-0280cf8"])),
        AWS,
    ),
    "an alarm of a metric in other letters": (
        said(ALARM, "managed-jobs-gpu-idle", "metricQueries[0].expression", "GPUUtilization", "GPUUtilisation"),
        AWS,
    ),
    "jobs counted by a field that no event has": (
        said(COUNTED, "managed-jobs-failed", "pattern", "$.detail.TrainingJobStatus", "$.detail.Status"),
        AWS,
    ),
    "kernels that are never ended": (script('"cull_idle_timeout": 1800', '"cull_idle_timeout": 0'), AWS),
    "an editor that nobody finds": (
        edit(DOMAIN, "studio", put("defaultUserSettings.studioWebPortalSettings.hiddenAppTypes[5]", "JupyterLab")),
        AWS,
    ),
    "a share below nothing": (edit(ALARM, "managed-jobs-gpu-idle", put("threshold", 0)), AWS),
    "every name is blocked before one is allowed": (edit(DNS_RULE, "dns-others", put("priority", 50)), AWS),
    "models in a group that nobody may write to": (
        edit(GROUP, "initech-research-everyone", put("modelPackageGroupName", "research-everyone")),
        AWS,
    ),
    "jobs of others by a method that there is not": (
        said(
            POLICY,
            "managed-jobs-foreign",
            "conditions[0].conditionMatchedLog.filter",
            "JobService.CreateCustomJob",
            "JobService.SubmitCustomJob",
        ),
        GOOGLE,
    ),
    "people open editors by the role of jobs": (
        said(OPENS, "editors-e2-standard-2-research@hooli.example", "role", "_editors", "_people"),
        GOOGLE,
    ),
    "jobs that may write no line": (permission("managed-jobs", less="logging.logEntries.create"), GOOGLE),
    "notebooks are kept in another region": (
        edit(NOTEBOOKS, "hooli-research-notebooks", put("region", "us-east1")),
        GOOGLE,
    ),
    "a graph of figures that there are not": (
        said(
            BOARD,
            "managed-jobs-dashboard",
            "dashboardJson",
            "training/accelerator/utilization",
            "train/gpu/utilization",
        ),
        GOOGLE,
    ),
    "a ceiling of any number": (
        edit(OVERRIDE, "ceilings-custom_model_training_nvidia_h100_gpus", put("overrideValue", "-1")),
        GOOGLE,
    ),
}
