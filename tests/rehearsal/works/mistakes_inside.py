"""Two sets inside the cluster and at its edge, fifty mistakes and then forty-four, in our own stacks on both clouds.

Both were written before any rule was read, the second before anything was mended. A third of each is refused.
"""

from __future__ import annotations

import base64
from typing import Any

from tests.rehearsal.works.mistakes import DROP, Change, Mistake, both, drop, edit, in_json, put
from tests.rehearsal.works.mistakes_k8s_first import Into, container, env, renamed, runtime, said, values

LARGE, GKE, EU = "large-aws", "large-gcp", "eu-gcp"
POD = "spec.template.spec"
KUEUE = "kubernetes:kueue.x-k8s.io/v1beta2:"
QUEUE, FLAVOR = f"{KUEUE}ClusterQueue", f"{KUEUE}ResourceFlavor"
WALL = "kubernetes:networking.k8s.io/v1:NetworkPolicy"
DEPLOYMENT, DAEMONS = "kubernetes:apps/v1:Deployment", "kubernetes:apps/v1:DaemonSet"
CRON, JOB = "kubernetes:batch/v1:CronJob", "kubernetes:batch/v1:Job"
RUNTIME = "kubernetes:trainer.kubeflow.org/v1alpha1:ClusterTrainingRuntime"
RBAC = "kubernetes:rbac.authorization.k8s.io/v1:"
GUARD = "kubernetes:admissionregistration.k8s.io/v1:ValidatingAdmissionPolicy"
RELEASE = "kubernetes:helm.sh/v3:Release"
CORE = "kubernetes:core/v1:"
ROLE_POLICY, NODE_GROUP = "aws:iam/rolePolicy:RolePolicy", "aws:eks/nodeGroup:NodeGroup"
POOL = "gcp:container/nodePool:NodePool"
RULE_IN = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"
RULE_OUT = "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule"
LIFECYCLE = "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration"
ENDPOINT, TEMPLATE = "aws:ec2/vpcEndpoint:VpcEndpoint", "aws:ec2/launchTemplate:LaunchTemplate"
DATABASE, KEY, ADD_ON = "aws:rds/instance:Instance", "aws:kms/key:Key", "aws:eks/addon:Addon"
TOPIC = "aws:sns/topicPolicy:TopicPolicy"
CLUSTER, NAT = "gcp:container/cluster:Cluster", "gcp:compute/routerNat:RouterNat"
FIREWALL = "gcp:compute/firewall:Firewall"
VISION, TRAIN, SERVER = "kueue-cluster-queue-vision", "runtimes-torch-train", "mlflow-deployment"
RESERVED = "smoke-train-reserved-job"
_REQUIRED = "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"
KEY_OF_TRACKING = "arn:aws:kms:us-east-1:123456789012:key/93e9591c-26f6-49d3-8f1b-df90b27876e0"


def statement(sid: str, **changed: Any) -> Into:
    """Changes a statement of the policy that an input `policy` holds."""
    return in_json("policy", lambda found: next(one for one in found["Statement"] if one["Sid"] == sid).update(changed))


def _counts_cores(inputs: dict[str, Any]) -> None:
    group = inputs["spec"]["resourceGroups"][0]
    group["coveredResources"].append("cpu")
    group["flavors"][0]["resources"].append({"name": "cpu", "nominalQuota": "64"})


def _taint(inputs: dict[str, Any]) -> None:
    taint = {"key": "cloud.google.com/gke-spot", "value": "true", "effect": "NO_SCHEDULE"}
    inputs["nodeConfig"]["taints"].append(taint)


def _disk(body: dict[str, Any]) -> None:
    body["resources"]["requests"]["ephemeral-storage"] = "60Gi"
    body["resources"]["limits"]["ephemeral-storage"] = "80Gi"


def _pool(body: dict[str, Any]) -> None:
    env("MLFLOW_SQLALCHEMYSTORE_POOL_SIZE", "40")(body)
    env("MLFLOW_SQLALCHEMYSTORE_MAX_OVERFLOW", "40")(body)


def _hosts(body: dict[str, Any]) -> None:
    hosts = "--allowed-hosts=mlflow.mlflow.svc.cluster.local,mlflow.mlflow.svc.cluster.local:5000"
    body["command"] = [hosts if word.startswith("--allowed-hosts") else word for word in body["command"]]


def _plain(body: dict[str, Any]) -> None:
    for probe in ("livenessProbe", "readinessProbe", "startupProbe"):
        del body[probe]["httpGet"]["scheme"]


def _proxies(spec: dict[str, Any]) -> None:
    for one in spec["containers"][0]["env"]:
        if one["name"].lower() == "no_proxy":
            one["value"] = "localhost,127.0.0.1,.svc,.svc.cluster.local"


def _mount(inputs: dict[str, Any]) -> None:
    cache = {"name": "cache", "mountPath": "/var/cache/squid"}
    inputs["spec"]["template"]["spec"]["containers"][0]["volumeMounts"].append(cache)


