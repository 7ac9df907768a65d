"""S3: names, lifecycle rules, logging.

Source: S3 user guide as generally known; all of it passes the provider, most of it moto too (2026-11-21).
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from typing import Any, Final

from trainyard.problems import count
from trainyard.recorded.read import as_number, follow
from trainyard.recorded.types import BUCKET, BUCKET_VERSIONING, LIFECYCLE
from trainyard.rehearsal.context import View, listed, show
from trainyard.rehearsal.refusals.rules import Rules

_ACTIONS = (
    "abortIncompleteMultipartUpload",
    "expiration",
    "noncurrentVersionExpiration",
    "noncurrentVersionTransitions",
    "transitions",
)
_ALLOWED = "3 to 63 lower-case letters, digits, '-' and '.', a letter or digit at both ends"


def name(view: View) -> None:
    """The name that is given, the prefix, or the logical name with Pulumi's suffix."""
    given, prefix = view.text("bucket"), view.text("bucketPrefix")
    if given is not None:
        problem = name_problem(given)
        if problem:
            view.error("s3-name", "bucket", f"{show(given)} {problem}", allowed=_ALLOWED)
    elif prefix is not None:
        problem = name_problem(prefix + "0" * 26)
        if problem:
            view.error(
                "s3-name",
                "bucketPrefix",
                f"{show(prefix)} with the provider's 26 characters {problem}",
                allowed=f"{_ALLOWED}; a prefix at most 37",
            )
    elif view.lacks("bucket") and view.lacks("bucketPrefix"):
        problem = name_problem(view.name.lower() + "-0123456")
        if problem:
            view.error(
                "s3-name",
                "bucket",
                f"the logical name with Pulumi's 8 characters {problem}",
                allowed=f"{_ALLOWED}; a logical name at most 55",
            )


def name_problem(text: str) -> str:
    """What S3 refuses about a bucket's name; empty when it is fine."""
    if not 3 <= len(text) <= 63:
        return f"has {len(text)} characters"
    if not re.fullmatch(r"[a-z0-9][a-z0-9.-]*[a-z0-9]", text):
        return "holds other characters than S3 takes"
    if ".." in text or ".-" in text or "-." in text:
        return "has '.' beside '.' or '-'"
    if text.startswith(("xn--", "sthree-", "amzn-s3-demo-")) or text.endswith(
        ("-s3alias", "--ol-s3", ".mrap", "--table-s3")
    ):
        return "has a prefix or suffix that S3 keeps for itself"
    try:
        ipaddress.IPv4Address(text)
    except ValueError:
        return ""
    return "is an IP address"


def lifecycle(view: View) -> None:
    """Every rule has a filter, something to do, and days in an order that S3 takes."""
    seen: set[str] = set()
    for path, entry in view.items("rules"):
        identity = entry.get("id")
        if isinstance(identity, str):
            if identity in seen:
                view.error(
                    "s3-lifecycle-id", f"{path}.id", f"{show(identity)} is given twice", allowed="one rule an id"
                )
            if len(identity) > 255:
                view.error("s3-lifecycle-id", f"{path}.id", f"has {len(identity)} characters", allowed="at most 255")
            seen.add(identity)
        if not any(entry.get(key) not in (None, [], {}) for key in _ACTIONS):
            view.error("s3-lifecycle-empty", path, "does nothing", allowed=f"at least one of {', '.join(_ACTIONS)}")
        _filter(view, path, entry)
        _expiration(view, path, entry)
        _transitions(view, path, entry)


