"""Mail addresses as channels of Cloud Monitoring, for whatever tells people of something, and alarms on a log."""

from collections.abc import Mapping, Sequence
from typing import Final, TypedDict

import pulumi
import pulumi_gcp.monitoring as monitoring

QUIET_SECONDS: Final = 300
"""How long the next mail of the same kind waits: the shortest that Cloud Monitoring takes for alerts on log entries."""


class LogAlarmArgs(TypedDict):
    """What `log_alarm` needs."""

    project: pulumi.Input[str]
    """Id of the project."""
    subject: str
    """Whose alarm it is, for whoever reads it."""
    what: str
    """What it tells of, in words."""
    filter: pulumi.Input[str]
    """The entries of the log that tell it."""
    then: str
    """What to do, or where that stands."""
    channels: Sequence[pulumi.Input[str]]
    """Who is told, as names of channels."""
    labels: Mapping[str, str]
    """Labels of the policy, which Google calls the user's."""


def log_alarm(name: str, args: LogAlarmArgs, opts: pulumi.ResourceOptions) -> monitoring.AlertPolicy:
    """Makes an alarm on every entry of a log that a filter lets by."""
    return monitoring.AlertPolicy(
        name,
        project=args["project"],
        display_name=f"{args['subject']}: {args['what']}",
        combiner="OR",
        severity="WARNING",
        conditions=[{"display_name": args["what"], "condition_matched_log": {"filter": args["filter"]}}],
        documentation={
            "content": f"In project ${{resource.labels.project_id}}, {args['what']}. {args['then']}",
            "mime_type": "text/markdown",
        },
        alert_strategy={"auto_close": "1800s", "notification_rate_limit": {"period": f"{QUIET_SECONDS}s"}},
        notification_channels=list(args["channels"]),
        user_labels=args["labels"],
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
