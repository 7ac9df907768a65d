"""What the components on Google Cloud make: what is closed, what waits for what, and what they refuse."""

from __future__ import annotations

import copy
import re
from typing import Any

import pytest

from tests.components.gcp.environment import CONTROL_PLANE, LABELS, POOLS, REGION, recorded
from tests.pulumi_harness import Recording, record
from trainyard.components.gcp.buckets import GcsBucket
from trainyard.components.gcp.budget import ProjectBudget
from trainyard.components.gcp.cluster import GkeCluster
from trainyard.components.gcp.database import CloudSqlDatabase, bundle
from trainyard.components.gcp.encryption import ProjectKeys
from trainyard.components.gcp.gpu_nodes import check_pool
from trainyard.components.gcp.identity import PodIdentity
from trainyard.components.gcp.lustre import ManagedLustre
from trainyard.components.gcp.network import VpcNetwork
from trainyard.components.gcp.nodes import check_account_id
from trainyard.components.gcp.on_cluster.folders import SharedFolders
from trainyard.components.gcp.record import ProjectRecord
from trainyard.components.gcp.services import ProjectServices
from trainyard.components.gcp.shared_files import FilestoreShare
from trainyard.conventions import gpu_node_labels
from trainyard.recorded.model import Secret, leaves
from trainyard.recorded.types import CLOUD_SQL

CLUSTER, NODE_POOL = "gcp:container/cluster:Cluster", "gcp:container/nodePool:NodePool"
BUCKET = "gcp:storage/bucket:Bucket"


@pytest.fixture(scope="module")
def made() -> Recording:
    return recorded()


def before(made: Recording, type_: str, name: str) -> set[str]:
    """Names of what has to be there before a resource, directly or not."""
    by_urn = {resource.urn: resource for resource in made.resources}
    found: set[str] = set()
    left = list(made.one(type_, name).dependencies)
    while left:
        resource = by_urn[left.pop()]
        if resource.name not in found:
            found.add(resource.name)
            left += resource.dependencies
    return found


def test_nodes_have_no_address_of_the_internet_and_the_api_is_guarded_by_iam(made: Recording) -> None:
    cluster = made.one(CLUSTER).inputs
    assert cluster["privateClusterConfig"]["enablePrivateNodes"] is True
    assert cluster["privateClusterConfig"]["enablePrivateEndpoint"] is True
    assert cluster["controlPlaneEndpointsConfig"]["dnsEndpointConfig"]["allowExternalTraffic"] is True
    assert cluster["masterAuthorizedNetworksConfig"].get("cidrBlocks", []) == []
    assert cluster["masterAuth"]["clientCertificateConfig"]["issueClientCertificate"] is False


def test_only_the_control_plane_calls_webhooks(made: Recording) -> None:
    rule = made.one("gcp:compute/firewall:Firewall", "network-webhooks").inputs
    assert rule["sourceRanges"] == [CONTROL_PLANE]
    assert "9443" in rule["allows"][0]["ports"]


def test_no_pod_is_the_node_and_no_node_has_the_projects_default_account(made: Recording) -> None:
    for pool in made.of_type(NODE_POOL):
        node = pool.inputs["nodeConfig"]
        assert node["workloadMetadataConfig"]["mode"] == "GKE_METADATA"
        assert node["shieldedInstanceConfig"]["enableSecureBoot"] is True
        assert node["serviceAccount"].startswith("acme-demo-nodes@")
    roles = {item.inputs["role"] for item in made.of_type("gcp:projects/iAMMember:IAMMember")}
    assert roles == {"roles/container.defaultNodeServiceAccount", "roles/artifactregistry.reader"}


def test_everything_that_costs_carries_the_labels_of_the_bill(made: Recording) -> None:
    for pool in made.of_type(NODE_POOL):
        assert LABELS.items() <= pool.inputs["nodeConfig"]["resourceLabels"].items()
    assert (
        LABELS.items() <= made.one("gcp:sql/databaseInstance:DatabaseInstance").inputs["settings"]["userLabels"].items()
    )
    assert LABELS.items() <= made.one(CLUSTER).inputs["resourceLabels"].items()


