"""A vision team's ground on Google Cloud: GKE with L4 nodes, pictures, a database, events, a service, watching."""

import json

import pulumi
import pulumi_gcp as gcp
import pulumi_kubernetes as k8s

PROJECT, NUMBER, REGION = "halden-vision", "314159265358", "europe-west4"
Options = pulumi.ResourceOptions
enabled = Options(
    depends_on=[
        gcp.projects.Service(api, service=f"{api}.googleapis.com", disable_on_destroy=False)
        for api in (
            "artifactregistry", "compute", "container", "iam", "monitoring", "pubsub", "run", "secretmanager",
            "servicenetworking", "sqladmin", "storage",
        )
    ]
)  # fmt: skip

# The network
network = gcp.compute.Network("vision", name="vision", auto_create_subnetworks=False, opts=enabled)
subnet = gcp.compute.Subnetwork(
    "vision",
    name="vision-nl",
    network=network.id,
    region=REGION,
    ip_cidr_range="10.20.0.0/20",
    private_ip_google_access=True,
    secondary_ip_ranges=[
        {"range_name": "pods", "ip_cidr_range": "10.24.0.0/16"},
        {"range_name": "services", "ip_cidr_range": "10.28.0.0/20"},
    ],
)
router = gcp.compute.Router("vision", name="vision", network=network.id, region=REGION)
nat = gcp.compute.RouterNat(
    "vision",
    name="vision",
    router=router.name,
    region=REGION,
    nat_ip_allocate_option="AUTO_ONLY",
    source_subnetwork_ip_ranges_to_nat="ALL_SUBNETWORKS_ALL_IP_RANGES",
)
gcp.compute.Firewall(
    "iap",
    name="vision-iap",
    network=network.id,
    direction="INGRESS",
    allows=[{"protocol": "tcp", "ports": ["22"]}],
    source_ranges=["35.235.240.0/20"],
)
reserved = gcp.compute.GlobalAddress(
    "services", name="vision-services", purpose="VPC_PEERING", address_type="INTERNAL", prefix_length=20,
    network=network.id,
)  # fmt: skip
peered = gcp.servicenetworking.Connection(
    "services", network=network.id, service="servicenetworking.googleapis.com", reserved_peering_ranges=[reserved.name]
)

# The cluster
node = gcp.serviceaccount.Account("node", account_id="vision-node", opts=enabled)
node_rights = [
    gcp.projects.IAMMember(
        f"node-{right}", project=PROJECT, role=f"roles/{right}", member=node.email.apply("serviceAccount:{}".format)
    )
    for right in ("container.defaultNodeServiceAccount", "artifactregistry.reader")
]
cluster = gcp.container.Cluster(
    "vision",
    name="vision",
    location=REGION,
    node_locations=["europe-west4-a", "europe-west4-b"],
    network=network.id,
    subnetwork=subnet.id,
    networking_mode="VPC_NATIVE",
    ip_allocation_policy={"cluster_secondary_range_name": "pods", "services_secondary_range_name": "services"},
    remove_default_node_pool=True,
    initial_node_count=1,
    release_channel={"channel": "REGULAR"},
    workload_identity_config={"workload_pool": f"{PROJECT}.svc.id.goog"},
    private_cluster_config={
        "enable_private_nodes": True,
        "enable_private_endpoint": False,
        "master_ipv4_cidr_block": "172.16.8.0/28",
    },
    master_authorized_networks_config={"cidr_blocks": [{"cidr_block": "203.0.113.0/24", "display_name": "office"}]},
    maintenance_policy={"recurring_window": {
        "start_time": "2026-01-03T01:00:00Z", "end_time": "2026-01-03T07:00:00Z",
        "recurrence": "FREQ=WEEKLY;BYDAY=SA,SU",
    }},
    addons_config={"gcs_fuse_csi_driver_config": {"enabled": True}},
    deletion_protection=True,
    opts=Options(depends_on=[nat]),
)  # fmt: skip
general = gcp.container.NodePool(
    "general",
    name="general",
    cluster=cluster.name,
    location=REGION,
    autoscaling={"total_min_node_count": 2, "total_max_node_count": 6, "location_policy": "BALANCED"},
    initial_node_count=1,
    management={"auto_repair": True, "auto_upgrade": True},
    node_config={
        "machine_type": "n2-standard-8",
        "disk_size_gb": 100,
        "disk_type": "pd-balanced",
        "service_account": node.email,
        "oauth_scopes": ["https://www.googleapis.com/auth/cloud-platform"],
        "workload_metadata_config": {"mode": "GKE_METADATA"},
        "labels": {"vision/pool": "general"},
    },
    opts=Options(depends_on=node_rights),
)
gpu = gcp.container.NodePool(
    "l4",
    name="l4",
    cluster=cluster.name,
    location=REGION,
    node_locations=["europe-west4-a"],
    autoscaling={"min_node_count": 0, "max_node_count": 4},
    initial_node_count=0,
    management={"auto_repair": True, "auto_upgrade": True},
    upgrade_settings={"strategy": "SURGE", "max_surge": 0, "max_unavailable": 1},
    node_config={
        "machine_type": "g2-standard-48",
        "guest_accelerators": [
            {"type": "nvidia-l4", "count": 4, "gpu_driver_installation_config": {"gpu_driver_version": "LATEST"}}
        ],
        "disk_size_gb": 200,
        "disk_type": "pd-ssd",
        "spot": True,
        "service_account": node.email,
        "oauth_scopes": ["https://www.googleapis.com/auth/cloud-platform"],
        "workload_metadata_config": {"mode": "GKE_METADATA"},
        "labels": {"vision/pool": "l4"},
        "taints": [{"key": "vision/gpu", "value": "l4", "effect": "NO_SCHEDULE"}],
    },
    opts=Options(depends_on=node_rights),
)

