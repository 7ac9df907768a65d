"""Keys, storage tiers and the database of an environment, and what the workloads need to know of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypedDict

import pulumi

from trainyard.components.gcp.backup_alarms import BackupAlarms, BackupAlarmsArgs
from trainyard.components.gcp.buckets import GcsNetworksArgs
from trainyard.components.gcp.database import DATABASE, USER, CloudSqlDatabase, CloudSqlDatabaseArgs
from trainyard.components.gcp.encryption import ProjectKeys
from trainyard.components.gcp.lustre import FILESYSTEM, ManagedLustre
from trainyard.components.gcp.record import ProjectRecord, RecordAlarms, RecordAlarmsArgs
from trainyard.components.gcp.services import ProjectServices
from trainyard.components.gcp.shared_files import SHARE, FilestoreShare
from trainyard.components.gcp.shared_network import AnyVpc
from trainyard.components.gcp.storage import GcsDataCacheArgs, GcsStorageTiers, GcsStorageTiersArgs
from trainyard.conventions import HOME_CLAIM, SCRATCH_CLAIM, tracking_database
from trainyard.plan.gcp.parts import GcpPlan
from trainyard.plan.parts import ClusterPlan, Plan

if TYPE_CHECKING:
    from trainyard.components.gcp.on_cluster.folders import FileSystemTopArgs
    from trainyard.components.gcp.on_cluster.volumes import BucketVolumesArgs
    from trainyard.components.k8s.mlflow_args import MlflowDatabaseArgs

ARTIFACTS_PREFIX = "mlflow"
"""Folder of MLflow's artifacts in the artifacts bucket."""

POSTGRES_PORT = 5432


def after(gcp: pulumi.ResourceOptions, waited_for: Sequence[pulumi.Resource]) -> pulumi.ResourceOptions:
    """The providers, and what comes first."""
    return pulumi.ResourceOptions.merge(gcp, pulumi.ResourceOptions(depends_on=list(waited_for)))


def make_keys(plan: Plan[GcpPlan], services: ProjectServices, gcp: pulumi.ResourceOptions) -> ProjectKeys:
    """A key a class of data, each for the agents of the services that encrypt with it and nobody else."""

    def agent(service: str) -> pulumi.Output[str]:
        return services.agent_emails[service].apply(lambda email: f"serviceAccount:{email}")

    own, number = plan.ground, plan.ground.project_number
    clusters, managed = bool(own.control_planes), own.managed is not None
    served = own.managed is not None and own.managed.server is not None
    storage = f"serviceAccount:service-{number}@gs-project-accounts.iam.gserviceaccount.com"
    disks = f"serviceAccount:service-{number}@compute-system.iam.gserviceaccount.com"
    members: dict[str, dict[str, pulumi.Input[str]]] = {
        "data": {
            "storage": storage,
            **({"lustre": agent("lustre")} if own.lustre else {}),
            **({"files": agent("file"), "backups": agent("backupdr")} if own.shared_files else {}),
        },
        "checkpoints": {"storage": storage},
        "tracking": {
            "storage": storage,
            **({"sql": agent("sqladmin"), "secrets": agent("secretmanager")} if clusters or served else {}),
            **({"run": agent("run")} if served else {}),
            # Vertex AI takes one key a project and region by its default quota: that of what it keeps, also for the
            # disks of its editors (Colab Enterprise documentation, "Customer-managed encryption keys", 2026-11).
            **({"vertex": agent("aiplatform"), "disks": disks, "notebooks": agent("dataform")} if managed else {}),
        },
        "platform": {
            **({"container": agent("container")} if clusters else {}),
            **({"disks": disks} if clusters else {}),
            **({"images": agent("artifactregistry")} if managed or own.image_cache else {}),
        },
        "record": {"storage": storage, **({"logging": agent("logging")} if own.record.by_stack else {})},
    }
    return ProjectKeys(
        plan.core.name,
        {
            "location": own.region,
            "members": members,
            "protect": plan.core.protect,
            # The vault of backups outlasts the stack, and reads its backups by this key.
            "stay": ["backups"] if own.shared_files else [],
        },
        after(gcp, services.ready),
    )


def make_record(plan: Plan[GcpPlan], keys: ProjectKeys, services: ProjectServices, gcp: pulumi.ResourceOptions) -> None:
    """What is written down of the project, where the stack is who does it, and who is told."""
    own = plan.ground
    if not own.record.by_stack:
        return
    ProjectRecord(
        "record",
        {
            "project": own.project,
            "location": own.region,
            "bucket_id": plan.core.name,
            "key_id": keys.key_ids["record"],
            "retention_days": own.record.log_retention_days,
            "locked": own.record.locked,
            "protect": plan.core.protect,
        },
        after(gcp, [*services.ready, *keys.granted["record"]]),
    )
    told: RecordAlarmsArgs = {
        "project": own.project,
        "subject": plan.core.name,
        "emails": plan.core.budget.alert_emails,
        "labels": dict(own.labels),
        "runbooks": plan.core.runbooks,
    }
    RecordAlarms("record-alarms", told, after(gcp, services.ready))


