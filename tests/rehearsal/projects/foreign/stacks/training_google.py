"""A laboratory's training on Google Cloud: GKE with GPU pools, machines with GPUs, events, files, tables, watching."""

import json

import pulumi
import pulumi_gcp as gcp
import pulumi_kubernetes as k8s

PROJECT, NUMBER, REGION, ZONE = "nordlab-train", "271828182845", "us-central1", "us-central1-a"
Options = pulumi.ResourceOptions
APIS = (
    "aiplatform", "artifactregistry", "bigquery", "billingbudgets", "cloudbuild", "cloudfunctions", "cloudkms",
    "cloudscheduler", "compute", "container", "eventarc", "file", "iam", "iamcredentials", "logging", "monitoring",
    "notebooks", "pubsub", "run", "secretmanager", "servicenetworking", "sqladmin", "storage",
)  # fmt: skip
enabled = Options(
    depends_on=[gcp.projects.Service(api, service=f"{api}.googleapis.com", disable_on_destroy=False) for api in APIS]
)


def person(name, *roles):
    """A service account, with roles of the whole project."""
    made = gcp.serviceaccount.Account(name, account_id=f"lab-{name}", opts=enabled)
    member = pulumi.Output.concat("serviceAccount:", made.email)
    given = [
        gcp.projects.IAMMember(f"{name}-{role.rpartition('/')[2]}", project=PROJECT, role=role, member=member)
        for role in roles
    ]
    return made, member, given


# The network
network = gcp.compute.Network("lab", name="lab", auto_create_subnetworks=False, opts=enabled)
subnet = gcp.compute.Subnetwork(
    "lab",
    name="lab-central",
    network=network.id,
    region=REGION,
    ip_cidr_range="10.10.0.0/20",
    private_ip_google_access=True,
    secondary_ip_ranges=[
        {"range_name": "pods", "ip_cidr_range": "10.64.0.0/14"},
        {"range_name": "services", "ip_cidr_range": "10.68.0.0/20"},
    ],
    log_config={"aggregation_interval": "INTERVAL_10_MIN", "flow_sampling": 0.2, "metadata": "INCLUDE_ALL_METADATA"},
)
router = gcp.compute.Router("lab", network=network.id, region=REGION)
nat = gcp.compute.RouterNat(
    "lab",
    router=router.name,
    region=REGION,
    nat_ip_allocate_option="AUTO_ONLY",
    source_subnetwork_ip_ranges_to_nat="ALL_SUBNETWORKS_ALL_IP_RANGES",
    log_config={"enable": True, "filter": "ERRORS_ONLY"},
)
gcp.compute.Firewall(
    "inside",
    network=network.id,
    allows=[{"protocol": "tcp"}, {"protocol": "udp"}, {"protocol": "icmp"}],
    source_ranges=["10.10.0.0/20", "10.64.0.0/14"],
)
gcp.compute.Firewall(
    "iap",
    network=network.id,
    allows=[{"protocol": "tcp", "ports": ["22"]}],
    source_ranges=["35.235.240.0/20"],
    target_tags=["ssh"],
)
gcp.compute.Firewall(
    "health",
    network=network.id,
    allows=[{"protocol": "tcp", "ports": ["8080"]}],
    source_ranges=["35.191.0.0/16", "130.211.0.0/22"],
    target_tags=["worker"],
)
reserved = gcp.compute.GlobalAddress(
    "services", purpose="VPC_PEERING", address_type="INTERNAL", prefix_length=20, network=network.id
)
peered = gcp.servicenetworking.Connection(
    "services", network=network.id, service="servicenetworking.googleapis.com", reserved_peering_ranges=[reserved.name]
)

# The key
ring = gcp.kms.KeyRing("lab", name="lab", location=REGION, opts=enabled)
key = gcp.kms.CryptoKey("lab", name="data", key_ring=ring.id, rotation_period="7776000s")
sealed = gcp.kms.CryptoKeyIAMMember(
    "storage",
    crypto_key_id=key.id,
    role="roles/cloudkms.cryptoKeyEncrypterDecrypter",
    member=f"serviceAccount:service-{NUMBER}@gs-project-accounts.iam.gserviceaccount.com",
)

