"""A language team's cluster on Google Cloud: slices of TPUs, models behind a gateway, evaluation of each checkpoint."""

import pulumi
import pulumi_gcp as gcp
import pulumi_kubernetes as k8s

PROJECT, NUMBER, REGION, ZONE = "maro-language", "141421356237", "europe-west4", "europe-west4-a"
IMAGES = f"{REGION}-docker.pkg.dev/{PROJECT}/language"
Options = pulumi.ResourceOptions
APIS = (
    "artifactregistry", "certificatemanager", "compute", "container", "dns", "gkebackup", "iam", "iamcredentials",
    "logging", "monitoring", "pubsub", "storage",
)  # fmt: skip
apis = [gcp.projects.Service(api, service=f"{api}.googleapis.com", disable_on_destroy=False) for api in APIS]
enabled = Options(depends_on=apis)

# Network
network = gcp.compute.Network("language", name="language", auto_create_subnetworks=False, mtu=8896, opts=enabled)
subnet = gcp.compute.Subnetwork(
    "nodes",
    name="language-nodes",
    region=REGION,
    network=network.id,
    ip_cidr_range="10.0.0.0/20",
    private_ip_google_access=True,
    secondary_ip_ranges=[
        {"range_name": "pods", "ip_cidr_range": "10.16.0.0/14"},
        {"range_name": "services", "ip_cidr_range": "10.32.0.0/20"},
    ],
)
router = gcp.compute.Router("language", name="language", region=REGION, network=network.id)
nat = gcp.compute.RouterNat(
    "language",
    name="language",
    router=router.name,
    region=REGION,
    nat_ip_allocate_option="AUTO_ONLY",
    source_subnetwork_ip_ranges_to_nat="ALL_SUBNETWORKS_ALL_IP_RANGES",
    enable_dynamic_port_allocation=True,
    enable_endpoint_independent_mapping=False,
    min_ports_per_vm=128,
    max_ports_per_vm=4096,
)
gcp.compute.Firewall(
    "webhooks",
    name="language-webhooks",
    network=network.id,
    direction="INGRESS",
    source_ranges=["172.16.0.0/28"],
    target_tags=["language-node"],
    allows=[{"protocol": "tcp", "ports": ["9443"]}],
)

# Cluster
nodes = gcp.serviceaccount.Account("nodes", account_id="language-nodes", opts=enabled)
node_roles = [
    gcp.projects.IAMMember(f"nodes-{role}", project=PROJECT, role=f"roles/{role}", member=nodes.member)
    for role in (
        "container.defaultNodeServiceAccount",
        "monitoring.metricWriter",
        "stackdriver.resourceMetadata.writer",
    )
]
cluster = gcp.container.Cluster(
    "language",
    name="language",
    location=REGION,
    node_locations=[ZONE],
    network=network.id,
    subnetwork=subnet.id,
    networking_mode="VPC_NATIVE",
    ip_allocation_policy={"cluster_secondary_range_name": "pods", "services_secondary_range_name": "services"},
    datapath_provider="ADVANCED_DATAPATH",
    private_cluster_config={
        "enable_private_nodes": True,
        "enable_private_endpoint": False,
        "master_ipv4_cidr_block": "172.16.0.0/28",
    },
    master_authorized_networks_config={
        "cidr_blocks": [{"cidr_block": "198.51.100.0/24", "display_name": "office"}],
    },
    workload_identity_config={"workload_pool": f"{PROJECT}.svc.id.goog"},
    gateway_api_config={"channel": "CHANNEL_STANDARD"},
    addons_config={
        "gcs_fuse_csi_driver_config": {"enabled": True},
        "gce_persistent_disk_csi_driver_config": {"enabled": True},
        "http_load_balancing": {"disabled": False},
        "gke_backup_agent_config": {"enabled": True},
    },
    monitoring_config={
        "enable_components": ["SYSTEM_COMPONENTS", "POD", "DEPLOYMENT"],
        "managed_prometheus": {"enabled": True},
    },
    logging_config={"enable_components": ["SYSTEM_COMPONENTS", "WORKLOADS"]},
    release_channel={"channel": "REGULAR"},
    maintenance_policy={
        "recurring_window": {
            "start_time": "2026-01-03T01:00:00Z",
            "end_time": "2026-01-03T09:00:00Z",
            "recurrence": "FREQ=WEEKLY;BYDAY=SA,SU",
        },
    },
    remove_default_node_pool=True,
    initial_node_count=1,
    deletion_protection=True,
    opts=Options(depends_on=apis, ignore_changes=["initial_node_count"]),
)


