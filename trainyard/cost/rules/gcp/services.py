"""The database, keys, secrets and logs on Google Cloud."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from trainyard.conventions import DAYS_A_MONTH, HOURS_A_MONTH
from trainyard.conventions.quantities import GIBIBYTE, quantity
from trainyard.cost.context import CostEntry, PriceContext, unpriced
from trainyard.cost.model import NOTHING, Amounts, always
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import is_on, length_at, mappings_at, number_at, text_at, value_at
from trainyard.recorded.types import GCP_AUDIT_CONFIG, GCP_BUCKET, GCP_CRYPTO_KEY, GCP_REGIONAL_SECRET

_ASKED: Final[Mapping[str, tuple[str, tuple[tuple[str, int], ...]]]] = {
    "storage": (GCP_BUCKET, (("bucket_puts_thousand", 1_000), ("bucket_gets_thousand", 1_000))),
    "cloudkms": (GCP_CRYPTO_KEY, (("kms_requests_ten_thousand", 10_000),)),
    "secretmanager": (GCP_REGIONAL_SECRET, (("secret_requests_ten_thousand", 10_000),)),
}
"""What is asked of a service: the type of the thing, and assumptions of how often, each with its unit in requests."""

_SYMMETRIC: Final = "GOOGLE_SYMMETRIC_ENCRYPTION"
_SHARED_CORE: Final = ("db-f1-micro", "db-g1-small")
_DISKS: Final = {"PD_SSD": "sql.ssd", "PD_HDD": "sql.hdd"}
_PLUS: Final = re.compile(r"db-perf-optimized-N-(\d+)")
_GIB_OF_PLUS: Final = 8
"""Memory a vCPU of the tiers of Enterprise Plus (Cloud SQL, "Machine types", as generally known)."""
_TIER: Final = re.compile(r"db-custom-(\d+)-(\d+)")
FREE_LOG_DAYS = 30
"""Days that a log bucket keeps what came in without a further charge (Cloud Logging, as generally known)."""


def database(resource: RecordedResource, context: PriceContext) -> Iterator[CostEntry]:
    """Cores and memory, in one zone or two, storage that grows to its limit, and backups."""
    settings = value_at(resource.inputs, "settings")
    tier, edition = str(value_at(settings, "tier")), text_at(settings, "edition") or "ENTERPRISE"
    copies = 2 if value_at(settings, "availabilityType") == "REGIONAL" else 1
    where = "2 zones" if copies == 2 else "1 zone"
    hours = always(copies * HOURS_A_MONTH)
    size = _size(tier, edition)
    if size is not None:
        cpus, gib, of = size
        yield context.line(resource, f"{cpus} vCPUs in {where}", f"sql.postgres.vcpu{of}", hours.times(cpus))
        yield context.line(resource, f"{gib:g} GiB of memory in {where}", f"sql.postgres.memory{of}", hours.times(gib))
    elif tier in _SHARED_CORE and edition == "ENTERPRISE":
        yield context.line(resource, f"{tier} in {where}", f"sql.{tier}", hours)
    else:
        yield unpriced(resource, f"{tier} in {where}", f"edition {edition}: a tier that has no price in the catalogue")
    yield from _storage(resource, copies, where, context)


def _size(tier: str, edition: str) -> tuple[int, float, str] | None:
    """vCPUs, GiB of memory and what the keys of their prices end in; None of a tier that does not tell."""
    custom = _TIER.fullmatch(tier)
    if custom is not None and edition == "ENTERPRISE":
        return int(custom[1]), int(custom[2]) / 1024, ""
    plus = _PLUS.fullmatch(tier)
    if plus is not None and edition == "ENTERPRISE_PLUS":
        return int(plus[1]), float(int(plus[1]) * _GIB_OF_PLUS), ".enterprise-plus"
    return None


def _storage(resource: RecordedResource, copies: int, where: str, context: PriceContext) -> Iterator[CostEntry]:
    settings = value_at(resource.inputs, "settings")
    size = number_at(settings, "diskSize", default=10)
    limit = number_at(settings, "diskAutoresizeLimit", default=0)
    grows = value_at(settings, "diskAutoresize", default=True) not in (False, "false")
    most = max(size, limit) if grows else size
    what = f"storage, {size:g} to {most:g} GiB in {where}"
    kind = text_at(settings, "diskType") or "PD_SSD"
    if kind in _DISKS:
        yield context.line(resource, what, _DISKS[kind], Amounts(size, size, most).times(copies))
    else:
        yield unpriced(resource, what, f"{kind}: no price was read")
    if is_on(settings, "backupConfiguration", "enabled"):
        # Nothing is free here: the first copy is billed, and the assumption says how much comes on top of it.
        more = context.usage("database_backup_percent", 1 / 100)
        kept = Amounts(size, size * (1 + more.expected), most * (1 + more.ceiling))
        yield context.line(resource, "backups", "sql.backup", kept)


def run_service(resource: RecordedResource, context: PriceContext) -> Iterator[CostEntry]:
    """A service is paid while it answers, by its CPUs and memory, and by requests; instances that always wait besides.

    What is free of a month is the billing account's, and is not counted here.
    """
    template = value_at(resource.inputs, "template")
    container = next(iter(mappings_at(template, "containers")), {})
    # Cloud Run's defaults ("Configure CPU limits", "Configure memory limits", as generally known).
    cpus = quantity(text_at(container, "resources", "limits", "cpu") or "1")
    memory = quantity(text_at(container, "resources", "limits", "memory") or "512Mi")
    if cpus is None or memory is None:
        yield unpriced(resource, "instances", "its CPU or memory is no quantity")
        return
    if number_at(template, "scaling", "minInstanceCount", default=0) > 0:
        yield unpriced(resource, "instances that wait", "no dated price was read")
    if value_at(container, "resources", "cpuIdle") is False:
        yield unpriced(resource, "instances", "CPU that is always there has another price, which was not read")
        return
    seconds = context.usage("run_busy_hours", 3600)
    gib = float(memory / GIBIBYTE)
    yield context.line(resource, f"{float(cpus):g} vCPUs while it answers", "run.cpu", seconds.times(float(cpus)))
    yield context.line(resource, f"{gib:g} GiB of memory while it answers", "run.memory", seconds.times(gib))
    yield context.line(resource, "requests", "run.requests", context.usage("run_requests_million"))


def key(resource: RecordedResource, context: PriceContext) -> Iterator[CostEntry]:
    """A key is paid by its versions, which rotation makes more, and by requests."""
    level = text_at(resource.inputs, "versionTemplate", "protectionLevel") or "SOFTWARE"
    version = _version(level, text_at(resource.inputs, "versionTemplate", "algorithm") or _SYMMETRIC)
    if version is None:
        yield unpriced(resource, "key", f"protection level {level}: no price was read")
        return
    period = text_at(resource.inputs, "rotationPeriod")
    seconds = float(period.rstrip("s")) if period and period.rstrip("s").isdigit() else 0
    rotations = 365 * 86_400 // seconds if seconds else 0
    note = f"{rotations:.0f} more versions by the end of a year, none of which goes" if rotations else ""
    yield context.line(resource, "key", version, Amounts(1, 1, 1 + rotations), note=note)
    yield context.line(resource, "requests", "kms.operations", context.usage("kms_requests_ten_thousand"))


def _version(level: str, algorithm: str) -> str | None:
    """The price of a key's version, by where it is kept and by what it does; None where none is known."""
    if level == "SOFTWARE":
        return "kms.key-version"
    if level in ("EXTERNAL", "EXTERNAL_VPC"):
        return "kms.key-version.external"
    if level == "HSM":
        plain = algorithm == _SYMMETRIC or algorithm.startswith("AES_") or "2048" in algorithm
        return "kms.key-version.hsm" if plain else "kms.key-version.hsm-asymmetric"
    return None