def make_storage(
    plan: Plan[GcpPlan], network: AnyVpc, keys: ProjectKeys, services: ProjectServices, gcp: pulumi.ResourceOptions
) -> GcsStorageTiers:
    """Makes the storage tiers."""
    tiers = plan.core.storage
    args: GcsStorageTiersArgs = {
        **_reached(plan.ground, network, services),
        "location": plan.ground.region,
        "key_ids": {
            "data": keys.key_ids["data"],
            "checkpoints": keys.key_ids["checkpoints"],
            "artifacts": keys.key_ids["tracking"],
            "logs": keys.key_ids["record"],
        },
        "labels": dict(plan.ground.labels),
        "data_version_days": tiers.data_version_days,
        "checkpoint_keep_versions": tiers.checkpoint_keep_versions,
        "checkpoint_expire_days": tiers.checkpoint_expire_days,
        "artifact_retention_days": tiers.artifact_retention_days,
        "artifact_transition_days": tiers.artifact_transition_days,
        "access_log_days": plan.ground.record.access_log_days,
        "access_log_lock_days": plan.ground.record.access_log_lock_days,
        "access_logs_locked": plan.ground.record.locked,
        "multipart_cleanup_days": tiers.multipart_cleanup_days,
        "protect": plan.core.protect,
    }
    granted = [grant for kind in ("data", "checkpoints", "tracking", "record") for grant in keys.granted[kind]]
    return GcsStorageTiers(plan.core.name, args, after(gcp, granted))


class _Reached(TypedDict, total=False):
    networks: GcsNetworksArgs
    data_cache: GcsDataCacheArgs
    counter_email: pulumi.Input[str]


def _reached(own: GcpPlan, network: AnyVpc, services: ProjectServices) -> _Reached:
    """From where the tiers are reached, what is kept of the data beside the nodes, and who counts for their pods."""
    found: _Reached = {}
    if own.control_planes:
        found["counter_email"] = services.agent_emails["container"]
    if own.bucket_networks is not None:
        found["networks"] = {
            "network_id": network.network_id,
            "cidrs": [own.network.node_cidr, own.network.pod_cidr],
            "public_cidrs": [cidr for _, cidr in own.bucket_networks],
        }
    if own.data_cache is not None:
        found["data_cache"] = {"zones": own.data_cache.zones, "hours": own.data_cache.hours}
    return found


@dataclass(frozen=True)
class Files:
    """The file systems that teams share, where the plan has them."""

    lustre: ManagedLustre | None
    shared: FilestoreShare | None


class _LetIn(TypedDict, total=False):
    private_services_cidr: pulumi.Input[str]


def make_files(
    plan: Plan[GcpPlan],
    network: AnyVpc,
    keys: ProjectKeys,
    services: ProjectServices,
    storage: GcsStorageTiers,
    gcp: pulumi.ResourceOptions,
) -> Files:
    """Managed Lustre and Filestore, as the plan has them."""
    own, found = plan.ground, Files(None, None)
    opts = after(gcp, [*network.private, *keys.granted["data"]])
    if own.lustre is not None:
        let_in: _LetIn = {}
        if own.network.shared is None:
            let_in["private_services_cidr"] = own.network.private_services_cidr
        lustre = ManagedLustre(
            f"{plan.core.name}-lustre",
            {
                **let_in,
                "instance_id": f"{plan.core.name}-lustre",
                "zone": own.lustre.zone,
                "network_id": network.network_id,
                "client_cidrs": [own.network.node_cidr],
                "key_id": keys.key_ids["data"],
                "capacity_gib": own.lustre.capacity_gib,
                "throughput_mbps_per_tib": own.lustre.throughput_mbps_per_tib,
                "imports": {"bucket": storage.data_bucket, "agent_email": services.agent_emails["lustre"]},
                "labels": dict(own.labels),
                "protect": plan.core.protect,
            },
            opts,
        )
        found = replace(found, lustre=lustre)
    if own.shared_files is not None:
        shared = FilestoreShare(
            f"{plan.core.name}-shared",
            {
                "region": own.region,
                "project": own.project,
                "network_id": network.network_id,
                "client_cidrs": [own.network.node_cidr],
                "key_id": keys.key_ids["data"],
                "capacity_gib": own.shared_files.capacity_gib,
                "labels": dict(own.labels),
                "protect": plan.core.protect,
            },
            opts,
        )
        found = replace(found, shared=shared)
    return found


