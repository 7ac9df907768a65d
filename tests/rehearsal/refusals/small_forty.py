"""Forty wrong values that somebody writes into managed training on AWS, one at a time, in the small example.

They were written before anything was known of what tells them: 34 were told at first.
"""

from __future__ import annotations

from typing import Any

from tests.rehearsal.refusals.builders import DROP

Row = tuple[str, str, Any]
"""`kind:name` of the resource, the input's path, its wrong value."""

DOMAIN, PROFILE, SCRIPT = "Domain:studio", "UserProfile:studio-everyone-1", "StudioLifecycleConfig:studio-kernels"
BUDGET, ACTION = "Budget:budget-budget", "BudgetAction:managed-over-budget"
ALERTS, ENDED = "Topic:budget-alerts", "EventRule:managed-jobs-ended"
LAB = "defaultUserSettings.jupyterLabAppSettings"
IDLE = f"{LAB}.appLifecycleManagement.idleSettings"
JOBS, PEOPLE = "Role:managed-jobs", "Role:managed-people"
DATA = "Bucket:initech-research-data"

FORTY: list[Row] = [
    # the domain and its people
    (DOMAIN, "authMode", "SSO_IAM"),
    (DOMAIN, "appNetworkAccessType", "VPCOnly"),
    (DOMAIN, "subnetIds", []),
    (DOMAIN, "domainName", "research domain"),
    (DOMAIN, "defaultUserSettings.executionRole", "managed-people"),
    (DOMAIN, "defaultUserSettings.executionRole", DROP),
    (DOMAIN, f"{IDLE}.idleTimeoutInMinutes", 30),
    (DOMAIN, f"{IDLE}.maxIdleTimeoutInMinutes", 600_000),
    (DOMAIN, f"{IDLE}.lifecycleManagement", "ON"),
    (DOMAIN, "defaultUserSettings.spaceStorageSettings.defaultEbsStorageSettings.defaultEbsVolumeSizeInGb", 4),
    (DOMAIN, "defaultUserSettings.spaceStorageSettings.defaultEbsStorageSettings.maximumEbsVolumeSizeInGb", 20_000),
    (DOMAIN, f"{LAB}.defaultResourceSpec.instanceType", "t3.medium"),
    (DOMAIN, f"{LAB}.defaultResourceSpec.instanceType", "ml.t3.mediun"),
    (DOMAIN, "defaultUserSettings.studioWebPortal", "ENABLE"),
    (DOMAIN, "kmsKeyId", "alias platform"),
    (PROFILE, "userProfileName", "everyone_1"),
    (PROFILE, "domainId", DROP),
    (SCRIPT, "studioLifecycleConfigAppType", "JupyterLabs"),
    (SCRIPT, "studioLifecycleConfigName", "kernels and terminals"),
    # money
    (BUDGET, "timeUnit", "MONTH"),
    (BUDGET, "limitAmount", "10,168"),
    (BUDGET, "limitUnit", "Dollars"),
    (BUDGET, "budgetType", "COSTS"),
    (BUDGET, "notifications[0].comparisonOperator", "MORE_THAN"),
    (BUDGET, "notifications[0].subscriberEmailAddresses[0]", "ml.initech.example"),
    (ACTION, "approvalModel", "AUTO"),
    (ACTION, "actionThreshold.actionThresholdType", "PERCENT"),
    (ACTION, "notificationType", "SPENT"),
    (ACTION, "executionRoleArn", "managed-budget"),
    (ACTION, "subscribers[0].subscriptionType", "MAIL"),
    (ACTION, "budgetName", "initech:research"),
    # roles, walls, telling
    (
        JOBS,
        "assumeRolePolicy",
        '{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "sts:AssumeRole"}]}',
    ),
    (PEOPLE, "maxSessionDuration", 900),
    (PEOPLE, "permissionsBoundary", "boundary"),
    ("SecurityGroupEgressRule:training-https", "ipProtocol", "https"),
    ("SecurityGroupEgressRule:training-https", "cidrIpv4", "0.0.0.0"),
    (ENDED, "eventPattern", "{'source': ['aws.sagemaker']}"),
    (ALERTS, "signatureVersion", 3),
    (DATA, "bucket", "Initech_Research_Data"),
    ("Dashboard:managed-jobs-dashboard", "dashboardBody", "{}"),
]

WHY: dict[tuple[str, str], str] = {
    (PROFILE, "domainId"): "the SDK refuses it while the program runs, so that it is in no recording",
}
"""Rows that nothing tells of a recording, and why."""