# Buckets, images, secrets
datasets = gcp.storage.Bucket(
    "datasets",
    name="nordlab-train-datasets",
    location=REGION,
    uniform_bucket_level_access=True,
    public_access_prevention="enforced",
    encryption={"default_kms_key_name": key.id},
    versioning={"enabled": True},
    lifecycle_rules=[
        {"action": {"type": "Delete"}, "condition": {"num_newer_versions": 3, "with_state": "ARCHIVED"}},
        {"action": {"type": "SetStorageClass", "storage_class": "NEARLINE"}, "condition": {"age": 60}},
    ],
    opts=Options(depends_on=[sealed]),
)
checkpoints = gcp.storage.Bucket(
    "checkpoints",
    name="nordlab-train-checkpoints",
    location=REGION,
    uniform_bucket_level_access=True,
    soft_delete_policy={"retention_duration_seconds": 604800},
    lifecycle_rules=[{"action": {"type": "Delete"}, "condition": {"age": 120, "matches_prefixes": ["runs/"]}}],
)
images = gcp.artifactregistry.Repository(
    "images",
    repository_id="images",
    location=REGION,
    format="DOCKER",
    docker_config={"immutable_tags": True},
    cleanup_policies=[
        {"id": "untagged", "action": "DELETE", "condition": {"tag_state": "UNTAGGED", "older_than": "1209600s"}},
        {"id": "recent", "action": "KEEP", "most_recent_versions": {"keep_count": 20}},
    ],
    opts=enabled,
)
token = gcp.secretmanager.Secret(
    "hub", secret_id="hub-token", replication={"user_managed": {"replicas": [{"location": REGION}]}}, opts=enabled
)
gcp.secretmanager.SecretVersion("hub", secret=token.id, secret_data="hf_to_be_replaced")

# The cluster
nodes, nodes_member, nodes_rights = person("nodes", "roles/container.defaultNodeServiceAccount")
gcp.artifactregistry.RepositoryIamMember(
    "nodes", repository=images.name, location=REGION, role="roles/artifactregistry.reader", member=nodes_member
)
cluster = gcp.container.Cluster(
    "lab",
    name="lab",
    location=REGION,
    node_locations=["us-central1-a", "us-central1-c"],
    network=network.id,
    subnetwork=subnet.id,
    networking_mode="VPC_NATIVE",
    ip_allocation_policy={"cluster_secondary_range_name": "pods", "services_secondary_range_name": "services"},
    private_cluster_config={"enable_private_nodes": True, "enable_private_endpoint": False},
    master_authorized_networks_config={"cidr_blocks": [{"cidr_block": "198.51.100.0/24", "display_name": "office"}]},
    workload_identity_config={"workload_pool": f"{PROJECT}.svc.id.goog"},
    release_channel={"channel": "REGULAR"},
    remove_default_node_pool=True,
    initial_node_count=1,
    datapath_provider="ADVANCED_DATAPATH",
    addons_config={
        "gcs_fuse_csi_driver_config": {"enabled": True},
        "gcp_filestore_csi_driver_config": {"enabled": True},
        "gce_persistent_disk_csi_driver_config": {"enabled": True},
    },
    maintenance_policy={
        "recurring_window": {
            "start_time": "2026-01-03T02:00:00Z", "end_time": "2026-01-03T10:00:00Z",
            "recurrence": "FREQ=WEEKLY;BYDAY=SA,SU",
        }
    },
    deletion_protection=True,
)  # fmt: skip
SCOPES = ["https://www.googleapis.com/auth/cloud-platform"]
general = gcp.container.NodePool(
    "general",
    name="general",
    cluster=cluster.id,
    autoscaling={"min_node_count": 1, "max_node_count": 3},
    management={"auto_repair": True, "auto_upgrade": True},
    node_config={
        "machine_type": "e2-standard-8",
        "disk_type": "pd-balanced",
        "disk_size_gb": 100,
        "service_account": nodes.email,
        "oauth_scopes": SCOPES,
        "workload_metadata_config": {"mode": "GKE_METADATA"},
        "shielded_instance_config": {"enable_secure_boot": True},
    },
    opts=Options(depends_on=[*nodes_rights, nat]),
)
gpus = gcp.container.NodePool(
    "gpus",
    name="gpus",
    cluster=cluster.id,
    node_locations=[ZONE],
    autoscaling={"total_min_node_count": 0, "total_max_node_count": 8, "location_policy": "ANY"},
    node_config={
        "machine_type": "g2-standard-48",
        "disk_type": "pd-ssd",
        "disk_size_gb": 200,
        "service_account": nodes.email,
        "oauth_scopes": SCOPES,
        "guest_accelerators": [
            {"type": "nvidia-l4", "count": 4, "gpu_driver_installation_config": {"gpu_driver_version": "DEFAULT"}}
        ],
        "gvnic": {"enabled": True},
        "spot": True,
        "labels": {"nordlab/pool": "gpus"},
        "taints": [{"key": "nordlab/spot", "value": "true", "effect": "NO_SCHEDULE"}],
        "workload_metadata_config": {"mode": "GKE_METADATA"},
    },
    opts=Options(depends_on=[*nodes_rights, nat]),
)