def _filter(view: View, path: str, entry: Mapping[str, Any]) -> None:
    where = entry.get("filter")
    for place, prefix in (
        ("filter.prefix", follow(entry, "filter", "prefix")),
        ("filter.and.prefix", follow(entry, "filter", "and", "prefix")),
        ("prefix", entry.get("prefix")),
    ):
        if isinstance(prefix, str) and prefix.startswith("/"):
            view.warning(
                "s3-lifecycle-filter", f"{path}.{place}", f"{show(prefix)} is the beginning of no usual key: keys have "
                "no slash in front", allowed=prefix.lstrip("/"),
            )  # fmt: skip
    if where is None and entry.get("prefix") is None:
        view.warning(
            "s3-lifecycle-filter", f"{path}.filter", "is missing", allowed='{"prefix": ""} for the whole bucket'
        )
    if not isinstance(where, Mapping):
        return
    given = [
        key
        for key in ("and", "objectSizeGreaterThan", "objectSizeLessThan", "prefix", "tag")
        if where.get(key) is not None
    ]
    if len(given) > 1:
        view.error(
            "s3-lifecycle-filter",
            f"{path}.filter",
            f"has {' and '.join(given)}",
            allowed="`and` around several conditions",
        )
    both = where.get("and")
    tagged = where.get("tag") is not None or (isinstance(both, Mapping) and both.get("tags"))
    if tagged and entry.get("abortIncompleteMultipartUpload") is not None:
        view.error(
            "s3-lifecycle-multipart",
            f"{path}.abortIncompleteMultipartUpload",
            "with a filter on tags",
            allowed="a filter on the prefix only",
        )
    expiration = entry.get("expiration")
    if tagged and isinstance(expiration, Mapping) and expiration.get("expiredObjectDeleteMarker"):
        view.error(
            "s3-lifecycle-expiration",
            f"{path}.expiration.expiredObjectDeleteMarker",
            "with a filter on tags",
            allowed="a filter on the prefix only",
        )


def _expiration(view: View, path: str, entry: Mapping[str, Any]) -> None:
    expiration = entry.get("expiration")
    if isinstance(expiration, Mapping):
        given = [
            key for key in ("date", "days", "expiredObjectDeleteMarker") if expiration.get(key) not in (None, False)
        ]
        if len(given) != 1:
            view.error(
                "s3-lifecycle-expiration",
                f"{path}.expiration",
                f"has {' and '.join(given) or 'nothing'}",
                allowed="exactly one of days, date, expiredObjectDeleteMarker",
            )
    for key, field in (
        ("expiration", "days"),
        ("noncurrentVersionExpiration", "noncurrentDays"),
        ("abortIncompleteMultipartUpload", "daysAfterInitiation"),
    ):
        block = entry.get(key)
        days = as_number(block.get(field)) if isinstance(block, Mapping) else None
        if days is not None and days < 1:
            view.error("s3-lifecycle-days", f"{path}.{key}.{field}", f"got {days:g}", allowed="at least 1")
    old = entry.get("noncurrentVersionExpiration")
    if isinstance(old, Mapping):
        keep = as_number(old.get("newerNoncurrentVersions"))
        if keep is not None and not 1 <= keep <= 100:
            view.error(
                "s3-lifecycle-versions",
                f"{path}.noncurrentVersionExpiration.newerNoncurrentVersions",
                f"got {keep:g}",
                allowed="must be 1 to 100",
            )
        if old.get("noncurrentDays") is None:
            view.error(
                "s3-lifecycle-days",
                f"{path}.noncurrentVersionExpiration.noncurrentDays",
                "is missing",
                allowed="needed, also beside newerNoncurrentVersions",
            )


