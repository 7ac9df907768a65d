"""Buckets' names, classes and retention, folders, keys, secrets: values that go together or have bounds.

Source: Google's documentation of Cloud Storage, Cloud KMS and Secret Manager as generally known (autumn 2026).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from trainyard.problems import count
from trainyard.recorded.read import as_number
from trainyard.recorded.types import (
    GCP_BUCKET,
    GCP_CRYPTO_KEY,
    GCP_MANAGED_FOLDER,
    GCP_MANAGED_FOLDER_MEMBER,
    GCP_REGIONAL_SECRET,
    GCP_SECRET,
)
from trainyard.rehearsal.context import View, show
from trainyard.rehearsal.refusals.rules import EVERY_TYPE, Rules

_COLDER: Final = {"STANDARD": 0, "MULTI_REGIONAL": 0, "REGIONAL": 0, "NEARLINE": 1, "COLDLINE": 2, "ARCHIVE": 3}
_PAID_DAYS: Final = {0: 0, 1: 30, 2: 90, 3: 365}
"""Days of storage that a class is paid for at least (Cloud Storage, "Minimum storage duration", as generally known in
2026-11)."""
_OF_OLD_VERSIONS: Final = ("numNewerVersions", "daysSinceNoncurrentTime", "noncurrentTimeBefore")
_METHODS: Final = ("GET", "HEAD", "PUT", "POST", "DELETE", "OPTIONS", "PATCH", "*")
_LONGEST_RETENTION: Final = 3_155_760_000
"""Seconds: a hundred years."""


def bucket(view: View) -> None:
    """A name that DNS takes, classes that grow colder, deletion after what is kept."""
    _name(view)
    _classes(view)
    kept = view.number("retentionPolicy.retentionPeriod")
    if kept is not None and not 1 <= kept <= _LONGEST_RETENTION:
        path, allowed = "retentionPolicy.retentionPeriod", f"1 to {_LONGEST_RETENTION} seconds"
        view.error("gcs-retention", path, show(kept), allowed=allowed)
    versions = view.flag("versioning.enabled")
    if versions and view.has("retentionPolicy"):
        words = "beside retentionPolicy, by which nothing is overwritten"
        view.error("gcs-retention", "versioning.enabled", words, allowed="one of both")
    for path, rule in view.items("lifecycleRules"):
        condition = rule.get("condition")
        of_live = isinstance(condition, Mapping) and condition.get("withState") == "LIVE"
        _patterns(view, path, condition if isinstance(condition, Mapping) else {})
        for key, value in condition.items() if isinstance(condition, Mapping) else ():
            number = as_number(value)
            if number is not None and not isinstance(value, bool) and (number < 0 or number != int(number)):
                view.error("gcs-lifecycle", f"{path}.condition.{key}", show(value), allowed="whole days, 0 or more")
            if key == "matchesStorageClasses":
                for index, each in enumerate(value if isinstance(value, list) else ()):
                    if isinstance(each, str) and each not in (*_COLDER, "DURABLE_REDUCED_AVAILABILITY"):
                        where = f"{path}.condition.{key}[{index}]"
                        view.error("gcs-lifecycle", where, show(each), allowed=", ".join(_COLDER))
            if key in _OF_OLD_VERSIONS and (number or isinstance(value, str)) and of_live:
                where = f"{path}.condition.withState"
                words = f"LIVE, beside {key}, which only an object that is not live any more has: it is never met"
                view.warning("gcs-lifecycle", where, words, allowed="ARCHIVED, or nothing")
            if key in ("numNewerVersions", "daysSinceNoncurrentTime") and number and versions is False:
                where = f"{path}.condition.{key}"
                view.warning("gcs-lifecycle", where, "without versions it is never met", allowed="versioning.enabled")
    for path, rule in view.items("cors"):
        for index, method in enumerate(rule.get("methods") or ()):
            if isinstance(method, str) and method not in _METHODS:
                view.error("gcs-cors", f"{path}.methods[{index}]", show(method), allowed=", ".join(_METHODS))
        for index, origin in enumerate(rule.get("origins") or ()):
            if isinstance(origin, str) and origin != "*" and not re.fullmatch(r"[a-z][a-z0-9+.-]*://[^/\s]+", origin):
                view.error(
                    "gcs-cors", f"{path}.origins[{index}]", show(origin), allowed="*, or like https://example.com"
                )
        age = as_number(rule.get("maxAgeSeconds"))
        if age is not None and age < 0:
            view.error("gcs-cors", f"{path}.maxAgeSeconds", show(age), allowed="0 or more")
    to = view.text("logging.logBucket")
    if to is not None and to == view.text("name"):
        view.error("gcs-logging", "logging.logBucket", f"{show(to)} logs to itself", allowed="another bucket")
    location = (view.text("location") or "").lower()
    turbo = view.value("rpo") == "ASYNC_TURBO" and view.lacks("customPlacementConfig")
    if turbo and re.fullmatch(r"[a-z]+-[a-z]+\d+", location):
        view.error("gcs-turbo", "rpo", f"ASYNC_TURBO in {location}", allowed="of a dual-region")
    regions = view.texts("customPlacementConfig.dataLocations")
    zonal = view.value("storageClass") == "RAPID"  # of one zone
    if regions and len(regions) != 2 and not zonal and not view.blurred("customPlacementConfig.dataLocations"):
        view.error("gcs-placement", "customPlacementConfig.dataLocations", f"{len(regions)} regions", allowed="two")


def _name(view: View) -> None:
    text = view.text("name")
    if text is None:
        return
    if ".." in text or ".-" in text or "-." in text or re.fullmatch(r"\d+(\.\d+){3}", text):
        view.error("gcs-name", "name", show(text), allowed="no address, no '..', '.-' or '-.'")
    elif any(len(part) > 63 for part in text.split(".")):
        view.error("gcs-name", "name", show(text), allowed="at most 63 characters between dots")


def _classes(view: View) -> None:
    own = _COLDER.get(view.text("storageClass") or "STANDARD")
    ages: list[tuple[float, int, str]] = []
    for path, rule in view.items("lifecycleRules"):
        action, condition = rule.get("action"), rule.get("condition")
        if not isinstance(action, Mapping) or action.get("type") != "SetStorageClass":
            continue
        to = _COLDER.get(str(action.get("storageClass")))
        if to is None or own is None:
            continue
        where = f"{path}.action.storageClass"
        if to < own or (to == own and to > 0):
            words = f"{action.get('storageClass')} of a bucket of {view.text('storageClass')}"
            view.error("gcs-lifecycle", where, words, allowed="a colder class")
        only = isinstance(condition, Mapping) and set(condition) <= {"age", "withState"}
        age = as_number(condition.get("age")) if isinstance(condition, Mapping) and only else None
        if age is not None:
            ages.append((age, to, where))
    for age, to, where in ages:
        later = [other for other in ages if other[0] > age and other[1] < to]
        if later:
            words = f"after {count(round(age), 'day')}, a warmer class after {later[0][0]:.0f}"
            view.warning("gcs-lifecycle", where, words, allowed="colder classes later")
    _deleted_early(view, ages)


def _deleted_early(view: View, ages: list[tuple[float, int, str]]) -> None:
    """What is deleted before its class has been paid for is paid for all the same."""
    for path, rule in view.items("lifecycleRules"):
        action, condition = rule.get("action"), rule.get("condition")
        if not isinstance(action, Mapping) or action.get("type") != "Delete" or not isinstance(condition, Mapping):
            continue
        end = as_number(condition.get("age")) if set(condition) <= {"age", "withState"} else None
        if end is None or condition.get("withState") not in (None, "ANY", "LIVE"):
            continue
        for age, to, where in ages:
            least = _PAID_DAYS[to]
            if age >= end:
                words = f"after {count(round(age), 'day')}, and {path} deletes after {end:.0f}: it never comes to that"
                view.warning("gcs-lifecycle", where, words, allowed=f"fewer than {count(round(end), 'day')}")
            elif end - age < least:
                words = (
                    f"for {count(round(end - age), 'day')}, then {path} deletes: "
                    f"{count(least, 'day')} of the class are paid for"
                )
                view.warning(
                    "gcs-lifecycle",
                    where,
                    words,
                    allowed=f"deleted after {count(round(age + least), 'day')}, or no class",
                )


def _patterns(view: View, path: str, condition: Mapping[str, object]) -> None:
    """A prefix of objects' names, which no object's begins with."""
    for key in ("matchesPrefixes", "matchesSuffixes"):
        given = condition.get(key)
        for index, text in enumerate(given if isinstance(given, list) else ()):
            if not isinstance(text, str):
                continue
            where = f"{path}.condition.{key}[{index}]"
            if key == "matchesPrefixes" and re.match(r"gs://|/", text):
                allowed = re.sub(r"^gs://[^/]*/?|^/+", "", text) or "a prefix of objects' names"
                view.error(
                    "gcs-lifecycle", where, f"{show(text)} begins no object's name: it is never met", allowed=allowed
                )
            elif "*" in text or "?" in text:
                words = f"{show(text)} is taken letter by letter, and no pattern: it is never met"
                view.error("gcs-lifecycle", where, words, allowed="the letters that names begin or end with")


def folder(view: View) -> None:
    """A managed folder ends with a slash, and its bucket has no rights of single objects."""
    path = "name" if view.type == GCP_MANAGED_FOLDER else "managedFolder"
    name = view.text(path)
    if name is not None and (not name.endswith("/") or name.startswith("/") or "//" in name):
        view.error("gcs-managed-folder", path, show(name), allowed="like teams/vision/")
    of = view.referred("bucket", GCP_BUCKET) if view.type == GCP_MANAGED_FOLDER else None
    if of is not None and of.flag("uniformBucketLevelAccess") is False:
        words = f"{view.name} is a managed folder in it"
        of.error("gcs-managed-folder", "uniformBucketLevelAccess", words, allowed="true")


_ALGORITHMS: Final[Mapping[str, tuple[str, ...]]] = {
    "ENCRYPT_DECRYPT": ("GOOGLE_SYMMETRIC_ENCRYPTION", "EXTERNAL_SYMMETRIC_ENCRYPTION"),
    "RAW_ENCRYPT_DECRYPT": ("AES_",),
    "MAC": ("HMAC_",),
    "ASYMMETRIC_SIGN": ("RSA_SIGN_", "EC_SIGN_", "PQ_SIGN_"),
    "ASYMMETRIC_DECRYPT": ("RSA_DECRYPT_",),
    "KEY_ENCAPSULATION": ("ML_KEM_", "KEM_"),
}
_FOR_DISKS: Final = 120 * 86_400


def crypto_key(view: View) -> None:
    """An algorithm of the key's purpose, a wait before destruction, a ring by its name."""
    purpose = view.text("purpose") or "ENCRYPT_DECRYPT"
    algorithm = view.text("versionTemplate.algorithm")
    wanted = _ALGORITHMS.get(purpose)
    if (
        algorithm is not None
        and wanted is not None
        and not view.is_unknown("purpose")
        and not algorithm.startswith(wanted)
    ):
        words = f"{algorithm} of a key for {purpose}"
        view.error("gcp-key-algorithm", "versionTemplate.algorithm", words, allowed=", ".join(wanted))
    level = view.text("versionTemplate.protectionLevel") or ""
    if algorithm == "GOOGLE_SYMMETRIC_ENCRYPTION" and level.startswith("EXTERNAL"):
        path, allowed = "versionTemplate.algorithm", "EXTERNAL_SYMMETRIC_ENCRYPTION"
        view.error("gcp-key-algorithm", path, f"{algorithm} of {level}", allowed=allowed)
    wait = re.fullmatch(r"(\d+)s", view.text("destroyScheduledDuration") or "")
    if wait and not 86_400 <= int(wait[1]) <= _FOR_DISKS:
        path, allowed = "destroyScheduledDuration", f"86400s to {_FOR_DISKS}s: a day to 120"
        view.error("gcp-key-destroy", path, show(view.text(path)), allowed=allowed)
    period = re.fullmatch(r"(\d+)(\.\d+)?s", view.text("rotationPeriod") or "")
    if period and int(period[1]) > _LONGEST_RETENTION:
        view.error(
            "gcp-key-rotation", "rotationPeriod", show(view.text("rotationPeriod")), allowed="a hundred years at most"
        )
    ring = view.text("keyRing")
    if ring is not None and not re.fullmatch(r"([^/]+/){1,2}[^/]+|projects/[^/]+/locations/[^/]+/keyRings/[^/]+", ring):
        view.error("gcp-key-ring", "keyRing", show(ring), allowed="projects/PROJECT/locations/LOCATION/keyRings/RING")


