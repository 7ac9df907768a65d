"""Mail addresses as channels of Cloud Monitoring, for whatever tells people of something."""

from collections.abc import Mapping, Sequence

import pulumi
import pulumi_gcp.monitoring as monitoring


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
