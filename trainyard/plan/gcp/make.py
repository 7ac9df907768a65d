"""From the settings to an environment on Google Cloud: the ground, the cluster on it, and what both cost while idle."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from trainyard.catalog.database_connections import of_cloud_sql
from trainyard.conventions.gcp import label_value
from trainyard.plan.context import Context
from trainyard.plan.gcp.allocatable import check_system_nodes, cpu_room
from trainyard.plan.gcp.cluster import kubernetes_version, plan_control_plane, plan_cpu_pool, plan_system_nodes
from trainyard.plan.gcp.database import plan_database
from trainyard.plan.gcp.floor import plan_floor
from trainyard.plan.gcp.image_cache import cached, plan_image_cache
from trainyard.plan.gcp.market import GcpMarket
from trainyard.plan.gcp.network import check_addresses, plan_fabric_networks, plan_network
from trainyard.plan.gcp.parts import UNKNOWN_NUMBER, UNKNOWN_PROJECT, BillingPlan, DataCachePlan, GcpPlan, TpuPoolPlan
from trainyard.plan.gcp.placement import choose_zones, local_ssds, place, run_hours
from trainyard.plan.gcp.record import plan_record
from trainyard.plan.gcp.resource_prices import node_hour_usd, volume_gib_month_usd
from trainyard.plan.gcp.storage import plan_lustre, plan_shared_files
from trainyard.plan.gcp.tpus import chip_prices, plan_tpus
from trainyard.plan.gcp.training import plan_managed_beside
from trainyard.plan.idle_jobs import plan_idle_jobs
from trainyard.plan.mirrors import mirrored
from trainyard.plan.monitoring import plan_check, plan_drill, plan_monitoring
from trainyard.plan.notebooks import plan_notebooks
from trainyard.plan.off_peak import plan_off_peak
from trainyard.plan.parts import ClusterPlan, IdleFloor, MlflowPlan, PoolPlan
from trainyard.plan.people import weights_of
from trainyard.plan.pools import draft_pools
from trainyard.plan.sharing import plan_queues, plan_scheduling
from trainyard.plan.smoke import plan_runtimes, plan_smoke, training_mounts
from trainyard.plan.team_budgets import plan_ledger
from trainyard.plan.tracking import check_connections
from trainyard.settings.people import Team

FUSE_ANNOTATIONS: Final = (("gke-gcsfuse/volumes", "true"),)
"""What has GKE put the container that mounts buckets beside a pod's own (GKE, "Cloud Storage FUSE CSI driver", as
generally known)."""


def plan_gcp(
    name: str, tags: Sequence[tuple[str, str]], teams: Sequence[Team], mlflow: MlflowPlan, context: Context
) -> tuple[GcpPlan, tuple[ClusterPlan, ...], IdleFloor]:
    """The ground, its one cluster and the idle floor; where the ledger has problems, with stand-ins in their place.

    Args:
        name: of the environment; the cluster has it too.
        tags: of the environment, which become labels.
        teams: that share the cluster.
        mlflow: the tracking server, which stands on the system nodes.
        context: settings, profile and ledger.
    """
    settings = context.settings
    check_bucket_names(name, context)
    drafts = draft_pools(GcpMarket(context), context)
    zones = choose_zones(drafts, context)
    network, version = plan_network(context), kubernetes_version(context)
    system_nodes, cpu_pool = plan_system_nodes(zones, context), plan_cpu_pool(zones, context)
    pools = tuple(pool for draft in drafts if (pool := place(draft, zones, context)) is not None)
    monitoring, room = plan_monitoring(context), cpu_room(cpu_pool)
    notebooks = plan_notebooks(pools, cpu_pool, teams, room, context)
    check_system_nodes(system_nodes, mlflow, monitoring, context, hub=notebooks is not None)
    scheduling = plan_scheduling(pools, context)
    weights, source = weights_of(teams)
    cache = plan_image_cache(name, context)

    def pulled_as(image: str) -> str:
        return cached(mirrored(image, settings.images.mirrors), cache)

    tpu_pools = plan_tpus(teams, weights, zones, pulled_as, scheduling, context)
    check_addresses(network, pools, tpu_pools, [system_nodes, *([cpu_pool] if cpu_pool else [])], context)
    queues = plan_queues(teams, weights, source, pools, scheduling, context, room=room)
    project = settings.gcp.project or UNKNOWN_PROJECT
    lustre, shared_files = plan_lustre(zones, pools, context), plan_shared_files(context)
    smoke = plan_smoke(
        pools,
        queues,
        version,
        mounts=training_mounts(scratch=lustre is not None, home=shared_files is not None),
        environment=(("GOOGLE_CLOUD_PROJECT", project),),
        pod_annotations=FUSE_ANNOTATIONS,
        pulled_as=pulled_as,
        context=context,
    )
    ground = GcpPlan(
        kind="gcp",
        region=context.region,
        project=project,
        project_number=settings.gcp.project_number or UNKNOWN_NUMBER,
        labels=plan_labels(tags, context),
        zones=zones,
        network=network,
        fabric_networks=plan_fabric_networks(network, pools, context),
        control_planes=(plan_control_plane(name, context),),
        bucket_networks=_bucket_networks(context),
        data_cache=_data_cache(pools, tpu_pools, context),
        lustre=lustre,
        shared_files=shared_files,
        image_cache=cache,
        database=plan_database(context),
        record=plan_record(context),
        tpu_pools=tpu_pools,
        run_hours=run_hours(drafts, context),
        local_ssds=local_ssds(drafts, context),
        authenticator_group=_group(context),
        billing=plan_billing(context, watched=monitoring is not None),
        managed=plan_managed_beside(context),
    )
    if (database := ground.database) is not None:
        check_connections(mlflow, of_cloud_sql(database.tier), "gcp.databaseTier", database.tier, context.ledger)
    cluster = ClusterPlan(
        name=name,
        kubernetes_version=version,
        public_access_cidrs=(),
        system_nodes=system_nodes,
        cpu_pool=cpu_pool,
        pools=pools,
        scheduling=scheduling,
        teams=queues,
        smoke=smoke,
        runtimes=plan_runtimes(pools, smoke, context),
        monitoring=monitoring,
        drill=plan_drill(monitoring, smoke, queues, room, context),
        check=plan_check(monitoring, smoke, queues, room, context),
        ledger=plan_ledger(
            pools,
            teams,
            node_hour_usd((system_nodes, cpu_pool), context.region),
            volume_gib_month_usd(context.region),
            context,
            chip_prices(tpu_pools),
        )
        if monitoring
        else None,
        idle_jobs=plan_idle_jobs(monitoring, context),
        off_peak=plan_off_peak(scheduling, teams, context),
        notebooks=notebooks,
        isolated_gpus=True,  # GKE's device plugin mounts what is asked for; no toolkit reads a container's variables
    )
    floor = plan_floor(ground, system_nodes, cpu_pool, pools, mlflow.enabled, monitoring, context)
    return ground, (cluster,), floor


def check_bucket_names(name: str, context: Context) -> None:
    """Names of buckets begin with client and environment; Cloud Storage keeps Google's own names for itself."""
    if "google" in name or name.startswith("goog"):
        key = "client" if "goog" in context.settings.client else "environment"
        allowed = f"buckets are named {name}-…, and Cloud Storage takes no name with google in it or goog in front"
        context.ledger.problem(key, getattr(context.settings, key) or name, allowed, "take another name")


