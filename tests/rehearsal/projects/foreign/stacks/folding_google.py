"""Protein folding on Google Cloud without a cluster: a queue, A3 machines in a group, services behind one address."""

import pulumi
import pulumi_gcp as gcp

PROJECT, NUMBER, REGION, ZONE = "orrin-folding", "161803398874", "us-central1", "us-central1-a"
IMAGES = f"{REGION}-docker.pkg.dev/{PROJECT}/folding"
APIS = (
    "aiplatform", "artifactregistry", "bigquery", "cloudscheduler", "compute", "dns", "file", "iam", "logging",
    "monitoring", "pubsub", "run", "secretmanager", "servicenetworking", "sqladmin", "storage", "vpcaccess",
)  # fmt: skip
apis = [gcp.projects.Service(api, service=f"{api}.googleapis.com", disable_on_destroy=False) for api in APIS]
after = pulumi.ResourceOptions(depends_on=apis)


def account(name, *roles):
    """A service account that may do some things in the whole project."""
    made = gcp.serviceaccount.Account(name, account_id=f"folding-{name}", opts=after)
    for role in roles:
        gcp.projects.IAMMember(f"{name}-{role}", project=PROJECT, role=f"roles/{role}", member=made.member)
    return made


worker = account("worker", "logging.logWriter", "monitoring.metricWriter")
intake = account("intake")
tracking = account("tracking", "cloudsql.client")
report = account("report", "bigquery.jobUser")
clock = account("clock")
trainer = account("trainer", "aiplatform.user")

# Network
network = gcp.compute.Network("folding", name="folding", auto_create_subnetworks=False, opts=after)
machines = gcp.compute.Subnetwork(
    "machines",
    name="folding-machines",
    region=REGION,
    network=network.id,
    ip_cidr_range="10.40.0.0/22",
    private_ip_google_access=True,
)
services = gcp.compute.Subnetwork(
    "services",
    name="folding-services",
    region=REGION,
    network=network.id,
    ip_cidr_range="10.40.8.0/24",
    private_ip_google_access=True,
)
router = gcp.compute.Router("folding", name="folding", region=REGION, network=network.id)
way_out = gcp.compute.Address("way-out", name="folding-way-out", region=REGION, opts=after)
nat = gcp.compute.RouterNat(
    "folding",
    name="folding",
    router=router.name,
    region=REGION,
    nat_ip_allocate_option="MANUAL_ONLY",
    nat_ips=[way_out.self_link],
    source_subnetwork_ip_ranges_to_nat="LIST_OF_SUBNETWORKS",
    subnetworks=[{"name": machines.id, "source_ip_ranges_to_nats": ["ALL_IP_RANGES"]}],
    min_ports_per_vm=256,
)
gcp.compute.Firewall(
    "gang",
    name="folding-gang",
    network=network.id,
    direction="INGRESS",
    source_tags=["folding-worker"],
    target_tags=["folding-worker"],
    allows=[{"protocol": "tcp"}, {"protocol": "udp"}, {"protocol": "icmp"}],
)
gcp.compute.Firewall(
    "health",
    name="folding-health",
    network=network.id,
    direction="INGRESS",
    source_ranges=["35.191.0.0/16", "130.211.0.0/22"],
    target_tags=["folding-worker"],
    allows=[{"protocol": "tcp", "ports": ["8081"]}],
)
gcp.compute.Firewall(
    "iap",
    name="folding-iap",
    network=network.id,
    direction="INGRESS",
    source_ranges=["35.235.240.0/20"],
    allows=[{"protocol": "tcp", "ports": ["22"]}],
)
peering_range = gcp.compute.GlobalAddress(
    "peering",
    name="folding-peering",
    purpose="VPC_PEERING",
    address_type="INTERNAL",
    address="10.41.0.0",
    prefix_length=20,
    network=network.id,
)
peering = gcp.servicenetworking.Connection(
    "peering",
    network=network.id,
    service="servicenetworking.googleapis.com",
    reserved_peering_ranges=[peering_range.name],
)

# Images, buckets, files
images = gcp.artifactregistry.Repository(
    "folding",
    repository_id="folding",
    location=REGION,
    format="DOCKER",
    cleanup_policies=[
        {"id": "old", "action": "DELETE", "condition": {"older_than": "7776000s", "tag_state": "UNTAGGED"}},
        {"id": "recent", "action": "KEEP", "most_recent_versions": {"keep_count": 10}},
    ],
    opts=after,
)
for name, who in (("worker", worker), ("trainer", trainer)):
    gcp.artifactregistry.RepositoryIamMember(
        f"images-{name}",
        repository=images.name,
        location=REGION,
        role="roles/artifactregistry.reader",
        member=who.member,
    )