def _through_rds(policy: dict[str, Any]) -> None:
    used = next(one for one in policy["Statement"] if one["Sid"] == "UseThroughServices")
    used["Condition"]["StringEquals"]["kms:ViaService"] = ["rds.us-east-1.amazonaws.com"]


def _shutdown(spec: dict[str, Any]) -> None:
    env("TORCH_ELASTIC_SHUTDOWN_TIMEOUT", "300")(spec["containers"][0])


def _user_data(old: str, new: str) -> Into:
    def into(inputs: dict[str, Any]) -> None:
        text = base64.b64decode(inputs["userData"]).decode()
        assert old in text
        inputs["userData"] = base64.b64encode(text.replace(old, new).encode()).decode()

    return into


def of_manager(old: str, new: str) -> Change:
    """Changes a text of the queue manager's configuration."""
    return edit(RELEASE, "kueue-release", said("values/managerConfig/controllerManagerConfigYaml", old, new))


def _nodes(name: str, *into: Into) -> Change:
    return edit(NODE_GROUP, name, *into)


def not_answered(name: str) -> Change:
    """Takes a name from those that the DNS firewall answers."""
    names = "aws:route53/resolverFirewallDomainList:ResolverFirewallDomainList"
    return edit(names, "dns-allowed", lambda inputs: inputs["domains"].remove(name))