# What is kept
pictures = gcp.storage.Bucket(
    "pictures",
    name="halden-vision-pictures",
    location="EUROPE-WEST4",
    uniform_bucket_level_access=True,
    public_access_prevention="enforced",
    versioning={"enabled": True},
    soft_delete_policy={"retention_duration_seconds": 604800},
    lifecycle_rules=[
        {"action": {"type": "SetStorageClass", "storage_class": "NEARLINE"},
         "condition": {"age": 60, "matches_prefixes": ["raw/"]}},
        {"action": {"type": "Delete"}, "condition": {"num_newer_versions": 3, "with_state": "ARCHIVED"}},
    ],
    opts=enabled,
)  # fmt: skip
images = gcp.artifactregistry.Repository(
    "vision",
    repository_id="vision",
    location=REGION,
    format="DOCKER",
    cleanup_policies=[
        {"id": "old", "action": "DELETE", "condition": {"tag_state": "UNTAGGED", "older_than": "1209600s"}},
        {"id": "last", "action": "KEEP", "most_recent_versions": {"keep_count": 10}},
    ],
    opts=enabled,
)
database = gcp.sql.DatabaseInstance(
    "labels",
    name="vision-labels",
    region=REGION,
    database_version="POSTGRES_16",
    deletion_protection=True,
    settings={
        "edition": "ENTERPRISE",
        "tier": "db-custom-4-16384",
        "availability_type": "REGIONAL",
        "disk_type": "PD_SSD",
        "disk_size": 100,
        "ip_configuration": {
            "ipv4_enabled": False, "private_network": network.id, "ssl_mode": "ENCRYPTED_ONLY",
        },
        "backup_configuration": {
            "enabled": True, "start_time": "02:00", "point_in_time_recovery_enabled": True,
            "transaction_log_retention_days": 7, "backup_retention_settings": {"retained_backups": 14},
        },
        "database_flags": [{"name": "max_connections", "value": "300"}],
        "maintenance_window": {"day": 7, "hour": 4, "update_track": "stable"},
    },
    opts=Options(depends_on=[peered]),
)  # fmt: skip
gcp.sql.Database("labels", name="labels", instance=database.name, charset="UTF8", collation="en_US.UTF8")
password = gcp.secretmanager.Secret(
    "labels",
    secret_id="vision-labels",
    replication={"user_managed": {"replicas": [{"location": REGION}]}},
    opts=enabled,
)
version = gcp.secretmanager.SecretVersion(
    "labels", secret=password.id, secret_data=pulumi.Config().get("labels") or "set-by-hand-2026"
)
gcp.sql.User("labels", name="labeller", instance=database.name, password=version.secret_data)

# Who does what
trainer = gcp.serviceaccount.Account("trainer", account_id="vision-trainer", opts=enabled)
api = gcp.serviceaccount.Account("api", account_id="vision-api", opts=enabled)
pusher = gcp.serviceaccount.Account("pusher", account_id="vision-pusher", opts=enabled)
gcp.serviceaccount.IAMMember(
    "trainer",
    service_account_id=trainer.name,
    role="roles/iam.workloadIdentityUser",
    member=f"serviceAccount:{PROJECT}.svc.id.goog[vision/trainer]",
    opts=Options(depends_on=[cluster]),
)
gcp.storage.BucketIAMMember(
    "trainer",
    bucket=pictures.name,
    role="roles/storage.objectUser",
    member=trainer.email.apply("serviceAccount:{}".format),
)
gcp.projects.IAMMember(
    "api-sql", project=PROJECT, role="roles/cloudsql.client", member=api.email.apply("serviceAccount:{}".format)
)
readable = gcp.secretmanager.SecretIamMember(
    "api",
    secret_id=password.id,
    role="roles/secretmanager.secretAccessor",
    member=api.email.apply("serviceAccount:{}".format),
)