sequences = gcp.storage.Bucket(
    "sequences",
    name="orrin-folding-sequences",
    location=REGION,
    uniform_bucket_level_access=True,
    public_access_prevention="enforced",
    lifecycle_rules=[
        {"action": {"type": "Delete"}, "condition": {"age": 30, "matches_prefixes": ["done/"]}},
    ],
    opts=after,
)
structures = gcp.storage.Bucket(
    "structures",
    name="orrin-folding-structures",
    location=REGION,
    uniform_bucket_level_access=True,
    public_access_prevention="enforced",
    versioning={"enabled": True},
    soft_delete_policy={"retention_duration_seconds": 604800},
    lifecycle_rules=[
        {"action": {"type": "SetStorageClass", "storage_class": "NEARLINE"}, "condition": {"age": 30}},
        {"action": {"type": "SetStorageClass", "storage_class": "COLDLINE"}, "condition": {"age": 120}},
        {"action": {"type": "Delete"}, "condition": {"num_newer_versions": 3, "with_state": "ARCHIVED"}},
    ],
    opts=after,
)
for name, bucket, role, who in (
    ("worker-reads", sequences, "objectViewer", worker),
    ("worker-writes", structures, "objectUser", worker),
    ("tracking-reads", structures, "objectViewer", tracking),
    ("intake-reads", sequences, "objectViewer", intake),
    ("trainer-writes", structures, "objectUser", trainer),
):
    gcp.storage.BucketIAMMember(name, bucket=bucket.name, role=f"roles/storage.{role}", member=who.member)
databases = gcp.filestore.Instance(
    "databases",
    name="folding-databases",
    location=ZONE,
    tier="ZONAL",
    file_shares={
        "name": "genomes",
        "capacity_gb": 9216,
        "nfs_export_options": [
            {"ip_ranges": ["10.40.0.0/22"], "access_mode": "READ_WRITE", "squash_mode": "NO_ROOT_SQUASH"}
        ],
    },
    networks=[{"network": network.name, "modes": ["MODE_IPV4"]}],
    opts=after,
)

