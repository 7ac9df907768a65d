"""The idle floor: what an environment on Google Cloud costs a month while no job runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainyard.catalog import gcp as catalog
from trainyard.conventions import HOURS_A_MONTH
from trainyard.plan.context import Context
from trainyard.plan.gcp.parts import KEY_CLASSES, CloudSqlPlan, FilestorePlan, GcpPlan, TpuPoolPlan
from trainyard.plan.parts import CpuNodesPlan, FloorItem, IdleFloor, MonitoringPlan, PoolPlan

MOST_BILLED_VMS = 32
"""Cloud NAT bills so many machines at most (price list, 2024-07-01)."""

ALERT_POLICIES = 2
"""One for all alerts of a cluster, and one for their silence."""
CHIP_ALERTS = 1
"""One for TPU chips that are held and idle, where there are slices."""

RECORD_ALARMS = 3
"""On rights of the project, on what is recorded, and on keys of accounts."""

JOB_ALARMS = 2
"""On managed jobs that fail, and on those that run as somebody else."""

_CAPACITIES = {"reserved": "reserved", "spot": "spot", "on-demand": "onDemand", "flex-start": "flexStart"}


def plan_floor(
    ground: GcpPlan,
    system_nodes: CpuNodesPlan,
    cpu_pool: CpuNodesPlan | None,
    pools: Sequence[PoolPlan],
    mlflow: bool,
    monitoring: MonitoringPlan | None,
    context: Context,
) -> IdleFloor:
    """What is paid for all the time: control plane, NAT, nodes without GPUs, reservations, pools at their minimum.

    Traffic, requests, logs and stored objects come on top.
    """
    region = ground.region
    standing = system_nodes.min_nodes + (cpu_pool.min_nodes if cpu_pool is not None else 0)
    items = [
        _item("GKE control plane", 1, HOURS_A_MONTH, "gke.control-plane", region),
        *(_nat(standing, region) if ground.network.shared is None else ()),
        *_cpu_nodes("system nodes", system_nodes, "systemNodes", region),
        *(_cpu_nodes("CPU pool", cpu_pool, "cpuPool", region) if cpu_pool is not None and cpu_pool.min_nodes else ()),
        *_pools(pools, region),
        *_slices(ground.tpu_pools, region),
        _item("zone of Google's own names", 1, 1, "dns.zone", region),
        _item("encryption keys", len(KEY_CLASSES), 1, "kms.key-version", region),
    ]
    if ground.record.by_stack:
        items.append(_record(region))
    if monitoring is not None:
        size = monitoring.storage_gib
        items += [
            _item(f"volume of Prometheus ({size} GiB)", size, 1, "disk.pd-balanced", region, "monitoring.storageGib"),
            _item(
                "alert policies",
                ALERT_POLICIES + (CHIP_ALERTS if ground.tpu_pools else 0),
                1,
                "monitoring.alert-condition",
                region,
                "monitoring.enabled",
            ),
        ]
    items += _file_systems(ground, region)
    database = ground.database if mlflow else None
    if database is not None:
        items += _database(database, region)
    items += _backup_alarms((ground.shared_files, database), region)
    if ground.managed is not None:
        items.append(_item("alarms on managed jobs", JOB_ALARMS, 1, "monitoring.alert-condition", region))
    return _told(items, context)


def plan_managed_floor(ground: GcpPlan, context: Context) -> IdleFloor:
    """What managed training costs while nobody works: editors and jobs are paid for while they run, and no longer.

    Disks of editors come on top: they stay until somebody deletes the runtime. NAT bills machines: there are
    none. A tracking server on Cloud Run has no instance while nobody asks it; its database runs on.
    """
    region = ground.region
    items = [
        _item("encryption keys", len(KEY_CLASSES), 1, "kms.key-version", region),
        _item("alarms on managed jobs", JOB_ALARMS, 1, "monitoring.alert-condition", region),
    ]
    if ground.network.nat:
        items.append(
            _item("public address of the NAT", 1, HOURS_A_MONTH, "public-ipv4", region, "managed.privateDomain")
        )
    if ground.record.by_stack:
        items.append(_record(region))
    if ground.database is not None:
        asleep = "it has no instance while nobody asks it; `trainyard cost` has what requests are taken to cost"
        items.append(_item("alarm on the tracking server", 1, 1, "monitoring.alert-condition", region))
        items += [FloorItem("tracking server on Cloud Run", 0.0, asleep, "managed.trackedBy")]
        items += _database(ground.database, region)
    return _told(items, context)


def _record(region: str) -> FloorItem:
    return _item("alarms on the record", RECORD_ALARMS, 1, "monitoring.alert-condition", region, "audit.trail.by")


def _backup_alarms(backed_up: Sequence[FilestorePlan | CloudSqlPlan | None], region: str) -> Iterator[FloorItem]:
    """One for each thing that Google backs up."""
    count = sum(each is not None for each in backed_up)
    if count:
        yield _item("alarms on backups", count, 1, "monitoring.alert-condition", region)


def _told(items: Sequence[FloorItem], context: Context) -> IdleFloor:
    region, floor = context.region, IdleFloor(tuple(items))
    lacks = f"; not in it, for want of a price: {', '.join(floor.unpriced)}" if floor.unpriced else ""
    known = f"list prices of {region}, of {catalog.HOME_REGION} where the catalogue has none"
    context.ledger.decide("idle_floor", f"{floor.monthly_usd:,.0f} USD a month{lacks}", f"sum of its items, {known}")
    return floor


def _item(what: str, amount: float, times: float, key: str, region: str, setting: str = "") -> FloorItem:
    price = catalog.service_price(key, region)
    source = f"{price.usd:g} USD a {price.unit} in {price.region}: {price.source}, {price.date}"
    return FloorItem(what, round(amount * times * price.usd, 2), source, setting)


def _machines(what: str, count: int, type_: str, setting: str, region: str) -> FloorItem:
    price = catalog.machine_price(type_, region)
    if price is None:
        return FloorItem(what, None, f"{type_} has no price in the catalogue", setting)
    source = f"{price.usd:g} USD an hour in {price.region}: {price.source}, {price.date}"
    return FloorItem(what, round(count * HOURS_A_MONTH * price.usd, 2), source, setting)


def _cpu_nodes(what: str, nodes: CpuNodesPlan, setting: str, region: str) -> Iterator[FloorItem]:
    if nodes.instance_types:  # none: a problem is recorded
        type_ = nodes.instance_types[0]
        named = f"{what} ({nodes.min_nodes} {type_})"
        yield _machines(named, nodes.min_nodes, type_, f"{setting}.minNodes", region)
    size = nodes.min_nodes * nodes.disk_gib
    yield _item(f"disks of {what}", size, 1, "disk.pd-balanced", region, f"{setting}.diskGib")


def _pools(pools: Sequence[PoolPlan], region: str) -> Iterator[FloorItem]:
    for pool in pools:
        type_ = pool.node.instance_type
        for group in pool.node_groups:
            setting = f"gpuPools.{pool.name}.{_CAPACITIES[group.capacity]}"
            if group.reservation is not None:  # billed from its creation, used or not
                yield _machines(
                    f"{group.name}: reservation of {group.max_nodes} {type_}", group.max_nodes, type_, setting, region
                )
            elif group.min_nodes:
                what = f"{group.name}: {group.min_nodes} {type_} at least"
                yield _machines(what, group.min_nodes, type_, setting, region)


def _slices(pools: Sequence[TpuPoolPlan], region: str) -> Iterator[FloorItem]:
    for pool in pools:
        for each in pool.capacities:
            if each.reservation is not None:  # billed from its creation, used or not
                count, setting = each.slices * pool.hosts, f"gcp.tpuPools.{pool.name}.reserved"
                what = f"{each.name}: reservation of {count} {pool.instance_type}"
                yield _machines(what, count, pool.instance_type, setting, region)


def _nat(nodes: int, region: str) -> Iterator[FloorItem]:
    """The way out, which is the host project's where the network is."""
    yield _item(f"NAT ({nodes} nodes)", min(nodes, MOST_BILLED_VMS), HOURS_A_MONTH, "nat", region)
    yield _item("public address of the NAT", 1, HOURS_A_MONTH, "public-ipv4", region)


