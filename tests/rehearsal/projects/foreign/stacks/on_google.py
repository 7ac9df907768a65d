"""A team's project on Google Cloud: services that run on events, a cluster, machines, a database, records, alarms."""

import json

import pulumi
import pulumi_gcp as gcp

PROJECT, NUMBER, REGION = "acme-ml", "314159265358", "europe-west4"
SERVICES = (
    "aiplatform", "artifactregistry", "bigquery", "bigquerydatatransfer", "cloudbuild", "cloudfunctions", "cloudkms",
    "cloudscheduler", "cloudtasks", "compute", "container", "dns", "eventarc", "file", "gkebackup", "iam",
    "iamcredentials", "logging", "monitoring", "notebooks", "pubsub", "redis", "run", "secretmanager",
    "servicenetworking", "sqladmin", "storage", "storagetransfer", "tpu", "vpcaccess", "workflows",
)  # fmt: skip
services = [gcp.projects.Service(name, service=f"{name}.googleapis.com", disable_on_destroy=False) for name in SERVICES]
after = pulumi.ResourceOptions(depends_on=services)


def agent(service):
    """The account by which a service of Google's acts in this project."""
    return f"serviceAccount:service-{NUMBER}@{service}.iam.gserviceaccount.com"


def account(name, *roles):
    """A service account with its roles in the project."""
    made = gcp.serviceaccount.Account(name, account_id=f"acme-{name}", display_name=f"Acme: {name}", opts=after)
    for role in roles:
        gcp.projects.IAMMember(
            f"{name}-{role.rpartition('/')[2]}",
            project=PROJECT,
            role=role,
            member=made.email.apply("serviceAccount:{}".format),
        )
    return made, made.email.apply("serviceAccount:{}".format)


# The network: one subnet, a way out for what has no address, Google's services without the internet.
network = gcp.compute.Network("main", auto_create_subnetworks=False, routing_mode="REGIONAL", opts=after)
subnet = gcp.compute.Subnetwork(
    "work",
    network=network.id,
    region=REGION,
    ip_cidr_range="10.80.0.0/20",
    private_ip_google_access=True,
    secondary_ip_ranges=[
        {"range_name": "pods", "ip_cidr_range": "10.96.0.0/14"},
        {"range_name": "services", "ip_cidr_range": "10.100.0.0/20"},
    ],
)
proxies = gcp.compute.Subnetwork(
    "proxies",
    network=network.id,
    region=REGION,
    ip_cidr_range="10.80.32.0/23",
    purpose="REGIONAL_MANAGED_PROXY",
    role="ACTIVE",
)
router = gcp.compute.Router("main", network=network.id, region=REGION)
gcp.compute.RouterNat(
    "main",
    router=router.name,
    region=REGION,
    nat_ip_allocate_option="AUTO_ONLY",
    source_subnetwork_ip_ranges_to_nat="ALL_SUBNETWORKS_ALL_IP_RANGES",
)
gcp.compute.Firewall(
    "health",
    network=network.id,
    direction="INGRESS",
    source_ranges=["35.191.0.0/16", "130.211.0.0/22"],
    target_tags=["serve"],
    allows=[{"protocol": "tcp", "ports": ["8080"]}],
)
gcp.compute.Firewall(
    "proxies",
    network=network.id,
    direction="INGRESS",
    source_ranges=["10.80.32.0/23"],
    target_tags=["serve"],
    allows=[{"protocol": "tcp", "ports": ["8080"]}],
)
gcp.compute.Firewall(
    "iap",
    network=network.id,
    direction="INGRESS",
    source_ranges=["35.235.240.0/20"],
    allows=[{"protocol": "tcp", "ports": ["22"]}],
)
peered = gcp.compute.GlobalAddress(
    "peered", network=network.id, purpose="VPC_PEERING", address_type="INTERNAL", prefix_length=20
)
peering = gcp.servicenetworking.Connection(
    "peered",
    network=network.id,
    service="servicenetworking.googleapis.com",
    reserved_peering_ranges=[peered.name],
)
zone = gcp.dns.ManagedZone(
    "internal",
    dns_name="acme.internal.",
    visibility="private",
    private_visibility_config={"networks": [{"network_url": network.id}]},
    opts=after,
)

