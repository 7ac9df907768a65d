"""Buckets and keys.

Source: validators of the provider (terraform-provider-google-beta, 2026-08-21) and Google's documentation as read
2026-11.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from trainyard.problems import nearest
from trainyard.recorded.read import as_number
from trainyard.recorded.types import GCP_BUCKET, GCP_CRYPTO_KEY
from trainyard.rehearsal.context import View, show
from trainyard.rehearsal.refusals.rules import Rules

CLASSES: Final = (
    "STANDARD", "NEARLINE", "COLDLINE", "ARCHIVE", "MULTI_REGIONAL", "REGIONAL", "DURABLE_REDUCED_AVAILABILITY",
)  # fmt: skip
"""Storage classes; the last three are older (terraform-provider-google-beta, 2026-08-21)."""


def bucket(view: View) -> None:
    """Versions, folders, lifecycle and deletion that go together."""
    folders = view.flag("hierarchicalNamespace.enabled")
    if folders and view.flag("versioning.enabled"):
        view.error("gcs-folders", "versioning.enabled", "with a hierarchical namespace", allowed="one of both")
    if (
        folders
        and view.flag("uniformBucketLevelAccess") is not True
        and not view.is_unknown("uniformBucketLevelAccess")
    ):
        path = "uniformBucketLevelAccess"
        view.error("gcs-folders", path, "with a hierarchical namespace", allowed="true")
    seconds = view.number("softDeletePolicy.retentionDurationSeconds")
    if seconds is not None and seconds != 0 and not 7 * 86_400 <= seconds <= 90 * 86_400:
        path = "softDeletePolicy.retentionDurationSeconds"
        view.error("gcs-soft-delete", path, show(seconds), allowed="0, or 604800 to 7776000 (7 to 90 days)")
    rules = list(view.items("lifecycleRules"))
    if len(rules) > 100:
        view.error("gcs-lifecycle", "lifecycleRules", f"{len(rules)} rules", allowed="at most 100")
    for path, rule in rules:
        _lifecycle(view, path, rule)
    if view.mapping("autoclass") and view.flag("autoclass.enabled"):
        for path, rule in rules:
            if _action(rule).get("type") == "SetStorageClass":
                view.error(
                    "gcs-autoclass", f"{path}.action.type", "SetStorageClass beside autoclass", allowed="one of both"
                )
    key, location = view.text("encryption.defaultKmsKeyName"), view.text("location")
    match = re.search(r"/locations/([^/]+)/keyRings/", key or "")
    if match and location is not None and match[1] != location.lower():
        path = "encryption.defaultKmsKeyName"
        view.error("gcp-key-location", path, f"a key in {match[1]}", allowed=f"a key in {location.lower()}")


def _action(rule: Mapping[str, Any]) -> Mapping[str, Any]:
    action = rule.get("action")
    return action if isinstance(action, Mapping) else {}


def _lifecycle(view: View, path: str, rule: Mapping[str, Any]) -> None:
    action, condition = _action(rule), rule.get("condition")
    given = [key for key, value in condition.items() if value is not None] if isinstance(condition, Mapping) else []
    if isinstance(condition, Mapping) and not given:
        view.error("gcs-lifecycle", f"{path}.condition", "is empty", allowed="at least one condition")
    kind = action.get("type")
    to = action.get("storageClass")
    if kind == "SetStorageClass" and isinstance(to, str) and to not in CLASSES:
        where, hint = f"{path}.action.storageClass", nearest(to, CLASSES)
        view.error("gcs-lifecycle", where, show(to), allowed=", ".join(CLASSES), hint=hint)
    if kind == "SetStorageClass" and action.get("storageClass") is None:
        view.error("gcs-lifecycle", f"{path}.action.storageClass", "is missing", allowed="a class, like NEARLINE")
    if kind == "AbortIncompleteMultipartUpload" and isinstance(condition, Mapping):
        other = [key for key in given if key not in ("age", "matchesPrefixes", "matchesSuffixes")]
        if other:
            allowed = "age, matchesPrefixes, matchesSuffixes"
            view.error("gcs-lifecycle", f"{path}.condition.{other[0]}", "for unfinished uploads", allowed=allowed)
    if isinstance(condition, Mapping):
        age = as_number(condition.get("age"))
        if age == 0 and condition.get("sendAgeIfZero") is not True:
            view.error("gcs-lifecycle", f"{path}.condition.age", "0 is not sent", allowed="sendAgeIfZero beside it")


def crypto_key(view: View) -> None:
    """Rotation in seconds, at least a day; only keys that encrypt rotate by themselves."""
    period = view.text("rotationPeriod")
    if period is not None:
        match = re.fullmatch(r"(\d+)(\.\d{1,9})?s", period)
        if not match or int(match[1]) < 86_400:
            view.error(
                "gcp-key-rotation", "rotationPeriod", show(period), allowed="seconds, like 7776000s; a day at least"
            )
        if view.value("purpose") not in (None, "ENCRYPT_DECRYPT"):
            allowed = "ENCRYPT_DECRYPT, or no rotationPeriod"
            view.error("gcp-key-rotation", "purpose", show(view.value("purpose")), allowed=allowed)


RULES: Rules = {bucket: (GCP_BUCKET,), crypto_key: (GCP_CRYPTO_KEY,)}