# Files and the tracking server's database
files = gcp.filestore.Instance(
    "home",
    name="home",
    location=ZONE,
    tier="BASIC_SSD",
    file_shares={"name": "home", "capacity_gb": 2560},
    networks=[{"network": network.id, "modes": ["MODE_IPV4"], "connect_mode": "PRIVATE_SERVICE_ACCESS"}],
    opts=Options(depends_on=[peered]),
)
database = gcp.sql.DatabaseInstance(
    "mlflow",
    name="mlflow",
    region=REGION,
    database_version="POSTGRES_16",
    settings={
        "tier": "db-custom-2-7680",
        "edition": "ENTERPRISE",
        "availability_type": "REGIONAL",
        "disk_type": "PD_SSD",
        "disk_size": 50,
        "disk_autoresize": True,
        "ip_configuration": {"ipv4_enabled": False, "private_network": network.id, "ssl_mode": "ENCRYPTED_ONLY"},
        "backup_configuration": {"enabled": True, "point_in_time_recovery_enabled": True, "start_time": "03:00"},
        "maintenance_window": {"day": 7, "hour": 4},
        "database_flags": [
            {"name": "max_connections", "value": "200"},
            {"name": "cloudsql.iam_authentication", "value": "on"},
        ],
    },
    deletion_protection=True,
    opts=Options(depends_on=[peered]),
)
gcp.sql.Database("mlflow", name="mlflow", instance=database.name)
tracker, tracker_member, _ = person("mlflow", "roles/cloudsql.client", "roles/cloudsql.instanceUser")
gcp.sql.User(
    "mlflow",
    instance=database.name,
    type="CLOUD_IAM_SERVICE_ACCOUNT",
    name=tracker.email.apply(lambda email: email.removesuffix(".gserviceaccount.com")),
)
gcp.storage.BucketIAMMember("mlflow", bucket=checkpoints.name, role="roles/storage.objectAdmin", member=tracker_member)
mlflow = gcp.cloudrunv2.Service(
    "mlflow",
    name="mlflow",
    location=REGION,
    ingress="INGRESS_TRAFFIC_INTERNAL_ONLY",
    deletion_protection=False,
    template={
        "service_account": tracker.email,
        "scaling": {"min_instance_count": 1, "max_instance_count": 3},
        "vpc_access": {
            "egress": "PRIVATE_RANGES_ONLY", "network_interfaces": [{"network": network.id, "subnetwork": subnet.id}],
        },
        "containers": [
            {
                "image": f"{REGION}-docker.pkg.dev/{PROJECT}/images/mlflow:3.1",
                "ports": {"container_port": 5000},
                "resources": {"limits": {"cpu": "2", "memory": "2Gi"}, "cpu_idle": False},
                "envs": [
                    {"name": "ARTIFACTS", "value": checkpoints.name.apply("gs://{}/mlflow".format)},
                    {
                        "name": "HUB_TOKEN",
                        "value_source": {"secret_key_ref": {"secret": token.secret_id, "version": "latest"}},
                    },
                ],
                "volume_mounts": [{"name": "cloudsql", "mount_path": "/cloudsql"}],
                "startup_probe": {"http_get": {"path": "/health", "port": 5000}, "period_seconds": 10},
            }
        ],
        "volumes": [{"name": "cloudsql", "cloud_sql_instance": {"instances": [database.connection_name]}}],
    },
    opts=Options(
        depends_on=[
            gcp.secretmanager.SecretIamMember(
                "mlflow", secret_id=token.secret_id, role="roles/secretmanager.secretAccessor", member=tracker_member
            )
        ]
    ),
)  # fmt: skip