# Work comes as objects, is told to the intake, and waits in a queue
arrivals = gcp.pubsub.Topic("arrivals", name="folding-arrivals", opts=after)
work = gcp.pubsub.Topic("work", name="folding-work", message_retention_duration="86400s", opts=after)
dead = gcp.pubsub.Topic("dead", name="folding-dead", opts=after)
storage_agent = f"serviceAccount:service-{NUMBER}@gs-project-accounts.iam.gserviceaccount.com"
pubsub_agent = f"serviceAccount:service-{NUMBER}@gcp-sa-pubsub.iam.gserviceaccount.com"
may_tell = gcp.pubsub.TopicIAMMember(
    "storage-publishes", topic=arrivals.name, role="roles/pubsub.publisher", member=storage_agent
)
told = gcp.storage.Notification(
    "sequences",
    bucket=sequences.name,
    topic=arrivals.id,
    payload_format="JSON_API_V1",
    event_types=["OBJECT_FINALIZE"],
    object_name_prefix="incoming/",
    opts=pulumi.ResourceOptions(depends_on=[may_tell]),
)
intake_service = gcp.cloudrunv2.Service(
    "intake",
    name="folding-intake",
    location=REGION,
    ingress="INGRESS_TRAFFIC_INTERNAL_ONLY",
    template={
        "service_account": intake.email,
        "timeout": "60s",
        "scaling": {"min_instance_count": 0, "max_instance_count": 5},
        "containers": [
            {
                "image": f"{IMAGES}/intake:1.8.0",
                "ports": {"container_port": 8080},
                "resources": {"limits": {"cpu": "1", "memory": "512Mi"}},
                "envs": [
                    {"name": "WORK_TOPIC", "value": work.id},
                    {"name": "BUCKET", "value": sequences.name},
                    {"name": "PREFIX", "value": "incoming/"},
                ],
                "startup_probe": {"http_get": {"path": "/ready", "port": 8080}, "period_seconds": 5},
            }
        ],
    },
    opts=after,
)
gcp.cloudrunv2.ServiceIamMember(
    "intake-called", name=intake_service.name, location=REGION, role="roles/run.invoker", member=clock.member
)
gcp.pubsub.TopicIAMMember("intake-queues", topic=work.name, role="roles/pubsub.publisher", member=intake.member)
gcp.serviceaccount.IAMMember(
    "pubsub-signs", service_account_id=clock.name, role="roles/iam.serviceAccountTokenCreator", member=pubsub_agent
)
gcp.pubsub.Subscription(
    "arrivals",
    name="folding-arrivals",
    topic=arrivals.id,
    ack_deadline_seconds=60,
    message_retention_duration="604800s",
    expiration_policy={"ttl": ""},
    push_config={
        "push_endpoint": pulumi.Output.concat(intake_service.uri, "/arrived"),
        "oidc_token": {"service_account_email": clock.email, "audience": intake_service.uri},
    },
    retry_policy={"minimum_backoff": "10s", "maximum_backoff": "600s"},
)
work_subscription = gcp.pubsub.Subscription(
    "work",
    name="folding-work",
    topic=work.id,
    ack_deadline_seconds=600,
    message_retention_duration="604800s",
    expiration_policy={"ttl": ""},
    dead_letter_policy={"dead_letter_topic": dead.id, "max_delivery_attempts": 5},
)
gcp.pubsub.Subscription(
    "dead", name="folding-dead", topic=dead.id, message_retention_duration="2678400s", expiration_policy={"ttl": ""}
)
gcp.pubsub.TopicIAMMember("dead-letters", topic=dead.name, role="roles/pubsub.publisher", member=pubsub_agent)
gcp.pubsub.SubscriptionIAMMember(
    "dead-letters", subscription=work_subscription.name, role="roles/pubsub.subscriber", member=pubsub_agent
)
gcp.pubsub.SubscriptionIAMMember(
    "worker-pulls", subscription=work_subscription.name, role="roles/pubsub.subscriber", member=worker.member
)

# The machines that fold
START = """#!/bin/bash
set -euo pipefail
mkdir -p /mnt/genomes /mnt/scratch
mount -t nfs -o ro,hard,nconnect=8 {address}:/genomes /mnt/genomes
mdadm --create /dev/md0 --level=0 --raid-devices=16 /dev/disk/by-id/google-local-nvme-ssd-*
mkfs.ext4 -F /dev/md0
mount /dev/md0 /mnt/scratch
gcloud auth configure-docker us-central1-docker.pkg.dev --quiet
docker run -d --restart=always --gpus=all --network=host -v /mnt/genomes:/genomes:ro -v /mnt/scratch:/scratch \\
  -e SUBSCRIPTION=projects/orrin-folding/subscriptions/folding-work -e OUTPUT=gs://orrin-folding-structures/v1/ \\
  -e HEALTH_PORT=8081 us-central1-docker.pkg.dev/orrin-folding/folding/worker:2.4.1
"""
template = gcp.compute.InstanceTemplate(
    "worker",
    name_prefix="folding-worker-",
    machine_type="a3-highgpu-8g",
    region=REGION,
    tags=["folding-worker"],
    labels={"part": "worker"},
    disks=[
        {
            "boot": True,
            "auto_delete": True,
            "source_image": "projects/ml-images/global/images/family/common-cu128-ubuntu-2204-nvidia-570",
            "disk_type": "pd-ssd",
            "disk_size_gb": 200,
        },
        *(
            {
                "auto_delete": True,
                "type": "SCRATCH",
                "disk_type": "local-ssd",
                "disk_size_gb": 375,
                "interface": "NVME",
            }
            for _ in range(16)
        ),
    ],
    network_interfaces=[{"subnetwork": machines.id, "nic_type": "GVNIC"}],
    scheduling={
        "automatic_restart": False,
        "on_host_maintenance": "TERMINATE",
        "preemptible": True,
        "provisioning_model": "SPOT",
        "instance_termination_action": "STOP",
    },
    service_account={"email": worker.email, "scopes": ["https://www.googleapis.com/auth/cloud-platform"]},
    metadata_startup_script=databases.networks[0].ip_addresses[0].apply(lambda a: START.format(address=a)),
    shielded_instance_config={"enable_integrity_monitoring": True, "enable_vtpm": True},
)
alive = gcp.compute.HealthCheck(
    "worker",
    name="folding-worker",
    check_interval_sec=30,
    timeout_sec=10,
    healthy_threshold=1,
    unhealthy_threshold=4,
    http_health_check={"port": 8081, "request_path": "/healthz"},
    opts=after,
)
group = gcp.compute.InstanceGroupManager(
    "worker",
    name="folding-worker",
    zone=ZONE,
    base_instance_name="folding-worker",
    versions=[{"instance_template": template.self_link_unique}],
    auto_healing_policies={"health_check": alive.id, "initial_delay_sec": 900},
    update_policy={
        "type": "OPPORTUNISTIC",
        "minimal_action": "REPLACE",
        "max_surge_fixed": 0,
        "max_unavailable_fixed": 1,
    },
    opts=pulumi.ResourceOptions(depends_on=[nat]),
)
gcp.compute.Autoscaler(
    "worker",
    name="folding-worker",
    zone=ZONE,
    target=group.id,
    autoscaling_policy={
        "min_replicas": 0,
        "max_replicas": 4,
        "cooldown_period": 600,
        "metrics": [
            {
                "name": "pubsub.googleapis.com/subscription/num_undelivered_messages",
                "filter": 'resource.type = pubsub_subscription AND resource.label.subscription_id = "folding-work"',
                "single_instance_assignment": 40,
            }
        ],
    },
)