def node_config(machine, **more):
    """What the nodes of every pool have alike."""
    return {
        "machine_type": machine,
        "service_account": nodes.email,
        "tags": ["language-node"],
        "oauth_scopes": ["https://www.googleapis.com/auth/cloud-platform"],
        "workload_metadata_config": {"mode": "GKE_METADATA"},
        "shielded_instance_config": {"enable_secure_boot": True, "enable_integrity_monitoring": True},
        **more,
    }


system = gcp.container.NodePool(
    "system",
    name="system",
    cluster=cluster.id,
    autoscaling={"min_node_count": 2, "max_node_count": 5},
    node_config=node_config("n2-standard-8", disk_size_gb=100, disk_type="pd-balanced"),
    opts=Options(depends_on=node_roles),
)
serving = gcp.container.NodePool(
    "serving",
    name="serving",
    cluster=cluster.id,
    autoscaling={"min_node_count": 0, "max_node_count": 6},
    node_config=node_config(
        "g2-standard-24",
        disk_size_gb=200,
        disk_type="pd-ssd",
        labels={"maro.example/part": "serving"},
        guest_accelerators=[
            {"type": "nvidia-l4", "count": 2, "gpu_driver_installation_config": {"gpu_driver_version": "LATEST"}}
        ],
        taints=[{"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"}],
    ),
    opts=Options(depends_on=node_roles),
)
slices = [
    gcp.container.NodePool(
        f"slice-{number}",
        name=f"slice-{number}",
        cluster=cluster.id,
        node_locations=[ZONE],
        initial_node_count=0,
        autoscaling={
            "total_min_node_count": 0,
            "total_max_node_count": 4,
            "location_policy": "ANY",
        },
        placement_policy={"type": "COMPACT", "tpu_topology": "4x4"},
        node_config=node_config("ct6e-standard-4t", spot=True, disk_size_gb=100, disk_type="hyperdisk-balanced"),
        opts=Options(depends_on=node_roles),
    )
    for number in (0, 1)
]

# Data
images = gcp.artifactregistry.Repository(
    "language", repository_id="language", location=REGION, format="DOCKER", opts=enabled
)
gcp.artifactregistry.RepositoryIamMember(
    "nodes-pull", repository=images.name, location=REGION, role="roles/artifactregistry.reader", member=nodes.member
)


def bucket(name, **more):
    """A bucket of the team."""
    return gcp.storage.Bucket(
        name,
        name=f"maro-language-{name}",
        location=REGION,
        uniform_bucket_level_access=True,
        public_access_prevention="enforced",
        opts=enabled,
        **more,
    )


corpus = bucket("corpus")
checkpoints = bucket(
    "checkpoints",
    hierarchical_namespace={"enabled": True},
    soft_delete_policy={"retention_duration_seconds": 0},
    lifecycle_rules=[{"action": {"type": "Delete"}, "condition": {"age": 45, "matches_prefixes": ["scratch/"]}}],
)
models = bucket("models", versioning={"enabled": True})


def workload(namespace, account):
    """A service account of the cluster, as IAM knows it."""
    return (
        f"principal://iam.googleapis.com/projects/{NUMBER}/locations/global/workloadIdentityPools/"
        f"{PROJECT}.svc.id.goog/subject/ns/{namespace}/sa/{account}"
    )


pool = Options(depends_on=[cluster])
for name, held, role, who in (
    ("trainer-corpus", corpus, "objectViewer", workload("training", "trainer")),
    ("trainer-checkpoints", checkpoints, "objectUser", workload("training", "trainer")),
    ("server-models", models, "objectViewer", workload("serving", "server")),
    ("judge-checkpoints", checkpoints, "objectViewer", workload("evaluation", "judge")),
    ("judge-models", models, "objectUser", workload("evaluation", "judge")),
):
    gcp.storage.BucketIAMMember(name, bucket=held.name, role=f"roles/storage.{role}", member=who, opts=pool)