# A new dataset starts a training: object, topic, function
starter, starter_member, _ = person(
    "starter", "roles/aiplatform.user", "roles/eventarc.eventReceiver", "roles/logging.logWriter",
)  # fmt: skip
gcp.projects.IAMMember(
    "storage-publishes",
    project=PROJECT,
    role="roles/pubsub.publisher",
    member=f"serviceAccount:service-{NUMBER}@gs-project-accounts.iam.gserviceaccount.com",
)
source = gcp.storage.Bucket("source", name="nordlab-train-source", location=REGION, uniform_bucket_level_access=True)
bundle = gcp.storage.BucketObject(
    "starter", bucket=source.name, name="starter.zip",
    source=pulumi.AssetArchive({"main.py": pulumi.StringAsset("def start(event):\n    print(event)\n")}),
)  # fmt: skip
function = gcp.cloudfunctionsv2.Function(
    "starter",
    name="starter",
    location=REGION,
    build_config={
        "runtime": "python312", "entry_point": "start",
        "source": {"storage_source": {"bucket": source.name, "object": bundle.name}},
    },
    service_config={
        "service_account_email": starter.email, "available_memory": "512M", "timeout_seconds": 300,
        "max_instance_count": 5, "ingress_settings": "ALLOW_INTERNAL_ONLY",
    },
    event_trigger={
        "trigger_region": REGION,
        "event_type": "google.cloud.storage.object.v1.finalized",
        "event_filters": [{"attribute": "bucket", "value": datasets.name}],
        "service_account_email": starter.email,
        "retry_policy": "RETRY_POLICY_RETRY",
    },
)  # fmt: skip
gcp.cloudrunv2.ServiceIamMember(
    "starter", name=function.name, location=REGION, role="roles/run.invoker", member=starter_member
)
finished = gcp.pubsub.Topic("finished", name="training-finished", opts=enabled)
dead = gcp.pubsub.Topic("dead", name="training-finished-dead", opts=enabled)
subscription = gcp.pubsub.Subscription(
    "finished",
    name="training-finished-record",
    topic=finished.id,
    ack_deadline_seconds=60,
    message_retention_duration="604800s",
    retry_policy={"minimum_backoff": "10s", "maximum_backoff": "600s"},
    dead_letter_policy={"dead_letter_topic": dead.id, "max_delivery_attempts": 10},
    expiration_policy={"ttl": ""},
)
PUBSUB = f"serviceAccount:service-{NUMBER}@gcp-sa-pubsub.iam.gserviceaccount.com"
gcp.pubsub.TopicIAMMember("dead", topic=dead.name, role="roles/pubsub.publisher", member=PUBSUB)
gcp.pubsub.SubscriptionIAMMember("dead", subscription=subscription.name, role="roles/pubsub.subscriber", member=PUBSUB)
gcp.pubsub.Subscription("dead", name="training-finished-dead-keep", topic=dead.id)
evaluator, evaluator_member, _ = person("evaluate", "roles/bigquery.jobUser")
evaluate = gcp.cloudrunv2.Job(
    "evaluate",
    name="evaluate",
    location=REGION,
    deletion_protection=False,
    template={
        "task_count": 4,
        "parallelism": 2,
        "template": {
            "service_account": evaluator.email,
            "max_retries": 1,
            "timeout": "3600s",
            "containers": [
                {
                    "image": f"{REGION}-docker.pkg.dev/{PROJECT}/images/evaluate:7",
                    "resources": {"limits": {"cpu": "4", "memory": "8Gi"}},
                }
            ],
        },
    },
)
clock, clock_member, _ = person("clock")
gcp.cloudrunv2.JobIamMember("clock", name=evaluate.name, location=REGION, role="roles/run.invoker", member=clock_member)
gcp.cloudscheduler.Job(
    "nightly",
    name="nightly-evaluate",
    region=REGION,
    schedule="30 2 * * *",
    time_zone="Europe/Stockholm",
    attempt_deadline="320s",
    retry_config={"retry_count": 2},
    http_target={
        "http_method": "POST",
        "uri": pulumi.Output.concat(
            f"https://run.googleapis.com/v2/projects/{PROJECT}/locations/{REGION}/jobs/", evaluate.name, ":run"
        ),
        "oauth_token": {"service_account_email": clock.email},
    },
)

