"""Labels by which filters mean one thing of the stack: a service, a job, a database, a bucket.

Source: Cloud Logging and Monitoring, "Monitored resource types" (`cloud_run_revision`, `cloud_run_job`,
`cloudsql_database`, `gcs_bucket`, `pubsub_topic`, `pubsub_subscription`), as generally known in 2026-11. A filter that
names another one counts nothing, and nobody refuses it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from trainyard.conventions.gcp import LOG_SEVERITIES
from trainyard.problems import nearest
from trainyard.recorded.types import (
    CLOUD_SQL,
    GCP_BUCKET,
    GCP_FUNCTION,
    GCP_RUN_JOB,
    GCP_RUN_SERVICE,
    GCP_SCHEDULE,
    GCP_SUBSCRIPTION,
    GCP_TOPIC,
)
from trainyard.rehearsal.context import Stack, View, show
from trainyard.rehearsal.near import nearest_of

_KIND: Final = re.compile(r"resource\.type\"?\s*=\s*\"?([a-z0-9_]+)")
_AUTOSCALERS: Final = ("gcp:compute/autoscaler:Autoscaler", "gcp:compute/regionAutoscaler:RegionAutoscaler")
_MEANS: Final = {
    "cloud_run_revision": (
        "service_name",
        (GCP_RUN_SERVICE, "gcp:cloudrun/service:Service", GCP_FUNCTION),
    ),
    "cloud_run_job": ("job_name", (GCP_RUN_JOB,)),
    "cloudsql_database": ("database_id", (CLOUD_SQL,)),
    "gcs_bucket": ("bucket_name", (GCP_BUCKET,)),
    "pubsub_subscription": ("subscription_id", (GCP_SUBSCRIPTION,)),
    "pubsub_topic": ("topic_id", (GCP_TOPIC,)),
    "cloud_scheduler_job": ("job_id", (GCP_SCHEDULE,)),
    "cloud_tasks_queue": ("queue_id", ("gcp:cloudtasks/queue:Queue",)),
    "filestore_instance": ("instance_name", ("gcp:filestore/instance:Instance",)),
    "cloud_function": ("function_name", ("gcp:cloudfunctions/function:Function",)),
}
"""The label by which each kind of resource is named, and the types that are meant: a function is a service of Run."""
_WITH_PROJECT: Final = ("database_id",)
"""Labels whose value is `PROJECT:NAME`."""
_WHOLE_IN_LOGS: Final = ("subscription_id", "topic_id")
"""Labels whose value is the whole name in logs (Pub/Sub, "Audit logging"), and the last part of it in figures."""


_SEVERITY: Final = re.compile(r"(?<![\w.])severity\s*(?:=|!=|>=|<=|>|<)\s*\"?(?P<name>[A-Za-z]+)")


def check(alert: View, path: str, text: str) -> None:
    """A filter that means one kind of resource alone, and names it."""
    for word in _SEVERITY.findall(text):
        if word.upper() not in LOG_SEVERITIES:
            hint = nearest(word.upper(), LOG_SEVERITIES)
            alert.error(
                "programs-filter",
                path,
                f"no entry has the severity {show(word)}",
                allowed=", ".join(LOG_SEVERITIES),
                hint=hint,
            )
    kinds = _KIND.findall(text)
    if len(kinds) != 1 or kinds[0] not in _MEANS or re.search(r"\bNOT\b", text):
        return
    label, types = _MEANS[kinds[0]]
    known = _names(alert.stack, types)
    made = [view for type_ in types for view in alert.stack.of_type(type_)]
    resources = {
        name for view in made for name in (view.name, view.resource.component.rpartition("/")[2])
    }  # as the program calls them
    whole = label in _WHOLE_IN_LOGS and "metric.type" not in text
    for asked in re.findall(rf"{label}\"?\s*=\s*\"([^\"]+)\"", text) if known else ():
        name = asked.rpartition("/" if whole else ":")[2]  # of a database `PROJECT:INSTANCE`
        if name in known and name == asked and label in _WITH_PROJECT:
            words = f"asks for {label} {show(asked)}, and entries have it with its project before: nothing is counted"
            alert.error("programs-filter", path, words, allowed=f"PROJECT:{asked}")
        elif not whole and "/" in asked and asked.rpartition("/")[2] in known:
            words = f"asks for {label} {show(asked)}, and entries have the name alone: nothing is counted"
            alert.error("programs-filter", path, words, allowed=asked.rpartition("/")[2])
        if name in known:
            continue
        near = nearest_of(name, sorted(known))
        # What is called otherwise altogether is another stack's.
        longer = any(_is_longer(name, one) for one in known)
        if near or longer or name in resources or name in _beside(alert.stack, types[0]):
            message = f"asks for {label} {show(asked)}, and the stack has no such {types[0].rpartition(':')[2]}"
            allowed = f"one of {', '.join(sorted(known))}"
            tell = alert.error if near else alert.warning
            tell("programs-filter", path, message, allowed=allowed, hint=f"did you mean {near}?" if near else "")


def _beside(stack: Stack, type_: str) -> set[str | None]:
    """Names of everything of the service that a type is of."""
    service = type_.partition("/")[0]
    return {view.text("name") for view in stack.views if view.type.startswith(f"{service}/")}


def _is_longer(name: str, other: str) -> bool:
    """Whether one name is the other and words more, as `uploads-dead-letter` is of `uploads-dead`."""
    return name.startswith(f"{other}-") or other.startswith(f"{name}-")


def autoscalers(stack: Stack) -> None:
    """Figures by which groups of machines grow."""
    for view in (one for type_ in _AUTOSCALERS for one in stack.of_type(type_)):
        for path, metric in view.items("autoscalingPolicy.metrics"):
            text = metric.get("filter")
            if isinstance(text, str):
                check(view, f"{path}.filter", text)


def _names(stack: Stack, types: Sequence[str]) -> set[str]:
    """Names of all of some types; none where one is not known."""
    found: set[str] = set()
    for view in (one for type_ in types for one in stack.of_type(type_)):
        names = {
            name
            for name in (view.text("name"), view.resource.outputs.get("name"), view.resource.id)
            if isinstance(name, str)
        }
        if not names or view.resource.read:
            return set()
        found |= {name.rpartition("/")[2] for name in names}
    return found