# Keys, by place; whoever encrypts with one may.
ring = gcp.kms.KeyRing("acme", location=REGION, opts=after)
key = gcp.kms.CryptoKey("data", key_ring=ring.id, rotation_period="7776000s")
storage_may = gcp.kms.CryptoKeyIAMMember(
    "data-storage",
    crypto_key_id=key.id,
    role="roles/cloudkms.cryptoKeyEncrypterDecrypter",
    member=agent("gs-project-accounts"),
)
bigquery_may = gcp.kms.CryptoKeyIAMMember(
    "data-bigquery",
    crypto_key_id=key.id,
    role="roles/cloudkms.cryptoKeyEncrypterDecrypter",
    member=f"serviceAccount:bq-{NUMBER}@bigquery-encryption.iam.gserviceaccount.com",
)
topics_may = gcp.kms.CryptoKeyIAMMember(
    "data-pubsub",
    crypto_key_id=key.id,
    role="roles/cloudkms.cryptoKeyEncrypterDecrypter",
    member=agent("gcp-sa-pubsub"),
)

# What is kept.
raw = gcp.storage.Bucket(
    "raw",
    location=REGION,
    uniform_bucket_level_access=True,
    public_access_prevention="enforced",
    versioning={"enabled": True},
    encryption={"default_kms_key_name": key.id},
    lifecycle_rules=[
        {"action": {"type": "SetStorageClass", "storage_class": "NEARLINE"}, "condition": {"age": 60}},
        {"action": {"type": "Delete"}, "condition": {"num_newer_versions": 3, "with_state": "ARCHIVED"}},
        {
            "action": {"type": "Delete"},
            "condition": {"age": 14, "matches_prefixes": ["tmp/"], "with_state": "LIVE"},
        },
    ],
    opts=pulumi.ResourceOptions(depends_on=[storage_may]),
)
models = gcp.storage.Bucket(
    "models",
    location=REGION,
    uniform_bucket_level_access=True,
    public_access_prevention="enforced",
    autoclass={"enabled": True, "terminal_storage_class": "ARCHIVE"},
    opts=after,
)
dataset = gcp.bigquery.Dataset(
    "features",
    dataset_id="features",
    location=REGION,
    default_encryption_configuration={"kms_key_name": key.id},
    opts=pulumi.ResourceOptions(depends_on=[bigquery_may]),
)
events_table = gcp.bigquery.Table(
    "events",
    dataset_id=dataset.dataset_id,
    table_id="events",
    deletion_protection=True,
    time_partitioning={"type": "DAY", "field": "at"},
    clusterings=["kind"],
    schema=json.dumps(
        [
            {"name": "at", "type": "TIMESTAMP", "mode": "REQUIRED"},
            {"name": "kind", "type": "STRING"},
            {"name": "value", "type": "FLOAT64"},
        ]
    ),
)
nightly_account, nightly_member = account("queries", "roles/bigquery.jobUser")
gcp.bigquery.DatasetIamMember(
    "queries", dataset_id=dataset.dataset_id, role="roles/bigquery.dataEditor", member=nightly_member
)
gcp.bigquery.DataTransferConfig(
    "nightly",
    display_name="nightly features",
    location=REGION,
    data_source_id="scheduled_query",
    schedule="every day 03:00",
    destination_dataset_id=dataset.dataset_id,
    service_account_name=nightly_account.email,
    params={
        "destination_table_name_template": "daily",
        "write_disposition": "WRITE_TRUNCATE",
        "query": "SELECT kind, AVG(value) AS value FROM features.events GROUP BY kind",
    },
)
copier = gcp.storage.BucketIAMMember(
    "copier-reads",
    bucket=raw.name,
    role="roles/storage.objectViewer",
    member=f"serviceAccount:project-{NUMBER}@storage-transfer-service.iam.gserviceaccount.com",
)
copier_lists = gcp.storage.BucketIAMMember(
    "copier-lists",
    bucket=raw.name,
    role="roles/storage.legacyBucketReader",
    member=f"serviceAccount:project-{NUMBER}@storage-transfer-service.iam.gserviceaccount.com",
)
copier_writes = gcp.storage.BucketIAMMember(
    "copier-writes",
    bucket=models.name,
    role="roles/storage.legacyBucketWriter",
    member=f"serviceAccount:project-{NUMBER}@storage-transfer-service.iam.gserviceaccount.com",
)
copier_looks = gcp.storage.BucketIAMMember(
    "copier-looks",
    bucket=models.name,
    role="roles/storage.objectViewer",
    member=f"serviceAccount:project-{NUMBER}@storage-transfer-service.iam.gserviceaccount.com",
)
gcp.storage.TransferJob(
    "nightly",
    description="the day's best models",
    project=PROJECT,
    transfer_spec={
        "gcs_data_source": {"bucket_name": raw.name, "path": "models/"},
        "gcs_data_sink": {"bucket_name": models.name, "path": "kept/"},
    },
    schedule={
        "schedule_start_date": {"year": 2026, "month": 1, "day": 1},
        "start_time_of_day": {"hours": 2, "minutes": 30, "seconds": 0, "nanos": 0},
    },
    opts=pulumi.ResourceOptions(depends_on=[copier, copier_lists, copier_writes, copier_looks]),
)