# Tables of results
results = gcp.bigquery.Dataset("results", dataset_id="results", location=REGION, delete_contents_on_destroy=False)
gcp.bigquery.Table(
    "runs",
    dataset_id=results.dataset_id,
    table_id="runs",
    deletion_protection=False,
    time_partitioning={"type": "DAY", "field": "finished"},
    clusterings=["team", "model"],
    schema=json.dumps(
        [
            {"name": "run", "type": "STRING", "mode": "REQUIRED"},
            {"name": "team", "type": "STRING"},
            {"name": "model", "type": "STRING"},
            {"name": "loss", "type": "FLOAT"},
            {"name": "finished", "type": "TIMESTAMP", "mode": "REQUIRED"},
        ]
    ),
)
gcp.bigquery.DatasetIamMember(
    "evaluate", dataset_id=results.dataset_id, role="roles/bigquery.dataEditor", member=evaluator_member
)
gcp.storage.BucketIAMMember(
    "evaluate", bucket=checkpoints.name, role="roles/storage.objectViewer", member=evaluator_member
)

# Machines with GPUs outside the cluster
worker, worker_member, _ = person("worker", "roles/logging.logWriter", "roles/monitoring.metricWriter")
gcp.storage.BucketIAMMember(
    "worker-reads", bucket=datasets.name, role="roles/storage.objectViewer", member=worker_member
)
gcp.storage.BucketIAMMember(
    "worker-writes", bucket=checkpoints.name, role="roles/storage.objectUser", member=worker_member
)
machine = gcp.compute.InstanceTemplate(
    "worker",
    name_prefix="worker-",
    machine_type="a2-highgpu-1g",
    tags=["worker", "ssh"],
    disks=[
        {
            "source_image": "projects/ml-images/global/images/family/common-cu124-debian-11",
            "auto_delete": True, "boot": True, "disk_type": "pd-ssd", "disk_size_gb": 200,
        }
    ],
    network_interfaces=[{"subnetwork": subnet.id}],
    service_account={"email": worker.email, "scopes": ["cloud-platform"]},
    scheduling={
        "preemptible": True, "provisioning_model": "SPOT", "automatic_restart": False,
        "on_host_maintenance": "TERMINATE", "instance_termination_action": "STOP",
    },
    metadata={"enable-oslogin": "TRUE", "install-nvidia-driver": "True"},
)  # fmt: skip
alive = gcp.compute.HealthCheck(
    "worker", check_interval_sec=30, timeout_sec=10, unhealthy_threshold=4,
    http_health_check={"port": 8080, "request_path": "/healthz"}, opts=enabled,
)  # fmt: skip
group = gcp.compute.RegionInstanceGroupManager(
    "workers",
    name="workers",
    region=REGION,
    base_instance_name="worker",
    distribution_policy_zones=["us-central1-a", "us-central1-b"],
    versions=[{"instance_template": machine.self_link_unique}],
    auto_healing_policies={"health_check": alive.id, "initial_delay_sec": 900},
    update_policy={
        "type": "PROACTIVE", "minimal_action": "REPLACE", "max_surge_fixed": 2, "max_unavailable_fixed": 2,
    },
)  # fmt: skip
gcp.compute.RegionAutoscaler(
    "workers",
    name="workers",
    region=REGION,
    target=group.id,
    autoscaling_policy={
        "min_replicas": 0,
        "max_replicas": 6,
        "cooldown_period": 300,
        "metrics": [
            {
                "name": "pubsub.googleapis.com/subscription/num_undelivered_messages",
                "filter": "resource.type = pubsub_subscription"
                ' AND resource.label.subscription_id = "training-finished-record"',
                "single_instance_assignment": 20,
            }
        ],
    },
)
disk = gcp.compute.Disk("bench", name="bench-data", zone=ZONE, type="pd-ssd", size=500, opts=enabled)
bench = gcp.compute.Instance(
    "bench",
    name="bench",
    zone=ZONE,
    machine_type="n1-standard-8",
    guest_accelerators=[{"type": "nvidia-tesla-t4", "count": 1}],
    scheduling={"on_host_maintenance": "TERMINATE", "automatic_restart": True},
    boot_disk={
        "initialize_params": {
            "image": "projects/debian-cloud/global/images/family/debian-12",
            "size": 50,
            "type": "pd-balanced",
        }
    },
    attached_disks=[{"source": disk.self_link, "device_name": "data"}],
    network_interfaces=[{"subnetwork": subnet.id}],
    service_account={"email": worker.email, "scopes": ["cloud-platform"]},
    tags=["ssh"],
    metadata={"enable-oslogin": "TRUE"},
)
nightly = gcp.compute.ResourcePolicy(
    "nightly",
    name="nightly",
    region=REGION,
    snapshot_schedule_policy={
        "schedule": {"daily_schedule": {"days_in_cycle": 1, "start_time": "02:00"}},
        "retention_policy": {"max_retention_days": 14},
    },
    opts=enabled,
)
gcp.compute.DiskResourcePolicyAttachment("bench", name=nightly.name, disk=disk.name, zone=ZONE)

