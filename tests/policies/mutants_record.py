"""Mutants of the demo stack: the record, the search for attacks, and who is an administrator."""

from __future__ import annotations

import json
from typing import Any

from tests.policies.mutants import CLUSTER, Mutant, drop, edit, put
from trainyard.conventions.state import BACKEND, SECRETS_PROVIDER
from trainyard.recorded.types import (
    ACCESS_POLICY_ASSOCIATION,
    BUCKET_OBJECT_LOCK,
    BUCKET_POLICY,
    DETECTOR,
    DETECTOR_FEATURE,
    EVENT_RULE,
    EVENT_TARGET,
    ROLE,
    TRAIL,
)

OWN_TRAIL, OF_THE_TRAIL = "acme-demo-trail-trail", "acme-demo-trail-logs"
BREAK_GLASS = {
    "audit": {"breakGlass": {"principals": ["arn:aws:iam::123456789012:user/on-call"]}},
}


def _without_a_tier(inputs: dict[str, Any]) -> None:
    inputs["advancedEventSelectors"][1]["fieldSelectors"][2]["startsWiths"].pop()


def _writes_only(inputs: dict[str, Any]) -> None:
    fields = inputs["advancedEventSelectors"][1]["fieldSelectors"]
    fields.append({"field": "readOnly", "equals": ["false"]})


def _without_keys(inputs: dict[str, Any]) -> None:
    fields = inputs["advancedEventSelectors"][0]["fieldSelectors"]
    fields.append({"field": "eventSource", "notEquals": ["kms.amazonaws.com"]})


def _delete(inputs: dict[str, Any]) -> None:
    if isinstance(inputs["policy"], str):
        document = json.loads(inputs["policy"])
        document["Statement"] = [found for found in document["Statement"] if found["Sid"] != "KeepObjects"]
        inputs["policy"] = json.dumps(document)


def _without_second_factor(inputs: dict[str, Any]) -> None:
    document = json.loads(inputs["assumeRolePolicy"])
    document["Statement"][0].pop("Condition")
    inputs["assumeRolePolicy"] = json.dumps(document)


RECORD = (
    Mutant("objects-without-trail", "no trail", change=drop(TRAIL, OWN_TRAIL)),
    Mutant("objects-without-trail", "switched off", change=edit(TRAIL, OWN_TRAIL, put("enableLogging", value=False))),
    Mutant("objects-without-trail", "a tier less", change=edit(TRAIL, OWN_TRAIL, _without_a_tier)),
    Mutant("objects-without-trail", "writes only", change=edit(TRAIL, OWN_TRAIL, _writes_only)),
    Mutant("objects-without-trail", "uses of keys", change=edit(TRAIL, OWN_TRAIL, _without_keys)),
    Mutant(
        "record-can-be-changed",
        "no digests",
        change=edit(TRAIL, OWN_TRAIL, put("enableLogFileValidation", value=False)),
    ),
    Mutant("record-can-be-changed", "no lock", change=drop(BUCKET_OBJECT_LOCK, f"{OF_THE_TRAIL}-object-lock")),
    Mutant("record-can-be-changed", "a day", {"audit": {"trail": {"lockDays": 1}}}),
    Mutant("access-logs-can-be-deleted", "no denial", change=edit(BUCKET_POLICY, "acme-demo-logs-policy", _delete)),
    Mutant("no-threat-detection", "no detector", change=drop(DETECTOR, "threat-detection-detector")),
    Mutant(
        "no-threat-detection",
        "audit logs",
        change=edit(DETECTOR_FEATURE, "threat-detection-eks-audit-logs", put("status", value="DISABLED")),
    ),
    Mutant("people-take-role-unnoticed", "no alarm", BREAK_GLASS, change=drop(EVENT_RULE, "security-break-glass")),
    Mutant(
        "people-take-role-unnoticed", "nobody hears", BREAK_GLASS, change=drop(EVENT_TARGET, "security-break-glass")
    ),
    Mutant(
        "people-take-role-unnoticed",
        "no second factor",
        BREAK_GLASS,
        change=edit(ROLE, "break-glass-role", _without_second_factor),
    ),
    Mutant(
        "cluster-creator-is-admin",
        "its creator",
        change=edit(
            CLUSTER, "cluster-cluster", put("accessConfig", "bootstrapClusterCreatorAdminPermissions", value=True)
        ),
    ),
    Mutant(
        "state-outside-residency",
        "a bucket in Ireland",
        settings={"residency": "us"},
        others={BACKEND: "s3://state?region=eu-west-1"},
    ),
    Mutant(
        "state-outside-residency",
        "the key",
        settings={"residency": "us"},
        others={SECRETS_PROVIDER: "awskms://alias/state?region=eu-west-1"},
    ),
    Mutant("cluster-creator-is-admin", "nobody", change=drop(ACCESS_POLICY_ASSOCIATION, "cluster-deployer")),
)