# Events: what lands in the bucket is announced, kept in a table, and handled by a service.
topic = gcp.pubsub.Topic(
    "landed",
    message_retention_duration="604800s",
    kms_key_name=key.id,
    message_storage_policy={"allowed_persistence_regions": [REGION]},
    opts=pulumi.ResourceOptions(depends_on=[topics_may]),
)
publishes = gcp.pubsub.TopicIAMMember(
    "storage-publishes", topic=topic.name, role="roles/pubsub.publisher", member=agent("gs-project-accounts")
)
gcp.storage.Notification(
    "landed",
    bucket=raw.name,
    topic=topic.id,
    payload_format="JSON_API_V1",
    event_types=["OBJECT_FINALIZE"],
    object_name_prefix="incoming/",
    opts=pulumi.ResourceOptions(depends_on=[publishes]),
)
dead = gcp.pubsub.Topic("dead", opts=after)
gcp.pubsub.TopicIAMMember(
    "dead-publishes", topic=dead.name, role="roles/pubsub.publisher", member=agent("gcp-sa-pubsub")
)
buried = gcp.pubsub.Subscription("dead", topic=dead.id, message_retention_duration="604800s")
writes = gcp.bigquery.DatasetIamMember(
    "pubsub-writes", dataset_id=dataset.dataset_id, role="roles/bigquery.dataEditor", member=agent("gcp-sa-pubsub")
)
reads = gcp.bigquery.DatasetIamMember(
    "pubsub-reads", dataset_id=dataset.dataset_id, role="roles/bigquery.metadataViewer", member=agent("gcp-sa-pubsub")
)
gcp.pubsub.Subscription(
    "kept",
    topic=topic.id,
    bigquery_config={
        "table": pulumi.Output.concat(PROJECT, ".", dataset.dataset_id, ".", events_table.table_id),
        "use_table_schema": True,
        "drop_unknown_fields": True,
    },
    opts=pulumi.ResourceOptions(depends_on=[writes, reads]),
)

# Images, and who builds them: a workflow of GitHub's, without a key.
images = gcp.artifactregistry.Repository(
    "images",
    repository_id="images",
    location=REGION,
    format="DOCKER",
    cleanup_policies=[
        {"id": "old", "action": "DELETE", "condition": {"tag_state": "UNTAGGED", "older_than": "2592000s"}},
        {"id": "last", "action": "KEEP", "most_recent_versions": {"keep_count": 10}},
    ],
    opts=after,
)
builder, builder_member = account("builder", "roles/logging.logWriter")
gcp.artifactregistry.RepositoryIamMember(
    "builder",
    location=REGION,
    repository=images.name,
    role="roles/artifactregistry.writer",
    member=builder_member,
)
pool = gcp.iam.WorkloadIdentityPool("github", workload_identity_pool_id="github", opts=after)
gcp.iam.WorkloadIdentityPoolProvider(
    "github",
    workload_identity_pool_id=pool.workload_identity_pool_id,
    workload_identity_pool_provider_id="actions",
    oidc={"issuer_uri": "https://token.actions.githubusercontent.com"},
    attribute_mapping={
        "google.subject": "assertion.sub",
        "attribute.repository": "assertion.repository",
        "attribute.ref": "assertion.ref",
    },
    attribute_condition="assertion.repository_owner == 'acme'",
)
gcp.serviceaccount.IAMMember(
    "github",
    service_account_id=builder.name,
    role="roles/iam.workloadIdentityUser",
    member=pool.name.apply(lambda name: f"principalSet://iam.googleapis.com/{name}/attribute.repository/acme/models"),
)
gcp.cloudbuild.Trigger(
    "images",
    location=REGION,
    repository_event_config={
        "repository": f"projects/{PROJECT}/locations/{REGION}/connections/github/repositories/models",
        "push": {"branch": "^main$"},
    },
    service_account=builder.id,
    build={
        "timeout": "1800s",
        "options": {"logging": "CLOUD_LOGGING_ONLY", "machine_type": "E2_HIGHCPU_8"},
        "images": [f"{REGION}-docker.pkg.dev/{PROJECT}/images/serve:$SHORT_SHA"],
        "steps": [
            {
                "name": "gcr.io/cloud-builders/docker",
                "args": ["build", "-t", f"{REGION}-docker.pkg.dev/{PROJECT}/images/serve:$SHORT_SHA", "."],
            }
        ],
    },
)