def _transitions(view: View, path: str, entry: Mapping[str, Any]) -> None:
    for key, days_key, ender, ender_key in (
        ("transitions", "days", "expiration", "days"),
        ("noncurrentVersionTransitions", "noncurrentDays", "noncurrentVersionExpiration", "noncurrentDays"),
    ):
        block = entry.get(ender)
        end = as_number(block.get(ender_key)) if isinstance(block, Mapping) else None
        for index, item in enumerate(listed(entry.get(key))):
            if not isinstance(item, Mapping):
                continue
            here = f"{path}.{key}[{index}]"
            days = as_number(item.get(days_key))
            if item.get("date") is not None and item.get("days") is not None:
                view.error("s3-lifecycle-transition", here, "has both days and date", allowed="one of them")
            if days is None:
                continue
            if item.get("storageClass") in ("STANDARD_IA", "ONEZONE_IA") and days < 30:
                view.error(
                    "s3-lifecycle-transition",
                    f"{here}.{days_key}",
                    f"got {days:g} for {item['storageClass']}",
                    allowed="at least 30",
                )
            key_of_class = item.get("storageClass")
            early = [
                before
                for other in listed(entry.get(key))[:index]
                if isinstance(other, Mapping)
                and other.get("storageClass") in ("STANDARD_IA", "ONEZONE_IA")
                and (before := as_number(other.get(days_key))) is not None
                and days < before + 30
            ]
            if early and key_of_class in ("GLACIER", "DEEP_ARCHIVE", "GLACIER_IR"):
                view.error(
                    "s3-lifecycle-transition",
                    f"{here}.{days_key}",
                    f"got {days:g} for {key_of_class}, {count(days - early[0], 'day')} after infrequent access",
                    allowed=f"at least {early[0] + 30:g}: infrequent access is paid for 30 days",
                )
            if end is not None and days >= end:
                view.error(
                    "s3-lifecycle-order",
                    f"{here}.{days_key}",
                    f"transition after {count(days, 'day')}, expiry after {end:g}",
                    allowed="transitions before the expiry",
                )


def encryption(view: View) -> None:
    """A bucket names a KMS key only where the algorithm takes one."""
    for path, entry in view.items("rules"):
        default = entry.get("applyServerSideEncryptionByDefault")
        if isinstance(default, Mapping) and default.get("sseAlgorithm") == "AES256" and default.get("kmsMasterKeyId"):
            view.error(
                "s3-encryption",
                f"{path}.applyServerSideEncryptionByDefault.kmsMasterKeyId",
                "given with AES256",
                allowed="aws:kms or aws:kms:dsse",
            )


def logging(view: View) -> None:
    """A bucket does not log into itself, nor into one with an object lock ("Object Lock considerations")."""
    bucket, target = view.referred("bucket", BUCKET), view.referred("targetBucket", BUCKET)
    if bucket is not None and bucket is target:
        view.error("s3-logging", "targetBucket", f"{bucket.name} would log into itself", allowed="another bucket")
    elif target is not None and target.flag("objectLockEnabled"):
        view.error("s3-logging", "targetBucket", f"{target.name} has an object lock", allowed="a bucket without one")


def object_lock(view: View) -> None:
    """A retention has a mode and one length, on a bucket that keeps versions."""
    rule = "rule.defaultRetention"
    if view.has(rule) and not view.is_unknown(rule):
        given = [key for key in ("days", "years") if view.has(f"{rule}.{key}")]
        if len(given) != 1:
            view.error("s3-object-lock", rule, f"has {' and '.join(given) or 'no length'}", allowed="days or years")
        if view.lacks(f"{rule}.mode"):
            view.error("s3-object-lock", f"{rule}.mode", "is missing", allowed="one of GOVERNANCE, COMPLIANCE")
    bucket = view.referred("bucket", BUCKET)
    for versioning in view.stack.of_type(BUCKET_VERSIONING) if bucket is not None else ():
        status = versioning.text("versioningConfiguration.status")
        if versioning.referred("bucket", BUCKET) is bucket and status not in (None, "Enabled"):
            versioning.error(
                "s3-object-lock",
                "versioningConfiguration.status",
                f"got {show(status)} with an object lock",
                allowed="Enabled",
            )


RULES: Final[Rules] = {
    name: (BUCKET, "aws:s3/bucketV2:BucketV2"),
    lifecycle: (LIFECYCLE,),
    encryption: ("aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration",),
    object_lock: ("aws:s3/bucketObjectLockConfiguration:BucketObjectLockConfiguration",),
    logging: ("aws:s3/bucketLogging:BucketLogging",),
}