# Tracking: MLflow on Cloud Run, its database, one address before it
database = gcp.sql.DatabaseInstance(
    "tracking",
    name="folding-tracking",
    region=REGION,
    database_version="POSTGRES_16",
    deletion_protection=True,
    settings={
        "tier": "db-custom-2-7680",
        "edition": "ENTERPRISE",
        "availability_type": "REGIONAL",
        "disk_size": 50,
        "disk_autoresize": True,
        "ip_configuration": {
            "ipv4_enabled": False,
            "private_network": network.id,
            "ssl_mode": "ENCRYPTED_ONLY",
        },
        "backup_configuration": {
            "enabled": True,
            "point_in_time_recovery_enabled": True,
            "start_time": "02:00",
            "transaction_log_retention_days": 7,
            "backup_retention_settings": {"retained_backups": 14},
        },
        "maintenance_window": {"day": 7, "hour": 4},
    },
    opts=pulumi.ResourceOptions(depends_on=[peering]),
)
mlflow_database = gcp.sql.Database("mlflow", name="mlflow", instance=database.name)
password = pulumi.Output.secret("orrin-fixed-for-the-rehearsal")
user = gcp.sql.User("mlflow", name="mlflow", instance=database.name, password=password)
secret = gcp.secretmanager.Secret("mlflow", secret_id="folding-mlflow-store", replication={"auto": {}}, opts=after)
version = gcp.secretmanager.SecretVersion(
    "mlflow",
    secret=secret.id,
    secret_data=pulumi.Output.concat(
        "postgresql://mlflow:", password, "@", database.private_ip_address, ":5432/mlflow?sslmode=require"
    ),
)
readable = gcp.secretmanager.SecretIamMember(
    "mlflow", secret_id=secret.id, role="roles/secretmanager.secretAccessor", member=tracking.member
)
mlflow = gcp.cloudrunv2.Service(
    "mlflow",
    name="folding-mlflow",
    location=REGION,
    ingress="INGRESS_TRAFFIC_INTERNAL_LOAD_BALANCER",
    template={
        "service_account": tracking.email,
        "scaling": {"min_instance_count": 1, "max_instance_count": 3},
        "vpc_access": {
            "egress": "PRIVATE_RANGES_ONLY",
            "network_interfaces": [{"network": network.name, "subnetwork": services.name}],
        },
        "containers": [
            {
                "image": f"{IMAGES}/mlflow:3.1.4",
                "commands": ["mlflow", "server"],
                "args": [
                    "--host=0.0.0.0",
                    "--port=5000",
                    "--no-serve-artifacts",
                    "--default-artifact-root=gs://orrin-folding-structures/mlflow",
                ],
                "ports": {"container_port": 5000},
                "resources": {"limits": {"cpu": "2", "memory": "2Gi"}},
                "envs": [
                    {
                        "name": "MLFLOW_BACKEND_STORE_URI",
                        "value_source": {"secret_key_ref": {"secret": secret.secret_id, "version": "latest"}},
                    }
                ],
                "startup_probe": {
                    "http_get": {"path": "/health", "port": 5000},
                    "period_seconds": 10,
                    "failure_threshold": 12,
                },
                "liveness_probe": {"http_get": {"path": "/health", "port": 5000}, "period_seconds": 30},
            }
        ],
    },
    opts=pulumi.ResourceOptions(depends_on=[*apis, version, readable, user, mlflow_database]),
)
gcp.cloudrunv2.ServiceIamMember(
    "mlflow-called", name=mlflow.name, location=REGION, role="roles/run.invoker", member="allUsers"
)
endpoints = gcp.compute.RegionNetworkEndpointGroup(
    "mlflow",
    name="folding-mlflow",
    region=REGION,
    network_endpoint_type="SERVERLESS",
    cloud_run={"service": mlflow.name},
)
armor = gcp.compute.SecurityPolicy(
    "mlflow",
    name="folding-mlflow",
    rules=[
        {
            "action": "allow",
            "priority": 1000,
            "match": {
                "versioned_expr": "SRC_IPS_V1",
                "config": {"src_ip_ranges": ["198.51.100.0/24", "203.0.113.64/26"]},
            },
            "description": "The two offices",
        },
        {
            "action": "deny(403)",
            "priority": 2147483647,
            "match": {"versioned_expr": "SRC_IPS_V1", "config": {"src_ip_ranges": ["*"]}},
            "description": "Nobody else",
        },
    ],
    opts=after,
)
backend = gcp.compute.BackendService(
    "mlflow",
    name="folding-mlflow",
    load_balancing_scheme="EXTERNAL_MANAGED",
    protocol="HTTPS",
    backends=[{"group": endpoints.id}],
    security_policy=armor.id,
    log_config={"enable": True, "sample_rate": 1.0},
)
address = gcp.compute.GlobalAddress("mlflow", name="folding-mlflow", opts=after)
zone = gcp.dns.ManagedZone("folding", name="folding", dns_name="folding.orrin.example.", opts=after)
gcp.dns.RecordSet(
    "mlflow",
    managed_zone=zone.name,
    name="mlflow.folding.orrin.example.",
    type="A",
    ttl=300,
    rrdatas=[address.address],
)
certificate = gcp.compute.ManagedSslCertificate(
    "mlflow", name="folding-mlflow", managed={"domains": ["mlflow.folding.orrin.example"]}, opts=after
)
urls = gcp.compute.URLMap(
    "mlflow",
    name="folding-mlflow",
    default_service=backend.id,
    host_rules=[{"hosts": ["mlflow.folding.orrin.example"], "path_matcher": "all"}],
    path_matchers=[{"name": "all", "default_service": backend.id}],
)
proxy = gcp.compute.TargetHttpsProxy(
    "mlflow", name="folding-mlflow", url_map=urls.id, ssl_certificates=[certificate.id]
)
gcp.compute.GlobalForwardingRule(
    "mlflow",
    name="folding-mlflow",
    load_balancing_scheme="EXTERNAL_MANAGED",
    ip_address=address.id,
    ip_protocol="TCP",
    port_range="443",
    target=proxy.id,
)
to_https = gcp.compute.URLMap(
    "to-https",
    name="folding-to-https",
    default_url_redirect={
        "https_redirect": True,
        "redirect_response_code": "MOVED_PERMANENTLY_DEFAULT",
        "strip_query": False,
    },
    opts=after,
)
plain = gcp.compute.TargetHttpProxy("to-https", name="folding-to-https", url_map=to_https.id)
gcp.compute.GlobalForwardingRule(
    "to-https",
    name="folding-to-https",
    load_balancing_scheme="EXTERNAL_MANAGED",
    ip_address=address.id,
    ip_protocol="TCP",
    port_range="80",
    target=plain.id,
)