FIRST = [
    Mistake(
        "queue-covers-half",
        "a queue counts cores too, of its first flavor",
        edit(QUEUE, VISION, _counts_cores),
        "refusal:kueue-covered",
    ),
    Mistake(
        "priority-over-users",
        "a class of people's pods as high as the system's",
        edit("kubernetes:scheduling.k8s.io/v1:PriorityClass", "teams-cpu-only", put("value", 2000001000)),
        "refusal:k8s-priority",
    ),
    Mistake(
        "except-outside",
        "a smaller block, and the exceptions of the larger one",
        edit(WALL, "egress-allow-platform", put("spec.egress[1].to[0].ipBlock.cidr", "10.0.0.0/8")),
        "refusal:k8s-cidr",
    ),
    Mistake(
        "recreate-rolling",
        "one at a time, with what is said of rolling left in",
        edit(DEPLOYMENT, SERVER, put("spec.strategy.type", "Recreate")),
        "refusal:k8s-rollout",
        stack=EU,
    ),
    Mistake(
        "zone-in-schedule",
        "the time zone stands in the schedule, as cron of old took it",
        edit(
            CRON,
            "checkpoint-drill-job",
            put("spec.schedule", "TZ=Europe/Berlin 17 4 * * 0"),
            put("spec.timeZone", DROP),
        ),
        "refusal:k8s-schedule",
        stack=LARGE,
    ),
    Mistake(
        "failure-policy-restart",
        "a failed container starts again in its pod, beside a policy of failures",
        edit(JOB, RESERVED, put(f"{POD}.restartPolicy", "OnFailure")),
        "refusal:k8s-job",
    ),
    Mistake(
        "budget-of-both",
        "at least one, and at most one fewer",
        edit("kubernetes:policy/v1:PodDisruptionBudget", "mlflow-disruption-budget", put("spec.minAvailable", 1)),
        "refusal:k8s-disruption-budget",
        stack=GKE,
    ),
    Mistake(
        "two-launchers",
        "a runtime of torchrun is given mpirun beside it",
        edit(RUNTIME, TRAIN, put("spec.mlPolicy.mpi", {"numProcPerNode": 8, "mpiImplementation": "OpenMPI"})),
        "reference-runtime-policy",
    ),
    Mistake(
        "account-without-namespace",
        "a team's pods may read what all teams may, without a namespace in which they are",
        edit(
            f"{RBAC}ClusterRoleBinding",
            "teams-readers",
            put("subjects[1]", {"kind": "ServiceAccount", "name": "trainer"}),
        ),
        "refusal:k8s-subject",
    ),
    Mistake(
        "variables-in-condition",
        "a guard's condition reads its variables, which come later",
        edit(
            GUARD,
            "kueue-gpu-guard",
            put("spec.matchConditions[1]", {"name": "uses-gpus", "expression": "variables.usesGpus"}),
        ),
        "reference-variable",
    ),
    Mistake(
        "scope-of-claims",
        "claims are counted by the priority of pods",
        edit(f"{CORE}ResourceQuota", "teams-foundation-cpu-only", put("spec.hard.persistentvolumeclaims", "4")),
        "refusal:k8s-quota-scope",
        stack=GKE,
    ),
    Mistake(
        "default-under-request",
        "a limit below what is requested without one",
        edit(f"{CORE}LimitRange", "teams-vision-defaults", put("spec.limits[0].default", {"memory": "2Gi"})),
        "refusal:k8s-limit-range",
    ),
    Mistake(
        "disk-beside-template",
        "a larger disk is asked of the group, which has a template",
        _nodes("cluster-cpu", put("diskSize", 200)),
        "refusal:launch-template-conflict",
    ),
    Mistake(
        "two-sources",
        "a rule for addresses and for a group",
        edit(RULE_IN, "network-endpoints-https", put("referencedSecurityGroupId", "sg-5bebae4183de83906")),
        "refusal:security-group-source",
    ),
    Mistake(
        "principal-in-role",
        "a bucket's statement was copied into a role",
        edit(
            ROLE_POLICY,
            "mlflow-role-policy",
            statement("Artifacts", Principal={"AWS": "arn:aws:iam::123456789012:root"}),
        ),
        "refusal:iam-principal",
    ),
    Mistake(
        "cold-too-soon",
        "checkpoints go to the cold after a week",
        edit(
            LIFECYCLE,
            "globex-production-checkpoints-lifecycle",
            put(
                "rules[4]",
                {
                    "id": "cold",
                    "status": "Enabled",
                    "filter": {"prefix": "teams/"},
                    "transitions": [{"days": 7, "storageClass": "STANDARD_IA"}],
                },
            ),
        ),
        "refusal:s3-lifecycle-transition",
        stack=LARGE,
    ),
    Mistake(
        "insights-a-month",
        "figures of the database are kept for thirty days",
        edit(DATABASE, "acme-demo-mlflow", put("performanceInsightsRetentionPeriod", 30)),
        "refusal:rds-insights",
    ),
    Mistake(
        "add-on-replicas",
        "three name servers, by the word that a Deployment has",
        edit(ADD_ON, "cluster-coredns", in_json("configurationValues", lambda found: found.update(replicas=3))),
        "refusal:eks-addon-settings",
    ),
    Mistake(
        "odd-memory",
        "16000 MiB, which are no multiple of 256",
        edit(
            "gcp:sql/databaseInstance:DatabaseInstance",
            "northwind-production-mlflow",
            put("settings.tier", "db-custom-4-16000"),
        ),
        "refusal:gcp-sql-tier",
        stack=GKE,
    ),
    Mistake(
        "ports-no-power",
        "a hundred ports a machine at least",
        edit(NAT, "network-nat", put("minPortsPerVm", 100)),
        "refusal:gcp-nat-ports",
        stack=EU,
    ),
    Mistake(
        "logs-not-on-spot",
        "the agent of logs tolerates GPUs, and spot nodes no more",
        edit(
            DAEMONS,
            "team-logs",
            put(f"{POD}.tolerations", [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}]),
        ),
        "placement-logs",
    ),
    Mistake(
        "all-cores",
        "a runtime asks for every core of its machine",
        edit(RUNTIME, TRAIN, runtime(lambda spec: spec["containers"][0]["resources"]["requests"].update(cpu="96"))),
        "placement-no-node",
    ),
    Mistake(
        "spot-taint-of-gke",
        "spot nodes get GKE's taint, and their flavor does not tolerate it",
        edit(POOL, "gpu-nodes-train-spot", _taint),
        "refusal:kueue-flavor-tolerations",
        stack=GKE,
    ),
    Mistake(
        "disk-of-server",
        "the server asks for more of a disk than its node has",
        edit(DEPLOYMENT, SERVER, container("server", _disk)),
        "placement-no-node",
        stack=LARGE,
    ),
    Mistake(
        "namespace-by-team",
        "a queue selects the namespace by the name of its team",
        edit(QUEUE, VISION, put("spec.namespaceSelector", {"matchLabels": {"kubernetes.io/metadata.name": "vision"}})),
        "queues-namespace",
    ),
    Mistake(
        "check-on-other-flavor",
        "nodes are requested for the flavor that has them",
        edit(
            QUEUE,
            "kueue-cluster-queue-perception",
            put("spec.admissionChecksStrategy.admissionChecks[0].onFlavors", ["train-reserved"]),
        ),
        "queues-provisioning",
        stack=GKE,
    ),
    Mistake(
        "adapters-counted",
        "adapters of the fabric are counted, and no queue has them",
        of_manager("  - vpc.amazonaws.com/\n", ""),
        "queues-uncovered",
    ),
    Mistake(
        "priority-renamed",
        "a priority is called otherwise, and jobs ask for it as before",
        edit(f"{KUEUE}WorkloadPriorityClass", "kueue-priority-standard", put("metadata.name", "normal")),
        "queues-no-priority",
        stack=LARGE,
    ),
    Mistake(
        "webhook-port-shut",
        "the control plane's ports were tidied, without that of webhooks",
        edit(FIREWALL, "network-webhooks", put("allows[0].ports", ["443", "8443", "10250", "10260"])),
        "flows-webhooks",
        stack=GKE,
    ),
    Mistake(
        "plain-image-on-gpus",
        "nodes with GPUs start from the image without a driver",
        _nodes("gpu-nodes-dev-on-demand", put("amiType", "AL2023_x86_64_STANDARD")),
        "machines-image-driver",
    ),
    Mistake(
        "program-left-out",
        "a file of a keeper's programs is not among them",
        edit(f"{CORE}ConfigMap", "kueue-budgets-programs", put("data.heartbeat~py", DROP)),
        "programs-import",
    ),
    Mistake(
        "drill-by-default-account",
        "the drill runs as the account that has no role",
        edit(CRON, "checkpoint-drill-job", put(f"spec.jobTemplate.{POD}.serviceAccountName", "default")),
        "rights-pod-no-role",
    ),
    Mistake(
        "prefix-without-slash",
        "a folder of a bucket is mounted without its slash",
        edit(
            f"{CORE}PersistentVolume",
            "volumes-vision-checkpoints-volume",
            put("spec.mountOptions[1]", "prefix teams/vision"),
        ),
        "programs-mount-option",
    ),
    Mistake(
        "claim-of-no-class",
        "a claim lost the class that its volume has",
        edit(f"{CORE}PersistentVolumeClaim", "volumes-foundation-data-claim", put("spec.storageClassName", "")),
        "reference-claim",
        stack=GKE,
    ),
    Mistake(
        "monitors-by-release",
        "Prometheus takes the monitors of its own release alone",
        values("monitoring-release", "prometheus.prometheusSpec.podMonitorSelectorNilUsesHelmValues", True),
        "reference-monitor-unread",
    ),
    Mistake(
        "plugin-not-on-tune",
        "a pool is not among those of the device plugin",
        values(
            "gpu-nvidia-device-plugin", f"{_REQUIRED}.nodeSelectorTerms[0].matchExpressions[0].values", ["dev", "train"]
        ),
        "placement-device-plugin",
    ),
    Mistake(
        "autoscaler-of-other-tags",
        "the autoscaler looks for groups by the stack's name, not the cluster's",
        values("autoscaler-release", "autoDiscovery.clusterName", "demo"),
        "placement-autoscaler",
    ),
    Mistake(
        "auth-config-elsewhere",
        "the server reads its users where nothing is mounted",
        edit(DEPLOYMENT, SERVER, container("server", env("MLFLOW_AUTH_CONFIG_PATH", "/etc/mlflow/basic_auth.ini"))),
        "reference-file",
    ),
    Mistake(
        "prometheus-by-chart-name",
        "a keeper asks Prometheus by the name that the chart gives without an own one",
        edit(
            DEPLOYMENT,
            "kueue-idle-deployment",
            said(
                "spec/template/spec/containers/0/args",
                "monitoring-prometheus.monitoring",
                "monitoring-kube-prometheus-prometheus.monitoring",
            ),
        ),
        "reference-address",
        stack=GKE,
    ),
    Mistake(
        "squid-port",
        "the proxy listens on another port than it is asked on",
        edit(f"{CORE}ConfigMap", "egress-configuration", said("data", "http_port 3128", "http_port 8080")),
        "programs-port",
    ),
    Mistake(
        "subdomain-of-none",
        "pods are in a domain that no service makes",
        edit(JOB, RESERVED, put(f"{POD}.subdomain", "smoke-train")),
        "reference-subdomain",
    ),
    Mistake(
        "tracking-by-https-port",
        "a team is let out on 443, and the tracking server is asked on 5000",
        edit(WALL, "teams-vision-allow-mlflow", put("spec.egress[0].ports[0].port", 443)),
        "flows-let-in",
    ),
    Mistake(
        "webhook-from-kube-system",
        "the API server is taken for a pod of kube-system",
        edit(
            WALL,
            "kueue-allow-platform",
            put(
                "spec.ingress[0].from",
                [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "kube-system"}}}],
            ),
        ),
        "flows-webhooks",
    ),
    Mistake(
        "identity-of-other-cloud",
        "the address of the other cloud's metadata",
        edit(WALL, "teams-genomics-allow-pod-identity", put("spec.egress[0].to[0].ipBlock.cidr", "169.254.170.23/32")),
        "flows-identity",
        stack=EU,
    ),
    Mistake(
        "association-of-nobody",
        "a role is bound to an account that there is not",
        edit(
            "aws:eks/podIdentityAssociation:PodIdentityAssociation",
            "mlflow-role-mlflow",
            put("serviceAccount", "tracking-server"),
        ),
        "rights-binding-no-account",
    ),
    Mistake(
        "key-not-through-secrets",
        "the key of the database's password is used through RDS alone",
        edit(KEY, "tracking-key", in_json("policy", _through_rds)),
        "rights-pod-lacks",
    ),
    Mistake(
        "patches-by-update",
        "a keeper may update queues, and patches them",
        edit(f"{RBAC}Role", "kueue-budgets-role-vision", put("rules[0].verbs", ["get", "update"])),
        "rights-program-lacks",
    ),
    Mistake(
        "ingest-creates-only",
        "who brings data may write it and not look",
        edit("gcp:storage/bucketIAMMember:BucketIAMMember", "ingest-data", put("role", "roles/storage.objectCreator")),
        "rights-volume",
        stack=GKE,
    ),
    Mistake(
        "folder-of-default",
        "a team's folder is given to the account that its pods do not have",
        edit(
            "gcp:storage/managedFolderIamMember:ManagedFolderIamMember",
            "team-foundation-checkpoints",
            said("member", "/sa/trainer", "/sa/default"),
        ),
        "rights-volume",
        stack=GKE,
    ),
    Mistake(
        "s3-by-nat",
        "the endpoint of S3 has no route of the nodes' subnets",
        edit(ENDPOINT, "network-s3", lambda inputs: inputs.update(routeTableIds=inputs["routeTableIds"][:1])),
        "paths-endpoint-without-routes",
    ),
]

