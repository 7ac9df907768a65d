"""What comes by time or ends by it: backups, jobs of Cloud Scheduler, subscriptions and topics, images that go.

Source: descriptions of the discovery documents (google-api-python-client 2.202.0: `backupdr.v1`, `pubsub.v1`,
`cloudscheduler.v1`); "Create and manage backup plans" (a window of six hours at least) and Pub/Sub's "Resource limits",
as generally known (2026-11).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final
from zoneinfo import available_timezones

from trainyard.problems import nearest
from trainyard.recorded.types import (
    GCP_BACKUP_ASSOCIATION,
    GCP_BACKUP_PLAN,
    GCP_BACKUP_VAULT,
    GCP_IMAGE_REPOSITORY,
    GCP_SCHEDULE,
    GCP_SUBSCRIPTION,
    GCP_TOPIC,
)
from trainyard.rehearsal.clock import is_cron, is_zone, seconds_of
from trainyard.rehearsal.context import View, show
from trainyard.rehearsal.refusals.rules import Rules

_DAY: Final = 86_400
_WINDOW_HOURS: Final = 6
_LONGEST_VAULT: Final = 99 * 365 * _DAY
_OF_RECURRENCE: Final[Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "HOURLY": (("hourlyFrequency",), ()),
    "DAILY": ((), ()),
    "WEEKLY": (("daysOfWeeks",), ()),
    "MONTHLY": ((), ("daysOfMonths", "weekDayOfMonth")),
    "YEARLY": ((), ("daysOfMonths", "weekDayOfMonth", "months")),
}
"""What a schedule of each kind needs, and what else it may say."""
_SAYS: Final = ("hourlyFrequency", "daysOfWeeks", "daysOfMonths", "weekDayOfMonth", "months")


def plan(view: View) -> None:
    """A plan's schedules, and how long a backup of it is kept, against what its vault insists on."""
    vault = view.referred("backupVault", GCP_BACKUP_VAULT)
    least = seconds_of(vault.text("backupMinimumEnforcedRetentionDuration")) if vault is not None else None
    names: list[object] = []
    for path, rule in view.items("backupRules"):
        days = view.number(f"{path}.backupRetentionDays")
        if days is not None and (days < 1 or days > 36_159):
            view.error("gcp-backup", f"{path}.backupRetentionDays", show(days), allowed="1 to 36159 days")
        elif days is not None and least is not None and vault is not None and days * _DAY < least:
            words = f"{days:g} days; {vault.name} keeps each backup for {least / _DAY:g} at least"
            allowed = f"{least / _DAY:g} or more, or a vault that insists on less"
            view.error("gcp-backup", f"{path}.backupRetentionDays", words, allowed=allowed)
        name = rule.get("ruleId")
        if isinstance(name, str) and not re.fullmatch(r"[a-z][-a-z0-9]{0,62}", name):
            allowed = "1 to 63 of a-z, 0-9 and '-', a letter first"
            view.error("gcp-backup", f"{path}.ruleId", show(name), allowed=allowed)
        elif name in names:
            view.error("gcp-backup", f"{path}.ruleId", f"{show(name)} is there twice", allowed="each name once")
        names.append(name)
        _schedule(view, f"{path}.standardSchedule")


def _schedule(view: View, path: str) -> None:
    kind = view.text(f"{path}.recurrenceType")
    needed, may = _OF_RECURRENCE.get(kind or "", ((), _SAYS))
    for key in _SAYS if kind in _OF_RECURRENCE else ():
        if key in needed and view.lacks(f"{path}.{key}"):
            view.error("gcp-backup", f"{path}.{key}", f"is missing for {kind}", allowed="a value, or another schedule")
        elif key not in (*needed, *may) and view.value(f"{path}.{key}") not in (None, [], {}, 0):
            view.error("gcp-backup", f"{path}.{key}", f"of a schedule that is {kind}", allowed="nothing")
    first, last = (view.number(f"{path}.backupWindow.{key}") for key in ("startHourOfDay", "endHourOfDay"))
    where = f"{path}.backupWindow"
    if first is not None and last is not None and not 0 <= first < last <= 24:
        words = f"from {first:g} to {last:g}"
        view.error("gcp-backup", where, words, allowed="0 to 23, and a later hour up to 24")
    elif first is not None and last is not None and last - first < _WINDOW_HOURS:
        words = f"{last - first:g} hours, from {first:g} to {last:g}"
        view.error("gcp-backup", where, words, allowed=f"{_WINDOW_HOURS} hours or more")
    _zone(view, "gcp-backup", f"{path}.timeZone")


def vault(view: View) -> None:
    """How long a vault insists on: a day to 99 years."""
    path = "backupMinimumEnforcedRetentionDuration"
    seconds = seconds_of(view.text(path))
    if seconds is not None and not _DAY <= seconds <= _LONGEST_VAULT:
        view.error(
            "gcp-backup", path, show(view.text(path)), allowed=f"{_DAY}s to {_LONGEST_VAULT}s: a day to 99 years"
        )