# A report each night, from what the workers wrote into their logs
events = gcp.bigquery.Dataset(
    "events", dataset_id="folding_events", location="US", default_table_expiration_ms=15552000000, opts=after
)
sink = gcp.logging.ProjectSink(
    "events",
    name="folding-events",
    destination=pulumi.Output.concat("bigquery.googleapis.com/projects/", PROJECT, "/datasets/", events.dataset_id),
    filter='resource.type="gce_instance" AND jsonPayload.event="folded"',
    unique_writer_identity=True,
    bigquery_options={"use_partitioned_tables": True},
)
gcp.bigquery.DatasetIamMember(
    "events-written", dataset_id=events.dataset_id, role="roles/bigquery.dataEditor", member=sink.writer_identity
)
gcp.bigquery.DatasetIamMember(
    "events-read", dataset_id=events.dataset_id, role="roles/bigquery.dataViewer", member=report.member
)
report_job = gcp.cloudrunv2.Job(
    "report",
    name="folding-report",
    location=REGION,
    template={
        "task_count": 1,
        "template": {
            "service_account": report.email,
            "timeout": "1800s",
            "max_retries": 1,
            "containers": [
                {
                    "image": f"{IMAGES}/report:0.9.2",
                    "envs": [{"name": "DATASET", "value": events.dataset_id}],
                    "resources": {"limits": {"cpu": "1", "memory": "1Gi"}},
                }
            ],
        },
    },
    opts=after,
)
gcp.cloudrunv2.JobIamMember(
    "report-started", name=report_job.name, location=REGION, role="roles/run.invoker", member=clock.member
)
gcp.cloudscheduler.Job(
    "report",
    name="folding-report",
    region=REGION,
    schedule="30 5 * * 1-5",
    time_zone="America/Chicago",
    attempt_deadline="180s",
    http_target={
        "http_method": "POST",
        "uri": pulumi.Output.concat(
            "https://run.googleapis.com/v2/projects/", PROJECT, "/locations/", REGION, "/jobs/", report_job.name, ":run"
        ),
        "oauth_token": {
            "service_account_email": clock.email,
            "scope": "https://www.googleapis.com/auth/cloud-platform",
        },
    },
    retry_config={"retry_count": 3},
)

