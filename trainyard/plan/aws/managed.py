"""Managed training on AWS in place of a cluster: SageMaker, and the ground that it stands on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from trainyard.plan.aws.audit import plan_audit
from trainyard.plan.aws.floor import plan_managed_floor
from trainyard.plan.aws.growth import PREMIUM, PRICES, premiums
from trainyard.plan.aws.job_alarms import OF_PROMETHEUS
from trainyard.plan.aws.make import check_bucket_names, plan_alerts, plan_aws, plan_deployers
from trainyard.plan.aws.network import plan_network
from trainyard.plan.aws.parts import AwsPlan, LoginPlan, RolesPlan
from trainyard.plan.aws.placement import choose_zones
from trainyard.plan.aws.training import plan_training
from trainyard.plan.context import Context
from trainyard.plan.managed import cluster_settings, plan_growth, refuse_cluster_settings
from trainyard.plan.parts import IdleFloor
from trainyard.plan.tracking import plan_mlflow
from trainyard.settings.people import Team
from trainyard.settings.way_out import NO_WAY_OUT

OF_A_CLUSTER: Final = (
    "logRetentionDays",
    "aws.adminPrincipals", "aws.createAutoscalingRole", "aws.natPerZone", "aws.wayOut", "aws.endpointZones",
    "aws.databaseInstanceClass", "aws.nodeRelease", "aws.nodeSessions",
    *(f"monitoring.alerts.{key}" for key in OF_PROMETHEUS),
)  # fmt: skip
"""Settings that say something of a cluster on AWS, besides those of every cloud."""


UNREAD: Final = cluster_settings(OF_A_CLUSTER)
"""Settings that nothing of managed training on AWS reads."""

OF_NO_USE: Final[Mapping[str, str]] = {
    "aws.anomalyDetection": "it monitors what has the environment's tag, and people start jobs that have none",
}
"""What is refused of a stack's own file, and passed over in defaults of all stacks: setting -> why. A network without
a way out stays refused there too: nobody is to rely on what does not hold."""


def plan_managed_aws(name: str, teams: Sequence[Team], context: Context) -> tuple[AwsPlan, IdleFloor]:
    """The ground and the idle floor; where the ledger has problems, with stand-ins in their place."""
    settings = context.settings
    check_bucket_names(name, context)
    refuse_cluster_settings(UNREAD, context)
    _refuse_anomaly_detection(context)
    _refuse_closed_network(context)
    managed = plan_training(teams, context, smoke=True)
    nats = context.ledger.decide(
        "network.nat_gateways", int(managed.private_domain), "one where managed.private_domain is true, else none"
    )
    ground = AwsPlan(
        kind="aws",
        region=context.region,
        account_id=settings.aws.account_id,
        organization_id=settings.aws.organization_id,
        network=plan_network(choose_zones((), context), False, context, nat_gateways=nats),
        control_planes=(),
        lustre=None,
        shared_file_system=False,
        database=None,
        alerts=plan_alerts(context, managed=True),
        deployers=plan_deployers(context),
        login=LoginPlan(settings.aws.assume_role, settings.aws.profile),
        roles=RolesPlan(settings.aws.role_path, settings.aws.permissions_boundary),
        audit=plan_audit(context),
        image_cache=None,
        managed=managed,
        create_autoscaling_role=False,
    )
    floor = plan_managed_floor(ground, context)
    plan_growth(
        floor,
        lambda grown: plan_aws(name, teams, plan_mlflow(teams, grown), grown)[2],
        premiums(managed),
        PREMIUM,
        PRICES,
        context,
    )
    return ground, floor


def _refuse_closed_network(context: Context) -> None:
    """`aws.wayOut` is a cluster's altogether; of somebody else's network it only says how things are."""
    there = context.settings.aws.existing_network
    if there is not None and there.way_out == NO_WAY_OUT:
        allowed = "leaves managed training without what its jobs ask: only a cluster's network gets those endpoints"
        hint = "name a network with a way out, or set profile: medium"
        context.ledger.problem("aws.existingNetwork.wayOut", NO_WAY_OUT, allowed, hint)


def _refuse_anomaly_detection(context: Context) -> None:
    if context.settings.aws.anomaly_detection:
        allowed = "monitors what has the environment's tag, and people start jobs that have none"
        context.ledger.problem("aws.anomalyDetection", True, allowed, "leave it out, or set profile: medium")