def association(view: View) -> None:
    """What is backed up is of the kind, and in the place, of its plan."""
    of = view.referred("backupPlan", GCP_BACKUP_PLAN)
    for path in ("resourceType", "location"):
        own, theirs = view.text(path), of.text(path) if of is not None else None
        if of is not None and own is not None and theirs is not None and own != theirs:
            view.error("gcp-backup", path, f"{show(own)}; {of.name} is for {show(theirs)}", allowed=theirs)


def scheduled(view: View) -> None:
    """A schedule that comes, in a zone that there is, and a wait that Cloud Scheduler takes."""
    schedule = view.text("schedule")
    english = re.match(
        r"\s*(every|\d+(st|nd|rd|th)|first|second|third|fourth|fifth|last)\b", schedule or "", re.IGNORECASE
    )
    if schedule is not None and english is None and not is_cron(schedule):
        view.error("gcp-schedule", "schedule", show(schedule), allowed="five fields such as '0 3 * * *'")
    _zone(view, "gcp-schedule", "timeZone")
    most = 24 * 3600 if view.has("appEngineHttpTarget") else 1800
    seconds = seconds_of(view.text("attemptDeadline"))
    if seconds is not None and not 15 <= seconds <= most:
        view.error("gcp-schedule", "attemptDeadline", show(view.text("attemptDeadline")), allowed=f"15s to {most}s")
    tries = view.number("retryConfig.retryCount")
    if tries is not None and not 0 <= tries <= 5:
        view.error("gcp-schedule", "retryConfig.retryCount", show(tries), allowed="0 to 5")
    uri = view.text("httpTarget.uri")
    if uri is not None and not re.match(r"https?://[^\s/]+", uri):
        view.error("gcp-schedule", "httpTarget.uri", show(uri), allowed="https://…")


_BOUNDS: Final[Mapping[str, tuple[int, int | None]]] = {
    "messageRetentionDuration": (600, 31 * _DAY),
    "expirationPolicy.ttl": (_DAY, None),
    "retryPolicy.minimumBackoff": (0, 600),
    "retryPolicy.maximumBackoff": (0, 600),
}
"""Seconds of Pub/Sub, the least and the most."""


def message(view: View) -> None:
    """How long messages are kept, waited for and tried again."""
    for path, (low, high) in _BOUNDS.items():
        seconds = seconds_of(view.text(path))
        if seconds is not None and (seconds < low or (high is not None and seconds > high)):
            allowed = f"{low}s to {high}s" if high is not None else f"{low}s or more"
            view.error("gcp-pubsub", path, show(view.text(path)), allowed=allowed)
    wait = view.number("ackDeadlineSeconds")
    if wait is not None and wait != 0 and not 10 <= wait <= 600:
        view.error("gcp-pubsub", "ackDeadlineSeconds", show(wait), allowed="10 to 600 seconds")
    kept, ends = seconds_of(view.text("messageRetentionDuration")), seconds_of(view.text("expirationPolicy.ttl"))
    if kept is not None and ends is not None and ends < kept:
        words = f"{ends:g} s; messages are kept for {kept:g} s"
        view.error("gcp-pubsub", "expirationPolicy.ttl", words, allowed="longer than messageRetentionDuration")
    first, last = (seconds_of(view.text(f"retryPolicy.{key}Backoff")) for key in ("minimum", "maximum"))
    if first is not None and last is not None and first > last:
        view.error("gcp-pubsub", "retryPolicy.minimumBackoff", f"{first:g} s", allowed=f"at most {last:g}s")
    name = view.text("name")
    short = (name or "").rpartition("/")[2]
    if name is not None and (not re.fullmatch(r"[A-Za-z][\w.~+%-]{2,254}", short) or short.startswith("goog")):
        allowed = "3 to 255 letters, digits and -_.~+%, a letter first, and not 'goog'"
        view.error("gcp-pubsub", "name", show(name), allowed=allowed)


def cleanup(view: View) -> None:
    """An age of images has a unit, which days are for the provider alone."""
    for at, _ in view.items("cleanupPolicies"):
        for key in ("olderThan", "newerThan"):
            path = f"{at}.condition.{key}"
            age = view.text(path)
            if age and not re.fullmatch(r"\d+(\.\d+)?[smhd]", age):
                view.error("gcp-form", path, show(age), allowed="a number with its unit, like 2592000s or 30d")


def _zone(view: View, rule: str, path: str) -> None:
    zone = view.text(path)
    if zone is not None and zone and not is_zone(zone):
        allowed = "a zone of the IANA time zone database, as Asia/Dubai"
        view.error(rule, path, show(zone), allowed=allowed, hint=nearest(zone, available_timezones()))


RULES: Rules = {
    plan: (GCP_BACKUP_PLAN,),
    vault: (GCP_BACKUP_VAULT,),
    association: (GCP_BACKUP_ASSOCIATION,),
    scheduled: (GCP_SCHEDULE,),
    message: (GCP_TOPIC, GCP_SUBSCRIPTION),
    cleanup: (GCP_IMAGE_REPOSITORY,),
}