def secret(view: View) -> None:
    """One way of expiry, one of replication, rotation with somebody to tell."""
    if view.has("ttl") and view.has("expireTime"):
        view.error("gcp-secret", "expireTime", "beside ttl", allowed="one of both")
    if view.has("rotation") and view.lacks("topics"):
        view.error("gcp-secret", "rotation", "without topics", allowed="a topic that is told")
    if view.has("replication.auto") and view.has("replication.userManaged"):
        view.error("gcp-secret", "replication.userManaged", "beside auto", allowed="one of both")
    period = re.fullmatch(r"(\d+)s", view.text("rotation.rotationPeriod") or "")
    if period and not 3600 <= int(period[1]) <= 3_153_600_000:
        path = "rotation.rotationPeriod"
        view.error("gcp-secret", path, show(view.text(path)), allowed="3600s to 3153600000s")
    _ends(view)


def _ends(view: View) -> None:
    """A secret that has a version of the stack's, and ends by itself: what reads it fails from then on."""
    versions = (
        f"{view.type.partition('/')[0]}/{view.type.rpartition(':')[2][0].lower()}{view.type.rpartition(':')[2][1:]}"
    )
    kept = view.stack.of_type(f"{versions}Version:{view.type.rpartition(':')[2]}Version")
    of = [version for version in kept if version.referred("secret", view.type) is view]
    for path in ("ttl", "expireTime"):
        if of and view.text(path) is not None:
            words = f"{show(view.text(path))}: it is deleted then, with {of[0].name}, and nothing makes it anew"
            view.warning("gcp-secret", path, words, allowed="nothing, or rotation")


def written_once(view: View) -> None:
    """What is written and never read back has a version, and is written anew when that changes, and then alone."""
    if not view.type.startswith("gcp:"):
        return
    for key in view.inputs:
        if key.endswith("Wo") and view.has(key) and view.lacks(f"{key}Version"):
            words = f"is missing beside {key}: a new value of it never gets there"
            view.warning("gcp-write-only", f"{key}Version", words, allowed="a number that grows with each value")


RULES: Rules = {
    written_once: (EVERY_TYPE,),
    bucket: (GCP_BUCKET,),
    folder: (GCP_MANAGED_FOLDER, GCP_MANAGED_FOLDER_MEMBER),
    crypto_key: (GCP_CRYPTO_KEY,),
    secret: (GCP_SECRET, GCP_REGIONAL_SECRET),
}
