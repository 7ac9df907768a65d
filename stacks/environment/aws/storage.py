"""Storage tiers and the database of an environment, and what the workloads need to know of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import pulumi

from trainyard import catalog
from trainyard.components.aws.database import Database
from trainyard.components.aws.existing_network import AnyNetwork
from trainyard.components.aws.perimeter import BoundToArgs
from trainyard.components.aws.storage import BucketReference, StorageTiers
from trainyard.conventions import team_prefix, tracking_database
from trainyard.plan.aws.parts import AwsPlan
from trainyard.plan.parts import Plan
from trainyard.stacks.environment.aws.keys import Keys

if TYPE_CHECKING:
    from trainyard.components.aws.on_cluster.volumes import StorageVolumesArgs
    from trainyard.components.k8s.mlflow_args import MlflowDatabaseArgs

ARTIFACTS_PREFIX = "mlflow"
"""Prefix of MLflow's artifacts in the artifacts bucket."""


def make_storage(
    plan: Plan[AwsPlan],
    account: pulumi.Input[str],
    network: AnyNetwork,
    clients: Mapping[str, pulumi.Input[str]],
    keys: Keys,
    administrators: Sequence[pulumi.Input[str]],
    opts: pulumi.ResourceOptions,
) -> StorageTiers:
    """Makes the storage tiers.

    `clients` are the security groups of the clusters, by a short name that stays. `administrators` read and write the
    buckets from anywhere: whoever deploys puts the folders of the file system into one.
    """
    tiers, lustre = plan.core.storage, plan.ground.lustre
    folders = [team_prefix(team.name) for team in plan.core.teams]
    return StorageTiers(
        plan.core.name,
        {
            "account_id": account,
            "vpc_id": network.vpc_id,
            "bound_to": bound_to(plan, account, network, administrators),
            "client_security_group_ids": clients,
            "key_arns": {
                "data": keys.data.key_arn,
                "checkpoints": keys.checkpoints.key_arn,
                "artifacts": keys.tracking.key_arn,
            },
            "data_version_days": tiers.data_version_days,
            "checkpoint_expire_days": tiers.checkpoint_expire_days,
            "checkpoint_keep_versions": tiers.checkpoint_keep_versions,
            "multipart_cleanup_days": tiers.multipart_cleanup_days,
            "artifact_retention_days": tiers.artifact_retention_days,
            "artifact_transition_days": tiers.artifact_transition_days,
            "protect": plan.core.protect,
            "lustre": {
                "subnet_id": network.private_subnet_ids[lustre.zone],
                "capacity_gib": lustre.capacity_gib,
                "throughput_mbps_per_tib": lustre.throughput_mbps_per_tib,
            }
            if lustre
            else None,
            "data_folders": folders if tiers.data_access == "team" else [],
            "scratch_folders": folders,
            "shared_file_system_subnet_ids": network.private_subnet_ids if plan.ground.shared_file_system else None,
            "shared_directories": [team.name for team in plan.core.teams],
        },
        opts,
    )


def bound_to(
    plan: Plan[AwsPlan], account: pulumi.Input[str], network: AnyNetwork, administrators: Sequence[pulumi.Input[str]]
) -> BoundToArgs:
    """Where the environment's buckets may be used from, and by whom elsewhere."""
    return {
        "owners": {"account_id": account, "organization_id": plan.ground.organization_id},
        "vpc_id": network.vpc_id,
        "admin_principal_arns": administrators,
    }


def make_database(
    plan: Plan[AwsPlan],
    account: pulumi.Input[str],
    network: AnyNetwork,
    clients: Mapping[str, pulumi.Input[str]],
    keys: Keys,
    opts: pulumi.ResourceOptions,
) -> Database | None:
    """PostgreSQL for MLflow, where the plan has a server; `clients` as for `make_storage`."""
    planned = plan.ground.database
    if planned is None or not any(plan.tracks(cluster) for cluster in plan.clusters):
        return None
    return Database(
        tracking_database(plan.core.name),
        {
            "account_id": account,
            "vpc_id": network.vpc_id,
            "subnet_ids": list(network.isolated_subnet_ids.values()),
            "client_security_group_ids": clients,
            "key_arn": keys.tracking.key_arn,
            "engine_version": planned.engine_version,
            "instance_class": planned.instance_class,
            "storage_gib": planned.storage_gib,
            "max_storage_gib": planned.max_storage_gib,
            "restore_from": planned.restore_from,
            "multi_az": planned.multi_az,
            "backup_retention_days": planned.backup_retention_days,
            "deletion_protection": planned.deletion_protection,
            "protect": plan.core.protect,
        },
        opts,
    )


def mlflow_database(plan: Plan[AwsPlan], database: Database | None) -> MlflowDatabaseArgs | None:
    """How the MLflow server reaches its database; None where there is none."""
    if database is None:
        return None
    from trainyard.components.aws.on_cluster.database_password import secrets_manager_password

    return {
        "address": database.address,
        "port": database.port,
        "name": database.database_name,
        "username": database.username,
        "server_user": "mlflow_server",
        "ca_certificates": catalog.rds_authority(plan.ground.region),
        "password_program": secrets_manager_password(database.secret_arn),
        "cidrs": [zone.isolated_cidr for zone in plan.ground.network.zones],
    }


def mounted(plan: Plan[AwsPlan], storage: StorageTiers) -> StorageVolumesArgs:
    """The storage tiers as far as pods mount them."""
    volumes: StorageVolumesArgs = {
        "region": plan.ground.region,
        "data_bucket": storage.data_bucket["name"],
        "data_per_team": plan.core.storage.data_access == "team",
        "checkpoints_bucket": storage.checkpoints_bucket["name"],
    }
    if storage.lustre is not None and plan.ground.lustre is not None:
        volumes["lustre"] = {
            "file_system_id": storage.lustre["id"],
            "dns_name": storage.lustre["dns_name"],
            "data_mount_name": storage.lustre["data_mount_name"],
            "scratch_mount_name": storage.lustre["scratch_mount_name"],
        }
    if storage.shared is not None:
        volumes["shared"] = {
            "file_system_id": storage.shared["id"],
            "access_point_ids": storage.shared["access_point_ids"],
        }
    return volumes


def uri(bucket: BucketReference) -> pulumi.Output[str]:
    """Address of a bucket, without a slash at its end."""
    return pulumi.Output.concat("s3://", bucket["name"])
