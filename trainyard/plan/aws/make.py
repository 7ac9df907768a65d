"""From the settings to an environment on AWS: the ground, the cluster on it, and what both cost while idle."""

from __future__ import annotations

from collections.abc import Sequence

from trainyard.catalog.database_connections import of_rds
from trainyard.plan.aws.allocatable import check_system_nodes, cpu_room
from trainyard.plan.aws.audit import plan_audit
from trainyard.plan.aws.cluster import kubernetes_version, plan_control_plane, plan_cpu_pool, plan_system_nodes
from trainyard.plan.aws.database import plan_database
from trainyard.plan.aws.floor import plan_floor
from trainyard.plan.aws.image_cache import cached, plan_image_cache
from trainyard.plan.aws.market import AwsMarket
from trainyard.plan.aws.network import check_addresses, plan_network
from trainyard.plan.aws.parts import AlertsPlan, AwsPlan, LoginPlan, RolesPlan
from trainyard.plan.aws.placement import choose_zones, place, zones_of_fabrics
from trainyard.plan.aws.resource_prices import node_hour_usd, volume_gib_month_usd
from trainyard.plan.aws.storage import plan_lustre, plan_shared_file_system
from trainyard.plan.aws.training import plan_managed_beside
from trainyard.plan.context import Context
from trainyard.plan.idle_jobs import plan_idle_jobs
from trainyard.plan.mirrors import mirrored
from trainyard.plan.monitoring import plan_check, plan_drill, plan_monitoring
from trainyard.plan.notebooks import plan_notebooks
from trainyard.plan.off_peak import plan_off_peak
from trainyard.plan.parts import ClusterPlan, IdleFloor, MlflowPlan
from trainyard.plan.people import weights_of
from trainyard.plan.pools import draft_pools
from trainyard.plan.sharing import plan_queues, plan_scheduling
from trainyard.plan.smoke import plan_runtimes, plan_smoke, training_mounts
from trainyard.plan.team_budgets import plan_ledger
from trainyard.plan.tracking import check_connections
from trainyard.settings.people import Team

RESERVED_BUCKET_PREFIXES = ("sthree-", "amzn-s3-demo-")
"""Prefixes that S3 reserves and that a client's name can begin with; no name of ours ends in a reserved suffix,
since the engine ends a bucket's name with seven hex digits (S3 User Guide, "General purpose bucket naming rules",
2026-11).
"""


def plan_aws(
    name: str, teams: Sequence[Team], mlflow: MlflowPlan, context: Context
) -> tuple[AwsPlan, tuple[ClusterPlan, ...], IdleFloor]:
    """The ground, its one cluster and the idle floor; where the ledger has problems, with stand-ins in their place.

    Args:
        name: of the environment; the cluster has it too.
        teams: that share the cluster.
        mlflow: the tracking server, which stands on the system nodes.
        context: settings, profile and ledger.
    """
    settings = context.settings
    check_bucket_names(name, context)
    drafts = draft_pools(AwsMarket(context), context)
    zones = choose_zones(drafts, context)
    network = plan_network(zones, mlflow.enabled, context)
    version = kubernetes_version(context)
    control_plane = plan_control_plane(name, version, zones, context)
    cache = plan_image_cache(name, context)
    system_nodes, cpu_pool = plan_system_nodes(zones, context), plan_cpu_pool(zones, context)
    crowded = zones_of_fabrics(drafts, zones, context)
    pools = tuple(pool for draft in drafts if (pool := place(draft, zones, crowded, context)) is not None)
    check_addresses(network, pools, [system_nodes, *([cpu_pool] if cpu_pool else [])], context)
    scheduling = plan_scheduling(pools, context)
    ground = AwsPlan(
        kind="aws",
        region=context.region,
        account_id=settings.aws.account_id,
        organization_id=settings.aws.organization_id,
        network=network,
        control_planes=(control_plane,),
        lustre=plan_lustre(zones, pools, context),
        shared_file_system=plan_shared_file_system(context),
        database=plan_database(context),
        alerts=plan_alerts(context),
        deployers=plan_deployers(context),
        login=LoginPlan(settings.aws.assume_role, settings.aws.profile),
        roles=RolesPlan(settings.aws.role_path, settings.aws.permissions_boundary),
        audit=plan_audit(context),
        image_cache=cache,
        managed=plan_managed_beside(teams, context),
        create_autoscaling_role=settings.aws.create_autoscaling_role,
    )
    if (database := ground.database) is not None:
        most = of_rds(database.instance_class)
        check_connections(mlflow, most, "aws.databaseInstanceClass", database.instance_class, context.ledger)
    monitoring = plan_monitoring(context, managed_there=True)
    kept = ground.audit.container_log_retention_days is not None
    room = cpu_room(cpu_pool, team_logs=kept)
    notebooks = plan_notebooks(pools, cpu_pool, teams, room, context)
    check_system_nodes(system_nodes, mlflow, monitoring, context, team_logs=kept, hub=notebooks is not None)
    weights, source = weights_of(teams)
    queues = plan_queues(teams, weights, source, pools, scheduling, context, room=room)
    mounts = training_mounts(scratch=ground.lustre is not None, home=ground.shared_file_system)
    smoke = plan_smoke(
        pools,
        queues,
        version,
        mounts=mounts,
        # boto3 reads the second variable only, and EKS Pod Identity adds none where one is there.
        environment=(("AWS_REGION", context.region), ("AWS_DEFAULT_REGION", context.region)),
        pulled_as=lambda image: cached(mirrored(image, settings.images.mirrors), cache),
        context=context,
    )
    cluster = ClusterPlan(
        name=name,
        kubernetes_version=version,
        public_access_cidrs=tuple(settings.api_access.cidrs),
        system_nodes=system_nodes,
        cpu_pool=cpu_pool,
        pools=pools,
        scheduling=scheduling,
        teams=queues,
        smoke=smoke,
        runtimes=plan_runtimes(pools, smoke, context),
        isolated_gpus=True,  # the nodes' launch template sees to it
        monitoring=monitoring,
        drill=plan_drill(monitoring, smoke, queues, room, context),
        check=plan_check(monitoring, smoke, queues, room, context),
        ledger=plan_ledger(pools, teams, node_hour_usd((system_nodes, cpu_pool)), volume_gib_month_usd(), context)
        if monitoring
        else None,
        idle_jobs=plan_idle_jobs(monitoring, context),
        off_peak=plan_off_peak(scheduling, teams, context),
        notebooks=notebooks,
    )
    stage = context.ledger.decide("stage", settings.stage, "setting stage; the idle floor is that of the whole")
    clusters = (cluster,) if stage == "cluster" else ()
    return (
        ground,
        clusters,
        plan_floor(ground, system_nodes, cpu_pool, pools, drafts, mlflow.enabled, monitoring, context),
    )


