"""What one service of Google Cloud is told of another, and takes, and that then does not come: calls with a token of
the wrong kind, messages that nobody reads, backups that nobody makes, keys that no image knows.

Sources: Cloud Scheduler, "Use authentication with HTTP targets" (APIs of Google take OAuth, services of Cloud Run and
functions OpenID Connect); Pub/Sub, "Dead-letter topics" (a topic without subscription keeps nothing); Backup for GKE,
"Install Backup for GKE"; Compute Engine, "Predefined metadata keys"; as generally known in 2026-11.
"""

from __future__ import annotations

import datetime
import re
from typing import Final

from trainyard.problems import nearest_word
from trainyard.recorded.types import (
    GCP_BUCKET_NOTIFICATION,
    GCP_MACHINES,
    GCP_NOTIFICATION_CHANNEL,
    GCP_SCHEDULE,
    GCP_SUBSCRIPTION,
    GCP_TOPIC,
    GCP_TRANSFER_JOB,
    GKE_BACKUP_PLAN,
    GKE_CLUSTER,
)
from trainyard.rehearsal.context import Stack, View, show

_OF_GOOGLE: Final = re.compile(r"https://[\w.-]+\.googleapis\.com(/|$)")
_KEY: Final = re.compile(r"[?&]key=")
"""A key in the address: of a webhook of Google Chat, or of an API that takes one."""
_OF_RUN: Final = re.compile(r"https://[\w.-]+\.(run\.app|cloudfunctions\.net)(/|$)")
_READS: Final = re.compile(r"roles/pubsub\.(subscriber|editor|admin)|projects/.+|organizations/.+")
_ON_TOPIC: Final = re.compile(r"gcp:pubsub/topicIAM(Member|Binding|Policy):\w+")
_KEYS: Final = (
    "block-project-ssh-keys", "disable-legacy-endpoints", "enable-guest-attributes", "enable-osconfig",
    "enable-oslogin", "enable-oslogin-2fa", "google-logging-enabled", "google-monitoring-enabled",
    "idle-timeout-seconds", "install-nvidia-driver", "serial-port-enable", "serial-port-logging-enable",
    "shutdown-script", "shutdown-script-url", "ssh-keys", "sshKeys", "startup-script", "startup-script-url",
    "user-data", "windows-startup-script-ps1",
)  # fmt: skip
"""Keys of metadata that Google's images read."""
_SAY_WHO: Final = {"authorization", "x-goog-api-key"}
_SAME_KEY: Final = 0.92


def check(stack: Stack) -> None:
    """Every one of them."""
    for view in stack.of_type(GCP_SCHEDULE):
        _token(view)
    _laid_aside(stack)
    for view in stack.of_type(GKE_BACKUP_PLAN):
        _agent(view)
    for view in stack.of_type(GCP_TRANSFER_JOB):
        _ended(view)
    _prefixes(stack)
    for type_ in GCP_MACHINES:
        for view in stack.of_type(type_):
            _metadata(view)


def _token(view: View) -> None:
    """APIs of Google take one kind of token, what runs on Cloud Run the other: with the wrong one all is refused."""
    uri = view.text("httpTarget.uri") or ""
    oauth, oidc = ("httpTarget.oauthToken", "httpTarget.oidcToken")
    if _OF_GOOGLE.match(uri) and view.has(oidc):
        words = "an API of Google's is called with a token of OpenID Connect, and refuses it"
        view.error("programs-token", oidc, words, allowed="oauthToken")
    elif _OF_RUN.match(uri) and view.has(oauth):
        words = "a service of Cloud Run is called with a token of OAuth, and refuses it"
        view.error("programs-token", oauth, words, allowed="oidcToken")
    elif _OF_GOOGLE.match(uri) and view.lacks(oauth) and not _has_headers_of_its_own(view) and not _KEY.search(uri):
        words = "is missing: an API of Google's is called by nobody in particular, and refuses it"
        view.error("programs-token", oauth, words, allowed="oauthToken with an account")