def test_gpu_pools_start_from_zero_with_the_labels_that_queues_find_them_by(made: Recording) -> None:
    for pool in POOLS:
        found = made.one(NODE_POOL, f"gpu-nodes-{pool['name']}").inputs
        assert found["autoscaling"]["totalMinNodeCount"] == 0
        assert gpu_node_labels(pool["pool"], pool["capacity"]).items() <= found["nodeConfig"]["labels"].items()
        assert {"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"} in found["nodeConfig"]["taints"]
        assert found["nodeConfig"]["guestAccelerators"][0]["gpuDriverInstallationConfig"]


def test_each_capacity_is_bought_in_its_way(made: Recording) -> None:
    reserved, flexible, spot = (
        made.one(NODE_POOL, f"gpu-nodes-{name}").inputs for name in ("train-reserved", "train-flex", "tune-spot")
    )
    assert reserved["nodeConfig"]["reservationAffinity"]["values"] == ["projects/acme-ml/reservations/q4"]
    assert reserved["nodeConfig"]["ephemeralStorageLocalSsdConfig"]["localSsdCount"] == 32
    assert reserved["networkConfig"]["acceleratorNetworkProfile"] == "auto"
    assert flexible["nodeConfig"]["flexStart"] is True and flexible["queuedProvisioning"]["enabled"] is True
    assert flexible["management"]["autoRepair"] is False
    assert spot["nodeConfig"]["spot"] is True and "flexStart" not in spot["nodeConfig"]


def test_the_order_of_a_first_up(made: Recording) -> None:
    assert {"services-container", "network-nat", "cluster-nodes-reader"} <= before(made, CLUSTER, "cluster-cluster")
    assert "cluster-cluster" in before(made, NODE_POOL, "gpu-nodes-tune-spot")
    database = before(made, "gcp:sql/databaseInstance:DatabaseInstance", "acme-demo-mlflow")
    assert {"network-private-services", "acme-demo-tracking-sql", "services-sqladmin-agent"} <= database
    assert "acme-demo-data-storage" in before(made, BUCKET, "acme-demo-data")
    assert "cluster-cluster" not in before(made, BUCKET, "acme-demo-data")


def test_buckets_are_closed_encrypted_logged_and_keep_what_is_overwritten(made: Recording) -> None:
    for bucket in made.of_type(BUCKET):
        found = bucket.inputs
        assert found["publicAccessPrevention"] == "enforced" and found["uniformBucketLevelAccess"] is True
        is_log = bucket.name.endswith("-logs")
        assert found["versioning"]["enabled"] is not is_log and ("retentionPolicy" in found) is is_log
        assert found["forceDestroy"] is False and bucket.protect
        assert ("logging" in found) is not is_log and found["encryption"]["defaultKmsKeyName"]
        assert found["location"] == REGION
    rules = made.one(BUCKET, "acme-demo-checkpoints").inputs["lifecycleRules"]
    assert {"action": {"type": "Delete"}, "condition": {"numNewerVersions": 3, "withState": "ARCHIVED"}} in rules


def test_the_database_has_an_authority_of_its_own_and_the_next_one_is_known(made: Recording) -> None:
    settings = made.one("gcp:sql/databaseInstance:DatabaseInstance").inputs["settings"]
    assert settings["ipConfiguration"]["serverCaMode"] == "GOOGLE_MANAGED_INTERNAL_CA"
    assert bundle([" next \n", "current"]) == bundle(["current", "next"]) == "current\nnext\n"
    with pytest.raises(RuntimeError, match="lists no authority"):
        bundle([])


