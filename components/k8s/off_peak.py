"""The keeper of off-peak hours: queues of work that can wait are open by night, and held by day.

What it decides stands in `keepers/off_peak.py`. Its rights are to read and apply these very LocalQueues and to write
events beside them, in each team's namespace, and nothing else. It asks nobody but the API server.
"""

from collections.abc import Mapping, Sequence
from typing import TypedDict

import pulumi
import pulumi_kubernetes.rbac.v1 as rbac

from trainyard.components.k8s.keeper_pod import keeper_account, keeper_deployment, keeper_role
from trainyard.conventions.monitoring import OFF_PEAK_KEEPER

WEIGHT = "10m"
"""A hundredth of the weight of a team that owns one GPU, or none: of all who borrow such a queue has the largest share
for its weight, and gives back first."""


class HoursArgs(TypedDict):
    """Hours of every day, by the clock of a place."""

    start: str
    """From when, HH:MM."""
    end: str
    """Until when, HH:MM; where that is no later than `start`, of the next day."""
    time_zone: str
    """By whose clock: a name of the IANA time zone database."""


class OffPeakArgs(TypedDict):
    """When work that can wait may start."""

    image: str
    """Image with Python and its time zones, `image:tag@sha256:...`."""
    hours: HoursArgs
    """The hours in which it may."""


class OffPeakQueueArgs(TypedDict):
    """A team's queue of work that can wait."""

    cluster_queue: str
    """Name of its ClusterQueue, which owns nothing."""
    local_queue: str
    """Name of its LocalQueue, in the team's namespace."""
    flavors: Sequence[str]
    """What it may borrow, in the order in which it is tried."""


def told_hours(hours: HoursArgs) -> dict[str, str]:
    """The hours as a keeper's configuration has them (`keepers/hours.py`)."""
    return {"from": hours["start"], "to": hours["end"], "time_zone": hours["time_zone"]}


def off_peak_keeper(
    name: str,
    args: OffPeakArgs,
    queues: Mapping[str, tuple[pulumi.Input[str], str]],
    namespace: pulumi.Input[str],
    node_selector: Mapping[str, str],
    parent: pulumi.Resource,
    depends_on: Sequence[pulumi.Resource],
) -> None:
    """Makes the keeper; `queues` has by team its namespace and the name of its LocalQueue."""
    opts = pulumi.ResourceOptions(parent=parent, depends_on=list(depends_on))
    subject = keeper_account(f"{name}-off-peak", OFF_PEAK_KEEPER, namespace, opts)
    for team, (own, queue) in queues.items():
        holds: rbac.PolicyRuleArgsDict = {
            "api_groups": ["kueue.x-k8s.io"],
            "resources": ["localqueues"],
            "resource_names": [queue],
            "verbs": ["get", "patch"],
        }
        events: rbac.PolicyRuleArgsDict = {
            "api_groups": ["events.k8s.io"], "resources": ["events"], "verbs": ["create"],
        }  # fmt: skip
        keeper_role(f"{name}-off-peak-{{}}-{team}", OFF_PEAK_KEEPER, own, [holds, events], subject, opts)
    configuration = pulumi.Output.json_dumps(
        {
            **told_hours(args["hours"]),
            "queues": [{"namespace": own, "name": queue} for own, queue in queues.values()],
        }
    )
    keeper_deployment(
        f"{name}-off-peak", OFF_PEAK_KEEPER, "off_peak", args["image"], configuration, subject, node_selector, opts
    )
