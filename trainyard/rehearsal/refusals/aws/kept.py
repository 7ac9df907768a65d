"""What keeps things: backups, copies in other buckets, images of a registry, logs, and disks.

Sources: AWS Backup Developer Guide, "Backup plan options and configuration" and "Vault Lock"; Amazon S3 User Guide,
"Replication configuration file elements" and "Transitioning objects"; Amazon ECR User Guide, "Lifecycle policy
properties"; CloudWatch Logs User Guide, "Log classes"; Amazon EFS User Guide, "Storage classes" and `PutMetricAlarm`;
Amazon EBS User Guide, "Volume types": IOPS a GiB (2026-11).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from trainyard.recorded.read import as_number, follow
from trainyard.recorded.types import (
    AUTOSCALING_GROUP,
    BACKUP_PLAN,
    BACKUP_SELECTION,
    BUCKET,
    BUCKET_REPLICATION,
    BUCKET_VERSIONING,
    DATA_REPOSITORY_ASSOCIATION,
    EBS_VOLUME,
    EC2_INSTANCE,
    ECR_LIFECYCLE,
    EFS,
    EKS_NODE_GROUP,
    LAUNCH_TEMPLATE,
    LIFECYCLE,
    LOG_GROUP,
    LOG_METRIC_FILTER,
    LOG_SUBSCRIPTION_FILTER,
    METRIC_ALARM,
)
from trainyard.rehearsal.context import View, listed, show
from trainyard.rehearsal.refusals.rules import Rules

LOCK: Final = "aws:backup/vaultLockConfiguration:VaultLockConfiguration"
_TOLD: Final = "aws:backup/vaultNotifications:VaultNotifications"
_FILTERS: Final = (
    LOG_METRIC_FILTER,
    LOG_SUBSCRIPTION_FILTER,
)
_COLD_DAYS: Final = 90
"""How long a backup in cold storage is kept at least, and paid for."""


def plan(view: View) -> None:
    """Each rule of a plan: how long it waits, runs and keeps, and where it copies to."""
    names: set[object] = set()
    for path, rule in view.items("rules"):
        name = rule.get("ruleName")
        if isinstance(name, str) and name in names:
            view.error("backup-plan", f"{path}.ruleName", "is given twice", allowed="rules that differ by name")
        names.add(name if isinstance(name, str) else None)
        start, end = as_number(rule.get("startWindow")), as_number(rule.get("completionWindow"))
        if start is not None and start < 60:
            view.error("backup-plan", f"{path}.startWindow", f"got {start:g}", allowed="at least 60 minutes")
        if start is not None and end is not None and end < start + 60:
            view.error("backup-plan", f"{path}.completionWindow", f"got {end:g} with a startWindow of {start:g}",
                       allowed=f"at least {start + 60:g} minutes")  # fmt: skip
        copies = [(f"{path}.copyActions[{i}]", one) for i, one in enumerate(listed(rule.get("copyActions")))]
        for here, one in [(path, rule), *copies]:
            _ends(view, here, one)
        days = as_number(follow(rule, "lifecycle", "deleteAfter"))
        if rule.get("enableContinuousBackup") is True and days is not None and not 1 <= days <= 35:
            view.error("backup-plan", f"{path}.lifecycle.deleteAfter", f"got {days:g} with continuous backups",
                       allowed="1 to 35 days")  # fmt: skip
        if days is not None:
            _locked(view, f"{path}.lifecycle.deleteAfter", rule.get("targetVaultName"), days)


def _ends(view: View, path: str, holder: Any) -> None:
    cold, gone = (as_number(follow(holder, "lifecycle", key)) for key in ("coldStorageAfter", "deleteAfter"))
    if cold is not None and gone is not None and 0 < gone < cold + _COLD_DAYS:
        view.error("backup-plan", f"{path}.lifecycle.deleteAfter", f"got {gone:g}, {gone - cold:g} days after "
                   "coldStorageAfter", allowed=f"at least {cold + _COLD_DAYS:g}")  # fmt: skip


def _locked(view: View, path: str, vault: Any, days: float) -> None:
    for lock in view.stack.of_type(LOCK):
        least, most = lock.number("minRetentionDays"), lock.number("maxRetentionDays")
        outside = (least is not None and days < least) or (most is not None and days > most)
        if outside and isinstance(vault, str) and lock.text("backupVaultName") == vault:
            view.error(
                "backup-plan", path, f"got {days:g}, and vault {vault} is locked: such a backup fails",
                allowed=f"{least or 1:g} to {most:g} days" if most is not None else f"at least {least:g} days",
            )  # fmt: skip


def lock(view: View) -> None:
    """A lock that can be thought over for three days at least, and whose least is not above its most."""
    days = view.number("changeableForDays")
    if days is not None and days < 3:
        view.error("backup-lock", "changeableForDays", f"got {days:g}", allowed="at least 3 days")
    least, most = view.number("minRetentionDays"), view.number("maxRetentionDays")
    if least is not None and most is not None and least > most:
        view.error("backup-lock", "minRetentionDays", f"{least:g} is above {most:g}", allowed="at most the other")


def selection(view: View) -> None:
    """A selection selects something."""
    if all(view.lacks(key) for key in ("conditions", "notResources", "resources", "selectionTags")):
        view.error("backup-selection", "resources", "is missing", allowed="resources, or selectionTags")


def told(view: View) -> None:
    """A vault tells of what fails, and not of beginnings and successes alone."""
    events = view.texts("backupVaultEvents")
    good = ("_STARTED", "_SUCCESSFUL", "RECOVERY_POINT_MODIFIED")
    if events and len(events) == len(view.entries("backupVaultEvents")) and all(one.endswith(good) for one in events):
        view.warning("backup-told", "backupVaultEvents", "tell of nothing that fails", allowed="BACKUP_JOB_FAILED too")


def linked(view: View) -> None:
    """A link of Lustre follows what is new, and not what is deleted alone."""
    for way in ("autoExportPolicy", "autoImportPolicy"):
        events = view.texts(f"s3.{way}.events")
        if events and "NEW" not in events and "CHANGED" not in events:
            view.warning("fsx-link", f"s3.{way}.events", "follow deletions alone: no file is ever carried over",
                         allowed="NEW and CHANGED too")  # fmt: skip


def replication(view: View) -> None:
    """Rules of the newer kind say what becomes of markers and which of them comes first."""
    rules, seen, first = list(view.items("rules")), set[object](), set[object]()
    for path, rule in rules:
        where, priority = rule.get("filter"), rule.get("priority")
        if where is not None and rule.get("deleteMarkerReplication") is None:
            view.error("s3-replication", f"{path}.deleteMarkerReplication", "is missing beside a filter",
                       allowed='{"status": "Disabled"}, or "Enabled"')  # fmt: skip
        if where is None and rule.get("deleteMarkerReplication") is not None and rule.get("prefix") is not None:
            view.error("s3-replication", f"{path}.deleteMarkerReplication", "is given with a prefix of the old kind",
                       allowed="a filter")  # fmt: skip
        if where is not None and len(rules) > 1:
            if priority is None:
                view.error("s3-replication", f"{path}.priority", "is missing among several rules", allowed="a number")
            elif isinstance(priority, int | float) and priority in first:
                view.error("s3-replication", f"{path}.priority", f"{priority:g} is given twice", allowed="each once")
            first.add(priority)
        if isinstance(rule.get("id"), str) and rule["id"] in seen:
            view.error("s3-replication", f"{path}.id", f"{show(rule['id'])} is given twice", allowed="each once")
        seen.add(rule.get("id"))
        minutes = as_number(follow(rule, "destination", "replicationTime", "time", "minutes"))
        if minutes is not None and minutes != 15:
            view.error("s3-replication", f"{path}.destination.replicationTime.time.minutes", f"got {minutes:g}",
                       allowed="15")  # fmt: skip
        own, other = view.text("bucket"), follow(rule, "destination", "bucket")
        if own and isinstance(other, str) and other.endswith(f":::{own}"):
            view.error("s3-replication", f"{path}.destination.bucket", "is the bucket itself", allowed="another one")
    _versioned(view, "bucket", view.text("bucket"))
    for path, rule in rules:
        there = follow(rule, "destination", "bucket")
        _versioned(view, f"{path}.destination.bucket", there.rpartition(":::")[2] if isinstance(there, str) else None)


def _versioned(view: View, path: str, name: str | None) -> None:
    """A bucket of the stack that is copied from or to keeps versions."""
    made = [one for one in view.stack.of_type(BUCKET) if name is not None and one.text("bucket") == name]
    if not made or made[0].resource.read or made[0].has("versionings") or made[0].has("versioning"):
        return
    if made[0].is_unknown("objectLockEnabled") or made[0].flag("objectLockEnabled"):
        return  # S3 keeps versions of what it locks
    versions = view.stack.of_type(BUCKET_VERSIONING)
    if any(one.text("bucket") is None for one in versions):
        return
    states = [one.text("versioningConfiguration.status") for one in versions if one.text("bucket") == name]
    if not states:
        view.error("s3-replication", path, f"{name} keeps no versions: the replication is refused",
                   allowed="a BucketVersioning that is Enabled")  # fmt: skip
    elif states[0] not in (None, "Enabled"):
        view.error("s3-replication", path, f"the versioning of {name} is {states[0]}", allowed="Enabled")


_WARMER: Final = (
    "STANDARD_IA", "INTELLIGENT_TIERING", "ONEZONE_IA", "GLACIER_IR", "GLACIER", "DEEP_ARCHIVE",
)  # fmt: skip
"""Storage classes as objects may go down them."""


def waterfall(view: View) -> None:
    """Objects go down to colder classes alone."""
    for path, rule in view.items("rules"):
        for key, days_key in (("transitions", "days"), ("noncurrentVersionTransitions", "noncurrentDays")):
            steps = [
                (days, _WARMER.index(kind), f"{path}.{key}[{index}].storageClass", kind)
                for index, one in enumerate(listed(rule.get(key)))
                if isinstance(one, Mapping)
                and (kind := one.get("storageClass")) in _WARMER
                and (days := as_number(one.get(days_key))) is not None
            ]
            for (_, before, _, warm), (_, after, here, cold) in zip(sorted(steps), sorted(steps)[1:], strict=False):
                if after <= before:
                    view.error("s3-lifecycle-transition", here, f"{cold} comes after {warm}",
                               allowed="a colder class than before")  # fmt: skip


def images(view: View) -> None:
    """Rules of a registry's policy as ECR reads them."""
    try:
        document = json.loads(view.text("policy") or "{}")
    except ValueError:
        return  # told by the rule of the document
    rules = (
        [one for one in listed(document.get("rules")) if isinstance(one, dict)] if isinstance(document, dict) else []
    )
    for wrong, allowed in dict.fromkeys(found for rule in rules for found in _image_rule(rule)):
        view.error("ecr-lifecycle", "policy", wrong, allowed=allowed)
    numbers = [rule.get("rulePriority") for rule in rules]
    if len(set(map(str, numbers))) < len(numbers):
        view.error("ecr-lifecycle", "policy", "has a rulePriority twice", allowed="each once")
    ranked = [number for number in numbers if isinstance(number, int)]
    for rule in rules:
        if follow(rule, "selection", "tagStatus") == "any" and ranked and rule.get("rulePriority") != max(ranked):
            view.error("ecr-lifecycle", "policy", "has a rule for any image before others",
                       allowed="the highest rulePriority for tagStatus any")  # fmt: skip