def test_access_logs_arrive_and_stay(made: Recording) -> None:
    logs = made.one(BUCKET, "acme-demo-logs").inputs
    assert logs["retentionPolicy"] == {"retentionPeriod": str(90 * 86_400), "isLocked": False}
    assert {"action": {"type": "Delete"}, "condition": {"age": 365}} in logs["lifecycleRules"]
    grant = made.one("gcp:storage/bucketIAMMember:BucketIAMMember", "acme-demo-logs-delivery").inputs
    assert (grant["role"], grant["member"]) == (
        "roles/storage.objectCreator",
        "group:cloud-storage-analytics@google.com",
    )
    assert "acme-demo-logs-delivery" in before(made, BUCKET, "acme-demo-data")


def test_reads_writes_and_uses_of_keys_are_written_down(made: Recording) -> None:
    asked = {item.inputs["service"]: item.inputs for item in made.of_type("gcp:projects/iAMAuditConfig:IAMAuditConfig")}
    assert set(asked) == {f"{name}.googleapis.com" for name in ("storage", "cloudkms", "secretmanager")}
    for config in asked.values():
        assert {each["logType"] for each in config["auditLogConfigs"]} == {"ADMIN_READ", "DATA_READ", "DATA_WRITE"}


def test_no_log_is_lost_between_the_region_and_the_world(made: Recording) -> None:
    """The region's bucket with the right of its key, then what fills it, then what keeps logs out of the other."""
    bucket, exclusion = (
        "gcp:logging/projectBucketConfig:ProjectBucketConfig",
        "gcp:logging/projectExclusion:ProjectExclusion",
    )
    assert "acme-demo-record-logging" in before(made, bucket, "record-logs")
    assert {"record-sink", "record-logs"} <= before(made, exclusion, "record-not-global")
    kept = made.one(bucket, "record-logs")
    assert kept.protect and kept.inputs["deletionPolicy"] == "ABANDON" and kept.inputs["location"] == REGION


def test_somebody_hears_of_rights_of_the_record_and_of_keys(made: Recording) -> None:
    alarms = [item for item in made.of_type("gcp:monitoring/alertPolicy:AlertPolicy") if "record-alarms" in item.name]
    assert {item.name.rpartition("-")[2] for item in alarms} == {"rights", "record", "keys"}
    for alarm in alarms:
        (condition,) = alarm.inputs["conditions"]  # one on log entries stands alone
        assert condition["conditionMatchedLog"]["filter"].startswith('log_id("cloudaudit.googleapis.com/activity")')
        assert alarm.inputs["alertStrategy"]["notificationRateLimit"]["period"] == "300s"
        assert alarm.inputs["notificationChannels"]


@pytest.mark.parametrize(
    ("change", "message"),
    [({"bucket_id": "-x"}, "bucket_id"), ({"bucket_id": "a" * 101}, "bucket_id"), ({"retention_days": 0}, "1 to 3650")],
)
def test_a_record_that_google_refuses(change: dict[str, Any], message: str) -> None:
    sound = {"project": "p", "location": REGION, "bucket_id": "b", "key_id": "k", "retention_days": 30}
    given = {**sound, "locked": False, "protect": True, **change}
    with pytest.raises(ValueError, match=message):
        record(lambda: ProjectRecord("record", given))  # type: ignore[arg-type, return-value]


def test_a_password_is_nowhere_in_the_clear(made: Recording) -> None:
    for type_, key in (
        ("gcp:sql/user:User", "passwordWo"),
        ("gcp:secretmanager/regionalSecretVersion:RegionalSecretVersion", "secretDataWo"),
    ):
        assert isinstance(made.one(type_).inputs[key], Secret)
    texts = [value for item in made.resources for _, value, _ in leaves(item.inputs) if isinstance(value, str)]
    password = made.one("gcp:sql/user:User").inputs["passwordWo"].value
    assert [text for text in texts if text == password and text] in ([], [password, password])


def test_keys_outlast_the_stack(made: Recording) -> None:
    for key in made.of_type("gcp:kms/cryptoKey:CryptoKey"):
        assert key.protect and key.inputs["deletionPolicy"] == "ABANDON"
        assert key.inputs["rotationPeriod"] == "7776000s"