def secret(resource: RecordedResource, context: PriceContext) -> Iterator[CostEntry]:
    """A secret is paid by its active version and by requests."""
    yield context.line(resource, "secret", "secret.version", always(1))
    yield context.line(resource, "requests", "secret.access", context.usage("secret_requests_ten_thousand"))


def log_bucket(resource: RecordedResource, context: PriceContext) -> Iterator[CostEntry]:
    """What came in is paid where it was written; here, what is kept for longer than is free."""
    days = number_at(resource.inputs, "retentionDays", default=FREE_LOG_DAYS)
    months = max(0.0, days - FREE_LOG_DAYS) / DAYS_A_MONTH
    if months:
        logged = context.usage("control_plane_log_gb") + context.usage("container_log_gb")
        for config in context.resources.of(GCP_AUDIT_CONFIG):
            logged += _data_access_gb(config, context)
        yield context.line(resource, "logs that are kept", "logs.storage", logged.times(months))


def audit_config(resource: RecordedResource, context: PriceContext) -> Iterator[CostEntry]:
    """Reads and writes of data that are written down, paid as any other entry of a log."""
    logged = _data_access_gb(resource, context)
    if logged != NOTHING:
        service = text_at(resource.inputs, "service") or "a service"
        yield context.line(resource, f"reads and writes of {service}", "logs.ingestion", logged)


def _data_access_gb(config: RecordedResource, context: PriceContext) -> Amounts:
    """GB a month of entries on reads and writes of data; none where they are not asked for."""
    kinds = {value_at(each, "logType") for each in mappings_at(config.inputs, "auditLogConfigs")}
    if not kinds & {"DATA_READ", "DATA_WRITE"}:
        return NOTHING
    everything = value_at(config.inputs, "service") == "allServices"
    total = NOTHING
    for service, (type_, usages) in _ASKED.items():
        if everything or value_at(config.inputs, "service") == f"{service}.googleapis.com":
            things = len(context.resources.of(type_))
            for usage, each in usages:
                total += context.usage(usage, each / 1e6).times(things * context.assumed("audit_entry_kb").value)
    return total


def alert_policy(resource: RecordedResource, context: PriceContext) -> Iterator[CostEntry]:
    """A policy is paid by its conditions."""
    conditions = max(1, length_at(resource.inputs, "conditions"))
    yield context.line(resource, f"conditions: {conditions}", "monitoring.alert-condition", always(conditions))