def _image_rule(rule: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    chosen = rule.get("selection")
    chosen = chosen if isinstance(chosen, Mapping) else {}
    status, counted, number = chosen.get("tagStatus"), chosen.get("countType"), chosen.get("countNumber")
    priority = rule.get("rulePriority")
    if not isinstance(priority, int) or priority < 1:
        yield f"has rulePriority {show(priority)}", "a whole number from 1"
    if status not in ("any", "tagged", "untagged"):
        yield f"has tagStatus {show(status)}", "tagged, untagged or any"
    listing = [key for key in ("tagPatternList", "tagPrefixList") if chosen.get(key)]
    if status == "tagged" and len(listing) != 1:
        yield (
            f"has a rule for tagged images with {' and '.join(listing) or 'no list of tags'}",
            ("one of tagPrefixList, tagPatternList"),
        )
    if status in ("any", "untagged") and listing:
        yield f"has {listing[0]} with tagStatus {status}", "tagStatus tagged"
    if counted not in ("imageCountMoreThan", "sinceImagePulled", "sinceImagePushed", "sinceImageTransitioned"):
        yield f"has countType {show(counted)}", "imageCountMoreThan or sinceImagePushed"
    elif counted == "imageCountMoreThan" and "countUnit" in chosen:
        yield "has a countUnit with imageCountMoreThan", "none"
    elif counted != "imageCountMoreThan" and chosen.get("countUnit") != "days":
        yield f"has countUnit {show(chosen.get('countUnit'))} with {counted}", "days"
    if not isinstance(number, int) or number < 1:
        yield f"has countNumber {show(number)}", "a whole number from 1"
    if follow(rule, "action", "type") not in ("expire", "transition"):
        yield f"has the action {show(follow(rule, 'action', 'type'))}", "expire"


def log_class(view: View) -> None:
    """A log group of infrequent access is searched by hand alone: no filter stands on it."""
    group = view.referred("logGroupName", LOG_GROUP) or view.referred("logGroup", LOG_GROUP)
    if group is not None and group.text("logGroupClass") in ("INFREQUENT_ACCESS", "DELIVERY"):
        path = "logGroupName" if view.has("logGroupName") else "logGroup"
        view.error("log-class", path, f"group {group.name} is of class {group.text('logGroupClass')}, which has no "
                   "filters", allowed="a group of class STANDARD")  # fmt: skip


def archive(view: View) -> None:
    """The archive of a file system goes with elastic throughput, and after infrequent access."""
    days: dict[str, int] = {}
    for path, entry in view.items("lifecyclePolicies"):
        for key in ("transitionToIa", "transitionToArchive"):
            text = entry.get(key)
            if isinstance(text, str):
                days[key] = next((int(part) for part in text.split("_") if part.isdigit()), 0)
        if entry.get("transitionToArchive") is not None and not view.is_unknown("throughputMode"):
            mode = view.text("throughputMode") or "bursting"
            if mode != "elastic":
                view.error("efs-archive", f"{path}.transitionToArchive", f"is given with throughputMode {mode}",
                           allowed="throughputMode elastic")  # fmt: skip
            if "transitionToArchive" in days and days.get("transitionToIa", 0) >= days["transitionToArchive"]:
                view.error("efs-archive", f"{path}.transitionToArchive", "comes no later than infrequent access",
                           allowed="a longer time")  # fmt: skip


_DAY, _WEEK = 86400, 604800
_SLOW: Final[Mapping[tuple[str, str], int]] = {
    ("AWS/S3", "BucketSizeBytes"): _DAY,
    ("AWS/S3", "NumberOfObjects"): _DAY,
    ("AWS/Billing", "EstimatedCharges"): 21600,
}
"""Seconds between two values of metrics that come seldom (Amazon S3 User Guide, "Monitoring metrics"; CloudWatch User
Guide, "Create a billing alarm")."""


def looked_at(view: View) -> None:
    """An alarm looks back a day at most, a week where its periods are hours."""
    looks = list(_looks(view))
    for path, period, slow in looks:
        if period < slow:
            view.warning("alarm-span", path, f"got {period:g}, and the figure comes every {slow} seconds: most periods "
                         "have none", allowed=f"at least {slow}")  # fmt: skip
    count, periods = view.number("evaluationPeriods"), {period for _, period, _ in looks}
    if count is None or len(periods) != 1 or view.blurred("metricQueries"):  # of several, which one is the alarm's?
        return
    period = periods.pop()
    most = _WEEK if period >= 3600 else _DAY
    if period * count > most:
        view.error("alarm-span", "evaluationPeriods", f"{count:g} periods of {period:g} seconds are "
                   f"{period * count / 3600:g} hours", allowed=f"at most {most / 3600:g} hours together")  # fmt: skip


def _looks(view: View) -> Iterator[tuple[str, float, int]]:
    """What an alarm looks at: where its period is given, the seconds of it, and those between two values."""
    if (period := view.number("period")) is not None:
        yield "period", period, _SLOW.get((view.text("namespace") or "", view.text("metricName") or ""), 0)
    for path, query in view.items("metricQueries"):
        of_metric = as_number(follow(query, "metric", "period"))
        if of_metric is not None:
            kind = (follow(query, "metric", "namespace"), follow(query, "metric", "metricName"))
            yield f"{path}.metric.period", of_metric, _SLOW.get(kind, 0)
        elif (own := as_number(query.get("period"))) is not None:
            yield f"{path}.period", own, 0


_A_GIB: Final[Mapping[str, float]] = {"gp3": 500, "io1": 50, "io2": 1000}
"""IOPS that each kind of disk takes a GiB; gp3 has 3000 whatever its size."""
_NO_BOOT: Final = ("sc1", "st1")
"""Kinds of disk that no machine starts from (Amazon EBS User Guide, "Amazon EBS volume types", 2026-11)."""
_ROOT: Final = "rootBlockDevice"
_BOOTED: Final = ("/dev/sda1", "/dev/xvda")
_BLOCKS: Final = (
    (LAUNCH_TEMPLATE, "blockDeviceMappings[].ebs"),
    (EC2_INSTANCE, _ROOT),
    (EC2_INSTANCE, "ebsBlockDevices[]"),
    (EBS_VOLUME, ""),
)


def disk(view: View) -> None:
    """As many IOPS as the size of a disk bears."""
    for path in (path for type_, path in _BLOCKS if type_ == view.type):
        head, mark, tail = path.partition("[]")
        for here in [f"{one}{tail}" for one, _ in view.items(head)] if mark else [path]:
            dot = f"{here}." if here else ""
            kind = view.text(f"{dot}type" if not here else f"{dot}volumeType")
            size = view.number(f"{dot}size" if not here else f"{dot}volumeSize")
            iops = view.number(f"{dot}iops")
            rate = _A_GIB.get(kind or "")
            if kind in _NO_BOOT and (here == _ROOT or view.text(f"{here.rpartition('.')[0]}.deviceName") in _BOOTED):
                view.error("ebs-boot", f"{dot}volumeType", f"got {show(kind)} for the disk that a machine starts from",
                           allowed="gp3, gp2, io2 or io1")  # fmt: skip
            if rate is None or size is None or iops is None:
                continue
            most = max(3000.0, rate * size) if kind == "gp3" else rate * size
            if iops > most:
                view.error("ebs-iops", f"{dot}iops", f"got {iops:g} for {size:g} GiB of {kind}",
                           allowed=f"at most {most:g}: {rate:g} a GiB")  # fmt: skip


def stays(view: View) -> None:
    """What a node group starts leaves no disks behind: each node that is replaced would leave one that is paid for."""
    for path, entry in view.items("blockDeviceMappings"):
        gone = str(follow(entry, "ebs", "deleteOnTermination")).lower()
        if gone in ("false", "0", "f") and view.stack.resources.referring(view.resource, "launchTemplate", *_STARTERS):
            view.warning(
                "ebs-stays", f"{path}.ebs.deleteOnTermination",
                "is false: every node that goes leaves a disk, which is paid for and holds nothing anybody looks for",
                allowed='"true"',
            )  # fmt: skip


_STARTERS: Final = (EKS_NODE_GROUP, AUTOSCALING_GROUP)


RULES: Final[Rules] = {
    stays: (LAUNCH_TEMPLATE,),
    plan: (BACKUP_PLAN,),
    lock: (LOCK,),
    selection: (BACKUP_SELECTION,),
    replication: (BUCKET_REPLICATION,),
    told: (_TOLD,),
    linked: (DATA_REPOSITORY_ASSOCIATION,),
    waterfall: (LIFECYCLE,),
    images: (ECR_LIFECYCLE,),
    log_class: _FILTERS,
    archive: (EFS,),
    looked_at: (METRIC_ALARM,),
    disk: (LAUNCH_TEMPLATE, EC2_INSTANCE, EBS_VOLUME),
}