def test_who_reads_what_outlasts_the_stack_stays_on_its_key(made: Recording) -> None:
    grants = {
        each.name: each.retain_on_delete for each in made.of_type("gcp:kms/cryptoKeyIAMMember:CryptoKeyIAMMember")
    }
    assert [name for name, stays in grants.items() if stays] == ["acme-demo-data-backups"]
    given: Any = {"location": REGION, "members": {"data": {"storage": "serviceAccount:a@b"}}, "protect": True}
    with pytest.raises(ValueError, match="stay: got backups; must be among the members"):
        record(lambda: ProjectKeys("keys", given | {"stay": ["backups"]}))  # type: ignore[arg-type, return-value]


def test_a_teams_pods_read_the_data_and_write_their_own_folder(made: Recording) -> None:
    reads = made.one("gcp:storage/bucketIAMMember:BucketIAMMember", "team-vision-data").inputs
    writes = made.one("gcp:storage/managedFolderIamMember:ManagedFolderIamMember", "team-vision-checkpoints").inputs
    assert (reads["role"], writes["role"]) == ("roles/storage.objectViewer", "roles/storage.objectUser")
    assert writes["managedFolder"] == "vision/"
    assert reads["member"].endswith("/workloadIdentityPools/acme-ml.svc.id.goog/subject/ns/team-vision/sa/trainer")


def test_alerts_are_shares_of_the_budget(made: Recording) -> None:
    budget = made.one("gcp:billing/budget:Budget").inputs
    assert [rule["thresholdPercent"] for rule in budget["thresholdRules"]] == [0.5, 0.8, 1.0, 1.0]
    assert budget["amount"]["specifiedAmount"] == {"currencyCode": "EUR", "units": "55000"}


POOL_MISTAKES: list[tuple[int, dict[str, Any], str]] = [
    (0, {"zones": ["europe-west4-b"]}, "in europe-west4-a only"),
    (0, {"reservation": None}, "reserved capacity names a reservation"),
    (0, {"local_ssds": 16}, "takes 32"),
    (2, {"local_ssds": 8}, "g2-standard-48 takes 4"),
    (3, {"local_ssds": 4}, "a2-highgpu-8g takes 8"),
    (3, {"machine_type": "a2-ultragpu-8g", "local_ssds": 8}, "is given no number of them"),
    (1, {"min_nodes": 1}, "starts from none"),
    (1, {"compact": True}, "cannot be placed together"),
    (1, {"max_run_seconds": 700_000}, "600 to 604800"),
    (2, {"fast_network": True}, "no fast interfaces"),
    (2, {"accelerator": "nvidia-l40"}, "nvidia-l4"),
    (2, {"capacity": "preemptible"}, "flex-start"),
    (2, {"name": "Tune_Spot"}, "at most 40"),
    (2, {"max_nodes": 0}, "at least 1"),
    (3, {"zones": ["europe-west4-a", "europe-west4-b"]}, "placed together are in one"),
]


@pytest.mark.parametrize(("index", "changes", "said"), POOL_MISTAKES)
def test_a_pool_that_never_gets_a_node_is_refused(index: int, changes: dict[str, Any], said: str) -> None:
    pool: Any = {**copy.deepcopy(POOLS[index]), **changes}
    with pytest.raises(ValueError, match="node pool") as caught:
        check_pool({key: value for key, value in pool.items() if value is not None})  # type: ignore[typeddict-item]
    assert said in str(caught.value)


