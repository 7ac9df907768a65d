"""An environment on Google Cloud, made of the components alone: what the tests of them and of the rules look at."""

from __future__ import annotations

from collections.abc import Sequence

import pulumi
import pulumi_gcp
import pulumi_random

from tests.pulumi_harness import Recording, record
from trainyard.components.gcp.budget import ProjectBudget
from trainyard.components.gcp.cluster import GkeCluster
from trainyard.components.gcp.database import CloudSqlDatabase
from trainyard.components.gcp.encryption import ProjectKeys
from trainyard.components.gcp.gpu_nodes import GkeNodePools, GkePoolArgs
from trainyard.components.gcp.identity import PodIdentity
from trainyard.components.gcp.lustre import ManagedLustre
from trainyard.components.gcp.network import VpcNetwork
from trainyard.components.gcp.record import ProjectRecord, RecordAlarms
from trainyard.components.gcp.services import ProjectServices
from trainyard.components.gcp.shared_files import FilestoreShare
from trainyard.components.gcp.storage import GcsStorageTiers

PROJECT, NUMBER, REGION = "acme-ml", "123456789012", "europe-west4"
LABELS = {
    "client": "acme",
    "environment": "demo",
    "team": "ml-platform",
    "cost-centre": "cc-42",
    "managed-by": "pulumi",
}
CONTROL_PLANE = "172.16.0.0/28"
POOLS: list[GkePoolArgs] = [
    {
        "name": "train-reserved",
        "pool": "train",
        "capacity": "reserved",
        "machine_type": "a3-ultragpu-8g",
        "accelerator": "nvidia-h200-141gb",
        "gpus": 8,
        "min_nodes": 0,
        "max_nodes": 2,
        "zones": ["europe-west4-a"],
        "disk_gib": 200,
        "reservation": {"name": "projects/acme-ml/reservations/q4", "zone": "europe-west4-a"},
        "fast_network": True,
    },
    {
        "name": "train-flex",
        "pool": "train",
        "capacity": "flex-start",
        "machine_type": "a3-megagpu-8g",
        "accelerator": "nvidia-h100-mega-80gb",
        "gpus": 8,
        "min_nodes": 0,
        "max_nodes": 4,
        "zones": ["europe-west4-b"],
        "disk_gib": 200,
        "fast_network": True,
    },
    {
        "name": "tune-spot",
        "pool": "tune",
        "capacity": "spot",
        "machine_type": "g2-standard-48",
        "accelerator": "nvidia-l4",
        "gpus": 4,
        "min_nodes": 0,
        "max_nodes": 3,
        "zones": ["europe-west4-a", "europe-west4-b"],
        "disk_gib": 200,
    },
    {
        "name": "train-on-demand",
        "pool": "train",
        "capacity": "on-demand",
        "machine_type": "a2-highgpu-8g",
        "accelerator": "nvidia-tesla-a100",
        "gpus": 8,
        "min_nodes": 0,
        "max_nodes": 1,
        "zones": ["europe-west4-a"],
        "disk_gib": 200,
        "compact": True,
        "local_ssds": 8,
    },
]