# A database, private, and its password.
database = gcp.sql.DatabaseInstance(
    "main",
    region=REGION,
    database_version="POSTGRES_17",
    deletion_protection=True,
    settings={
        "tier": "db-custom-2-8192",
        "edition": "ENTERPRISE",
        "availability_type": "REGIONAL",
        "database_flags": [{"name": "cloudsql.iam_authentication", "value": "on"}],
        "ip_configuration": {"ipv4_enabled": False, "private_network": network.id},
        "backup_configuration": {
            "enabled": True,
            "start_time": "02:00",
            "point_in_time_recovery_enabled": True,
            "transaction_log_retention_days": 7,
            "backup_retention_settings": {"retained_backups": 14},
        },
        "maintenance_window": {"day": 7, "hour": 3, "update_track": "stable"},
    },
    opts=pulumi.ResourceOptions(depends_on=[peering, *services]),
)
gcp.sql.Database("runs", instance=database.name, name="runs")
password = gcp.secretmanager.Secret(
    "password",
    secret_id="runs-password",
    replication={"user_managed": {"replicas": [{"location": REGION}]}},
    opts=after,
)
gcp.secretmanager.SecretVersion("password", secret=password.id, secret_data=pulumi.Output.secret("s3cret-of-a-test"))
gcp.sql.User("runs", instance=database.name, name="runs", password=pulumi.Output.secret("s3cret-of-a-test"))