def make_folders(
    prefix: str, plan: Plan[GcpPlan], planned: ClusterPlan, volumes: BucketVolumesArgs, opts: pulumi.ResourceOptions
) -> list[pulumi.Resource]:
    """The folders that the teams mount; what a job with a volume waits for."""
    from trainyard.components.gcp.on_cluster.folders import SharedFolders
    from trainyard.components.gcp.on_cluster.volumes import filestore_source, home_folder, lustre_source, scratch_folder

    tops: list[FileSystemTopArgs] = []
    teams = [team.name for team in planned.teams]
    if "lustre" in volumes:
        source = lustre_source(volumes["lustre"], SCRATCH_CLAIM)
        tops.append({**source, "name": "scratch", "folders": [scratch_folder(team) for team in teams]})
    if "shared" in volumes:
        source = filestore_source(volumes["shared"], HOME_CLAIM)
        tops.append({**source, "name": "home", "folders": [home_folder(team) for team in teams]})
    if not tops:
        return []
    # The smallest of the platform's images with Python.
    image = plan.core.pins.image("mlflow")
    return SharedFolders(f"{prefix}folders", {"image": image, "file_systems": tops}, opts).ready


def make_database(
    plan: Plan[GcpPlan], network: AnyVpc, keys: ProjectKeys, gcp: pulumi.ResourceOptions
) -> CloudSqlDatabase | None:
    """PostgreSQL for MLflow, where the plan has a server."""
    own, managed = plan.ground.database, plan.ground.managed
    by_token = managed is not None and managed.server is not None
    if own is None or not (by_token or any(plan.tracks(cluster) for cluster in plan.clusters)):
        return None
    args: CloudSqlDatabaseArgs = {
        "region": plan.ground.region,
        "network_id": network.network_id,
        "key_id": keys.key_ids["tracking"],
        "database_version": own.version,
        "tier": own.tier,
        "disk_gib": own.storage_gib,
        "max_disk_gib": own.max_storage_gib,
        "highly_available": own.highly_available,
        "backup_days": own.backup_retention_days,
        "labels": dict(plan.ground.labels),
        "deletion_protection": own.deletion_protection,
        "protect": plan.core.protect,
        "password_version": plan.core.mlflow.password_version,
    }
    if by_token:
        args["iam_login"] = True
    return CloudSqlDatabase(
        tracking_database(plan.core.name), args, after(gcp, [*network.private, *keys.granted["tracking"]])
    )


def make_backup_alarms(
    plan: Plan[GcpPlan], files: Files, database: CloudSqlDatabase | None, opts: pulumi.ResourceOptions
) -> None:
    """Who is told of a backup that was not made, where Google makes any."""
    if files.shared is None and database is None:
        return
    args: BackupAlarmsArgs = {
        "project": plan.ground.project,
        "subject": plan.core.name,
        "emails": plan.core.budget.alert_emails,
        "labels": dict(plan.ground.labels),
        "runbooks": plan.core.runbooks,
    }
    if files.shared is not None:
        args["backup_plan_id"] = files.shared.backup_plan_id
    if database is not None:
        args["database"] = database.instance_name
    BackupAlarms("backups", args, opts)


def mlflow_database(plan: Plan[GcpPlan], database: CloudSqlDatabase | None) -> MlflowDatabaseArgs | None:
    """How the MLflow server reaches its database; None where there is none.

    Its certificate is of an authority of the instance's own, made with it, and names the instance and not its address:
    that the authority signed it is the proof, and no other server has one.
    """
    if database is None:
        return None
    return {
        "address": database.address,
        "port": POSTGRES_PORT,
        "name": DATABASE,
        "username": USER,
        "server_user": "mlflow_server",
        "password": database.password,
        "ca_certificates": database.server_ca,
        "ssl_mode": "verify-ca",
        "cidrs": [plan.ground.network.private_services_cidr],
    }


def mounted(plan: Plan[GcpPlan], storage: GcsStorageTiers, files: Files) -> BucketVolumesArgs:
    """The storage tiers as far as pods mount them."""
    volumes: BucketVolumesArgs = {
        "data_bucket": storage.data_bucket,
        "data_per_team": plan.core.storage.data_access == "team",
        "checkpoints_bucket": storage.checkpoints_bucket,
    }
    if files.lustre is not None:
        volumes["lustre"] = {
            "instance": files.lustre.instance,
            "address": files.lustre.address,
            "filesystem": FILESYSTEM,
        }
    if files.shared is not None:
        volumes["shared"] = {"instance": files.shared.instance, "address": files.shared.address, "share": SHARE}
    return volumes


def uri(bucket: pulumi.Output[str]) -> pulumi.Output[str]:
    """Address of a bucket, without a slash at its end."""
    return pulumi.Output.concat("gs://", bucket)
