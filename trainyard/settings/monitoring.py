"""Settings: what a cluster is watched by, and from when something is worth an alert. The block `monitoring`."""

from typing import Annotated, Literal

from pydantic import Field

from trainyard.settings.types import Cores, Memory, Model, matching

Percent = Annotated[int, Field(ge=1, le=100)]
Minutes = Annotated[int, Field(ge=5, le=1440)]

Runbooks = Annotated[
    str,
    matching(
        r"https://[A-Za-z0-9.-]{1,253}(:[0-9]{1,5})?(/[A-Za-z0-9._~%-]+)*",
        "must be an address without a slash at its end, like https://docs.example.com/runbooks",
    ),
]


class MonitoringAlerts(Model):
    """From when something is worth an alert."""

    gpu_utilisation_percent: Percent | None = Field(
        default=None, description="a pod's GPUs computed less than this of two hours"
    )
    idle_gpu_minutes: Minutes | None = Field(default=None, description="a pod's GPUs did nothing for so long")
    queue_hours: Annotated[int, Field(ge=1, le=168)] | None = Field(
        default=None, description="a job waited for longer, in a queue that is open"
    )
    failed_jobs_percent: Percent | None = Field(default=None, description="more of a day's jobs failed")
    failed_jobs_of: Annotated[int, Field(ge=1, le=10_000)] | None = Field(
        default=None, description="jobs that have to have ended in the day for that to count"
    )
    checkpoint_hours: Annotated[int, Field(ge=2, le=168)] | None = Field(
        default=None, description="a team trained for so long and its newest checkpoint is older"
    )
    cost_spike_percent: Annotated[int, Field(ge=1, le=1000)] | None = Field(
        default=None, description="the GPUs of a day cost so much more than those of the week before"
    )
    cost_spike_usd_per_day: Annotated[int, Field(ge=1, le=1_000_000)] | None = Field(
        default=None, description="US dollars a day that the rise has to be at least"
    )
    budget_percents: Annotated[list[Annotated[int, Field(ge=1, le=1000)]], Field(min_length=3, max_length=3)] | None = (
        Field(default=None, description="of a team's budget: noted, warned of, spent; rising")
    )
    throttled_minutes: Minutes | None = Field(
        default=None, description="a GPU was held back by heat or power for so long"
    )
    disk_free_percent: Annotated[int, Field(ge=1, le=50)] | None = Field(
        default=None, description="less of a volume or of a node's disk is left"
    )
    certificate_days: Annotated[int, Field(ge=1, le=364)] | None = Field(
        default=None, description="a certificate ends in fewer days"
    )
    node_not_ready_minutes: Minutes | None = Field(default=None, description="a node was not ready for so long")
    controller_down_minutes: Minutes | None = Field(
        default=None, description="a program of the platform had no replica for so long"
    )


class Monitoring(Model):
    """What every cluster is watched by: Prometheus, Alertmanager, Grafana."""

    enabled: bool | None = Field(default=None, description="whether there is one")
    service: Literal["cluster", "managed"] | None = Field(
        default=None,
        description="who keeps figures, evaluates rules and tells of alerts: `cluster`, Prometheus on the cluster, or "
        "`managed`, the service of the cloud: Amazon Managed Service for Prometheus, on AWS",
    )
    retention_days: Annotated[int, Field(ge=1, le=730)] | None = Field(
        default=None, description="days that figures are kept; a month's budget needs 32"
    )
    storage_gib: Annotated[int, Field(ge=10, le=16_384)] | None = Field(
        default=None,
        description="volume of Prometheus, GiB; the oldest figures go before it is full; not with `service: managed`",
    )
    cpu: Cores | None = Field(default=None, description="of Prometheus, a Kubernetes quantity")
    memory: Memory | None = Field(default=None, description="of Prometheus, a Kubernetes quantity")
    runbooks: Runbooks | None = Field(
        default=None,
        description="where docs/runbooks is published, for the links in alerts; by default they name the file",
    )
    checkpoint_drill: bool | None = Field(
        default=None,
        description="whether a job restores each week what it left on the checkpoint tier the week before",
    )
    checkpoint_check: bool | None = Field(
        default=None,
        description="whether jobs look each day if the teams' newest checkpoints can be read, and how old they are",
    )
    alerts: MonitoringAlerts = Field(default=MonitoringAlerts(), description="from when something is worth an alert")