# Cloud Run: what serves with a GPU, what is called every night, what is told of events.
serve, serve_member = account(
    "serve", "roles/cloudsql.client", "roles/cloudsql.instanceUser", "roles/logging.logWriter"
)
gcp.sql.User(
    "serve",
    instance=database.name,
    name=serve.email.apply(lambda email: email.removesuffix(".gserviceaccount.com")),
    type="CLOUD_IAM_SERVICE_ACCOUNT",
)
may_read = gcp.secretmanager.SecretIamMember(
    "serve", secret_id=password.secret_id, role="roles/secretmanager.secretAccessor", member=serve_member
)
gcp.storage.BucketIAMMember("serve-models", bucket=models.name, role="roles/storage.objectViewer", member=serve_member)
image = f"{REGION}-docker.pkg.dev/{PROJECT}/images/serve:2026-11-01"
api = gcp.cloudrunv2.Service(
    "api",
    location=REGION,
    ingress="INGRESS_TRAFFIC_INTERNAL_LOAD_BALANCER",
    deletion_protection=False,
    template={
        "service_account": serve.email,
        "timeout": "300s",
        "max_instance_request_concurrency": 8,
        "scaling": {"min_instance_count": 1, "max_instance_count": 3},
        "gpu_zonal_redundancy_disabled": True,
        "node_selector": {"accelerator": "nvidia-l4"},
        "vpc_access": {
            "egress": "PRIVATE_RANGES_ONLY",
            "network_interfaces": [{"network": network.name, "subnetwork": subnet.name}],
        },
        "containers": [
            {
                "image": image,
                "ports": {"container_port": 8080},
                "envs": [
                    {"name": "DB_HOST", "value": database.private_ip_address},
                    {
                        "name": "DB_PASSWORD",
                        "value_source": {"secret_key_ref": {"secret": password.secret_id, "version": "latest"}},
                    },
                ],
                "resources": {
                    "limits": {"cpu": "8", "memory": "32Gi", "nvidia.com/gpu": "1"},
                    "cpu_idle": False,
                    "startup_cpu_boost": True,
                },
                "startup_probe": {
                    "timeout_seconds": 5,
                    "period_seconds": 10,
                    "failure_threshold": 30,
                    "tcp_socket": {"port": 8080},
                },
                "volume_mounts": [{"name": "models", "mount_path": "/models"}],
            }
        ],
        "volumes": [{"name": "models", "gcs": {"bucket": models.name, "read_only": True}}],
    },
    opts=pulumi.ResourceOptions(depends_on=[may_read]),
)
score, score_member = account("score", "roles/logging.logWriter")
batch = gcp.cloudrunv2.Job(
    "score",
    location=REGION,
    deletion_protection=False,
    template={
        "task_count": 10,
        "parallelism": 5,
        "template": {
            "service_account": score.email,
            "timeout": "3600s",
            "max_retries": 2,
            "containers": [{"image": image, "resources": {"limits": {"cpu": "2", "memory": "4Gi"}}}],
        },
    },
    opts=after,
)
caller, caller_member = account("caller")
gcp.cloudrunv2.JobIamMember("caller", location=REGION, name=batch.name, role="roles/run.invoker", member=caller_member)
gcp.cloudscheduler.Job(
    "score",
    region=REGION,
    schedule="30 2 * * *",
    time_zone="Europe/Amsterdam",
    attempt_deadline="320s",
    retry_config={"retry_count": 3, "min_backoff_duration": "10s"},
    http_target={
        "http_method": "POST",
        "uri": batch.name.apply(
            lambda name: f"https://run.googleapis.com/v2/projects/{PROJECT}/locations/{REGION}/jobs/{name}:run"
        ),
        "oauth_token": {
            "service_account_email": caller.email,
            "scope": "https://www.googleapis.com/auth/cloud-platform",
        },
    },
)
intake_account, intake_member = account("intake", "roles/logging.logWriter", "roles/eventarc.eventReceiver")
intake = gcp.cloudrunv2.Service(
    "intake",
    location=REGION,
    ingress="INGRESS_TRAFFIC_INTERNAL_ONLY",
    deletion_protection=False,
    template={
        "service_account": intake_account.email,
        "containers": [{"image": image, "resources": {"limits": {"cpu": "1", "memory": "512Mi"}}}],
    },
    opts=after,
)
gcp.cloudrunv2.ServiceIamMember(
    "intake-events", location=REGION, name=intake.name, role="roles/run.invoker", member=intake_member
)
gcp.eventarc.Trigger(
    "models",
    location=REGION,
    service_account=intake_account.email,
    matching_criterias=[
        {"attribute": "type", "value": "google.cloud.storage.object.v1.finalized"},
        {"attribute": "bucket", "value": models.name},
    ],
    destination={"cloud_run_service": {"service": intake.name, "region": REGION, "path": "/models"}},
    opts=pulumi.ResourceOptions(
        depends_on=[
            gcp.projects.IAMMember(
                "storage-publishes-anywhere",
                project=PROJECT,
                role="roles/pubsub.publisher",
                member=agent("gs-project-accounts"),
            )
        ]
    ),
)
push, push_member = account("push")
gcp.cloudrunv2.ServiceIamMember(
    "intake-push", location=REGION, name=intake.name, role="roles/run.invoker", member=push_member
)
gcp.pubsub.SubscriptionIAMMember(
    "landed-dead",
    subscription=gcp.pubsub.Subscription(
        "landed",
        topic=topic.id,
        ack_deadline_seconds=60,
        push_config={
            "push_endpoint": intake.uri.apply("{}/landed".format),
            "oidc_token": {"service_account_email": push.email, "audience": intake.uri},
        },
        dead_letter_policy={"dead_letter_topic": dead.id, "max_delivery_attempts": 10},
        retry_policy={"minimum_backoff": "10s", "maximum_backoff": "600s"},
        expiration_policy={"ttl": ""},
    ).name,
    role="roles/pubsub.subscriber",
    member=agent("gcp-sa-pubsub"),
)
tasks = gcp.cloudtasks.Queue(
    "tasks",
    location=REGION,
    rate_limits={"max_dispatches_per_second": 20, "max_concurrent_dispatches": 10},
    retry_config={"max_attempts": 5, "min_backoff": "1s", "max_backoff": "60s"},
    opts=after,
)