NETWORK: dict[str, Any] = {
    "region": REGION,
    "node_cidr": "10.0.0.0/20",
    "pod_cidr": "10.16.0.0/14",
    "service_cidr": "10.32.0.0/20",
    "control_plane_cidr": CONTROL_PLANE,
    "private_services_prefix": 22,
}
REFUSED: list[tuple[Any, dict[str, Any], dict[str, Any], str]] = [
    (VpcNetwork, NETWORK, {"mtu": 9001}, "1300 to 8896"),
    (VpcNetwork, NETWORK, {"flow_log_sampling": 0}, "above 0"),
    (VpcNetwork, NETWORK, {"flow_log_interval": "1m"}, "INTERVAL_5_SEC"),
    (VpcNetwork, NETWORK, {"private_services_prefix": 28}, "16 to 24"),
    (ProjectServices, {"services": ["compute.googleapis.com"], "agents": []}, {}, "the name alone"),
    (ProjectServices, {"services": ["compute"], "agents": ["sqladmin"]}, {}, "must be among the services"),
    (ProjectKeys, {"location": REGION, "members": {}, "protect": True}, {}, "at least one class"),
]


@pytest.mark.parametrize("id_", ["nodes", "Nodes-of-acme", "nodes-", "1nodes-of-acme", "n" * 31])
def test_an_account_has_an_id_that_google_takes(id_: str) -> None:
    with pytest.raises(ValueError, match="6 to 30"):
        check_account_id(id_)


def test_file_systems_wait_for_their_connection_and_their_key_and_only_nodes_are_believed(made: Recording) -> None:
    lustre = made.one("gcp:lustre/instance:Instance", "acme-demo-lustre").inputs
    assert lustre["accessRulesOptions"]["defaultSquashMode"] == "ROOT_SQUASH"
    assert [rule["ipAddressRanges"] for rule in lustre["accessRulesOptions"]["accessRules"]] == [["10.0.0.0/20"]]
    assert "kmsKey" in lustre and lustre["labels"] == LABELS
    share = made.one("gcp:filestore/instance:Instance", "acme-demo-shared").inputs
    assert [option["ipRanges"] for option in share["fileShares"]["nfsExportOptions"]] == [["10.0.0.0/20"]]
    assert "kmsKeyName" in share and share["deletionProtectionEnabled"] is True and share["labels"] == LABELS
    for type_, name, agent in (
        ("gcp:lustre/instance:Instance", "acme-demo-lustre", "acme-demo-data-lustre"),
        ("gcp:filestore/instance:Instance", "acme-demo-shared", "acme-demo-data-files"),
        ("gcp:backupdisasterrecovery/backupVault:BackupVault", "acme-demo-shared-vault", "acme-demo-data-backups"),
    ):
        assert {"network-private-services", agent} <= before(made, type_, name)
    daily = made.one("gcp:backupdisasterrecovery/backupPlan:BackupPlan", "acme-demo-shared-daily").inputs
    (rule,) = daily["backupRules"]
    assert rule["backupRetentionDays"] == 35 and rule["standardSchedule"]["recurrenceType"] == "DAILY"
    vault = made.one("gcp:backupdisasterrecovery/backupVault:BackupVault", "acme-demo-shared-vault").inputs
    assert vault["location"] == daily["location"] and vault["deletionPolicy"] == "ABANDON"
    servers = made.one("gcp:compute/firewall:Firewall", "acme-demo-lustre-servers").inputs
    assert servers["sourceRanges"] == ["10.0.16.0/22"] and servers["allows"] == [{"protocol": "tcp", "ports": ["988"]}]


