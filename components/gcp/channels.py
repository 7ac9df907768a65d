"""Mail addresses as channels of Cloud Monitoring, for whatever tells people of something, and alarms on a log."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple, TypedDict

import pulumi
import pulumi_gcp.monitoring as monitoring

QUIET_SECONDS: Final = 300
"""How long the next mail of the same kind waits: the shortest that Cloud Monitoring takes for alerts on log entries."""


class LogAlarm(NamedTuple):
    """An alarm on every entry of a log that a filter lets by."""

    what: str  # what it tells of, in words
    filter: pulumi.Input[str]
    then: str  # what to do, or where that stands


class LogAlarmsArgs(TypedDict):
    """What `log_alarms` needs."""

    project: pulumi.Input[str]
    """Id of the project."""
    subject: str
    """Whose alarms they are, for whoever reads them."""
    addressed: str
    """What people see before each address."""
    emails: Sequence[str]
    """Addresses that are written to."""
    labels: Mapping[str, str]
    """Labels of channels and policies, which Google calls the user's."""


def log_alarms(name: str, args: LogAlarmsArgs, alarms: Mapping[str, LogAlarm], opts: pulumi.ResourceOptions) -> None:
    """Makes alarms, by their short names, and the channels of whoever is told."""
    labels = dict(args["labels"])
    channels = email_channels(name, args["project"], args["addressed"], args["emails"], opts, labels)
    for short, alarm in alarms.items():
        monitoring.AlertPolicy(
            f"{name}-{short}",
            project=args["project"],
            display_name=f"{args['subject']}: {alarm.what}",
            combiner="OR",
            severity="WARNING",
            conditions=[{"display_name": alarm.what, "condition_matched_log": {"filter": alarm.filter}}],
            documentation={
                # Not every kind of log has the project among its labels.
                "content": pulumi.Output.concat("In project ", args["project"], f", {alarm.what}. {alarm.then}"),
                "mime_type": "text/markdown",
            },
            alert_strategy={"auto_close": "1800s", "notification_rate_limit": {"period": f"{QUIET_SECONDS}s"}},
            notification_channels=list(channels),
            user_labels=labels,
            opts=opts,
        )


def email_channels(
    name: str,
    project: pulumi.Input[str],
    what: str,
    emails: Sequence[str],
    opts: pulumi.ResourceOptions,
    labels: Mapping[str, str] | None = None,
) -> list[pulumi.Output[str]]:
    """Makes a channel for each address, once; returns their names. `what` begins what people see of each."""
    return [
        monitoring.NotificationChannel(
            f"{name}-{email}",
            project=project,
            type="email",
            display_name=f"{what}: {email}",
            labels={"email_address": email},
            user_labels=labels,
            opts=opts,
        ).name
        for email in dict.fromkeys(emails)
    ]