# Machines that serve behind an internal balancer.
machines, machines_member = account("machines", "roles/logging.logWriter", "roles/monitoring.metricWriter")
gcp.storage.BucketIAMMember("machines", bucket=models.name, role="roles/storage.objectViewer", member=machines_member)
template = gcp.compute.RegionInstanceTemplate(
    "serve",
    region=REGION,
    machine_type="g2-standard-8",
    tags=["serve"],
    scheduling={"on_host_maintenance": "TERMINATE", "automatic_restart": True},
    disks=[
        {
            "source_image": "projects/ml-images/global/images/family/common-cu129-ubuntu-2204-nvidia-580",
            "disk_size_gb": 100,
            "disk_type": "pd-balanced",
            "boot": True,
            "auto_delete": True,
        }
    ],
    network_interfaces=[{"subnetwork": subnet.id}],
    service_account={"email": machines.email, "scopes": ["cloud-platform"]},
    shielded_instance_config={"enable_secure_boot": False, "enable_vtpm": True},
    metadata={"enable-oslogin": "TRUE", "startup-script": "#!/bin/bash\nsystemctl start serve\n"},
)
check = gcp.compute.RegionHealthCheck(
    "serve",
    region=REGION,
    check_interval_sec=10,
    timeout_sec=5,
    http_health_check={"port": 8080, "request_path": "/healthz"},
    opts=after,
)
group = gcp.compute.RegionInstanceGroupManager(
    "serve",
    region=REGION,
    base_instance_name="serve",
    distribution_policy_zones=[f"{REGION}-a", f"{REGION}-b"],
    versions=[{"instance_template": template.id}],
    named_ports=[{"name": "http", "port": 8080}],
    auto_healing_policies={"health_check": check.id, "initial_delay_sec": 600},
    update_policy={
        "type": "PROACTIVE",
        "minimal_action": "REPLACE",
        "max_surge_fixed": 2,
        "max_unavailable_fixed": 0,
    },
)
gcp.compute.RegionAutoscaler(
    "serve",
    region=REGION,
    target=group.id,
    autoscaling_policy={
        "min_replicas": 1,
        "max_replicas": 4,
        "cooldown_period": 300,
        "cpu_utilization": {"target": 0.6},
    },
)
backend = gcp.compute.RegionBackendService(
    "serve",
    region=REGION,
    protocol="HTTP",
    port_name="http",
    load_balancing_scheme="INTERNAL_MANAGED",
    health_checks=check.id,
    timeout_sec=120,
    backends=[{"group": group.instance_group, "balancing_mode": "UTILIZATION", "capacity_scaler": 1.0}],
)
urls = gcp.compute.RegionUrlMap("serve", region=REGION, default_service=backend.id)
proxy = gcp.compute.RegionTargetHttpProxy("serve", region=REGION, url_map=urls.id)
front = gcp.compute.ForwardingRule(
    "serve",
    region=REGION,
    network=network.id,
    subnetwork=subnet.id,
    load_balancing_scheme="INTERNAL_MANAGED",
    ip_protocol="TCP",
    port_range="80",
    target=proxy.id,
    opts=pulumi.ResourceOptions(depends_on=[proxies]),
)
gcp.dns.RecordSet(
    "serve", managed_zone=zone.name, name="serve.acme.internal.", type="A", ttl=300, rrdatas=[front.ip_address]
)

