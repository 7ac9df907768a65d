"""Managed training on Google Cloud in place of a cluster: Vertex AI, and the ground that it stands on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from trainyard.plan.context import Context
from trainyard.plan.gcp.database import plan_database
from trainyard.plan.gcp.floor import plan_managed_floor
from trainyard.plan.gcp.make import check_bucket_names, plan_billing, plan_gcp, plan_labels
from trainyard.plan.gcp.network import plan_network
from trainyard.plan.gcp.parts import UNKNOWN_NUMBER, UNKNOWN_PROJECT, GcpPlan
from trainyard.plan.gcp.placement import choose_zones
from trainyard.plan.gcp.record import plan_record
from trainyard.plan.gcp.tracking import SERVER_SETTINGS
from trainyard.plan.gcp.training import plan_training, premiums
from trainyard.plan.managed import cluster_settings, plan_growth, refuse_cluster_settings
from trainyard.plan.parts import IdleFloor
from trainyard.plan.tracking import plan_mlflow
from trainyard.settings.common import Settings
from trainyard.settings.people import Team

OF_A_CLUSTER: Final = (
    "gcp.releaseChannel", "gcp.apiNetworks", "gcp.databaseTier", "gcp.dataCacheHours", "gcp.fastNetwork",
    "gcp.tpuPools",
    "network.egress", "monitoring.enabled", "monitoring.alerts",
    "gcp.networkProject", "gcp.sharedNetwork",
    "gcp.bucketNetworks",  # jobs stand in a network of Google's, which no list of networks lets by
)  # fmt: skip
"""Settings that say something of a cluster on Google Cloud, besides those of every cloud."""

PREMIUM: Final = "Vertex AI asks more than Compute Engine does"


def unread(settings: Settings) -> frozenset[str]:
    """Settings that nothing of such managed training on Google Cloud reads."""
    served = settings.managed.tracked_by == "mlflow"
    return cluster_settings(OF_A_CLUSTER, SERVER_SETTINGS if served else ())


def plan_managed_gcp(
    name: str, tags: Sequence[tuple[str, str]], teams: Sequence[Team], context: Context
) -> tuple[GcpPlan, IdleFloor]:
    """The ground and the idle floor; where the ledger has problems, with stand-ins in their place."""
    settings = context.settings
    check_bucket_names(name, context)
    refuse_cluster_settings(unread(settings), context)
    if settings.storage.data_access == "team":
        allowed = "is a folder a team of pods, and all jobs of managed training run as one account"
        context.ledger.problem("storage.dataAccess", "team", allowed, "leave it out, or set profile: medium")
    if settings.gcp.billing_account is None:
        allowed = "managed training has no ledger of its own, so that a budget of Google's alone tells what is spent"
        hint = "give the account's id, 012345-6789AB-CDEF01; who deploys needs roles/billing.costsManager there"
        context.ledger.problem("gcp.billingAccount", "nothing", allowed, hint)
    managed = plan_training(name, context, smoke=True)
    nat = context.ledger.decide("network.nat", managed.private_domain, "where managed.private_domain is true")
    ground = GcpPlan(
        kind="gcp",
        region=context.region,
        project=settings.gcp.project or UNKNOWN_PROJECT,
        project_number=settings.gcp.project_number or UNKNOWN_NUMBER,
        labels=plan_labels(tags, context),
        zones=choose_zones((), context),
        network=plan_network(context, nat=nat),
        control_planes=(),
        fabric_networks=None,
        bucket_networks=None,
        data_cache=None,
        lustre=None,
        shared_files=None,
        image_cache=None,
        database=plan_database(context) if managed.server is not None else None,
        record=plan_record(context),
        tpu_pools=(),
        run_hours=(),
        local_ssds=(),
        authenticator_group=None,
        billing=plan_billing(context, watched=False),
        managed=managed,
    )
    floor = plan_managed_floor(ground, context)
    plan_growth(
        floor,
        lambda grown: plan_gcp(name, tags, teams, plan_mlflow(teams, grown), grown)[2],
        premiums(),
        PREMIUM,
        f"on demand and as the catalogue knows it for {context.region}",
        context,
    )
    return ground, floor
