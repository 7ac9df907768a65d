"""Cloud SQL, budgets and services.

Source: validators of the provider (terraform-provider-google-beta, 2026-08-21), descriptions of pulumi_gcp 10.2.0, and
Google's documentation as read 2026-11.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from trainyard.problems import nearest
from trainyard.recorded.read import as_number
from trainyard.recorded.types import (
    CLOUD_SQL,
    GCP_AUDIT_CONFIG,
    GCP_BUDGET,
    GCP_CONNECTION,
    GCP_NETWORK,
    GCP_PROJECT,
    GCP_QUOTA_OVERRIDE,
    GCP_SERVICE,
    GCP_SERVICE_IDENTITY,
)
from trainyard.rehearsal.context import Stack, View, show
from trainyard.rehearsal.refusals.gcp.values import services
from trainyard.rehearsal.refusals.rules import EVERY_TYPE, Rules

_OF_PLUS: Final = ("db-perf-optimized-", "db-c4a-highmem-")
"""Machines of the edition Enterprise Plus: of the series N2 and C4A (Cloud SQL for PostgreSQL, "Introduction to Cloud
SQL editions", read 2026-11)."""
_PLUS_SINCE: Final = 12  # of PostgreSQL, "Instance settings" there
_SHARED_CORES = ("db-f1-micro", "db-g1-small")


def database(view: View) -> None:
    """Edition against tier, sizes, backups, and a way that is there."""
    tier, edition = view.text("settings.tier"), view.text("settings.edition")
    version = view.text("databaseVersion") or ""
    match = re.fullmatch(r"POSTGRES_(\d+)", version)
    newer = match is not None and int(match[1]) >= 16
    plus = edition == "ENTERPRISE_PLUS" or (newer and view.lacks("settings.edition"))
    if tier is not None and plus and not tier.startswith(_OF_PLUS):
        why = "" if edition else f", the edition of {version} where none is given,"
        allowed = "db-perf-optimized-N-…, or settings.edition ENTERPRISE"
        view.error("gcp-sql-tier", "settings.tier", f"{show(tier)} on ENTERPRISE_PLUS{why}", allowed=allowed)
    elif tier is not None and edition == "ENTERPRISE" and tier.startswith(_OF_PLUS):
        view.error("gcp-sql-tier", "settings.tier", f"{show(tier)} on ENTERPRISE", allowed="db-custom-CPUS-MIB")
    if match is not None and int(match[1]) < _PLUS_SINCE and edition == "ENTERPRISE_PLUS":
        view.error("gcp-sql-edition", "settings.edition", f"{edition} of {version}", allowed="POSTGRES_12 and later")
    _custom(view, tier)
    backed_up = view.flag("settings.backupConfiguration.enabled") or view.is_unknown("settings.backupConfiguration")
    if view.value("settings.availabilityType") == "REGIONAL" and not backed_up:
        path = "settings.backupConfiguration.enabled"
        view.error("gcp-sql-availability", path, "with availabilityType REGIONAL", allowed="true")
    start = view.text("settings.backupConfiguration.startTime")
    if start is not None and not re.fullmatch(r"([01]\d|2[0-3]):[0-5]\d", start):
        view.error("gcp-sql-time", "settings.backupConfiguration.startTime", show(start), allowed="HH:MM")
    for key, low, high in (("day", 1, 7), ("hour", 0, 23)):
        number = view.number(f"settings.maintenanceWindow.{key}")
        if number is not None and not low <= number <= high:
            view.error("gcp-sql-window", f"settings.maintenanceWindow.{key}", show(number), allowed=f"{low} to {high}")
    disk, limit = view.number("settings.diskSize"), view.number("settings.diskAutoresizeLimit")
    if disk is not None and disk < 10:
        view.error("gcp-sql-disk", "settings.diskSize", show(disk), allowed="at least 10 GB")
    if disk is not None and limit and limit < disk:
        view.error(
            "gcp-sql-disk", "settings.diskAutoresizeLimit", show(limit), allowed=f"at least diskSize, {disk:.0f}"
        )
    _network(view)
    _key(view)


def _custom(view: View, tier: str | None) -> None:
    match = re.fullmatch(r"db-custom-(\d+)-(\d+)", tier or "")
    if not match:
        postgres = (view.text("databaseVersion") or "").startswith("POSTGRES")
        if tier is None or tier.startswith(_OF_PLUS) or tier in _SHARED_CORES:
            return
        if tier.startswith("db-n1-") and not postgres:
            return
        if postgres or tier.startswith("db-custom-"):
            view.error("gcp-sql-tier", "settings.tier", show(tier), allowed="db-custom-CPUS-MIB, like db-custom-2-7680")
        return
    cpus, mib = int(match[1]), int(match[2])
    if not (cpus == 1 or (cpus % 2 == 0 and 2 <= cpus <= 96)):
        view.error("gcp-sql-tier", "settings.tier", f"{cpus} CPUs", allowed="1, or an even number up to 96")
    elif mib % 256 or mib < 3840 or not 0.9 * 1024 * cpus <= mib <= 6.5 * 1024 * cpus:
        allowed = f"{max(3840, 922 * cpus)} to {6656 * cpus} MiB in steps of 256"
        view.error("gcp-sql-tier", "settings.tier", f"{mib} MiB for {cpus} CPUs", allowed=allowed)


def _network(view: View) -> None:
    """A private address needs the peering: it has to be there before."""
    base = "settings.ipConfiguration"
    if view.flag(f"{base}.ipv4Enabled") is False and view.lacks(f"{base}.privateNetwork"):
        if not view.entries(f"{base}.pscConfigs"):
            view.error(
                "gcp-sql-network", base, "no address at all", allowed="privateNetwork, pscConfigs or ipv4Enabled"
            )
        return
    network = view.referred(f"{base}.privateNetwork", GCP_NETWORK)
    for found in view.stack.of_type(GCP_CONNECTION):
        peered = found.referred("network", GCP_NETWORK)
        if network is not None and peered is network and found.resource.urn not in view.stack.waits_for(view.resource):
            path = f"{base}.privateNetwork"
            allowed = f"depends_on {found.name}"
            view.error("gcp-sql-peering", path, "does not wait for the private connection", allowed=allowed)


def _key(view: View) -> None:
    match = re.search(r"/locations/([^/]+)/keyRings/", view.text("encryptionKeyName") or "")
    region = view.text("region")
    if match and region is not None and match[1] != region:
        view.error("gcp-key-location", "encryptionKeyName", f"a key in {match[1]}", allowed=f"a key in {region}")


def _of_own_period(view: View) -> None:
    """What is of calendar periods alone: a forecast, and the last period as the amount (Budget API, `Basis` and
    `LastPeriodAmount`: "cannot be set in combination with" a custom period).
    """
    beside = "beside budgetFilter.customPeriod"
    for path, entry in view.items("thresholdRules"):
        if entry.get("spendBasis") == "FORECASTED_SPEND":
            view.error("gcp-budget", f"{path}.spendBasis", f"FORECASTED_SPEND {beside}", allowed="CURRENT_SPEND")
    if view.flag("amount.lastPeriodAmount"):
        view.error("gcp-budget", "amount.lastPeriodAmount", beside, allowed="specifiedAmount")


def budget(view: View) -> None:
    """Shares, not percents; one label; a currency; addresses for the alerts."""
    for path, entry in view.items("thresholdRules"):
        share = as_number(entry.get("thresholdPercent"))
        if share is not None and share > 10:
            view.warning("gcp-budget", f"{path}.thresholdPercent", show(share), allowed="a share: 0.5 is 50 %")
        elif share is not None and share < 0:
            view.error("gcp-budget", f"{path}.thresholdPercent", show(share), allowed="0 or more")
    if len(view.mapping("budgetFilter.labels")) > 1:
        view.error("gcp-budget", "budgetFilter.labels", "several labels", allowed="one key with one value")
    for index, project in enumerate(view.texts("budgetFilter.projects")):
        if not re.fullmatch(r"projects/\d+", project):
            path = f"budgetFilter.projects[{index}]"
            view.error("gcp-budget", path, show(project), allowed="projects/NUMBER")
    if view.has("budgetFilter.calendarPeriod") and view.has("budgetFilter.customPeriod"):
        view.error("gcp-budget", "budgetFilter.customPeriod", "beside calendarPeriod", allowed="one of both")
    if view.has("budgetFilter.customPeriod"):
        _of_own_period(view)
    given = [key for key in ("specifiedAmount", "lastPeriodAmount") if view.value(f"amount.{key}") not in (None, False)]
    if len(given) == 2:
        view.error("gcp-budget", "amount.lastPeriodAmount", "beside specifiedAmount", allowed="one of both")
    currency = view.text("amount.specifiedAmount.currencyCode")
    if currency is not None and not re.fullmatch(r"[A-Z]{3}", currency):
        view.error("gcp-budget", "amount.specifiedAmount.currencyCode", show(currency), allowed="like USD or EUR")
    units = view.value("amount.specifiedAmount.units")
    if isinstance(units, str) and not re.fullmatch(r"\d+", units):
        view.error("gcp-budget", "amount.specifiedAmount.units", show(units), allowed="a whole number, as text")
    account = view.text("billingAccount")
    if account is not None and not re.fullmatch(r"(billingAccounts/)?[0-9A-F]{6}-[0-9A-F]{6}-[0-9A-F]{6}", account):
        view.error("gcp-budget", "billingAccount", show(account), allowed="like 012345-6789AB-CDEF01")
    if len(view.entries("allUpdatesRule.monitoringNotificationChannels")) > 5:
        path = "allUpdatesRule.monitoringNotificationChannels"
        view.error("gcp-budget", path, "more than 5", allowed="at most 5")
    name = view.text("displayName")
    if name is not None and len(name) > 60:
        view.error("gcp-budget", "displayName", f"{len(name)} characters", allowed="at most 60")


_CALLED: Final[Mapping[str, str]] = {
    "artifacts": "artifactregistry", "backupanddr": "backupdr", "billing": "cloudbilling", "budgets": "billingbudgets",
    "cloudbudgets": "billingbudgets", "clouddns": "dns", "cloudfilestore": "file", "cloudmonitoring": "monitoring",
    "cloudrun": "run", "cloudsql": "sqladmin", "cloudstorage": "storage", "filestore": "file", "gce": "compute",
    "gcs": "storage", "gke": "container", "kms": "cloudkms", "kubernetes": "container", "managedlustre": "lustre",
    "quotas": "cloudquotas", "resourcemanager": "cloudresourcemanager",
    "scheduler": "cloudscheduler", "secrets": "secretmanager", "sql": "sqladmin", "tasks": "cloudtasks",
    "vertex": "aiplatform", "vertexai": "aiplatform", "workbench": "notebooks",
}  # fmt: skip
"""Products by the names that people have for them, and the services that they are switched on by (Service Usage,
`gcloud services list --available`, as generally known, 2026-11)."""


def service(view: View) -> None:
    """A service is named with its domain, and is none that is a letter away from another."""
    name = view.text("service")
    if name == "allServices" and view.type == GCP_AUDIT_CONFIG:
        return
    if name is not None and "." not in name:
        view.error("gcp-service", "service", show(name), allowed=f"{name}.googleapis.com")
    elif name is not None and name not in services():
        called = name.removesuffix(".googleapis.com")
        meant = _CALLED.get(called, "") if view.type != GCP_AUDIT_CONFIG else ""
        hint = meant or nearest(called, [each.partition(".")[0] for each in services()], 0.85)
        domain = re.fullmatch(r"[a-z0-9-]+\.(?!googleapis\.com$)goog?le?api[a-z]*\.\w+", name)
        if hint or domain:
            view.error("gcp-service", "service", f"{show(name)} is no service that is known", hint=hint)


_APIS: Final[Mapping[str, str]] = {
    "gcp:artifactregistry/": "artifactregistry",
    "gcp:backupdisasterrecovery/": "backupdr",
    "gcp:billing/budget": "billingbudgets",
    "gcp:cloudrunv2/": "run",
    "gcp:cloudscheduler/": "cloudscheduler",
    "gcp:colab/": "aiplatform",
    "gcp:compute/": "compute",
    "gcp:container/": "container",
    "gcp:dataform/": "dataform",
    "gcp:dns/": "dns",
    "gcp:filestore/": "file",
    "gcp:gkebackup/": "gkebackup",
    "gcp:iam/": "iam",
    "gcp:iap/": "iap",
    "gcp:kms/": "cloudkms",
    "gcp:lustre/": "lustre",
    "gcp:projects/iAMCustomRole": "iam",
    "gcp:pubsub/": "pubsub",
    "gcp:secretmanager/": "secretmanager",
    "gcp:serviceaccount/": "iam",
    "gcp:servicenetworking/": "servicenetworking",
    "gcp:sql/": "sqladmin",
    "gcp:vertex/": "aiplatform",
    "gcp:workbench/": "notebooks",
}
"""Services by the types that are made through them. Those that a new project has on are not among them: storage,
logging, monitoring and others (Service Usage, "Services enabled by default", as generally known, 2026-11)."""


_OF_NO_PROJECT: Final = ("gcp:compute/firewallPolicy", "gcp:compute/organizationSecurityPolicy")
"""How types begin that are of a folder or an organization: the API has to be on in the project of whoever asks, which
is one that the stack makes only where the provider says so."""


def api_of(type_: str) -> str | None:
    """The service that a type is made through, by its short name; None for one that each project has on."""
    return next((name for prefix, name in _APIS.items() if type_.startswith(prefix)), None)


@dataclass(frozen=True, slots=True)
class _Switched:
    """What a stack switches on, and what that is held against."""

    by_service: Mapping[str, Sequence[View]]  # those that are there before the stack are left out
    of_new_projects: bool  # whether the stack makes a project, in which nothing is on

    @classmethod
    def by(cls, stack: Stack) -> _Switched:
        found = defaultdict(list)
        for on in stack.of_type(GCP_SERVICE):
            if not on.resource.read:
                found[on.text("service") or ""].append(on)
        # A recording without any dependency knows of none.
        known = any(item.dependencies for item in stack.resources.all)
        new = any(not one.resource.read for one in stack.of_type(GCP_PROJECT))
        return cls(found if known else {}, new)


def after_its_service(view: View) -> None:
    """What is made through a service that the program switches on waits for that.

    In a project that has the service on already nothing fails: only in one that the stack makes that is no matter of
    where it is run.
    """
    api = api_of(view.type)
    if api is None or view.resource.read:
        return
    switched, own = view.stack.once(_Switched.by), project_of(view)
    if own is None and view.type.startswith(_OF_NO_PROJECT):
        return
    # Where no project is said, any that has the service switched on may be the one.
    meant = [
        on
        for on in switched.by_service.get(f"{api}.googleapis.com", ())
        if own is None or project_of(on) in (None, own)
    ]
    if not meant:
        return
    before = view.stack.waits_for(view.resource)
    if not any(on.resource.urn in before for on in meant):
        path = "project" if view.has("project") else ""
        words = f"does not wait for {meant[0].name}, which switches {api}.googleapis.com on"
        note = view.error if switched.of_new_projects else view.warning
        note("gcp-service-order", path, words, allowed=f"depends_on {meant[0].name}")


def project_of(view: View) -> str | None:
    """The id of the project that it is in, by itself or by its own provider; None where that is not known."""
    if view.has("project"):
        said: object = view.text("project")
    else:
        said = next((inputs.get("project") for inputs in view.stack.provider_inputs(view.resource)), None)
    project = said.removeprefix("projects/") if isinstance(said, str) else ""
    return None if not project or project.isdigit() else project


RULES: Rules = {
    after_its_service: (EVERY_TYPE,),
    database: (CLOUD_SQL,),
    budget: (GCP_BUDGET,),
    service: (
        GCP_SERVICE,
        GCP_SERVICE_IDENTITY,
        GCP_QUOTA_OVERRIDE,
        GCP_AUDIT_CONFIG,
    ),
}
