"""Managed training on AWS in place of a cluster: SageMaker, and the ground that it stands on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from trainyard.plan.aws.audit import plan_audit
from trainyard.plan.aws.floor import plan_managed_floor
from trainyard.plan.aws.growth import plan_growth
from trainyard.plan.aws.job_alarms import OF_PROMETHEUS
from trainyard.plan.aws.make import check_bucket_names, plan_alerts, plan_deployers
from trainyard.plan.aws.network import plan_network
from trainyard.plan.aws.parts import AwsPlan, LoginPlan, RolesPlan
from trainyard.plan.aws.placement import choose_zones
from trainyard.plan.aws.training import given_settings, plan_training
from trainyard.plan.context import Context
from trainyard.plan.parts import IdleFloor
from trainyard.settings.people import Team

OF_A_CLUSTER: Final = (
    "gpuPools", "idleJobs", "systemNodes", "cpuPool", "kubernetesVersion", "apiAccess", "scheduler", "logRetentionDays",
    "images.allowedRegistries", "images.cache", "images.cacheLogins",
    "aws.adminPrincipals", "aws.createAutoscalingRole", "aws.natPerZone", "aws.endpointZones",
    "aws.databaseInstanceClass", "aws.nodeRelease", "aws.nodeSessions",
    "storage.lustre", "storage.sharedFileSystem",
    "mlflow.replicas", "mlflow.workers", "mlflow.cpu", "mlflow.memory", "mlflow.image", "mlflow.database",
    "mlflow.defaultPermission", "mlflow.passwordVersion", "mlflow.signOn",
    "smoke.team", "smoke.capacities", "smoke.advisory",
    "monitoring.retentionDays", "monitoring.storageGib", "monitoring.cpu", "monitoring.memory",
    "monitoring.checkpointDrill", "monitoring.checkpointCheck", *(f"monitoring.alerts.{key}" for key in OF_PROMETHEUS),
    "audit.containerLogs", "audit.breakGlass", "network.serviceCidr", "managed.beside",
)  # fmt: skip
"""Settings that say something of a cluster or of its server."""


def plan_managed_aws(name: str, teams: Sequence[Team], context: Context) -> tuple[AwsPlan, IdleFloor]:
    """The ground and the idle floor; where the ledger has problems, with stand-ins in their place."""
    settings = context.settings
    check_bucket_names(name, context)
    _refuse_cluster_settings(context)
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
    plan_growth(name, teams, managed, floor, context)
    return ground, floor


def _refuse_cluster_settings(context: Context) -> None:
    """What would be read by nothing is said so, with the profile that reads it."""
    for key, value in given_settings(context.settings):
        if key in OF_A_CLUSTER or key.rpartition(".")[0] in OF_A_CLUSTER:
            allowed = "is of a cluster, and the small profile has none: managed training instead"
            context.ledger.problem(key, value, allowed, "leave it out, or set profile: medium")
    if context.settings.aws.anomaly_detection:
        allowed = "monitors what has the environment's tag, and people start jobs that have none"
        context.ledger.problem("aws.anomalyDetection", True, allowed, "leave it out, or set profile: medium")
    if context.settings.stage == "account":
        allowed = "waits for a cluster, and the small profile has none"
        context.ledger.problem("stage", "account", allowed, "leave it out, or set profile: medium")