def _file_systems(ground: GcpPlan, region: str) -> Iterator[FloorItem]:
    """What is paid for by its size, whether anybody uses it or not."""
    lustre, shared = ground.lustre, ground.shared_files
    if lustre is not None:
        size, key = lustre.capacity_gib, f"lustre.{lustre.throughput_mbps_per_tib}"
        yield _item(f"Managed Lustre ({size} GiB)", size, 1, key, region, "storage.lustre.enabled")
    if shared is not None:
        size = shared.capacity_gib
        yield _item(f"Filestore ({size} GiB)", size, 1, "filestore.regional", region, "storage.sharedFileSystem")


def _database(database: CloudSqlPlan, region: str) -> list[FloorItem]:
    copies, setting = 2 if database.highly_available else 1, "mlflow.database.multiAz"
    _, _, cpus, mib = database.tier.split("-")
    hours = copies * HOURS_A_MONTH
    return [
        _item(f"database ({cpus} CPUs, zones: {copies})", int(cpus), hours, "sql.postgres.vcpu", region, setting),
        _item("memory of the database", int(mib) / 1024, hours, "sql.postgres.memory", region, setting),
        _item("database storage", copies * database.storage_gib, 1, "sql.ssd", region, setting),
        _item("first backup of the database", database.storage_gib, 1, "sql.backup", region, setting),
        _item("database password", 1, 1, "secret.version", region, "mlflow.enabled"),
    ]