SECOND = [
    Mistake(
        "rule-of-absent-container",
        "a policy of failures names a container that the pod has not",
        edit(
            JOB,
            RESERVED,
            lambda inputs: inputs["spec"]["podFailurePolicy"]["rules"][2]["onExitCodes"].update(
                containerName="trainer"
            ),
        ),
        "refusal:k8s-job",
    ),
    Mistake(
        "release-of-older",
        "an image of last year's version, in a group of this year's",
        _nodes("gpu-nodes-train-spot", put("releaseVersion", "1.34.6-20260714")),
        "machines-release",
    ),
    Mistake(
        "hub-without-login",
        "images of Docker Hub are cached, without a login",
        edit(
            "aws:ecr/pullThroughCacheRule:PullThroughCacheRule",
            "images-globex-production-quay",
            put("upstreamRegistryUrl", "registry-1.docker.io"),
        ),
        "refusal:ecr-cache-credential",
        stack=LARGE,
    ),
    Mistake(
        "trail-renamed",
        "the trail is called otherwise, and its bucket does not know it",
        edit("aws:cloudtrail/trail:Trail", "acme-demo-trail-trail", put("name", "acme-demo-org")),
        "rights-delivery",
    ),
    Mistake(
        "half-the-disks",
        "half of the local disks of a machine that has all or none",
        edit(POOL, "gpu-nodes-train-spot", put("nodeConfig.ephemeralStorageLocalSsdConfig.localSsdCount", 16)),
        "refusal:gke-local-ssd",
        stack=GKE,
    ),
    Mistake(
        "database-without-key",
        "nobody lets the service of databases use their key",
        drop("gcp:kms/cryptoKeyIAMMember:CryptoKeyIAMMember", "northwind-production-tracking-sql"),
        "rights-key",
        stack=GKE,
    ),
    Mistake(
        "mount-of-absent-volume",
        "a cache is mounted, of which there is no volume",
        edit(DEPLOYMENT, "egress-deployment", _mount),
        "refusal:k8s-volume-mount",
        stack=EU,
    ),
    Mistake(
        "deny-and-warn",
        "a guard refuses and warns",
        edit(f"{GUARD}Binding", "kueue-gpu-guard-binding", put("spec.validationActions", ["Deny", "Warn"])),
        "refusal:k8s-validation-actions",
    ),
    Mistake(
        "key-with-a-slash",
        "a file is called by its path",
        edit(f"{CORE}ConfigMap", "checkpoint-drill-programs", renamed("data", "drill.drill.py", "drill/drill.py")),
        "refusal:k8s-data-key",
        stack=LARGE,
    ),
    Mistake(
        "encrypt-more",
        "config maps are encrypted too",
        edit(
            "aws:eks/cluster:Cluster", "cluster-cluster", put("encryptionConfig.resources", ["secrets", "configmaps"])
        ),
        "refusal:eks-encryption",
    ),
    Mistake(
        "wide-control-plane",
        "a range of 256 addresses for the control plane",
        edit(CLUSTER, "cluster-cluster", put("privateClusterConfig.masterIpv4CidrBlock", "10.0.32.0/24")),
        "refusal:gke-control-range",
        stack=GKE,
    ),
    Mistake(
        "operations-on-small-disk",
        "more operations a second of a disk that is too small for it",
        edit(DATABASE, "acme-demo-mlflow", put("iops", 6000)),
        "refusal:rds-storage",
    ),
    Mistake(
        "taint-as-kubernetes-says",
        "a taint of nodes, as Kubernetes writes it",
        _nodes("gpu-nodes-dev-on-demand", put("taints[0].effect", "NoSchedule")),
        "refusal:aws-model",
        stack=LARGE,
    ),
    Mistake(
        "throughput-of-old",
        "a throughput of the generation before",
        edit(
            "aws:fsx/lustreFileSystem:LustreFileSystem",
            "globex-production-lustre",
            put("perUnitStorageThroughput", 200),
        ),
        "refusal:fsx-throughput",
        stack=LARGE,
    ),
    Mistake(
        "ports-in-one-word",
        "all ports in one text",
        edit(FIREWALL, "network-webhooks", put("allows[0].ports", ["443,8443,9443,10250,10260"])),
        "refusal:gcp-firewall-port",
        stack=GKE,
    ),
    Mistake(
        "connections-beyond-database",
        "workers hold more connections than the database allows",
        edit(DEPLOYMENT, SERVER, container("server", _pool)),
        "programs-connections",
    ),
    Mistake(
        "objects-through-proxy",
        "the object store is asked through the proxy, which refuses it",
        edit(RUNTIME, TRAIN, runtime(_proxies)),
        "programs-proxy",
    ),
    Mistake(
        "hosts-too-few",
        "the server answers one of its names alone",
        edit(DEPLOYMENT, SERVER, container("server", _hosts)),
        "programs-host",
    ),
    Mistake(
        "probe-without-tls",
        "probes ask a server of TLS in the clear",
        edit(DEPLOYMENT, SERVER, container("server", _plain)),
        "reference-probe-scheme",
        stack=GKE,
    ),
    Mistake(
        "logs-to-other-group",
        "logs go to a group that there is not",
        edit(f"{CORE}ConfigMap", "team-logs-configuration", said("data", "/acme-demo/team-logs", "/acme-demo/teams")),
        "rights-pod-lacks",
    ),
    Mistake(
        "deadline-of-seconds",
        "a run that is five seconds late is skipped",
        edit(CRON, "checkpoint-check-vision-checkpoint-check", put("spec.startingDeadlineSeconds", 5)),
        "reference-schedule",
    ),
    Mistake(
        "check-of-slices",
        "nodes are requested for TPUs, of a flavor of GPUs",
        edit(
            f"{KUEUE}ProvisioningRequestConfig",
            "kueue-provisioning-train-flex-start",
            put("spec.managedResources", ["google.com/tpu"]),
        ),
        "queues-provisioning",
        stack=GKE,
    ),
    Mistake(
        "no-time-for-nodes",
        "pods have two minutes, and a node takes more to start",
        of_manager("timeout: 30m", "timeout: 2m"),
        "queues-pods-ready",
    ),
    Mistake(
        "held-queue",
        "a queue is still held from the last repair",
        edit(QUEUE, "kueue-cluster-queue-foundation", put("spec.stopPolicy", "Hold")),
        "programs-switched-off",
        stack=LARGE,
    ),
    Mistake(
        "topology-of-none",
        "a flavor names a topology that nobody makes",
        edit(FLAVOR, "kueue-flavor-train-reserved", put("spec.topologyName", "default")),
        "refusal:kueue-topology",
        stack=LARGE,
    ),
    Mistake(
        "guard-of-nobody",
        "a guard looks at namespaces with a label that none has",
        edit(
            f"{GUARD}Binding",
            "kueue-jobs-guard-binding",
            put("spec.matchResources.namespaceSelector.matchExpressions[0].key", "ml.platform/tenant"),
        ),
        "policy:gpus-past-the-queue",
    ),
    Mistake(
        "class-of-other-key",
        "disks are encrypted with a key that their driver may not use",
        edit("kubernetes:storage.k8s.io/v1:StorageClass", "blocks-class", put("parameters.kmsKeyId", KEY_OF_TRACKING)),
        "rights-key",
    ),
    Mistake(
        "bastion-inside-only",
        "the bastion gets to its own network alone, where no endpoint of sessions is",
        edit(RULE_OUT, "bastion-https", put("cidrIpv4", "10.0.0.0/16")),
        "paths-sessions-cut-off",
    ),
    Mistake(
        "layers-refused",
        "layers of images are not let through the endpoint",
        edit(ENDPOINT, "network-s3", in_json("policy", lambda found: found["Statement"].pop(1))),
        "rights-images",
    ),
    Mistake(
        "name-not-answered",
        "a registry of a chart's images is not among the names that are answered",
        not_answered("ghcr.io"),
        "paths-name-blocked",
    ),
    Mistake(
        "restricted-without-record",
        "names lead to one of which there is no address",
        edit("gcp:dns/recordSet:RecordSet", "google-apis-all", put("rrdatas", ["restricted.googleapis.com."])),
        "paths-names",
        stack=EU,
    ),
    Mistake(
        "raid-in-small-letters",
        "local disks are joined in a way that nodes do not know",
        edit(TEMPLATE, "gpu-nodes-dev-on-demand-template", _user_data("strategy: RAID0", "strategy: raid-0")),
        "machines-user-data",
    ),
    Mistake(
        "alerts-to-watchdog-only",
        "alerts may go to the watchdog alone",
        edit(
            ROLE_POLICY,
            "alertmanager-role-policy",
            in_json("policy", lambda found: found["Statement"][0]["Resource"].pop(0)),
        ),
        "rights-program-lacks",
    ),
    Mistake(
        "rule-without-topic",
        "a topic takes events of one rule of two",
        edit(
            TOPIC,
            "security-topic-policy",
            in_json("policy", lambda found: found["Statement"][0]["Condition"]["ArnEquals"]["aws:SourceArn"].pop(1)),
        ),
        "rights-delivery",
    ),
    Mistake(
        "nodes-without-logs",
        "nodes may read figures, and not send them",
        edit(
            "gcp:projects/iAMMember:IAMMember",
            "cluster-nodes-defaultNodeServiceAccount",
            put("role", "roles/monitoring.viewer"),
        ),
        "rights-nodes",
        stack=EU,
    ),
    Mistake(
        "account-in-teams-namespace",
        "a keeper's account is looked for where its work is",
        edit(f"{RBAC}RoleBinding", "kueue-idle-binding-vision", put("subjects[0].namespace", "team-vision")),
        "reference-subject",
    ),
    Mistake(
        "shutdown-beyond-grace",
        "workers may take longer to end than their pod may",
        edit(RUNTIME, TRAIN, runtime(_shutdown)),
        "programs-deadline",
    ),
    Mistake(
        "sub-path-of-none",
        "a file is called otherwise than it is mounted",
        edit(f"{CORE}ConfigMap", "egress-configuration", renamed("data", "squid.conf", "trainyard.conf")),
        "reference-sub-path",
        stack=GKE,
    ),
    Mistake(
        "grant-cannot-export",
        "the file system may read encrypted objects, and write none",
        edit("aws:kms/grant:Grant", "globex-production-lustre-data-key", put("operations", ["Decrypt", "DescribeKey"])),
        "rights-key",
        stack=LARGE,
    ),
    Mistake(
        "gang-half-started",
        "one rank of two starts at a time",
        edit(JOB, RESERVED, put("spec.parallelism", 1)),
        "programs-gang",
        stack=LARGE,
    ),
    Mistake(
        "subnet-without-google",
        "nodes have no private way to Google's services",
        edit("gcp:compute/subnetwork:Subnetwork", "network-nodes", put("privateIpGoogleAccess", False)),
        "flows-google",
        stack=GKE,
    ),
    Mistake(
        "file-system-one-way",
        "the file system does not get back to its clients",
        drop(RULE_IN, "globex-production-lustre-callback-cluster-988"),
        "flows-lustre",
        stack=LARGE,
    ),
    Mistake(
        "autoscaler-by-other-tag",
        "the autoscaler may size groups of another cluster's tag",
        edit(
            ROLE_POLICY,
            "autoscaler-role-policy",
            statement("ScaleOwnGroups", Condition={"StringEquals": {"aws:ResourceTag/eks:cluster-name": "globex"}}),
        ),
        "rights-program-lacks",
        stack=LARGE,
    ),
    Mistake(
        "tracking-by-usual-port",
        "a service listens on 443, and everybody asks it on 5000",
        edit(f"{CORE}Service", "mlflow-service", put("spec.ports[0].port", 443)),
        "reference-address",
    ),
]
MISTAKES = [*FIRST, *SECOND]


