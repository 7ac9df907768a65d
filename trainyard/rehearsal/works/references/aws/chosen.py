"""What chooses others by a name or a label that nothing has: alarms of alarms, backups by tag, copies by prefix.

Sources: CloudWatch User Guide, "Create a composite alarm" (an alarm is named in the rule); AWS Backup Developer Guide,
"Assigning resources to a backup plan"; Amazon S3 User Guide, "Replicating encrypted objects" (objects under a key of
KMS are left out unless a rule says otherwise) and "Filtering event notifications" (a prefix and a suffix are taken to
the letter: a star is a star), 2026-11.
"""

from __future__ import annotations

import json
import re
from typing import Final

from trainyard.problems import nearest
from trainyard.recorded.read import follow
from trainyard.recorded.types import (
    BACKUP_SELECTION,
    BATCH_DEFINITION,
    BATCH_QUEUE,
    BUCKET,
    BUCKET_ENCRYPTION,
    BUCKET_NOTIFICATION,
    BUCKET_REPLICATION,
    BUILD_PROJECT,
    COMPOSITE_ALARM,
    DATABASE,
    DATABASE_CLUSTER,
    EBS_VOLUME,
    EC2_INSTANCE,
    EFS,
    LOG_GROUP,
    LUSTRE,
    METRIC_ALARM,
    SCHEDULE,
    TABLE,
)
from trainyard.rehearsal.context import Stack, View, show

_NAMED: Final = re.compile(r"(?:ALARM|OK|INSUFFICIENT_DATA)\(\s*\"?([^\")]+?)\"?\s*\)")
_NEAR: Final = 0.8
_BACKED_UP: Final = (
    EFS, DATABASE, DATABASE_CLUSTER, EBS_VOLUME, EC2_INSTANCE, LUSTRE, TABLE,
)  # fmt: skip


def check(stack: Stack) -> None:
    """Everything that chooses."""
    _alarms(stack)
    for selection in stack.of_type(BACKUP_SELECTION):
        _selected(stack, selection)
    for replication in stack.of_type(BUCKET_REPLICATION):
        _replicated(stack, replication)
    _called(stack)
    _kept_in(stack)
    _logged(stack)
    for notification in stack.of_type(BUCKET_NOTIFICATION):
        _filtered(notification)


def _alarms(stack: Stack) -> None:
    names = {view.text("name") for view in stack.of_type(METRIC_ALARM)} | {
        view.text("alarmName") for view in stack.of_type(COMPOSITE_ALARM)
    }
    known = sorted(name for name in names if name is not None)
    if None in names or not known:
        return
    for view in stack.of_type(COMPOSITE_ALARM):
        for name in dict.fromkeys(_NAMED.findall(view.text("alarmRule") or "")):
            own = name.rpartition(":alarm:")[2]  # an ARN names one too
            hint = nearest(own, known, cutoff=_NEAR) if own not in known else ""
            if hint:
                view.warning(
                    "reference-alarm",
                    "alarmRule",
                    f"names the alarm {show(own)}, which is none of the stack",
                    hint=hint,
                )


def _called(stack: Stack) -> None:
    """What a schedule sends to Batch names a queue and a job of the stack, where it nearly names one."""
    known = {
        "JobQueue": [_names(view) for view in stack.of_type(BATCH_QUEUE)],
        "JobDefinition": [_names(view) for view in stack.of_type(BATCH_DEFINITION)],
    }
    for view in stack.of_type(SCHEDULE):
        try:
            sent = json.loads(view.text("target.input") or "{}")
        except ValueError:
            continue
        for key, lists in known.items() if isinstance(sent, dict) else ():
            names = [name for names in lists for name in names]
            given = re.sub(r":\d+$", "", str(sent.get(key) or ""))
            hint = nearest(given, names, cutoff=_NEAR) if given and given not in names else ""
            if hint:
                view.warning(
                    "reference-batch", "target.input", f"{key} is {show(given)}, which is none of the stack", hint=hint
                )


def _names(view: View) -> list[str]:
    arns = (str(view.resource.outputs.get(key) or "") for key in ("arn", "arnPrefix"))
    plain = [re.sub(r":\d+$", "", arn) for arn in arns if arn]
    return [*plain, *([name] if (name := view.text("name")) else [])]


def _logged(stack: Stack) -> None:
    """A build writes to the group that is made for it, where it nearly names one."""
    names = [name for view in stack.of_type(LOG_GROUP) if (name := view.text("name")) is not None]
    for view in stack.of_type(BUILD_PROJECT):
        path = "logsConfig.cloudwatchLogs.groupName"
        given = view.text(path)
        hint = nearest(given, names, cutoff=_NEAR) if given and given not in names else ""
        if hint:
            view.warning("reference-log-group", path, f"{show(given)} is made by nobody here: it keeps what is written "
                         "for ever", hint=hint)  # fmt: skip