# Each checkpoint is told to who evaluates
written = gcp.pubsub.Topic("checkpoints", name="language-checkpoints", opts=enabled)
told = gcp.pubsub.TopicIAMMember(
    "storage-publishes",
    topic=written.name,
    role="roles/pubsub.publisher",
    member=f"serviceAccount:service-{NUMBER}@gs-project-accounts.iam.gserviceaccount.com",
)
gcp.storage.Notification(
    "checkpoints",
    bucket=checkpoints.name,
    topic=written.id,
    payload_format="JSON_API_V1",
    event_types=["OBJECT_FINALIZE"],
    custom_attributes={"stage": "pretraining"},
    object_name_prefix="runs/",
    opts=Options(depends_on=[told]),
)
to_judge = gcp.pubsub.Subscription(
    "judge",
    name="language-judge",
    topic=written.id,
    ack_deadline_seconds=600,
    filter='attributes.eventType = "OBJECT_FINALIZE" AND attributes.stage = "pretraining"',
    expiration_policy={"ttl": ""},
    retry_policy={"minimum_backoff": "30s", "maximum_backoff": "600s"},
)
judge_account = gcp.serviceaccount.Account("judge", account_id="language-judge", opts=enabled)
gcp.serviceaccount.IAMMember(
    "judge",
    service_account_id=judge_account.name,
    role="roles/iam.workloadIdentityUser",
    member=f"serviceAccount:{PROJECT}.svc.id.goog[evaluation/judge]",
    opts=pool,
)
gcp.pubsub.SubscriptionIAMMember(
    "judge", subscription=to_judge.name, role="roles/pubsub.subscriber", member=judge_account.member
)
for name, held, role in (("judges-checkpoints", checkpoints, "objectViewer"), ("judges-models", models, "objectUser")):
    gcp.storage.BucketIAMMember(name, bucket=held.name, role=f"roles/storage.{role}", member=judge_account.member)

# The door: an address, its name, its certificate, who may come
address = gcp.compute.GlobalAddress("door", name="language-door", opts=enabled)
zone = gcp.dns.ManagedZone("maro", name="maro", dns_name="language.maro.example.", opts=enabled)
gcp.dns.RecordSet(
    "door", managed_zone=zone.name, name="models.language.maro.example.", type="A", ttl=300, rrdatas=[address.address]
)
proof = gcp.certificatemanager.DnsAuthorization(
    "door", name="language-door", domain="models.language.maro.example", opts=enabled
)
gcp.dns.RecordSet(
    "door-proof",
    managed_zone=zone.name,
    name=proof.dns_resource_records[0].name,
    type=proof.dns_resource_records[0].type,
    ttl=300,
    rrdatas=[proof.dns_resource_records[0].data],
)
certificate = gcp.certificatemanager.Certificate(
    "door",
    name="language-door",
    managed={"domains": ["models.language.maro.example"], "dns_authorizations": [proof.id]},
)
certificates = gcp.certificatemanager.CertificateMap("door", name="language-door", opts=enabled)
gcp.certificatemanager.CertificateMapEntry(
    "door",
    name="language-door",
    map=certificates.name,
    hostname="models.language.maro.example",
    certificates=[certificate.id],
)
armor = gcp.compute.SecurityPolicy(
    "door",
    name="language-door",
    rules=[
        {
            "action": "throttle",
            "priority": 100,
            "match": {"versioned_expr": "SRC_IPS_V1", "config": {"src_ip_ranges": ["*"]}},
            "rate_limit_options": {
                "conform_action": "allow",
                "exceed_action": "deny(429)",
                "enforce_on_key": "IP",
                "rate_limit_threshold": {"count": 600, "interval_sec": 60},
            },
        },
        {
            "action": "allow",
            "priority": 2147483647,
            "match": {"versioned_expr": "SRC_IPS_V1", "config": {"src_ip_ranges": ["*"]}},
        },
    ],
    opts=enabled,
)