def program() -> None:
    """Network, keys, cluster, pools, tiers, database, rights and budget, each after what it needs."""
    gcp = pulumi_gcp.Provider("gcp", project=PROJECT, region=REGION, default_labels=LABELS)
    made_by = pulumi.ResourceOptions(providers=[gcp, pulumi_random.Provider("random")])

    def after(waited_for: Sequence[pulumi.Resource]) -> pulumi.ResourceOptions:
        return pulumi.ResourceOptions.merge(made_by, pulumi.ResourceOptions(depends_on=list(waited_for)))

    services = ProjectServices(
        "services",
        {
            "services": [
                "compute",
                "container",
                "servicenetworking",
                "sqladmin",
                "secretmanager",
                "cloudkms",
                "logging",
                "lustre",
                "file",
                "backupdr",
            ],
            "agents": ["sqladmin", "container", "secretmanager", "logging", "lustre", "file", "backupdr"],
        },
        made_by,
    )
    network = VpcNetwork(
        "network",
        {
            "region": REGION,
            "node_cidr": "10.0.0.0/20",
            "pod_cidr": "10.16.0.0/14",
            "service_cidr": "10.32.0.0/20",
            "control_plane_cidr": CONTROL_PLANE,
            "private_services_prefix": 22,
            "private_services_address": "10.0.16.0",
        },
        after(services.ready),
    )
    storage_agent = f"serviceAccount:service-{NUMBER}@gs-project-accounts.iam.gserviceaccount.com"
    sql_agent = services.agent_emails["sqladmin"].apply(lambda email: f"serviceAccount:{email}")
    lustre_agent = services.agent_emails["lustre"].apply(lambda email: f"serviceAccount:{email}")
    file_agent = services.agent_emails["file"].apply(lambda email: f"serviceAccount:{email}")
    backup_agent = services.agent_emails["backupdr"].apply(lambda email: f"serviceAccount:{email}")
    log_agent = services.agent_emails["logging"].apply(lambda email: f"serviceAccount:{email}")
    keys = ProjectKeys(
        "acme-demo",
        {
            "location": REGION,
            "members": {
                "data": {
                    "storage": storage_agent,
                    "lustre": lustre_agent,
                    "files": file_agent,
                    "backups": backup_agent,
                },
                "tracking": {"storage": storage_agent, "sql": sql_agent},
                "platform": {},
                "record": {"storage": storage_agent, "logging": log_agent},
            },
            "protect": True,
            "stay": ["backups"],
        },
        after(services.ready),
    )
    cluster = GkeCluster(
        "cluster",
        {
            "cluster_name": "acme-demo",
            "project": PROJECT,
            "region": REGION,
            "zones": ["europe-west4-a", "europe-west4-b", "europe-west4-c"],
            "network_id": network.network_id,
            "subnetwork_id": network.subnetwork_id,
            "control_plane_cidr": CONTROL_PLANE,
            "kubernetes_version": "1.35",
            "release_channel": "REGULAR",
            "key_id": keys.key_ids["platform"],
            "node_account_id": "acme-demo-nodes",
            "system_nodes": {"machine_type": "e2-standard-4", "min_nodes": 2, "max_nodes": 6, "disk_gib": 50},
            "cpu_pool": {"machine_type": "e2-standard-8", "min_nodes": 0, "max_nodes": 4, "disk_gib": 100},
            "labels": LABELS,
            "authenticator_group": "gke-security-groups@acme.example",
            "deletion_protection": True,
        },
        after([*network.ways_out, *network.ways_in, *keys.granted["platform"]]),
    )
    GkeNodePools(
        "gpu-nodes",
        {
            "cluster_id": cluster.cluster_id,
            "region": REGION,
            "node_account_email": cluster.node_account_email,
            "key_id": keys.key_ids["platform"],
            "labels": LABELS,
            "pools": POOLS,
        },
        after(cluster.nodes_wait_for),
    )
    inside = after([*network.private, *keys.granted["data"]])
    ManagedLustre(
        "acme-demo-lustre",
        {
            "instance_id": "acme-demo-lustre",
            "zone": "europe-west4-a",
            "network_id": network.network_id,
            "private_services_cidr": "10.0.16.0/22",
            "client_cidrs": ["10.0.0.0/20"],
            "key_id": keys.key_ids["data"],
            "capacity_gib": 18_000,
            "throughput_mbps_per_tib": 500,
            "labels": LABELS,
            "protect": True,
        },
        inside,
    )
    FilestoreShare(
        "acme-demo-shared",
        {
            "region": REGION,
            "project": PROJECT,
            "network_id": network.network_id,
            "client_cidrs": ["10.0.0.0/20"],
            "key_id": keys.key_ids["data"],
            "capacity_gib": 1024,
            "labels": LABELS,
            "protect": True,
        },
        inside,
    )
    tiers = GcsStorageTiers(
        "acme-demo",
        {
            "location": REGION,
            "key_ids": {
                "data": keys.key_ids["data"],
                "checkpoints": keys.key_ids["data"],
                "artifacts": keys.key_ids["tracking"],
                "logs": keys.key_ids["record"],
            },
            "labels": LABELS,
            "data_version_days": 90,
            "checkpoint_keep_versions": 3,
            "checkpoint_expire_days": 30,
            "artifact_retention_days": 365,
            "artifact_transition_days": 90,
            "access_log_days": 365,
            "access_log_lock_days": 90,
            "access_logs_locked": False,
            "multipart_cleanup_days": 7,
            "protect": True,
            "counter_email": services.agent_emails["container"],
        },
        after([*keys.granted["data"], *keys.granted["tracking"], *keys.granted["record"]]),
    )
    ProjectRecord(
        "record",
        {
            "project": PROJECT,
            "location": REGION,
            "bucket_id": "acme-demo",
            "key_id": keys.key_ids["record"],
            "retention_days": 365,
            "locked": False,
            "protect": True,
        },
        after([*services.ready, *keys.granted["record"]]),
    )
    RecordAlarms(
        "record-alarms",
        {"project": PROJECT, "subject": "acme-demo", "emails": ["ml@acme.example"], "labels": LABELS},
        after(services.ready),
    )
    CloudSqlDatabase(
        "acme-demo-mlflow",
        {
            "region": REGION,
            "network_id": network.network_id,
            "key_id": keys.key_ids["tracking"],
            "database_version": "POSTGRES_18",
            "tier": "db-custom-2-7680",
            "disk_gib": 50,
            "max_disk_gib": 500,
            "highly_available": False,
            "backup_days": 14,
            "labels": LABELS,
            "deletion_protection": True,
            "protect": True,
        },
        after([*network.private, *keys.granted["tracking"]]),
    )
    PodIdentity(
        "team-vision",
        {
            "project_number": NUMBER,
            "workload_pool": cluster.workload_pool,
            "namespace": "team-vision",
            "service_account": "trainer",
            "rights": [
                {"name": "data", "bucket": tiers.data_bucket, "write": False},
                {"name": "checkpoints", "bucket": tiers.checkpoints_bucket, "folder": "vision/", "write": True},
            ],
        },
        made_by,
    )
    ProjectBudget(
        "budget",
        {
            "billing_account": "012345-6789AB-CDEF01",
            "project": PROJECT,
            "project_number": NUMBER,
            "display_name": "acme-demo",
            "currency": "EUR",
            "monthly_amount": 55000,
            "actual_percents": [50, 80, 100],
            "forecast_percents": [100],
            "emails": ["ml@acme.example"],
        },
        made_by,
    )


def recorded(*, preview: bool = False) -> Recording:
    """The environment as a run records it."""
    return record(program, preview=preview)