# Uploads, and the service that takes them
service = gcp.cloudrunv2.Service(
    "api",
    name="vision-api",
    location=REGION,
    ingress="INGRESS_TRAFFIC_ALL",
    deletion_protection=False,
    template={
        "service_account": api.email,
        "max_instance_request_concurrency": 40,
        "timeout": "300s",
        "scaling": {"min_instance_count": 0, "max_instance_count": 10},
        "containers": [
            {
                "image": f"{REGION}-docker.pkg.dev/{PROJECT}/vision/api:1.8.0",
                "ports": {"container_port": 8080},
                "resources": {"limits": {"cpu": "2", "memory": "2Gi"}, "cpu_idle": True},
                "startup_probe": {"http_get": {"path": "/healthz", "port": 8080}, "period_seconds": 5,
                                  "failure_threshold": 12},
                "envs": [
                    {"name": "INSTANCE", "value": database.connection_name},
                    {"name": "PASSWORD",
                     "value_source": {"secret_key_ref": {"secret": password.secret_id, "version": "latest"}}},
                ],
                "volume_mounts": [{"name": "cloudsql", "mount_path": "/cloudsql"}],
            }
        ],
        "volumes": [{"name": "cloudsql", "cloud_sql_instance": {"instances": [database.connection_name]}}],
        "vpc_access": {
            "egress": "PRIVATE_RANGES_ONLY",
            "network_interfaces": [{"network": network.name, "subnetwork": subnet.name}],
        },
    },
    opts=Options(depends_on=[readable, version]),
)  # fmt: skip
gcp.cloudrunv2.ServiceIamMember(
    "pusher",
    name=service.name,
    location=REGION,
    role="roles/run.invoker",
    member=pusher.email.apply("serviceAccount:{}".format),
)
uploads = gcp.pubsub.Topic("uploads", name="vision-uploads", message_retention_duration="86400s", opts=enabled)
dead = gcp.pubsub.Topic("uploads-dead", name="vision-uploads-dead", opts=enabled)
gcp.pubsub.Subscription(
    "uploads-dead", name="vision-uploads-dead", topic=dead.id, ack_deadline_seconds=60, expiration_policy={"ttl": ""}
)
AGENT = f"serviceAccount:service-{NUMBER}@gcp-sa-pubsub.iam.gserviceaccount.com"
gcp.pubsub.TopicIAMMember("dead", topic=dead.name, role="roles/pubsub.publisher", member=AGENT)
subscription = gcp.pubsub.Subscription(
    "uploads",
    name="vision-uploads",
    topic=uploads.id,
    ack_deadline_seconds=300,
    push_config={
        "push_endpoint": service.uri.apply(lambda uri: f"{uri}/uploads"),
        "oidc_token": {"service_account_email": pusher.email},
    },
    retry_policy={"minimum_backoff": "10s", "maximum_backoff": "600s"},
    dead_letter_policy={"dead_letter_topic": dead.id, "max_delivery_attempts": 10},
)
gcp.pubsub.SubscriptionIAMMember(
    "uploads", subscription=subscription.name, role="roles/pubsub.subscriber", member=AGENT
)
publishes = gcp.pubsub.TopicIAMMember(
    "pictures",
    topic=uploads.name,
    role="roles/pubsub.publisher",
    member=f"serviceAccount:service-{NUMBER}@gs-project-accounts.iam.gserviceaccount.com",
)
gcp.storage.Notification(
    "pictures",
    bucket=pictures.name,
    topic=uploads.id,
    payload_format="JSON_API_V1",
    event_types=["OBJECT_FINALIZE"],
    object_name_prefix="raw/",
    opts=Options(depends_on=[publishes]),
)