# Fine-tuning by hand on Vertex AI, and what it is compared in
gcp.vertex.AiTensorboard("folding", display_name="folding", region=REGION, opts=after)
gcp.serviceaccount.IAMMember(
    "people-train",
    service_account_id=trainer.name,
    role="roles/iam.serviceAccountUser",
    member="group:folding@orrin.example",
)

# Watching
mail = gcp.monitoring.NotificationChannel(
    "mail", display_name="Folding", type="email", labels={"email_address": "folding@orrin.example"}, opts=after
)
gcp.monitoring.AlertPolicy(
    "waits",
    display_name="Sequences wait too long",
    combiner="OR",
    notification_channels=[mail.name],
    conditions=[
        {
            "display_name": "Oldest message above six hours",
            "condition_threshold": {
                "filter": 'metric.type="pubsub.googleapis.com/subscription/oldest_unacked_message_age" AND '
                'resource.type="pubsub_subscription" AND resource.labels.subscription_id="folding-work"',
                "comparison": "COMPARISON_GT",
                "threshold_value": 21600,
                "duration": "600s",
                "aggregations": [{"alignment_period": "300s", "per_series_aligner": "ALIGN_MAX"}],
            },
        }
    ],
    alert_strategy={"auto_close": "86400s"},
)
failed = gcp.logging.Metric(
    "failed",
    name="folding/failed",
    filter='resource.type="gce_instance" AND jsonPayload.event="failed"',
    metric_descriptor={"metric_kind": "DELTA", "value_type": "INT64", "unit": "1"},
    opts=after,
)
gcp.monitoring.AlertPolicy(
    "failed",
    display_name="Foldings fail",
    combiner="OR",
    notification_channels=[mail.name],
    conditions=[
        {
            "display_name": "More than ten in an hour",
            "condition_threshold": {
                "filter": failed.name.apply(
                    lambda n: f'metric.type="logging.googleapis.com/user/{n}" AND resource.type="gce_instance"'
                ),
                "comparison": "COMPARISON_GT",
                "threshold_value": 10,
                "duration": "0s",
                "aggregations": [
                    {
                        "alignment_period": "3600s",
                        "per_series_aligner": "ALIGN_DELTA",
                        "cross_series_reducer": "REDUCE_SUM",
                    }
                ],
            },
        }
    ],
)
gcp.monitoring.UptimeCheckConfig(
    "tracking",
    display_name="Tracking answers",
    timeout="10s",
    period="300s",
    http_check={
        "path": "/health",
        "port": 443,
        "use_ssl": True,
        "validate_ssl": True,
        "accepted_response_status_codes": [{"status_value": 403}],
    },
    monitored_resource={
        "type": "uptime_url",
        "labels": {"project_id": PROJECT, "host": "mlflow.folding.orrin.example"},
    },
    opts=after,
)
