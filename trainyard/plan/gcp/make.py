"""From the settings to an environment on Google Cloud: the ground, the cluster on it, and what both cost while idle."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from trainyard.conventions.gcp import label_value
from trainyard.plan.context import Context
from trainyard.plan.gcp.allocatable import check_system_nodes, cpu_room
from trainyard.plan.gcp.cluster import kubernetes_version, plan_control_plane, plan_cpu_pool, plan_system_nodes
from trainyard.plan.gcp.database import plan_database
from trainyard.plan.gcp.floor import plan_floor
from trainyard.plan.gcp.market import GcpMarket
from trainyard.plan.gcp.network import check_addresses, plan_network
from trainyard.plan.gcp.parts import BillingPlan, GcpPlan
from trainyard.plan.gcp.placement import choose_zones, local_ssds, place, run_hours
from trainyard.plan.gcp.record import plan_record
from trainyard.plan.gcp.resource_prices import node_hour_usd, volume_gib_month_usd
from trainyard.plan.idle_jobs import plan_idle_jobs
from trainyard.plan.mirrors import mirrored
from trainyard.plan.monitoring import plan_check, plan_drill, plan_monitoring
from trainyard.plan.off_peak import plan_off_peak
from trainyard.plan.parts import ClusterPlan, IdleFloor, MlflowPlan
from trainyard.plan.people import weights_of
from trainyard.plan.pools import draft_pools
from trainyard.plan.sharing import plan_queues, plan_scheduling
from trainyard.plan.smoke import plan_runtimes, plan_smoke, training_mounts
from trainyard.plan.team_budgets import plan_ledger
from trainyard.settings.people import Team

FUSE_ANNOTATIONS: Final = (("gke-gcsfuse/volumes", "true"),)
"""What has GKE put the container that mounts buckets beside a pod's own (GKE, "Cloud Storage FUSE CSI driver", as
generally known)."""

_UNKNOWN_PROJECT, _UNKNOWN_NUMBER = "unknown-project", "100000000000"
"""They stand in for what the settings' own checks miss."""


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
    if "google" in name or name.startswith("goog"):
        key = "client" if "goog" in settings.client else "environment"
        allowed = f"buckets are named {name}-…, and Cloud Storage takes no name with google in it or goog in front"
        context.ledger.problem(key, getattr(settings, key) or name, allowed, "take another name")
    drafts = draft_pools(GcpMarket(context), context)
    zones = choose_zones(drafts, context)
    network, version = plan_network(context), kubernetes_version(context)
    system_nodes, cpu_pool = plan_system_nodes(zones, context), plan_cpu_pool(zones, context)
    pools = tuple(pool for draft in drafts if (pool := place(draft, zones, context)) is not None)
    check_addresses(network, pools, [system_nodes, *([cpu_pool] if cpu_pool else [])], context)
    monitoring = plan_monitoring(context)
    check_system_nodes(system_nodes, mlflow, monitoring, context)
    scheduling = plan_scheduling(pools, context)
    weights, source = weights_of(teams)
    queues = plan_queues(teams, weights, source, pools, scheduling, context, room=cpu_room(cpu_pool))
    project = settings.gcp.project or _UNKNOWN_PROJECT
    smoke = plan_smoke(
        pools,
        queues,
        version,
        mounts=training_mounts(scratch=False, home=False),
        environment=(("GOOGLE_CLOUD_PROJECT", project),),
        pod_annotations=FUSE_ANNOTATIONS,
        pulled_as=lambda image: mirrored(image, context.settings.images.mirrors),
        context=context,
    )
    ground = GcpPlan(
        kind="gcp",
        region=context.region,
        project=project,
        project_number=settings.gcp.project_number or _UNKNOWN_NUMBER,
        labels=context.ledger.decide(
            "labels",
            tuple((key, label_value(value)) for key, value in tags),
            "the tags in lower case, with _ for what a label takes not",
        ),
        zones=zones,
        network=network,
        control_planes=(plan_control_plane(name, context),),
        database=plan_database(context),
        record=plan_record(context),
        run_hours=run_hours(drafts, context),
        local_ssds=local_ssds(drafts, context),
        authenticator_group=_group(context),
        billing=_billing(context, watched=monitoring is not None),
    )
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
        drill=plan_drill(monitoring, smoke, queues, cpu_pool, context),
        check=plan_check(monitoring, smoke, queues, cpu_pool, context),
        ledger=plan_ledger(
            pools,
            teams,
            node_hour_usd((system_nodes, cpu_pool), context.region),
            volume_gib_month_usd(context.region),
            context,
        )
        if monitoring
        else None,
        idle_jobs=plan_idle_jobs(monitoring, context),
        off_peak=plan_off_peak(scheduling, teams, context),
        isolated_gpus=True,  # GKE's device plugin mounts what is asked for; no toolkit reads a container's variables
    )
    floor = plan_floor(ground, system_nodes, cpu_pool, pools, mlflow.enabled, monitoring, context)
    return ground, (cluster,), floor


def _group(context: Context) -> str | None:
    domain = context.settings.gcp.organisation_domain
    source = "setting gcp.organisationDomain" if domain else "no gcp.organisationDomain: groups are none on the cluster"
    return context.ledger.decide(
        "cluster.authenticator_group", f"gke-security-groups@{domain}" if domain else None, source
    )


def _billing(context: Context, *, watched: bool) -> BillingPlan | None:
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
