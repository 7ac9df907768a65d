"""What a cloud asks of a stack file, and which of the settings that all clouds share it does not serve yet."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from pydantic.alias_generators import to_camel

from trainyard.problems import Problem

if TYPE_CHECKING:
    from trainyard.settings.common import Settings

CLOUD_NAMES: Final = {"aws": "AWS", "gcp": "Google Cloud"}
"""The clouds as people write them."""

LEAVES: Final = {
    "gcp": "the log of who changed what, which Google keeps for 400 days in _Required, of no region",
}
"""What a cloud keeps outside of any region, whatever a stack says. Nobody can switch that log off; where it lies, an
organisation says for new projects (Cloud Logging, "Regionalize your logs", as generally known)."""

NOT_ON_GCP: Final = {
    "api_access": "GKE's API is reached by a name that IAM guards, from everywhere and by nobody else",
    "audit.trail.retention_days": "the record is in the log bucket of the region, and logRetentionDays says how long",
    "audit.threat_detection": "Security Command Center is the organisation's, and is switched on there",
    "audit.container_logs": "GKE collects what containers write, and logRetentionDays says how long it is kept",
    "audit.break_glass": "an owner of the project is the way in, and giving that right sets off an alarm",
    "images.cache_logins": "images.cache needs no login on Google Cloud",
    "mlflow.database.restore_from": "Cloud SQL restores into an instance that is there",
    "scheduler.scale_down_after_minutes": "GKE's autoscaler takes empty nodes away when it wants to",
    "scheduler.dry_capacity_minutes": "what keeps dry capacity out of the queues reads the Cluster Autoscaler of EKS",
    "budget.anomaly_threshold_usd": "Google's own anomaly detection is the billing account's, and takes no threshold",
    "managed.max_runtime_hours": "a job of Vertex AI says itself when it ends, seven days where it does not",
    "managed.kernel_idle_minutes": "an open kernel that does nothing is idle to Colab Enterprise",
    "managed.max_space_gib": "an editor's disk is its template's, and people make no templates",
    "managed.over_budget": "a budget of Google's tells, and stops nothing",
    "stage": "GKE's API is reached from everywhere by who may, so that one `up` makes everything",
}
"""Settings that Google Cloud does not read, with the reason."""


def cloud_checks(settings: Settings) -> Iterator[Problem]:
    """What a cloud needs to be told, and what it would not read."""
    if settings.cloud != "gcp":
        return
    for key, why in (
        ("project", "the id of the project"),
        ("project_number", "the number of the project, by which pods' rights are named"),
    ):
        if getattr(settings.gcp, key) is None:
            yield Problem(f"gcp.{to_camel(key)}", "nothing", f"cloud gcp needs {why}")
    gcp = settings.gcp
    if gcp.billing_currency != "USD" and gcp.billing_units_per_usd == 1:
        allowed = f"must say how many {gcp.billing_currency} a US dollar is: the budget is told in them"
        yield Problem("gcp.billingUnitsPerUsd", "1", allowed)
    if gcp.billing_account is not None and not 1 <= len(settings.alert_emails) <= 5:
        allowed = "a budget of Google's tells one to five addresses"
        yield Problem("alertEmails", f"{len(settings.alert_emails)} addresses", allowed, "or no gcp.billingAccount")
    for path, why in NOT_ON_GCP.items():
        if _at(settings, path) != _at(type(settings).model_construct(), path):
            key = ".".join(map(to_camel, path.split(".")))
            yield Problem(key, "a value", f"is not read where cloud is gcp: {why}", "leave it out")
    for name, pool in settings.gpu_pools.items():
        if pool.spot is not None and pool.spot.instance_types is not None:
            allowed = "is not read where cloud is gcp: a node pool has one machine type"
            yield Problem(f"gpuPools.{name}.spot.instanceTypes", "a value", allowed, "leave it out")


def cloud_advice(settings: Settings) -> Iterator[str]:
    """That a block is of another cloud than the environment: one stack file's defaults may serve several."""
    for cloud, name in CLOUD_NAMES.items():
        block = getattr(settings, cloud)
        if cloud != settings.cloud and block != type(block)():
            yield f"{cloud}: what only {name} understands is not read, cloud is {settings.cloud}"
    for pool, given in settings.gpu_pools.items():
        for setting in ("flex_start", "local_ssds") if settings.cloud != "gcp" else ():
            if getattr(given, setting) is not None:
                what = f"gpuPools.{pool}.{to_camel(setting)}: what only {CLOUD_NAMES['gcp']} understands"
                yield f"{what} is not read, cloud is {settings.cloud}"


def _at(settings: Any, path: str) -> Any:
    for step in path.split("."):
        settings = getattr(settings, step)
    return settings