_COUNTED = {
    "account": "all that the account costs, from the first day",
    "environment": (
        "what has the tag project. Billing counts a tag from the day on which the payer's account has activated it, a "
        "day after the first deployment at the earliest; until then the budget stays at 0 and alerts nobody. In an "
        "account of the environment's own: account"
    ),
}
"""What a budget counts, by its scope (AWS Cost Management user guide, "Using user-defined cost allocation tags",
2026-11)."""


def plan_deployers(context: Context) -> tuple[str, ...]:
    """Who runs `pulumi up`, as the settings name them."""
    given = tuple(dict.fromkeys(context.settings.aws.deployers))
    source = (
        "setting aws.deployers" if given else "whoever runs `pulumi up` administers the keys; name them, if several"
    )
    return context.ledger.decide("aws.deployers", given, source)


def plan_alerts(context: Context, *, managed: bool = False) -> AlertsPlan:
    """What the budget counts, and what looks for anomalies. Where training is managed, it counts a service's costs."""
    aws, ledger = context.settings.aws, context.ledger
    scope = ledger.decide("budget.scope", aws.budget_scope, f"setting aws.budgetScope: {_COUNTED[aws.budget_scope]}")
    detection = context.take("budget.anomaly_detection", "aws.anomalyDetection", aws.anomaly_detection)
    if detection and scope == "account":
        allowed = "monitors the environment's tag, and aws.budgetScope is account"
        ledger.problem("aws.anomalyDetection", detection, allowed, "leave it out, or take budgetScope environment")
    elif detection and managed:
        allowed = "monitors the environment's tag, and a budget of managed training counts what SageMaker costs"
        ledger.problem("aws.anomalyDetection", detection, allowed, "leave it out: the budget's alerts stay")
    return AlertsPlan(
        whole_account=scope == "account",
        anomaly_detection=detection,
        activate_cost_tags=context.take("budget.activate_cost_tags", "aws.activateCostTags", aws.activate_cost_tags),
    )


def check_bucket_names(name: str, context: Context) -> None:
    """Names of buckets begin with client and environment; S3 keeps some beginnings for itself."""
    for prefix in RESERVED_BUCKET_PREFIXES:
        if f"{name}-".startswith(prefix):
            key = "client" if f"{context.settings.client}-".startswith(prefix) else "environment"
            allowed = f"buckets are named {name}-…, and S3 keeps names that begin with {prefix} for itself"
            context.ledger.problem(key, getattr(context.settings, key) or name, allowed, "take another name")