def _has_headers_of_its_own(view: View) -> bool:
    """Whether a call says by itself who calls, or may: a header of a token or a key."""
    headers = "httpTarget.headers"
    names = {str(name).lower() for name in view.mapping(headers)}
    return view.is_unknown(headers) or view.is_secret(headers) or not names.isdisjoint(_SAY_WHO)


def _laid_aside(stack: Stack) -> None:
    """A topic without subscription keeps nothing: what is laid aside, or told, there is gone."""
    for type_, path, what in (
        (GCP_SUBSCRIPTION, "deadLetterPolicy.deadLetterTopic", "what fails is laid aside there and lost"),
        (GCP_NOTIFICATION_CHANNEL, "labels.topic", "alerts are told to nobody"),
    ):
        for view in stack.of_type(type_):
            named = view.text(path)
            topics = [one for one in stack.of_type(GCP_TOPIC) if one.resource.id == named and not one.resource.read]
            if len(topics) == 1 and not _is_read(topics[0]):
                words = f"{topics[0].name} has no subscription: {what}"
                view.warning("programs-unread", path, words, allowed="a Subscription of that topic")


def _is_read(topic: View) -> bool:
    """Whether somebody may take messages off a topic: here, or by a right on it from elsewhere."""
    names = {topic.resource.id, topic.resource.outputs.get("name"), topic.text("name")} - {None}
    for view in topic.stack.views:
        if _ON_TOPIC.fullmatch(view.type):
            if _READS.fullmatch(view.text("role") or "projects/x") and view.text("topic") in names:
                return True
        elif view.type != GCP_TOPIC and view.type.startswith(
            ("gcp:pubsub/subscription:", "gcp:eventarc/", "gcp:cloudf", "gcp:cloudbuild/")
        ):
            given = [text for path, text in view.known_texts if not path.startswith("deadLetterPolicy")]
            if names & set(given) or view.is_unknown("topic"):
                return True
    return False


def _agent(view: View) -> None:
    """A plan of backups of a cluster that has nobody to make them."""
    cluster, path = view.referred("cluster", GKE_CLUSTER), "addonsConfig.gkeBackupAgentConfig.enabled"
    if cluster is None or cluster.resource.read or cluster.flag("enableAutopilot"):
        return
    if cluster.flag(path) is False or cluster.lacks(path):
        words = f"{cluster.name} has no agent of Backup for GKE: no backup is made"
        view.error("programs-backup-agent", "cluster", words, allowed=f"{path} of the cluster true")


def _ended(view: View) -> None:
    """A job whose last day is over."""
    end = view.mapping("schedule.scheduleEndDate")
    try:
        last = datetime.date(*(int(end[key]) for key in ("year", "month", "day")))
    except (KeyError, TypeError, ValueError):
        return
    start = view.mapping("schedule.scheduleStartDate")
    if last < datetime.datetime.now(datetime.UTC).date() and start != end:
        words = f"ends on {last.isoformat()}, which is over: nothing is copied"
        view.warning("programs-over", "schedule.scheduleEndDate", words, allowed="a day to come, or none")


def _prefixes(stack: Stack) -> None:
    """Names of objects begin without a stroke."""
    for type_, path in (
        (GCP_BUCKET_NOTIFICATION, "objectNamePrefix"),
        (GCP_TRANSFER_JOB, "transferSpec.gcsDataSource.path"),
        (GCP_TRANSFER_JOB, "transferSpec.gcsDataSink.path"),
    ):
        for view in stack.of_type(type_):
            text = view.text(path) or ""
            if text.startswith(("/", "gs://")):
                view.error("programs-prefix", path, f"{show(text)} begins no object's name", allowed=text.lstrip("/"))


def _metadata(view: View) -> None:
    """Keys that are nearly those that the images read."""
    for key in view.mapping("metadata"):
        near = nearest_word(str(key).lower().replace("_", "-"), _KEYS, _SAME_KEY)
        if near and key not in _KEYS:
            words = f"nothing reads the key {show(key)}"
            view.warning("programs-metadata", f"metadata.{key}", words, allowed=near, hint=f"did you mean {near}?")