def _selected(stack: Stack, selection: View) -> None:
    """Where tags alone choose, something of the stack that can be backed up has them; other stacks' may have."""
    wanted = [
        (entry.get("key"), entry.get("value"))
        for _, entry in selection.items("selectionTags")
        if entry.get("type") == "STRINGEQUALS"
    ]
    resources = selection.texts("resources")
    if not wanted or any(resource != "*" for resource in resources) or selection.blurred("selectionTags"):
        return
    kept = [view for type_ in _BACKED_UP for view in stack.of_type(type_) if not view.resource.read]
    if not kept or any(view.is_unknown("tagsAll") or view.is_unknown("tags") for view in kept):
        return
    tags = [{**view.mapping("tags"), **view.mapping("tagsAll")} for view in kept]
    if not any(held.get(key) == value for held in tags for key, value in wanted if isinstance(key, str)):
        names = ", ".join(view.name for view in kept[:4])
        selection.warning(
            "reference-backup", "selectionTags",
            f"choose {', '.join(f'{key}={value}' for key, value in wanted)}, which none of {names} has: nothing of the "
            "stack is backed up", allowed="tags of what is to be kept, or resources",
        )  # fmt: skip


def _kept_in(stack: Stack) -> None:
    """A job that is written down keeps its things in a bucket of the stack, where it nearly names one."""
    names = [name for view in stack.of_type(BUCKET) if (name := view.text("bucket")) is not None]
    for view in stack.of_type(BATCH_DEFINITION):
        for given in dict.fromkeys(_BUCKET.findall(view.text("containerProperties") or "")):
            hint = nearest(given, names, cutoff=_NEAR) if given not in names else ""
            if hint:
                view.warning("reference-bucket", "containerProperties", f"names the bucket {show(given)}, which nobody "
                             "makes here", hint=hint)  # fmt: skip


_BUCKET: Final = re.compile(r"s3://([a-z0-9][a-z0-9.-]+)")


def _replicated(stack: Stack, replication: View) -> None:
    states = [rule.get("status") for _, rule in replication.items("rules")]
    if states and all(state == "Disabled" for state in states):
        replication.warning("programs-switched-off", "rules[0].status", "is Disabled, as of all: nothing is copied",
                            allowed="Enabled")  # fmt: skip
    bucket = replication.text("bucket")
    encrypted = [
        view for view in stack.of_type(BUCKET_ENCRYPTION)
        if bucket is not None and view.text("bucket") == bucket
        and any(
            str(follow(rule, "applyServerSideEncryptionByDefault", "sseAlgorithm")).startswith("aws:kms")
            for _, rule in view.items("rules")
        )
    ]  # fmt: skip
    for path, rule in replication.items("rules"):
        status = follow(rule, "sourceSelectionCriteria", "sseKmsEncryptedObjects", "status")
        key = follow(rule, "destination", "encryptionConfiguration", "replicaKmsKeyId")
        if encrypted and status != "Enabled" and (status is None or isinstance(status, str)):
            replication.error(
                "reference-replica", f"{path}.sourceSelectionCriteria",
                f"leaves objects under keys of KMS out, and {bucket} encrypts with one: nothing is copied",
                allowed="sseKmsEncryptedObjects Enabled, and destination.encryptionConfiguration.replicaKmsKeyId",
            )  # fmt: skip
        elif status == "Enabled" and key is None:
            replication.error(
                "reference-replica", f"{path}.destination.encryptionConfiguration", "names no key for the copies",
                allowed="replicaKmsKeyId",
            )  # fmt: skip


def _filtered(notification: View) -> None:
    for kind in ("lambdaFunctions", "queues", "topics"):
        for path, entry in notification.items(kind):
            for key in ("filterPrefix", "filterSuffix"):
                text = entry.get(key)
                if isinstance(text, str) and "*" in text:
                    notification.warning(
                        "reference-object-filter", f"{path}.{key}", f"{show(text)} means a star in the key: no pattern",
                        allowed=text.replace("*", "") or "none",
                    )  # fmt: skip
                elif isinstance(text, str) and key == "filterPrefix" and text.startswith("/"):
                    notification.warning(
                        "reference-object-filter", f"{path}.{key}", f"{show(text)}: keys have no slash in front",
                        allowed=text.lstrip("/") or "none",
                    )  # fmt: skip