def _let_in(inputs: dict[str, Any]) -> None:
    ports = [{"port": 5000, "protocol": "TCP"}]
    inputs["spec"]["ingress"].append({"from": [{"ipBlock": {"cidr": "10.0.0.0/19"}}], "ports": ports})


def _tiering(inputs: dict[str, Any]) -> None:
    moves = [{"days": 0, "storageClass": "INTELLIGENT_TIERING"}]
    inputs["rules"].append({"id": "tiering", "status": "Enabled", "filter": {"prefix": "data/"}, "transitions": moves})


_QUOTA = "spec.resourceGroups[0].flavors[3].resources[0]"
_WINDOW = {"startTime": "2026-01-03T01:00:00Z", "endTime": "2026-01-03T05:00:00Z", "recurrence": "FREQ=DAILY"}
_VERSIONS = ["s3:GetObject", "s3:GetObjectVersion", "s3:GetObjectTagging"]
_BUDGET = "kubernetes:policy/v1:PodDisruptionBudget"
_MANAGER = "controllerManager"

SOUND: dict[str, tuple[str, Change]] = {
    "a range of ports": ("demo", edit(WALL, "teams-vision-allow-mlflow", put("spec.egress[0].ports[0].endPort", 5001))),
    "a little is borrowed, and equals give way": (
        "demo",
        edit(
            QUEUE,
            VISION,
            put("spec.preemption.withinClusterQueue", "LowerOrNewerEqualPriority"),
            put(f"{_QUOTA}.borrowingLimit", "2"),
        ),
    ),
    "half of three proxies stay": (
        "demo",
        both(
            edit(DEPLOYMENT, "egress-deployment", put("spec.replicas", 3)),
            edit(
                _BUDGET, "egress-disruption-budget", put("spec.maxUnavailable", DROP), put("spec.minAvailable", "50%")
            ),
        ),
    ),
    "every day, by the time of Dubai": (
        "demo",
        edit(CRON, "checkpoint-drill-job", put("spec.schedule", "@daily"), put("spec.timeZone", "Asia/Dubai")),
    ),
    "a port by its name": ("demo", edit(f"{CORE}Service", "egress-service", put("spec.ports[0].targetPort", "proxy"))),
    "figures of a quarter, of a larger database": (
        "demo",
        edit(
            DATABASE,
            "acme-demo-mlflow",
            put("performanceInsightsRetentionPeriod", 93),
            put("instanceClass", "db.m7g.large"),
        ),
    ),
    "a third of the system nodes at a time": (
        "demo",
        _nodes(
            "cluster-system",
            put("updateConfig", {"maxUnavailablePercentage": 33}),
            put("instanceTypes", ["m7a.xlarge", "m6a.xlarge"]),
            put("scalingConfig.maxSize", 10),
        ),
    ),
    "more ports a machine": (EU, edit(NAT, "network-nat", put("minPortsPerVm", 128), put("maxPortsPerVm", 65536))),
    "versions of objects are read too": (
        "demo",
        edit(ROLE_POLICY, "team-vision-role-policy", statement("Read", Action=_VERSIONS)),
    ),
    "endpoints are asked by nodes alone": (
        "demo",
        edit(RULE_IN, "network-endpoints-https", put("cidrIpv4", "10.0.0.0/17")),
    ),
    "three managers": (
        "demo",
        both(
            values("kueue-release", f"{_MANAGER}.replicas", 3),
            values("kueue-release", f"{_MANAGER}.podDisruptionBudget.minAvailable", 2),
        ),
    ),
    "machines of AMD for what needs no GPU": (
        GKE,
        edit(POOL, "cluster-cpu", put("nodeConfig.machineType", "n2d-standard-8")),
    ),
    "half as many more at a time, slowly": (
        "demo",
        edit(
            DEPLOYMENT,
            SERVER,
            put("spec.minReadySeconds", 15),
            put("spec.strategy.rollingUpdate", {"maxSurge": "50%", "maxUnavailable": 0}),
        ),
    ),
    "nodes may ask the server": ("demo", edit(WALL, "mlflow-server-ingress", _let_in)),
    "half is lent": ("demo", edit(QUEUE, VISION, put(f"{_QUOTA}.lendingLimit", "4"))),
    "cores on spot": (
        "demo",
        _nodes(
            "cluster-cpu",
            put("capacityType", "SPOT"),
            put("instanceTypes", ["m7i.2xlarge", "m6i.2xlarge", "m6a.2xlarge"]),
        ),
    ),
    "data is tiered by its use from the first day": (
        LARGE,
        edit(LIFECYCLE, "globex-production-data-lifecycle", _tiering),
    ),
    "repairs of every night": (
        GKE,
        edit(CLUSTER, "cluster-cluster", put("maintenancePolicy.recurringWindow", _WINDOW)),
    ),
    "refused and recorded": (
        "demo",
        edit(f"{GUARD}Binding", "kueue-gpu-guard-binding", put("spec.validationActions", ["Deny", "Audit"])),
    ),
    "a release of the group's own version": (
        "demo",
        _nodes("gpu-nodes-train-spot", put("releaseVersion", "1.35.4-20260601")),
    ),
    "an older release of an older group": (
        "demo",
        _nodes("gpu-nodes-train-spot", put("version", "1.34"), put("releaseVersion", "1.34.6-20260714")),
    ),
    "the bastion's agent is sent through a proxy of the network": (
        "demo",
        both(
            edit(RULE_OUT, "bastion-https", put("cidrIpv4", "10.0.0.0/16")),
            edit("aws:ec2/instance:Instance", "bastion", put("userData", "#!/bin/sh\n# the proxy for the agent\n")),
        ),
    ),
    "a registry of which nothing is run is not answered": ("demo", not_answered("hf.co")),
    "the trainer comes from the company's registry, and GitHub's is not answered": (
        "demo",
        both(not_answered("ghcr.io"), values("runtimes-trainer", "image.registry", "registry.acme.example")),
    ),
    "nodes with the two roles that hold it": (
        EU,
        both(
            edit(
                "gcp:projects/iAMMember:IAMMember",
                "cluster-nodes-defaultNodeServiceAccount",
                put("role", "roles/monitoring.editor"),
            ),
            edit("gcp:projects/iAMMember:IAMMember", "cluster-nodes-reader", put("role", "roles/logging.admin")),
        ),
    ),
    "Prometheus by the operator's own service": (
        GKE,
        edit(
            DEPLOYMENT,
            "kueue-idle-deployment",
            said(
                "spec/template/spec/containers/0/args",
                "monitoring-prometheus.monitoring",
                "prometheus-operated.monitoring",
            ),
        ),
    ),
}
"""Right, and unusual."""