# Vertex AI
gcp.vertex.AiTensorboard("lab", display_name="lab", region=REGION, opts=enabled)
endpoint = gcp.vertex.AiEndpoint(
    "serve", name="4001", display_name="serve", location=REGION, region=REGION, opts=enabled
)
gcp.workbench.Instance(
    "notebook",
    name="notebook",
    location=ZONE,
    gce_setup={
        "machine_type": "g2-standard-8",
        "accelerator_configs": [{"type": "NVIDIA_L4", "core_count": "1"}],
        "network_interfaces": [{"network": network.id, "subnet": subnet.id, "nic_type": "GVNIC"}],
        "disable_public_ip": True,
        "service_accounts": [{"email": worker.email}],
        "boot_disk": {"disk_type": "PD_BALANCED", "disk_size_gb": "150"},
        "data_disks": {"disk_type": "PD_SSD", "disk_size_gb": "300"},
    },
)

# What watches over it
channel = gcp.monitoring.NotificationChannel(
    "oncall", display_name="On call", type="email", labels={"email_address": "ml-oncall@nordlab.example"}, opts=enabled
)
gcp.monitoring.AlertPolicy(
    "disk",
    display_name="Database disk",
    combiner="OR",
    notification_channels=[channel.name],
    conditions=[
        {
            "display_name": "over 85 %",
            "condition_threshold": {
                "filter": 'metric.type="cloudsql.googleapis.com/database/disk/utilization"'
                ' AND resource.type="cloudsql_database"',
                "comparison": "COMPARISON_GT",
                "threshold_value": 0.85,
                "duration": "600s",
                "aggregations": [{"alignment_period": "300s", "per_series_aligner": "ALIGN_MEAN"}],
            },
        }
    ],
)
errors = gcp.logging.Metric(
    "failures",
    name="training-failures",
    filter='resource.type="cloud_run_revision" AND severity>=ERROR',
    metric_descriptor={"metric_kind": "DELTA", "value_type": "INT64"},
    opts=enabled,
)
gcp.monitoring.AlertPolicy(
    "failures",
    display_name="Failures",
    combiner="OR",
    notification_channels=[channel.name],
    conditions=[
        {
            "display_name": "some",
            "condition_threshold": {
                "filter": errors.name.apply(
                    lambda name: (
                        f'metric.type="logging.googleapis.com/user/{name}" AND resource.type="cloud_run_revision"'
                    )
                ),
                "comparison": "COMPARISON_GT",
                "threshold_value": 3,
                "duration": "0s",
                "aggregations": [{"alignment_period": "600s", "per_series_aligner": "ALIGN_DELTA"}],
            },
        }
    ],
)
archive = gcp.logging.ProjectSink(
    "archive",
    name="archive",
    destination=pulumi.Output.concat("storage.googleapis.com/", checkpoints.name),
    filter='resource.type="k8s_container" AND severity>=WARNING',
    unique_writer_identity=True,
)
gcp.storage.BucketIAMMember(
    "archive", bucket=checkpoints.name, role="roles/storage.objectCreator", member=archive.writer_identity
)
gcp.billing.Budget(
    "month",
    billing_account="01AB23-45CD67-89EF01",
    display_name="Training of a month",
    budget_filter={"projects": [f"projects/{NUMBER}"]},
    amount={"specified_amount": {"currency_code": "USD", "units": "30000"}},
    threshold_rules=[{"threshold_percent": 0.5}, {"threshold_percent": 0.9, "spend_basis": "FORECASTED_SPEND"}],
    all_updates_rule={"monitoring_notification_channels": [channel.id], "disable_default_iam_recipients": True},
    opts=enabled,
)