def plan_labels(tags: Sequence[tuple[str, str]], context: Context) -> tuple[tuple[str, str], ...]:
    """The environment's tags as labels."""
    labels = tuple((key, label_value(value)) for key, value in tags)
    return context.ledger.decide("labels", labels, "the tags in lower case, with _ for what a label takes not")


def _bucket_networks(context: Context) -> tuple[tuple[str, str], ...] | None:
    """Public networks from which buckets are reached besides the VPC; None where they are from everywhere."""
    given, ledger = context.settings.gcp.bucket_networks, context.ledger
    if given is None:
        ledger.decide("storage.bucket_networks", None, "no gcp.bucketNetworks: from everywhere, by who has a right")
        return None
    told = [f"{name}: {cidr}" for name, cidr in sorted(given.items())]
    ledger.decide("storage.bucket_networks", told, "setting gcp.bucketNetworks, besides the VPC's nodes and pods")
    return tuple(sorted((name, str(cidr)) for name, cidr in given.items()))


def _data_cache(pools: Sequence[PoolPlan], tpu_pools: Sequence[TpuPoolPlan], context: Context) -> DataCachePlan | None:
    """Caches in the zones of the nodes with GPUs, where the stack file wants them."""
    hours, ledger = context.settings.gcp.data_cache_hours, context.ledger
    if hours is None:
        ledger.decide("storage.data_cache", None, "off unless gcp.dataCacheHours: it pays where data are read again")
        return None
    of_gpus = {zone for pool in pools for group in pool.node_groups for zone in group.zones}
    zones = tuple(sorted(of_gpus | {pool.zone for pool in tpu_pools}))
    return DataCachePlan(
        zones=ledger.decide("storage.data_cache.zones", zones, "those of the GPU pools and TPU slices"),
        hours=ledger.decide("storage.data_cache.hours", hours, "setting gcp.dataCacheHours"),
    )


def _group(context: Context) -> str | None:
    domain = context.settings.gcp.organisation_domain
    source = "setting gcp.organisationDomain" if domain else "no gcp.organisationDomain: groups are none on the cluster"
    return context.ledger.decide(
        "cluster.authenticator_group", f"gke-security-groups@{domain}" if domain else None, source
    )


def plan_billing(context: Context, *, watched: bool) -> BillingPlan | None:
    """The account and the budget in its currency; without an account there is no budget of Google's."""
    own, ledger = context.settings.gcp, context.ledger
    if own.billing_account is None:
        # The policy on budgets knows the same two ways: Google's own, or the ledger's alerts.
        by = "the platform's own ledger alerts on GPUs" if watched else "nobody is alerted, without monitoring"
        return ledger.decide("budget.billing_account", None, f"no gcp.billingAccount: {by}")
    usd = context.settings.monthly_budget_usd or context.grown("budget.monthly_usd")
    amount = max(1, round(usd * own.billing_units_per_usd))
    ledger.decide("budget.billing_account", own.billing_account, "setting gcp.billingAccount")
    ledger.decide(
        "budget.monthly_amount",
        f"{amount} {own.billing_currency}",
        f"{usd} USD at {own.billing_units_per_usd:g}, settings gcp.billingCurrency and gcp.billingUnitsPerUsd",
    )
    return BillingPlan(own.billing_account, own.billing_currency, amount)