# In the cluster
KUBECONFIG = """apiVersion: v1
kind: Config
current-context: language
clusters: [{{name: language, cluster: {{server: "https://{0}", certificate-authority-data: "{1}"}}}}]
contexts: [{{name: language, context: {{cluster: language, user: language}}}}]
users: [{{name: language, user: {{exec: {{apiVersion: client.authentication.k8s.io/v1beta1,
  command: gke-gcloud-auth-plugin, provideClusterInfo: true, interactiveMode: Never}}}}}}]
"""
provider = k8s.Provider(
    "language",
    kubeconfig=pulumi.Output.all(cluster.endpoint, cluster.master_auth.cluster_ca_certificate).apply(
        lambda parts: KUBECONFIG.format(*parts)
    ),
)


def inside(*after):
    """Made with the cluster's provider, after some things."""
    return Options(provider=provider, depends_on=list(after))


ready = [system, nat]
namespaces = {
    name: k8s.core.v1.Namespace(
        name,
        metadata={"name": name, "labels": {"kubernetes.io/metadata.name": name, "maro.example/part": name}},
        opts=inside(*ready),
    )
    for name in ("training", "serving", "evaluation", "jobset-system", "door")
}
accounts = {
    name: k8s.core.v1.ServiceAccount(
        name,
        metadata={"name": name, "namespace": namespaces[where].metadata.name, "annotations": annotations},
        opts=inside(),
    )
    for name, where, annotations in (
        ("trainer", "training", {}),
        ("server", "serving", {}),
        ("judge", "evaluation", {"iam.gke.io/gcp-service-account": judge_account.email}),
    )
}
urgent = k8s.scheduling.v1.PriorityClass(
    "serving",
    metadata={"name": "serving"},
    value=100000,
    global_default=False,
    description="What people wait for",
    opts=inside(*ready),
)
k8s.core.v1.ResourceQuota(
    "training",
    metadata={"name": "training", "namespace": namespaces["training"].metadata.name},
    spec={"hard": {"requests.google.com/tpu": "32", "count/jobsets.jobset.x-k8s.io": "8"}},
    opts=inside(),
)
jobsets = k8s.helm.v3.Release(
    "jobset",
    name="jobset",
    chart="oci://registry.k8s.io/jobset/charts/jobset",
    version="0.10.1",
    namespace=namespaces["jobset-system"].metadata.name,
    opts=inside(),
)
settings = k8s.core.v1.ConfigMap(
    "pretraining",
    metadata={"name": "pretraining", "namespace": namespaces["training"].metadata.name},
    data={"run.yaml": "run: maro-3b\nsteps: 120000\nmesh: {fsdp: 16}\nevery: 1000\n"},
    opts=inside(),
)
volume = k8s.core.v1.PersistentVolume(
    "corpus",
    metadata={"name": "corpus"},
    spec={
        "capacity": {"storage": "100Ti"},
        "accessModes": ["ReadOnlyMany"],
        "storageClassName": "corpus-of-the-team",
        "persistentVolumeReclaimPolicy": "Retain",
        "claimRef": {"namespace": "training", "name": "corpus"},
        "mountOptions": ["implicit-dirs", "file-cache:max-size-mb:-1"],
        "csi": {
            "driver": "gcsfuse.csi.storage.gke.io",
            "volumeHandle": corpus.name,
            "readOnly": True,
        },
    },
    opts=inside(*ready),
)
claim = k8s.core.v1.PersistentVolumeClaim(
    "corpus",
    metadata={"name": "corpus", "namespace": namespaces["training"].metadata.name},
    spec={
        "accessModes": ["ReadOnlyMany"],
        "storageClassName": "corpus-of-the-team",
        "volumeName": "corpus",
        "resources": {"requests": {"storage": "100Ti"}},
    },
    opts=inside(volume),
)
k8s.apiextensions.CustomResource(
    "pretraining",
    api_version="jobset.x-k8s.io/v1alpha2",
    kind="JobSet",
    metadata={
        "name": "pretraining",
        "namespace": namespaces["training"].metadata.name,
        "annotations": {"alpha.jobset.sigs.k8s.io/exclusive-topology": "cloud.google.com/gke-nodepool"},
    },
    spec={
        "failurePolicy": {"maxRestarts": 10},
        "successPolicy": {"operator": "All", "targetReplicatedJobs": ["slice"]},
        "network": {"enableDNSHostnames": True, "publishNotReadyAddresses": True},
        "replicatedJobs": [
            {
                "name": "slice",
                "replicas": 2,
                "template": {
                    "spec": {
                        "parallelism": 4,
                        "completions": 4,
                        "completionMode": "Indexed",
                        "backoffLimit": 0,
                        "template": {
                            "metadata": {
                                "annotations": {
                                    "gke-gcsfuse/volumes": "true",
                                    "gke-gcsfuse/ephemeral-storage-limit": "40Gi",
                                }
                            },
                            "spec": {
                                "serviceAccountName": "trainer",
                                "restartPolicy": "Never",
                                "terminationGracePeriodSeconds": 60,
                                "nodeSelector": {
                                    "cloud.google.com/gke-tpu-accelerator": "tpu-v6e-slice",
                                    "cloud.google.com/gke-tpu-topology": "4x4",
                                },
                                "tolerations": [
                                    {"key": "google.com/tpu", "operator": "Exists", "effect": "NoSchedule"},
                                ],
                                "containers": [
                                    {
                                        "name": "trainer",
                                        "image": f"{IMAGES}/trainer:3.4.0",
                                        "command": ["python", "-m", "maro.train"],
                                        "args": [
                                            "--config=/etc/run/run.yaml",
                                            "--data=/corpus/v7",
                                            "--checkpoints=/checkpoints/runs/maro-3b",
                                            "--coordinator=pretraining-slice-0-0.pretraining:8476",
                                        ],
                                        "ports": [
                                            {"name": "coordinator", "containerPort": 8476},
                                            {"name": "mesh", "containerPort": 8471},
                                        ],
                                        "env": [
                                            {"name": "JAX_PLATFORMS", "value": "tpu,cpu"},
                                            {
                                                "name": "SLICE",
                                                "valueFrom": {
                                                    "fieldRef": {
                                                        "fieldPath": "metadata.labels['jobset.sigs.k8s.io/job-index']"
                                                    }
                                                },
                                            },
                                        ],
                                        "resources": {
                                            "requests": {"google.com/tpu": 4, "memory": "300Gi"},
                                            "limits": {"google.com/tpu": 4},
                                        },
                                        "volumeMounts": [
                                            {"name": "run", "mountPath": "/etc/run", "readOnly": True},
                                            {"name": "corpus", "mountPath": "/corpus", "readOnly": True},
                                            {"name": "checkpoints", "mountPath": "/checkpoints"},
                                        ],
                                    }
                                ],
                                "volumes": [
                                    {"name": "run", "configMap": {"name": "pretraining"}},
                                    {
                                        "name": "corpus",
                                        "persistentVolumeClaim": {"claimName": "corpus", "readOnly": True},
                                    },
                                    {
                                        "name": "checkpoints",
                                        "csi": {
                                            "driver": "gcsfuse.csi.storage.gke.io",
                                            "volumeAttributes": {
                                                "bucketName": "maro-language-checkpoints",
                                                "mountOptions": "implicit-dirs",
                                            },
                                        },
                                    },
                                ],
                            },
                        },
                    }
                },
            }
        ],
    },
    opts=inside(jobsets, settings, claim, accounts["trainer"], *slices),
)