# What runs in the cluster
trainer, trainer_member, _ = person("trainer")
gcp.storage.BucketIAMMember(
    "trainer-reads", bucket=datasets.name, role="roles/storage.objectViewer", member=trainer_member
)
gcp.storage.BucketIAMMember(
    "trainer-writes", bucket=checkpoints.name, role="roles/storage.objectUser", member=trainer_member
)
bound = gcp.serviceaccount.IAMMember(
    "trainer",
    service_account_id=trainer.name,
    role="roles/iam.workloadIdentityUser",
    member=f"serviceAccount:{PROJECT}.svc.id.goog[research/trainer]",
)


def kubeconfig(found):
    name, endpoint, authority = found
    command = {"apiVersion": "client.authentication.k8s.io/v1beta1", "command": "gke-gcloud-auth-plugin"}
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [
                {
                    "name": name,
                    "cluster": {"server": f"https://{endpoint}", "certificate-authority-data": authority},
                }
            ],
            "users": [{"name": name, "user": {"exec": {**command, "provideClusterInfo": True}}}],
            "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
            "current-context": name,
        }
    )


provider = k8s.Provider(
    "lab",
    kubeconfig=pulumi.Output.all(cluster.name, cluster.endpoint, cluster.master_auth.cluster_ca_certificate).apply(
        kubeconfig
    ),
    opts=Options(depends_on=[general]),
)
there = Options(provider=provider)
research = k8s.core.v1.Namespace("research", metadata={"name": "research"}, opts=there)
account = k8s.core.v1.ServiceAccount(
    "trainer",
    metadata={
        "name": "trainer", "namespace": research.metadata.name,
        "annotations": {"iam.gke.io/gcp-service-account": trainer.email},
    },
    opts=there,
)  # fmt: skip
volume = k8s.core.v1.PersistentVolume(
    "home",
    metadata={"name": "home"},
    spec={
        "capacity": {"storage": "2560Gi"},
        "accessModes": ["ReadWriteMany"],
        "storageClassName": "",
        "claimRef": {"name": "home", "namespace": "research"},
        "csi": {
            "driver": "filestore.csi.storage.gke.io",
            "volumeHandle": pulumi.Output.concat(f"modeInstance/{ZONE}/", files.name, "/home"),
            "volumeAttributes": {"ip": files.networks[0].ip_addresses[0], "volume": "home"},
        },
    },
    opts=there,
)
claim = k8s.core.v1.PersistentVolumeClaim(
    "home",
    metadata={"name": "home", "namespace": research.metadata.name},
    spec={
        "accessModes": ["ReadWriteMany"], "storageClassName": "", "volumeName": volume.metadata.name,
        "resources": {"requests": {"storage": "2560Gi"}},
    },
    opts=there,
)  # fmt: skip
k8s.apps.v1.Deployment(
    "trainer",
    metadata={"name": "trainer", "namespace": research.metadata.name},
    spec={
        "replicas": 1,
        "selector": {"matchLabels": {"app": "trainer"}},
        "template": {
            "metadata": {"labels": {"app": "trainer"}, "annotations": {"gke-gcsfuse/volumes": "true"}},
            "spec": {
                "serviceAccountName": account.metadata.name,
                "nodeSelector": {"cloud.google.com/gke-accelerator": "nvidia-l4", "nordlab/pool": "gpus"},
                "tolerations": [
                    {"key": "nordlab/spot", "operator": "Exists"},
                    {"key": "nvidia.com/gpu", "operator": "Exists"},
                    {"key": "cloud.google.com/gke-spot", "operator": "Exists"},
                ],
                "containers": [
                    {
                        "name": "trainer",
                        "image": f"{REGION}-docker.pkg.dev/{PROJECT}/images/trainer:12",
                        "resources": {
                            "limits": {"nvidia.com/gpu": "4"}, "requests": {"cpu": "40", "memory": "150Gi"},
                        },
                        "volumeMounts": [
                            {"name": "home", "mountPath": "/home/lab"},
                            {"name": "datasets", "mountPath": "/datasets", "readOnly": True},
                        ],
                    }
                ],
                "volumes": [
                    {"name": "home", "persistentVolumeClaim": {"claimName": claim.metadata.name}},
                    {
                        "name": "datasets",
                        "csi": {
                            "driver": "gcsfuse.csi.storage.gke.io",
                            "readOnly": True,
                            "volumeAttributes": {"bucketName": datasets.name, "mountOptions": "implicit-dirs"},
                        },
                    },
                ],
            },
        },
    },
    opts=Options(provider=provider, depends_on=[bound, gpus]),
)  # fmt: skip