# Who is told
channel = gcp.monitoring.NotificationChannel(
    "oncall",
    display_name="Vision on call",
    type="email",
    labels={"email_address": "vision@halden.example"},
    opts=enabled,
)
gcp.monitoring.AlertPolicy(
    "dead",
    display_name="Uploads given up",
    combiner="OR",
    notification_channels=[channel.id],
    conditions=[
        {
            "display_name": "messages wait in the dead-letter subscription",
            "condition_threshold": {
                "filter": 'resource.type = "pubsub_subscription" AND '
                'metric.type = "pubsub.googleapis.com/subscription/num_undelivered_messages" AND '
                'resource.labels.subscription_id = "vision-uploads-dead"',
                "comparison": "COMPARISON_GT",
                "threshold_value": 0,
                "duration": "300s",
                "aggregations": [{"alignment_period": "60s", "per_series_aligner": "ALIGN_MAX"}],
            },
        }
    ],
    alert_strategy={"auto_close": "86400s"},
)

# On the cluster
kubeconfig = pulumi.Output.json_dumps(
    {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {
                "name": "vision",
                "cluster": {
                    "server": cluster.endpoint.apply("https://{}".format),
                    "certificate-authority-data": cluster.master_auth.cluster_ca_certificate,
                },
            }
        ],
        "contexts": [{"name": "vision", "context": {"cluster": "vision", "user": "gke"}}],
        "current-context": "vision",
        "users": [
            {
                "name": "gke",
                "user": {
                    "exec": {
                        "apiVersion": "client.authentication.k8s.io/v1beta1",
                        "command": "gke-gcloud-auth-plugin",
                        "provideClusterInfo": True,
                    }
                },
            }
        ],
    }
)
on = Options(provider=k8s.Provider("vision", kubeconfig=kubeconfig), depends_on=[general, gpu])
namespace = k8s.core.v1.Namespace("vision", metadata={"name": "vision"}, opts=on)
inside = Options.merge(on, Options(depends_on=[namespace]))
k8s.core.v1.ServiceAccount(
    "trainer",
    metadata={
        "name": "trainer",
        "namespace": "vision",
        "annotations": {"iam.gke.io/gcp-service-account": trainer.email},
    },
    opts=inside,
)
scratch = k8s.core.v1.PersistentVolumeClaim(
    "scratch",
    metadata={"name": "scratch", "namespace": "vision", "annotations": {"pulumi.com/skipAwait": "true"}},
    spec={
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": "premium-rwo",
        "resources": {"requests": {"storage": "500Gi"}},
    },
    opts=inside,
)
k8s.core.v1.ConfigMap(
    "detector",
    metadata={"name": "detector", "namespace": "vision"},
    data={"detector.json": json.dumps({"backbone": "resnet101", "epochs": 24, "images": "/pictures"})},
    opts=inside,
)
k8s.batch.v1.Job(
    "detector",
    metadata={"name": "detector", "namespace": "vision", "annotations": {"pulumi.com/skipAwait": "true"}},
    spec={
        "backoffLimit": 6,
        "ttlSecondsAfterFinished": 86400,
        "template": {
            "metadata": {"labels": {"app": "detector"}, "annotations": {"gke-gcsfuse/volumes": "true"}},
            "spec": {
                "serviceAccountName": "trainer",
                "restartPolicy": "OnFailure",
                "terminationGracePeriodSeconds": 25,
                "nodeSelector": {"cloud.google.com/gke-accelerator": "nvidia-l4", "cloud.google.com/gke-spot": "true"},
                "tolerations": [{"key": "vision/gpu", "operator": "Equal", "value": "l4", "effect": "NoSchedule"}],
                "containers": [
                    {
                        "name": "train",
                        "image": f"{REGION}-docker.pkg.dev/{PROJECT}/vision/detector:3.1.0",
                        "command": ["torchrun", "--standalone", "--nproc-per-node=4", "train.py"],
                        "args": ["--config=/etc/detector/detector.json", "--checkpoints=/scratch"],
                        "resources": {
                            "requests": {"cpu": "36", "memory": "140Gi"},
                            "limits": {"nvidia.com/gpu": "4", "memory": "140Gi"},
                        },
                        "volumeMounts": [
                            {"name": "pictures", "mountPath": "/pictures", "readOnly": True},
                            {"name": "scratch", "mountPath": "/scratch"},
                            {"name": "config", "mountPath": "/etc/detector"},
                        ],
                    }
                ],
                "volumes": [
                    {
                        "name": "pictures",
                        "csi": {
                            "driver": "gcsfuse.csi.storage.gke.io",
                            "readOnly": True,
                            "volumeAttributes": {"bucketName": pictures.name, "mountOptions": "implicit-dirs"},
                        },
                    },
                    {"name": "scratch", "persistentVolumeClaim": {"claimName": "scratch"}},
                    {"name": "config", "configMap": {"name": "detector"}},
                ],
            },
        },
    },
    opts=inside,
)