# A cluster of its own, backed up; an editor; a slice of TPUs.
nodes, nodes_member = account("nodes", "roles/container.defaultNodeServiceAccount", "roles/artifactregistry.reader")
cluster = gcp.container.Cluster(
    "train",
    location=REGION,
    network=network.id,
    subnetwork=subnet.id,
    remove_default_node_pool=True,
    initial_node_count=1,
    release_channel={"channel": "REGULAR"},
    networking_mode="VPC_NATIVE",
    datapath_provider="ADVANCED_DATAPATH",
    ip_allocation_policy={"cluster_secondary_range_name": "pods", "services_secondary_range_name": "services"},
    private_cluster_config={
        "enable_private_nodes": True,
        "enable_private_endpoint": False,
        "master_ipv4_cidr_block": "10.80.48.0/28",
    },
    workload_identity_config={"workload_pool": f"{PROJECT}.svc.id.goog"},
    addons_config={
        "gcs_fuse_csi_driver_config": {"enabled": True},
        "gke_backup_agent_config": {"enabled": True},
        "gce_persistent_disk_csi_driver_config": {"enabled": True},
    },
    maintenance_policy={
        "recurring_window": {
            "start_time": "2026-01-03T02:00:00Z",
            "end_time": "2026-01-03T08:00:00Z",
            "recurrence": "FREQ=WEEKLY;BYDAY=SA,SU",
        }
    },
    deletion_protection=True,
    opts=after,
)
gcp.container.NodePool(
    "base",
    cluster=cluster.id,
    location=REGION,
    autoscaling={"total_min_node_count": 3, "total_max_node_count": 9},
    management={"auto_repair": True, "auto_upgrade": True},
    node_config={
        "machine_type": "e2-standard-4",
        "service_account": nodes.email,
        "oauth_scopes": ["https://www.googleapis.com/auth/cloud-platform"],
        "workload_metadata_config": {"mode": "GKE_METADATA"},
    },
)
reserved = gcp.compute.Reservation(
    "gpus",
    zone=f"{REGION}-b",
    specific_reservation_required=True,
    specific_reservation={"count": 2, "instance_properties": {"machine_type": "a3-highgpu-8g"}},
    opts=after,
)
gcp.container.NodePool(
    "gpus",
    cluster=cluster.id,
    location=REGION,
    node_locations=[f"{REGION}-b"],
    node_count=2,
    management={"auto_repair": True, "auto_upgrade": True},
    node_config={
        "machine_type": "a3-highgpu-8g",
        "service_account": nodes.email,
        "oauth_scopes": ["https://www.googleapis.com/auth/cloud-platform"],
        "workload_metadata_config": {"mode": "GKE_METADATA"},
        "guest_accelerators": [
            {
                "type": "nvidia-h100-80gb",
                "count": 8,
                "gpu_driver_installation_config": {"gpu_driver_version": "LATEST"},
            }
        ],
        "gvnic": {"enabled": True},
        "reservation_affinity": {
            "consume_reservation_type": "SPECIFIC_RESERVATION",
            "key": "compute.googleapis.com/reservation-name",
            "values": [reserved.name],
        },
    },
)
gcp.gkebackup.BackupPlan(
    "daily",
    cluster=cluster.id,
    location=REGION,
    backup_config={
        "include_volume_data": True,
        "include_secrets": False,
        "selected_namespaces": {"namespaces": ["research"]},
    },
    backup_schedule={"cron_schedule": "0 4 * * *"},
    retention_policy={"backup_delete_lock_days": 7, "backup_retain_days": 35},
)
trainer, trainer_member = account("trainer")
gcp.serviceaccount.IAMMember(
    "trainer-pods",
    service_account_id=trainer.name,
    role="roles/iam.workloadIdentityUser",
    member=f"serviceAccount:{PROJECT}.svc.id.goog[research/trainer]",
    opts=pulumi.ResourceOptions(depends_on=[cluster]),
)
gcp.storage.BucketIAMMember("trainer", bucket=raw.name, role="roles/storage.objectUser", member=trainer_member)
gcp.workbench.Instance(
    "editor",
    location=f"{REGION}-b",
    instance_owners=["ann@acme.example"],
    gce_setup={
        "machine_type": "e2-standard-8",
        "disable_public_ip": True,
        "service_accounts": [{"email": trainer.email}],
        "network_interfaces": [{"network": network.id, "subnet": subnet.id, "nic_type": "VIRTIO_NET"}],
        "metadata": {"idle-timeout-seconds": "3600"},
    },
    opts=after,
)
gcp.tpu.V2Vm(
    "probe",
    zone=f"{REGION}-a",
    accelerator_type="v5litepod-8",
    runtime_version="v2-alpha-tpuv5-lite",
    network_config={"network": network.id, "subnetwork": subnet.id, "enable_external_ips": False},
    scheduling_config={"spot": True},
    service_account={"email": trainer.email, "scopes": ["https://www.googleapis.com/auth/cloud-platform"]},
    opts=after,
)
gcp.redis.Instance(
    "cache",
    region=REGION,
    tier="STANDARD_HA",
    memory_size_gb=5,
    redis_version="REDIS_7_2",
    connect_mode="PRIVATE_SERVICE_ACCESS",
    authorized_network=network.id,
    transit_encryption_mode="SERVER_AUTHENTICATION",
    opts=pulumi.ResourceOptions(depends_on=[peering, *services]),
)
gcp.filestore.Instance(
    "homes",
    location=f"{REGION}-b",
    tier="ZONAL",
    file_shares={"name": "homes", "capacity_gb": 1024},
    networks=[{"network": network.name, "modes": ["MODE_IPV4"], "connect_mode": "DIRECT_PEERING"}],
    opts=after,
)