# Serving
SERVER = {"app": "server"}
server = k8s.apps.v1.Deployment(
    "server",
    metadata={"name": "server", "namespace": namespaces["serving"].metadata.name},
    spec={
        "selector": {"matchLabels": SERVER},
        "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}},
        "template": {
            "metadata": {
                "labels": {**SERVER, "maro.example/model": "maro-3b"},
                "annotations": {"gke-gcsfuse/volumes": "true"},
            },
            "spec": {
                "serviceAccountName": "server",
                "priorityClassName": "serving",
                "terminationGracePeriodSeconds": 90,
                "nodeSelector": {"maro.example/part": "serving"},
                "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}],
                "topologySpreadConstraints": [
                    {
                        "maxSkew": 1,
                        "topologyKey": "kubernetes.io/hostname",
                        "whenUnsatisfiable": "ScheduleAnyway",
                        "labelSelector": {"matchLabels": SERVER},
                    }
                ],
                "containers": [
                    {
                        "name": "vllm",
                        "image": "vllm/vllm-openai:v0.10.2",
                        "args": [
                            "--model=/models/maro-3b/current",
                            "--served-model-name=maro-3b",
                            "--tensor-parallel-size=2",
                            "--port=8000",
                        ],
                        "ports": [{"name": "http", "containerPort": 8000}],
                        "env": [{"name": "HF_HUB_OFFLINE", "value": "1"}],
                        "resources": {
                            "requests": {"cpu": "16", "memory": "64Gi", "nvidia.com/gpu": "2"},
                            "limits": {"memory": "64Gi", "nvidia.com/gpu": "2"},
                        },
                        "startupProbe": {
                            "httpGet": {"path": "/health", "port": "http"},
                            "periodSeconds": 10,
                            "failureThreshold": 60,
                        },
                        "readinessProbe": {"httpGet": {"path": "/health", "port": "http"}, "periodSeconds": 5},
                        "lifecycle": {"preStop": {"exec": {"command": ["sleep", "20"]}}},
                        "volumeMounts": [
                            {"name": "models", "mountPath": "/models", "readOnly": True},
                            {"name": "shm", "mountPath": "/dev/shm"},
                        ],
                    }
                ],
                "volumes": [
                    {
                        "name": "models",
                        "csi": {
                            "driver": "gcsfuse.csi.storage.gke.io",
                            "readOnly": True,
                            "volumeAttributes": {
                                "bucketName": "maro-language-models",
                                "mountOptions": "implicit-dirs,file-cache:enable-parallel-downloads:true",
                            },
                        },
                    },
                    {"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "8Gi"}},
                ],
            },
        },
    },
    opts=inside(accounts["server"], urgent, serving),
)
front = k8s.core.v1.Service(
    "server",
    metadata={"name": "server", "namespace": namespaces["serving"].metadata.name, "labels": SERVER},
    spec={"selector": SERVER, "ports": [{"name": "http", "port": 80, "targetPort": "http"}]},
    opts=inside(),
)
k8s.autoscaling.v2.HorizontalPodAutoscaler(
    "server",
    metadata={"name": "server", "namespace": namespaces["serving"].metadata.name},
    spec={
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "server"},
        "minReplicas": 2,
        "maxReplicas": 6,
        "metrics": [
            {
                "type": "Resource",
                "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 60}},
            }
        ],
        "behavior": {"scaleDown": {"stabilizationWindowSeconds": 600}},
    },
    opts=inside(server),
)
k8s.policy.v1.PodDisruptionBudget(
    "server",
    metadata={"name": "server", "namespace": namespaces["serving"].metadata.name},
    spec={"minAvailable": 1, "selector": {"matchLabels": SERVER}},
    opts=inside(),
)
k8s.networking.v1.NetworkPolicy(
    "closed",
    metadata={"name": "closed", "namespace": namespaces["serving"].metadata.name},
    spec={"podSelector": {}, "policyTypes": ["Ingress"]},
    opts=inside(),
)
k8s.networking.v1.NetworkPolicy(
    "server",
    metadata={"name": "server", "namespace": namespaces["serving"].metadata.name},
    spec={
        "podSelector": {"matchLabels": SERVER},
        "policyTypes": ["Ingress"],
        "ingress": [
            {
                "from": [{"ipBlock": {"cidr": "35.191.0.0/16"}}, {"ipBlock": {"cidr": "130.211.0.0/22"}}],
                "ports": [{"protocol": "TCP", "port": 8000}],
            },
            {
                "from": [
                    {"namespaceSelector": {"matchLabels": {"maro.example/part": "evaluation"}}},
                    {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "gmp-system"}}},
                ],
                "ports": [{"protocol": "TCP", "port": "http"}],
            },
        ],
    },
    opts=inside(),
)
gateway = k8s.apiextensions.CustomResource(
    "door",
    api_version="gateway.networking.k8s.io/v1",
    kind="Gateway",
    metadata={
        "name": "door",
        "namespace": namespaces["door"].metadata.name,
        "annotations": {"networking.gke.io/certmap": "language-door"},
    },
    spec={
        "gatewayClassName": "gke-l7-global-external-managed",
        "addresses": [{"type": "NamedAddress", "value": "language-door"}],
        "listeners": [
            {
                "name": "https",
                "protocol": "HTTPS",
                "port": 443,
                "allowedRoutes": {
                    "namespaces": {
                        "from": "Selector",
                        "selector": {"matchLabels": {"maro.example/part": "serving"}},
                    }
                },
            }
        ],
    },
    opts=inside(),
)
k8s.apiextensions.CustomResource(
    "server-route",
    api_version="gateway.networking.k8s.io/v1",
    kind="HTTPRoute",
    metadata={"name": "server", "namespace": namespaces["serving"].metadata.name},
    spec={
        "parentRefs": [{"name": "door", "namespace": "door", "sectionName": "https"}],
        "hostnames": ["models.language.maro.example"],
        "rules": [
            {
                "matches": [{"path": {"type": "PathPrefix", "value": "/v1"}}],
                "backendRefs": [{"name": "server", "port": 80}],
            }
        ],
    },
    opts=inside(gateway, front),
)
k8s.apiextensions.CustomResource(
    "server-health",
    api_version="networking.gke.io/v1",
    kind="HealthCheckPolicy",
    metadata={"name": "server", "namespace": namespaces["serving"].metadata.name},
    spec={
        "default": {
            "checkIntervalSec": 15,
            "timeoutSec": 5,
            "config": {"type": "HTTP", "httpHealthCheck": {"requestPath": "/health", "port": 8000}},
        },
        "targetRef": {"group": "", "kind": "Service", "name": "server"},
    },
    opts=inside(front),
)
k8s.apiextensions.CustomResource(
    "server-backend",
    api_version="networking.gke.io/v1",
    kind="GCPBackendPolicy",
    metadata={"name": "server", "namespace": namespaces["serving"].metadata.name},
    spec={
        "default": {
            "securityPolicy": "language-door",
            "timeoutSec": 600,
            "connectionDraining": {"drainingTimeoutSec": 60},
            "logging": {"enabled": True, "sampleRate": 500000},
        },
        "targetRef": {"group": "", "kind": "Service", "name": "server"},
    },
    opts=inside(front, armor),
)
k8s.apiextensions.CustomResource(
    "server-metrics",
    api_version="monitoring.googleapis.com/v1",
    kind="PodMonitoring",
    metadata={"name": "server", "namespace": namespaces["serving"].metadata.name},
    spec={
        "selector": {"matchLabels": SERVER},
        "endpoints": [{"port": "http", "path": "/metrics", "interval": "30s"}],
    },
    opts=inside(),
)