LUSTRE: dict[str, Any] = {
    "instance_id": "acme-lustre",
    "zone": f"{REGION}-a",
    "network_id": "projects/p/global/networks/n",
    "private_services_cidr": "10.0.16.0/20",
    "client_cidrs": ["10.0.0.0/20"],
    "key_id": "k",
    "capacity_gib": 18_000,
    "throughput_mbps_per_tib": 500,
    "labels": {},
    "protect": True,
}
SHARE: dict[str, Any] = {
    "region": REGION,
    "project": "p",
    "network_id": "projects/p/global/networks/n",
    "client_cidrs": ["10.0.0.0/20"],
    "key_id": "k",
    "capacity_gib": 1024,
    "labels": {},
    "protect": True,
}
BUCKET_ARGS: dict[str, Any] = {
    "location": REGION,
    "lifecycle_rules": [{"abort_uploads_days": 7}],
    "labels": {},
    "protect": True,
}
DATABASE: dict[str, Any] = {
    "region": REGION,
    "network_id": "projects/p/global/networks/n",
    "key_id": "k",
    "database_version": "POSTGRES_18",
    "tier": "db-custom-2-7680",
    "disk_gib": 50,
    "max_disk_gib": 500,
    "highly_available": False,
    "backup_days": 14,
    "labels": {},
    "deletion_protection": True,
    "protect": True,
}
BUDGET: dict[str, Any] = {
    "billing_account": "012345-6789AB-CDEF01",
    "project": "p",
    "project_number": "1",
    "display_name": "acme",
    "currency": "USD",
    "monthly_amount": 1,
    "actual_percents": [100],
    "forecast_percents": [],
    "emails": ["a@acme.example"],
}
RIGHT = {"name": "data", "bucket": "b", "write": False}
IDENTITY: dict[str, Any] = {
    "project_number": "1",
    "workload_pool": "p.svc.id.goog",
    "namespace": "a",
    "service_account": "b",
    "rights": [RIGHT],
}
IMPOSSIBLE: list[tuple[Any, dict[str, Any], dict[str, Any], str]] = [
    (ManagedLustre, LUSTRE, {"capacity_gib": 9000}, "in steps of 18,000"),
    (ManagedLustre, LUSTRE, {"throughput_mbps_per_tib": 400}, "one of 125"),
    (ManagedLustre, LUSTRE, {"client_cidrs": []}, "got none"),
    (FilestoreShare, SHARE, {"capacity_gib": 64}, "100 to 102,400"),
    (FilestoreShare, SHARE, {"backup_days": 0}, "from 1 to 366"),
    (FilestoreShare, SHARE, {"client_cidrs": []}, "nobody could mount it"),
    (SharedFolders, {"image": "i", "file_systems": []}, {}, "at least one"),
    (GcsBucket, BUCKET_ARGS, {"soft_delete_days": 3}, "0, or 7 to 90"),
    (GcsBucket, BUCKET_ARGS, {"lifecycle_rules": []}, "billed for ever"),
    (CloudSqlDatabase, DATABASE, {"tier": "db-custom-3-7680"}, "even number"),
    (CloudSqlDatabase, DATABASE, {"disk_gib": 5}, "10 up to"),
    (CloudSqlDatabase, DATABASE, {"backup_days": 0}, "1 to 365"),
    (CloudSqlDatabase, DATABASE, {"database_version": "18"}, "POSTGRES_18"),
    (ProjectBudget, BUDGET, {"emails": []}, "1 to 5"),
    (ProjectBudget, BUDGET, {"label": {"a": "b", "c": "d"}}, "one key"),
    (ProjectBudget, BUDGET, {"display_name": "a" * 61}, "at most 60"),
    (PodIdentity, IDENTITY, {"rights": [RIGHT, RIGHT]}, "each name once"),
    (PodIdentity, IDENTITY, {"rights": [{**RIGHT, "folder": "vision"}]}, "ends with a slash"),
    (GkeCluster, {}, {"cluster_name": "Acme"}, "at most 40"),
]


@pytest.mark.parametrize(("component", "args", "changes", "said"), [*REFUSED, *IMPOSSIBLE])
def test_arguments_that_cannot_be_are_named(
    component: Any, args: dict[str, Any], changes: dict[str, Any], said: str
) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        record(lambda: component("made", {**args, **changes}))


@pytest.mark.parametrize(("backups", "days"), [(1, 1), (6, 6), (7, 7), (30, 7)])
def test_logs_of_a_database_reach_no_further_back_than_its_backups(backups: int, days: int) -> None:
    found = record(lambda: CloudSqlDatabase("made", {**DATABASE, "backup_days": backups})).one(CLOUD_SQL)
    kept = found.inputs["settings"]["backupConfiguration"]
    assert (kept["backupRetentionSettings"]["retainedBackups"], kept["transactionLogRetentionDays"]) == (backups, days)