# Records, and what tells of trouble.
errors = gcp.pubsub.Topic("errors", opts=after)
sink = gcp.logging.ProjectSink(
    "errors",
    destination=errors.id.apply("pubsub.googleapis.com/{}".format),
    filter='severity>=ERROR AND resource.type="cloud_run_revision"',
    unique_writer_identity=True,
)
gcp.pubsub.TopicIAMMember("errors", topic=errors.name, role="roles/pubsub.publisher", member=sink.writer_identity)
gcp.pubsub.Subscription("errors", topic=errors.id, ack_deadline_seconds=30)
trail = gcp.bigquery.Dataset("trail", dataset_id="trail", location=REGION, opts=after)
audit = gcp.logging.ProjectSink(
    "audit",
    destination=trail.id.apply("bigquery.googleapis.com/{}".format),
    filter='log_id("cloudaudit.googleapis.com/activity")',
    unique_writer_identity=True,
    bigquery_options={"use_partitioned_tables": True},
)
gcp.bigquery.DatasetIamMember(
    "audit", dataset_id=trail.dataset_id, role="roles/bigquery.dataEditor", member=audit.writer_identity
)
failures = gcp.logging.Metric(
    "failed-scores",
    name="failed-scores",
    filter='resource.type="cloud_run_job" AND resource.labels.job_name=~"^score" AND severity>=ERROR',
    metric_descriptor={"metric_kind": "DELTA", "value_type": "INT64", "unit": "1"},
    opts=after,
)
mail = gcp.monitoring.NotificationChannel(
    "mail", display_name="mail", type="email", labels={"email_address": "oncall@acme.example"}, opts=after
)
told = gcp.pubsub.Topic("told", opts=after)
gcp.pubsub.TopicIAMMember(
    "told", topic=told.name, role="roles/pubsub.publisher", member=agent("gcp-sa-monitoring-notification")
)
gcp.pubsub.Subscription("told", topic=told.id)
hook = gcp.monitoring.NotificationChannel("hook", display_name="hook", type="pubsub", labels={"topic": told.id})


def alert(name, filter_, aggregation, threshold, **more):
    """An alert by a threshold, to both channels."""
    gcp.monitoring.AlertPolicy(
        name,
        display_name=name,
        combiner="OR",
        severity="ERROR",
        notification_channels=[mail.name, hook.name],
        conditions=[
            {
                "display_name": name,
                "condition_threshold": {
                    "filter": filter_,
                    "comparison": "COMPARISON_GT",
                    "threshold_value": threshold,
                    "duration": "300s",
                    "aggregations": [aggregation],
                    "trigger": {"count": 1},
                    **more,
                },
            }
        ],
        opts=after,
    )


alert(
    "failed-scores",
    failures.name.apply(
        lambda name: f'metric.type="logging.googleapis.com/user/{name}" AND resource.type="cloud_run_job"'
    ),
    {"alignment_period": "300s", "per_series_aligner": "ALIGN_DELTA", "cross_series_reducer": "REDUCE_SUM"},
    0,
)
alert(
    "database-full",
    'metric.type="cloudsql.googleapis.com/database/disk/utilization" AND resource.type="cloudsql_database"',
    {"alignment_period": "300s", "per_series_aligner": "ALIGN_MAX"},
    0.9,
)
alert(
    "slow",
    'metric.type="run.googleapis.com/request_latencies" AND resource.type="cloud_run_revision"',
    {
        "alignment_period": "60s",
        "per_series_aligner": "ALIGN_PERCENTILE_99",
        "cross_series_reducer": "REDUCE_MAX",
        "group_by_fields": ["resource.label.service_name"],
    },
    2000,
)
alert(
    "undelivered",
    'metric.type="pubsub.googleapis.com/subscription/oldest_unacked_message_age" AND '
    'resource.type="pubsub_subscription"',
    {
        "alignment_period": "60s",
        "per_series_aligner": "ALIGN_MAX",
        "cross_series_reducer": "REDUCE_MAX",
        "group_by_fields": ["resource.label.subscription_id"],
    },
    600,
)
alert(
    "buried",
    pulumi.Output.concat(
        'metric.type="pubsub.googleapis.com/subscription/num_undelivered_messages" AND '
        'resource.type="pubsub_subscription" AND resource.label.subscription_id="',
        buried.name,
        '"',
    ),
    {"alignment_period": "60s", "per_series_aligner": "ALIGN_MEAN"},
    0,
)