# Evaluation
JUDGE = {"app": "judge"}
k8s.core.v1.Secret(
    "judge",
    metadata={"name": "judge", "namespace": namespaces["evaluation"].metadata.name},
    string_data={"api-key": pulumi.Output.secret("maro-fixed-for-the-rehearsal")},
    opts=inside(),
)
k8s.apps.v1.Deployment(
    "judge",
    metadata={"name": "judge", "namespace": namespaces["evaluation"].metadata.name},
    spec={
        "replicas": 2,
        "selector": {"matchLabels": JUDGE},
        "template": {
            "metadata": {"labels": JUDGE},
            "spec": {
                "serviceAccountName": "judge",
                "containers": [
                    {
                        "name": "judge",
                        "image": f"{IMAGES}/judge:1.2.0",
                        "env": [
                            {"name": "SUBSCRIPTION", "value": to_judge.id},
                            {"name": "MODELS", "value": "gs://maro-language-models/candidates"},
                            {"name": "SERVER", "value": "http://server.serving.svc.cluster.local/v1"},
                            {
                                "name": "API_KEY",
                                "valueFrom": {"secretKeyRef": {"name": "judge", "key": "api-key"}},
                            },
                        ],
                        "resources": {
                            "requests": {"cpu": "2", "memory": "8Gi"},
                            "limits": {"memory": "8Gi"},
                        },
                    }
                ],
            },
        },
    },
    opts=inside(accounts["judge"]),
)
k8s.batch.v1.CronJob(
    "compare",
    metadata={"name": "compare", "namespace": namespaces["evaluation"].metadata.name},
    spec={
        "schedule": "15 4 * * *",
        "timeZone": "Europe/Amsterdam",
        "concurrencyPolicy": "Forbid",
        "startingDeadlineSeconds": 3600,
        "jobTemplate": {
            "spec": {
                "backoffLimit": 2,
                "activeDeadlineSeconds": 10800,
                "template": {
                    "spec": {
                        "serviceAccountName": "judge",
                        "restartPolicy": "Never",
                        "containers": [
                            {
                                "name": "compare",
                                "image": f"{IMAGES}/judge:1.2.0",
                                "command": ["python", "-m", "judge.compare"],
                                "args": ["--models=gs://maro-language-models/candidates"],
                                "resources": {"requests": {"cpu": "4", "memory": "16Gi"}},
                            }
                        ],
                    }
                },
            }
        },
    },
    opts=inside(accounts["judge"]),
)
k8s.rbac.v1.RoleBinding(
    "researchers",
    metadata={"name": "researchers", "namespace": namespaces["training"].metadata.name},
    role_ref={"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "edit"},
    subjects=[{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "ada@maro.example"}],
    opts=inside(),
)

# Keeping and watching
gcp.gkebackup.BackupPlan(
    "language",
    name="language",
    location=REGION,
    cluster=cluster.id,
    backup_config={
        "include_secrets": True,
        "include_volume_data": False,
        "selected_namespaces": {"namespaces": ["training", "serving", "evaluation"]},
    },
    backup_schedule={"cron_schedule": "0 3 * * *"},
    retention_policy={"backup_retain_days": 21},
    opts=enabled,
)
kept = bucket("logs", lifecycle_rules=[{"action": {"type": "Delete"}, "condition": {"age": 400}}])
sink = gcp.logging.ProjectSink(
    "training",
    name="language-training",
    destination=kept.name.apply("storage.googleapis.com/{}".format),
    filter='resource.type="k8s_container" AND resource.labels.namespace_name="training"',
    unique_writer_identity=True,
)
gcp.storage.BucketIAMMember(
    "logs-written", bucket=kept.name, role="roles/storage.objectCreator", member=sink.writer_identity
)
channel = gcp.monitoring.NotificationChannel(
    "mail", display_name="Language", type="email", labels={"email_address": "language@maro.example"}, opts=enabled
)
gcp.monitoring.AlertPolicy(
    "idle",
    display_name="TPUs idle",
    combiner="OR",
    notification_channels=[channel.name],
    conditions=[
        {
            "display_name": "Duty cycle below a third for half an hour",
            "condition_threshold": {
                "filter": 'metric.type="kubernetes.io/node/accelerator/duty_cycle" AND resource.type="k8s_node" '
                'AND resource.labels.cluster_name="language"',
                "comparison": "COMPARISON_LT",
                "threshold_value": 33,
                "duration": "1800s",
                "aggregations": [{"alignment_period": "300s", "per_series_aligner": "ALIGN_MEAN"}],
            },
        }
    ],
)
gcp.monitoring.AlertPolicy(
    "restarts",
    display_name="Servers restart",
    combiner="OR",
    notification_channels=[channel.name],
    conditions=[
        {
            "display_name": "More than three in ten minutes",
            "condition_threshold": {
                "filter": 'metric.type="kubernetes.io/container/restart_count" AND resource.type="k8s_container" '
                'AND resource.labels.namespace_name="serving"',
                "comparison": "COMPARISON_GT",
                "threshold_value": 3,
                "duration": "0s",
                "aggregations": [{"alignment_period": "600s", "per_series_aligner": "ALIGN_DELTA"}],
            },
        }
    ],
)
